//! Options for opening a target.

use std::path::PathBuf;

use engine::{Engine, Polling, StampRun};
use record::{InjectedFault, Placement};

/// Faults to inject into a simulated drive.
#[derive(Debug, Clone)]
pub enum SimFaults {
    /// As typed, in the syntax of [`nandsim::FAULT_GRAMMAR`].
    Typed(Vec<String>),
    /// As stored in a run.
    Recorded(Vec<InjectedFault>),
}

/// Options for opening a target.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Size of a file; required if the file does not exist yet.
    pub size_bytes: Option<u64>,
    /// Libraries of runs. Files in them are refused as targets, under any path.
    pub libraries: Vec<PathBuf>,
    /// Scale of a simulated drive, such as `1/16`; `None` means full size.
    pub scale: Option<String>,
    /// Seed for a simulated drive.
    pub sim_seed: u64,
    /// Faults of a simulated drive, replacing its model's faults; `None` to use the model's faults.
    pub sim_faults: Option<SimFaults>,
    /// Whether this is the simulated drive of a resumed run; one-time faults have already occurred on such a drive.
    pub sim_resumed: bool,
    /// Whether a simulated drive ticks once per second of its virtual clock instead of the host's clock, so
    /// that a load stops at the same point in every run.
    pub sim_virtual_ticks: bool,
    /// I/O engine.
    pub engine: Engine,
    /// CPUs for the threads of a load; `None` pins each thread to a CPU near the device.
    pub placement: Option<Placement>,
    /// io_uring polling mode.
    pub polling: Polling,
    /// The run whose stamps read-only workloads accept if they verify; `None` to accept every run.
    pub expected_run: Option<StampRun>,
    /// Other manners of driving the target, for concurrent workloads that select one, numbered from 1.
    pub other_manners: Vec<Manner>,
}

/// How a load drives a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manner {
    /// I/O engine.
    pub engine: Engine,
    /// CPUs for the threads; `None` pins each thread to a CPU near the device.
    pub placement: Option<Placement>,
    /// io_uring polling mode.
    pub polling: Polling,
}

impl OpenOptions {
    /// Returns all manners of driving the target, by their numbers.
    pub fn manners(&self) -> impl Iterator<Item = Manner> {
        let Self { engine, polling, ref placement, .. } = *self;
        std::iter::once(Manner { engine, placement: placement.clone(), polling })
            .chain(self.other_manners.iter().cloned())
    }
}
