//! Fuzzes traces from other tools. The properties are in `properties/trace_import.rs`; a test also checks them with
//! the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod trace_import;
}

fuzz_target!(|bytes: &[u8]| properties::trace_import::check(bytes));
