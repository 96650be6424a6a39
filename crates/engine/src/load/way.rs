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
    /// System calls that change the space of a file.
    Space,
    /// SCSI commands.
    Scsi,
    /// One system call for each file of a folder.
    Files,
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
            Engine::Null => &[Self::Null],
            Engine::Space(_) => &[Self::Space],
            Engine::Scsi => &[Self::Scsi],
            Engine::Files(_) => &[Self::Files],
            // Only io_uring supports polling.
            Engine::Auto if target.options.polling != Polling::No => &[Self::Uring, Self::Aio, Self::Threads],
            // At QD 1, a plain system call is the shortest path and adds the least to response times.
            Engine::Auto if queue_depth == 1 => &[Self::Threads],
            // libaio would serialize I/Os that go through the page cache.
            Engine::Auto if target.is_buffered => &[Self::Uring, Self::Threads],
            Engine::Auto => &[Self::Uring, Self::Aio, Self::Threads],
        }
    }

    /// Moves the chosen engine ahead of the others that were measured. Engines that could not be set up stay where
    /// they are, so that the segment records them.
    pub(crate) fn ordered(ways: &[Self], chosen: IoEngine, measured: &[IoEngine]) -> Vec<Self> {
        let mut ways = ways.to_vec();
        let first = ways.iter().position(|way| measured.contains(&way.engine()));
        let place = ways.iter().position(|way| way.engine() == chosen);
        if let (Some(first), Some(place)) = (first, place)
            && first < place
        {
            ways[first..=place].rotate_right(1);
        }
        ways
    }

    pub(crate) const fn engine(self) -> IoEngine {
        match self {
            Self::Uring => IoEngine::IoUring,
            Self::UringCommands => IoEngine::IoUringCmd,
            Self::Aio => IoEngine::Libaio,
            Self::Threads => IoEngine::Threads,
            Self::Space => IoEngine::Space,
            Self::Scsi => IoEngine::Sg,
            Self::Files => IoEngine::Files,
            Self::Null => IoEngine::Null,
            Self::NoOpRing => IoEngine::NoOpRing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_engine_precedes_only_engines_that_were_measured() {
        let ways = [Way::Uring, Way::Aio, Way::Threads];
        let all = [IoEngine::IoUring, IoEngine::Libaio, IoEngine::Threads];
        let ordered = |chosen, measured: &[IoEngine]| Way::ordered(&ways, chosen, measured);
        assert_eq!(ordered(IoEngine::IoUring, &all), ways);
        assert_eq!(ordered(IoEngine::Libaio, &all), [Way::Aio, Way::Uring, Way::Threads]);
        assert_eq!(ordered(IoEngine::Threads, &all), [Way::Threads, Way::Uring, Way::Aio]);
        assert_eq!(ordered(IoEngine::Threads, &all[1..]), [Way::Uring, Way::Threads, Way::Aio]);
        assert_eq!(ordered(IoEngine::Null, &all), ways);
    }
}
