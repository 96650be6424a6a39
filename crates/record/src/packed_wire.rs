//! Serialized form of a list of numbers: an array.

use serde::{Deserialize as _, Deserializer, Serializer};
use stdx::Packed;

pub fn serialize<S: Serializer>(numbers: &Packed, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
    Vec::<u64>::deserialize(deserializer).map(Packed::from)
}
