//! The header and the outline of a custom test.

use record::{Access, CustomRounds};
use stdx::units::{count_of, span};

use super::super::answers::CustomAnswers;
use super::super::figures::{Load, demand, outstanding};
use crate::Context;
use crate::conclusions::header::{Phases, TestHeader};
use crate::method::profile::{Demand, mix_name};

/// Printed in headers instead of REQUIRED or OPTIONAL.
const REQUIREMENT: &str = "NOT A PTS TEST";

pub fn header(context: &Context<'_>, answers: &CustomAnswers<'_>) -> TestHeader {
    let purge = match (answers.test.purge, &answers.purge) {
        (false, _) => "none: drive used as is".to_owned(),
        (true, None) => "not yet".into(),
        (true, Some(purged)) => purged.method.clone(),
    };
    let demands: Vec<_> = answers.cells.iter().map(|cell| demand(context, cell)).collect();
    let largest = demands.iter().copied().max_by_key(|demand| outstanding(*demand));
    let written = preconditioning(answers);
    let phases = Phases {
        pre_condition_1: [
            written.clone().unwrap_or_else(|| "None".into()),
            "see outline".into(),
            "see outline".into(),
        ],
        stimulus_1: stimulus(context, answers, &demands),
        ..Phases::default()
    };
    let base = TestHeader::of(context, "", answers.purge.as_ref(), context.test_range());
    TestHeader {
        requirement: REQUIREMENT,
        purge,
        workload_independent: written,
        workload_dependent: if answers.test.steps.is_empty() { "Custom loop" } else { "Steps of a trace" }
            .into(),
        threads: largest.map_or(base.threads, |demand| Some(demand.threads)),
        queue_depth: largest.map_or(base.queue_depth, |demand| Some(demand.queue_depth)),
        phases,
        ..base
    }
}

/// The load, its mix, its block sizes, its demand and its length.
fn stimulus(context: &Context<'_>, answers: &CustomAnswers<'_>, demands: &[Demand]) -> [String; 5] {
    let length_ns = answers.cells.first().map_or(0, |cell| cell.run_ns);
    let is_replay = !answers.test.steps.is_empty();
    let mut demands = demands.to_vec();
    if is_replay {
        demands.sort_by_key(|demand| outstanding(*demand));
    }
    let load =
        |cell: &record::CustomCell| Load { access: cell.access, read_percent: cell.read_percent }.name(None);
    [
        if is_replay { "Steps of a trace".into() } else { listed(answers.cells.iter().map(load)) },
        listed(varied(answers, |cell| cell.read_percent).map(|cell| mix_name(cell.read_percent))),
        listed(
            varied(answers, |cell| cell.block_bytes)
                .map(|cell| stdx::units::block_size(cell.block_bytes.into())),
        ),
        listed(demands.iter().map(ToString::to_string)),
        match is_replay {
            true => format!("{} per step", span(step_ns(context, answers))),
            false => format!("{} per cell", span(context.scaled_ns(length_ns))),
        },
    ]
}

/// Returns the cells in the order of the loops; those of a trace's steps, which have no such order, by `key`.
fn varied<'a, K: Ord>(
    answers: &'a CustomAnswers<'_>,
    key: impl Fn(&record::CustomCell) -> K,
) -> impl Iterator<Item = &'a record::CustomCell> {
    let mut cells: Vec<_> = answers.cells.iter().collect();
    if !answers.test.steps.is_empty() {
        cells.sort_by_key(|cell| key(cell));
    }
    cells.into_iter()
}

/// Returns the length of a step of a trace with its idle time. All steps have the same length.
fn step_ns(context: &Context<'_>, answers: &CustomAnswers<'_>) -> u64 {
    let first = answers.test.steps.first();
    let run_ns = first
        .filter(|step| !step.streams.is_empty())
        .and(answers.cells.first())
        .map_or(0, |cell| cell.run_ns);
    context.scaled_ns(run_ns.saturating_add(first.map_or(0, |step| step.idle_ns)))
}

/// Lists `names` without duplicates; a long list is abbreviated to its first and last entry.
fn listed(names: impl Iterator<Item = String>) -> String {
    const MANY: usize = 3;
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    match all.as_slice() {
        [first, .., last] if all.len() > MANY => format!("{first} to {last}"),
        _ => all.join(", "),
    }
}

fn preconditioning(answers: &CustomAnswers<'_>) -> Option<String> {
    let one = |write: &record::CustomWrite| {
        let order = if write.access == Access::Random { "RND" } else { "SEQ" };
        let limit = write.limit_ns.map_or_else(String::new, |ns| format!(" (at most {})", span(ns)));
        format!("{}X {order}/{}{limit}", write.capacities, stdx::units::block_size(write.block_bytes.into()))
    };
    let all: Vec<String> = answers.test.precondition.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

pub fn outline(context: &Context<'_>, answers: &CustomAnswers<'_>) -> String {
    let mut parts = Vec::new();
    if answers.test.purge {
        parts.push("purge".to_owned());
    }
    parts.extend(preconditioning(answers).map(|written| format!("write {written}")));
    if !answers.test.steps.is_empty() {
        let (steps, length) = (count_of(answers.test.steps.len(), "step"), span(step_ns(context, answers)));
        parts.push(format!("{steps} of a trace, {length} each with their idle time"));
        return parts.join("; ");
    }
    let cell = answers.cells.first().copied();
    let time = cell.map_or_else(String::new, |cell| {
        let ramp = match cell.ramp_ns {
            0 => String::new(),
            ns => format!(" after {} of unmeasured load", span(context.scaled_ns(ns))),
        };
        format!("{}{ramp}", span(context.scaled_ns(cell.run_ns)))
    });
    let rounds = match answers.test.rounds {
        CustomRounds::Fixed(1) => String::new(),
        CustomRounds::Fixed(rounds) => format!(", {rounds} rounds"),
        CustomRounds::UntilSteady => ", rounds until steady state".into(),
    };
    let average = match answers.test.average {
        average if average.from_steady => format!("; mean of {} rounds from steady state on", average.rounds),
        average if average.rounds > 1 => format!("; mean of the last {} rounds", average.rounds),
        _ => String::new(),
    };
    let cells = match answers.cells.len() {
        1 => "a cell".to_owned(),
        count => count_of(count, "cell"),
    };
    parts.push(format!("{cells} of {time}{rounds}{average}"));
    parts.join("; ")
}
