//! Signatures and keys. The properties are in
//! `properties/signed_document.rs`; a test also checks them with the corpus.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../properties"]
mod properties {
    pub mod signed_document;
}

fuzz_target!(|bytes: &[u8]| properties::signed_document::check(bytes));
