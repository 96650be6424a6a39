//! Fuzzes configurations of `plateau notify`. The properties are in `properties/notify_config.rs`; a test also checks
//! them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod notify_config;
}

fuzz_target!(|bytes: &[u8]| properties::notify_config::check(bytes));
