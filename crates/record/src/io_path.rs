//! How the I/Os of a segment reached their target, and which requested features were not available.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{IoEngine, MeasuredEngine, PathChoice};

/// How the I/Os of a segment were submitted, and how that differs from what was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoPath {
    /// The engine that submitted them.
    pub engine: IoEngine,
    /// Engines that were tried first, in order, and could not be set up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Fallback>,
    /// Other differences from the default path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<PathRemark>,
    /// How the engine was chosen; absent if it was requested, and in runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Box<PathChoice>>,
}

/// An engine that was tried and could not be set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The engine.
    pub engine: IoEngine,
    /// The kernel's error, as text.
    pub cause: String,
}

/// A property of an I/O path other than its engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathRemark {
    /// The load threads polled for completions (fio: `hipri`).
    CompletionsPolled,
    /// A kernel thread polled for submissions (fio: `sqthread_poll`).
    SubmissionsPolled,
    /// Polling was requested but not available.
    NotPolled {
        /// The reason, as text.
        cause: String,
    },
    /// The kernel refused to register the buffers, so they are mapped for each I/O.
    UnregisteredBuffers {
        /// The kernel's error, as text.
        cause: String,
    },
    /// Kernel threads issued the I/Os because the target may block during submission.
    KernelThreads,
    /// A load thread could not be pinned to its processor.
    NotPinned {
        /// The kernel's error, as text.
        cause: String,
    },
    /// The I/Os went through the page cache because the file system does not support direct I/O. Response times
    /// are therefore those of memory.
    Buffered,
}

impl From<IoEngine> for IoPath {
    /// Returns a path with this engine and no differences from the default.
    fn from(engine: IoEngine) -> Self {
        Self { engine, fallbacks: Vec::new(), remarks: Vec::new(), choice: None }
    }
}

impl IoPath {
    /// Returns whether the I/Os went through the page cache.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.remarks.contains(&PathRemark::Buffered)
    }

    /// Returns the measurements of this path's engine and of the first in the fixed order, if a measurement made the
    /// difference.
    #[must_use]
    pub fn preferred(&self) -> Option<[&MeasuredEngine; 2]> {
        let PathChoice::Measured { engines, .. } = self.choice.as_deref()? else { return None };
        let [first, others @ ..] = &engines[..] else { return None };
        let used = others.iter().find(|other| other.engine == self.engine)?;
        Some([used, first])
    }
}

impl fmt::Display for IoPath {
    /// Formats the path, such as `threads (io_uring: Too many open files; libaio: ...); not polled: ...`.
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
            Self::KernelThreads => f.write_str("kernel threads issue the I/Os because the target may block"),
            Self::NotPinned { cause } => write!(f, "not pinned: {cause}"),
            Self::Buffered => f.write_str("buffered: the file system does not support direct I/O"),
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
            choice: None,
        };
        assert_eq!(
            path.to_string(),
            "threads (io_uring: Too many open files; libaio: Operation not permitted); not polled: a file; \
             buffered: the file system does not support direct I/O"
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
