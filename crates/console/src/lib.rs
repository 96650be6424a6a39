//! The output of this process for people and programs: standard output, standard error, and the progress of
//! runs. This crate knows neither the command line nor the commands, and it makes no decisions about a run.
//!
//! Nothing else writes to the two streams: [`printer`] prints results and messages. A run reports to an [`Audience`],
//! of which [`progress::Progress`] is the one that displays it; other activities show a [`progress::View`] on a
//! [`progress::Board`].
#![forbid(unsafe_code)]

mod audience;
pub mod printer;
pub mod progress;
mod screen;
mod terminal;
mod text_chart;

pub use audience::{Audience, Nobody, Step};
pub use terminal::columns;
pub use text_chart::bars;
