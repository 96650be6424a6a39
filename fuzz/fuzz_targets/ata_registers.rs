//! Registers of an ATA drive in sense data, and what they say of a sanitize.

#![no_main]

use libfuzzer_sys::fuzz_target;
use source::wire::ata::{Registers, SanitizeStatus};

/// The crate keeps its parsers to itself, so they are compiled in here.
#[expect(dead_code, reason = "each target uses a part of it")]
#[path = "../../crates/drive/src"]
mod source {
    pub mod wire;
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(registers) = Registers::decode(bytes) {
        assert!((0.0..1.0).contains(&SanitizeStatus::of(&registers).share_done));
        let _ = registers.is_error();
    }
});
