//! Fuzzes plans. The properties are in `properties/plan.rs`; a test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod plan;
}

fuzz_target!(|bytes: &[u8]| properties::plan::check(bytes));
