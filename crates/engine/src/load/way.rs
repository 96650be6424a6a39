//! The paths into the kernel, and the selection of the paths that suit a load.

use record::IoEngine;

use super::target::Target;
use crate::options::{Engine, Polling};

/// A path into the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Uring,
    /// NVMe commands through io_uring.
    UringCommands,
    Aio,
    Threads,
    /// No kernel involved: I/Os complete immediately in user space.
    Null,
    /// `IORING_OP_NOP` through io_uring, without a target.
    NoOpRing,
}

impl Way {
    /// Returns the engines to try, best first.
    pub(crate) fn of(target: &Target<'_>, queue_depth: u16) -> &'static [Self] {
        match target.options.engine {
            Engine::Threads => &[Self::Threads],
            Engine::IoUring => &[Self::Uring],
            Engine::IoUringCmd => &[Self::UringCommands, Self::Uring],
            Engine::Libaio => &[Self::Aio],
            // Only io_uring supports polling.
            Engine::Auto if target.options.polling != Polling::No => &[Self::Uring, Self::Aio, Self::Threads],
            // At QD 1, a plain system call is the shortest path and adds the least to response times.
            Engine::Auto if queue_depth == 1 => &[Self::Threads],
            // libaio would serialize I/Os that go through the page cache.
            Engine::Auto if target.is_buffered => &[Self::Uring, Self::Threads],
            Engine::Auto => &[Self::Uring, Self::Aio, Self::Threads],
        }
    }

    pub(crate) const fn engine(self) -> IoEngine {
        match self {
            Self::Uring => IoEngine::IoUring,
            Self::UringCommands => IoEngine::IoUringCmd,
            Self::Aio => IoEngine::Libaio,
            Self::Threads => IoEngine::Threads,
            Self::Null => IoEngine::Null,
            Self::NoOpRing => IoEngine::NoOpRing,
        }
    }
}
