//! Plans: the tests and their order, profile, settings, and additions to the report, read from a TOML file
//! ([`Plan::read`]) or taken from a preset ([`crate::preset`]). The settings of a run are defined here for plans and the
//! command line alike, one entry of [`SETTINGS`] each.
//!
//! A plan contains only what its author wrote. The command line, then the profile, determine everything else.

mod custom;
mod document;
mod literal;
mod reader;
mod setting;
mod settings;
mod table;
mod value;

pub use document::{Plan, Publisher};
pub use literal::{Literal, typed_whole};
pub use reader::KEYS;
pub use setting::{Form, Given, RunSettings, Scope, Setting};
pub use settings::{SETTINGS, manual, setting, typed};
pub use table::{KeyDoc, PlanError};
