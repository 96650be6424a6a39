//! Whole runs that somebody else has written. What must hold stands in `properties/run.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod journal;
    pub mod run;
}

fuzz_target!(|bytes: &[u8]| properties::run::check(bytes));
