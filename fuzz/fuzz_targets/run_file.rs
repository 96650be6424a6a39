//! `run.json`. What must hold stands in `properties/run_file.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod run_file;
}

fuzz_target!(|bytes: &[u8]| properties::run_file::check(bytes));
