//! Pages of the XSR test: five in PTS-E 1.1, three in PTS 2.0.

use stdx::units::{block_size, grouped};

use super::answers::{CrossAnswers, DEMAND, GROUPS, Group};
use super::figures::{recovery as recovery_of_all, recovery_of_last_hour};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Cell, Exhibit, Facts, Lines, Page, Row, SCALED, Scale, Series, Table, Units};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::response;
use crate::exhibits::unit::Unit;
use crate::method::profile::Edition;
use crate::method::timeline::{Sample, is_host_limited};
use crate::quality::host_limit::marked;
use crate::{Context, KeyFigure, Outcome, Stop, Test};

/// Minutes shown before and after a change of access group.
const NEAR_CHANGE_MINUTES: f64 = 120.0;

pub fn outcome(test: &Test, context: &Context<'_>, answers: &CrossAnswers, stop: Option<Stop>) -> Outcome {
    let demand = context.demand(Some(DEMAND));
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    answers.incidents.add_to(&mut begun.modified);
    begun.notes.extend(answers.incidents.note());
    begun.notes.extend(context.maxima_note());
    if begun.stop.is_some() {
        begun.notes.push(format!(
            "NOT COMPLETE: {} of {} access groups are complete",
            answers.groups.len(),
            GROUPS.len()
        ));
    }
    Outcome {
        purpose: "show how a drive recovers from a change between sequential and random writes".into(),
        outline: "purge; write SEQ 1024KiB for 8 h, RND 8KiB for 6 h and SEQ 1024KiB for 8 h without a pause"
            .into(),
        header: TestHeader {
            threads: Some(demand.threads),
            queue_depth: Some(demand.queue_depth),
            phases: Phases {
                stimulus_1: [
                    "SEQ 1024KiB W",
                    "0:100",
                    "1024KiB",
                    &demand.to_string(),
                    "8 h, and another 8 h at the end",
                ]
                .map(str::to_owned),
                stimulus_2: ["RND 8KiB W", &demand.to_string(), "6 h"].map(str::to_owned),
                ..Phases::default()
            },
            ..begun.header
        },
        pages: pages(context, answers),
        key_figures: key_figures(answers),
        ..begun
    }
}

fn name_of(index: usize, group: &Group) -> String {
    let access = if group.access == record::Access::Sequential { "SEQ" } else { "RND" };
    format!("AG{} {access} {} W", index + 1, block_size(u64::from(group.block_bytes)))
}

/// Returns one series per access group up to the last that is shown. Earlier groups stay, without points if they are not
/// shown, because the position of a series determines its colour: a group looks the same on all pages.
fn series(
    answers: &CrossAnswers,
    value: fn(&Sample) -> Option<f64>,
    shown: &dyn Fn(f64) -> bool,
) -> Vec<Series> {
    let group = |(index, samples): (usize, &Vec<Sample>)| Series {
        name: name_of(index, &GROUPS[index]),
        points: samples
            .iter()
            .filter(|sample| shown(sample.minute))
            .filter_map(|sample| Some((sample.minute, value(sample)?)))
            .collect(),
    };
    let mut series: Vec<Series> = answers.groups.iter().enumerate().map(group).collect();
    let last = series.iter().rposition(|series| !series.points.is_empty());
    series.truncate(last.map_or(0, |last| last + 1));
    series
}

fn over_time(label: &str, scale: Scale, series: Vec<Series>) -> Exhibit {
    let (x, y) = (("Time (minutes)", scale), (label, Scale::LinearFromZero));
    Exhibit::Lines(Lines::plain(ReadingHint::AccessGroups, x, y, series))
}

fn throughput(sample: &Sample) -> Option<f64> {
    Some(sample.megabytes_per_second)
}

fn average(sample: &Sample) -> Option<f64> {
    sample.mean_ms
}

fn maximum(sample: &Sample) -> Option<f64> {
    sample.max_ms
}

fn pages(context: &Context<'_>, answers: &CrossAnswers) -> Vec<Page> {
    let all = |label: &str, value| over_time(label, Scale::Fitted, series(answers, value, &|_| true));
    let mut pages =
        vec![Page::of("throughput-over-time", "TP v Time - All Access Groups", all("MB/s", throughput))];
    if context.profile.edition >= Edition::V2_0 {
        let response = ["ART", "MRT"].into_iter().zip([average as fn(&Sample) -> Option<f64>, maximum]);
        let shown = if context.has_maxima() { 2 } else { 1 };
        let response = response.take(shown).flat_map(|(name, value)| {
            series(answers, value, &|_| true)
                .into_iter()
                .map(move |series| Series { name: format!("{name} {}", series.name), ..series })
        });
        let response = over_time("ms", Scale::Fitted, response.collect());
        pages.push(Page {
            key: Some("times-over-time".into()),
            title: "TP, ART and MRT v Time".into(),
            names_test: false,
            exhibits: vec![all("MB/s", throughput), response],
            remarks: context.maxima_note().into_iter().collect(),
        });
        pages.push(table_page(context, answers));
        return pages;
    }
    let mut change = 0.0;
    for (index, group) in GROUPS.iter().take(2).enumerate() {
        change += f64::from(group.hours * 60);
        let is_near_change = |minute: f64| (minute - change).abs() <= NEAR_CHANGE_MINUTES;
        let exhibit = over_time("MB/s", Scale::Fitted, series(answers, throughput, &is_near_change));
        let title = format!("TP v Time - Access Groups {} and {}", index + 1, index + 2);
        pages.push(Page::of(format!("throughput-groups-{}", index + 1), &title, exhibit));
    }
    let title = "Maximum Latency v Time";
    pages.push(match context.maxima_note() {
        None => Page::of("maximum-over-time", title, all("ms", maximum)),
        Some(why) => Page {
            key: Some("percentiles".into()),
            title: format!("{title}: n/a, percentiles shown"),
            names_test: false,
            exhibits: vec![Exhibit::Table(percentiles(answers))],
            remarks: vec![format!(
                "{why}. Shown instead: the time within which that percentage of the I/Os complete; n/a where \
                 fewer than ten take longer."
            )],
        },
    });
    let mut last = Page::of("average-over-time", "Average Latency v Time", all("ms", average));
    last.exhibits.push(Exhibit::Facts(recovery(answers)));
    pages.push(last);
    pages
}

fn percentiles(answers: &CrossAnswers) -> Table {
    let name = |index: usize| name_of(index, &GROUPS[index]);
    let groups: Vec<_> =
        answers.times.iter().enumerate().map(|(index, times)| (name(index), times)).collect();
    response::upper_half("Response Time by Confidence Level (ms)", "Access group", &groups)
}

fn table_page(context: &Context<'_>, answers: &CrossAnswers) -> Page {
    let cell = |index: usize, value: &dyn Fn(&[Sample]) -> Option<f64>| {
        let samples = answers.groups.get(index).map_or(&[][..], Vec::as_slice);
        Cell::of(value(samples), is_host_limited(samples), || "not measured".into())
    };
    let row = |name: &str, value: &dyn Fn(&[Sample]) -> Option<f64>| Row {
        name: name.into(),
        cells: (0..GROUPS.len()).map(|index| cell(index, value)).collect(),
    };
    let peak = |value: fn(&Sample) -> Option<f64>| {
        move |samples: &[Sample]| samples.iter().filter_map(value).max_by(f64::total_cmp)
    };
    let scaled =
        |name: &str| Row { name: name.into(), cells: vec![Cell::Absent(SCALED.into()); GROUPS.len()] };
    let table = Table {
        heading: "Cross Stimulus Recovery".into(),
        row_heading: "Figure".into(),
        column_heading: "Access Group".into(),
        columns: GROUPS.iter().enumerate().map(|(index, group)| name_of(index, group)).collect(),
        rows: vec![
            row("TP at the end (MB/s)", &|samples| Some(samples.last()?.megabytes_per_second)),
            row("Peak ART (ms)", &peak(average)),
            if context.has_maxima() { row("Peak MRT (ms)", &peak(maximum)) } else { scaled("Peak MRT (ms)") },
        ],
        decimals: 3,
        units: Units::OfRows(["MB/s", "ms", "ms"].map(str::to_owned).into()),
    };
    let mut page = Page::of("table", "XSR - Tabular Data", Exhibit::Table(table));
    page.exhibits.push(Exhibit::Facts(recovery(answers)));
    page
}

/// Returns the recovery times in minutes by both references; None if the third group was not measured.
fn recoveries(answers: &CrossAnswers) -> Option<[Option<f64>; 2]> {
    let [before, between, again] = answers.groups.as_slice() else { return None };
    let rates = |samples: &[Sample]| samples.iter().map(|s| s.megabytes_per_second).collect::<Vec<_>>();
    let (earlier, later) = (rates(before), rates(again));
    let end = |samples: &[Sample]| samples.last().map_or(0.0, |sample| sample.minute);
    // A sample is a minute long, or longer if cells are so short that there are fewer samples than minutes.
    let minute = |index: usize| again[index].minute - end(between);
    let found = [recovery_of_all(&earlier, &later), recovery_of_last_hour(&earlier, end(before), &later)];
    Some(found.map(|index| index.map(minute)))
}

/// Returns whether the host may have limited a group that determines the recovery time.
fn recovery_is_host_limited(answers: &CrossAnswers) -> bool {
    [0, 2].into_iter().filter_map(|index| answers.groups.get(index)).any(|samples| is_host_limited(samples))
}

/// With short cells, samples do not end at whole minutes.
fn decimals_of(minute: f64) -> usize {
    usize::from(minute.fract() != 0.0)
}

fn recovery(answers: &CrossAnswers) -> Facts {
    let text = |index: usize| match recoveries(answers).map(|all| all[index]) {
        None => "not measured".to_owned(),
        Some(None) => "not yet".to_owned(),
        Some(Some(minute)) => {
            let text = format!("minute {}", grouped(minute, decimals_of(minute)));
            marked(text, recovery_is_host_limited(answers))
        }
    };
    Facts {
        heading: "BW Recovery Time".into(),
        items: vec![
            ("To the mean of AG1".into(), text(0)),
            ("To 90 % of the last hour of AG1".into(), text(1)),
        ],
        host_limited: recoveries(answers).is_some() && recovery_is_host_limited(answers),
    }
}

fn key_figures(answers: &CrossAnswers) -> Vec<KeyFigure> {
    let minute = |index: usize| recoveries(answers).and_then(|all| all[index]);
    let host_limited = recovery_is_host_limited(answers);
    let figure = |name: &str, value: Option<f64>| KeyFigure {
        name: name.into(),
        key: None,
        value,
        unit: Unit::Minutes,
        absent: "n/a",
        decimals: value.map_or(0, decimals_of),
        host_limited,
    };
    vec![
        figure("Recovery to the mean of AG1", minute(0)),
        figure("Recovery to 90 % of the last hour of AG1", minute(1)),
    ]
}
