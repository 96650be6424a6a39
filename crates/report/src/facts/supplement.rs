//! Supplement to the report, which the specification does not require: IOPS, response times and the health of
//! drive and host on one time axis, and response times up to five nines. One file per quantity; all times
//! come from `timing`.

mod course;
pub(crate) mod file_share;
mod health;
mod heat;
pub(crate) mod latest;
pub(crate) mod per_watt;
pub(crate) mod per_workload;
pub(crate) mod percentiles;
mod timing;
pub(crate) mod workload_table;

use crate::facts::answers::{Answer, Phase, answers};
use crate::facts::host_limit::chart_remark;
use crate::facts::judged::JudgedRun;
use crate::facts::scaled_clock::ScaledClock;
use charts::{Content, Panel, TimeLine};
use record::{Entry, RunFile};
use timing::Timing;

/// The supplementary data of one test.
#[derive(Debug, Clone)]
pub(crate) struct Supplement {
    /// Name of the test.
    pub test: String,
    pub title: String,
    /// Actual cost, compared with the estimate.
    pub spent: Option<String>,
    /// IOPS, response times and health over the whole test.
    pub timeline: TimeLine,
    /// Explains how to read the timeline, and which times it omits.
    pub remark: String,
    /// Workloads of the window with their response times; empty for tests with too many.
    pub workloads: Vec<percentiles::WorkloadTimes>,
}

/// Timelines of all tests in a journal. They do not depend on the outcomes.
pub(crate) struct TimeLines<'a> {
    scaled: ScaledClock,
    all: Vec<TestTimeLine<'a>>,
}

#[derive(Default)]
struct TestTimeLine<'a> {
    test: &'a str,
    timing: Timing<'a>,
    timeline: TimeLine,
    /// Quantities that neither drive nor host reported.
    unavailable: Vec<&'static str>,
}

/// Collects the timelines of all tests.
pub(crate) fn timelines<'a>(run: &RunFile, entries: &'a [Entry]) -> TimeLines<'a> {
    let scaled = ScaledClock::of(entries, run.scale_divisor());
    let timings = timing::timings(entries, &scaled);
    // This runs in parallel because it visits every second of every test.
    let drawn = stdx::parallel::mapped(&timings, |(_, timing)| timeline(timing));
    let all = timings.into_iter().zip(drawn).map(|((test, timing), (timeline, unavailable))| TestTimeLine {
        test,
        timing,
        timeline,
        unavailable,
    });
    let all = all.collect();
    TimeLines { scaled, all }
}

/// Collects the data of every test that did I/O; for others, there are only empty axes.
pub(crate) fn supplements(judged: JudgedRun<'_>, timelines: TimeLines<'_>) -> Vec<Supplement> {
    let answers = answers(judged.entries);
    let scale_divisor = judged.run.scale_divisor();
    let spent = estimate::cost::of_run(judged.run, judged.entries);
    let TimeLines { scaled, all: mut timelines } = timelines;
    let of = |outcome: &pts::Outcome| {
        let measured: Vec<&Answer<'_>> =
            answers.iter().filter(|a| a.test == outcome.test && a.phase == Phase::Measure).collect();
        let place = timelines.iter().position(|of| of.test == outcome.test);
        let TestTimeLine { timing, timeline, unavailable, .. } =
            place.map(|place| timelines.swap_remove(place)).unwrap_or_default();
        Supplement {
            test: outcome.test.clone(),
            title: outcome.title.clone(),
            spent: spent.iter().find(|spent| spent.test == outcome.test).map(ToString::to_string),
            remark: remark(&timing, &unavailable, (scale_divisor, &scaled), outcome),
            timeline,
            workloads: percentiles::workloads(judged.outcomes, &measured),
        }
    };
    judged.outcomes.iter().map(of).filter(|test| test.timeline.to_minutes > 0.0).collect()
}

/// Returns the timeline of a test, and the names of the quantities that neither drive nor host reported.
fn timeline(timing: &Timing<'_>) -> (TimeLine, Vec<&'static str>) {
    let to_minutes = timing.end_minutes();
    let mut panels = vec![
        Panel { title: "IOPS".into(), content: Content::Course(course::course(timing, to_minutes)) },
        Panel {
            title: "Response time (ms)".into(),
            content: Content::Heat(heat::columns(timing, to_minutes)),
        },
    ];
    let (available, unavailable) = health::panels(timing);
    panels.extend(available);
    (TimeLine { to_minutes, interruptions: timing.interruptions.clone(), panels }, unavailable)
}

fn remark(
    timing: &Timing<'_>,
    unavailable: &[&str],
    (scale_divisor, scaled): (u32, &ScaledClock),
    outcome: &pts::Outcome,
) -> String {
    let mut text = "The axis begins with the first I/O of the test.".to_owned();
    if !timing.interruptions.is_empty() {
        text += " A dashed red line marks an interruption, whose duration is left out.";
    }
    if scale_divisor > 1 {
        text += &format!(
            " Minutes refer to the full-size drive: {scale_divisor} times the minutes of the scaled drive."
        );
    }
    if scaled.is_stretched() {
        text += " Cells that the simulator extended have the requested length.";
    }
    if let Some(count) = &outcome.host_limited {
        text += &format!(" {}", chart_remark(count));
    }
    match unavailable {
        [] => {}
        all if timing.readings.is_empty() => {
            text += &format!(" No health data was available: no {}.", all.join(", no "));
        }
        some => text += &format!(" Not reported by drive or host: {}.", some.join(", ")),
    }
    text
}
