//! Fuzzes the search for signatures on a target. The properties are in `properties/on_disk_signatures.rs`; a
//! test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod on_disk_signatures;
}

fuzz_target!(|bytes: &[u8]| properties::on_disk_signatures::check(bytes));
