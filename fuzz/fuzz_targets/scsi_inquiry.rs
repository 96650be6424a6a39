//! Fuzzes INQUIRY data of a SCSI disk.

#![cfg_attr(fuzzing, no_main)]

use source::wire::scsi::Inquiry;

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let inquiry = Inquiry::decode(&page(bytes));
    for text in [&inquiry.vendor, &inquiry.product, &inquiry.revision] {
        assert_printable(text.as_ref());
    }
    assert!(inquiry.device_type < 32);
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
