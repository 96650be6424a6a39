//! The measurements that are compared.

use record::Workload;

/// One cell of one round, measured by both tools.
pub struct Pair {
    pub workload: Workload,
    pub ours: f64,
    pub fios: f64,
    /// Median and 99th percentile of response times in ns, ours and fio's.
    pub percentiles: [(f64, f64); 2],
    /// Idle fraction of CPU time; the smaller value from the two measurements.
    pub idle_share: f64,
}
