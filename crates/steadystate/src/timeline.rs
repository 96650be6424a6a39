//! Samples of timeline tests, each a minute long or less. A test keeps thousands of samples, so whole segments
//! with their histograms would take too much memory.

use record::{Direction, Segment};
use stdx::Packed;

use crate::history::Tracked;

/// Measurements of one interval of a timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// End of the sample, in minutes as the specification counts them, since the purge or the start of this
    /// phase.
    pub minute: f64,
    /// I/Os per second.
    pub iops: f64,
    /// MB/s, base 10.
    pub megabytes_per_second: f64,
    /// Bytes written during the sample.
    pub written_bytes: u64,
    /// Mean response time; None if no I/O completed.
    pub mean_ms: Option<f64>,
    /// The longest response time; None if no I/O completed.
    pub max_ms: Option<f64>,
    /// Whether the host may have limited the workload that the sample belongs to.
    pub host_limited: bool,
}

impl Sample {
    /// Returns the IOPS as a tracking variable.
    #[must_use]
    pub fn tracked(&self) -> Tracked {
        Tracked { value: self.iops, host_limited: self.host_limited }
    }

    /// Converts a whole segment into one sample.
    #[must_use]
    pub fn of(minute: f64, segment: &Segment) -> Self {
        Self {
            minute,
            iops: segment.iops(),
            megabytes_per_second: segment.megabytes_per_second(),
            written_bytes: segment.write.bytes,
            mean_ms: segment.mean_latency_ms(),
            max_ms: segment.max_latency_ms(),
            host_limited: segment.is_host_limited(),
        }
    }
}

/// Splits a segment that takes `minutes` and starts at `start` into at most `most` samples of about equal
/// length. Returns fewer samples if the segment was recorded in fewer intervals.
#[must_use]
pub fn course(segment: &Segment, start: f64, minutes: f64, most: usize) -> Vec<Sample> {
    let series = &segment.series;
    let intervals = series.read_ios.len().min(series.write_ios.len());
    if intervals == 0 || most == 0 {
        return vec![Sample::of(start + minutes, segment)];
    }
    let (samples, host_limited) = (intervals.min(most), segment.is_host_limited());
    // The series counts only I/Os, so bytes are derived from the segment's mean I/O size.
    let bytes = |ios: u64, all: &Direction| {
        (u128::from(ios) * u128::from(all.bytes)).checked_div(all.ios.into()).unwrap_or(0) as u64
    };
    let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let sample = |index: usize| {
        // The last sample includes a shorter extra interval, if there is one.
        let (from, to) = (index * intervals / samples, (index + 1) * intervals / samples);
        let end_ns = if to == intervals { length_ns } else { to as u64 * series.interval_ns };
        let seconds = end_ns.saturating_sub(from as u64 * series.interval_ns) as f64 / 1e9;
        let rate = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        let ios = |column: &Packed| column.range(from..to).sum::<u64>();
        let (read, written) = (ios(&series.read_ios), ios(&series.write_ios));
        let total = read + written;
        let counts = series.read_ios.range(from..to).zip(series.write_ios.range(from..to));
        let weighted: u128 = counts
            .zip(series.latency_mean_ns.range(from..to))
            .map(|((reads, writes), mean_ns)| u128::from(reads + writes) * u128::from(mean_ns))
            .sum();
        let maximum =
            series.latency_max_ns.range(from..to).max().filter(|_| to <= series.latency_max_ns.len());
        Sample {
            minute: start + minutes * (index + 1) as f64 / samples as f64,
            iops: rate(total),
            megabytes_per_second: rate(bytes(read, &segment.read) + bytes(written, &segment.write)) / 1e6,
            written_bytes: bytes(written, &segment.write),
            mean_ms: (total > 0).then(|| weighted as f64 / total as f64 / 1e6),
            max_ms: maximum.filter(|_| total > 0).map(|ns| ns as f64 / 1e6),
            host_limited,
        }
    };
    (0..samples).map(sample).collect()
}

/// Returns whether the host may have limited any of `samples`.
#[must_use]
pub fn is_host_limited(samples: &[Sample]) -> bool {
    samples.iter().any(|sample| sample.host_limited)
}

/// Mean of `values`; None if there are none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.into_iter().fold((0u32, 0.0), |(n, sum), value| (n + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::segment;

    #[test]
    fn samples_of_a_segment_have_equal_length() {
        let samples =
            course(&segment((0..120).map(|s| s / 60 * 100).collect(), 120_000_000_000), 10.0, 2.0, 2);
        assert_eq!(
            samples.iter().map(|s| (s.minute, s.iops)).collect::<Vec<_>>(),
            [(11.0, 0.0), (12.0, 100.0)]
        );
        assert_eq!((samples[0].mean_ms, samples[1].mean_ms), (None, Some(2.0)));
        assert_eq!((samples[1].max_ms, samples[1].written_bytes), (Some(119.0), 6_000_000));
        assert!((samples[1].megabytes_per_second - 0.1).abs() < 1e-12);
    }

    #[test]
    fn an_extra_interval_is_not_a_separate_sample() {
        let samples = course(&segment([vec![100; 120], vec![10]].concat(), 120_100_000_000), 0.0, 2.0, 2);
        assert_eq!(samples.len(), 2);
        assert!((samples[1].iops - 6010.0 / 60.1).abs() < 1e-9);
    }

    #[test]
    fn fewer_intervals_give_fewer_samples() {
        let samples = course(&segment(vec![7; 3], 3_000_000_000), 0.0, 30.0, 360);
        assert_eq!(samples.iter().map(|s| s.minute).collect::<Vec<_>>(), [10.0, 20.0, 30.0]);
        assert_eq!(course(&segment(vec![], 1_000), 0.0, 30.0, 360).len(), 1);
    }
}
