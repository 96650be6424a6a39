//! Sums of one interval of the time series.

/// Sums of one interval of the time series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    /// Reads.
    pub read_ios: u64,
    /// Writes.
    pub write_ios: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Sum of the response times.
    pub latency_sum_ns: u64,
    /// Sum of the response times of the reads.
    pub read_latency_sum_ns: u64,
    /// Maximum response time.
    pub latency_max_ns: u64,
}

impl Interval {
    /// Adds the sums of another interval.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.read_ios += other.read_ios;
        self.write_ios += other.write_ios;
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.read_latency_sum_ns += other.read_latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }

    /// Returns the number of I/Os.
    #[inline]
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.read_ios + self.write_ios
    }

    /// Returns the mean response time; 0 if there were no I/Os.
    #[must_use]
    pub fn latency_mean_ns(&self) -> u64 {
        self.latency_sum_ns.checked_div(self.ios()).unwrap_or(0)
    }

    /// Returns the mean response times of reads and of writes; 0 if there were none.
    pub(crate) fn latency_means_ns(&self) -> [u64; 2] {
        let write_sum_ns = self.latency_sum_ns - self.read_latency_sum_ns;
        [(self.read_latency_sum_ns, self.read_ios), (write_sum_ns, self.write_ios)]
            .map(|(sum_ns, ios)| sum_ns.checked_div(ios).unwrap_or(0))
    }
}

/// Returns an empty vector with room for this many intervals, whose pages are already mapped: filling it causes
/// no page faults, and memory use does not grow during the run.
pub(super) fn touched(intervals: usize) -> Vec<Interval> {
    let mut room = vec![Interval { read_ios: 1, ..Interval::default() }; intervals];
    std::hint::black_box(&mut room).clear();
    room
}
