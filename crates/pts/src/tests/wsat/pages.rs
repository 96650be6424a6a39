//! Pages of the WSAT test: four in PTS 1.x, five in PTS 2.0.

use stdx::units::{SECOND_NS, amount_base10, count_of, counted, span};

use super::answers::{CYCLE_MINUTES, HISTOGRAM_MINUTES, Level, SaturationAnswers, has_histogram};
use super::figures::{Figures, drive_fills};
use super::length::{End, Length, in_words};
use super::marks;
use crate::conclusions::deviation::Deviation;
use crate::conclusions::ending::Ending;
use crate::conclusions::header::{Phases, TestHeader, titled};
use crate::conclusions::judged_loop::JudgedLoop;
use crate::conclusions::modified;
use crate::exhibits::exhibit::{Exhibit, Facts, Lines, Page, Scale, Series};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::{response, tail};
use crate::method::explain::{explain, remarks};
use crate::method::profile::Edition;
use crate::method::timeline::Sample;
use crate::{Context, Outcome, Stop, Test, Unit};

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
    begun.modified.extend(answers.load.deviations(context));
    if has_histogram(context) {
        modified::by_histogram(context, HISTOGRAM_MINUTES, &mut begun.modified);
    }
    let ending = ending(context, answers);
    if complete && ending.deviates {
        let (is, standard) = (ending.done.clone(), ending.required.clone());
        begun.modified.push(Deviation::Ending { title: "WSAT".into(), is, standard });
    }
    let (marks, limited) = (marks::marks(context, answers, &figures), marks::limited(answers, &figures));
    let header = TestHeader {
        workload_dependent: answers.load.header_name(),
        length: length(context, answers),
        ..begun.header
    };
    // Another condition may have ended the test before there was a window to evaluate.
    let has_verdict = judged && !(complete && answers.level() == Level::NotJudged);
    let header = match has_verdict {
        true => header.judged(answers.converged, complete, answers.history.window().first()),
        false => header,
    };
    Outcome {
        tracked_unit: Some(Unit::Iops),
        purpose: format!(
            "show how the performance of {} falls from fresh out of the box to steady state",
            answers.load.name()
        ),
        outline: outline(context, answers),
        header: TestHeader { phases: phases(context, answers, &header.steady_rounds()), ..header },
        rounds: answers.cycles,
        converged: (has_verdict && (complete || answers.converged)).then_some(answers.converged),
        ending: Some(ending),
        pages: pages(context, answers, marks::facts(context, answers, &marks, limited)),
        beyond: beyond(context, answers),
        key_figures: marks::key_figures(answers, &marks, limited),
        notes: [notes(context, answers, judged, complete), marks::notes(&marks)].concat(),
        marks,
        window: answers.history.named_window(),
        loops: judged.then(|| loop_of(answers)).into_iter().collect(),
        explained: if complete && !has_verdict { Vec::new() } else { explain(&answers.history) },
        ..begun
    }
}

fn loop_of(answers: &SaturationAnswers) -> JudgedLoop {
    JudgedLoop {
        name: "",
        rounds: answers.cycles,
        converged: answers.converged,
        window: answers.history.window().into_iter().next(),
        only_step: Some(CYCLE_MINUTES - 1),
    }
}

fn phases(context: &Context<'_>, answers: &SaturationAnswers, rounds: &str) -> Phases {
    let demand = context.demand(None).to_string();
    let mut phases = Phases {
        stimulus_1: [
            answers.load.name(),
            answers.load.mix(),
            answers.load.block_name(),
            demand.clone(),
            format!("{rounds}, {}", titled(&context.minutes_in_words(answers.minutes.len() as u32))),
        ],
        ..Phases::default()
    };
    if has_histogram(context) {
        let length = titled(&context.minutes_in_words(HISTOGRAM_MINUTES));
        phases.stimulus_2 = [format!("Histogram, {}", answers.load.name()), demand, length];
    }
    phases
}

/// Formats the time and amount written so far, which published reports print instead of rounds: `24 h 1.9 TB`.
fn length(context: &Context<'_>, answers: &SaturationAnswers) -> Option<String> {
    let ns = context.minutes_ns(answers.minutes.len() as u32);
    let minutes = ns / (60 * SECOND_NS);
    let time = match (minutes / 60, minutes % 60) {
        (0, 0) => span(ns),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    };
    (!answers.minutes.is_empty()).then(|| format!("{time}, {}", amount_base10(answers.written_bytes)))
}

/// Returns the test's end conditions, and the condition that was met.
fn ending(context: &Context<'_>, answers: &SaturationAnswers) -> Ending {
    let (length, required) = (Length::of(context), Length::required(context));
    let minutes = answers.minutes.len() as u32;
    let not_ended = || format!("not ended after {}", time(context, answers));
    let by = answers.end.map_or_else(not_ended, |end| length.met(end, minutes));
    let judged = match answers.level() {
        Level::NotJudged if context.profile.saturation_end.when_steady => {
            "; fewer than five samples, so not judged"
        }
        Level::NotSteady => "; the last five samples are not steady",
        Level::NotJudged | Level::Steady => "",
    };
    let (chosen, deviates) = match answers.required_end {
        _ if answers.end.is_none() => (String::new(), false),
        None => ("; none of the required conditions was met".to_owned(), true),
        Some((_, minute)) if minute == minutes => (String::new(), false),
        Some(first) => {
            // Only the time may be extended: any other condition met after that ends the test.
            let later = answers.untimed_end.filter(|(_, minute)| first.0 == End::Time && *minute < minutes);
            let met = [Some(first), later].into_iter().flatten();
            let met: Vec<String> = met.map(|(end, minute)| required.met(end, minute)).collect();
            let deviates = !required.may_continue(later.unwrap_or(first).0, minutes);
            (format!("; the operator continued after {}", met.join(" and after ")), deviates)
        }
    };
    Ending { required: required.words(), done: format!("{by}{judged}{chosen}"), deviates }
}

fn outline(context: &Context<'_>, answers: &SaturationAnswers) -> String {
    let record =
        || format!("; record every response time of {}", context.minutes_in_words(HISTOGRAM_MINUTES));
    let histogram = if has_histogram(context) { record() } else { String::new() };
    let (load, length) = (answers.load, Length::of(context).in_short());
    let verb = if load.only_writes() { "write" } else { "run" };
    format!("purge; {verb} {} until {length}{histogram}", load.header_name())
}

fn figures(answers: &SaturationAnswers) -> Figures {
    let window = answers.history.window().first().filter(|_| answers.converged).map(|window| window.mean);
    Figures::of(&answers.minutes.iter().map(|sample| sample.iops).collect::<Vec<_>>(), window)
}

fn notes(context: &Context<'_>, answers: &SaturationAnswers, judged: bool, complete: bool) -> Vec<String> {
    let mut notes: Vec<String> = answers.incidents.note().into_iter().collect();
    let written = amount_base10(answers.written_bytes);
    if let Some(end) = answers.end {
        let why = match end {
            End::Written => "the required amount was written",
            End::Time => "the time limit was reached",
            End::Steady => "steady state was reached",
            End::Both => "the required amount was written and the time limit was reached",
            End::Limit => "the hard limit was reached",
        };
        notes.push(format!("ended after {} and {written}: {why}", lasted(context, answers)));
    }
    match answers.level() {
        Level::NotSteady if complete => {
            notes.push(format!(
                "SS NOT ACHIEVED: the last five samples are not steady; the mean {} is shown",
                answers.last()
            ));
            notes.extend(remarks(&answers.history));
        }
        Level::NotJudged if complete && judged => {
            notes.push(format!(
                "not judged: the test ended before its fifth sample; the mean {} is shown",
                answers.last()
            ));
        }
        Level::NotJudged | Level::NotSteady | Level::Steady => {}
    }
    if !complete {
        let completed = count_of(answers.minutes.len(), &format!("completed {}", answers.cell));
        notes.push(format!("NOT COMPLETE: figures are those of the {completed}"));
    }
    notes
}

/// Formats the test's duration. For a scaled simulated drive, adds the duration on the full-size drive.
fn lasted(context: &Context<'_>, answers: &SaturationAnswers) -> String {
    let (cells, divisor) = (counted(answers.minutes.len()), context.scale_divisor());
    let (time, simulated) = (time(context, answers), span(answers.elapsed_ns));
    match answers.extended {
        _ if divisor == 1 => time,
        0 => format!("{time} on the full-size drive ({simulated} of simulated time at scale 1/{divisor})"),
        _ => {
            let took = span(answers.elapsed_ns.saturating_mul(divisor.into()));
            format!(
                "{cells} cells, which took {took} on the full-size drive ({simulated} of simulated time at scale 1/{divisor})"
            )
        }
    }
}

/// Formats the time of all cells so far, without that by which a simulated drive extended them.
fn time(context: &Context<'_>, answers: &SaturationAnswers) -> String {
    in_words(context.minutes_of(answers.minutes.len() as f64))
}

/// Remark on curves with extended cells, where amounts do not match minutes.
fn extended_remark(context: &Context<'_>, answers: &SaturationAnswers) -> Option<String> {
    let (cells, extended) = (counted(answers.minutes.len()), counted(answers.extended));
    let took = span(answers.elapsed_ns.saturating_mul(context.scale_divisor().into()));
    (answers.extended > 0).then(|| {
        format!(
            "The simulator extended {extended} of {cells} cells, so that they took {took} on the full-size drive instead of \
             {}. Minutes are those of cells that are not extended; amounts refer to the time that the cells took.",
            time(context, answers)
        )
    })
}

/// The quantity on the horizontal axis.
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

    const fn reading(self) -> ReadingHint {
        match self {
            Self::Time => ReadingHint::Saturation,
            Self::Written => ReadingHint::OverWritten,
            Self::Fills => ReadingHint::OverFills,
        }
    }

    fn points(self, context: &Context<'_>, answers: &SaturationAnswers) -> Vec<(f64, f64)> {
        let mut written_bytes = 0;
        let point = |sample: &Sample| {
            written_bytes += sample.written_bytes;
            let x = match self {
                Self::Time => context.minutes_of(sample.minute),
                Self::Written => written_bytes as f64 / 1e9,
                Self::Fills => drive_fills(written_bytes, context.target.capacity_bytes),
            };
            (x, sample.iops)
        };
        answers.minutes.iter().map(point).collect()
    }
}

fn pages(context: &Context<'_>, answers: &SaturationAnswers, marks: Facts) -> Vec<Page> {
    let curve = |key: &str, title: &str, over: Over, scale: Scale| {
        let series = Series { name: answers.load.name(), points: over.points(context, answers) };
        let x = (over.label(), Scale::LinearFromZero);
        let lines = Lines::plain(over.reading(), x, ("IOPS", scale), vec![series]);
        let mut page = Page::named(key, "WSAT", title, Exhibit::Lines(lines));
        page.remarks.extend(extended_remark(context, answers));
        page
    };
    let (linear, log) = (Scale::LinearFromZero, Scale::Log10);
    let mut pages = vec![curve("linear-over-time", "IOPS (Linear) v Time (Linear)", Over::Time, linear)];
    pages[0].exhibits.push(Exhibit::Facts(marks));
    if context.profile.edition >= Edition::V2_0 {
        pages.push(curve("over-written", "IOPS v TGBW", Over::Written, linear));
        pages.push(curve("over-fills", "IOPS v Normalized Capacity", Over::Fills, linear));
        let title = "WSAT Response Time Histogram - Confidence Level Plot";
        pages.push(response::page("response-times", title, answers.histogram.as_ref(), context));
        pages.push(response_times(context, answers));
    } else {
        pages.push(curve("log-over-time", "IOPS (Log) v Time (Linear)", Over::Time, log));
        pages.push(curve("linear-over-written", "IOPS (Linear) v TGBW (Linear)", Over::Written, linear));
        pages.push(curve("log-over-written", "IOPS (Log) v TGBW (Linear)", Over::Written, log));
    }
    pages
}

/// Pages that the specification does not define.
fn beyond(context: &Context<'_>, answers: &SaturationAnswers) -> Vec<Page> {
    let mut pages = vec![average_over_time(context, answers), sustained_writes(answers)];
    if let Some(segment) = &answers.histogram {
        let times = response::merged([segment]);
        pages.push(tail::page("WSAT Response Time Tail", &[(answers.load.name(), &times)]));
    }
    pages
}

/// Throughput by amount written.
fn sustained_writes(answers: &SaturationAnswers) -> Page {
    let mut written_bytes = 0;
    let point = |sample: &Sample| {
        written_bytes += sample.written_bytes;
        (written_bytes as f64 / 1e9, sample.megabytes_per_second)
    };
    let series = Series { name: answers.load.name(), points: answers.minutes.iter().map(point).collect() };
    let (x, y) = (("Data written (GB)", Scale::LinearFromZero), ("MB/s", Scale::LinearFromZero));
    let lines = Lines::plain(ReadingHint::OverWritten, x, y, vec![series]);
    Page::named("sustained", "WSAT", "Throughput v Data Written", Exhibit::Lines(lines))
}

/// Shows the average response time of each cell.
fn average_over_time(context: &Context<'_>, answers: &SaturationAnswers) -> Page {
    let point = |sample: &Sample| Some((context.minutes_of(sample.minute), sample.mean_ms?));
    let points = answers.minutes.iter().filter_map(point).collect();
    let series = vec![Series { name: answers.load.name(), points }];
    let (x, y) =
        ((Over::Time.label(), Scale::LinearFromZero), ("Average latency (ms)", Scale::LinearFromZero));
    let lines = Lines::plain(ReadingHint::SaturationTimes, x, y, series);
    Page::named("average-over-time", "WSAT", "Average Latency v Time", Exhibit::Lines(lines))
}

/// Shows response times by drive fills.
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
    let mut page = Page::named(
        "response-times-over-fills",
        "WSAT",
        "ART, 5 9s and MRT v Drive Fills",
        Exhibit::Lines(Lines::plain(ReadingHint::OverFills, x, y, all)),
    );
    page.remarks.extend(context.maxima_note());
    if few {
        page.remarks.push(format!("99.999 % is n/a for {}s with fewer than a million I/Os.", answers.cell));
    }
    page
}
