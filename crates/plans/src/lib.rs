//! The user's request for a run: plans, presets and settings.
//!
//! A plan specifies the tests and their order, the profile, settings, custom tests and additions to the report. It is
//! read from a TOML file ([`Plan::read`]) or built in ([`Preset`]). It contains only what its author wrote: everything
//! else is determined first by the command line, then by the profile. Each run setting is one entry in
//! [`settings::SETTINGS`], from which plan keys and command-line options are derived.
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
