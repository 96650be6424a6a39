//! The load engine runs workloads on an open file descriptor and measures each I/O.
//!
//! A [`Target`] contains what the engine needs to use a device: a name for messages, a descriptor, a clock,
//! and [`LoadOptions`]. [`run`] performs one [`record::Workload`] and returns a [`LoadOutcome`] with its
//! [`record::Segment`]; [`run_concurrently`] performs several at the same time. Both report a [`Tick`] about once
//! per second to a function that decides whether to continue ([`Flow`]).
//!
//! The modules, from the outside in:
//!
//! | module | what it does |
//! |---|---|
//! | `load` | one workload: its threads, their common start, progress, and the result |
//! | `load/loops` | the loop of one thread, compiled once for each combination of queue and content |
//! | `queue` | submission and completion: io_uring, libaio, threads, NVMe commands, or no device |
//! | `load/content` | data to write, and verification of data that was read ([`VerifyReport`]) |
//! | `load/recorder` | histograms and time series of one thread |
//! | `choice` | which engine suits a workload, given measurements of each ([`choose()`]) |
//! | `placement` | the CPUs on which the threads run ([`Places`]) |
//! | `clock` | the CPU's counter or the kernel's clock ([`Clock`]) |
//! | `wall_clock` | how accurate the wall clock of this host is ([`WallClock`]) |
//! | `ceiling` | the same loop without a target, to measure the host's own limit ([`ceiling()`]) |
//!
//! The engine knows nothing about identities, safety or the simulator: the caller must have verified that a load may
//! run on the target. Between the start and the end of a run, a worker does not allocate, lock, log or read
//! configuration.

mod ceiling;
mod choice;
mod clock;
mod disturbance;
mod effort;
mod error;
mod load;
mod options;
mod outcome;
mod placement;
mod progress;
mod queue;
mod replay;
mod sg_io;
mod wall_clock;

pub use ceiling::{Nowhere, Rehearsed, ceiling, quick_ceiling, rehearse, rehearse_by};
pub use choice::{ChoiceLimits, Choices, Choosing};
pub use clock::Clock;
pub use disturbance::Disturbance;
pub use error::{EngineError, FailedOperation, FailureCause, IoFailure};
pub use load::choose::choose;
pub use load::concurrent::{Answer, StreamOptions, check_ranges, run as run_concurrently};
pub use load::exits::Exits;
pub use load::interval::Interval;
pub use load::not_atomic::NotAtomic;
pub use load::portion::{Portion, Proportion};
pub use load::priorities::check_priorities;
pub use load::recorder::{Recorder, Recording, merge};
pub use load::run::{check_depth, check_support, run};
pub use load::schedule::Schedule;
pub use load::stamp_run::StampRun;
pub use load::target::Target;
pub use load::verifiable::{Unverifiable, check_verifiable};
pub use load::verified::{ended_by, run as run_verified};
pub use load::verify_report::{VerifyReport, Wrong, WrongPlace};
pub use options::{Engine, FileOperation, FolderFiles, LoadOptions, Polling, SpaceCall};
pub use outcome::LoadOutcome;
pub use placement::{CpuListError, PlacementError, Places, parse_cpu_list, shares};
pub use progress::{Flow, Tick};
pub use queue::no_command::NoCommand;
pub use queue::passthrough::{CommandDevice, Namespace};
pub use replay::{
    BATCH, Bounds, Due, Fitting, Pace, ReplayLog, ReplayOptions, Replayed, Source as ReplaySource, Started,
    replay,
};
pub use sg_io::{SgAnswer, SgData, sg_io};
pub use wall_clock::{WallClock, wall_clock};
pub use zones::NotZoned;
