//! Pages of the burn-in: the verdict, and the throughput over time.

use stdx::units::{amount_base10, counted, grouped, span};

use super::answers::{BurnInAnswers, CELLS_PER_HOUR, Part};
use super::load::{CELL_MINUTES, DEMAND};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Exhibit, Facts, Lines, Page, Scale, Series};
use crate::exhibits::reading::ReadingHint;
use crate::method::timeline::mean;
use crate::{Acceptance, Context, KeyFigure, Outcome, Stop, Test, Unit};

pub fn outcome(test: &Test, context: &Context<'_>, answers: &BurnInAnswers, stop: Option<Stop>) -> Outcome {
    let complete = stop.is_none();
    let acceptance = answers.acceptance(complete);
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    answers.incidents.add_to(&mut begun.modified);
    let length = context.minutes_ns(answers.limits.hours * 60);
    let phases = Phases {
        stimulus_1: [
            answers.load.name().into(),
            "N/A".into(),
            "N/A".into(),
            DEMAND.to_string(),
            span(length),
        ],
        ..Phases::default()
    };
    Outcome {
        purpose: "accept or reject a drive after hours of verified load".into(),
        outline: format!(
            "purge; {} of {} at {DEMAND}, every block verified when it is read and at the end of each cell; limits: {}",
            span(length),
            answers.load.name(),
            answers.limits.in_words()
        ),
        header: TestHeader {
            threads: Some(DEMAND.threads),
            queue_depth: Some(DEMAND.queue_depth),
            phases,
            ..begun.header
        },
        pages: vec![verdict(answers, acceptance.as_ref()), over_time(answers)],
        key_figures: key_figures(answers),
        notes: notes(answers, acceptance.as_ref(), complete),
        acceptance,
        ..begun
    }
}

fn notes(answers: &BurnInAnswers, acceptance: Option<&Acceptance>, complete: bool) -> Vec<String> {
    let mut notes: Vec<String> = acceptance.map(|found| format!("BURN-IN {found}")).into_iter().collect();
    let unchecked = acceptance.map_or(&[][..], |found| &found.unchecked);
    if !unchecked.is_empty() {
        notes.push(format!("NOT CHECKED: {} (not reported by the drive)", unchecked.join(", ")));
    }
    if !complete {
        let (done, all) = (counted(answers.parts.len()), counted(answers.limits.hours * CELLS_PER_HOUR));
        notes.push(format!("NOT COMPLETE: {done} of {all} cells of {CELL_MINUTES} minutes are complete"));
    }
    notes
}

fn sum(answers: &BurnInAnswers, of: fn(&Part) -> u64) -> u64 {
    answers.parts.iter().map(of).sum()
}

fn key_figures(answers: &BurnInAnswers) -> Vec<KeyFigure> {
    let host_limited = answers.parts.iter().any(|part| part.host_limited);
    let amount = |name: &str, bytes: u64| KeyFigure {
        name: name.into(),
        key: None,
        value: (!answers.parts.is_empty()).then_some(bytes as f64 / 1e9),
        absent: "n/a",
        unit: Unit::Gigabytes,
        decimals: 1,
        host_limited,
    };
    vec![
        KeyFigure {
            name: "Throughput".into(),
            key: None,
            value: mean(answers.complete_parts().map(|part| part.megabytes_per_second)),
            absent: "n/a",
            unit: Unit::MegabytesPerSecond,
            decimals: 1,
            host_limited,
        },
        amount("Written", sum(answers, |part| part.written_bytes)),
        amount("Read", sum(answers, |part| part.read_bytes)),
    ]
}

fn verdict(answers: &BurnInAnswers, acceptance: Option<&Acceptance>) -> Page {
    let items = [
        ("Verdict", acceptance.map_or("none yet", Acceptance::word).to_owned()),
        ("Load", answers.load.name().to_owned()),
        ("Data written", amount_base10(sum(answers, |part| part.written_bytes))),
        ("Data read", amount_base10(sum(answers, |part| part.read_bytes))),
        ("Blocks checked", grouped(answers.checked_blocks() as f64, 0)),
        ("Blocks wrong", sum(answers, |part| part.verified.wrong_blocks).to_string()),
    ];
    let facts = Facts {
        heading: "Burn-In".into(),
        items: items.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        host_limited: false,
    };
    let mut page = Page::of("verdict", "Burn-In Verdict", Exhibit::Facts(facts));
    // The verdict is printed as sentences, because a box of facts would truncate it.
    let reasons = acceptance.map_or(&[][..], |found| &found.reasons);
    page.remarks.extend(reasons.iter().map(|reason| format!("Reason: {reason}.")));
    page.remarks.push(format!("Limits: {}.", answers.limits.in_words()));
    if let Some(unchecked) = acceptance.map(|found| &found.unchecked).filter(|names| !names.is_empty()) {
        page.remarks.push(format!("Not checked: {} (not reported by the drive).", unchecked.join(", ")));
    }
    page
}

fn over_time(answers: &BurnInAnswers) -> Page {
    let point = |(cell, part): (u32, &Part)| (f64::from(cell * CELL_MINUTES), part.megabytes_per_second);
    // Only the last cell can have ended with a failed I/O.
    let points = (1..).zip(answers.complete_parts()).map(point).collect();
    let series = vec![Series { name: answers.load.name().into(), points }];
    let (x, y) = (("Time (minutes)", Scale::LinearFromZero), ("MB/s", Scale::LinearFromZero));
    Page::named(
        "over-time",
        "Burn-In",
        "Throughput v Time",
        Exhibit::Lines(Lines::plain(ReadingHint::Endurance, x, y, series)),
    )
}
