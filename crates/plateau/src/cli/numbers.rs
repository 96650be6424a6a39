//! Parsers for numeric options that are not settings of a run; the error messages say which values are valid.

use std::time::Duration;

pub use plans::settings::typed_whole as whole;

/// Parses a positive whole number.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match whole(text) {
        Ok(0) => Err("use 1 or more".into()),
        number => number,
    }
}

/// Parses a whole number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    whole::<u32>(text).map(|number| Duration::from_secs(number.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_one_excludes_zero() {
        assert_eq!((at_least_one("1"), at_least_one("0")), (Ok(1), Err("use 1 or more".into())));
        assert_eq!(at_least_one("x"), Err("use a whole number".into()));
    }
}
