//! What a person or a program sees of this process: standard output, standard error, and the progress of runs on them.
//! It knows neither the command line nor the commands, and it decides nothing about a run.
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
