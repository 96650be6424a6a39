//! Notes of changed settings. What must hold stands in `properties/changed_settings.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod changed_settings;
}

fuzz_target!(|bytes: &[u8]| properties::changed_settings::check(bytes));
