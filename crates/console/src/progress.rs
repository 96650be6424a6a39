//! The progress of a running test. `facts.rs` collects the facts about a run, a `View` is a snapshot of these
//! facts, and lines and records are made from views. All of these are pure; the board decides when to display
//! them.
//!
//! Reads the wall clock only to show users how long the run will take; no decision depends on it.

mod board;
mod facts;
mod json;
mod lines;
mod live;
mod pace;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::Tick;
use record::{Event, Run, RunFile, TargetFacts, Workload};

use crate::audience::{Audience, Step};
use crate::printer::{self, Style};
pub use board::{Board, Row, Watched};
use facts::Facts;
use live::LiveThread;
pub use view::{Left, Phase, Rate, View};

/// Displays a run in progress on standard error.
#[derive(Debug)]
pub struct Progress {
    board: Arc<Board>,
    row: usize,
    facts: Arc<Shown>,
    /// Whether cells run in real time. Cells on a simulated drive may follow each other faster than a person
    /// can read.
    is_real_time: bool,
    run: Option<String>,
    /// Prefix of the run's lines if there are several runs.
    name: String,
    /// The most recent line.
    last: String,
    /// Writes the run's `live` file.
    live: Option<LiveThread>,
}

/// The facts about a run in progress; the threads that update the display and the `live` file read them.
#[derive(Debug)]
struct Shown(Mutex<Facts>);

impl Shown {
    fn lock(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched for Shown {
    fn view(&self, now: Duration) -> Option<View> {
        self.lock().view(now)
    }
}

impl Progress {
    /// Displays a single run.
    pub fn of(run: &Run, usual_purge: Option<Duration>) -> Self {
        Self::on(&Arc::new(Board::of_process()), &run.file, usual_purge, "").with_live_file(run)
    }

    /// Displays one of several runs, named by the beginning of its id.
    pub fn alongside_others(board: &Arc<Board>, run: &Run, usual_purge: Option<Duration>) -> Self {
        let id = &run.file.id;
        Self::on(board, &run.file, usual_purge, id.split('-').next().unwrap_or(id)).with_live_file(run)
    }

    fn with_live_file(mut self, run: &Run) -> Self {
        let (id, facts, board) = (run.file.id.clone(), Arc::clone(&self.facts), Arc::clone(&self.board));
        let state = move || live::state(&id, &facts.lock(), board.now(), record::wall_now());
        self.live = LiveThread::begin(run, state);
        self
    }

    fn on(board: &Arc<Board>, run: &RunFile, usual_purge: Option<Duration>, name: &str) -> Self {
        Self::showing(board, Facts::of(run, usual_purge), Some(&run.id), &run.target.path, name)
    }

    /// Displays a purge that is not part of a run.
    pub fn of_purge(target: &TargetFacts) -> Self {
        let facts = Facts::without_tests(target.simulated.is_none());
        Self::showing(&Arc::new(Board::of_process()), facts, None, &target.path, "")
    }

    fn showing(board: &Arc<Board>, facts: Facts, run: Option<&str>, target: &str, name: &str) -> Self {
        let is_real_time = facts.is_real_time();
        let facts = Arc::new(Shown(Mutex::new(facts)));
        let (run, name) = (run.map(str::to_owned), name.to_owned());
        let row = board.add(Row {
            watched: Arc::clone(&facts) as Arc<dyn Watched>,
            name: name.clone(),
            run: run.clone(),
            target: Some(target.to_owned()),
        });
        Self {
            board: Arc::clone(board),
            row,
            facts,
            is_real_time,
            run,
            name,
            last: String::new(),
            live: None,
        }
    }

    /// Prints a line of progress, unless progress is disabled.
    fn print_if_shown(&mut self, line: &str) {
        line.clone_into(&mut self.last);
        if printer::manner().style != Style::Quiet {
            self.print_line(line);
        }
    }
}

impl Audience for Progress {
    fn step(&mut self, step: Step<'_>) {
        let line = self.facts.lock().step(step, self.board.now());
        // Consecutive idle times are printed only once: a test may idle hundreds of times between short bursts.
        if !matches!(step, Step::Idle { .. }) || line != self.last {
            self.print_if_shown(&line);
        }
        self.board.begun(self.row);
    }

    fn share_done(&mut self, share: f64) {
        self.facts.lock().share_done(share, self.board.now());
        self.board.changed(self.row);
    }

    fn expected(&mut self, length: Duration) {
        self.facts.lock().expected(length, self.board.now());
        self.board.changed(self.row);
    }

    fn begin(&mut self, workload: &Workload, measured: bool) {
        self.facts.lock().begin(workload, measured, self.board.now());
        if measured && !self.is_real_time {
            self.board.changed(self.row);
        } else {
            self.board.begun(self.row);
        }
    }

    fn tick(&mut self, tick: &Tick) {
        self.facts.lock().tick(tick, self.board.now());
        self.board.changed(self.row);
    }

    fn event(&mut self, event: &Event) {
        let lines = self.facts.lock().event(event, self.board.now());
        lines.iter().for_each(|line| self.print_if_shown(line));
        self.board.changed(self.row);
    }

    fn print_line(&mut self, line: &str) {
        printer::print_line_of(self.run.as_deref().map(|run| (run, self.name.as_str())), line);
    }

    fn clear(&mut self) {
        self.facts.lock().rest();
        self.board.clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.live = None;
        self.clear();
    }
}
