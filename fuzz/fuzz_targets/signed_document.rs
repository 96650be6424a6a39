//! Signatures and keys. The properties are in
//! `properties/signed_document.rs`; a test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod signed_document;
}

fuzz::target!(|bytes: &[u8]| properties::signed_document::check(bytes));
