//! The host's influence on a result: the CPU cost of driving a load, and the host's throughput ceiling.

use serde::{Deserialize, Serialize};

/// CPU cost of the load threads as accounted by the kernel, from their common start until the last of them
/// ends. Kernel work outside these threads (interrupts, io-wq) is not included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    /// CPU time in user mode in ns.
    pub user_ns: u64,
    /// CPU time in the kernel in ns.
    pub system_ns: u64,
    /// Voluntary context switches, in which a thread waited.
    pub voluntary_switches: u64,
    /// Involuntary context switches, in which a thread was preempted.
    pub involuntary_switches: u64,
    /// Page faults that required I/O.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub major_faults: u64,
    /// Page faults that did not require I/O.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub minor_faults: u64,
}

/// Load on the host caused by one segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLoad {
    /// CPU cost.
    pub effort: Effort,
    /// Number of processors that the load threads could use at the same time.
    pub usable_processors: u32,
    /// Number of online processors of the host.
    pub processors: u32,
    /// Where the threads ran, such as `cpus 0-3, a thread each`, or the reason why they were not pinned.
    pub placement: String,
    /// Whether completions were polled, so that the threads were never idle and their CPU time is
    /// meaningless.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polled: bool,
    /// Number of retries requested by the kernel (EAGAIN, EINTR) since the common start. A retried I/O counts
    /// once, and its response time starts at the first attempt.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u64,
    /// Fraction of the run's [`Ceiling`] that the segment used, 0 to 1; `None` if no ceiling was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_share: Option<f64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Throughput ceiling of one host thread, measured with the engine's own loop without a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// The clock that timestamps every I/O.
    pub clock: ClockFacts,
    /// Cost of the loop, the clock and the histogram, without the kernel.
    pub null: Vec<CostPerIo>,
    /// Cost of the loop, the clock and the histogram with no-op requests through io_uring; empty if io_uring is not
    /// available.
    pub no_op_ring: Vec<CostPerIo>,
    /// The reason why the cost with io_uring was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_op_ring_missing: Option<String>,
    /// Rate at which fresh, incompressible data is generated, in bytes per second.
    pub data_bytes_per_second: f64,
}

/// The engine's clock, and the cost of reading it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockFacts {
    /// `TSC`, or `CLOCK_MONOTONIC` and the reason for using it.
    pub source: String,
    /// Cost of one clock reading.
    pub cost_ns: f64,
    /// Smallest difference between two distinct readings.
    pub resolution_ns: u64,
}

/// CPU time per I/O at one queue depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostPerIo {
    /// Outstanding I/Os.
    pub queue_depth: u16,
    /// CPU time per I/O in ns.
    pub cpu_ns: f64,
}

impl Effort {
    /// Returns the total CPU time in ns.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// Returns the increase since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }

    /// Adds the cost of another thread.
    pub fn add(&mut self, other: &Self) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

impl HostLoad {
    /// Returns the number of processors that the threads could use.
    pub(crate) fn usable(&self) -> f64 {
        f64::from(self.usable_processors.max(1))
    }
}
