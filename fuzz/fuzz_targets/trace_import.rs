//! Fuzzes traces from other tools. The properties are in `properties/trace_import.rs`; a test also checks them with
//! the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod trace_import;
}

fuzz::target!(|bytes: &[u8]| properties::trace_import::check(bytes));
