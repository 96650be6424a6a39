//! The heat map of response times, at the finest recorded time resolution that is distinguishable.

use stdx::histogram::coarse::{ROWS, Rows, row_bounds};

use super::timing::{TimedWorkload, Timing};
use crate::facts::answers::Phase;
use charts::HeatColumn;

/// Maximum number of columns in a map; more are indistinguishable on a page.
const COLUMNS: usize = 160;

/// A time interval, and the source of its response times.
struct Part<'a> {
    phase: Phase,
    from: f64,
    to: f64,
    timed: &'a TimedWorkload<'a>,
    /// Column index in the series of histograms; None if the workload has only a single histogram.
    column: Option<usize>,
}

/// Returns the heat map columns of a test that lasts `to_minutes` minutes.
pub(super) fn columns(timing: &Timing<'_>, to_minutes: f64) -> Vec<HeatColumn> {
    let width = to_minutes / COLUMNS as f64;
    let mut columns = Vec::new();
    // A test may have millions of intervals, so they are not collected.
    let mut rest = timing.workloads.iter().flat_map(parts).peekable();
    while let Some(first) = rest.next() {
        let mut end = first.to;
        let mut rows = [0; ROWS];
        first.add_to(&mut rows);
        let fits = |next: &Part<'_>, end: f64| {
            next.phase == first.phase && next.to - first.from <= width && next.from - end < width
        };
        while let Some(next) = rest.next_if(|next| fits(next, end)) {
            end = next.to;
            next.add_to(&mut rows);
        }
        columns.push(HeatColumn { from_minutes: first.from, to_minutes: end, cells: cells(&rows) });
    }
    columns
}

/// Splits a workload into its recorded intervals; older journals have a single histogram per workload.
fn parts<'a>(timed: &'a TimedWorkload<'a>) -> Vec<Part<'a>> {
    let part = |from, to, column| Part { phase: timed.phase, from, to, timed, column };
    let series = &timed.segment.series;
    let Some(times) = series.times.as_ref().filter(|times| !times.is_empty()) else {
        return vec![part(timed.from_minutes, timed.to_minutes, None)];
    };
    let whole_ns = timed.segment.end_ns.saturating_sub(timed.segment.start_ns);
    let each_ns = series.interval_ns.saturating_mul(times.intervals_per_column());
    let minutes_per_ns = (timed.to_minutes - timed.from_minutes) / whole_ns.max(1) as f64;
    // The last column includes I/Os that completed after the end.
    let at = |column: usize| {
        let ns = if column == times.len() { whole_ns } else { each_ns.saturating_mul(column as u64) };
        timed.from_minutes + minutes_per_ns * ns.min(whole_ns) as f64
    };
    (0..times.len()).map(|column| part(at(column), at(column + 1), Some(column))).collect()
}

impl Part<'_> {
    fn add_to(&self, rows: &mut Rows) {
        let segment = self.timed.segment;
        match (self.column, &segment.series.times) {
            (Some(column), Some(times)) => times.column(column).for_each(|(row, count)| rows[row] += count),
            _ => [&segment.read, &segment.write].iter().for_each(|way| way.latency.add_rows(rows)),
        }
    }
}

/// Returns the lower and upper response time in ms of each non-empty row, and its fraction of the I/Os.
fn cells(rows: &Rows) -> Vec<(f64, f64, f64)> {
    let total = rows.iter().sum::<u64>().max(1) as f64;
    let ms = |ns: u64| ns.max(1) as f64 / 1e6;
    let cell = |(row, &count): (usize, &u64)| {
        let (low, high) = row_bounds(row);
        (ms(low), ms(high.saturating_add(1)), count as f64 / total)
    };
    rows.iter().enumerate().filter(|(_, count)| **count > 0).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::super::timing::timings;
    use super::*;
    use crate::facts::samples;
    use crate::facts::scaled_clock::ScaledClock;
    use record::{Event, Segment};
    use stdx::histogram::coarse::Columns;
    use stdx::histogram::{SLOTS, slot_of};

    const SECOND_NS: u64 = 1_000_000_000;
    const IN_ROW: usize = SLOTS / ROWS;

    /// Returns a workload with one I/O per second, whose response times in ns are `seconds`. It has a histogram per
    /// second if `recorded`, otherwise a single histogram.
    fn workload(start_ns: u64, seconds: &[u64], recorded: bool) -> Segment {
        let Event::Measured(mut segment) = samples::measured(0) else { panic!("a segment") };
        (segment.start_ns, segment.end_ns) = (start_ns, start_ns + seconds.len() as u64 * SECOND_NS);
        segment.series.interval_ns = SECOND_NS;
        seconds.iter().for_each(|&ns| segment.write.latency.record(ns));
        let rows: Vec<_> = seconds.iter().map(|&ns| vec![(slot_of(ns) / IN_ROW, 1)]).collect();
        segment.series.times = recorded.then(|| Columns::from_parts(1, &rows).expect("columns").into());
        segment
    }

    fn map(segments: Vec<Segment>) -> Vec<HeatColumn> {
        let events = segments.into_iter().map(Event::Measured);
        let entries = samples::entries([samples::started("wsat")].into_iter().chain(events).collect());
        let all = timings(&entries, &ScaledClock::of(&entries, 1));
        columns(&all[0].1, all[0].1.end_minutes())
    }

    fn shares(columns: &[HeatColumn]) -> Vec<Vec<f64>> {
        columns.iter().map(|column| column.cells.iter().map(|(_, _, share)| *share).collect()).collect()
    }

    #[test]
    fn a_short_test_has_a_column_for_each_second() {
        let map = map(vec![workload(0, &[20_000, 90_000, 20_000], true)]);
        assert_eq!(shares(&map), [[1.0], [1.0], [1.0]]);
        assert_eq!(map[0].cells, map[2].cells);
        let edges: Vec<f64> = map.iter().map(|column| (column.from_minutes * 60.0).round()).collect();
        assert_eq!((edges, (map[2].to_minutes * 60.0).round()), (vec![0.0, 1.0, 2.0], 3.0));
        let (low, high, _) = map[1].cells[0];
        assert!(low <= 0.09 && 0.09 < high && high / low <= 1.2501, "{low} to {high}");
    }

    #[test]
    fn an_older_journal_has_a_column_for_each_workload() {
        let map = map(vec![workload(0, &[20_000, 90_000], false), workload(2 * SECOND_NS, &[20_000], true)]);
        assert_eq!(shares(&map), [vec![0.5, 0.5], vec![1.0]]);
    }

    #[test]
    fn seconds_of_a_long_test_share_columns_by_their_ios() {
        let seconds = vec![20_000; 1600];
        let mut long = vec![workload(0, &seconds, true)];
        long.push(workload(1600 * SECOND_NS, &[20_000, 20_000, 20_000, 90_000], true));
        let map = map(long);
        assert!((150..=COLUMNS + 20).contains(&map.len()), "{} columns", map.len());
        let ios: f64 = shares(&map).iter().map(|cells| cells.iter().sum::<f64>()).sum();
        assert!((ios - map.len() as f64).abs() < 1e-6);
        assert!(map.windows(2).all(|pair| pair[0].to_minutes == pair[1].from_minutes));
    }
}
