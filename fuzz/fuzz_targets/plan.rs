//! Fuzzes plans. The properties are in `properties/plan.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod plan;
}

fuzz::target!(|bytes: &[u8]| properties::plan::check(bytes));
