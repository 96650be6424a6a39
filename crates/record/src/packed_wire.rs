//! Serialized form of a list of numbers: an array.

use serde::{Deserializer, Serializer};
use stdx::Packed;

use crate::plain_array::{self, ARRAY, DETAIL};

pub fn serialize<S: Serializer>(numbers: &Packed, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
    plain_array::deserialize(deserializer, ARRAY, |numbers| Ok(numbers.into()))
}

/// Same as [`deserialize`], for numbers on which no conclusion depends.
pub fn deserialize_detail<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
    plain_array::deserialize(deserializer, DETAIL, |numbers| Ok(numbers.into()))
}
