//! Models of simulated drives. What must hold stands in `properties/model.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod model;
}

fuzz_target!(|bytes: &[u8]| properties::model::check(bytes));
