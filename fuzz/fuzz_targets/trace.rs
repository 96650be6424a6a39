//! Traces. The properties are in `properties/trace.rs`; a test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod trace;
}

fuzz_target!(|bytes: &[u8]| properties::trace::check(bytes));
