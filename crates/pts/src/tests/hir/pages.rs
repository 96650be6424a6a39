//! Pages of the HIR test: preconditioning, its window, the timeline of all wait states and a table.

use stdx::units::block_size;

use super::answers::{BURST_SECONDS, RETURN_MINUTES, RecoveryAnswers, STIMULUS, State, WAIT_STATES};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Band, Cell, Exhibit, Lines, Page, Row, Scale, Series, Table, Units};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::flows::precondition::ROUND_MINUTES;
use crate::method::explain::{explain, remarks};
use crate::method::profile::Edition;
use crate::method::steady::WINDOW_ROUNDS;
use crate::method::timeline::{Sample, is_host_limited, mean};
use crate::{Context, KeyFigure, Outcome, Stop, Test};

/// Maximum relative distance from steady state that counts as recovered.
const BACK_WITHIN: f64 = 0.10;

pub fn outcome(test: &Test, context: &Context<'_>, answers: &RecoveryAnswers, stop: Option<Stop>) -> Outcome {
    let complete = stop.is_none();
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    answers.incidents.add_to(&mut begun.modified);
    let history = &answers.precondition.history;
    let converged = answers.precondition.converged;
    let header = TestHeader { workload_dependent: "RND 4KiB".into(), ..begun.header };
    let header = header.judged(converged, complete, history.window().first());
    Outcome {
        tracked_unit: Some(Unit::Iops),
        purpose: "show how much performance a drive recovers while the host is idle".into(),
        outline: format!(
            "purge; write {} until one minute out of every {ROUND_MINUTES} is steady; then bursts of \
             {BURST_SECONDS} s separated by idle times of 5, 10, 15, 25 and 50 s, each followed by 30 \
             minutes without a pause",
            STIMULUS.short_name()
        ),
        header: TestHeader { phases: phases(context, &header.steady_rounds()), ..header },
        rounds: answers.precondition.rounds.len() as u32,
        converged: (complete || converged).then_some(converged),
        pages: pages(context, answers),
        beyond: vec![returns(answers)],
        key_figures: key_figures(answers),
        notes: notes(answers, complete),
        window: history.named_window(),
        loops: vec![answers.precondition.judged("")],
        explained: explain(history),
        ..begun
    }
}

fn phases(context: &Context<'_>, rounds: &str) -> Phases {
    let demand = context.demand(None).to_string();
    let list = |values: [u32; 5]| values.map(|value| value.to_string()).join(",");
    let idle = list(WAIT_STATES.map(|wait| wait * BURST_SECONDS));
    Phases {
        pre_condition_1: [STIMULUS.short_name(), demand.clone(), rounds.into()],
        stimulus_1: [
            format!("Write Stimulus {}", STIMULUS.short_name()),
            "0:100".into(),
            block_size(STIMULUS.block_bytes.into()),
            demand,
            format!("Duration {BURST_SECONDS} s"),
        ],
        stimulus_2: [
            "Idle State Host Idle".into(),
            "N/A".into(),
            format!("Durations {idle} s; Wait States {}", list(WAIT_STATES)),
        ],
        ..Phases::default()
    }
}

fn notes(answers: &RecoveryAnswers, complete: bool) -> Vec<String> {
    let mut notes: Vec<String> = answers.incidents.note().into_iter().collect();
    if !answers.precondition.converged && (complete || !answers.states.is_empty()) {
        notes.push(format!(
            "SS NOT ACHIEVED: no steady state in {} rounds of preconditioning; the last minute is used instead",
            answers.precondition.rounds.len()
        ));
        notes.extend(remarks(&answers.precondition.history));
    }
    if !complete {
        let done = answers.states.iter().filter(|state| !state.baseline.is_empty()).count();
        notes.push(format!("NOT COMPLETE: {done} of {} wait states are complete", WAIT_STATES.len()));
    }
    notes
}

/// Returns the preconditioned drive's IOPS: the mean of the window or, without one, the last tracked minute.
fn steady(answers: &RecoveryAnswers) -> Option<f64> {
    let window = answers.precondition.history.window().first().map(|window| window.mean);
    window
        .filter(|_| answers.precondition.converged)
        .or_else(|| answers.precondition.rounds.last().map(|sample| sample.iops))
}

/// Whether the host may have limited a minute that contributes to the steady IOPS.
fn steady_is_host_limited(answers: &RecoveryAnswers) -> bool {
    let taken = if answers.precondition.converged { WINDOW_ROUNDS } else { 1 };
    let rounds = &answers.precondition.rounds;
    is_host_limited(&rounds[rounds.len().saturating_sub(taken)..])
}

fn pages(context: &Context<'_>, answers: &RecoveryAnswers) -> Vec<Page> {
    let tracked =
        || (1..).map(f64::from).zip(&answers.precondition.rounds).map(|(round, sample)| (round, sample.iops));
    let series = Series { name: STIMULUS.name(), points: tracked().collect() };
    let window = answers.precondition.history.window();
    let mut judged = window_pages::determination(
        &STIMULUS.short_name(),
        Unit::Iops,
        tracked().collect(),
        window.first(),
        context.profile,
    );
    judged.title = format!("Pre Conditioning {}", judged.title);
    let mut pages = vec![
        window_pages::convergence("Pre Conditioning IOPS", "IOPS", vec![series]),
        judged,
        time_line("over-time", "IOPS v Time - All Wait States", &answers.states.iter().collect::<Vec<_>>()),
        table_page(answers),
    ];
    if context.profile.edition >= Edition::V2_0 {
        pages.extend(WAIT_STATES.iter().map(|&wait| {
            let states: Vec<&State> = answers.states.iter().filter(|state| state.wait == wait).collect();
            let title = format!("IOPS v Time - Wait State {wait} ({})", seconds(wait));
            time_line(&format!("over-time-{wait}"), &title, &states)
        }));
    }
    pages
}

/// Formats the seconds of writing and of idling, such as `5/10`.
fn seconds(wait: u32) -> String {
    format!("{BURST_SECONDS}/{}", wait * BURST_SECONDS)
}

fn time_line(key: &str, title: &str, states: &[&State]) -> Page {
    let is_one = states.len() == 1;
    let of_state = |state: &State| {
        [
            series(format!("Wait State {} {}", state.wait, seconds(state.wait)), &state.bursts, 0.0),
            series(format!("Return to baseline {BURST_SECONDS}/0"), &state.baseline, 0.0),
        ]
    };
    let band = |name: String, parts: &[&[Sample]]| {
        let minutes = || parts.iter().flat_map(|part| part.iter().map(|sample| sample.minute));
        Some(Band { from: minutes().reduce(f64::min)?, to: minutes().reduce(f64::max)?, name })
    };
    let bands_of = |state: &&State| match is_one {
        true => vec![
            band(
                format!("writing {BURST_SECONDS} s, idle {} s", state.wait * BURST_SECONDS),
                &[&state.bursts],
            ),
            band("writing without a pause".into(), &[&state.baseline]),
        ],
        false => vec![band(seconds(state.wait), &[&state.bursts, &state.baseline])],
    };
    let lines = Lines {
        bands: states.iter().flat_map(bands_of).flatten().collect(),
        ..Lines::plain(
            ReadingHint::Idling,
            ("Time (minutes)", Scale::Fitted),
            ("IOPS", Scale::LinearZoomed),
            states.iter().copied().flat_map(of_state).collect(),
        )
    };
    Page::of(key, title, Exhibit::Lines(lines))
}

/// IOPS by minute, counted from `start`.
fn series(name: String, samples: &[Sample], start: f64) -> Series {
    Series { name, points: samples.iter().map(|sample| (sample.minute - start, sample.iops)).collect() }
}

/// The returns to the baseline on a common axis.
fn returns(answers: &RecoveryAnswers) -> Page {
    let of_state = |state: &State| {
        let start = state.bursts.last().map_or(0.0, |sample| sample.minute);
        series(format!("After {}", seconds(state.wait)), &state.baseline, start)
    };
    let lines = Lines::plain(
        ReadingHint::Returns,
        ("Time since the last pause (minutes)", Scale::LinearFromZero),
        ("IOPS", Scale::LinearZoomed),
        answers.states.iter().map(of_state).filter(|series| !series.points.is_empty()).collect(),
    );
    Page::of("returns", "Return to Baseline - Wait States Overlaid", Exhibit::Lines(lines))
}

fn table_page(answers: &RecoveryAnswers) -> Page {
    let mut page = Page::of("table", "Host Idle Recovery - Tabular Data", Exhibit::Table(table(answers)));
    page.remarks.push(
        "Recovered: from then on the mean of each minute stays within 10 % of steady state until the end of the return."
            .into(),
    );
    page
}

fn table(answers: &RecoveryAnswers) -> Table {
    let state = |wait: u32| answers.states.iter().find(|state| state.wait == wait);
    let limited = |state: &State| is_host_limited(&state.bursts) || is_host_limited(&state.baseline);
    let row = |name: &str, value: &dyn Fn(&State) -> Option<f64>, absent: &str| Row {
        name: name.into(),
        cells: WAIT_STATES
            .map(|wait| match state(wait) {
                None => Cell::Absent("not measured".into()),
                Some(state) => Cell::of(value(state), limited(state), || absent.into()),
            })
            .into(),
    };
    let none = "not measured";
    let steady = steady(answers);
    Table {
        heading: "Host Idle Recovery".into(),
        row_heading: "RND 4KiB W".into(),
        column_heading: "Wait State (write s / idle s)".into(),
        columns: WAIT_STATES.map(|wait| format!("{wait}: {BURST_SECONDS}/{}", wait * BURST_SECONDS)).into(),
        rows: vec![
            row("Mean IOPS of the bursts", &mean_of_bursts, none),
            row("Ratio to steady state", &|state| ratio(mean_of_bursts(state), steady), none),
            row("Return, first minute (IOPS)", &first_minute, none),
            row(
                "Return, time to recover (s)",
                &|state| back_after_seconds(&state.baseline, steady?),
                "not reached",
            ),
        ],
        decimals: 2,
        units: Units::OfRows(["IOPS", "", "IOPS", "s"].map(str::to_owned).into()),
    }
}

fn mean_of_bursts(state: &State) -> Option<f64> {
    mean(state.bursts.iter().map(|sample| sample.iops))
}

fn ratio(value: Option<f64>, steady: Option<f64>) -> Option<f64> {
    Some(value? / steady.filter(|steady| *steady > 0.0)?)
}

fn first_minute(state: &State) -> Option<f64> {
    mean(state.baseline.iter().take(samples_of_a_minute(&state.baseline)).map(|sample| sample.iops))
}

/// Returns the length of a sample during the return to the baseline. With short cells, there are fewer samples
/// than bursts.
fn sample_seconds(baseline: &[Sample]) -> f64 {
    f64::from(RETURN_MINUTES) * 60.0 / baseline.len() as f64
}

/// Returns the number of samples closest to a minute; at least one.
fn samples_of_a_minute(baseline: &[Sample]) -> usize {
    (60.0 / sample_seconds(baseline)).round().max(1.0) as usize
}

/// Returns the number of seconds after which the mean of every minute stays near `steady` until the end of the return;
/// None if it is not near at the end.
fn back_after_seconds(baseline: &[Sample], steady: f64) -> Option<f64> {
    let near = |minute: &[Sample]| {
        mean(minute.iter().map(|sample| sample.iops))
            .is_some_and(|m| (m - steady).abs() <= BACK_WITHIN * steady)
    };
    if baseline.is_empty() {
        return None;
    }
    let window = samples_of_a_minute(baseline);
    let away = baseline.windows(window).rposition(|minute| !near(minute));
    let index = away.map_or(0, |last| last + 1);
    (index + window <= baseline.len()).then(|| index as f64 * sample_seconds(baseline))
}

fn key_figures(answers: &RecoveryAnswers) -> Vec<KeyFigure> {
    let figure = |name: String, value, host_limited| KeyFigure {
        name,
        key: None,
        value,
        unit: Unit::Iops,
        absent: "n/a",
        decimals: 0,
        host_limited,
    };
    let name = "RND 4KiB W, steady state".into();
    let mut figures = vec![figure(name, steady(answers), steady_is_host_limited(answers))];
    for wait in WAIT_STATES {
        let state = answers.states.iter().find(|state| state.wait == wait);
        let name = format!("Wait State {wait}, {BURST_SECONDS}/{}", wait * BURST_SECONDS);
        let limited = state.is_some_and(|state| is_host_limited(&state.bursts));
        figures.push(figure(name, state.and_then(mean_of_bursts), limited));
    }
    figures
}
