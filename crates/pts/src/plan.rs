//! Plans: the tests and their order, profile, settings, and additions to the report, read from a TOML file
//! ([`Plan::read`]) or taken from a preset ([`crate::preset`]). The keys of its settings are those of [`crate::settings`].
//!
//! A plan contains only what its author wrote. The command line, then the profile, determine everything else.

mod custom;
mod document;
mod reader;
mod table;
mod value;

pub use document::{Plan, Publisher};
pub use reader::KEYS;
pub use table::{KeyDoc, PlanError};
