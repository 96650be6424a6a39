//! The commands for real workloads, without terminal input and output: options in, [`Answer`] out.
//!
//! The program writes all files, because only the program knows which files must not be overwritten: a command that
//! writes a trace receives the open file, and other files are part of its answer.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod capture;
mod error;
mod files;
mod import;
mod replay;
mod rewrite;
mod show;

pub use ::capture::CaptureError;
pub use answer::Answer;
pub use args::{
    Capture, Offsets, Replay, TraceAnonymise, TraceCommand, TraceImport, TracePlan, TraceSample, TraceShow,
};
pub use capture::capture;
pub use error::WorkloadError;
pub use import::import;
pub use replay::replay;
pub use rewrite::{anonymise, sample};
pub use show::{plan, show};
pub use trace::{NoReplay, TraceError};
