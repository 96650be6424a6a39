//! Fuzzes the sanitize log of an NVMe drive.

#![cfg_attr(fuzzing, no_main)]

use source::wire::nvme::SanitizeLog;

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    assert!((0.0..1.0).contains(&SanitizeLog::decode(&page(bytes)).share_done));
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
