//! Campaigns as they are: reads campaigns and inventories, asks Slurm for its queue, submits jobs, and combines the queue
//! with the library and the output of the jobs. All decisions are made in the `fleet` crate.
#![forbid(unsafe_code)]

mod exports;
pub mod files;
pub mod reach;
pub mod report;
pub mod scheduler;
pub mod submission;
mod survey;

pub use scheduler::Whose;
pub use survey::{InQueue, Survey, Surveyor};
