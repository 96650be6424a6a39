//! What a running test looks like: one line that is rewritten on a terminal, plain lines elsewhere.
//!
//! Reads the wall clock, but only to tell people how long it will take; nothing is decided on it.

mod board;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drive::Tick;
use pts::forecast::Forecast;
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use pts::{Context, Task};
use record::{Event, Judgement, Note, RunFile, Segment, Workload};
use stdx::units::{SECOND_NS, amount_base10, count_of, grouped, span};

use crate::audience::Audience;
use crate::printer;
pub use board::Board;

/// Without a terminal the state is printed this often.
const PLAIN_EVERY: Duration = Duration::from_secs(30);
/// On a terminal the line is rewritten at most this often.
const LIVE_EVERY: Duration = Duration::from_millis(100);

/// Shows a run while it goes on, on standard error.
#[derive(Debug)]
pub struct Progress {
    live: bool,
    /// Of several runs at the same time: where its line is, and what it is called.
    row: Option<(Arc<Board>, usize, String)>,
    shown: Instant,
    line_open: bool,
    /// Of a step without ticks.
    told_percent: u32,
    workload: Option<Workload>,
    part_began: Instant,
    /// Length of a cell where it passes in real time.
    real_cell: Option<Duration>,
    pace: Pace,
    /// Rounds and values of each tracking variable since the last interruption.
    tracked: BTreeMap<String, Vec<(u32, f64)>>,
    /// Finished cells of this round that the host may have limited, and all finished ones.
    limited: (u32, u32),
}

/// Where the test is, and how long its cells take on the wall clock.
#[derive(Debug, Clone, Default)]
struct Pace {
    /// Of every test of the run, by name.
    lengths: BTreeMap<String, Length>,
    preconditioning: bool,
    round: u32,
    cell: u32,
    cells: u32,
    /// Of a test that ends with its steady state.
    max_rounds: u32,
    fixed_rounds: Option<u32>,
    rounds_since_gap: u32,
    cell_wall: Option<Duration>,
    measured: u32,
    measured_wall: Duration,
}

/// How much a test has to do.
#[derive(Debug, Clone, Copy, Default)]
struct Length {
    cells_per_round: u32,
    fixed_rounds: Option<u32>,
    /// Where it is not that of the settings.
    cell: Option<Duration>,
}

impl Length {
    fn of(task: Task<'_>, context: &Context<'_>) -> Self {
        let cell = task.mean_cell_ns(context).map(Duration::from_nanos);
        Self { cells_per_round: task.cells_per_round(), fixed_rounds: task.fixed_rounds(), cell }
    }
}

impl Progress {
    pub fn of(run: &RunFile) -> Self {
        let now = Instant::now();
        let real_time = run.target.simulated.is_none();
        let length = |name: &String| {
            Some((name.clone(), Length::of(Task::named(run, name).ok()?, &Context::of(run).ok()?)))
        };
        let lengths = run.tests.iter().filter_map(length).collect();
        Self {
            live: std::io::stderr().is_terminal(),
            row: None,
            shown: now,
            line_open: false,
            told_percent: 0,
            workload: None,
            part_began: now,
            real_cell: real_time.then(|| Duration::from_nanos(run.settings.cell_ns)),
            pace: Pace { max_rounds: run.settings.max_rounds, lengths, ..Pace::default() },
            tracked: BTreeMap::new(),
            limited: (0, 0),
        }
    }

    /// The same as one of several: in a row of `board`, under a name.
    pub fn on(mut self, board: &Arc<Board>, row: usize, name: &str) -> Self {
        let short = name.split('-').next().unwrap_or(name);
        self.row = Some((Arc::clone(board), row, short.to_owned()));
        self
    }

    fn show(&mut self, tick: &Tick, mark: &str) {
        let every = if self.live { LIVE_EVERY } else { PLAIN_EVERY };
        if self.shown.elapsed() < every {
            return;
        }
        let Some(workload) = &self.workload else { return };
        let line = self.pace.line(workload, tick, self.part_began.elapsed()) + mark;
        self.shown = Instant::now();
        match (&self.row, self.live) {
            (Some((board, row, name)), true) => board.set(*row, format!("{name}  {line}")),
            (None, true) => {
                printer::control(&printer::rewritten(&line));
                self.line_open = true;
            }
            (_, false) => self.say(&line),
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::RoundStarted { round, cells } => {
                self.pace.round_started(*round, *cells);
                self.limited = (0, 0);
            }
            Note::RoundsEnded => {
                self.pace.rounds_ended();
                self.tracked.clear();
            }
            Note::Judged(judgement) => {
                self.pace.rounds_since_gap += 1;
                let mark = match self.limited {
                    (0, _) => String::new(),
                    (limited, all) => format!("  host-limited: {limited} of {}", count_of(all, "cell")),
                };
                let lines = judgement_lines(judgement, &mut self.tracked);
                lines.iter().for_each(|line| self.say(&format!("{line}{mark}")));
            }
            Note::Skipped { what, why } => self.say(&format!("skipped {what}: {why}")),
            Note::WindowRestarted { first_round } => {
                self.pace.rounds_since_gap = 0;
                self.tracked.clear();
                self.say(&format!("interrupted: rounds count anew from round {first_round}"));
            }
        }
    }
}

impl Audience for Progress {
    fn phase(&mut self, what: &str) {
        self.say(what);
    }

    fn share_done(&mut self, share: f64) {
        let percent = (share * 20.0) as u32 * 5;
        // In whole twentieths.
        if percent > self.told_percent {
            self.say(&format!("{percent} %"));
        }
        self.told_percent = percent;
    }

    fn begin(&mut self, workload: &Workload, measured: bool) {
        self.part_began = Instant::now();
        self.pace.preconditioning = !measured;
        self.workload = Some(workload.clone());
    }

    fn tick(&mut self, tick: &Tick) {
        self.show(tick, "");
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::TestStarted { test } => {
                self.say(&format!("test {test}"));
                self.pace.test_started(test, self.real_cell);
            }
            Event::Restarted { test } => {
                self.say(&format!(
                    "test {test} begins again at its purge; its earlier answers count no more"
                ));
                self.pace.test_started(test, self.real_cell);
            }
            Event::Purged(purged) => {
                let took = span(purged.end_ns.saturating_sub(purged.start_ns));
                self.say(&format!("purged by {} in {took}", purged.method));
            }
            Event::Preconditioned(segment) => {
                let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
                self.say(&format!(
                    "preconditioned: {} of {} at {} MB/s in {}",
                    amount_base10(segment.write.bytes),
                    segment.workload,
                    grouped(segment.megabytes_per_second(), 1),
                    span(length_ns)
                ));
            }
            Event::Measured(segment) => {
                // Cells that are over before their first tick would show nothing.
                let limited = segment.is_host_limited();
                self.show(&whole(segment), if limited { "  host-limited" } else { "" });
                self.limited = (self.limited.0 + u32::from(limited), self.limited.1 + 1);
                self.pace.measured_one(self.part_began.elapsed());
            }
            Event::Noted(note) => self.note(note),
            _ => {}
        }
    }

    fn say(&mut self, line: &str) {
        if let Some((board, _, name)) = &self.row {
            return board.say(&format!("{name}  {line}"));
        }
        self.clear();
        printer::tell_line(line);
    }

    fn clear(&mut self) {
        if let Some((board, row, _)) = &self.row {
            board.set(*row, String::new());
        }
        if std::mem::take(&mut self.line_open) {
            printer::control("\r\x1b[2K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn judgement_lines(judgement: &Judgement, tracked: &mut BTreeMap<String, Vec<(u32, f64)>>) -> Vec<String> {
    let mut verdict = |v: &record::VariableJudgement| {
        let values = tracked.entry(v.name.clone()).or_default();
        // Another test, or another part of one, counts its rounds from the beginning.
        values.retain(|value| value.0 < judgement.round);
        values.push((judgement.round, v.value));
        let forecast = Forecast::of(values);
        match (v.steady, v.range_share.is_some()) {
            (true, _) => "  steady".to_owned(),
            (false, true) => format!("  not steady; {forecast}"),
            (false, false) if forecast == Forecast::TooFew => String::new(),
            (false, false) => format!("  {forecast}"),
        }
    };
    let percent = |share: f64, limit: f64| format!("{:.1} % (limit {:.0} %)", share * 100.0, limit * 100.0);
    let mut line = |v: &record::VariableJudgement| {
        let verdict = verdict(v);
        let head = format!(
            "round {:>2}  {} {}",
            judgement.round,
            v.name,
            grouped(v.value, if v.value < 10.0 { 3 } else { 1 })
        );
        match (v.range_share, v.slope_share) {
            (Some(range), Some(slope)) => format!(
                "{head}  range {}  slope {}{verdict}",
                percent(range, RANGE_LIMIT),
                percent(slope, SLOPE_LIMIT)
            ),
            _ => head + &verdict,
        }
    };
    judgement.variables.iter().map(&mut line).collect()
}

impl Pace {
    fn test_started(&mut self, name: &str, real_cell: Option<Duration>) {
        let length = self.lengths.get(name).copied().unwrap_or_default();
        *self = Self {
            cells: length.cells_per_round,
            fixed_rounds: length.fixed_rounds,
            lengths: std::mem::take(&mut self.lengths),
            cell_wall: real_cell.map(|cell| length.cell.unwrap_or(cell)),
            max_rounds: self.max_rounds,
            ..Self::default()
        };
    }

    fn round_started(&mut self, round: u32, cells: u32) {
        (self.round, self.cells, self.cell) = (round, cells, 0);
    }

    /// What follows is no cell, and other rounds begin anew.
    fn rounds_ended(&mut self) {
        (self.round, self.cells, self.rounds_since_gap) = (0, 0, 0);
    }

    fn measured_one(&mut self, wall: Duration) {
        self.cell += 1;
        self.measured += 1;
        self.measured_wall += wall;
        self.cell_wall = Some(self.measured_wall / self.measured);
    }

    fn line(&self, workload: &Workload, tick: &Tick, part_wall: Duration) -> String {
        let seconds = tick.interval_ns.max(1) as f64 / SECOND_NS as f64;
        let ios = (tick.read_ios + tick.write_ios) as f64;
        let rate = format!(
            "{} IOPS  {} MB/s  {:.2} ms",
            grouped(ios / seconds, 0),
            grouped(tick.bytes as f64 / seconds / 1e6, 1),
            tick.latency_mean_ns as f64 / 1e6
        );
        let percent = (tick.share_done * 100.0).min(100.0);
        let rest = remaining(part_wall, tick.share_done);
        if self.preconditioning {
            let eta = rest.map(|rest| self.eta(rest)).unwrap_or_default();
            return format!("preconditioning {percent:.0} %  {workload}  {rate}{eta}");
        }
        if self.round == 0 {
            return format!("step {}  {percent:.0} %  {workload}  {rate}", self.measured + 1);
        }
        let eta = self.eta(rest.unwrap_or_default());
        let (round, cell) = (self.round, self.cell + 1);
        // Behind an interruption rounds count anew.
        let void = (round - 1).saturating_sub(self.rounds_since_gap);
        let rounds = self.fixed_rounds.unwrap_or(self.max_rounds.saturating_add(void));
        format!("round {round}/{rounds}  cell {cell}/{}  {workload}  {rate}{eta}", self.cells)
    }

    /// From the end of the earliest possible round of decision to the end of the last round.
    fn eta(&self, rest_of_part: Duration) -> String {
        let Some(cell_wall) = self.cell_wall.filter(|_| self.cells > 0) else { return String::new() };
        let begun = u32::from(self.round > 0);
        let left_in_round = if begun == 0 { 0 } else { self.cells.saturating_sub(self.cell + 1) };
        let behind = self.fixed_rounds.map_or(self.rounds_since_gap + begun, |_| self.round);
        let rounds = |wanted: u32| wanted.saturating_sub(behind);
        let until = |wanted: u32| {
            rest_of_part + cell_wall * (left_in_round + rounds(wanted).saturating_mul(self.cells))
        };
        let text = |time: Duration| span(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        match self.fixed_rounds {
            Some(all) => format!("  ETA {}", text(until(all))),
            None => {
                let (from, to) = (text(until(WINDOW_ROUNDS as u32)), text(until(self.max_rounds)));
                if from == to { format!("  ETA {to}") } else { format!("  ETA {from} to {to}") }
            }
        }
    }
}

/// A finished load as one tick.
fn whole(segment: &Segment) -> Tick {
    let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let ns = |ms: Option<f64>| (ms.unwrap_or(0.0) * 1e6) as u64;
    Tick {
        elapsed_ns: length_ns,
        interval_ns: length_ns,
        read_ios: segment.read.ios,
        write_ios: segment.write.ios,
        bytes: segment.read.bytes + segment.write.bytes,
        latency_mean_ns: ns(segment.mean_latency_ms()),
        latency_max_ns: ns(segment.max_latency_ms()),
        share_done: 1.0,
    }
}

fn remaining(elapsed: Duration, share_done: f64) -> Option<Duration> {
    (share_done > 0.0).then(|| elapsed.mul_f64(((1.0 - share_done) / share_done).clamp(0.0, 1e6)))
}
