//! How much of the host's capacity a segment used, and whether the host limited it.

use crate::{Ceiling, CostPerIo, DataPattern, Segment};

/// Fraction of the ceiling above which a segment counts as host-limited.
pub const HOST_LIMIT_SHARE: f64 = 0.70;

/// A load counts as shallow if its mean number of outstanding I/Os is below this fraction of the requested
/// number.
pub const DEPTH_KEPT_SHARE: f64 = 0.90;
/// Number of I/Os per outstanding I/O below which the mean depth is meaningless.
const LEAST_PER_OUTSTANDING: u64 = 20;

impl Ceiling {
    /// Returns the fraction of the ceiling that `segment` used, 0 to 1: the time that its I/Os would take with
    /// an infinitely fast drive, divided by the CPU time available to its threads. `None` for a simulated
    /// drive.
    #[must_use]
    pub fn share_of(&self, segment: &Segment) -> Option<f64> {
        let host = segment.host.as_ref()?;
        let with_ring = segment.io_path.engine.uses_ring() && !self.no_op_ring.is_empty();
        let costs = if with_ring { &self.no_op_ring } else { &self.null };
        let ios = (segment.read.ios + segment.write.ios) as f64;
        let loop_ns = ios * cost_at(costs, segment.workload.queue_depth)?;
        let data_ns = match segment.workload.data_pattern {
            DataPattern::Zero | DataPattern::Byte(_) => 0.0,
            _ => segment.write.bytes as f64 / self.data_bytes_per_second * 1e9,
        };
        let had_ns = segment.seconds() * 1e9 * host.usable();
        (had_ns > 0.0).then(|| ((loop_ns + data_ns) / had_ns).min(1.0))
    }
}

/// Interpolates the cost at a queue depth. An I/O costs a fixed amount plus its share of the system call, which
/// a batch of I/Os divides among them, so the cost is linear in 1/depth.
fn cost_at(costs: &[CostPerIo], queue_depth: u16) -> Option<f64> {
    let inverse_depth = 1.0 / f64::from(queue_depth.max(1));
    let inverse = |cost: &CostPerIo| 1.0 / f64::from(cost.queue_depth.max(1));
    let below =
        costs.iter().filter(|c| inverse(c) >= inverse_depth).min_by(|a, b| inverse(a).total_cmp(&inverse(b)));
    let above =
        costs.iter().filter(|c| inverse(c) <= inverse_depth).max_by(|a, b| inverse(a).total_cmp(&inverse(b)));
    match (below, above) {
        (Some(below), Some(above)) if inverse(below) > inverse(above) => {
            let part = (inverse_depth - inverse(above)) / (inverse(below) - inverse(above));
            Some(above.cpu_ns + part * (below.cpu_ns - above.cpu_ns))
        }
        (Some(nearest), _) | (_, Some(nearest)) => Some(nearest.cpu_ns),
        (None, None) => None,
    }
}

impl Segment {
    /// Returns the CPU utilization caused by the load: the CPU time of its threads as a percentage of the time
    /// available on all processors. `None` for a simulated drive.
    #[must_use]
    pub fn processor_percent(&self) -> Option<f64> {
        let host = self.host.as_ref()?;
        let had_ns = self.seconds() * 1e9 * f64::from(host.processors.max(1));
        (had_ns > 0.0).then(|| host.effort.cpu_ns() as f64 / had_ns * 100.0)
    }

    /// Returns the fraction of the available CPU time that the load threads used, 0 to 1. `None` for a
    /// simulated drive, or if completions were polled, because polling threads are always busy.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        let host = self.host.as_ref()?;
        let had_ns = self.seconds() * 1e9 * host.usable();
        (had_ns > 0.0 && !host.polled).then(|| (host.effort.cpu_ns() as f64 / had_ns).min(1.0))
    }

    /// Returns the used fraction of the ceiling or [`busy_share`](Self::busy_share), whichever is larger.
    /// `None` for a simulated drive.
    #[must_use]
    pub fn host_share(&self) -> Option<f64> {
        let host = self.host.as_ref()?;
        [self.busy_share(), host.ceiling_share].into_iter().flatten().max_by(f64::total_cmp)
    }

    /// Returns the mean number of outstanding I/Os (the sum of response times divided by the elapsed time, by
    /// Little's law) divided by the requested number. `None` if the number is meaningless, as for simulated
    /// drives, open loops, workloads with pauses, and workloads that completed too few I/Os. Syncs occupy the
    /// queue like I/Os.
    #[must_use]
    pub fn depth_share(&self) -> Option<f64> {
        let outstanding = u64::from(self.workload.outstanding());
        let times = [&self.read.latency, &self.write.latency];
        let (ios, timed) = (self.read.ios + self.write.ios, times.iter().map(|t| t.count()).sum::<u64>());
        // Neither number includes I/Os that are still in flight at the end.
        let says_nothing = ios != timed || ios < LEAST_PER_OUTSTANDING * outstanding;
        let regime = &self.workload.regime;
        if self.host.is_none() || regime.arrivals.is_some() || regime.thinktime.is_some() || says_nothing {
            return None;
        }
        let synced_ns = self.synced.as_ref().map_or(0, |synced| synced.latency.sum());
        let sum_ns = times.iter().map(|t| t.sum()).sum::<u128>() + synced_ns;
        let had_ns = self.seconds() * 1e9 * outstanding as f64;
        (had_ns > 0.0).then(|| sum_ns as f64 / had_ns)
    }

    /// Returns whether fewer I/Os were outstanding than requested although the host was not busy.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        !self.is_host_limited() && self.depth_share().is_some_and(|share| share < DEPTH_KEPT_SHARE)
    }

    /// Returns whether the host limited the result: [`host_share`](Self::host_share) exceeds
    /// [`HOST_LIMIT_SHARE`].
    #[must_use]
    pub fn is_host_limited(&self) -> bool {
        self.host_share().is_some_and(|share| share > HOST_LIMIT_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClockFacts, Direction, Effort, HostLoad, IoEngine, Series};

    const WRITES: &str = r#"{"access":"random","read_percent":0,"block_bytes":4096,"threads":1,"queue_depth":1,
        "range":{"start_bytes":0,"segments":1,"segment_bytes":1048576,"stride_bytes":1048576},
        "data_pattern":"random","until":{"duration_ns":1000000000},"seed":1}"#;

    fn ceiling() -> Ceiling {
        let costs = |one, many| {
            vec![CostPerIo { queue_depth: 1, cpu_ns: one }, CostPerIo { queue_depth: 32, cpu_ns: many }]
        };
        Ceiling {
            clock: ClockFacts { source: "TSC".into(), cost_ns: 9.0, resolution_ns: 1 },
            null: costs(25.0, 6.0),
            no_op_ring: costs(280.0, 80.0),
            no_op_ring_missing: None,
            data_bytes_per_second: 25e9,
        }
    }

    /// One second of 4 KiB writes by `threads` threads on two processors.
    fn second(ios: u64, threads: u16, engine: IoEngine, cpu_ns: u64) -> Segment {
        Segment {
            workload: serde_json::from_str(WRITES).unwrap(),
            start_ns: 0,
            end_ns: 1_000_000_000,
            read: Direction::default(),
            write: Direction { ios, bytes: ios * 4096, ..Direction::default() },
            series: Series::default(),
            errors: Vec::new(),
            io_path: engine.into(),
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: Some(HostLoad {
                effort: Effort { user_ns: cpu_ns / 2, system_ns: cpu_ns - cpu_ns / 2, ..Effort::default() },
                usable_processors: threads.min(2).into(),
                processors: 2,
                placement: String::new(),
                polled: false,
                repeats: 0,
                ceiling_share: None,
            }),
            detail: None,
        }
    }

    #[test]
    fn the_ceiling_depends_on_the_io_path_and_scales_with_threads() {
        let share = |ios, threads, engine| ceiling().share_of(&second(ios, threads, engine, 0)).unwrap();
        // Depth 1: 280 ns for the ring and 163.84 ns for the data.
        assert!((share(1_000_000, 1, IoEngine::IoUring) - 0.443_84).abs() < 1e-6);
        assert!((share(1_000_000, 2, IoEngine::IoUring) - 0.221_92).abs() < 1e-6);
        assert!(
            (share(1_000_000, 9, IoEngine::IoUring) - 0.221_92).abs() < 1e-6,
            "there are only two processors"
        );
        assert!((share(1_000_000, 1, IoEngine::Psync) - 0.188_84).abs() < 1e-6);
        let simulated = Segment { host: None, ..second(1, 1, IoEngine::Simulated, 0) };
        assert_eq!(ceiling().share_of(&simulated), None);
    }

    #[test]
    fn costs_between_two_depths_are_linear_in_one_over_the_depth() {
        let costs = ceiling().no_op_ring;
        assert_eq!(
            (cost_at(&costs, 1), cost_at(&costs, 32), cost_at(&costs, 500)),
            (Some(280.0), Some(80.0), Some(80.0))
        );
        let at_two = cost_at(&costs, 2).unwrap();
        assert!((at_two - (80.0 + 200.0 * (0.5 - 1.0 / 32.0) / (1.0 - 1.0 / 32.0))).abs() < 1e-9, "{at_two}");
        assert_eq!(cost_at(&[], 1), None);
    }

    #[test]
    fn response_times_say_how_many_ios_were_outstanding() {
        // Consecutive I/Os within one second: a thousand that take 0.95 or 0.85 ms, or 19 that take 50 ms.
        let with = |each_ns: u64, ios: u64| {
            let mut segment = second(ios, 1, IoEngine::Libaio, 0);
            (0..ios).for_each(|_| segment.write.latency.record(each_ns));
            segment
        };
        assert_eq!(with(950_000, 1000).depth_share(), Some(0.95));
        assert!(!with(950_000, 1000).is_shallow() && with(850_000, 1000).is_shallow());
        assert_eq!(with(50_000_000, 19).depth_share(), None, "19 I/Os");
        assert_eq!(second(1000, 1, IoEngine::Libaio, 0).depth_share(), None, "response times are unknown");
        let mut busy = with(850_000, 1000);
        busy.host.as_mut().unwrap().ceiling_share = Some(0.9);
        assert!(!busy.is_shallow(), "the busy host is the reason");
        assert_eq!(Segment { host: None, ..with(850_000, 1000) }.depth_share(), None);
    }

    #[test]
    fn a_busy_host_is_the_limit_whatever_the_ceiling_says() {
        assert!(second(1000, 1, IoEngine::IoUring, 800_000_000).is_host_limited());
        assert!(
            !second(1000, 2, IoEngine::IoUring, 800_000_000).is_host_limited(),
            "two threads could do twice as much"
        );
        let mut polled = second(1000, 1, IoEngine::IoUring, 1_000_000_000);
        polled.host.as_mut().unwrap().polled = true;
        assert!(!polled.is_host_limited(), "a polling thread is always busy");
        polled.host.as_mut().unwrap().ceiling_share = Some(0.71);
        assert!(polled.is_host_limited());
        assert_eq!(second(1000, 1, IoEngine::IoUring, 800_000_000).processor_percent(), Some(40.0));
        assert_eq!(Segment { host: None, ..second(1, 1, IoEngine::Simulated, 1) }.host_share(), None);
    }
}
