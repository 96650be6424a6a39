//! The facts about a run in progress. This module is pure: callers pass the wall-clock time since the run was
//! first displayed, because that is how long users wait. Times in appended lines are measured by the drive's
//! clock.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use engine::Tick;
use live::{LiveSecond, MOST_LIVE_SECONDS};
use pts::forecast::Forecast;
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT};
use pts::{Context, Task, Unit};
use record::{Event, Judgement, Note, RunFile, Segment, Until, VariableJudgement, Workload};
use stdx::units::{SECOND_NS, amount_base10, count_of, counted, grouped, span};

use super::pace::{Length, Pace};
use super::view::{Left, Phase, Rate, View, Window};
use crate::audience::Step;

/// The state of a run in progress.
#[derive(Debug)]
pub struct Facts {
    /// Whether a cell takes as long as the settings specify.
    real_time: bool,
    /// Length of a cell in real time; `None` if it does not run in real time.
    real_cell: Option<Duration>,
    test: Option<String>,
    pace: Pace,
    part: Option<Part>,
    /// Rounds and values of each tracking variable since the last interruption.
    tracked: BTreeMap<String, Vec<(u32, f64)>>,
    window: Option<Window>,
    /// Number of completed cells in this round that the host may have limited, and the total number of completed
    /// cells.
    limited: (u32, u32),
    temperature_celsius: Option<i16>,
    /// Duration of the latest cell, which is displayed until the next activity starts.
    finished: Option<Duration>,
    /// Duration of this drive's latest purge; `None` if unknown.
    usual_purge: Option<Duration>,
    /// The most recent ticks.
    seconds: VecDeque<LiveSecond>,
}

/// The current activity.
#[derive(Debug)]
struct Part {
    phase: Phase,
    what: String,
    began: Duration,
    /// Length of the activity, if fixed.
    length: Option<Duration>,
    expected: Option<Duration>,
    /// The latest completed fraction, and the time when it was reported.
    share: Option<(f64, Duration)>,
    tick: Option<Tick>,
    /// Time of the latest tick with I/Os; until then, the beginning.
    last_io: Duration,
    /// Bytes written by a load that is not yet in the journal.
    written_bytes: Option<f64>,
    host_limited: bool,
}

impl Part {
    fn of(phase: Phase, what: impl Into<String>, began: Duration) -> Self {
        let what = what.into();
        let (length, expected, share, tick, written_bytes) = (None, None, None, None, None);
        let last_io = began;
        Self {
            phase,
            what,
            began,
            length,
            expected,
            share,
            tick,
            last_io,
            written_bytes,
            host_limited: false,
        }
    }

    fn left(&self, now: Duration) -> Option<Left> {
        let elapsed = now.saturating_sub(self.began);
        if let Some(length) = self.length {
            return Some(Left::Known(length.saturating_sub(elapsed)));
        }
        if let Some((share, at)) = self.share.filter(|(share, _)| *share > 0.0) {
            let taken = at.saturating_sub(self.began);
            let rest = taken.mul_f64(((1.0 - share) / share).clamp(0.0, 1e6));
            return Some(Left::Known(rest.saturating_sub(now.saturating_sub(at))));
        }
        let expected = self.expected?;
        Some(if elapsed > expected { Left::Overdue } else { Left::Expected(expected - elapsed) })
    }

    fn share_done(&self, now: Duration) -> Option<f64> {
        match (self.share, self.length) {
            (Some((share, _)), _) => Some(share.clamp(0.0, 1.0)),
            (None, Some(length)) if !length.is_zero() => {
                Some((now.saturating_sub(self.began).as_secs_f64() / length.as_secs_f64()).clamp(0.0, 1.0))
            }
            _ => None,
        }
    }
}

impl Facts {
    /// Creates the facts of a run; `usual_purge` is the duration of its drive's latest purge.
    pub fn of(run: &RunFile, usual_purge: Option<Duration>) -> Self {
        let bare = Self::without_tests(run.target.simulated.is_none());
        let settings = run.settings.as_ref();
        let length = |name: &String| {
            Some((name.clone(), Length::of(Task::named(run, name).ok()?, &Context::of(run).ok()?)))
        };
        Self {
            real_cell: settings.filter(|_| bare.real_time).map(|set| Duration::from_nanos(set.cell_ns)),
            pace: Pace::of(
                run.tests.iter().filter_map(length).collect(),
                settings.map_or(0, |settings| settings.max_rounds),
            ),
            usual_purge: usual_purge.filter(|_| bare.real_time),
            ..bare
        }
    }

    /// Creates the facts of a purge that is not part of a run.
    pub fn without_tests(real_time: bool) -> Self {
        Self {
            real_time,
            real_cell: None,
            test: None,
            pace: Pace::default(),
            part: None,
            tracked: BTreeMap::new(),
            window: None,
            limited: (0, 0),
            temperature_celsius: None,
            finished: None,
            usual_purge: None,
            seconds: VecDeque::new(),
        }
    }

    /// Returns whether the run proceeds in real time.
    pub const fn is_real_time(&self) -> bool {
        self.real_time
    }

    /// Returns the current view; `None` if no activity that takes time is in progress.
    pub fn view(&self, now: Duration) -> Option<View> {
        let part = self.part.as_ref()?;
        let left = part.left(now);
        let rest = match left {
            Some(Left::Known(rest)) => rest,
            _ => Duration::ZERO,
        };
        let is_load = matches!(part.phase, Phase::Cell | Phase::Precondition);
        let is_cell = part.phase == Phase::Cell;
        Some(View {
            phase: part.phase,
            test: self.test.clone(),
            what: part.what.clone(),
            round: is_cell.then(|| self.pace.round()),
            cell: match part.phase {
                Phase::Cell => Some(self.pace.cell()),
                Phase::Load => Some((self.pace.step(), None)),
                _ => None,
            },
            share_done: part.share_done(now),
            elapsed: now.saturating_sub(part.began),
            left,
            rate: part.tick.as_ref().map(rate),
            test_left: if is_load { self.pace.left(rest) } else { None },
            window: self.window.clone().filter(|_| is_load),
            temperature_celsius: self.temperature_celsius,
            host_limited: part.host_limited,
        })
    }

    /// Returns the most recent ticks, oldest first.
    pub const fn seconds(&self) -> &VecDeque<LiveSecond> {
        &self.seconds
    }

    /// Returns the time since the last I/O of the current load; `None` if no load is running. The load reports every second
    /// even if the device hangs.
    pub fn inactive(&self, now: Duration) -> Option<Duration> {
        let is_load = |part: &&Part| matches!(part.phase, Phase::Cell | Phase::Precondition | Phase::Load);
        self.part.as_ref().filter(is_load).map(|part| now.saturating_sub(part.last_io))
    }

    /// Returns the bytes that the current load has written but that are not yet in the journal.
    pub fn load_written_bytes(&self) -> Option<u64> {
        self.part.as_ref()?.written_bytes.map(|bytes| bytes as u64)
    }

    /// Ends the current activity.
    pub fn rest(&mut self) {
        self.part = None;
    }

    fn count_finished(&mut self) {
        if let Some(wall) = self.finished.take() {
            self.pace.measured_one(wall);
        }
    }

    /// Starts a step without ticks and returns the line for the log.
    pub fn step(&mut self, step: Step<'_>, now: Duration) -> String {
        self.count_finished();
        let part = match step {
            Step::Purge | Step::PurgeStep(_) => {
                Part { expected: self.usual_purge, ..Part::of(Phase::Purge, "", now) }
            }
            Step::Settle(what) => Part::of(Phase::Settle, what, now),
            Step::Rebuild(_) => Part::of(Phase::Rebuild, "", now),
            Step::Idle { length_ns } => {
                let length = self.real_time.then(|| Duration::from_nanos(length_ns));
                Part { length, ..Part::of(Phase::Idle, "", now) }
            }
        };
        self.part = match (step, self.part.take()) {
            // All steps belong to the same purge, but the completed fraction of one step does not apply to the
            // next.
            (Step::PurgeStep(_), Some(purge)) if purge.phase == Phase::Purge => {
                Some(Part { began: purge.began, ..part })
            }
            _ => Some(part),
        };
        step.to_string()
    }

    pub fn share_done(&mut self, share: f64, now: Duration) {
        if let Some(part) = &mut self.part {
            part.share = Some((share, now));
        }
    }

    /// Stores the drive's own estimate of the remaining time, counted from now.
    pub fn expected(&mut self, length: Duration, now: Duration) {
        if let Some(part) = &mut self.part {
            part.expected = Some(length + now.saturating_sub(part.began));
        }
    }

    pub fn begin(&mut self, workload: &Workload, measured: bool, now: Duration) {
        self.count_finished();
        let phase = match (measured, self.pace.is_in_round()) {
            (false, _) => Phase::Precondition,
            (true, true) => Phase::Cell,
            (true, false) => Phase::Load,
        };
        let length = match workload.until {
            Until::DurationNs(ns) if self.real_time => {
                Some(Duration::from_nanos(ns.saturating_add(workload.regime.ramp_ns)))
            }
            Until::DurationNs(_) | Until::AmountBytes(_) => None,
        };
        let written_bytes = Some(0.0);
        self.part = Some(Part { length, written_bytes, ..Part::of(phase, workload.to_string(), now) });
    }

    pub fn tick(&mut self, tick: &Tick, now: Duration) {
        if let Some(part) = &mut self.part {
            (part.tick, part.share) = (Some(*tick), Some((tick.share_done, now)));
            if tick.read_ios + tick.write_ios + tick.syncs > 0 {
                part.last_io = now;
            }
            let share_written = tick.write_ios as f64 / (tick.read_ios + tick.write_ios).max(1) as f64;
            part.written_bytes = part.written_bytes.map(|bytes| bytes + tick.bytes as f64 * share_written);
        }
        if self.seconds.len() == MOST_LIVE_SECONDS {
            self.seconds.pop_front();
        }
        self.seconds.push_back(second(tick));
    }

    /// Applies an event that is on disk and returns the lines for the log.
    pub fn event(&mut self, event: &Event, now: Duration) -> Vec<String> {
        match event {
            Event::TestStarted { test } => self.test_started(test, format!("test {test}")),
            Event::Restarted { test } => {
                let line =
                    format!("test {test} restarts from its purge; its earlier results no longer count");
                self.test_started(test, line)
            }
            Event::Purged(purged) => {
                self.part = None;
                let took = span(purged.end_ns.saturating_sub(purged.start_ns));
                vec![format!("purged by {} in {took}", purged.method)]
            }
            Event::Preconditioned(segment) => {
                self.part = None;
                vec![preconditioned(segment)]
            }
            Event::Measured(segment) => {
                self.measured(segment, now);
                Vec::new()
            }
            Event::Idled { .. } => {
                self.part = None;
                Vec::new()
            }
            Event::Health { health, .. } => {
                self.temperature_celsius = health.temperature_celsius.or(self.temperature_celsius);
                Vec::new()
            }
            Event::Noted(note) => self.note(note),
            _ => Vec::new(),
        }
    }

    fn test_started(&mut self, test: &str, line: String) -> Vec<String> {
        self.count_finished();
        self.part = None;
        self.test = Some(test.to_owned());
        self.pace.test_started(test, self.real_cell);
        self.tracked.clear();
        self.window = self.pace.seeks_steady_state().then_some(Window::EMPTY);
        vec![line]
    }

    /// The completed cell is displayed until the next one starts, because a cell that ends before its first tick
    /// would otherwise not be displayed at all.
    fn measured(&mut self, segment: &Segment, now: Duration) {
        let limited = segment.is_host_limited();
        self.limited = (self.limited.0 + u32::from(limited), self.limited.1 + 1);
        let Some(part) = &mut self.part else { return };
        self.finished = Some(now.saturating_sub(part.began));
        (part.tick, part.share, part.written_bytes) = (Some(whole(segment)), Some((1.0, now)), None);
        part.host_limited = limited;
    }

    fn note(&mut self, note: &Note) -> Vec<String> {
        self.count_finished();
        match note {
            Note::RoundStarted { round, cells } => {
                self.pace.round_started(*round, *cells);
                self.limited = (0, 0);
                Vec::new()
            }
            Note::RoundsEnded => {
                self.pace.rounds_ended();
                self.tracked.clear();
                Vec::new()
            }
            Note::Judged(judgement) => self.judged(judgement),
            Note::Skipped { what, why } => vec![format!("skipped {what}: {why}")],
            Note::WindowRestarted { first_round } => {
                self.pace.interrupted();
                self.tracked.clear();
                self.window = self.window.take().map(|_| Window::EMPTY);
                vec![format!("interrupted: the steady-state window restarts at round {first_round}")]
            }
        }
    }

    fn judged(&mut self, judgement: &Judgement) -> Vec<String> {
        let (_, last) = self.pace.round();
        self.pace.judged();
        for variable in &judgement.variables {
            let values = self.tracked.entry(variable.name.clone()).or_default();
            // Each test, and each part of a test, counts its rounds from 1.
            values.retain(|value| value.0 < judgement.round);
            values.push((judgement.round, variable.value));
        }
        let values_of = |name: &str| self.tracked.get(name).cloned().unwrap_or_default();
        self.window = Some(Window::of(judgement, last, values_of));
        let mark = match self.limited {
            (0, _) => String::new(),
            (limited, all) => format!("  host-limited: {} of {}", counted(limited), count_of(all, "cell")),
        };
        let unit = self.pace.tracked_unit();
        let line = |variable: &VariableJudgement| {
            let forecast = Forecast::of(&values_of(&variable.name)).until(Some(last));
            judgement_line(judgement.round, variable, forecast, unit) + &mark
        };
        judgement.variables.iter().map(line).collect()
    }
}

fn rate(tick: &Tick) -> Rate {
    let seconds = tick.interval_ns.max(1) as f64 / SECOND_NS as f64;
    Rate {
        iops: (tick.read_ios + tick.write_ios) as f64 / seconds,
        syncs_per_second: tick.syncs as f64 / seconds,
        bytes_per_second: tick.bytes as f64 / seconds,
        mean_latency_ms: tick.latency_mean_ns as f64 / 1e6,
        max_latency_ms: None,
    }
}

fn second(tick: &Tick) -> LiveSecond {
    let Rate { iops, bytes_per_second, .. } = rate(tick);
    LiveSecond {
        elapsed_seconds: tick.elapsed_ns as f64 / 1e9,
        iops,
        bytes_per_second,
        mean_latency_seconds: tick.latency_mean_ns as f64 / 1e9,
        max_latency_seconds: tick.latency_max_ns as f64 / 1e9,
    }
}

/// Returns a completed load as a single tick.
fn whole(segment: &Segment) -> Tick {
    let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let ns = |ms: Option<f64>| (ms.unwrap_or(0.0) * 1e6) as u64;
    Tick {
        elapsed_ns: length_ns,
        interval_ns: length_ns,
        read_ios: segment.read.ios,
        write_ios: segment.write.ios,
        syncs: segment.synced.as_ref().map_or(0, |synced| synced.syncs),
        bytes: segment.read.bytes + segment.write.bytes,
        latency_mean_ns: ns(segment.mean_latency_ms()),
        latency_max_ns: ns(segment.max_latency_ms()),
        share_done: 1.0,
    }
}

fn preconditioned(segment: &Segment) -> String {
    format!(
        "preconditioned: {} of {} at {} MB/s in {}",
        amount_base10(segment.write.bytes),
        segment.workload,
        grouped(segment.megabytes_per_second(), 1),
        span(segment.end_ns.saturating_sub(segment.start_ns))
    )
}

fn judgement_line(round: u32, v: &VariableJudgement, forecast: Forecast, unit: Option<Unit>) -> String {
    let verdict = match (v.steady, v.range_share.is_some()) {
        (true, _) => "  steady".to_owned(),
        (false, true) => format!("  not steady; {forecast}"),
        (false, false) if forecast == Forecast::TooFew => String::new(),
        (false, false) => format!("  {forecast}"),
    };
    let percent = |share: f64, limit: f64| {
        let sign = if share <= limit { '\u{2264}' } else { '>' };
        format!("{:.1} {sign} {:.0} %", share * 100.0, limit * 100.0)
    };
    let value = grouped(v.value, if v.value < 10.0 { 3 } else { 1 });
    let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
    let head = format!("round {round:>2}  {} {value}{unit}", v.name);
    match (v.range_share, v.slope_share) {
        (Some(range), Some(slope)) => format!(
            "{head}  range {}  slope {}{verdict}",
            percent(range, RANGE_LIMIT),
            percent(slope, SLOPE_LIMIT)
        ),
        _ => head + &verdict,
    }
}

#[cfg(test)]
mod tests;
