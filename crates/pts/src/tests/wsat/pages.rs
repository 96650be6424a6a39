//! Pages of the WSAT test: four, with different contents in PTS 1.x and 2.0.

use stdx::units::{amount_base10, block_size, grouped, span};

use super::answers::{
    CYCLE_MINUTES, End, HISTOGRAM_MINUTES, Level, STIMULUS, SaturationAnswers, has_histogram,
};
use super::figures::{FRESH_MINUTES, Figures, LAST_MINUTES, drive_fills};
use crate::conclusions::ending::Ending;
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Exhibit, Facts, Lines, Page, Scale, Series};
use crate::exhibits::response;
use crate::method::explain::{explain, remarks};
use crate::method::profile::Edition;
use crate::method::timeline::{Sample, is_host_limited};
use crate::quality::host_limit::marked;
use crate::{Context, KeyFigure, Outcome, Stop, Test};

pub fn outcome(
    test: &Test,
    context: &Context<'_>,
    answers: &SaturationAnswers,
    stop: Option<Stop>,
) -> Outcome {
    let complete = stop.is_none();
    let judged = context.profile.saturation_end.when_steady;
    let figures = figures(answers);
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    answers.incidents.add_to(&mut begun.modified);
    let header = TestHeader { workload_dependent: STIMULUS.short_name().replace('/', " "), ..begun.header };
    // Another condition may end the test before there is anything to judge.
    let has_verdict = judged && !(complete && answers.level() == Level::NotJudged);
    let header = match has_verdict {
        true => header.judged(answers.converged, complete, answers.history.window().first()),
        false => header,
    };
    Outcome {
        purpose: "show how random write performance falls from fresh out of the box to steady state".into(),
        outline: outline(context),
        header: TestHeader { phases: phases(context, answers, &header.steady_rounds()), ..header },
        rounds: answers.cycles,
        converged: (has_verdict && (complete || answers.converged)).then_some(answers.converged),
        ending: Some(ending(context, answers)),
        pages: pages(context, answers, &figures),
        key_figures: key_figures(answers, &figures),
        notes: notes(context, answers, judged, complete),
        window: answers.history.named_window(),
        explained: explain(&answers.history),
        ..begun
    }
}

fn phases(context: &Context<'_>, answers: &SaturationAnswers, rounds: &str) -> Phases {
    let demand = context.demand(None).to_string();
    let mut phases = Phases {
        stimulus_1: [
            STIMULUS.name(),
            "0:100".into(),
            block_size(STIMULUS.block_bytes.into()),
            demand.clone(),
            format!("{rounds}, {} Minutes", answers.minutes.len()),
        ],
        ..Phases::default()
    };
    if has_histogram(context) {
        let length = format!("{HISTOGRAM_MINUTES} Minutes");
        phases.stimulus_2 = [format!("Histogram, {}", STIMULUS.name()), demand, length];
    }
    phases
}

/// The conditions that end the test, of which the first one counts, and the one that did.
fn ending(context: &Context<'_>, answers: &SaturationAnswers) -> Ending {
    let end = context.profile.saturation_end;
    let steady = if end.when_steady {
        ", or five samples 31 minutes apart whose range is within 20 % and whose slope is within 10 % of their mean"
    } else {
        ""
    };
    let minutes = answers.minutes.len();
    let by = match answers.end {
        Some(End::Written) => format!("{} x capacity written after {minutes} min", end.capacities),
        Some(End::Time) => format!("{} h", end.minutes / 60),
        Some(End::Steady) => format!("steady state after {minutes} min"),
        None => format!("not ended after {minutes} min"),
    };
    let judged = match answers.level() {
        Level::NotJudged if end.when_steady => "; fewer than five samples, so not judged",
        Level::NotSteady => "; the last five samples are not steady",
        Level::NotJudged | Level::Steady => "",
    };
    Ending {
        required: format!(
            "{} x capacity written, or {} h{steady}, whichever comes first",
            end.capacities,
            end.minutes / 60
        ),
        done: format!("{by}{judged}"),
    }
}

fn outline(context: &Context<'_>) -> String {
    let end = context.profile.saturation_end;
    let steady = if end.when_steady { ", or five samples 31 minutes apart are steady" } else { "" };
    let histogram = if has_histogram(context) { "; record every response time of 20 minutes" } else { "" };
    format!(
        "purge; write {} for {} user capacities or {} h{steady}, whichever comes first{histogram}",
        STIMULUS.short_name(),
        end.capacities,
        end.minutes / 60
    )
}

fn figures(answers: &SaturationAnswers) -> Figures {
    let window = answers.history.window().first().filter(|_| answers.converged).map(|window| window.mean);
    Figures::of(&answers.minutes.iter().map(|sample| sample.iops).collect::<Vec<_>>(), window)
}

/// Whether the host may have limited the minutes from which fresh IOPS and the level are computed.
fn limited(answers: &SaturationAnswers, figures: &Figures) -> [bool; 2] {
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

fn notes(context: &Context<'_>, answers: &SaturationAnswers, judged: bool, complete: bool) -> Vec<String> {
    let mut notes: Vec<String> = answers.incidents.note().into_iter().collect();
    let minutes = answers.minutes.len();
    let written = amount_base10(answers.written_bytes);
    if let Some(end) = answers.end {
        let why = match end {
            End::Written => "the required amount was written",
            End::Time => "the time limit was reached",
            End::Steady => "steady state was reached",
        };
        let simulated = match context.scale_divisor() {
            1 => String::new(),
            divisor => {
                let simulated = span(answers.elapsed_ns);
                format!(" of the whole drive ({simulated} of simulated time at scale 1/{divisor})")
            }
        };
        notes.push(format!("ended after {minutes} min{simulated} and {written}: {why}"));
    }
    match answers.level() {
        Level::NotSteady if complete => {
            notes.push(
                "SS NOT ACHIEVED: the last five samples are not steady; the mean of the last 30 minutes is given"
                    .into(),
            );
            notes.extend(remarks(&answers.history));
        }
        Level::NotJudged if complete && judged => {
            notes.push(
                "not judged: the test ended before its fifth sample; the mean of the last 30 minutes is given"
                    .into(),
            );
        }
        Level::NotJudged | Level::NotSteady | Level::Steady => {}
    }
    if !complete {
        notes.push(format!("NOT COMPLETE: figures are those of the {minutes} completed minutes"));
    }
    notes
}

/// Quantity on the horizontal axis.
#[derive(Clone, Copy)]
enum Over {
    Time,
    Written,
    Fills,
}

impl Over {
    fn label(self) -> &'static str {
        match self {
            Self::Time => "Time (minutes)",
            Self::Written => "TGBW (GB)",
            Self::Fills => "Normalized capacity (drive fills)",
        }
    }

    fn points(self, context: &Context<'_>, answers: &SaturationAnswers) -> Vec<(f64, f64)> {
        let mut written_bytes = 0;
        let point = |sample: &Sample| {
            written_bytes += sample.written_bytes;
            let x = match self {
                Self::Time => sample.minute,
                Self::Written => written_bytes as f64 / 1e9,
                Self::Fills => drive_fills(written_bytes, context.target.capacity_bytes),
            };
            (x, sample.iops)
        };
        answers.minutes.iter().map(point).collect()
    }
}

fn pages(context: &Context<'_>, answers: &SaturationAnswers, figures: &Figures) -> Vec<Page> {
    let curve = |title: &str, over: Over, scale: Scale| {
        let series = Series { name: STIMULUS.name(), points: over.points(context, answers) };
        let x = (over.label(), Scale::LinearFromZero);
        Page::of(title, Exhibit::Lines(Lines::plain(x, ("IOPS", scale), vec![series])))
    };
    let (linear, log) = (Scale::LinearFromZero, Scale::Log10);
    let mut pages = vec![curve("WSAT IOPS (Linear) v Time (Linear)", Over::Time, linear)];
    pages[0].exhibits.push(Exhibit::Facts(marks(context, answers, figures)));
    if context.profile.edition >= Edition::V2_0 {
        pages.push(curve("WSAT IOPS v TGBW", Over::Written, linear));
        pages.push(curve("WSAT IOPS v Normalized Capacity", Over::Fills, linear));
        let title = "WSAT Response Time Histogram - Confidence Level Plot";
        pages.push(response::page(title, answers.histogram.as_ref(), context));
        pages.push(response_times(context, answers));
    } else {
        pages.push(curve("WSAT IOPS (Log) v Time (Linear)", Over::Time, log));
        pages.push(curve("WSAT IOPS (Linear) v TGBW (Linear)", Over::Written, linear));
        pages.push(curve("WSAT IOPS (Log) v TGBW (Linear)", Over::Written, log));
    }
    pages
}

/// Response times as the drive fills.
fn response_times(context: &Context<'_>, answers: &SaturationAnswers) -> Page {
    let fills: Vec<f64> = Over::Fills.points(context, answers).into_iter().map(|point| point.0).collect();
    let series = |name: &str, values: Vec<Option<f64>>| {
        let points = fills.iter().zip(values).filter_map(|(fill, ms)| Some((*fill, ms?))).collect();
        Series { name: name.into(), points }
    };
    let of = |value: fn(&Sample) -> Option<f64>| answers.minutes.iter().map(value).collect();
    let mut all =
        vec![series("ART", of(|minute| minute.mean_ms)), series("99.999 %", answers.five_nines_ms.clone())];
    if context.has_maxima() {
        all.push(series("MRT", of(|minute| minute.max_ms)));
    }
    let few = all[1].points.len() < answers.minutes.len();
    all.retain(|series| !series.points.is_empty());
    let (x, y) = ((Over::Fills.label(), Scale::LinearFromZero), ("Response time (ms)", Scale::Log10));
    let mut page = Page::of("WSAT ART, 5 9s and MRT v Drive Fills", Exhibit::Lines(Lines::plain(x, y, all)));
    page.remarks.extend(context.maxima_note());
    if few {
        page.remarks.push("99.999 % is n/a for minutes with fewer than a million I/Os.".into());
    }
    page
}

fn marks(context: &Context<'_>, answers: &SaturationAnswers, figures: &Figures) -> Facts {
    let [fresh, last] = limited(answers, figures);
    let iops = |value: Option<f64>, limited| {
        value.map_or_else(|| "n/a".into(), |v| format!("{} IOPS", marked(grouped(v, 0), limited)))
    };
    let at = |minute: Option<usize>| {
        minute.map_or_else(
            || "none".into(),
            |minute| {
                let written = answers.minutes[..minute].iter().map(|sample| sample.written_bytes).sum();
                let fills = drive_fills(written, context.target.capacity_bytes);
                format!("{minute} min, {}, {fills:.2} drive fills", amount_base10(written))
            },
        )
    };
    let (level, settled) = match answers.level() {
        Level::Steady => ("Steady State IOPS", "Time to steady state"),
        Level::NotSteady => ("Mean of the last 30 minutes, not steady", "Within 10 % of that mean from"),
        Level::NotJudged => ("Mean of the last 30 minutes, not judged", "Within 10 % of that mean from"),
    };
    let items = [
        ("FOB IOPS", iops(figures.fresh, fresh)),
        (level, iops(figures.level, last)),
        ("Peak drop", at(figures.drop_minute)),
        (settled, at(figures.settled_minute)),
        ("Duration and amount", at(Some(answers.minutes.len()))),
    ];
    Facts {
        heading: "Write Saturation".into(),
        items: items.into_iter().map(|(label, value)| (label.to_owned(), value)).collect(),
        host_limited: fresh || last,
    }
}

fn key_figures(answers: &SaturationAnswers, figures: &Figures) -> Vec<KeyFigure> {
    let figure = |name: &str, value, host_limited| KeyFigure {
        name: format!("{}, {name}", STIMULUS.name()),
        value,
        unit: "IOPS",
        absent: "n/a",
        decimals: 0,
        host_limited,
    };
    let [fresh, last] = limited(answers, figures);
    vec![figure("FOB", figures.fresh, fresh), figure(answers.level().name(), figures.level, last)]
}
