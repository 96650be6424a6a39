//! Fuzzes restore records of arrays. The properties are in `properties/array_note.rs`; a test also checks them
//! with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod array_note;
}

fuzz_target!(|bytes: &[u8]| properties::array_note::check(bytes));
