//! Starts, stops and resumes runs. A run is a separate process with the command line that a user would type, so every
//! check that `plateau run` makes applies, and a run continues if the process that started it ends.
//!
//! A launcher accepts only a [`Request`], which cannot name a program or an option. If it arrives over a socket, its
//! target must be a block device under `/dev` or a simulated drive, so it cannot name a file to overwrite.
#![forbid(unsafe_code)]

mod command;
mod error;
mod holder;
mod launcher;
mod request;
mod socket;
mod target_problem;

pub use command::{as_typed, plan_words, words};
pub use error::LaunchError;
pub use holder::{Lock, Process, holder, lock_of, process_of};
pub use launcher::{Launched, Launcher};
pub use request::{Invalid, MOST_REQUEST_BYTES, Plan, Request, Start, Target};
pub use socket::{Answer, peer, serve_one, through, uid};
pub use target_problem::TargetProblem;
