//! Fuzzes configurations of `plateau notify`. The properties are in `properties/notify_config.rs`; a test also checks
//! them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod notify_config;
}

fuzz::target!(|bytes: &[u8]| properties::notify_config::check(bytes));
