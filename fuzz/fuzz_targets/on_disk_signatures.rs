//! What stands on a target. What must hold stands in `properties/on_disk_signatures.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod on_disk_signatures;
}

fuzz_target!(|bytes: &[u8]| properties::on_disk_signatures::check(bytes));
