//! Fuzzes restore records of arrays. The properties are in `properties/array_note.rs`; a test also checks them
//! with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod array_note;
}

fuzz::target!(|bytes: &[u8]| properties::array_note::check(bytes));
