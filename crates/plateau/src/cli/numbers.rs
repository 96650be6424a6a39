//! Numbers as they are typed: what cannot be one says what can.

use std::fmt::Display;
use std::str::FromStr;

use pts::limits::{self, Limit};

/// A number that a setting limits; the reason is given for each number outside, even if its type cannot hold it.
fn limited<T: FromStr + Display + PartialOrd + Copy>(text: &str, limit: &Limit<T>) -> Result<T, String> {
    let (low, high) = (*limit.range.start(), *limit.range.end());
    match (whole::<T>(text), text.trim().parse::<f64>()) {
        (Ok(number), _) if limit.range.contains(&number) => Ok(number),
        (_, Ok(number)) if number.is_finite() && number.fract() == 0.0 => {
            let nearest =
                if whole::<T>(text).map_or(number < 0.0, |number| number < low) { low } else { high };
            Err(format!("{}; use {low} to {high} (nearest: {nearest})", limit.why))
        }
        _ => Err(format!("use a whole number from {low} to {high}")),
    }
}

/// A whole number above 0.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match whole(text) {
        Ok(0) => Err("use 1 or more".into()),
        number => number,
    }
}

/// Any whole number that its type can hold.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| match text.trim().parse::<f64>() {
        Ok(number) if number < 0.0 => "it cannot be negative".into(),
        Ok(number) if number.is_finite() && number.fract() == 0.0 => "it is too large".into(),
        _ => "use a whole number".into(),
    })
}

pub fn tc(text: &str) -> Result<u16, String> {
    limited(text, &limits::TC)
}

pub fn qd(text: &str) -> Result<u16, String> {
    limited(text, &limits::QD)
}

pub fn rounds(text: &str) -> Result<u32, String> {
    limited(text, &limits::ROUNDS)
}

pub fn capacities(text: &str) -> Result<u32, String> {
    limited(text, &limits::CAPACITIES)
}

pub fn pc_ar(text: &str) -> Result<u8, String> {
    limited(text, &limits::PC_AR)
}

pub fn test_ar(text: &str) -> Result<u8, String> {
    limited(text, &limits::TEST_AR)
}

pub fn lba_format(text: &str) -> Result<u8, String> {
    limited(text, &limits::LBA_FORMAT)
}

pub fn seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "use a number of seconds, such as 5 or 0.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_says_what_can_be() {
        assert_eq!(qd("32"), Ok(32));
        for (text, nearest) in [("0", 1), ("-1", 1), ("2000", 1024), ("99999", 1024)] {
            let why = "a thread needs an I/O, and each I/O needs a buffer";
            assert_eq!(qd(text), Err(format!("{why}; use 1 to 1024 (nearest: {nearest})")), "{text}");
        }
        let rounds = rounds("4").expect_err("too few");
        assert!(rounds.ends_with("use 5 to 25 (nearest: 5)"), "{rounds}");
        for text in ["abc", "", "3.5", "1e", "nan"] {
            assert_eq!(qd(text), Err("use a whole number from 1 to 1024".into()), "{text}");
        }
        assert_eq!((at_least_one("1"), at_least_one("0")), (Ok(1), Err("use 1 or more".into())));
        assert_eq!(whole::<u32>("x"), Err("use a whole number".into()));
        assert_eq!(whole::<u32>("5000000000"), Err("it is too large".into()));
        assert_eq!(whole::<u64>("-5"), Err("it cannot be negative".into()));
        assert!(seconds("inf").is_err() && seconds("1s").is_err() && seconds("0.5") == Ok(0.5));
    }
}
