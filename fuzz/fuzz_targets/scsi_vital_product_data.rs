//! Vital product data of a SCSI disk: serial number, name, rotation.

#![no_main]

use libfuzzer_sys::fuzz_target;
use source::wire::scsi::{rotation, serial, world_wide_name};

/// The crate keeps its parsers to itself, so they are compiled in here.
#[expect(dead_code, reason = "each target uses a part of it")]
#[path = "../../crates/drive/src"]
mod source {
    pub mod wire;
}

fuzz_target!(|bytes: &[u8]| {
    let page = page(bytes);
    assert_printable(serial(&page).as_ref());
    assert_printable(world_wide_name(&page).as_ref());
    let _ = rotation(&page);
});

/// A page of the size that is asked for, with what came and zeros behind it.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}

/// What is shown on a terminal has nothing in it that steers one.
fn assert_printable(text: Option<&String>) {
    let plain = |c: char| c.is_ascii_graphic() || c == ' ';
    assert!(text.is_none_or(|text| !text.is_empty() && text.chars().all(plain)), "{text:?}");
}
