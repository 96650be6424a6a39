//! fio's vocabulary: job files and options become workloads, and the results of jobs become text and JSON under fio's
//! names. This crate is pure: it opens no target and reads no file; [`Surroundings`] provides the environment
//! variables and included files that a job file refers to.
//!
//! [`parse`] reads a job file and [`set`] one option into [`Job`]s; [`Job::expanded`] separates the targets of a job,
//! and [`Job::streams`] converts a job and the size of its target to workloads. Each fio option is one entry of a
//! table: [`keys`] are accepted, [`REFUSED`] are refused, and [`PROGRAM`] are options of the fio program itself. The
//! segments that a target returns are combined into [`result::Part`]s, and the results of several hosts into a
//! [`hosts::Combined`].
#![forbid(unsafe_code)]

mod command_line;
mod command_options;
mod commands;
mod continues;
mod copies;
mod depth_search;
mod duplicates;
mod errors;
mod file;
mod file_list;
mod file_operations;
mod files;
mod histogram_log;
pub mod hosts;
mod job;
mod keys;
mod latency_target;
mod lay_out;
pub mod limits;
mod log_options;
mod logs;
mod meaning;
mod nvme;
mod nvme_options;
mod order;
mod priority;
mod rates;
pub mod result;
mod scsi;
mod searches;
mod sequence;
mod setters;
mod sprandom;
mod stage_limits;
mod stages;
pub mod steady;
mod strided;
mod strides;
mod think;
mod tie;
mod ties;
mod values;
mod variables;
mod zone_options;
mod zoned;

pub use command_line::{conflict, jobs_of, selected, with_two_dashes};
pub use depth_search::DepthSearch;
pub use duplicates::share_duplicates;
pub use file::{Included, Surroundings, parse};
pub use job::{GivenOptions, Job};
pub use keys::{
    Form, Key, PROGRAM, ProgramOption, REFUSED, Refused, Standing, keys, refused, set, why_refused,
};
pub use lay_out::laying_out;
pub use logs::PlannedLog;
pub use searches::Searches;
pub use stage_limits::Limits;
pub use stages::{check_stages, stages};
pub use ties::{Ties, ends_all};
pub use values::{engine, time_ns};
