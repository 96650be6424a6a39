//! Fuzzes READ CAPACITY (16), supported commands and temperature of a SCSI disk.

#![cfg_attr(fuzzing, no_main)]

use source::wire::scsi::{Capacity, supports, temperature};

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let capacity = Capacity::decode(&page(bytes));
    assert!(capacity.blocks >= 1 && capacity.physical_block_bytes >= u64::from(capacity.block_bytes));
    let _ = (supports(&page(bytes)), temperature(&page(bytes)));
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
