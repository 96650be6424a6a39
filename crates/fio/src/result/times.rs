//! A load's response times as text: percentiles that enough I/Os exceed, and a histogram.

use pts::response::{IOS_BEYOND, Percentile};
use record::{Direction, IoPriority, Synced};
use stdx::Histogram;
use stdx::histogram::slot_bounds;
use stdx::units::grouped;

use super::part::per_second;

/// fio's percentiles and one more, each as the number of I/Os per million beyond it.
pub const BEYOND_PPM: &[u32] = &[
    990_000, 950_000, 900_000, 800_000, 700_000, 600_000, 500_000, 400_000, 300_000, 200_000, 100_000,
    50_000, 10_000, 5_000, 1_000, 500, 100, 10,
];

/// The percentiles to print, each as the number of I/Os per million beyond it: the most common of fio's
/// defaults.
const SHOWN: &[Percentile] = &[
    Percentile { name: "50", beyond_ppm: 500_000 },
    Percentile { name: "90", beyond_ppm: 100_000 },
    Percentile { name: "99", beyond_ppm: 10_000 },
    Percentile { name: "99.9", beyond_ppm: 1_000 },
    Percentile { name: "99.99", beyond_ppm: 100 },
    pts::response::FIVE_NINES,
];
/// Length of the longest bar.
const BAR: f64 = 36.0;
/// A smaller percentage would be rounded to zero.
const LEAST_PERCENT: f64 = 0.0005;

/// The histogram slots that may be reported.
pub struct Counted {
    /// The middle of each slot in ns, clamped to the minimum and maximum, and the slot's count, in ascending
    /// order.
    pub bins: Vec<(u64, u64)>,
    /// Number of the slowest I/Os of a scaled simulated drive, which are not in any bin.
    pub left_out: u64,
}

/// Returns the slots of a histogram. If maxima are not meaningful, omits slots with fewer than ten I/Os in or
/// beyond them.
pub fn counted(latency: &Histogram, has_maxima: bool) -> Counted {
    let (least, most) = (latency.min().unwrap_or(0), latency.max().unwrap_or(0));
    let bin = |(slot, count): (usize, u64)| {
        let (low, high) = slot_bounds(slot);
        ((low + (high - low) / 2).clamp(least, most), count)
    };
    let mut bins: Vec<(u64, u64)> = latency.filled().map(bin).collect();
    let mut left_out = 0;
    while let Some((_, count)) = bins.pop_if(|(_, count)| !has_maxima && left_out + *count < IOS_BEYOND) {
        left_out += count;
    }
    Counted { bins, left_out }
}

/// Returns the standard deviation of the response times in ns, from the middles of the slots; 0 if there was no I/O.
pub fn stddev(latency: &Histogram) -> f64 {
    let Some(mean) = latency.mean() else { return 0.0 };
    let squares =
        counted(latency, true).bins.into_iter().map(|(ns, count)| (ns as f64 - mean).powi(2) * count as f64);
    (squares.sum::<f64>() / latency.count() as f64).sqrt()
}

/// Returns whether a printed percentile is missing because too few I/Os lie beyond it.
pub fn lacks_percentiles(latency: &Histogram) -> bool {
    latency.count() > 0 && SHOWN.iter().any(|percentile| percentile.ns_of(latency).is_none())
}

pub fn text(name: &str, direction: &Direction, seconds: f64, has_maxima: bool) -> String {
    format!(
        "{name:<6} {} IOPS  {} MB/s  {} I/Os\n{}",
        grouped(per_second(direction.ios as f64, seconds), 0),
        grouped(per_second(direction.bytes as f64, seconds) / 1e6, 1),
        grouped(direction.ios as f64, 0),
        distribution(&direction.latency, has_maxima),
    )
}

/// Formats the response times of the I/Os of one priority.
pub fn of_priority(name: &str, priority: IoPriority, latency: &Histogram, all: &Direction) -> String {
    let share = percent(latency.count(), all.latency.count());
    format!("       {name} I/Os of priority {priority} ({share} %)\n{}", distribution(latency, true))
}

/// Formats the syncs; empty if there were none.
pub fn of_syncs(synced: &Synced, seconds: f64) -> String {
    let Synced { syncs, latency, end_fsync_ns } = synced;
    let mut out = String::new();
    if *syncs > 0 {
        out.push_str(&format!(
            "sync   {} per second  {} syncs\n{}",
            grouped(per_second(*syncs as f64, seconds), 0),
            grouped(*syncs as f64, 0),
            distribution(latency, true),
        ));
    }
    if let Some(ns) = end_fsync_ns {
        out.push_str(&format!("end    fsync in {} us\n", microseconds(Some(*ns))));
    }
    out
}

fn distribution(latency: &Histogram, has_maxima: bool) -> String {
    let mut out = format!(
        "       response time in us: mean {}  min {}  max {}\n      ",
        grouped(latency.mean().unwrap_or(0.0) / 1e3, 1),
        microseconds(latency.min()),
        microseconds(latency.max().filter(|_| has_maxima)),
    );
    for percentile in SHOWN {
        out.push_str(&format!(" p{} {} ", percentile.name, microseconds(percentile.ns_of(latency))));
    }
    out.push('\n');
    let all = latency.count();
    let counted = counted(latency, has_maxima);
    for (from_ns, to_ns, count) in rows(&counted.bins) {
        let bar = "#".repeat((count as f64 / all.max(1) as f64 * BAR).round() as usize);
        let bounds = format!("{} to {} us", bound(from_ns), bound(to_ns));
        out.push_str(&format!("       {bounds:<24} {:>7} %  {bar}\n", percent(count, all)));
    }
    if counted.left_out > 0 {
        let share = percent(counted.left_out, all);
        out.push_str(&format!("       {:<24} {share:>7} %\n", "the slowest, without times"));
    }
    out
}

/// Formats a percentage; only a count of 0 is printed as 0.
fn percent(count: u64, of: u64) -> String {
    match count as f64 * 100.0 / of.max(1) as f64 {
        0.0 => "0".into(),
        share if share < LEAST_PERCENT => "<0.001".into(),
        share => format!("{share:.3}"),
    }
}

/// Counts I/Os between 1, 2, 5, 10, ... from the first to the last non-empty row.
fn rows(bins: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
    let mut bounds = vec![0u64];
    let mut decade = 100u64;
    while decade <= u64::MAX / 100 {
        bounds.extend([decade, 2 * decade, 5 * decade]);
        decade *= 10;
    }
    let mut counts = vec![0u64; bounds.len()];
    for (ns, count) in bins {
        counts[bounds.partition_point(|bound| bound <= ns) - 1] += count;
    }
    let first = counts.iter().position(|count| *count > 0);
    let last = counts.iter().rposition(|count| *count > 0);
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    (first..=last).map(|i| (bounds[i], bounds.get(i + 1).copied().unwrap_or(u64::MAX), counts[i])).collect()
}

fn bound(ns: u64) -> String {
    grouped(ns as f64 / 1e3, usize::from(ns < 1000 && ns > 0))
}

fn microseconds(ns: Option<u64>) -> String {
    ns.map_or_else(|| "n/a".into(), |ns| grouped(ns as f64 / 1e3, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(values_ns: impl IntoIterator<Item = u64>) -> Direction {
        let mut latency = Histogram::new();
        values_ns.into_iter().for_each(|ns| latency.record(ns));
        Direction { ios: latency.count(), bytes: latency.count() * 4096, latency }
    }

    fn rows_of(values_ns: &[u64]) -> Vec<(u64, u64, u64)> {
        rows(&counted(&direction(values_ns.iter().copied()).latency, true).bins)
    }

    #[test]
    fn every_io_is_in_a_row_of_the_histogram() {
        let rows = rows_of(&[50, 100, 150, 4_999, 5_000, 1_000_000, u64::MAX]);
        assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), 7);
        assert_eq!((rows[0], rows[1]), ((0, 100, 1), (100, 200, 2)));
        assert!(rows.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert_eq!(rows_of(&[]), []);
    }

    #[test]
    fn no_row_lies_beyond_the_maximum_or_before_the_minimum() {
        // The middle of the slot that contains 999,859.5 us is above one second.
        let rows = rows_of(&[100_000, 999_859_500]);
        assert_eq!(rows.last().map(|row| row.1), Some(1_000_000_000));
        // The slot that contains 200.1 us begins below 200 us.
        assert_eq!(rows_of(&[200_100])[0].0, 200_000);
    }

    #[test]
    fn percentiles_need_ten_ios_beyond_them() {
        let few = text("read", &direction((1..=2048).map(|i| i * 1000)), 1.0, true);
        assert!(few.contains("p99 2,0") && few.contains("p99.9 n/a  p99.99 n/a  p99.999 n/a"), "{few}");
        assert!(few.contains("max 2,048.0"), "{few}");
        let many = direction((1..=100_000).map(|i| i * 1000));
        let enough = text("read", &many, 1.0, true);
        assert!(enough.contains("p99.99 99,") && enough.contains("p99.999 n/a"), "{enough}");
        assert!(lacks_percentiles(&many.latency) && !lacks_percentiles(&Histogram::new()));
    }

    #[test]
    fn the_slowest_ios_of_a_scaled_drive_are_not_in_bins() {
        let mut values = vec![150_000; 5_000_000];
        values.extend([3_000_000; 12]);
        values.extend([40_000_000, 41_000_000, 7_000_000_000]);
        let slow = direction(values);
        let scaled = text("read", &slow, 1.0, false);
        assert!(scaled.contains("max n/a") && scaled.contains("the slowest, without times"), "{scaled}");
        assert!(scaled.contains("2,000 to 5,000 us") && !scaled.contains("20,000 to 50,000"), "{scaled}");
        let real = text("read", &slow, 1.0, true);
        assert!(real.contains("max 7,000,000.0") && real.contains("5,000,000 to 10,000,000 us"), "{real}");
        assert!(!real.contains("slowest"), "{real}");
        let counted = counted(&slow.latency, false);
        assert_eq!((counted.left_out, counted.bins.len()), (3, 2));
        assert_eq!(counted.bins.iter().map(|bin| bin.1).sum::<u64>() + counted.left_out, slow.ios);
    }

    #[test]
    fn the_standard_deviation_is_that_of_the_values() {
        let spread = direction((0..1000).map(|i| if i % 2 == 0 { 100_000 } else { 300_000 }));
        assert!((stddev(&spread.latency) / 100_000.0 - 1.0).abs() < 0.01, "{}", stddev(&spread.latency));
        assert_eq!(stddev(&Histogram::new()), 0.0);
    }

    #[test]
    fn a_count_of_one_is_not_printed_as_zero() {
        assert_eq!(
            (percent(0, 9), percent(1, 1_000_000), percent(1, 100_000)),
            ("0".into(), "<0.001".into(), "0.001".into())
        );
    }
}
