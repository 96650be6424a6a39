//! Fuzzes archived runs. The properties are in `properties/archive.rs`; a test also checks them with the
//! corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod archive;
}

fuzz::target!(|bytes: &[u8]| properties::archive::check(bytes));
