//! Pages of a custom test: steady state, tables and charts over the loop dimensions, and the knee.

mod header;
mod layout;
mod replayed;
mod streams;

use std::collections::BTreeMap;

use stdx::units::grouped;

use super::answers::CustomAnswers;
use super::figures::{self, Figure, Load, Mean, demand_name, key_figure, outstanding};
use super::knee::{Knee, Point};
use super::means::means;
use crate::DemandSweep;
use crate::conclusions::judged_loop::JudgedLoop;
use crate::conclusions::modified::{by_purge, by_segments, by_skips, skip_note};
use crate::exhibits::exhibit::{Exhibit, Facts, Lines, Page, Scale, Series};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::window_pages;
use crate::method::explain::{explain, remarks};
use crate::method::steady::WindowStats;
use crate::method::timeline::course;
use crate::quality::host_limit::marked;
use crate::{Context, Deviation, KeyFigure, Outcome, Stop};
use header::{header, outline};
use layout::Layout;
use record::{CustomFigure, CustomRounds};
use replayed::{replayed_figures, replayed_note, replayed_pages};
use streams::streams_page;

/// Cells of at least this length are plotted over time, if a round has few cells.
const LONG_NS: u64 = 300 * stdx::units::SECOND_NS;
const FEW_CELLS: usize = 4;
const SAMPLES: usize = 300;
/// Number of figures on the summary page.
const KEY_FIGURES: usize = 4;

pub fn outcome(context: &Context<'_>, answers: &CustomAnswers<'_>, stop: Option<Stop>) -> Outcome {
    let complete = stop.is_none();
    let means = means(context, answers);
    let window = answers.steady.clone().unwrap_or_else(|| answers.history.named_window());
    let judged = !answers.tracked.is_empty();
    let converged = answers.steady.is_some();
    let mut header = header(context, answers);
    if judged {
        header = header.judged(converged, complete, window.first().map(|(_, stats)| stats));
    }
    Outcome {
        test: answers.test.name.clone(),
        title: answers.test.title.clone(),
        subject: answers.test.title.clone(),
        clause: None,
        purpose: answers.test.purpose.clone(),
        outline: outline(context, answers),
        header,
        // A replay is a single round.
        rounds: if answers.replayed < answers.test.steps.len() { 0 } else { answers.rounds.len() as u32 },
        converged: (judged && (complete || converged)).then_some(converged),
        ending: None,
        acceptance: None,
        marks: Vec::new(),
        explained: if judged { explain(&answers.history) } else { Vec::new() },
        loops: judged.then(|| loop_of(answers, &window)).into_iter().collect(),
        window,
        tracked_unit: judged.then(|| figures::unit(answers.test.figure)),
        pages: pages(context, answers, &means).into_iter().flat_map(Page::split).collect(),
        beyond: Vec::new(),
        sweeps: if answers.test.steps.is_empty() { sweeps(answers, &means) } else { Vec::new() },
        key_figures: match answers.test.steps.is_empty() {
            true => key_figures(answers, &means),
            false => replayed_figures(context, answers),
        },
        notes: notes(context, answers, &means, complete),
        modified: modified(context, answers),
        host_limited: None,
        stop,
    }
}

fn loop_of(answers: &CustomAnswers<'_>, window: &[(String, WindowStats)]) -> JudgedLoop {
    JudgedLoop {
        name: "",
        rounds: if answers.replayed < answers.test.steps.len() { 0 } else { answers.rounds.len() as u32 },
        converged: answers.steady.is_some(),
        window: window.first().map(|(_, stats)| *stats),
        only_step: None,
    }
}

fn modified(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Vec<Deviation> {
    let mut all = vec![Deviation::Custom { title: answers.test.title.clone() }];
    by_purge(answers.purge.as_ref(), &mut all);
    by_skips(answers.skipped.iter().map(|bytes| skip_note(*bytes, context.target)), &mut all);
    by_segments(answers.precondition.iter().chain(answers.rounds.iter().flatten()), &mut all);
    all
}

fn notes(context: &Context<'_>, answers: &CustomAnswers<'_>, means: &[Mean], complete: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !complete && !answers.test.steps.is_empty() {
        notes.push(replayed_note(answers));
    } else if !complete {
        notes.push(match answers.rounds.len() {
            0 => "NOT COMPLETE: no round is complete, so there are no figures yet".into(),
            _ => format!("NOT COMPLETE: figures are those of rounds {}", answers.result_names()),
        });
    } else if !answers.tracked.is_empty() && answers.steady.is_none() {
        let rounds = answers.rounds.len();
        let names = answers.result_names();
        notes.push(format!(
            "SS NOT ACHIEVED: no steady state in {rounds} rounds; results are the mean of rounds {names}"
        ));
        notes.extend(remarks(&answers.history));
    }
    notes.extend(proposed(answers, means));
    notes.extend(context.maxima_note());
    notes
}

fn pages(context: &Context<'_>, answers: &CustomAnswers<'_>, means: &[Mean]) -> Vec<Page> {
    if !answers.test.steps.is_empty() {
        return replayed_pages(context, answers);
    }
    let mut pages: Vec<Page> = streams_page(&answers.test.streams).into_iter().collect();
    if answers.test.finds_knee {
        pages.push(knee_page(means));
    }
    let layout = Layout::of(means);
    let remark = match (answers.rounds.len(), answers.test.rounds) {
        (0, _) | (_, CustomRounds::Fixed(1)) => None,
        _ => Some(format!("Mean of rounds {}.", answers.result_names())),
    };
    for figure in Figure::shown(answers.test.figure, context.has_maxima()) {
        let title = format!("{} - Tabular Data", figure.heading());
        let tables = layout.tables(figure, means).into_iter().map(Exhibit::Table).collect();
        pages.push(Page {
            key: Some(format!("table-{}", figure.key()).into()),
            title,
            names_test: false,
            exhibits: tables,
            remarks: remark.clone().into_iter().collect(),
        });
    }
    let drawn = [Figure::from(answers.test.figure), Figure::MeanLatency];
    let drawn = if drawn[0] == drawn[1] { &drawn[..1] } else { &drawn[..] };
    for figure in drawn {
        let maps = layout.maps(*figure, means);
        if !maps.is_empty() {
            pages.push(Page {
                key: Some(format!("map-{}", figure.key()).into()),
                title: format!("{} - TC x QD Map", figure.heading()),
                names_test: false,
                exhibits: maps.into_iter().map(Exhibit::HeatMap).collect(),
                remarks: remark.clone().into_iter().collect(),
            });
        } else if let Some(lines) = layout.lines(*figure, means) {
            let title = format!("{} - 2D Plot", figure.heading());
            pages.push(Page {
                remarks: remark.clone().into_iter().collect(),
                ..Page::of(format!("plot-{}", figure.key()), &title, Exhibit::Lines(lines))
            });
        }
    }
    pages.extend(times_by_rate(means));
    pages.extend(over_time(context, answers));
    pages.extend(judged_pages(context, answers));
    pages
}

/// Shows the tracking variables over all rounds, and the window on which the verdict is based.
fn judged_pages(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Vec<Page> {
    let unit = figures::unit(answers.test.figure);
    let window = answers.steady.clone().unwrap_or_else(|| answers.history.named_window());
    let mut pages = Vec::new();
    for (index, place) in answers.tracked.iter().enumerate() {
        let value = |round: &Vec<record::Segment>| figures::value(answers.test.figure, round.get(*place)?);
        let points: Vec<(f64, f64)> = (1..)
            .zip(&answers.rounds)
            .filter_map(|(number, round)| Some((f64::from(number), value(round)?)))
            .collect();
        let name = figures::name(context, &answers.cells[*place]);
        let judged = window.get(index).map(|(_, stats)| stats);
        pages.push(window_pages::history(&name, unit, points.clone(), judged));
        pages.push(window_pages::determination(&name, unit, points, judged, context.profile));
    }
    pages
}

/// Response times over IOPS, one line per workload, if the demand varies. Cells with the same number of
/// outstanding I/Os are averaged.
fn times_by_rate(means: &[Mean]) -> Option<Page> {
    let of = |load: (Load, u32)| {
        let mut by_outstanding: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        for mean in means.iter().filter(|mean| (mean.load, mean.block_bytes) == load) {
            let cells = by_outstanding.entry(outstanding(mean.demand)).or_default();
            cells.extend(mean.mean_ms.map(|ms| (mean.iops, ms)));
        }
        let average = |cells: Vec<(f64, f64)>| {
            let count = cells.len() as f64;
            let sum = cells.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
            (sum.0 / count, sum.1 / count)
        };
        let points: Vec<(f64, f64)> =
            by_outstanding.into_values().filter(|cells| !cells.is_empty()).map(average).collect();
        (points.len() > 1).then(|| Series { name: load.0.name(Some(load.1)), points })
    };
    let series: Vec<Series> = loads(means).into_iter().filter_map(of).collect();
    let (x, y) = (("IOPS", Scale::LinearFromZero), ("ART (ms)", Scale::Log10));
    let lines = || Lines::plain(ReadingHint::Intensity, x, y, series.clone());
    (!series.is_empty()).then(|| Page::of("times-by-rate", "Response Time v IOPS", Exhibit::Lines(lines())))
}

/// Shows IOPS or MB/s over time within long cells, one cell after another.
fn over_time(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Option<Page> {
    let long = |cell: &record::CustomCell| cell.run_ns >= LONG_NS;
    if answers.cells.len() > FEW_CELLS || !answers.cells.iter().any(long) {
        return None;
    }
    let round = answers.rounds.last()?;
    let is_rate = answers.test.figure == record::CustomFigure::MegabytesPerSecond;
    let (mut start, mut series) = (0.0, Vec::new());
    for (cell, segment) in answers.cells.iter().zip(round) {
        let minutes = cell.run_ns as f64 / 60e9;
        let samples = course(segment, start, minutes, SAMPLES);
        let value = |sample: &crate::method::timeline::Sample| {
            if is_rate { sample.megabytes_per_second } else { sample.iops }
        };
        let points = samples.iter().map(|sample| (sample.minute, value(sample))).collect();
        series.push(Series { name: figures::name(context, cell), points });
        start += minutes;
    }
    let (x, label) = (("Time (minutes)", Scale::LinearFromZero), if is_rate { "MB/s" } else { "IOPS" });
    let lines = Lines::plain(ReadingHint::CellsOverTime, x, (label, Scale::LinearFromZero), series);
    let key = if is_rate { "throughput-over-time" } else { "iops-over-time" };
    Some(Page::of(key, &format!("{label} v Time"), Exhibit::Lines(lines)))
}

/// The workloads with their block sizes, in loop order.
fn loads(means: &[Mean]) -> Vec<(Load, u32)> {
    let mut all = Vec::new();
    for mean in means {
        if !all.contains(&(mean.load, mean.block_bytes)) {
            all.push((mean.load, mean.block_bytes));
        }
    }
    all
}

fn points_of(means: &[Mean], load: (Load, u32)) -> Vec<Point> {
    let same = means.iter().filter(|mean| (mean.load, mean.block_bytes) == load);
    let point = |mean: &Mean| Point {
        demand: mean.demand,
        iops: mean.iops,
        mean_ms: mean.mean_ms,
        host_limited: mean.host_limited,
    };
    same.map(point).collect()
}

/// Shows the IOPS or MB/s of each workload over its number of outstanding I/Os.
fn sweeps(answers: &CustomAnswers<'_>, means: &[Mean]) -> Vec<DemandSweep> {
    let figure = match answers.test.figure {
        CustomFigure::MegabytesPerSecond => Figure::Megabytes,
        CustomFigure::Iops | CustomFigure::MeanLatency => Figure::Iops,
    };
    let of = |load: (Load, u32)| {
        let same = means.iter().filter(|mean| (mean.load, mean.block_bytes) == load);
        let cells =
            same.filter_map(|mean| Some((outstanding(mean.demand), figure.of(mean)?, mean.host_limited)));
        DemandSweep::of(load.0.name(Some(load.1)), figure.unit(), cells)
    };
    loads(means).into_iter().filter_map(of).collect()
}

/// Returns the knee of each workload, unless one of its cells has too few I/Os.
fn knees(means: &[Mean]) -> Vec<(String, Knee)> {
    let is_sound =
        |load: &(Load, u32)| !means.iter().any(|mean| (mean.load, mean.block_bytes) == *load && mean.coarse);
    let of = |load: (Load, u32)| Some((load.0.name(Some(load.1)), Knee::of(&points_of(means, load))?));
    loads(means).into_iter().filter(is_sound).filter_map(of).collect()
}

fn proposal(knees: &[(String, Knee)]) -> Option<Point> {
    // `max_by_key` returns the last of several equal elements; because of `rev`, that is the first of the knees
    // with equal demand.
    let all = knees.iter().rev().map(|(_, knee)| knee.at);
    all.max_by_key(|point| outstanding(point.demand))
}

/// Returns the note about the proposed demand, if the plan requests the knee.
fn proposed(answers: &CustomAnswers<'_>, means: &[Mean]) -> Option<String> {
    let knees = knees(means);
    let point = proposal(&knees).filter(|_| answers.test.finds_knee)?;
    let (name, knee) = knees.iter().find(|(_, knee)| knee.at == point)?;
    Some(format!(
        "proposed: {}, the knee of {name} ({} IOPS; {name} reaches 95 % of its maximum at {})",
        demand_name(point.demand),
        grouped(point.iops, 0),
        demand_name(knee.saturated.demand)
    ))
}

fn knee_page(means: &[Mean]) -> Page {
    let knees = knees(means);
    let point = |point: &Point| {
        let ms = point.mean_ms.map_or_else(|| "n/a".into(), |ms| grouped(ms, 3));
        let iops = marked(grouped(point.iops, 0), point.host_limited);
        format!("{}: {iops} IOPS, ART {ms} ms", demand_name(point.demand))
    };
    let mut items = Vec::new();
    for (name, knee) in &knees {
        items.push((format!("{name}, knee"), point(&knee.at)));
        items.push((format!("{name}, 95 % of the maximum"), point(&knee.saturated)));
        items.push((format!("{name}, maximum"), point(&knee.highest)));
    }
    let proposed =
        proposal(&knees).map_or_else(|| "not enough measurements".into(), |point| demand_name(point.demand));
    items.push(("Proposed TC and QD".into(), proposed));
    let mut shown = knees.iter().flat_map(|(_, knee)| [knee.at, knee.saturated, knee.highest]);
    let host_limited = shown.any(|point| point.host_limited);
    let facts = Facts { heading: "Knee over demand".into(), items, host_limited };
    let remarks = vec![
        "Knee: the point with the highest IOPS per ms of average response time. Below the knee, doubling the \
         outstanding I/Os yields more than 1.41 times the IOPS; above the knee, less. The proposal is the knee \
         with the most outstanding I/Os among all loads."
            .into(),
    ];
    Page { remarks, ..Page::of("knee", "Demand Intensity - Knee", Exhibit::Facts(facts)) }
}

/// Returns one figure per cell for a short loop, each workload's best cell for a long loop, and the knees for a map.
fn key_figures(answers: &CustomAnswers<'_>, means: &[Mean]) -> Vec<KeyFigure> {
    if answers.test.finds_knee {
        let knees = knees(means);
        let proposed = proposal(&knees).map(|point| point.demand);
        let figure = |(name, knee): &(String, Knee)| {
            let proposed = if Some(knee.at.demand) == proposed { ", proposed" } else { "" };
            KeyFigure {
                key: Some(format!("{name} knee")),
                ..key_figure(
                    format!("{name} knee at {}{proposed}", demand_name(knee.at.demand)),
                    Figure::Iops,
                    Some(knee.at.iops),
                    knee.at.host_limited,
                )
            }
        };
        return knees.iter().map(figure).take(KEY_FIGURES).collect();
    }
    let figure = Figure::from(answers.test.figure);
    let name =
        |mean: &Mean| format!("{} {}", mean.load.name(Some(mean.block_bytes)), demand_name(mean.demand));
    if means.len() <= KEY_FIGURES {
        let shown = |mean| key_figure(name(mean), figure, figure.of(mean), mean.host_limited);
        return means.iter().map(shown).collect();
    }
    let mut all: Vec<Load> = Vec::new();
    for mean in means {
        if !all.contains(&mean.load) {
            all.push(mean.load);
        }
    }
    let best = |load: Load| {
        let same = means.iter().filter(|mean| mean.load == load);
        same.filter_map(|mean| Some((mean, figure.of(mean)?)))
            .reduce(|best, other| if figure.is_better(other.1, best.1) { other } else { best })
    };
    let chosen = all.into_iter().filter_map(best).take(KEY_FIGURES);
    chosen
        .map(|(mean, value)| {
            let is_choice = means.iter().filter(|other| other.load == mean.load).count() > 1;
            let best = if is_choice { "best " } else { "" };
            key_figure(format!("{best}{}", name(mean)), figure, Some(value), mean.host_limited)
        })
        .collect()
}
