//! Serialized form of a histogram: non-empty slots only, with delta-encoded slot numbers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use stdx::Histogram;
use stdx::histogram::Slots;

use crate::plain_array::{self, ARRAY};

#[derive(Serialize)]
struct Wire {
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    /// Alternating distances from the previous non-empty slot and counts.
    slots: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    #[serde(deserialize_with = "slots")]
    slots: Slots,
}

fn slots<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Slots, D::Error> {
    plain_array::deserialize(deserializer, ARRAY, |numbers| match numbers.as_chunks::<2>() {
        (pairs, []) => Slots::of(pairs),
        _ => Err("a slot without a count"),
    })
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
    let Read { sum_ns, min_ns, max_ns, slots } = Read::deserialize(deserializer)?;
    Histogram::of_slots(slots, u128::from(sum_ns), min_ns, max_ns).map_err(D::Error::custom)
}
