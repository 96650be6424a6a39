//! Finds the point where the throughput of continuous writes falls, for example because a cache is full.
//!
//! The series is divided into two parts of constant throughput by least squares. A division counts as a fall only
//! if it explains most of the variance and the second part is clearly slower, so noise around a constant throughput
//! does not count.

use record::Segment;

/// Maximum throughput after a fall, as a fraction of the earlier throughput.
const FALLEN_SHARE: f64 = 0.80;
/// Minimum fraction of the variance that the division must explain.
const EXPLAINED_SHARE: f64 = 0.50;
/// Minimum number of intervals after a fall, so that a single slow interval does not count.
const INTERVALS_AFTER: usize = 3;

/// Slow intervals to skip at the start: their maximum number, and the fraction of the highest throughput below
/// which an interval is slow.
const INTERVALS_SKIPPED: usize = 10;
const SLOW_SHARE: f64 = 0.50;

/// Bytes written in one interval, and its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Bytes written.
    pub bytes: u64,
    /// Length, which is always positive.
    pub seconds: f64,
}

/// The first fall in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fall {
    /// Number of intervals before the fall. The fall itself is in the last of these intervals or in the next one.
    pub intervals: usize,
    /// Number of bytes written until the fall, interpolated within these two intervals.
    pub bytes: f64,
    /// Median throughput before the fall, in bytes per second.
    pub before: f64,
    /// The same after the fall.
    pub after: f64,
}

impl Interval {
    fn rate(self) -> f64 {
        self.bytes as f64 / self.seconds
    }
}

/// Returns the mean throughput in bytes per second; `None` if there are no intervals.
#[must_use]
pub fn mean_rate(intervals: &[Interval]) -> Option<f64> {
    let seconds: f64 = intervals.iter().map(|interval| interval.seconds).sum();
    let bytes: u64 = intervals.iter().map(|interval| interval.bytes).sum();
    (seconds > 0.0).then(|| bytes as f64 / seconds)
}

/// Divides a segment of writes with one block size into at most `most` intervals, by the same rule as the samples of a
/// timeline. A remainder of less than half a recorded interval is part of the interval before it: on its own, a few I/Os
/// in a very short time would look like a huge throughput.
#[must_use]
pub fn intervals(segment: &Segment, most: usize) -> Vec<Interval> {
    let column = &segment.series.write_ios;
    let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let parts = column.len().min(most);
    let part = |index: usize| {
        let (from, to) = (index * column.len() / parts, (index + 1) * column.len() / parts);
        let end_ns = if to == column.len() { length_ns } else { to as u64 * segment.series.interval_ns };
        let ios: u64 = column.range(from..to).sum();
        let ns = end_ns.saturating_sub(from as u64 * segment.series.interval_ns);
        (ios * u64::from(segment.workload.block_bytes), ns)
    };
    let mut all: Vec<(u64, u64)> = match parts {
        0 => vec![(segment.write.bytes, length_ns)],
        _ => (0..parts).map(part).collect(),
    };
    if let [.., before, (bytes, ns)] = all.as_mut_slice()
        && *ns < segment.series.interval_ns.div_ceil(2)
    {
        *before = (before.0 + *bytes, before.1 + *ns);
        all.pop();
    }
    let interval = |(bytes, ns): (u64, u64)| Interval { bytes, seconds: ns as f64 / 1e9 };
    all.into_iter().filter(|(_, ns)| *ns > 0).map(interval).collect()
}

/// Finds the first fall of `series`; `None` if its throughput never falls permanently. A drive may first complete
/// background work, so a few slow intervals at the start are skipped.
#[must_use]
pub fn first_fall(series: &[Interval]) -> Option<Fall> {
    let skipped = start(series);
    let fall = fall_of(&series[skipped..])?;
    let bytes: u64 = series[..skipped].iter().map(|interval| interval.bytes).sum();
    Some(Fall { intervals: fall.intervals + skipped, bytes: fall.bytes + bytes as f64, ..fall })
}

/// Returns the index of the first interval that is not slow compared with the fastest one; 0 if more intervals are slow
/// than may be skipped.
fn start(series: &[Interval]) -> usize {
    let fastest = series.iter().map(|interval| interval.rate()).fold(0.0, f64::max);
    let is_fast = |interval: &Interval| interval.rate() >= SLOW_SHARE * fastest;
    series.iter().take(INTERVALS_SKIPPED + 1).position(is_fast).unwrap_or(0)
}

fn fall_of(series: &[Interval]) -> Option<Fall> {
    let at = division(series)?;
    let (before, after) = series.split_at(at);
    let (high, low) = (median_rate(before), median_rate(after));
    if low > FALLEN_SHARE * high {
        return None;
    }
    // A series with several falls is divided at the largest one, so look for an earlier one before it.
    fall_of(before).or_else(|| {
        let share = |interval: Interval| ((interval.rate() - low) / (high - low)).clamp(0.0, 1.0);
        let until_fall = |interval: Interval| {
            let fast = high * share(interval);
            interval.bytes as f64 * fast / (fast + low * (1.0 - share(interval)))
        };
        let whole: u64 = before[..at - 1].iter().map(|interval| interval.bytes).sum();
        let bytes = whole as f64 + until_fall(before[at - 1]) + until_fall(after[0]);
        Some(Fall { intervals: at, bytes, before: high, after: low })
    })
}

/// Returns the length of the first part in the best division into a faster and a slower part, weighted by time;
/// `None` if no division explains the series.
fn division(series: &[Interval]) -> Option<usize> {
    let (mut seconds, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for interval in series {
        seconds += interval.seconds;
        sum += interval.bytes as f64;
        squares += interval.bytes as f64 * interval.rate();
    }
    let total = squares - sum * sum / seconds;
    let (mut first_seconds, mut first_sum) = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (index, interval) in series.iter().enumerate().take(series.len().saturating_sub(INTERVALS_AFTER)) {
        first_seconds += interval.seconds;
        first_sum += interval.bytes as f64;
        let lead = first_sum / first_seconds - (sum - first_sum) / (seconds - first_seconds);
        let explained = lead * lead * first_seconds * (seconds - first_seconds) / seconds;
        if lead > 0.0 && best.is_none_or(|(most, _)| explained > most) {
            best = Some((explained, index + 1));
        }
    }
    best.filter(|(explained, _)| *explained >= EXPLAINED_SHARE * total).map(|(_, at)| at)
}

/// Returns the median throughput, weighted by time.
fn median_rate(intervals: &[Interval]) -> f64 {
    let mut ordered: Vec<(f64, f64)> = intervals.iter().map(|i| (i.rate(), i.seconds)).collect();
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = intervals.iter().map(|interval| interval.seconds).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let reaches = |(_, seconds): &&(f64, f64)| {
        passed += seconds;
        passed >= half
    };
    // Adding in a different order may change the last digit.
    ordered.iter().find(reaches).or(ordered.last()).map_or(0.0, |(rate, _)| *rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::segment;
    use proptest::prelude::*;

    /// Returns writes at each of `levels` (bytes per second, bytes), in seconds, with relative `noise`.
    fn written(levels: &[(f64, f64)], noise: &[f64]) -> Vec<Interval> {
        let (mut series, mut level, mut left) = (Vec::new(), 0, levels[0].1);
        while level < levels.len() {
            let pace = 1.0 + noise[series.len() % noise.len()];
            let (mut room, mut bytes) = (1.0, 0.0);
            while room > 0.0 && level < levels.len() {
                let rate = levels[level].0 * pace;
                let amount = (rate * room).min(left);
                (room, left, bytes) = (room - amount / rate, left - amount, bytes + amount);
                if left <= 0.0 {
                    level += 1;
                    left = levels.get(level).map_or(0.0, |level| level.1);
                    // Rounding must not leave a tiny fraction of a second.
                    room = if room < 1e-9 { 0.0 } else { room };
                }
            }
            series.push(Interval { bytes: bytes as u64, seconds: 1.0 - room });
        }
        series.retain(|interval| interval.seconds > 1e-6);
        series
    }

    fn noise(limit: f64) -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-limit..limit, 61)
    }

    #[test]
    fn a_short_remainder_is_not_an_interval() {
        let seconds = |ios: Vec<u64>, length_ns: u64| -> Vec<f64> {
            intervals(&segment(ios, length_ns), 32).iter().map(|interval| interval.seconds).collect()
        };
        assert_eq!(seconds(vec![100, 100, 9], 2_000_001_000), [1.0, 1.000_001]);
        assert_eq!(seconds(vec![100, 100, 60], 2_500_000_000), [1.0, 1.0, 0.5]);
        assert_eq!(seconds(vec![9], 1_000), [1e-6]);
        let all = intervals(&segment(vec![100, 100, 9], 2_000_001_000), 32);
        assert_eq!(all[1].bytes, 109 * all[0].bytes / 100);
    }

    proptest! {
        #[test]
        fn a_step_is_found_within_an_interval(
            high in 5e8_f64..5e9,
            share in 0.05_f64..0.70,
            seconds in 3.0_f64..60.0,
            after in 10.0_f64..80.0,
            noise in noise(0.03),
        ) {
            let series = written(&[(high, high * seconds), (high * share, high * share * after)], &noise);
            let fall = first_fall(&series).expect("a fall");
            prop_assert!((fall.bytes - high * seconds).abs() <= high, "{} of {}", fall.bytes, high * seconds);
            prop_assert!((fall.before / high - 1.0).abs() <= 0.03 && (fall.after / (high * share) - 1.0).abs() <= 0.03);
        }

        #[test]
        fn noise_is_not_a_fall(rate in 1e8_f64..5e9, seconds in 1.0_f64..300.0, noise in noise(0.10)) {
            prop_assert_eq!(first_fall(&written(&[(rate, rate * seconds)], &noise)), None);
        }

        #[test]
        fn a_rise_is_not_a_fall(low in 1e8_f64..5e8, factor in 1.1_f64..10.0, noise in noise(0.03)) {
            let series = written(&[(low, low * 30.0), (low * factor, low * factor * 30.0)], &noise);
            prop_assert_eq!(first_fall(&series), None);
        }

        #[test]
        fn a_few_slow_intervals_are_not_a_fall(rate in 1e8_f64..5e9, at in 0_usize..50, noise in noise(0.03)) {
            let mut series = written(&[(rate, rate * 50.0)], &noise);
            let at = at.min(series.len() - 1);
            series[at].bytes /= 10;
            prop_assert_eq!(first_fall(&series), None);
        }

        #[test]
        fn a_slow_start_is_skipped(
            high in 1e9_f64..5e9,
            lead in 1_usize..10,
            seconds in 6.0_f64..40.0,
            noise in noise(0.03),
        ) {
            let low = high / 10.0;
            let levels = [(low, low * lead as f64), (high, high * seconds), (low, low * 30.0)];
            let series = written(&levels, &noise);
            let fall = first_fall(&series).expect("a fall");
            let expected = levels[0].1 + levels[1].1;
            prop_assert!((fall.bytes - expected).abs() <= high, "{} of {expected}", fall.bytes);
            prop_assert!((fall.before / high - 1.0).abs() <= 0.1, "{} of {high}", fall.before);
        }

        #[test]
        fn the_first_of_two_falls_is_found(
            high in 1e9_f64..5e9,
            first in 0.2_f64..0.6,
            second in 0.2_f64..0.6,
            seconds in proptest::array::uniform3(6.0_f64..40.0),
            noise in noise(0.02),
        ) {
            let rates = [high, high * first, high * first * second];
            let levels: Vec<(f64, f64)> = rates.iter().zip(seconds).map(|(rate, s)| (*rate, rate * s)).collect();
            let fall = first_fall(&written(&levels, &noise)).expect("a fall");
            prop_assert!((fall.bytes - levels[0].1).abs() <= high, "{} of {}", fall.bytes, levels[0].1);
        }

        #[test]
        fn the_unit_of_bytes_does_not_matter(high in 1e6_f64..1e9, seconds in 2.0_f64..20.0, noise in noise(0.05)) {
            let series = written(&[(high, high * seconds), (high / 3.0, high * 10.0)], &noise);
            let larger: Vec<Interval> =
                series.iter().map(|i| Interval { bytes: i.bytes * 1024, ..*i }).collect();
            let (one, other) = (first_fall(&series).expect("a fall"), first_fall(&larger).expect("a fall"));
            prop_assert_eq!(one.intervals, other.intervals);
            prop_assert!((one.bytes * 1024.0 / other.bytes - 1.0).abs() < 1e-9);
        }

        #[test]
        fn the_fall_is_always_within_the_series(
            series in proptest::collection::vec((0_u64..1 << 40, 1e-3_f64..100.0), 0..100),
        ) {
            let series: Vec<Interval> =
                series.into_iter().map(|(bytes, seconds)| Interval { bytes, seconds }).collect();
            let all: u64 = series.iter().map(|interval| interval.bytes).sum();
            if let Some(fall) = first_fall(&series) {
                prop_assert!(fall.intervals >= 1 && fall.intervals + INTERVALS_AFTER <= series.len());
                prop_assert!((0.0..=all as f64).contains(&fall.bytes) && fall.after <= FALLEN_SHARE * fall.before);
            }
        }
    }
}
