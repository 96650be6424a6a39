//! Fuzzes the conversion of an NVMe command's status to text.

#![cfg_attr(fuzzing, no_main)]

use source::wire::nvme::status_text;

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let [low, high] = page(bytes);
    assert!(!status_text(u16::from_le_bytes([low, high])).is_empty());
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
