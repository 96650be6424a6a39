//! Descriptions of arrays. What must hold stands in `properties/array_description.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod array_description;
}

fuzz_target!(|bytes: &[u8]| properties::array_description::check(bytes));
