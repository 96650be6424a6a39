//! The limits of a job: a load that is slower than they permit ends with an error.

use std::fmt;

use engine::Tick;
use record::{Segment, Workload};
use stdx::units::SECOND_NS;

/// As in fio, rates are not compared with a limit at the beginning.
const SETTLE_NS: u64 = 2 * SECOND_NS;
/// Number of a schedule's I/Os from which a rate is computed.
const LEAST_IOS: f64 = 10.0;

/// The limits of each clone of a job: reads, then writes or trims; 0 for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLimits {
    pub(crate) least_bytes_per_second: [u64; 2],
    pub(crate) least_iops: [u64; 2],
    pub(crate) most_latency_ns: [u64; 2],
    /// Time over which rates are averaged.
    pub(crate) cycle_ns: u64,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            least_bytes_per_second: [0; 2],
            least_iops: [0; 2],
            most_latency_ns: [0; 2],
            cycle_ns: SECOND_NS,
        }
    }
}

impl JobLimits {
    /// Returns whether there is a limit of a rate.
    pub(crate) fn has_rate(&self) -> bool {
        self.least_bytes_per_second != [0; 2] || self.least_iops != [0; 2]
    }

    /// Returns whether there is a limit of response times.
    pub(crate) fn has_latency(&self) -> bool {
        self.most_latency_ns != [0; 2]
    }
}

/// A limit that was not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missed {
    /// A rate.
    Rate {
        /// The option with the limit.
        option: &'static str,
        /// The limit for all clones.
        least: u64,
        /// The measured rate.
        per_second: u64,
        /// Unit of both.
        unit: &'static str,
    },
    /// A response time.
    Latency {
        /// The limit.
        most_ns: u64,
        /// The longest one.
        ns: u64,
    },
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { option, least, per_second, unit } => {
                write!(f, "{option}: {per_second} {unit} is less than {least} {unit}")
            }
            Self::Latency { most_ns, ns } => {
                let us = |ns: &u64| *ns as f64 / 1e3;
                write!(
                    f,
                    "max_latency: an I/O took {:.1} us, which is more than {:.1} us",
                    us(ns),
                    us(most_ns)
                )
            }
        }
    }
}

/// The limits of one stream of a job.
#[derive(Debug, Clone)]
pub struct Checked {
    limits: JobLimits,
    /// Whether the stream reads, and whether it writes or trims.
    does: [bool; 2],
    /// Bytes of each I/O, if all have the same size.
    block_bytes: Option<u64>,
    /// Number of clones in the stream.
    clones: u64,
    settled_ns: u64,
    /// What has been completed since rates were last compared with the limits.
    time_ns: u64,
    bytes: u64,
    ios: [u64; 2],
}

impl Checked {
    /// Returns the limits of a stream, which are ignored during the ramp.
    pub(crate) fn of(limits: &JobLimits, stream: &Workload, block_bytes: Option<u64>, ramp_ns: u64) -> Self {
        // A slow schedule has only a few I/Os in a cycle, so that its rate would seem to vary.
        let least_ns = stream.regime.arrivals.map_or(0, |arrivals| {
            let rarer = stream.read_percent.min(100 - stream.read_percent);
            let share = if rarer == 0 { 1.0 } else { f64::from(rarer) / 100.0 };
            (LEAST_IOS / (arrivals.rate() * share) * SECOND_NS as f64) as u64
        });
        Self {
            limits: JobLimits { cycle_ns: limits.cycle_ns.max(least_ns), ..limits.clone() },
            does: [stream.read_percent > 0, stream.read_percent < 100],
            block_bytes,
            clones: stream.threads.into(),
            settled_ns: SETTLE_NS.max(ramp_ns),
            time_ns: 0,
            bytes: 0,
            ios: [0; 2],
        }
    }

    /// Adds the progress of the stream; returns the limit that it does not meet.
    pub fn add(&mut self, tick: &Tick) -> Option<Missed> {
        self.too_long(tick.latency_max_ns).or_else(|| {
            if tick.elapsed_ns.saturating_sub(tick.interval_ns) < self.settled_ns {
                return None;
            }
            self.time_ns += tick.interval_ns;
            self.bytes += tick.bytes;
            self.ios = [self.ios[0] + tick.read_ios, self.ios[1] + tick.write_ios];
            if self.time_ns < self.limits.cycle_ns {
                return None;
            }
            let missed = self.too_slow();
            (self.time_ns, self.bytes, self.ios) = (0, 0, [0; 2]);
            missed
        })
    }

    /// Compares the response times of the whole stream with their limits, by direction.
    #[must_use]
    pub fn ended(&self, segment: &Segment) -> Option<Missed> {
        let longest = [&segment.read, &segment.write].map(|side| side.latency.max().unwrap_or(0));
        let over = self.limits.most_latency_ns.into_iter().zip(longest);
        let over = over.filter(|(most_ns, ns)| *most_ns > 0 && ns > most_ns);
        over.map(|(most_ns, ns)| Missed::Latency { most_ns, ns }).next()
    }

    /// Compares a response time of unknown direction with the longest one that is permitted.
    fn too_long(&self, ns: u64) -> Option<Missed> {
        let limits = self.limits.most_latency_ns.into_iter().zip(self.does);
        let most_ns = limits.filter(|(_, does)| *does).map(|(most_ns, _)| most_ns).max()?;
        let is_limited =
            self.limits.most_latency_ns.iter().zip(self.does).all(|(most, does)| !does || *most > 0);
        (is_limited && ns > most_ns).then_some(Missed::Latency { most_ns, ns })
    }

    fn too_slow(&self) -> Option<Missed> {
        let per_second = |amount: u64| {
            (u128::from(amount) * u128::from(SECOND_NS) / u128::from(self.time_ns.max(1))) as u64
        };
        let missed = |option, least: u64, amount: u64, unit| {
            let (least, per_second) = (least.saturating_mul(self.clones), per_second(amount));
            (per_second < least).then_some(Missed::Rate { option, least, per_second, unit })
        };
        (0..2).filter(|direction| self.does[*direction]).find_map(|direction| {
            let ios = self.ios[direction];
            let is_alone = self.does != [true; 2];
            let bytes = if is_alone { self.bytes } else { ios * self.block_bytes.unwrap_or(0) };
            missed("rate_min", self.limits.least_bytes_per_second[direction], bytes, "B/s")
                .or_else(|| missed("rate_iops_min", self.limits.least_iops[direction], ios, "IOPS"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, Surroundings, parse};

    fn checked(options: &str) -> Vec<Checked> {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        let job = &parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options")[0];
        let streams = job.streams(1 << 30, 0, 1).expect("a load");
        streams.iter().filter_map(|stream| job.limits_of(stream)).collect()
    }

    fn tick(second: u64, ios: [u64; 2], max_ns: u64) -> Tick {
        Tick {
            elapsed_ns: second * SECOND_NS,
            interval_ns: SECOND_NS,
            read_ios: ios[0],
            write_ios: ios[1],
            syncs: 0,
            bytes: (ios[0] + ios[1]) * 4096,
            latency_mean_ns: 1,
            latency_max_ns: max_ns,
            share_done: 0.0,
        }
    }

    /// Returns the first second in which a limit is not met, and the message.
    fn missed(options: &str, ios: [u64; 2], max_ns: u64) -> Option<(u64, String)> {
        let mut checked = checked(options);
        assert_eq!(checked.len(), 1, "{options}");
        (1..9).find_map(|second| Some((second, checked[0].add(&tick(second, ios, max_ns))?.to_string())))
    }

    #[test]
    fn rates_are_compared_with_their_limits_after_the_start() {
        let second = |options, ios| missed(options, ios, 0).map(|(second, _)| second);
        assert_eq!(second("rw=randread rate_min=1m", [256, 0]), None);
        let (found, text) = missed("rw=randread rate_min=1m", [255, 0], 0).expect("too slow");
        assert_eq!((found, text.as_str()), (3, "rate_min: 1044480 B/s is less than 1048576 B/s"));
        assert_eq!(second("rw=randread rate_min=1m ramp_time=5", [255, 0]), Some(6));
        assert_eq!(second("rw=randread rate_min=1m rate_cycle=4000", [255, 0]), Some(6));
        // All clones together, of which each has the limit.
        assert_eq!(second("rw=randread rate_iops_min=100 numjobs=4", [399, 0]), Some(3));
        assert_eq!(second("rw=randread rate_iops_min=100 numjobs=4", [400, 0]), None);
        // In a mix, each direction has its limit; a limit of the other direction has no effect.
        assert_eq!(second("rw=randrw rate_iops_min=100,10", [100, 9]), Some(3));
        assert_eq!(second("rw=randrw rate_min=400k,40k", [100, 10]), None);
        assert_eq!(second("rw=randrw rate_min=400k,44k", [100, 10]), Some(3));
        assert_eq!(second("rw=randread rate_iops_min=100,10", [100, 0]), None);
        assert_eq!(second("rw=randwrite ratemin=,40k", [0, 9]), Some(3));
        // At two I/Os per second, a rate needs five seconds.
        assert_eq!(second("rw=read rate=8k rate_min=7k", [1, 0]), Some(7));
        assert_eq!(second("rw=read rate=8k rate_min=7k", [2, 0]), None);
    }

    #[test]
    fn response_times_are_compared_from_the_start() {
        let second = |options, ns| missed(options, [9, 9], ns).map(|(second, _)| second);
        assert_eq!(second("rw=randread max_latency=1ms", 1_000_000), None);
        let (found, text) = missed("rw=randread max_latency=1000", [9, 0], 1_000_001).expect("too long");
        assert_eq!(
            (found, text.as_str()),
            (1, "max_latency: an I/O took 1000.0 us, which is more than 1000.0 us")
        );
        // The direction of the longest response time is known only at the end.
        assert_eq!(second("rw=randrw max_latency=1ms,2ms", 1_500_000), None);
        assert_eq!(second("rw=randrw max_latency=1ms,2ms", 2_500_000), Some(1));
        assert_eq!(second("rw=randrw max_latency=1ms,", 2_500_000), None);
        assert!(checked("rw=randread rate_cycle=100").is_empty());
    }
}
