//! Conditions on differences, for firmware regression tests: `iops.rnd4k.w < -5%`.

use crate::comparison::Comparison;
use crate::noise::Finding;

/// A condition on a comparison: a figure, or several matched by `*`, decreased or increased by more than a percentage.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    key: String,
    below: bool,
    percent: f64,
}

/// A difference that meets a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdMatch {
    /// Key of the figure.
    pub key: String,
    /// Difference in percent.
    pub percent: f64,
    /// Name of the run.
    pub run: String,
}

impl std::str::FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "'{text}' is not a condition; use one such as `iops.rnd4k.w < -5%` or `lat.rnd4k.* > 10%`"
            )
        };
        let (at, below) = match (text.find('<'), text.find('>')) {
            (Some(at), None) => (at, true),
            (None, Some(at)) => (at, false),
            _ => return Err(invalid()),
        };
        let (key, percent) = (text[..at].trim(), text[at + 1..].trim());
        let number = percent.strip_suffix('%').ok_or_else(|| match percent.parse::<f64>() {
            Ok(_) => format!("'{text}': a difference is in percent; did you mean '{}%'?", text.trim_end()),
            Err(_) => invalid(),
        })?;
        let percent: f64 = number.trim().parse().map_err(|_| invalid())?;
        if key.is_empty() || key.contains(char::is_whitespace) || !percent.is_finite() {
            return Err(invalid());
        }
        Ok(Self { key: key.to_owned(), below, percent })
    }
}

impl Threshold {
    /// The differences that meet the condition. A difference within noise never meets a condition, because it
    /// may not be real.
    ///
    /// # Errors
    /// Returns an error if no comparable figure matches the key.
    pub fn matches(&self, comparison: &Comparison) -> Result<Vec<ThresholdMatch>, String> {
        let lines: Vec<_> = comparison.lines.iter().filter(|line| is_match(&self.key, &line.key)).collect();
        let known = lines.iter().any(|line| line.differences.iter().flatten().next().is_some());
        if !known {
            let keys: Vec<&str> = comparison.lines.iter().map(|line| line.key.as_str()).collect();
            return Err(format!(
                "no figure '{}' to compare; available figures: {}",
                self.key,
                keys.join(", ")
            ));
        }
        let mut found = Vec::new();
        for line in lines {
            for (name, difference) in comparison.names().zip(&line.differences) {
                let Some(difference) = difference else { continue };
                let exceeds = if self.below {
                    difference.percent < self.percent
                } else {
                    difference.percent > self.percent
                };
                if exceeds && difference.finding != Finding::WithinNoise {
                    found.push(ThresholdMatch {
                        key: line.key.clone(),
                        percent: difference.percent,
                        run: name.to_owned(),
                    });
                }
            }
        }
        Ok(found)
    }
}

/// Whether `key` matches `pattern`, in which `*` stands for any text.
fn is_match(pattern: &str, key: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == key };
    let Some(key) = key.strip_prefix(start) else { return false };
    (0..=key.len()).filter(|&i| key.is_char_boundary(i)).any(|i| is_match(rest, &key[i..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_parsed() {
        let threshold: Threshold = "iops.rnd4k.w < -5%".parse().expect("a condition");
        assert_eq!(threshold, Threshold { key: "iops.rnd4k.w".into(), below: true, percent: -5.0 });
        assert_eq!("a>2.5 %".parse(), Ok(Threshold { key: "a".into(), below: false, percent: 2.5 }));
        for wrong in ["", "iops", "iops < 5", "< -5%", "a < x%", "a <> 5%", "a b < 5%", "a < inf%"] {
            assert!(wrong.parse::<Threshold>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(is_match("iops.*.w", "iops.rnd4k.w") && is_match("*", "x") && is_match("a*", "a"));
        assert!(!is_match("iops.*.w", "iops.rnd4k.r") && !is_match("a", "ab") && !is_match("*b", "abc"));
    }
}
