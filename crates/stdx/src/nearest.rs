//! Suggestions for mistyped words.

/// Returns the entry of `known` closest to `word`, or `None` if none is similar. Ignores case, and treats `_` as
/// `-`.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    let limit = word.chars().count() / 3 + 1;
    let distance = |name: &str| strsim::osa_distance(&word, &name.to_lowercase().replace('_', "-"));
    let distances = known.map(|name| (distance(name), name));
    distances
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_name_is_found_and_a_different_one_is_not() {
        let known = ["tc", "qd", "cell-seconds", "max-rounds", "ramp_time"];
        let of = |word| nearest(word, known.into_iter());
        assert_eq!(of("cell_seconds"), Some("cell-seconds"));
        assert_eq!(of("celseconds"), Some("cell-seconds"));
        assert_eq!(of("ct"), Some("tc"));
        assert_eq!(of("ramp-time"), Some("ramp_time"));
        assert_eq!(of("colour"), None);
    }
}
