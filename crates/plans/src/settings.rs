//! The settings of a run: the table that defines them, values as written, and their application to a run. The
//! settings in plans and on the command line are derived from the table; neither defines settings of its own.

mod literal;
mod lookup;
mod setting;
mod table;
mod words;

pub use literal::{Literal, typed_whole};
pub use lookup::{manual, setting, typed};
pub use setting::{Form, Given, RunSettings, Scope, Setting};
pub use table::SETTINGS;
