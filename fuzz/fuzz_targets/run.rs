//! Fuzzes complete runs from untrusted sources. The properties are in `properties/run.rs`; a test also checks
//! them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    #[expect(dead_code, reason = "this target uses only part of it")]
    pub mod journal;
    pub mod run;
}

fuzz::target!(|bytes: &[u8]| properties::run::check(bytes));
