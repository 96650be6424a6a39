//! Numbers for other programs, written as exactly as they are known.

use std::fmt::{Display, Formatter, Result};

/// A number in a file for other programs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A count, written in full.
    Count(u64),
    /// A computed value, written with at most 15 significant digits: further digits are rounding errors of binary
    /// fractions.
    Computed(f64),
}

impl From<u64> for Number {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Computed(value)
    }
}

impl From<bool> for Number {
    fn from(is_so: bool) -> Self {
        Self::Count(is_so.into())
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Computed(value) if !value.is_finite() => write!(f, "{value}"),
            Self::Computed(value) => {
                let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
                // Negative zero becomes zero.
                write!(f, "{}", rounded + 0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_are_not_written() {
        for (value, text) in [
            (3_000_749_670.399_999_6, "3000749670.4"),
            (2.07 * 1e6, "2070000"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333333"),
            (-2.5, "-2.5"),
            (-0.0, "0"),
            (1e18, "1000000000000000000"),
        ] {
            assert_eq!(Number::from(value).to_string(), text);
        }
        assert_eq!((2.07_f64 * 1e6).to_string(), "2069999.9999999998");
    }

    #[test]
    fn counts_are_written_in_full() {
        assert_eq!(Number::from(u64::MAX).to_string(), "18446744073709551615");
        assert_eq!([false, true].map(|is_so| Number::from(is_so).to_string()), ["0", "1"]);
    }
}
