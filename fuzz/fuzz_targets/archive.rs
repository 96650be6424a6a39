//! Fuzzes archived runs. The properties are in `properties/archive.rs`; a test also checks them with the
//! corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod archive;
}

fuzz_target!(|bytes: &[u8]| properties::archive::check(bytes));
