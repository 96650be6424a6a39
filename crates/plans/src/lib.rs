//! What the user requests of a run: plans, presets and settings.
//!
//! A plan names the tests and their order, the profile, settings, custom tests and additions to the report; it is read
//! from a TOML file ([`Plan::read`]) or built in ([`Preset`]). It contains only what its author wrote: the command line,
//! then the profile, determine everything else. Each setting of a run is one entry of [`settings::SETTINGS`], from which
//! plans and the command line derive theirs.
#![forbid(unsafe_code)]

pub mod limits;
pub mod settings;

mod custom;
mod document;
mod preset;
mod reader;
mod table;
mod value;

pub use document::{Plan, Publisher};
pub use preset::{PRESETS, Preset};
pub use reader::KEYS;
pub use table::{KeyDoc, PlanError};
