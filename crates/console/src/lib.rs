//! This process's output for people and programs: standard output, standard error, and the progress of runs.
//! This crate depends neither on the command line nor on the commands, and makes no decisions about a run.
//!
//! Only this crate writes to the two streams: [`printer`] prints results and messages. A run reports to an
//! [`Audience`], which [`progress::Progress`] implements to display the run; other activities show a
//! [`progress::View`] on a [`progress::Board`].
#![forbid(unsafe_code)]

mod audience;
pub mod health;
pub mod printer;
pub mod progress;
mod screen;
mod secret;
mod terminal;
mod text_chart;

pub use audience::{Audience, Nobody, Step};
pub use secret::secret;
pub use terminal::{columns, in_ascii};
pub use text_chart::bars;
