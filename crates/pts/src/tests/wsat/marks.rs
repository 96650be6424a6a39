//! The marks on the curve: the facts listed below the plot, and the key figures. Marks that the tester set are
//! labelled accordingly.

use stdx::units::{amount_base10, grouped};

use super::answers::{CYCLE_MINUTES, Level, SaturationAnswers};
use super::figures::{FRESH_MINUTES, Figures, LAST_MINUTES, drive_fills};
use super::length::in_words;
use crate::conclusions::mark::Mark;
use crate::exhibits::exhibit::Facts;
use crate::exhibits::unit::Unit;
use crate::method::profile::CELL_NS;
use crate::method::timeline::{Sample, is_host_limited};
use crate::quality::host_limit::marked;
use crate::{Context, KeyFigure};

/// Returns FOB, level, peak drop and time to steady state.
pub fn marks(context: &Context<'_>, answers: &SaturationAnswers, figures: &Figures) -> Vec<Mark> {
    let set = context.settings.wsat.marks;
    let last = answers.last();
    let (level, settled) = match answers.level() {
        Level::Steady => ("Steady State IOPS".to_owned(), "Time to steady state"),
        Level::NotSteady => (format!("Mean {last}, not steady"), "Within 10 % of that mean from"),
        Level::NotJudged => (format!("Mean {last}, not judged"), "Within 10 % of that mean from"),
    };
    let iops = |key: &str, name: &str, computed, set: Option<u32>| Mark {
        key: key.into(),
        name: name.into(),
        unit: Unit::Iops,
        computed,
        set: set.map(f64::from),
        written_bytes: None,
    };
    let cell_ns = context.settings.cell_ns.max(1);
    let cell_in = |minute: u32| u64::from(minute).saturating_mul(CELL_NS).div_ceil(cell_ns) as usize;
    let minute = |key: &str, name: &str, computed: Option<usize>, set: Option<u32>| Mark {
        key: key.into(),
        name: name.into(),
        unit: Unit::Minutes,
        computed: computed.map(|cell| context.minutes_of(cell as f64)),
        set: set.map(f64::from),
        written_bytes: set.map(cell_in).or(computed).and_then(|cell| written(answers, cell)),
    };
    vec![
        iops("fob", "FOB IOPS", figures.fresh, set.fresh_iops),
        iops("steady", &level, figures.level, set.level_iops),
        minute("peak-drop", "Peak drop", figures.drop_minute, set.drop_minute),
        minute("time-to-steady", settled, figures.settled_minute, set.settled_minute),
    ]
}

/// Returns one note per mark that the tester set.
pub fn notes(marks: &[Mark]) -> Vec<String> {
    let note = |mark: &Mark| {
        let value = grouped(mark.set?, 0);
        let computed = mark.computed.map_or_else(|| "none".into(), |value| grouped(value, 0));
        Some(format!("{} set by the tester: {value} {} (computed: {computed})", mark.name, mark.unit))
    };
    marks.iter().filter_map(note).collect()
}

pub fn facts(
    context: &Context<'_>,
    answers: &SaturationAnswers,
    marks: &[Mark],
    limited: [bool; 2],
) -> Facts {
    let at = |minutes: f64, written_bytes: Option<u64>| match written_bytes {
        Some(bytes) => {
            let fills = drive_fills(bytes, context.target.capacity_bytes);
            format!("{}, {}, {fills:.2} drive fills", in_words(minutes), amount_base10(bytes))
        }
        None => in_words(minutes),
    };
    let text = |(index, mark): (usize, &Mark)| {
        let is_limited = limited.get(index).is_some_and(|limited| *limited && mark.set.is_none());
        let value = match (mark.unit, mark.value()) {
            (Unit::Iops, Some(value)) => format!("{} IOPS", marked(grouped(value, 0), is_limited)),
            (Unit::Iops, None) => "n/a".into(),
            (_, Some(minutes)) => at(minutes, mark.written_bytes),
            (_, None) => "none".into(),
        };
        if mark.set.is_none() {
            return (mark.name.clone(), value);
        }
        let computed = mark.computed.map_or_else(|| "none".into(), |value| grouped(value, 0));
        (mark.name.clone(), format!("{value} (set by the tester; computed: {computed})"))
    };
    let mut items: Vec<(String, String)> = marks.iter().enumerate().map(text).collect();
    let cells = answers.minutes.len();
    items.push(("Duration and amount".into(), at(context.minutes_of(cells as f64), written(answers, cells))));
    Facts { heading: "Write Saturation".into(), items, host_limited: limited[0] || limited[1] }
}

pub fn key_figures(answers: &SaturationAnswers, marks: &[Mark], limited: [bool; 2]) -> Vec<KeyFigure> {
    let names = ["FOB".to_owned(), answers.level().name(&answers.last())];
    let figure = |((name, mark), limited): ((String, &Mark), bool)| {
        let by = if mark.set.is_some() { ", set by the tester" } else { "" };
        KeyFigure {
            name: format!("{}, {name}{by}", answers.load.name()),
            key: None,
            value: mark.value(),
            unit: Unit::Iops,
            absent: "n/a",
            decimals: 0,
            host_limited: limited && mark.set.is_none(),
        }
    };
    names.into_iter().zip(marks).zip(limited).map(figure).collect()
}

/// Returns whether the host may have limited the minutes that determine fresh IOPS and the final level.
pub fn limited(answers: &SaturationAnswers, figures: &Figures) -> [bool; 2] {
    let is_best = |sample: &&Sample| Some(sample.iops) == figures.fresh;
    let mut first_hour = answers.minutes.iter().take(FRESH_MINUTES);
    let fresh = first_hour.any(|sample| is_best(&sample) && sample.host_limited);
    let window = answers.history.window().first().copied().filter(|_| answers.converged);
    let level = match window {
        // The last minute of each round is tracked.
        Some(window) => (window.first_round..=window.last_round)
            .filter_map(|round| answers.minutes.get((round * CYCLE_MINUTES) as usize - 1))
            .any(|sample| sample.host_limited),
        None => is_host_limited(&answers.minutes[answers.minutes.len().saturating_sub(LAST_MINUTES)..]),
    };
    [fresh, level]
}

/// Returns the number of bytes written up to the end of a cell; None after the end of the test.
fn written(answers: &SaturationAnswers, cell: usize) -> Option<u64> {
    Some(answers.minutes.get(..cell)?.iter().map(|sample| sample.written_bytes).sum())
}
