//! Notes of arrays. What must hold stands in `properties/array_note.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod array_note;
}

fuzz_target!(|bytes: &[u8]| properties::array_note::check(bytes));
