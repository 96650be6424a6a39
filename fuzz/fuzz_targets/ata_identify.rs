//! Fuzzes IDENTIFY DEVICE data of an ATA drive.

#![cfg_attr(fuzzing, no_main)]

use source::wire::ata::Identify;

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let drive = Identify::decode(&page(bytes));
    for text in [&drive.serial, &drive.model, &drive.firmware] {
        assert_printable(text.as_ref());
    }
    assert!(drive.queue_depth <= 32 && drive.logical_block_bytes >= 512);
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}

/// Checks that text shown on a terminal contains no control characters.
fn assert_printable(text: Option<&String>) {
    let plain = |c: char| c.is_ascii_graphic() || c == ' ';
    assert!(text.is_none_or(|text| !text.is_empty() && text.chars().all(plain)), "{text:?}");
}
