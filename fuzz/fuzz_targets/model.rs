//! Fuzzes models of simulated drives. The properties are in `properties/model.rs`; a test also checks them with the
//! corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod model;
}

fuzz_target!(|bytes: &[u8]| properties::model::check(bytes));
