//! A run that was planned, queued or started.

use jiff::Timestamp;
use launch::Request;
use serde_json::Value;

/// State of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Estimated; the target's identity has not been typed yet.
    Planned,
    /// The drive may be in use, so the run waits.
    Waiting,
    /// The process of the run has been started.
    Starting,
    /// The run has started or continues.
    Begun(String),
    /// The run was not started, for this reason.
    Failed(String),
}

impl Stage {
    pub const WORDS: [&'static str; 5] = ["planned", "waiting", "starting", "begun", "failed"];

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Waiting => "waiting",
            Self::Starting => "starting",
            Self::Begun(_) => "begun",
            Self::Failed(_) => "failed",
        }
    }

    pub const fn is_active(&self) -> bool {
        matches!(self, Self::Waiting | Self::Starting)
    }
}

/// A run that was planned, queued or started.
#[derive(Debug, Clone)]
pub struct Entry {
    pub name: String,
    pub user: String,
    pub at: Timestamp,
    pub request: Request,
    /// Output of `plateau plan`; null for a resumed run.
    pub document: Value,
    /// Output of `plateau check`, or why there is none, as `error`; null for a simulated drive, a new file, a resumed
    /// run and a run that was queued before the server was restarted.
    pub checks: Value,
    /// Identifies the drive; None if any number of runs can use it at the same time.
    pub drive: Option<String>,
    pub stage: Stage,
    /// Why the run is waiting, if known.
    pub waits_for: Option<String>,
    /// Runs that may be using its drive but cannot be read.
    pub warnings: Vec<String>,
}

impl Entry {
    /// Returns the identity that the operator must type.
    pub fn identity(&self) -> &str {
        self.document["target"]["identity"].as_str().unwrap_or_default()
    }

    /// Returns why the target cannot be tested now.
    pub fn refusals(&self) -> Vec<&str> {
        let all = self.document["refusals"].as_array();
        all.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}
