//! Disturbances by the host that invalidate a measurement.

use std::fmt;
use std::time::Duration;

use stdx::units::span;

/// Why a measurement is invalid and must be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// The host was suspended.
    Suspended {
        /// Length of the suspension in ns.
        length_ns: u64,
    },
    /// The CPU's counter disagrees with the kernel's clocks.
    WrongCounter {
        /// Elapsed time according to the counter, in ns.
        counted_ns: u64,
        /// Elapsed time according to the kernel, in ns.
        kernel_ns: u64,
    },
    /// The process was stopped, or its guest was paused.
    Stopped {
        /// Duration of the pause.
        length: Duration,
    },
    /// The process got no CPU time.
    Starved {
        /// Duration of the pause.
        length: Duration,
    },
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |length: &Duration| span(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
        match self {
            Self::Suspended { length_ns } => write!(f, "the host was suspended for {}", span(*length_ns)),
            Self::WrongCounter { counted_ns, kernel_ns } => write!(
                f,
                "the CPU's counter is wrong: it counted {counted_ns} ns while the kernel counted {kernel_ns} ns; was \
                 this guest migrated to another host?"
            ),
            Self::Stopped { length } => {
                let reasons = "SIGSTOP, a debugger, a frozen cgroup or a paused guest";
                write!(f, "the process was stopped for {} ({reasons})", text(length))
            }
            Self::Starved { length } => write!(f, "the process got no CPU time for {}", text(length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_states_the_length() {
        let text = |disturbance: Disturbance| disturbance.to_string();
        assert_eq!(
            text(Disturbance::Suspended { length_ns: 3_000_000_000 }),
            "the host was suspended for 3 s"
        );
        let length = Duration::from_millis(501);
        assert!(text(Disturbance::Stopped { length }).contains("stopped for 501 ms (SIGSTOP"));
        assert_eq!(text(Disturbance::Starved { length }), "the process got no CPU time for 501 ms");
    }
}
