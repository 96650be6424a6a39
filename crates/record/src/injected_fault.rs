//! Faults injected into a simulated drive.
//!
//! Faults are printed in command-line syntax, so that they can be copied to the next run's command line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A fault that was injected into a simulated drive. Start times and throttling durations refer to the
/// full-size drive; bytes refer to the scaled drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum InjectedFault {
    /// A region in which reads or writes fail.
    Media {
        /// First affected byte.
        start_bytes: u64,
        /// Length of the region.
        length_bytes: u64,
        /// Whether reads fail.
        reads: bool,
        /// Whether writes fail.
        writes: bool,
        /// Time in ns that the drive spends on retries before it reports an error.
        retry_ns: u64,
    },
    /// A region whose data is returned with flipped bits.
    Flip {
        /// First affected byte.
        start_bytes: u64,
        /// Length of the region.
        length_bytes: u64,
        /// Start in ns.
        after_ns: u64,
    },
    /// A region whose writes are acknowledged but not stored.
    LostWrites {
        /// First affected byte.
        start_bytes: u64,
        /// Length of the region.
        length_bytes: u64,
        /// Start in ns.
        after_ns: u64,
    },
    /// Commands that never complete.
    Timeout {
        /// Start in ns.
        after_ns: u64,
        /// Number of commands.
        commands: u32,
        /// The host's timeout in ns.
        wait_ns: u64,
    },
    /// A period of limited throughput.
    Throttle {
        /// Start in ns.
        after_ns: u64,
        /// Length in ns.
        length_ns: u64,
        /// Throughput limit.
        bytes_per_second: u64,
    },
    /// The drive disappears.
    Removal {
        /// Time of the fault in ns.
        after_ns: u64,
    },
    /// The drive loses power.
    Power {
        /// Time of the fault in ns.
        after_ns: u64,
    },
}

impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Media { start_bytes, length_bytes, reads, writes, retry_ns } => {
                let on = match (reads, writes) {
                    (true, false) => ",on=reads",
                    (false, true) => ",on=writes",
                    _ => "",
                };
                let (at, length) = (size(start_bytes), size(length_bytes));
                write!(f, "media:at={at},length={length}{on},retry={}", time(retry_ns))
            }
            Self::Flip { start_bytes, length_bytes, after_ns } => {
                let (at, length, after) = (size(start_bytes), size(length_bytes), time(after_ns));
                write!(f, "flip:at={at},length={length},after={after}")
            }
            Self::LostWrites { start_bytes, length_bytes, after_ns } => {
                let (at, length, after) = (size(start_bytes), size(length_bytes), time(after_ns));
                write!(f, "lost-writes:at={at},length={length},after={after}")
            }
            Self::Timeout { after_ns, commands, wait_ns } => {
                write!(f, "timeout:after={},commands={commands},wait={}", time(after_ns), time(wait_ns))
            }
            Self::Throttle { after_ns, length_ns, bytes_per_second } => {
                let (after, length) = (time(after_ns), time(length_ns));
                write!(f, "throttle:after={after},for={length},rate={}/s", size(bytes_per_second))
            }
            Self::Removal { after_ns } => write!(f, "removal:after={}", time(after_ns)),
            Self::Power { after_ns } => write!(f, "power:after={}", time(after_ns)),
        }
    }
}

/// Formats a number of bytes exactly, in the largest unit that divides it.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 8] = [
        (1_000_000_000_000, "TB"),
        (1 << 40, "TiB"),
        (1_000_000_000, "GB"),
        (1 << 30, "GiB"),
        (1_000_000, "MB"),
        (1 << 20, "MiB"),
        (1000, "kB"),
        (1 << 10, "KiB"),
    ];
    exact(bytes, &UNITS).unwrap_or_else(|| if bytes == 0 { "0".into() } else { format!("{bytes}B") })
}

/// Formats a time exactly, in the largest unit that divides it.
fn time(ns: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(3_600_000_000_000, "h"), (60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms")];
    // The syntax has no unit smaller than a millisecond.
    exact(ns, &UNITS).unwrap_or_else(|| if ns == 0 { "0s".into() } else { format!("{}ms", ns as f64 / 1e6) })
}

fn exact(value: u64, units: &[(u64, &str)]) -> Option<String> {
    let unit = units.iter().find(|(unit, _)| value > 0 && value.is_multiple_of(*unit));
    unit.map(|(unit, name)| format!("{}{name}", value / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_exactly() {
        let sizes = [0, 1, 4096, 1000, 4_096_000, 1 << 20, 25_000_000_000, 3 << 40];
        assert_eq!(sizes.map(size), ["0", "1B", "4KiB", "1kB", "4096kB", "1MiB", "25GB", "3TiB"]);
        let times = [0, 500_000_000, 1_000_000_000, 90 * 60_000_000_000, 7_200_000_000_000];
        assert_eq!(times.map(time), ["0s", "500ms", "1s", "90min", "2h"]);
    }

    #[test]
    fn defaults_of_the_syntax_are_omitted_only_for_both_directions() {
        let media = |reads, writes| {
            let (start_bytes, length_bytes, retry_ns) = (0, 1 << 20, 1_000_000_000);
            InjectedFault::Media { start_bytes, length_bytes, reads, writes, retry_ns }.to_string()
        };
        assert_eq!(media(true, true), "media:at=0,length=1MiB,retry=1s");
        assert_eq!(media(true, false), "media:at=0,length=1MiB,on=reads,retry=1s");
        assert_eq!(media(false, true), "media:at=0,length=1MiB,on=writes,retry=1s");
    }
}
