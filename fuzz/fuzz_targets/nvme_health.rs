//! Fuzzes the health log of an NVMe drive, and the OCP log of bytes written to flash.

#![cfg_attr(fuzzing, no_main)]

use source::wire::nvme::{SmartLog, ocp_media_written_bytes};

/// The parsers are private to their crate, so this target compiles them in.
#[expect(dead_code, reason = "each target uses only part of it")]
#[path = "../../crates/admin/src"]
mod source {
    pub mod wire;
}

fuzz::target!(|bytes: &[u8]| {
    let log = page(bytes);
    assert!(SmartLog::decode(&log).temperature_kelvin != Some(0));
    let _ = ocp_media_written_bytes(&log);
});

/// Returns a page of `N` bytes: the input, truncated or padded with zeros.
fn page<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}
