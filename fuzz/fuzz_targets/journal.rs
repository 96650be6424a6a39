//! Fuzzes journals. The properties are in `properties/journal.rs`; a test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod journal;
}

fuzz_target!(|bytes: &[u8]| properties::journal::check(bytes));
