//! Descriptions of arrays. The properties are in
//! `properties/array_description.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod array_description;
}

fuzz::target!(|bytes: &[u8]| properties::array_description::check(bytes));
