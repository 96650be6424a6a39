//! What the IOPS test shows: the pages of PTS 1.0 (six) and 2.0 (one window page per tracking variable).

use record::Note;
use stdx::units::{block_size, kib};

use super::{BLOCK_SIZES, MIXES, Round, Seen, find, mix_name, name_of};
use crate::exhibit::{Axis, Cell as TableCell, Columns3d, Exhibit, Lines, Page, Row, Scale, Series, Table};
use crate::profile::Cell;
use crate::steady::WINDOW_ROUNDS;
use crate::{Context, KeyFigure, Outcome, Stop, modified, outcome::TestHeader, window_pages};

pub fn skip_note(block_bytes: u32, logical_block_bytes: u32) -> Note {
    Note::Skipped {
        what: format!("all {} cells", block_size(u64::from(block_bytes))),
        why: format!("the device's sectors are {logical_block_bytes} B"),
    }
}

pub fn outcome(context: &Context<'_>, seen: &Seen, stop: Option<Stop>) -> Outcome {
    let complete = stop.is_none();
    let result = Figures::of(seen);
    let window = seen.history.named_window();
    let mut modified = Vec::new();
    modified::by_purge(seen.purge.as_ref(), &mut modified);
    let skipped = seen.skipped.iter().map(|b| skip_note(*b, context.target.logical_block_bytes));
    modified::by_skips(skipped, &mut modified);
    let segments = seen.precondition.iter().chain(seen.rounds.iter().flat_map(|r| &r.segments));
    modified::by_segments(segments, &mut modified);
    Outcome {
        test: super::TEST.name,
        title: super::TEST.title,
        clause: context.profile.iops_clause,
        purpose: "measure random IOPS of every R/W mix and block size at steady state",
        outline: "purge; write the capacity twice; loop over 7 R/W mixes and 8 block sizes until the \
                  tracking variable is steady over five rounds",
        header: header(context, seen, complete),
        rounds: seen.rounds.last().map_or(0, |round| round.number),
        converged: (complete || seen.converged).then_some(seen.converged),
        pages: pages(context, seen, &result),
        key_figures: key_figures(&result),
        notes: notes(seen, &result, complete),
        modified,
        window,
        stop,
    }
}

/// Means over the rounds that results are taken from: the five of the window, or the latest there are.
struct Figures<'a> {
    rounds: &'a [Round],
}

impl<'a> Figures<'a> {
    fn of(seen: &'a Seen) -> Self {
        let from_gap =
            seen.rounds.len().saturating_sub((seen.history.len() as usize).clamp(1, WINDOW_ROUNDS));
        Self { rounds: &seen.rounds[from_gap.min(seen.rounds.len())..] }
    }

    fn mean(&self, cell: Cell) -> Option<f64> {
        let values: Option<Vec<f64>> =
            self.rounds.iter().map(|round| find(&round.segments, cell).map(record::Segment::iops)).collect();
        values.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
    }

    fn names(&self) -> String {
        match self.rounds {
            [] => "none".into(),
            [only] => only.number.to_string(),
            [first, .., last] => format!("{}-{}", first.number, last.number),
        }
    }
}

fn header(context: &Context<'_>, seen: &Seen, complete: bool) -> TestHeader {
    let settings = context.settings;
    let range = context.test_range();
    let amount_of = |range: record::Range| match (settings.active_range_amount_bytes, range.segments) {
        (Some(_), 2..) => {
            (stdx::units::amount_base2(range.span().touched_bytes()), range.segments.to_string())
        }
        _ => ("100%".to_owned(), "N/A".to_owned()),
    };
    let (ar_amount, ar_segments) = amount_of(range);
    let window = seen.history.window().first().copied();
    TestHeader {
        requirement: context.profile.iops_requirement,
        purge: seen.purge.as_ref().map_or_else(|| "not yet".into(), |purge| purge.method.clone()),
        workload_independent: format!("{}X SEQ/128KiB", settings.precondition_capacities),
        workload_dependent: "Full IOPS Loop".into(),
        data_pattern: "RND".into(),
        queue_depth: settings.queue_depth,
        threads: settings.threads,
        convergence: match (seen.converged, complete) {
            (true, _) => "YES",
            (false, true) => "NO",
            (false, false) => "not complete",
        }
        .into(),
        rounds: window.map_or_else(|| "none".into(), |w| format!("{}-{}", w.first_round, w.last_round)),
        pc_ar: format!("{}%", settings.precondition_range_percent),
        test_ar: format!("{}%", settings.test_range_percent),
        ar_amount,
        ar_segments,
    }
}

fn notes(seen: &Seen, result: &Figures<'_>, complete: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if complete && !seen.converged {
        notes.push(format!(
            "SS NOT ACHIEVED: no steady state in {} rounds; results are the mean of rounds {}",
            seen.history.len(),
            result.names()
        ));
    }
    if !complete {
        notes.push(format!("NOT COMPLETE: figures are the mean of the finished rounds {}", result.names()));
    }
    notes
}

fn pages(context: &Context<'_>, seen: &Seen, result: &Figures<'_>) -> Vec<Page> {
    let mut pages = vec![convergence(seen)];
    let tracking = context.profile.iops_tracking;
    let values = |cell: Cell| -> Vec<(f64, f64)> {
        let point = |r: &Round| Some((f64::from(r.number), find(&r.segments, cell)?.iops()));
        seen.rounds.iter().filter_map(point).collect()
    };
    let window = seen.history.window();
    let first = &tracking[0];
    pages.push(window_pages::history(&name_of(first), "IOPS", values(*first), window.first()));
    for (i, cell) in tracking.iter().enumerate() {
        pages.push(window_pages::determination(
            &short_name(cell),
            "IOPS",
            values(*cell),
            window.get(i),
            context,
        ));
    }
    pages.extend([table(seen, result), plot_2d(result), columns_3d(result)]);
    pages
}

fn short_name(cell: &Cell) -> String {
    let size = block_size(u64::from(cell.block_bytes));
    match cell.read_percent {
        0 => format!("RND/{size}"),
        read => format!("RND/{size} {}", mix_name(read)),
    }
}

fn page(title: &str, exhibit: Exhibit) -> Page {
    Page { title: title.into(), exhibits: vec![exhibit], remarks: Vec::new() }
}

fn convergence(seen: &Seen) -> Page {
    let series = BLOCK_SIZES.iter().rev().filter(|b| !seen.skipped.contains(b)).map(|&block_bytes| Series {
        name: block_size(u64::from(block_bytes)),
        points: seen
            .rounds
            .iter()
            .filter_map(|round| {
                let segment = find(&round.segments, Cell { block_bytes, read_percent: 0 })?;
                Some((f64::from(round.number), segment.iops()))
            })
            .collect(),
    });
    let lines = Lines {
        x: Axis { label: "Round".into(), scale: Scale::Integer },
        y: Axis { label: "IOPS (R/W 0/100)".into(), scale: Scale::LinearFromZero },
        series: series.collect(),
        guides: Vec::new(),
        marked: None,
    };
    page("Steady State Convergence Plot - All Block Sizes", Exhibit::Lines(lines))
}

/// Mixes as tables and plots have them: from writes to reads.
fn mixes() -> impl Iterator<Item = u8> {
    MIXES.into_iter().rev()
}

/// Block sizes as tables and plots have them: from small to large.
fn sizes() -> impl Iterator<Item = u32> {
    BLOCK_SIZES.into_iter().rev()
}

fn table(seen: &Seen, result: &Figures<'_>) -> Page {
    let absent = |block_bytes: u32| {
        TableCell::Absent(
            if seen.skipped.contains(&block_bytes) { "n/a (4Kn)" } else { "not measured" }.into(),
        )
    };
    let rows = sizes().map(|block_bytes| Row {
        name: kib(u64::from(block_bytes)),
        cells: mixes()
            .map(|read_percent| {
                let mean = result.mean(Cell { block_bytes, read_percent });
                mean.map_or_else(|| absent(block_bytes), TableCell::Value)
            })
            .collect(),
    });
    let table = Table {
        heading: "IOPS".into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: mixes().map(mix_name).collect(),
        rows: rows.collect(),
        decimals: 1,
    };
    let mut page = page("IOPS - ALL RW Mix & BS - Tabular Data", Exhibit::Table(table));
    page.remarks.push(format!("Mean of rounds {}.", result.names()));
    page
}

fn plot_2d(result: &Figures<'_>) -> Page {
    let series = mixes().map(|read_percent| Series {
        name: mix_name(read_percent),
        points: sizes()
            .filter_map(|block_bytes| {
                let mean = result.mean(Cell { block_bytes, read_percent })?;
                Some((f64::from(block_bytes) / 1024.0, mean))
            })
            .collect(),
    });
    let lines = Lines {
        x: Axis { label: "Block Size (KiB)".into(), scale: Scale::Log2 },
        y: Axis { label: "IOPS".into(), scale: Scale::Log10 },
        series: series.collect(),
        guides: Vec::new(),
        marked: None,
    };
    page("IOPS - ALL RW Mix & BS - 2D Plot", Exhibit::Lines(lines))
}

fn columns_3d(result: &Figures<'_>) -> Page {
    let heights = mixes().map(|read_percent| {
        sizes().map(|block_bytes| result.mean(Cell { block_bytes, read_percent })).collect()
    });
    let columns = Columns3d {
        x_label: "Block Size (KiB)".into(),
        x: sizes().map(|b| kib(u64::from(b))).collect(),
        depth_label: "R/W Mix".into(),
        depth: mixes().map(mix_name).collect(),
        height_label: "IOPS".into(),
        heights: heights.collect(),
    };
    page("IOPS - ALL RW Mix & BS - 3D Columns", Exhibit::Columns3d(columns))
}

fn key_figures(result: &Figures<'_>) -> Vec<KeyFigure> {
    [(4096, 0), (4096, 100), (8192, 0), (8192, 100)]
        .map(|(block_bytes, read_percent)| Cell { block_bytes, read_percent })
        .map(|cell| KeyFigure { name: name_of(&cell), value: result.mean(cell), unit: "IOPS", decimals: 0 })
        .into()
}
