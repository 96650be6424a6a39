//! `run.json`. The properties are in `properties/run_file.rs`; a test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod run_file;
}

fuzz_target!(|bytes: &[u8]| properties::run_file::check(bytes));
