//! Fuzzes complete runs from untrusted sources. The properties are in `properties/run.rs`; a test also checks
//! them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod journal;
    pub mod run;
}

fuzz_target!(|bytes: &[u8]| properties::run::check(bytes));
