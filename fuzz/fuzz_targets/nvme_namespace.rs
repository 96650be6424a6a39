//! Fuzzes Identify Namespace data of an NVMe drive.

#![cfg_attr(fuzzing, no_main)]

use source::wire::nvme::Namespace;

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let namespace = Namespace::decode(&page(bytes));
    assert!(namespace.formats.len() <= 64 && namespace.format < 64);
    assert!(namespace.formats.iter().all(|format| format.block_bytes.is_power_of_two()));
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
