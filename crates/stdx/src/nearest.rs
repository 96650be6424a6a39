//! The known name that a mistyped word most resembles.

/// The one of `known` that is most like `word`, unless none is like it. Case and `_` for `-` do not count.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    let limit = word.chars().count() / 3 + 1;
    let distances = known.map(|name| (distance(&word, &name.to_lowercase().replace('_', "-")), name));
    distances
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Letters to insert, remove, replace or exchange with their neighbour to make `a` of `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, more) | (more, 0) => more,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let moved = rows[i - 1][j].min(rows[i][j - 1]) + 1;
                    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let exchanged = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                    replaced.min(moved).min(exchanged)
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_a_strange_one_is_not() {
        let known = ["tc", "qd", "cell-seconds", "max-rounds", "ramp_time"];
        let of = |word| nearest(word, known.into_iter());
        assert_eq!(of("cell_seconds"), Some("cell-seconds"));
        assert_eq!(of("celseconds"), Some("cell-seconds"));
        assert_eq!(of("ct"), Some("tc"));
        assert_eq!(of("ramp-time"), Some("ramp_time"));
        assert_eq!(of("colour"), None);
    }
}
