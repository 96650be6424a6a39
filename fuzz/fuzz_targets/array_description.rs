//! Descriptions of arrays. The properties are in
//! `properties/array_description.rs`; a test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod array_description;
}

fuzz_target!(|bytes: &[u8]| properties::array_description::check(bytes));
