//! Fuzzes ATA registers in sense data, and the sanitize status that they contain.

#![cfg_attr(fuzzing, no_main)]

use source::wire::ata::{Registers, SanitizeStatus};

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    if let Some(registers) = Registers::decode(bytes) {
        assert!((0.0..1.0).contains(&SanitizeStatus::of(&registers).share_done));
        let _ = registers.is_error();
    }
});
