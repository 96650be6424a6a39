//! Journals. What must hold stands in `properties/journal.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod journal;
}

fuzz_target!(|bytes: &[u8]| properties::journal::check(bytes));
