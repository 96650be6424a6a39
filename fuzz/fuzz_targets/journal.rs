//! Fuzzes journals. The properties are in `properties/journal.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod journal;
}

fuzz::target!(|bytes: &[u8]| properties::journal::check(bytes));
