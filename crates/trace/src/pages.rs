//! The tables and charts of a trace.

use chartdata::ReadingHint;
use chartdata::exhibit::{Bars, Cell, Exhibit, Facts, Lines, Page, Row, Scale, Series, Table, Units};
use stdx::Histogram;
use stdx::units::{amount_base2, amount_base10, grouped, span};

use crate::characteristics::{Characteristics, Step};

/// Number of streams in tables; composites commonly have this many.
pub const TOP_STREAMS: usize = 9;
/// Number of streams that have their own line in charts.
const DRAWN_STREAMS: usize = 6;
const MIB: f64 = 1024.0 * 1024.0;

/// Returns all pages of a trace.
#[must_use]
pub fn pages(of: &Characteristics) -> Vec<Page> {
    let mut all = vec![
        Page::of("trace", "Trace", Exhibit::Facts(facts(of))),
        composition(of),
        course(of, "streams", "IO Streams v Time", "IOPS", streams(of)),
        course(of, "iops", "IOPS v Time", "IOPS", directions(of, |step, op| step.ios[op] as f64)),
        course(
            of,
            "throughput",
            "Throughput v Time",
            "Throughput (MB/s)",
            directions(of, |step, op| step.bytes[op] as f64 / 1e6),
        ),
    ];
    if of.summary.completed > 0 {
        all.push(course(of, "depth", "Outstanding I/Os v Time", "Mean outstanding I/Os", depth(of)));
        all.push(response_times(of));
    }
    all.extend([locality(of), reuse(of)]);
    // Without completions, the drive would seem idle all the time.
    if of.summary.completed > 0 {
        all.extend(idle(of));
    }
    all.extend(bursts(of));
    all
}

/// Returns the totals as labelled values.
#[must_use]
pub fn facts(of: &Characteristics) -> Facts {
    let summary = of.summary;
    let count = |count: u64| grouped(count as f64, 0);
    let mut items = vec![
        ("I/Os".into(), count(summary.ios)),
        ("Length".into(), span(summary.end_ns)),
        ("Mean IOPS".into(), grouped(of.iops(), 1)),
        ("Reads".into(), format!("{} % of reads and writes", grouped(of.read_percent(), 1))),
        ("Read".into(), amount_base10(summary.read_bytes)),
        ("Written".into(), amount_base10(summary.written_bytes)),
        ("Volume".into(), format!("at least {}", amount_base10(summary.end_bytes))),
        ("Streams".into(), count(of.streams.len() as u64)),
    ];
    for (name, times) in ["Response time of reads", "Response time of writes"].iter().zip(&of.responses) {
        items.extend(quantiles(times).map(|text| ((*name).to_owned(), text)));
    }
    if let (Some(median), Some(most)) = (of.depths.quantile(0.5), of.depths.max()) {
        let mean = of.depths.mean().unwrap_or_default();
        items.push((
            "Outstanding I/Os".into(),
            format!("mean {}, median {median}, most {most}", grouped(mean, 1)),
        ));
    }
    if summary.completed > 0 {
        let share = 100.0 * of.idle.total_ns as f64 / summary.end_ns.max(1) as f64;
        items.push(("Idle".into(), format!("{} % of the time", grouped(share, 1))));
    }
    if summary.completed < summary.ios {
        let missing = summary.ios - summary.completed;
        items.push(("Without completion".into(), format!("{} I/Os", count(missing))));
    }
    if of.origin.resolution_ns > 1_000_000 {
        items.push(("Resolution of times".into(), span(of.origin.resolution_ns)));
    }
    if summary.lost_events > 0 {
        items.push(("Lost by the tracer".into(), format!("{} events", count(summary.lost_events))));
    }
    if summary.moved > 0 {
        items.push(("Moved in time".into(), format!("{} I/Os", count(summary.moved))));
    }
    if of.origin.is_anonymised {
        items.push(("Addresses".into(), "anonymised".into()));
    }
    Facts { heading: "Trace".into(), items, host_limited: false }
}

fn quantiles(times: &Histogram) -> Option<String> {
    let at = |share: f64| times.quantile(share).map_or_else(String::new, |ns| grouped(ns as f64 / 1e6, 3));
    times.mean().map(|mean| {
        format!("mean {} ms, median {} ms, 99 % {} ms", grouped(mean / 1e6, 3), at(0.5), at(0.99))
    })
}

/// Returns the table of the top streams.
#[must_use]
pub fn streams_table(of: &Characteristics) -> Table {
    let all = of.summary.ios.max(1) as f64;
    let bytes = (of.summary.read_bytes + of.summary.written_bytes).max(1) as f64;
    let mut cumulative = 0.0;
    let row = |stream: &crate::Stream| {
        let share = 100.0 * stream.ios as f64 / all;
        cumulative += share;
        let moved =
            if stream.kind.op.transfers() { stream.ios as f64 * f64::from(stream.kind.bytes) } else { 0.0 };
        Row {
            name: stream.kind.to_string(),
            cells: vec![
                Cell::Value(stream.ios as f64),
                Cell::Value(share),
                Cell::Value(cumulative),
                Cell::Value(100.0 * moved / bytes),
                Cell::of(stream.mean_ms(), false, || "n/a".into()),
            ],
        }
    };
    Table {
        heading: "IO Streams".into(),
        row_heading: "Stream".into(),
        column_heading: String::new(),
        columns: ["I/Os", "Share (%)", "Cumulative (%)", "Bytes (%)", "Mean (ms)"].map(String::from).into(),
        rows: of.streams.iter().take(TOP_STREAMS).map(row).collect(),
        decimals: 2,
        units: Units::OfColumns(["", "%", "%", "%", "ms"].map(String::from).into()),
    }
}

fn composition(of: &Characteristics) -> Page {
    let table = streams_table(of);
    let others = of.streams.len().saturating_sub(TOP_STREAMS);
    let remarks = vec![format!(
        "An I/O is sequential (SEQ) if it begins where one of the 16 latest runs of its operation ended. {}",
        if others > 0 {
            format!("{others} further streams are not shown.")
        } else {
            "All streams are shown.".into()
        }
    )];
    Page { remarks, ..Page::of("composition", "IO Stream Composition", Exhibit::Table(table)) }
}

fn middle_s(of: &Characteristics, step: usize) -> f64 {
    (step as f64 + 0.5) * of.step_ns as f64 / 1e9
}

fn per_second(of: &Characteristics) -> f64 {
    1e9 / of.step_ns as f64
}

fn over_time(of: &Characteristics, name: &str, value: impl Fn(&Step) -> f64) -> Series {
    let points = of.steps.iter().enumerate().map(|(index, step)| (middle_s(of, index), value(step)));
    Series { name: name.into(), points: points.collect() }
}

fn directions(of: &Characteristics, value: fn(&Step, usize) -> f64) -> Vec<Series> {
    let rate = per_second(of);
    [("Reads", 0), ("Writes", 1)]
        .into_iter()
        .map(|(name, op)| over_time(of, name, |step| value(step, op) * rate))
        .filter(|series| series.points.iter().any(|point| point.1 > 0.0))
        .collect()
}

fn streams(of: &Characteristics) -> Vec<Series> {
    let rate = per_second(of);
    let drawn = of.streams.len().min(DRAWN_STREAMS);
    let mut all: Vec<Series> = (0..drawn)
        .map(|place| {
            over_time(of, &of.streams[place].kind.to_string(), |step| step.streams[place] as f64 * rate)
        })
        .collect();
    if of.streams.len() > drawn {
        let rest = |step: &Step| step.streams[drawn..].iter().sum::<u64>() as f64 * rate;
        all.push(over_time(of, "Others", rest));
    }
    all
}

/// The mean number of outstanding I/Os is the sum of the times during which each was outstanding, over time.
fn depth(of: &Characteristics) -> Vec<Series> {
    vec![over_time(of, "Outstanding", |step| step.served.outstanding_ns as f64 / of.step_ns as f64)]
}

fn course(of: &Characteristics, key: &str, title: &str, y: &str, series: Vec<Series>) -> Page {
    let lines = Lines::plain(
        ReadingHint::WorkloadOverTime,
        ("Time (s)", Scale::Fitted),
        (y, Scale::LinearFromZero),
        series,
    );
    let remark = format!("Each point is the mean of {}.", span(of.step_ns));
    Page { remarks: vec![remark], ..Page::of(key, title, Exhibit::Lines(lines)) }
}

fn response_times(of: &Characteristics) -> Page {
    let points = |value: fn(&Step) -> Option<f64>| {
        let with_value = |(index, step): (usize, &Step)| Some((middle_s(of, index), value(step)?));
        of.steps.iter().enumerate().filter_map(with_value).filter(|point| point.1 > 0.0).collect()
    };
    let most = |step: &Step| (step.served.completed > 0).then_some(step.served.response_max_ns as f64 / 1e6);
    let series = vec![
        Series { name: "Mean".into(), points: points(Step::mean_ms) },
        Series { name: "Maximum".into(), points: points(most) },
    ];
    let x = ("Time (s)", Scale::Fitted);
    let lines = Lines::plain(ReadingHint::WorkloadOverTime, x, ("Response time (ms)", Scale::Log10), series);
    Page::of("response-times", "Response Times v Time", Exhibit::Lines(lines))
}

fn locality(of: &Characteristics) -> Page {
    let all = of.regions.iter().map(|region| region.reads + region.writes).sum::<u64>().max(1) as f64;
    let series = |name: &str, count: fn(&crate::Region) -> u64| {
        let middle = |index: usize| (index as f64 + 0.5) * of.region_bytes as f64 / MIB;
        let point =
            |(index, region): (usize, &crate::Region)| (middle(index), 100.0 * count(region) as f64 / all);
        Series { name: name.into(), points: of.regions.iter().enumerate().map(point).collect() }
    };
    let lines = Lines::plain(
        ReadingHint::Locality,
        ("Offset (MiB)", Scale::Fitted),
        ("Share of I/Os (%)", Scale::LinearFromZero),
        vec![series("Reads", |region| region.reads), series("Writes", |region| region.writes)],
    );
    let remarks = vec![hot(of)];
    Page { remarks, ..Page::of("locality", "Spatial Locality", Exhibit::Lines(lines)) }
}

/// Returns how concentrated the accesses are.
#[must_use]
pub fn hot(of: &Characteristics) -> String {
    let mut counts: Vec<u64> = of.regions.iter().map(|region| region.reads + region.writes).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let share = |percent: usize| {
        let most = (counts.len() * percent).div_ceil(100);
        grouped(100.0 * counts[..most].iter().sum::<u64>() as f64 / all, 0)
    };
    let touched = counts.iter().filter(|count| **count > 0).count();
    format!(
        "{touched} of {} regions of {} are accessed; the busiest 10 % receive {} % of the I/Os, the busiest 20 % {} %.",
        counts.len(),
        amount_base2(of.region_bytes),
        share(10),
        share(20)
    )
}

fn reuse(of: &Characteristics) -> Page {
    let point = |(power, share): (usize, f64)| (4096.0 * (power as f64).exp2() / MIB, 100.0 * share);
    let points = of.reuse.cumulative().into_iter().enumerate().map(point).collect();
    let lines = Lines::plain(
        ReadingHint::ReuseDistance,
        ("Other data in between (MiB)", Scale::Log10),
        ("Share of accesses (%)", Scale::LinearFromZero),
        vec![Series { name: "Accessed again".into(), points }],
    );
    let all = of.reuse.first + of.reuse.again.iter().sum::<f64>();
    let share = 100.0 * of.reuse.first / all.max(1.0);
    let remarks = vec![format!(
        "{} % of the accesses to 4 KiB blocks are the first access to their block. Large traces are estimated from a sample of blocks.",
        grouped(share, 1)
    )];
    Page { remarks, ..Page::of("reuse", "Reuse Distance", Exhibit::Lines(lines)) }
}

fn idle(of: &Characteristics) -> Option<Page> {
    const LIMITS_NS: [(u64, &str); 7] = [
        (100_000, "up to 0.1 ms"),
        (1_000_000, "0.1 to 1 ms"),
        (10_000_000, "1 to 10 ms"),
        (100_000_000, "10 to 100 ms"),
        (1_000_000_000, "0.1 to 1 s"),
        (10_000_000_000, "1 to 10 s"),
        (u64::MAX, "more than 10 s"),
    ];
    of.idle.times.max()?;
    let mut counts = [0u64; LIMITS_NS.len()];
    for (slot, count) in of.idle.times.filled() {
        let (lower_ns, _) = stdx::histogram::slot_bounds(slot);
        let place = LIMITS_NS.iter().position(|(limit, _)| lower_ns <= *limit).unwrap_or(LIMITS_NS.len() - 1);
        counts[place] += count;
    }
    let bars = Bars {
        reading: ReadingHint::WorkloadBars,
        name_label: "Length of the idle time".into(),
        value_label: "Idle times".into(),
        bars: LIMITS_NS
            .iter()
            .zip(counts)
            .map(|((_, name), count)| ((*name).into(), Some(count as f64)))
            .collect(),
    };
    Some(Page::of("idle", "Idle Times", Exhibit::Bars(bars)))
}

fn bursts(of: &Characteristics) -> Option<Page> {
    let row = |burst: &crate::Burst| Row {
        name: span(burst.window_ns),
        cells: [
            burst.mean,
            burst.peak as f64,
            burst.peak as f64 / burst.mean.max(f64::MIN_POSITIVE),
            burst.dispersion,
        ]
        .map(Cell::Value)
        .into(),
    };
    let table = Table {
        heading: "Burstiness".into(),
        row_heading: "Window".into(),
        column_heading: "I/Os per window".into(),
        columns: ["Mean", "Peak", "Peak/mean", "Dispersion"].map(String::from).into(),
        rows: of.bursts.iter().map(row).collect(),
        decimals: 1,
        units: Units::All(String::new()),
    };
    let remarks = vec![
        "Dispersion is the variance of the number of I/Os divided by its mean: 0 for a constant rate, 1 for independent arrivals, \
         more for bursts."
            .to_owned(),
    ];
    (!of.bursts.is_empty())
        .then(|| Page { remarks, ..Page::of("bursts", "Burstiness", Exhibit::Table(table)) })
}
