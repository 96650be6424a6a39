//! The wall clock, which may be set to any time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// Returns the wall-clock time, clamped to the representable range.
#[must_use]
pub fn wall_now() -> Timestamp {
    // `Timestamp::now` panics beyond the year 9999.
    match SystemTime::elapsed(&UNIX_EPOCH) {
        Ok(since) => nearest(since, false),
        Err(before) => nearest(before.duration(), true),
    }
}

fn nearest(distance: Duration, before_epoch: bool) -> Timestamp {
    let distance_ns = i128::try_from(distance.as_nanos()).unwrap_or(i128::MAX);
    let ns = if before_epoch { -distance_ns } else { distance_ns };
    let limit = if before_epoch { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_nanosecond(ns).unwrap_or(limit)
}

/// Returns the time between two instants in ns: 0 if the clock was set back; at most ten years, because a
/// longer time means that the clock is wrong.
#[must_use]
pub fn gap_ns(from: Timestamp, to: Timestamp) -> u64 {
    const LONGEST_NS: u64 = 10 * 366 * 86_400 * 1_000_000_000;
    let length_ns = to.duration_since(from).as_nanos().max(0);
    u64::try_from(length_ns).unwrap_or(u64::MAX).min(LONGEST_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn every_clock_has_a_nearest_time() {
        let years = |count: u64| Duration::from_secs(count * 31_556_952);
        assert_eq!(nearest(Duration::from_secs(1), false), at("1970-01-01T00:00:01Z"));
        assert_eq!(nearest(Duration::from_secs(1), true), at("1969-12-31T23:59:59Z"));
        assert_eq!(nearest(years(8_100), false), Timestamp::MAX);
        assert_eq!(nearest(Duration::MAX, false), Timestamp::MAX);
        assert_eq!(nearest(Duration::MAX, true), Timestamp::MIN);
    }

    #[test]
    fn a_gap_is_never_negative_and_is_bounded() {
        let start = at("2026-03-01T00:00:00Z");
        assert_eq!(gap_ns(start, at("2026-03-01T00:00:02.5Z")), 2_500_000_000);
        assert_eq!(gap_ns(start, at("1960-01-01T00:00:00Z")), 0);
        assert_eq!(gap_ns(start, Timestamp::MAX), 316_224_000_000_000_000);
    }
}
