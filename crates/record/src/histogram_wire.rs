//! Serialized form of a histogram: non-empty slots only, with delta-encoded slot numbers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use stdx::Histogram;

use crate::plain_array;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    /// Alternating distances from the previous non-empty slot and counts.
    #[serde(deserialize_with = "plain_array::deserialize")]
    slots: Vec<u64>,
}

pub fn serialize<S: Serializer>(histogram: &Histogram, serializer: S) -> Result<S::Ok, S::Error> {
    let mut previous = 0;
    let mut slots = Vec::new();
    for (slot, count) in histogram.filled() {
        slots.extend([(slot - previous) as u64, count]);
        previous = slot;
    }
    let sum_ns =
        u64::try_from(histogram.sum()).map_err(|_| S::Error::custom("sum of latencies overflows"))?;
    let (min_ns, max_ns) = (histogram.min().unwrap_or(0), histogram.max().unwrap_or(0));
    Wire { sum_ns, min_ns, max_ns, slots }.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
    let wire = Wire::deserialize(deserializer)?;
    let (pairs, rest) = wire.slots.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(D::Error::custom("a slot without a count"));
    }
    let mut slot = 0usize;
    let mut filled = Vec::with_capacity(pairs.len());
    for &[distance, count] in pairs {
        slot = usize::try_from(distance)
            .ok()
            .and_then(|d| slot.checked_add(d))
            .ok_or_else(|| D::Error::custom("slot number overflows"))?;
        filled.push((slot, count));
    }
    Histogram::from_parts(&filled, u128::from(wire.sum_ns), wire.min_ns, wire.max_ns)
        .map_err(D::Error::custom)
}
