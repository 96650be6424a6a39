//! The drives in many hosts, and the jobs that test them. Everything in this crate is a pure function of text: the
//! drive lists that hosts print, campaigns, and the scheduler's job list. No process is started, and no file is read
//! or written.
//!
//! Scheduling is left to Slurm. Each drive is a generic resource (GRES) whose type is the drive's identity,
//! so that a job requests one specific drive, and Slurm never runs two jobs on it.
#![forbid(unsafe_code)]

mod campaign;
mod configuration;
pub mod contention;
mod error;
mod expected;
pub mod fitness;
mod inventory;
mod jobs;
pub mod outlook;
mod queue;
mod sharing;
mod state;
mod words;

pub use campaign::{Campaign, Selection, Work};
pub use configuration::{gres_conf, nodes_conf};
pub use error::FleetError;
pub use expected::Expected;
pub use inventory::{Change, Drive, Inventory, Listed, Unusable};
pub use jobs::{Job, Program, batch_name, batches, dependencies, jobs, script};
pub use queue::{Place, Queued, SQUEUE_FORMAT, at, by_drive, queue};
pub use sharing::{Contention, Enclosure};
pub use state::{State, Stored, counts, state};
