//! The test's pages: the first writes, the writes after idle times, and a table of the recovery.

use stdx::units::{amount_base10, block_size, grouped};

use super::answers::{BLOCK_BYTES, CHUNKS, DEMAND, IDLE_MINUTES, Stretch, WriteAnswers, has_settled};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Cell, Exhibit, Facts, Lines, Page, Row, Scale, Series, Table, Units};
use crate::exhibits::reading::ReadingHint;
use crate::method::fall::{Fall, Interval, first_fall};
use crate::quality::host_limit::marked;
use crate::{Context, KeyFigure, Outcome, Stop, Test, Unit};

const NONE: &str = "not measured";
const NO_FALL: &str = "no fall";

pub fn outcome(test: &Test, context: &Context<'_>, answers: &WriteAnswers, stop: Option<Stop>) -> Outcome {
    let complete = stop.is_none();
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    answers.incidents.add_to(&mut begun.modified);
    let demand = context.demand(Some(DEMAND));
    let idle = IDLE_MINUTES.map(|minutes| minutes.to_string()).join(", ");
    Outcome {
        purpose:
            "show how much a client drive accepts at the speed of its SLC cache, and how fast it is afterwards"
                .into(),
        outline: format!(
            "purge; write SEQ {} at {demand} until the throughput has fallen and is steady, at most the test range once; \
             then again after {idle} minutes of idle time each",
            block_size(BLOCK_BYTES.into())
        ),
        header: TestHeader {
            queue_depth: Some(demand.queue_depth),
            threads: Some(demand.threads),
            phases: phases(&demand.to_string(), &idle),
            ..begun.header
        },
        pages: pages(answers),
        key_figures: key_figures(answers),
        notes: notes(answers, complete),
        ..begun
    }
}

fn phases(demand: &str, idle: &str) -> Phases {
    Phases {
        stimulus_1: [
            format!("SEQ {} W", block_size(BLOCK_BYTES.into())),
            "0:100".into(),
            block_size(BLOCK_BYTES.into()),
            demand.into(),
            "Until settled".into(),
        ],
        stimulus_2: ["Idle State Host Idle".into(), "N/A".into(), format!("Durations {idle} min")],
        ..Phases::default()
    }
}

fn notes(answers: &WriteAnswers, complete: bool) -> Vec<String> {
    let mut notes: Vec<String> = answers.incidents.note().into_iter().collect();
    let fall = answers.fall();
    if answers.fresh.complete {
        let written = amount_base10(answers.fresh.bytes());
        match fall {
            None => notes.push(format!("NO CACHE FOUND: the throughput does not fall within {written}")),
            Some(fall) if !has_settled(&answers.fresh, Some(fall)) => {
                notes.push(format!("NOT SETTLED: the throughput falls, but is not steady within {written}"));
            }
            Some(_) => {}
        }
    }
    if !complete {
        let done = answers.bursts.iter().filter(|burst| burst.complete).count();
        notes.push(format!("NOT COMPLETE: {done} of {} idle times are measured", IDLE_MINUTES.len()));
    }
    notes
}

/// Recovery of a drive during an idle time.
struct Recovered {
    /// Number of bytes written faster than the settled drive writes.
    bytes: Option<f64>,
    /// Throughput of these writes in bytes per second or, if there are none, of the first chunk.
    rate: Option<f64>,
    /// The reason why the number of bytes is missing, as text.
    absent: &'static str,
    host_limited: bool,
}

fn recovered(answers: &WriteAnswers, index: usize) -> Recovered {
    let Some(burst) = answers.bursts.get(index).filter(|burst| burst.complete) else {
        return Recovered { bytes: None, rate: None, absent: NONE, host_limited: false };
    };
    let fall = first_fall(&burst.intervals);
    let nothing = (answers.fall().is_some() && burst.is_slow(answers.sustained())).then_some(0.0);
    Recovered {
        bytes: fall.map(|fall| fall.bytes).or(nothing),
        rate: fall.map(|fall| fall.before).or_else(|| burst.first_rate()),
        absent: NO_FALL,
        host_limited: burst.host_limited || answers.fresh.host_limited,
    }
}

/// Returns the fall, if the first writes are complete.
fn found(answers: &WriteAnswers) -> Option<Fall> {
    answers.fall().filter(|_| answers.fresh.complete)
}

fn key_figures(answers: &WriteAnswers) -> Vec<KeyFigure> {
    let fall = found(answers);
    let limited = answers.fresh.host_limited;
    let absent = if answers.fresh.complete { NO_FALL } else { NONE };
    let size = |name: String, bytes: Option<f64>, absent, host_limited| KeyFigure {
        name,
        key: None,
        value: bytes.map(|bytes| bytes / 1e9),
        absent,
        unit: Unit::Gigabytes,
        decimals: 2,
        host_limited,
    };
    let rate = |name: String, rate: Option<f64>, absent, host_limited| KeyFigure {
        name,
        key: None,
        value: rate.map(|rate| rate / 1e6),
        absent,
        unit: Unit::MegabytesPerSecond,
        decimals: 0,
        host_limited,
    };
    let mut figures = vec![
        size("SLC cache".into(), fall.map(|fall| fall.bytes), absent, limited),
        rate("Rate in the cache".into(), fall.map(|fall| fall.before), absent, limited),
        rate("Sustained rate".into(), answers.sustained(), NONE, limited),
    ];
    for (index, minutes) in IDLE_MINUTES.into_iter().enumerate() {
        let found = recovered(answers, index);
        let name = format!("Cache after {minutes} min");
        figures.push(size(name, found.bytes, found.absent, found.host_limited));
        figures.push(rate(format!("Rate after {minutes} min"), found.rate, NONE, found.host_limited));
    }
    figures
}

fn pages(answers: &WriteAnswers) -> Vec<Page> {
    let fresh = vec![series("SEQ 128KiB W".into(), &answers.fresh)];
    let mut first = lines_page("over-bytes", "Throughput v Data Written", fresh);
    first.exhibits.push(Exhibit::Facts(facts(answers)));
    first.remarks.push(format!(
        "Each point covers one second, or more in chunks that take more than 32 s; a chunk is 1/{CHUNKS} of the test range. \
         Throughput may also fall because the drive throttles."
    ));
    let bursts = IDLE_MINUTES
        .into_iter()
        .zip(&answers.bursts)
        .map(|(minutes, burst)| series(format!("After {minutes} min idle"), burst))
        .collect();
    let after = lines_page("after-idle", "Throughput v Data Written After Idle Time", bursts);
    vec![first, after, table_page(answers)]
}

fn lines_page(key: &str, title: &str, series: Vec<Series>) -> Page {
    let (x, y) = (("Data written (GB)", Scale::LinearFromZero), ("MB/s", Scale::LinearFromZero));
    Page::of(key, title, Exhibit::Lines(Lines::plain(ReadingHint::SustainedWrites, x, y, series)))
}

/// Throughput over the bytes written up to the end of each interval.
fn series(name: String, stretch: &Stretch) -> Series {
    let mut written = 0;
    let mut point = |interval: &Interval| {
        written += interval.bytes;
        (written as f64 / 1e9, interval.bytes as f64 / interval.seconds / 1e6)
    };
    Series { name, points: stretch.intervals.iter().map(&mut point).collect() }
}

fn facts(answers: &WriteAnswers) -> Facts {
    let items = key_figures(answers).into_iter().take(3).map(|figure| {
        let value = figure.value.map(|value| format!("{} {}", grouped(value, figure.decimals), figure.unit));
        let value = value.map(|text| marked(text, figure.host_limited));
        (figure.name, value.unwrap_or_else(|| figure.absent.into()))
    });
    Facts { heading: "SLC Cache".into(), items: items.collect(), host_limited: answers.fresh.host_limited }
}

fn table_page(answers: &WriteAnswers) -> Page {
    let mut page = Page::of("table", "Recovery in Idle Time - Tabular Data", Exhibit::Table(table(answers)));
    page.remarks.push(
        "Cache: the amount written before the throughput falls; 0 if no chunk is faster than 1.2 times the sustained rate."
            .into(),
    );
    page
}

fn table(answers: &WriteAnswers) -> Table {
    let all: Vec<Recovered> = (0..IDLE_MINUTES.len()).map(|index| recovered(answers, index)).collect();
    let size = found(answers).map(|fall| fall.bytes);
    let row = |name: &str, value: &dyn Fn(&Recovered) -> Option<f64>| Row {
        name: name.into(),
        cells: all
            .iter()
            .map(|found| Cell::of(value(found), found.host_limited, || found.absent.into()))
            .collect(),
    };
    Table {
        heading: "Recovery in Idle Time".into(),
        row_heading: "SEQ 128KiB W".into(),
        column_heading: "Idle time".into(),
        columns: IDLE_MINUTES.map(|minutes| format!("{minutes} min")).into(),
        rows: vec![
            row("Cache (GB)", &|found| Some(found.bytes? / 1e9)),
            row("Share of the whole cache (%)", &|found| Some(100.0 * found.bytes? / size?)),
            row("Rate (MB/s)", &|found| Some(found.rate? / 1e6)),
        ],
        decimals: 2,
        units: Units::OfRows(["GB", "%", "MB/s"].map(str::to_owned).into()),
    }
}
