//! Pages of the IOPS test: six in PTS 1.0; one window page per tracking variable in PTS 2.0.

use stdx::units::{block_size, kib};

use super::{BLOCK_SIZES, MIXES, Seen, TEST, iops_of};
use crate::context::PRECONDITION_BLOCK;
use crate::exhibit::{Axis, Cell as TableCell, Columns3d, Exhibit, Lines, Page, Row, Scale, Series, Table};
use crate::outcome::{Phases, TestHeader};
use crate::profile::{Cell, mix_name};
use crate::{Context, KeyFigure, Outcome, Stop, harmonic, modified, window_pages};

pub fn outcome(context: &Context<'_>, seen: &Seen, stop: Option<Stop>) -> Outcome {
    let mut begun = Outcome::begun(&TEST, context, seen.purge.as_ref(), context.test_range(), stop);
    let skips = seen.skipped.iter().map(|bytes| modified::skip_note(*bytes, context.target));
    modified::by_skips(skips, &mut begun.modified);
    let mut told = seen.rounds.tell(begun, seen.precondition.as_ref(), None);
    told.notes.extend(plausibility(seen));
    let (demand, rounds) = (context.demand(None).to_string(), told.header.steady_rounds());
    let looped = || "IOPS Loop".to_owned();
    let phases = Phases {
        pre_condition_1: context.precondition_phase(PRECONDITION_BLOCK),
        pre_condition_2: [looped(), demand.clone(), rounds.clone()],
        stimulus_1: [looped(), "Outer Loop".into(), "Inner Loop".into(), demand, rounds],
        ..Phases::default()
    };
    Outcome {
        purpose: "measure random IOPS of every R/W mix and block size at steady state".into(),
        outline: format!(
            "purge; {}; loop over 7 R/W mixes and 8 block sizes until the tracking variable is steady over \
             five rounds",
            context.precondition_in_words()
        ),
        header: TestHeader {
            workload_independent: Some(format!("{}X SEQ/128KiB", context.settings.precondition_capacities)),
            workload_dependent: "Full IOPS Loop".into(),
            phases,
            ..told.header
        },
        pages: pages(context, seen),
        key_figures: key_figures(seen),
        ..told
    }
}

/// Mean over the result rounds.
fn mean(seen: &Seen, cell: Cell) -> Option<f64> {
    seen.rounds.mean(|segments| iops_of(segments, cell))
}

fn pages(context: &Context<'_>, seen: &Seen) -> Vec<Page> {
    let mut pages = vec![convergence(seen)];
    let tracking = context.profile.iops_tracking;
    let values = |cell: Cell| seen.rounds.points(|segments| iops_of(segments, cell));
    let window = seen.rounds.history.window();
    let first = tracking[0];
    pages.push(window_pages::history(&first.name(), window_pages::IOPS, values(first), window.first()));
    for (i, cell) in tracking.iter().enumerate() {
        pages.push(window_pages::determination(
            &cell.short_name(),
            window_pages::IOPS,
            values(*cell),
            window.get(i),
            context,
        ));
    }
    pages.extend([table(seen), plot_2d(seen), columns_3d(seen)]);
    pages
}

fn convergence(seen: &Seen) -> Page {
    let series = BLOCK_SIZES.iter().rev().filter(|b| !seen.skipped.contains(b)).map(|&block_bytes| Series {
        name: block_size(u64::from(block_bytes)),
        points: seen.rounds.points(|segments| iops_of(segments, Cell { block_bytes, read_percent: 0 })),
    });
    let title = "Steady State Convergence Plot - All Block Sizes";
    window_pages::convergence(title, "IOPS (R/W 0/100)", series.collect())
}

fn plausibility(seen: &Seen) -> Option<String> {
    let cells =
        sizes().flat_map(|block_bytes| mixes().map(move |read_percent| Cell { block_bytes, read_percent }));
    harmonic::note(cells, |cell| mean(seen, cell))
}

/// Percentages of reads in table and plot order: ascending.
fn mixes() -> impl Iterator<Item = u8> {
    MIXES.into_iter().rev()
}

/// Block sizes in table and plot order: ascending.
fn sizes() -> impl Iterator<Item = u32> {
    BLOCK_SIZES.into_iter().rev()
}

fn table(seen: &Seen) -> Page {
    let absent =
        |block_bytes: u32| if seen.skipped.contains(&block_bytes) { "n/a (4Kn)" } else { "not measured" };
    let rows = sizes().map(|block_bytes| Row {
        name: kib(u64::from(block_bytes)),
        cells: mixes()
            .map(|read_percent| {
                let cell = Cell { block_bytes, read_percent };
                let limited = seen.rounds.is_host_limited(cell);
                TableCell::of(mean(seen, cell), limited, || absent(block_bytes).into())
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
    let mut page = Page::of("IOPS - ALL RW Mix & BS - Tabular Data", Exhibit::Table(table));
    page.remarks.push(format!("Mean of rounds {}.", seen.rounds.names()));
    page
}

fn plot_2d(seen: &Seen) -> Page {
    let series = mixes().map(|read_percent| Series {
        name: mix_name(read_percent),
        points: sizes()
            .filter_map(|block_bytes| {
                let value = mean(seen, Cell { block_bytes, read_percent })?;
                Some((f64::from(block_bytes) / 1024.0, value))
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
    Page::of("IOPS - ALL RW Mix & BS - 2D Plot", Exhibit::Lines(lines))
}

fn columns_3d(seen: &Seen) -> Page {
    let heights = mixes().map(|read_percent| {
        sizes().map(|block_bytes| mean(seen, Cell { block_bytes, read_percent })).collect()
    });
    let columns = Columns3d {
        x_label: "Block Size (KiB)".into(),
        x: sizes().map(|b| kib(u64::from(b))).collect(),
        depth_label: "R/W Mix".into(),
        depth: mixes().map(mix_name).collect(),
        height_label: "IOPS".into(),
        heights: heights.collect(),
    };
    Page::of("IOPS - ALL RW Mix & BS - 3D Columns", Exhibit::Columns3d(columns))
}

fn key_figures(seen: &Seen) -> Vec<KeyFigure> {
    [(4096, 0), (4096, 100), (8192, 0), (8192, 100)]
        .map(|(block_bytes, read_percent)| Cell { block_bytes, read_percent })
        .map(|cell| KeyFigure {
            name: cell.name(),
            value: mean(seen, cell),
            host_limited: seen.rounds.is_host_limited(cell),
            unit: "IOPS",
            absent: "n/a",
            decimals: 0,
        })
        .into()
}
