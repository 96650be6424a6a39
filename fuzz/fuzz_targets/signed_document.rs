//! Signatures and keys. What must hold stands in `properties/signed_document.rs`, which a test plays with the corpus as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod signed_document;
}

fuzz_target!(|bytes: &[u8]| properties::signed_document::check(bytes));
