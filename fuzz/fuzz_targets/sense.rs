//! Fuzzes sense data of a SCSI device.

#![cfg_attr(fuzzing, no_main)]

use source::wire::sense::{Sense, descriptors};

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    assert!(descriptors(bytes).count() <= bytes.len());
    if let Some(sense) = Sense::decode(bytes) {
        assert!(!sense.text().is_empty());
        assert!(sense.share_done.is_none_or(|share| (0.0..1.0).contains(&share)));
    }
});
