//! Errors of I/Os that do not end a load.

use serde::{Deserialize, Serialize};

/// The errors that do not end a load. The failed I/Os are counted in the segment instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tolerated {
    /// Errors of reads.
    #[serde(skip_serializing_if = "Errors::is_empty")]
    pub read: Errors,
    /// Errors of writes and trims.
    #[serde(skip_serializing_if = "Errors::is_empty")]
    pub write: Errors,
}

impl Tolerated {
    /// Every error ends the load.
    pub const NONE: Self = Self { read: Errors(0), write: Errors(0) };

    pub(crate) fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// Error numbers from 1 to 127, stored as a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct Errors(u128);

impl Errors {
    /// Largest error number.
    pub const MOST: u8 = 127;

    /// Returns whether there is no error number.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Returns whether an error number is one of these.
    #[must_use]
    pub fn contains(self, errno: i32) -> bool {
        u8::try_from(errno).is_ok_and(|errno| errno <= Self::MOST && self.0 >> errno & 1 == 1)
    }
}

impl TryFrom<Vec<u8>> for Errors {
    type Error = String;

    fn try_from(numbers: Vec<u8>) -> Result<Self, String> {
        match numbers.iter().find(|number| **number == 0 || **number > Self::MOST) {
            Some(number) => Err(format!("{number} is not an error number from 1 to {}", Self::MOST)),
            None => Ok(Self(numbers.iter().fold(0, |bits, number| bits | 1 << number))),
        }
    }
}

impl From<Errors> for Vec<u8> {
    fn from(errors: Errors) -> Self {
        (1..=Errors::MOST).filter(|number| errors.contains(i32::from(*number))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_stored_as_numbers() {
        let errors = Errors::try_from(vec![28, 5, 127]).expect("error numbers");
        assert!([5, 28, 127].iter().all(|errno| errors.contains(*errno)));
        assert!([0, 6, 128, 5 + 128, -5].iter().all(|errno| !errors.contains(*errno)));
        let tolerated = Tolerated { write: errors, ..Tolerated::NONE };
        let stored = serde_json::to_string(&tolerated).expect("JSON");
        assert_eq!(stored, r#"{"write":[5,28,127]}"#);
        assert_eq!(serde_json::from_str::<Tolerated>(&stored).expect("stored"), tolerated);
        for wrong in [vec![0], vec![5, 128]] {
            assert!(Errors::try_from(wrong).is_err());
        }
    }
}
