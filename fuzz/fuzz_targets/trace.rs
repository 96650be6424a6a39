//! Traces. The properties are in `properties/trace.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod trace;
}

fuzz::target!(|bytes: &[u8]| properties::trace::check(bytes));
