//! Where the results of commands go: standard output, output files, and the folders in which a user's runs, state and
//! configuration are kept. The streams themselves belong to the `console` crate. Nothing in this crate decides how a
//! run continues.
#![forbid(unsafe_code)]

pub mod extension;
pub mod file;
pub mod places;
pub mod printer;
pub mod provenance;
pub mod signature;
pub mod summary;
pub mod verbose;
