//! Values as written in a plan or on the command line, and their conversions. If a value cannot be converted, the error
//! gives the reason and the valid values; its text is printed after the name of the key or option.

use std::fmt::Display;
use std::str::FromStr;

use stdx::units::parse_size;

use crate::limits::Limit;

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// An argument on the command line, where even numbers are text.
    Typed(String),
    /// `true` or `false`.
    Flag(bool),
    /// An integer.
    Integer(i128),
    /// A fractional number.
    Fraction(f64),
    /// A quoted string.
    Text(String),
    /// An array of strings.
    List(Vec<String>),
    /// A value that no conversion accepts, with its description for messages, such as `a date`.
    Other(&'static str),
}

impl Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Typed(text) | Self::Text(text) => f.write_str(text),
            Self::Flag(flag) => flag.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Fraction(number) => number.fmt(f),
            Self::List(items) => f.write_str(&items.join(" ")),
            Self::Other(found) => f.write_str(found),
        }
    }
}

impl Literal {
    pub(crate) fn unexpected<T>(&self, expected: &str) -> Result<T, String> {
        let found = match self {
            Self::Typed(_) | Self::Text(_) => "a string",
            Self::Flag(_) => "true or false",
            Self::Integer(_) => "an integer",
            Self::Fraction(_) => "a fractional number",
            Self::List(_) => "an array",
            Self::Other(found) => found,
        };
        Err(format!("expected {expected}, found {found}"))
    }

    /// Returns a non-empty string.
    ///
    /// # Errors
    /// Returns an error that says what was expected, as all conversions do.
    pub fn text(&self) -> Result<String, String> {
        match self {
            Self::Typed(text) => Ok(text.clone()),
            Self::Text(text) if text.trim().is_empty() => Err("is empty; remove the key".into()),
            Self::Text(text) => Ok(text.clone()),
            _ => self.unexpected("a quoted string"),
        }
    }

    /// Returns a single-line string that fits on a page.
    ///
    /// # Errors
    /// Returns an error if the string is empty, is too long, or contains control characters.
    pub fn line(&self) -> Result<String, String> {
        const MOST: usize = 120;
        let text = self.text()?;
        let text = text.trim();
        match text.chars().count() {
            0 => Err("is empty".into()),
            1..=MOST if !text.contains(char::is_control) => Ok(text.into()),
            _ => Err(format!("use one line of at most {MOST} characters")),
        }
    }

    /// Returns the meaning of the value, which must be one of `words`.
    ///
    /// # Errors
    /// Returns an error that lists the valid words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, String> {
        let text = self.text()?;
        words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            format!("unknown value \"{text}\"; expected one of {}", known.join(", "))
        })
    }

    /// Returns a Boolean.
    ///
    /// # Errors
    /// Returns an error if the value is not a Boolean.
    pub fn flag(&self) -> Result<bool, String> {
        if let Self::Flag(flag) = self { Ok(*flag) } else { self.unexpected("true or false") }
    }

    /// Returns an integer within `limit`.
    ///
    /// # Errors
    /// Returns an error with the reason for the limit and the nearest valid value.
    pub fn whole<T>(&self, limit: &Limit<T>) -> Result<T, String>
    where
        T: TryFrom<i128> + FromStr + PartialOrd + Display + Copy,
    {
        let number = match self {
            Self::Typed(text) => return typed_within(text, limit),
            Self::Integer(number) => *number,
            _ => return self.unexpected("an integer"),
        };
        if let Ok(number) = T::try_from(number) {
            return limit.check(number);
        }
        let (low, high) = (*limit.range.start(), *limit.range.end());
        let nearest = if number < 0 { low } else { high };
        Err(format!("{number} is out of range: {}; use {low} to {high} (nearest: {nearest})", limit.why))
    }

    /// Returns a seed: any number that fits into 64 bits.
    ///
    /// # Errors
    /// Returns an error if the value is negative, too large or not an integer.
    pub fn seed(&self) -> Result<u64, String> {
        match self {
            Self::Typed(text) => typed_whole(text),
            Self::Integer(number) => {
                u64::try_from(*number).map_err(|_| "a seed must be from 0 to 2^64 - 1".into())
            }
            _ => self.unexpected("an integer"),
        }
    }

    /// Returns a number of seconds within `limit`.
    ///
    /// # Errors
    /// Returns an error with the reason for the limit and the nearest valid value.
    pub fn seconds(&self, limit: &Limit<f64>) -> Result<f64, String> {
        match self {
            Self::Typed(text) => {
                let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                let number = number.ok_or("use a number of seconds, such as 5 or 0.5")?;
                limit.check(number)
            }
            Self::Integer(number) => limit.check(*number as f64),
            Self::Fraction(number) => limit.check(*number),
            _ => self.unexpected("a number"),
        }
    }

    /// Returns a number of bytes.
    ///
    /// # Errors
    /// Returns an error if the value is not a size.
    pub fn size_bytes(&self) -> Result<u64, String> {
        parse_size(&self.text()?)
    }

    /// Returns one or more strings.
    ///
    /// # Errors
    /// Returns an error if any of the words is empty.
    pub fn list(&self) -> Result<Vec<String>, String> {
        match self {
            Self::List(items) => Ok(items.clone()),
            _ => Ok(vec![self.text()?]),
        }
    }
}

/// Parses a number within `limit`. The error gives the reason for the limit even if the number does not fit
/// into the type.
fn typed_within<T: FromStr + Display + PartialOrd + Copy>(text: &str, limit: &Limit<T>) -> Result<T, String> {
    let (low, high) = (*limit.range.start(), *limit.range.end());
    match (typed_whole::<T>(text), text.trim().parse::<f64>()) {
        (Ok(number), _) if limit.range.contains(&number) => Ok(number),
        (_, Ok(number)) if number.is_finite() && number.fract() == 0.0 => {
            let is_low = typed_whole::<T>(text).map_or(number < 0.0, |number| number < low);
            let nearest = if is_low { low } else { high };
            Err(format!("{}; use {low} to {high} (nearest: {nearest})", limit.why))
        }
        _ => Err(format!("use a whole number from {low} to {high}")),
    }
}

/// Parses any whole number that fits into its type, as typed on the command line.
///
/// # Errors
/// Returns an error if the text is not a whole number, or the type cannot hold it.
pub fn typed_whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| match text.trim().parse::<f64>() {
        Ok(number) if number < 0.0 => "it cannot be negative".into(),
        Ok(number) if number.is_finite() && number.fract() == 0.0 => "it is too large".into(),
        _ => "use a whole number".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    fn typed(text: &str) -> Literal {
        Literal::Typed(text.into())
    }

    #[test]
    fn typed_numbers_out_of_range_name_the_nearest_valid_one() {
        let qd = |text: &str| typed(text).whole(&limits::QD);
        assert_eq!(qd("32"), Ok(32));
        for (text, nearest) in [("0", 1), ("-1", 1), ("2000", 1024), ("99999", 1024)] {
            let why = "a thread needs at least one I/O, and each I/O needs a buffer";
            assert_eq!(qd(text), Err(format!("{why}; use 1 to 1024 (nearest: {nearest})")), "{text}");
        }
        let rounds = typed("4").whole(&limits::ROUNDS).expect_err("too few");
        assert!(rounds.ends_with("use 5 to 25 (nearest: 5)"), "{rounds}");
        for text in ["abc", "", "3.5", "1e", "nan"] {
            assert_eq!(qd(text), Err("use a whole number from 1 to 1024".into()), "{text}");
        }
        assert_eq!(typed_whole::<u32>("x"), Err("use a whole number".into()));
        assert_eq!(typed_whole::<u32>("5000000000"), Err("it is too large".into()));
        assert_eq!(typed_whole::<u64>("-5"), Err("it cannot be negative".into()));
    }

    #[test]
    fn typed_seconds_are_finite_and_within_their_limit() {
        let seconds = |text: &str| typed(text).seconds(&limits::CELL_SECONDS);
        assert!(seconds("inf").is_err() && seconds("1s").is_err() && seconds("0.5") == Ok(0.5));
        assert!(seconds("1e9").is_err_and(|text| text.contains("nearest: 86400")));
    }
}
