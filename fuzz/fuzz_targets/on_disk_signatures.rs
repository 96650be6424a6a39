//! Fuzzes the search for signatures on a target. The properties are in `properties/on_disk_signatures.rs`; a
//! test also checks them with the corpus.

#![cfg_attr(fuzzing, no_main)]

#[path = "../properties"]
mod properties {
    pub mod on_disk_signatures;
}

fuzz::target!(|bytes: &[u8]| properties::on_disk_signatures::check(bytes));
