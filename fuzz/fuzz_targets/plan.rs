//! Plans of tests. What must hold stands in `properties/plan.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod plan;
}

fuzz_target!(|bytes: &[u8]| properties::plan::check(bytes));
