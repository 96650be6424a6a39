//! Pages of the zone tests: line charts over the position on disk, and a table of the distribution by zone.

use stdx::units::{amount_base2, block_size};

use super::answers::{Sample, ZoneAnswers};
use super::sweep::{Figure, Sweep, ZONES, zone_bytes, zone_of};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{self, Exhibit, Lines, Page, Row, Scale, Series, Table};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::method::profile::{Cell, mix_name};
use crate::{Context, Deviation, KeyFigure, Outcome, Stop};

pub fn outcome(context: &Context<'_>, answers: &ZoneAnswers, stop: Option<Stop>) -> Outcome {
    let sweep = answers.sweep;
    let mut begun = Outcome::begun(sweep.test, context, None, context.whole_test_range(), stop);
    begun.modified.push(Deviation::ForHardDisks);
    if context.target.rotational != Some(true) {
        begun.modified.push(Deviation::NotAHardDisk { title: sweep.test.title.to_owned() });
    }
    answers.incidents.add_to(&mut begun.modified);
    if begun.stop.is_some() {
        let (done, all) = (answers.finished, sweep.rounds());
        begun.notes.push(format!("NOT COMPLETE: {done} of {all} zones are complete"));
    }
    let demand = sweep.demand(context);
    Outcome {
        purpose: sweep.purpose.into(),
        outline: sweep.outline.into(),
        rounds: answers.finished,
        header: TestHeader {
            purge: "None".into(),
            threads: Some(demand.threads),
            queue_depth: Some(demand.queue_depth),
            phases: Phases {
                stimulus_1: [
                    sweep.test.title.to_owned(),
                    listed(sweep, |cell| mix_name(cell.read_percent)),
                    listed(sweep, |cell| block_size(cell.block_bytes.into())),
                    demand.to_string(),
                    format!("N/A; {ZONES} zones"),
                ],
                ..Phases::default()
            },
            ar_amount: "100%".into(),
            ar_segments: "N/A".into(),
            ..begun.header
        },
        pages: pages(context, answers),
        key_figures: key_figures(answers),
        ..begun
    }
}

/// Returns the distinct values of a property over all cells.
fn listed(sweep: &Sweep, of: impl Fn(&Cell) -> String) -> String {
    let mut all: Vec<String> = Vec::new();
    for text in cells(sweep).iter().map(of) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all.join(", ")
}

/// The cells of all passes, in order.
fn cells(sweep: &Sweep) -> Vec<Cell> {
    sweep.passes.iter().flat_map(|cells| *cells).copied().collect()
}

fn samples(answers: &ZoneAnswers, cell: Cell) -> impl Iterator<Item = &Sample> {
    answers.samples.iter().filter(move |sample| sample.cell == cell)
}

const fn unit(sweep: &Sweep) -> Unit {
    match sweep.figure {
        Figure::Iops => Unit::Iops,
        Figure::Throughput => Unit::MegabytesPerSecond,
    }
}

fn pages(context: &Context<'_>, answers: &ZoneAnswers) -> Vec<Page> {
    let sweep = answers.sweep;
    let value = |sample: &Sample| Some(sample.value);
    let over = |cells: Vec<Cell>, label: &str, value: &dyn Fn(&Sample) -> Option<f64>| {
        over_place(context, answers, &cells, label, value)
    };
    let page = |key: &str, title: String, exhibit| Page {
        remarks: vec![places(context)],
        ..Page::of(key, &title, exhibit)
    };
    let mut pages = Vec::new();
    let all = cells(sweep);
    if sweep.figure == Figure::Iops {
        for read_percent in [100, 50, 0] {
            let cells = all.iter().copied().filter(|cell| cell.read_percent == read_percent).collect();
            let title = format!("IOPS by Zone - R/W Mix {}", mix_name(read_percent));
            pages.push(page(&format!("iops-{read_percent}"), title, over(cells, "IOPS", &value)));
        }
        let cells = all.iter().copied().filter(|cell| cell.block_bytes == 4096).collect();
        let title = "Average Response Time by Zone - RND/4KiB".into();
        pages.push(page("response-times", title, over(cells, "ms", &|sample| sample.mean_ms)));
    } else {
        for cells in sweep.passes {
            let size = cells.first().map_or_else(String::new, |cell| block_size(cell.block_bytes.into()));
            let (key, title) = (format!("throughput-{size}"), format!("Throughput by Zone - SEQ/{size}"));
            pages.push(page(&key, title, over(cells.to_vec(), "MB/s", &value)));
        }
    }
    pages.push(page("table", format!("{} - Tabular Data", sweep.test.title), Exhibit::Table(table(answers))));
    pages
}

/// Returns a line chart over the middle of each zone.
fn over_place(
    context: &Context<'_>,
    answers: &ZoneAnswers,
    cells: &[Cell],
    label: &str,
    value: &dyn Fn(&Sample) -> Option<f64>,
) -> Exhibit {
    let point = |sample: &Sample| {
        let zone = zone_of(context, sample.zone);
        Some(((zone.start_bytes + zone.segment_bytes / 2) as f64 / 1e9, value(sample)?))
    };
    let series = |cell: &Cell| Series {
        name: answers.sweep.name(*cell),
        points: samples(answers, *cell).filter_map(point).collect(),
    };
    Exhibit::Lines(Lines::plain(
        ReadingHint::ByPosition,
        ("Position on the disk (GB)", Scale::LinearFromZero),
        (label, Scale::LinearFromZero),
        cells.iter().map(series).collect(),
    ))
}

fn places(context: &Context<'_>) -> String {
    format!(
        "{ZONES} zones of {} from the start of the Test AR, which is the outer edge of most disks.",
        amount_base2(zone_bytes(context))
    )
}

/// Columns of the table: the values in a box plot, and both ends of the disk.
const COLUMNS: [&str; 7] = ["First Zone", "Last Zone", "Minimum", "25 %", "Median", "75 %", "Maximum"];

fn table(answers: &ZoneAnswers) -> Table {
    let row = |cell: Cell| Row { name: answers.sweep.name(cell), cells: row(answers, cell) };
    Table {
        heading: format!("{} ({})", answers.sweep.test.title, unit(answers.sweep)),
        row_heading: "Workload".into(),
        column_heading: "Over the Zones".into(),
        columns: COLUMNS.map(str::to_owned).into(),
        rows: cells(answers.sweep).into_iter().map(row).collect(),
        decimals: 1,
        units: unit(answers.sweep).into(),
    }
}

fn row(answers: &ZoneAnswers, cell: Cell) -> Vec<exhibit::Cell> {
    let limited = samples(answers, cell).any(|sample| sample.host_limited);
    let shown = |value: Option<f64>| exhibit::Cell::of(value, limited, || "not measured".into());
    let mut sorted: Vec<f64> = samples(answers, cell).map(|sample| sample.value).collect();
    sorted.sort_by(f64::total_cmp);
    let ends = [0, ZONES - 1].map(|zone| shown(at(answers, cell, zone).map(|sample| sample.value)));
    let spread = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| shown(quantile(&sorted, share)));
    ends.into_iter().chain(spread).collect()
}

fn at(answers: &ZoneAnswers, cell: Cell, zone: u32) -> Option<&Sample> {
    samples(answers, cell).find(|sample| sample.zone == zone)
}

/// Interpolates linearly between the two nearest of the sorted values.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Some(sorted[below] + (sorted[above] - sorted[below]) * place.fract())
}

/// Returns figures for both ends of the disk, with the smallest random or the largest sequential blocks.
fn key_figures(answers: &ZoneAnswers) -> Vec<KeyFigure> {
    let (block_bytes, decimals) = match answers.sweep.figure {
        Figure::Iops => (4096, 0),
        Figure::Throughput => (1 << 20, 1),
    };
    let figure = |read_percent: u8, zone: u32, place: &str| {
        let cell = Cell { block_bytes, read_percent };
        KeyFigure {
            name: format!("{} {place} zone", answers.sweep.name(cell)),
            key: None,
            value: at(answers, cell, zone).map(|sample| sample.value),
            host_limited: at(answers, cell, zone).is_some_and(|sample| sample.host_limited),
            unit: unit(answers.sweep),
            absent: "n/a",
            decimals,
        }
    };
    let ends = [(0, "first"), (ZONES - 1, "last")];
    [100, 0].into_iter().flat_map(|read| ends.map(|(zone, place)| figure(read, zone, place))).collect()
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_lie_between_the_nearest_values() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(
            [0.0, 0.25, 0.5, 1.0].map(|share| quantile(&sorted, share)),
            [1.0, 1.75, 3.0, 8.0].map(Some)
        );
        assert_eq!((quantile(&[], 0.5), quantile(&[7.0], 0.75)), (None, Some(7.0)));
    }
}
