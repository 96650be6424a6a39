//! The simulated drive's scale relative to the model.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A scale of 1/n of the modelled drive. Capacity, number of superblocks, write buffer and idle delay shrink in
/// proportion (below 1024 superblocks, it is their size that shrinks rather than their number); operation
/// times, dies, channels and over-provisioning do not change.
///
/// A test on a scaled drive yields the same curve if its times and amounts are also divided by n. Maximum
/// latencies are not preserved, because smaller superblocks cause smaller bursts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scale(NonZeroU32);

/// The text is not a valid scale.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a scale; write 1/n, or n alone, with n from 1 to {max}, such as 1/16", max = Scale::MAX)]
pub struct ScaleError(String);

impl Scale {
    /// The full-size drive.
    pub const FULL: Self = Self(NonZeroU32::MIN);
    /// The largest n. If n were larger, a superblock would be smaller than one page per die.
    pub const MAX: u32 = 1024;

    /// Returns a scale of 1/n; `None` if `n` is 0 or above [`MAX`](Self::MAX).
    #[must_use]
    pub fn one_over(n: u32) -> Option<Self> {
        NonZeroU32::new(n).filter(|n| n.get() <= Self::MAX).map(Self)
    }

    /// Returns the n of 1/n.
    #[must_use]
    pub const fn divisor(self) -> u32 {
        self.0.get()
    }
}

impl FromStr for Scale {
    type Err = ScaleError;

    fn from_str(text: &str) -> Result<Self, ScaleError> {
        let trimmed = text.trim();
        let n = match trimmed.split_once('/') {
            Some((one, n)) if one.trim() == "1" => n.trim().parse().ok(),
            None => trimmed.parse().ok(),
            _ => None,
        };
        n.and_then(Self::one_over).ok_or_else(|| ScaleError(text.to_owned()))
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.divisor() {
            1 => f.write_str("1"),
            n => write!(f, "1/{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for (text, n) in [("1", 1), ("1/1", 1), ("1/16", 16), (" 1 / 64 ", 64), ("1/1024", 1024), ("16", 16)]
        {
            assert_eq!(text.parse::<Scale>().map(Scale::divisor), Ok(n), "{text}");
        }
        for wrong in ["", "0", "1025", "1/0", "1/1025", "2/3", "1/-1", "0.5", "1/x"] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
        assert_eq!(Scale::one_over(16).unwrap().to_string(), "1/16");
        assert_eq!(Scale::FULL.to_string(), "1");
    }
}
