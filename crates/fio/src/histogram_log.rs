//! fio's log of histograms of response times over time.

use record::Segment;
use stdx::histogram::coarse::row_bounds;

/// fio has 64 bins for each power of two.
const BINS_BITS: u32 = 6;
const BINS: usize = 29 << BINS_BITS;

/// Returns the lines: time in ms, direction (0 for reads, 1 for writes, 2 for trims), block size, and the counts of all bins. Each line
/// covers `intervals` intervals or, if the segment's columns are longer, a column.
pub fn text(segment: &Segment, intervals: usize, coarseness: u8) -> String {
    let series = &segment.series;
    let Some(columns) = &series.times else { return String::new() };
    let of_each = (intervals as u64).div_ceil(columns.intervals_per_column());
    let column_ns = columns.intervals_per_column().saturating_mul(series.interval_ns);
    let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let workload = &segment.workload;
    let direction = match (workload.read_percent, workload.regime.trims) {
        (0, true) => 2,
        (0, false) => 1,
        _ => 0,
    };
    let mut out = String::new();
    let mut counts = vec![0; BINS >> coarseness];
    for (number, column) in (1..).zip(columns.iter()) {
        for (row, count) in column {
            counts[bin_of(row) >> coarseness] += count;
        }
        if number % of_each != 0 && number < columns.len() as u64 {
            continue;
        }
        let end_ns = column_ns.saturating_mul(number).min(length_ns);
        let time_ms = (workload.regime.ramp_ns + end_ns) / 1_000_000;
        let bins: Vec<String> = counts.iter().map(u64::to_string).collect();
        out.push_str(&format!("{time_ms}, {direction}, {}, {}\n", workload.block_bytes, bins.join(", ")));
        counts.fill(0);
    }
    out
}

/// Returns fio's bin for the middle of a row.
fn bin_of(row: usize) -> usize {
    let (low, high) = row_bounds(row);
    let ns = low + (high - low) / 2;
    let beyond = (u64::BITS - ns.leading_zeros()).saturating_sub(BINS_BITS + 1);
    let bin = ((beyond as usize) << BINS_BITS) + (ns >> beyond) as usize;
    bin.min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Regime;
    use stdx::histogram::coarse::ROWS;

    /// The columns of two intervals become one line, and the last line ends with the workload.
    #[test]
    fn lines_have_the_time_the_direction_the_size_and_all_bins() {
        let mut segment = crate::result::tests::part(0, None, false).segments.remove(0);
        let series = serde_json::json!({
            "interval_ns": 1_000_000_000,
            "read_ios": [3, 1, 2],
            "write_ios": [0, 0, 0],
            "latency_mean_ns": [1, 1, 1],
            "latency_max_ns": [1, 1, 1],
            "times": { "intervals_per_column": 1, "columns": [[0, 3], [0, 1], [0, 2]] },
        });
        segment.series = serde_json::from_str(&series.to_string()).expect("a series");
        segment.end_ns = segment.start_ns + 2_500_000_000;
        let lines = |segment: &Segment, intervals| -> Vec<Vec<String>> {
            let text = text(segment, intervals, 4);
            text.lines().map(|line| line.split(", ").map(str::to_owned).collect()).collect()
        };
        let of_two = lines(&segment, 2);
        assert_eq!(
            of_two.iter().map(|line| &line[..4]).collect::<Vec<_>>(),
            [["2000", "0", "4096", "4"], ["2500", "0", "4096", "2"],]
        );
        assert!(of_two.iter().all(|line| line.len() == 3 + (BINS >> 4)));
        assert!(of_two.iter().flat_map(|line| &line[4..]).all(|count| count == "0"));
        (segment.workload.read_percent, segment.workload.block_bytes) = (0, 8192);
        segment.workload.regime = Regime { ramp_ns: 500_000_000, ..Regime::default() };
        let of_one = lines(&segment, 1);
        assert_eq!(
            of_one.iter().map(|line| &line[..4]).collect::<Vec<_>>(),
            [["1500", "1", "8192", "3"], ["2500", "1", "8192", "1"], ["3000", "1", "8192", "2"],]
        );
        segment.workload.regime.trims = true;
        assert!(lines(&segment, 1).iter().all(|line| line[1] == "2"));
    }

    #[test]
    fn a_row_is_a_bin_of_the_log_if_both_are_equally_coarse() {
        // fio: below 128 ns, the value; then 64 bins for each power of two. Rows below 128 ns cover two coarse bins.
        let bin = |ns: u64| {
            let row = (0..ROWS).find(|row| row_bounds(*row).1 >= ns).expect("a row");
            bin_of(row) >> 4
        };
        assert_eq!([0, 127, 128, 159, 160, 255, 256].map(bin), [0, 6, 8, 8, 9, 11, 12]);
        assert!((4..(BINS >> 4) - 4).all(|row| bin_of(row) >> 4 == row + 4));
    }
}
