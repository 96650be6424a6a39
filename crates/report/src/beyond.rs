//! What the journal knows beyond the pages of the specification: the course of a test, and response times to five
//! nines.

use pts::exhibit::{Axis, Lines, Scale, Series};
use record::Entry;
use stdx::Histogram;
use stdx::histogram::slot_bounds;

use crate::answers::{Answer, Phase, answers};
use crate::chart::{HeatColumn, HeatMap};
use crate::document::Document;

/// Points of a course and columns of a map: more cannot be told apart on a page.
const POINTS: usize = 600;
const COLUMNS: usize = 160;
/// Slots of a histogram in one row of a map: rows are up to 25 % high.
const SLOTS_IN_ROW: usize = 32;
const MINUTE_NS: f64 = 60e9;

/// One test beyond its pages.
#[derive(Debug, Clone)]
pub(crate) struct Beyond {
    pub title: String,
    /// What it took, and what it was expected to take.
    pub spent: Option<String>,
    /// IOPS per interval over the whole test.
    pub course: Lines,
    /// Response times over the whole test.
    pub heat: HeatMap,
    /// Workloads of the window with their response times; none for a test with too many.
    pub cells: Vec<(String, Histogram)>,
}

/// Every test that was begun.
pub(crate) fn beyond(document: &Document, entries: &[Entry]) -> Vec<Beyond> {
    let all = answers(entries);
    let spent = pts::spent::spent(&document.run, entries);
    let of = |outcome: &pts::Outcome| {
        let mine: Vec<&Answer<'_>> =
            all.iter().filter(|a| a.test == outcome.test && a.phase == Phase::Measure).collect();
        Beyond {
            title: outcome.title.clone(),
            spent: spent.iter().find(|spent| spent.test == outcome.test).map(ToString::to_string),
            course: course(&mine),
            heat: heat(&mine),
            cells: cells(document, &mine),
        }
    };
    document.outcomes.iter().map(of).collect()
}

/// Minutes since the first measured I/O of the test.
fn minutes(mine: &[&Answer<'_>], ns: u64) -> f64 {
    let start = mine.first().map_or(0, |answer| answer.segment.start_ns);
    ns.saturating_sub(start) as f64 / MINUTE_NS
}

fn course(mine: &[&Answer<'_>]) -> Lines {
    // Time in the middle of each interval, its length in s, and its I/Os.
    let mut intervals: Vec<(f64, f64, f64)> = Vec::new();
    for Answer { segment, .. } in mine {
        let series = &segment.series;
        for (i, (reads, writes)) in series.read_ios.iter().zip(&series.write_ios).enumerate() {
            let from = segment.start_ns + series.interval_ns * i as u64;
            let to = (from + series.interval_ns).min(segment.end_ns);
            let seconds = to.saturating_sub(from) as f64 / 1e9;
            intervals.push((minutes(mine, from + (to - from.min(to)) / 2), seconds, (reads + writes) as f64));
        }
    }
    let group = intervals.len().div_ceil(POINTS).max(1);
    let points = intervals.chunks(group).filter_map(|chunk| {
        let seconds: f64 = chunk.iter().map(|(_, seconds, _)| seconds).sum();
        let ios: f64 = chunk.iter().map(|(_, _, ios)| ios).sum();
        (seconds > 0.0).then(|| (chunk[chunk.len() / 2].0, ios / seconds))
    });
    let axis = |label: &str, scale| Axis { label: label.into(), scale };
    let name = if group > 1 { format!("mean of {group} intervals") } else { "each interval".into() };
    Lines {
        x: axis("Time (minutes)", Scale::LinearFromZero),
        y: axis("IOPS", Scale::Log10),
        series: vec![Series { name, points: points.filter(|(_, iops)| *iops > 0.0).collect() }],
        guides: Vec::new(),
        marked: None,
    }
}

fn heat(mine: &[&Answer<'_>]) -> HeatMap {
    let group = mine.len().div_ceil(COLUMNS).max(1);
    let columns = mine.chunks(group).filter_map(|chunk| {
        let times = pts::response::merged(chunk.iter().map(|answer| answer.segment));
        let (first, last) = (chunk.first()?.segment, chunk.last()?.segment);
        Some(HeatColumn {
            from_minutes: minutes(mine, first.start_ns),
            to_minutes: minutes(mine, last.end_ns),
            cells: rows(&times),
        })
    });
    HeatMap { columns: columns.collect() }
}

fn rows(times: &Histogram) -> Vec<(f64, f64, f64)> {
    let mut rows: Vec<(usize, u64)> = Vec::new();
    for (slot, count) in times.filled() {
        match rows.last_mut() {
            Some((row, sum)) if *row == slot / SLOTS_IN_ROW => *sum += count,
            _ => rows.push((slot / SLOTS_IN_ROW, count)),
        }
    }
    let ms = |ns: u64| ns.max(1) as f64 / 1e6;
    let edge = |row: usize| {
        let (low, _) = slot_bounds(row * SLOTS_IN_ROW);
        let (_, high) = slot_bounds(row * SLOTS_IN_ROW + SLOTS_IN_ROW - 1);
        (ms(low), ms(high.saturating_add(1)))
    };
    let total = times.count().max(1) as f64;
    rows.into_iter().map(|(row, count)| (edge(row).0, edge(row).1, count as f64 / total)).collect()
}

fn cells(document: &Document, mine: &[&Answer<'_>]) -> Vec<(String, Histogram)> {
    const MOST: usize = 64;
    let mut cells: Vec<(String, Histogram)> = Vec::new();
    for answer in mine.iter().filter(|a| document.in_window(a.test, a.round)) {
        let workload = &answer.segment.workload;
        let name = format!("{workload}, TC {} QD {}", workload.threads, workload.queue_depth);
        let times = pts::response::merged([answer.segment]);
        match cells.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.merge(&times),
            None => cells.push((name, times)),
        }
    }
    if cells.len() > MOST { Vec::new() } else { cells }
}
