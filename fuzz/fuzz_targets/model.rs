//! Fuzzes models of simulated drives. The properties are in `properties/model.rs`; a test also checks them with the
//! corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod model;
}

fuzz::target!(|bytes: &[u8]| properties::model::check(bytes));
