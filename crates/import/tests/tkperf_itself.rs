//! A file written by TKperf 2.2, compared with the tables of TKperf's own report. The target was a loop device in
//! memory, with one second per cell and at most six rounds; in the file, the command line and kernel are
//! shortened.

mod common;

use common::{outcomes, printed, tables};

const FILE: &[u8] = include_bytes!("data/tkperf-2.2-loop.xml");
/// The tables of the report: block size, then IOPS by mix 100/0 to 0/100, MiB/s read and write, ms by mix 0/100 to
/// 100/0.
const REPORT: &str = include_str!("data/tkperf-2.2-loop.csv");

/// Returns the rows of a table in ascending order of block size: size in KiB, then figures.
fn report(title: &str) -> Vec<(f64, Vec<f64>)> {
    let lines = REPORT.lines().skip_while(|line| !line.contains(title)).skip(1);
    let row = |line: &str| {
        let mut cells = line.split(", ");
        let size = match cells.next().expect("a block size") {
            "512" => 0.5,
            text => text.trim_end_matches('k').parse().expect("KiB"),
        };
        (size, cells.map(|cell| cell.parse().expect("a number")).collect())
    };
    let mut rows: Vec<(f64, Vec<f64>)> = lines.take_while(|line| !line.is_empty()).map(row).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows
}

fn ours(test: &str, index: usize) -> Vec<(f64, Vec<f64>)> {
    let found = outcomes(FILE);
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let row = |row: &Vec<String>| (number(&row[0]), row[1..].iter().map(number).collect());
    printed(&tables(&found, test)[index]).iter().map(row).collect()
}

fn mirrored(rows: Vec<(f64, Vec<f64>)>) -> Vec<(f64, Vec<f64>)> {
    rows.into_iter().map(|(size, cells)| (size, cells.into_iter().rev().collect())).collect()
}

#[test]
fn the_report_of_tkperf_has_the_same_figures_to_the_printed_digit() {
    let iops = mirrored(report("Average IOPS"));
    assert_eq!((iops.len(), iops[0].1.len()), (8, 7));
    assert_eq!(ours("iops", 0), iops);
    let throughput = mirrored(report("Average MB/s"));
    assert_eq!((throughput.len(), throughput[0].1.len()), (5, 2));
    assert_eq!(ours("tp", 1), throughput, "MiB/s, which TKperf calls MB/s");
    for (index, title) in ["Average Latency", "Max Latency"].iter().enumerate() {
        let latency = report(title);
        assert_eq!((latency.len(), latency[0].1.len()), (3, 3));
        assert_eq!(ours("lat", index), latency, "{title}");
    }
}

#[test]
fn verdicts_and_windows_are_those_of_tkperf() {
    let found = outcomes(FILE);
    for (test, mean) in [("iops", 67_490.6), ("tp", 2_930_419.6 * 1024.0 / 1e6), ("lat", 56.500_343_6e-3)] {
        let outcome = found.iter().find(|outcome| outcome.test == test).expect("the test");
        let window = &outcome.window[0].1;
        assert_eq!((outcome.converged, window.first_round, window.last_round), (Some(false), 2, 6), "{test}");
        assert!((window.mean / mean - 1.0).abs() < 1e-9, "{test}: {}", window.mean);
    }
    assert!(found.iter().any(|outcome| outcome.test == "wsat"));
}
