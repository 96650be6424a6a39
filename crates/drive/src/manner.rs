//! How a real target is driven: the way into the kernel, where threads run, and who polls.

use record::PathRemark;

use crate::error::DriveError;
use crate::placement::Places;
use crate::target::Real;
use crate::{OpenOptions, host};

/// How a real target is driven.
#[derive(Debug, Clone)]
pub(crate) struct Manner {
    pub(crate) engine: Engine,
    pub(crate) places: Places,
    pub(crate) polling: Polling,
    /// Why nothing polls although polling was requested.
    pub(crate) unpolled: Option<&'static str>,
}

/// Who looks busily for what io_uring has to do. It saves interrupts and costs a processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Polling {
    /// Nobody.
    #[default]
    No,
    /// The thread of the load, for completions (fio: `hipri`); needs a block device with poll queues. Where that
    /// is not so the load goes on without, and the segment says why.
    Completions,
    /// A thread of the kernel, for submissions (fio: `sqthread_poll`). What that costs is in no segment.
    Submissions,
}

impl Polling {
    /// What a segment that was driven with it says.
    pub(crate) const fn remark(self) -> Option<PathRemark> {
        match self {
            Self::No => None,
            Self::Completions => Some(PathRemark::CompletionsPolled),
            Self::Submissions => Some(PathRemark::SubmissionsPolled),
        }
    }
}

/// How a real target shall be driven, and whether that is possible.
pub(crate) fn manner(
    target: &str,
    real: &Real,
    options: &OpenOptions,
    roots: &host::Roots,
) -> Result<Manner, DriveError> {
    let places = Places::of(roots, real.numa_node(), options.placement.clone());
    let places = places.map_err(DriveError::Invalid)?;
    if options.polling != Polling::No && matches!(options.engine, Engine::Libaio | Engine::Threads) {
        return Err(DriveError::Invalid(format!(
            "{target}: only io_uring can poll; use io_uring, or omit polling"
        )));
    }
    if options.engine == Engine::IoUringCmd && !real.is_nvme() {
        return Err(DriveError::Invalid(format!(
            "{target}: io_uring_cmd requires an NVMe namespace, and the target is not one; use io_uring"
        )));
    }
    let impossible = (options.polling == Polling::Completions).then(|| real.unpollable()).flatten();
    let polling = if impossible.is_some() { Polling::No } else { options.polling };
    Ok(Manner { engine: options.engine, places, polling, unpolled: impossible })
}

/// How I/Os get into the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Engine {
    /// At depth 1 `pread` and `pwrite`, deeper io_uring, and libaio and then threads where that cannot be set
    /// up; the segment says which and why.
    #[default]
    Auto,
    /// io_uring or an error.
    IoUring,
    /// Linux's older asynchronous interface, or an error.
    Libaio,
    /// `pread` and `pwrite` in one thread per outstanding I/O.
    Threads,
    /// NVMe commands through io_uring, past the block layer; io_uring where the kernel or the drive does not take
    /// them, and the segment says why. For NVMe only.
    IoUringCmd,
}
