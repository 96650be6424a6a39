//! Why results of several hosts cannot be combined.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;

use crate::result::milliseconds;

/// A problem with one host's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file with the result.
    pub file: String,
    /// The problem.
    pub trouble: Trouble,
}

/// What is wrong with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The file cannot be read.
    Unreadable(String),
    /// The file is empty: the load was killed, or is still in progress.
    Empty,
    /// The content is not a complete result.
    NotAResult(String),
    /// The load failed or was interrupted.
    Failed {
        /// The error.
        error: String,
        /// The exit code, if it is known.
        exit_code: Option<u64>,
    },
    /// A target was simulated, so its times do not come from a clock.
    Simulated,
    /// Another file already contains the same result.
    Duplicate {
        /// The other file.
        first: String,
    },
    /// The jobs differ from those in the first file.
    OtherJobs {
        /// The first file.
        first: String,
    },
    /// The load of a job differs from that in the first file.
    OtherLoad {
        /// Name of the job.
        job: String,
        /// The first file.
        first: String,
    },
    /// A job completed no I/O.
    Nothing {
        /// Name of the job.
        job: String,
    },
    /// The start cannot be compared with that of other hosts.
    Unsynchronized {
        /// Name of the host.
        host: String,
    },
    /// A job began too long after the same job on another host.
    Skew {
        /// Name of the job.
        job: String,
        /// The host that began later.
        host: String,
        /// The other host.
        other: String,
        /// The difference according to the hosts' clocks.
        measured: SignedDuration,
        /// The difference, including the largest possible clock errors.
        at_most: SignedDuration,
        /// The limit.
        limit: Duration,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.trouble)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => write!(f, "{cause}"),
            Self::Empty => write!(f, "empty: the load was killed, or is still in progress"),
            Self::NotAResult(cause) => {
                write!(f, "not a complete result of `plateau load --json`: {cause}")
            }
            Self::Failed { error, exit_code: Some(code) } => {
                write!(f, "the load failed with exit code {code}: {error}")
            }
            Self::Failed { error, exit_code: None } => write!(f, "the load failed: {error}"),
            Self::Simulated => {
                write!(f, "a target is simulated, so its times cannot be compared with those of other hosts")
            }
            Self::Duplicate { first } => write!(f, "the same result as {first}"),
            Self::OtherJobs { first } => write!(f, "the jobs differ from those in {first}"),
            Self::OtherLoad { job, first } => {
                write!(
                    f,
                    "the load of {job} differs from that in {first}; start all hosts with the same options"
                )
            }
            Self::Nothing { job } => write!(f, "{job} completed no I/O"),
            Self::Unsynchronized { host } => write!(
                f,
                "the clock of {host} is not known to be synchronized, so its start cannot be compared with that of \
                 other hosts; use a time service, such as chrony"
            ),
            Self::Skew { job, host, other, measured, at_most, limit } => {
                write!(f, "{job} began {} later on {host} than on {other}", milliseconds(*measured))?;
                if at_most > measured {
                    write!(f, " ({} including the errors of both clocks)", milliseconds(*at_most))?;
                }
                let limit = SignedDuration::try_from(*limit).unwrap_or(SignedDuration::MAX);
                write!(f, "; --skew-limit is {}", milliseconds(limit))
            }
        }
    }
}
