//! `run.json`. The properties are in `properties/run_file.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod run_file;
}

fuzz::target!(|bytes: &[u8]| properties::run_file::check(bytes));
