//! Fuzzes the parser for the restore records of changed settings. The properties are in
//! `properties/changed_settings.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod changed_settings;
}

fuzz::target!(|bytes: &[u8]| properties::changed_settings::check(bytes));
