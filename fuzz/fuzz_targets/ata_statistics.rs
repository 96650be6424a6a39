//! Fuzzes Device Statistics of an ATA drive.

#![cfg_attr(fuzzing, no_main)]

use source::wire::ata::{GeneralStatistics, percentage_used, temperature};

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let log = page(bytes);
    assert!(temperature(&log).is_none_or(|celsius| (-128..=127).contains(&celsius)));
    let _ = (GeneralStatistics::decode(&log), percentage_used(&log));
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
