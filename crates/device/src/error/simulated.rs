//! Errors from simulated drives.

use std::fmt;

use nandsim::Cause;
use record::{Cut, ErrorCount};

/// The kind of error of commands that failed because the simulated drive lost power.
pub const NO_POWER: &str = "EIO";

/// The first failed command of a load on a simulated drive.
#[derive(Debug)]
pub struct SimulatedFailure {
    /// Whether the command was a read.
    pub read: bool,
    /// Length of the command.
    pub length_bytes: u32,
    /// Offset of the command.
    pub offset_bytes: u64,
    /// Why the command failed.
    pub cause: Cause,
    /// All failed commands by kind, including those after the first.
    pub errors: Vec<ErrorCount>,
    /// The measurements of the workload before the failure. `None` if several workloads ran concurrently, or for a
    /// replay.
    pub cut: Option<Box<Cut>>,
}

impl std::error::Error for SimulatedFailure {}

impl fmt::Display for SimulatedFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.read { "read" } else { "write" };
        let problem = match self.cause {
            Cause::Media => "ENODATA: the simulated flash has a fault there",
            Cause::Timeout => "ETIMEDOUT: the simulated drive did not respond",
            Cause::Removed => "ENODEV: the simulated drive was removed",
            Cause::Power => "EIO: the simulated drive lost power, which has been restored",
        };
        let (length, offset) = (self.length_bytes, self.offset_bytes);
        write!(f, "a {verb} of {length} B at byte {offset} failed with {problem}")?;
        let more = self.errors.iter().map(|error| error.count).sum::<u64>().saturating_sub(1);
        if more > 0 {
            write!(f, "; {more} more I/Os in flight failed")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_described_and_the_others_are_counted() {
        let failure = |count| SimulatedFailure {
            read: true,
            length_bytes: 4096,
            offset_bytes: 8192,
            cause: Cause::Media,
            errors: vec![ErrorCount { kind: "ENODATA".into(), count }],
            cut: None,
        };
        let first =
            "a read of 4096 B at byte 8192 failed with ENODATA: the simulated flash has a fault there";
        assert_eq!(failure(1).to_string(), first);
        assert_eq!(failure(3).to_string(), format!("{first}; 2 more I/Os in flight failed"));
    }
}
