//! How the I/Os of a segment reached their target, and what could not be had on the way.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the I/Os of a segment were submitted, and how that differs from what was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoPath {
    /// What submitted them.
    pub engine: IoEngine,
    /// Engines that were tried first, in that order, and could not be set up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Fallback>,
    /// What else distinguishes this path from a plain one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<PathRemark>,
}

/// What submits I/Os (fio: `ioengine`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoEngine {
    /// io_uring.
    IoUring,
    /// NVMe commands through io_uring, past the block layer.
    IoUringCmd,
    /// Linux's older asynchronous interface.
    Libaio,
    /// `pread` and `pwrite` in the thread of the load: one I/O at a time.
    Psync,
    /// `pread` and `pwrite` in one thread per outstanding I/O.
    Threads,
    /// Nothing: every I/O completes at once. Measures what the load loop itself costs.
    Null,
    /// No-op requests through io_uring. Measures what the ring costs without a target.
    NoOpRing,
    /// The simulated drive, in virtual time.
    Simulated,
}

/// An engine that was tried and could not be set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The engine.
    pub engine: IoEngine,
    /// What the kernel answered, in words.
    pub cause: String,
}

/// A property of a path that its engine does not imply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathRemark {
    /// The threads of the load polled for completions (fio: `hipri`).
    CompletionsPolled,
    /// A kernel thread polled for submissions (fio: `sqthread_poll`).
    SubmissionsPolled,
    /// Polling was requested and could not be had.
    NotPolled {
        /// Why, in words.
        cause: String,
    },
    /// The kernel refused to register the buffers, so it maps them for each I/O.
    UnregisteredBuffers {
        /// What it answered, in words.
        cause: String,
    },
    /// Kernel threads did the I/Os, because the target may block on submission.
    KernelThreads,
    /// A thread of the load could not be pinned to its processor.
    NotPinned {
        /// What the kernel answered, in words.
        cause: String,
    },
    /// Through the page cache: the file system has no direct I/O. Response times are those of memory.
    Buffered,
}

impl IoEngine {
    /// Name as printed; fio's where fio has one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::IoUringCmd => "io_uring_cmd",
            Self::Libaio => "libaio",
            Self::Psync => "pread and pwrite (depth 1)",
            Self::Threads => "threads",
            Self::Null => "null",
            Self::NoOpRing => "no-op ring",
            Self::Simulated => "simulated",
        }
    }

    /// Whether every I/O passes through a ring of io_uring, whose cost then counts as the host's.
    #[must_use]
    pub const fn uses_ring(self) -> bool {
        matches!(self, Self::IoUring | Self::IoUringCmd | Self::NoOpRing)
    }
}

impl From<IoEngine> for IoPath {
    /// The plain path through an engine.
    fn from(engine: IoEngine) -> Self {
        Self { engine, fallbacks: Vec::new(), remarks: Vec::new() }
    }
}

impl IoPath {
    /// Whether the I/Os went through the page cache.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.remarks.contains(&PathRemark::Buffered)
    }
}

impl fmt::Display for IoPath {
    /// `threads (io_uring: Too many open files; libaio: ...); not polled: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.engine.name())?;
        for (i, Fallback { engine, cause }) in self.fallbacks.iter().enumerate() {
            write!(f, "{}{}: {cause}", if i == 0 { " (" } else { "; " }, engine.name())?;
        }
        if !self.fallbacks.is_empty() {
            f.write_str(")")?;
        }
        self.remarks.iter().try_for_each(|remark| write!(f, "; {remark}"))
    }
}

impl fmt::Display for PathRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CompletionsPolled => f.write_str("completions polled"),
            Self::SubmissionsPolled => f.write_str("submissions polled by the kernel"),
            Self::NotPolled { cause } => write!(f, "not polled: {cause}"),
            Self::UnregisteredBuffers { cause } => write!(f, "unregistered buffers: {cause}"),
            Self::KernelThreads => f.write_str("kernel threads do the I/Os, because the target may block"),
            Self::NotPinned { cause } => write!(f, "not pinned: {cause}"),
            Self::Buffered => f.write_str("buffered: the file system has no direct I/O"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_engine_then_causes_then_remarks() {
        assert_eq!(IoPath::from(IoEngine::Psync).to_string(), "pread and pwrite (depth 1)");
        let fallback = |engine, cause: &str| Fallback { engine, cause: cause.into() };
        let path = IoPath {
            engine: IoEngine::Threads,
            fallbacks: vec![
                fallback(IoEngine::IoUring, "Too many open files"),
                fallback(IoEngine::Libaio, "Operation not permitted"),
            ],
            remarks: vec![PathRemark::NotPolled { cause: "a file".into() }, PathRemark::Buffered],
        };
        assert_eq!(
            path.to_string(),
            "threads (io_uring: Too many open files; libaio: Operation not permitted); not polled: a file; \
             buffered: the file system has no direct I/O"
        );
        assert!(path.is_buffered() && !path.engine.uses_ring());
    }

    #[test]
    fn a_plain_path_is_short_in_a_journal() {
        let path = IoPath::from(IoEngine::IoUringCmd);
        let json = serde_json::to_string(&path).unwrap();
        assert_eq!(json, r#"{"engine":"io_uring_cmd"}"#);
        assert_eq!(serde_json::from_str::<IoPath>(&json).unwrap(), path);
    }
}
