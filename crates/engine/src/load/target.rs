//! The engine's view of a target.

use std::ffi::CString;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stdx::units::SECOND_NS;
use zones::Zones;

use super::ledger::Ledger;
use super::portion::Portion;
use crate::clock::Clock;
use crate::options::LoadOptions;
use crate::queue::passthrough::CommandDevice;

/// Length of an interval of the time series and time between two ticks.
pub(crate) const INTERVAL_NS: u64 = SECOND_NS;

/// An open target.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Name for messages.
    pub name: &'a str,
    /// Descriptor of the target; `None` for a load without a target.
    pub(crate) fd: Option<BorrowedFd<'a>>,
    /// Whether I/Os go through the page cache.
    pub is_buffered: bool,
    /// The device for NVMe commands, or the reason why it is not available. `None` if the device was not
    /// requested.
    pub commands: Option<Result<CommandDevice<'a>, &'a str>>,
    /// The clock that all measurements use.
    pub clock: Clock,
    /// Options for the load.
    pub options: &'a LoadOptions,
    /// Length of an interval of the time series.
    pub(crate) interval_ns: u64,
    /// For concurrent workloads: the number of threads of all preceding workloads that are driven in the same manner, and
    /// the number of threads of all other such workloads.
    pub(crate) concurrent_threads: (u16, u16),
    /// Once this is set, the workload ends early, with its results.
    pub(crate) finish: Option<&'a AtomicBool>,
    /// The portion of the I/Os of several workloads that the workload issues.
    pub(crate) portion: Option<Portion<'a>>,
    /// The blocks that workloads with verification write.
    pub(crate) ledger: Option<&'a Arc<Ledger>>,
    /// The zones of a zoned device, if workloads use them.
    pub(crate) zones: Option<&'a Arc<Zones>>,
    /// For file operations: the names of the files in the folder that is the target.
    pub(crate) names: &'a [CString],
}

impl<'a> Target<'a> {
    /// Returns a target for direct I/O through this descriptor, without a device for NVMe commands.
    #[must_use]
    pub fn new(name: &'a str, fd: BorrowedFd<'a>, clock: Clock, options: &'a LoadOptions) -> Self {
        Self { fd: Some(fd), ..Self::nowhere(name, clock, options, INTERVAL_NS) }
    }

    /// Returns a target for operations on these files of a folder. The I/O at `n` times the block size is the operation on
    /// file `n`.
    #[must_use]
    pub fn folder(
        name: &'a str,
        fd: BorrowedFd<'a>,
        names: &'a [CString],
        clock: Clock,
        options: &'a LoadOptions,
    ) -> Self {
        Self { names, ..Self::new(name, fd, clock, options) }
    }

    /// Returns the placeholder target of [`Engine::Null`](crate::Engine::Null), which opens nothing.
    #[must_use]
    pub fn none(name: &'a str, clock: Clock, options: &'a LoadOptions) -> Self {
        Self::nowhere(name, clock, options, INTERVAL_NS)
    }

    /// Returns the placeholder target for a load without a target.
    pub(crate) fn nowhere(name: &'a str, clock: Clock, options: &'a LoadOptions, interval_ns: u64) -> Self {
        Self {
            name,
            fd: None,
            is_buffered: false,
            commands: None,
            clock,
            options,
            interval_ns,
            concurrent_threads: (0, 0),
            finish: None,
            portion: None,
            ledger: None,
            zones: None,
            names: &[],
        }
    }

    /// Returns the descriptor for the kernel; -1 if there is no target.
    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd.map_or(-1, |fd| fd.as_raw_fd())
    }
}
