//! Displays one or more runs: rewrites lines on a terminal, and appends lines elsewhere.
//!
//! The thread that drives a load reports progress about once a second, and each report causes a redraw. The
//! board's own thread redraws rows that receive no reports, for example during a purge that takes minutes.
//! Redraws are limited to ten per second.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::json::Record;
use super::lines::{self, Detail, Shape};
use super::view::{Phase, View};
use crate::printer::{self, Manner, Style};
use crate::screen::{Line, Taskbar};
use crate::terminal::Size;

/// Minimum interval between rewrites on a terminal.
const LIVE_EVERY: Duration = Duration::from_millis(100);
/// Interval between redraws of rows without reports on a terminal; minimum interval between records for
/// programs.
const SECOND: Duration = Duration::from_secs(1);
/// Time without a report after which the board redraws a row itself; loads report about once a second.
const SILENCE: Duration = Duration::from_millis(1_500);
/// Interval between appended lines.
const PLAIN_EVERY: Duration = Duration::from_secs(60);
/// Number of terminal rows reserved for scrolling output.
const ROWS_LEFT: usize = 3;

/// A run whose view the board can request for any time since the board was created.
pub trait Watched: Send + Sync {
    /// Returns what to display; `None` if there is nothing to display.
    fn view(&self, now: Duration) -> Option<View>;
}

/// A run on the board.
pub struct Row {
    /// What is displayed.
    pub watched: Arc<dyn Watched>,
    /// Prefix of the run's lines if there are several runs.
    pub name: String,
    /// Id of the run, for programs.
    pub run: Option<String>,
    /// Path of the target, for programs.
    pub target: Option<String>,
}

/// Displays the views of all runs.
pub struct Board {
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

struct Shared {
    manner: Manner,
    origin: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    rows: Vec<Row>,
    /// Time at which each row was last displayed; on a terminal, all rows are displayed at once.
    shown: Vec<Option<Duration>>,
    /// Time of the latest reported change to each row.
    reported: Vec<Option<Duration>>,
    is_over: bool,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").finish_non_exhaustive()
    }
}

impl Board {
    /// Creates an empty board with this process's progress style.
    pub fn of_process() -> Self {
        let shared = Arc::new(Shared {
            manner: printer::manner(),
            origin: Instant::now(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let thread = match shared.manner.style {
            Style::Quiet => None,
            Style::Live | Style::Plain | Style::Json => {
                let shared = Arc::clone(&shared);
                let named = std::thread::Builder::new().name("progress".into());
                // If the thread cannot be started, rows are redrawn only when a report arrives.
                named.spawn(move || shared.redraw_silent_rows()).ok()
            }
        };
        Self { shared, thread }
    }

    /// Adds a run; returns its row.
    pub fn add(&self, row: Row) -> usize {
        let mut state = self.shared.lock();
        state.rows.push(row);
        state.shown.push(None);
        state.reported.push(None);
        state.rows.len() - 1
    }

    /// Returns the time since the board was created.
    pub fn now(&self) -> Duration {
        self.shared.origin.elapsed()
    }

    /// Reports a change in a row.
    pub fn changed(&self, row: usize) {
        let now = self.now();
        let mut state = self.shared.lock();
        state.reported[row] = Some(now);
        self.shared.show_if_due(&mut state, row, now, true);
    }

    /// Reports a new activity in a row. The activity's record is written at once, and the interval between appended
    /// lines restarts.
    pub fn begun(&self, row: usize) {
        let now = self.now();
        let mut state = self.shared.lock();
        match self.shared.manner.style {
            Style::Live | Style::Json => self.shared.show(&mut state, row, now),
            Style::Plain => state.shown[row] = state.shown[row].or(Some(now)),
            Style::Quiet => {}
        }
    }

    /// Removes rows without a view.
    pub fn clear(&self) {
        let now = self.now();
        if self.shared.manner.style == Style::Live {
            self.shared.draw(&mut self.shared.lock(), now);
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        state.rows.clear();
        drop(state);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread returns no result.
            drop(thread.join());
        }
        if self.shared.manner.style == Style::Live {
            printer::show(Vec::new(), Taskbar::Nothing);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show_if_due(&self, state: &mut State, row: usize, now: Duration, is_report: bool) {
        if state.shown.get(row).is_some_and(|shown| is_due(self.manner.style, *shown, now, is_report)) {
            self.show(state, row, now);
        }
    }

    fn show(&self, state: &mut State, row: usize, now: Duration) {
        match self.manner.style {
            Style::Live => self.draw(state, now),
            Style::Json => self.write_record(state, row, now),
            Style::Plain => self.log(state, row, now),
            Style::Quiet => {}
        }
    }

    fn redraw_silent_rows(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let waited = self.changed.wait_timeout(state, SECOND);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let now = self.origin.elapsed();
            for row in 0..state.rows.len() {
                if state.reported[row].is_none_or(|reported| now.saturating_sub(reported) >= SILENCE) {
                    self.show_if_due(&mut state, row, now, false);
                }
            }
        }
    }

    /// Rewrites the lines of all runs.
    fn draw(&self, state: &mut State, now: Duration) {
        if state.is_over {
            return;
        }
        let seen: Vec<(&str, View)> =
            state.rows.iter().filter_map(|row| Some((row.name.as_str(), row.watched.view(now)?))).collect();
        let (size, err) = (printer::size(), self.manner.err);
        let shape = Shape { width: printer::room(size), colour: err.colour, unicode: err.unicode };
        printer::show(block(&seen, size, shape), taskbar(&seen));
        state.shown.iter_mut().for_each(|shown| *shown = Some(now));
    }

    fn write_record(&self, state: &mut State, row: usize, now: Duration) {
        state.shown[row] = Some(now);
        let row = &state.rows[row];
        if let Some(view) = row.watched.view(now) {
            let (run, target) = (row.run.as_deref(), row.target.as_deref());
            printer::print_record(&Record::of(&view, run, target, record::wall_now()));
        }
    }

    /// Appends a line that is not rewritten.
    fn log(&self, state: &mut State, row: usize, now: Duration) {
        state.shown[row] = Some(now);
        let row = &state.rows[row];
        if let Some(view) = row.watched.view(now) {
            let run = row.run.as_deref().map(|run| (run, row.name.as_str()));
            printer::print_line_of(run, &lines::plain(&view));
        }
    }
}

/// Returns whether to display a row again, either because it changed (`is_report`) or because it was last `shown`
/// long ago.
fn is_due(style: Style, shown: Option<Duration>, now: Duration, is_report: bool) -> bool {
    // For a row not yet displayed, the interval starts when the board is created or the activity starts.
    let since = now.saturating_sub(shown.unwrap_or_default());
    match style {
        Style::Live if is_report => shown.is_none() || since >= LIVE_EVERY,
        Style::Live | Style::Json => shown.is_none() || since >= SECOND,
        Style::Plain => since >= PLAIN_EVERY,
        Style::Quiet => false,
    }
}

/// Returns the lines of all runs that fit on the terminal.
fn block(seen: &[(&str, View)], size: Size, shape: Shape) -> Vec<Line> {
    let room = size.rows.saturating_sub(ROWS_LEFT).max(1);
    let detail = match seen.len() {
        0 | 1 if room >= 3 => Detail::Full,
        runs if 2 * runs <= room => Detail::Brief,
        _ => Detail::OneLine,
    };
    if detail == Detail::OneLine && seen.len() > room {
        let (shown, left_out) = seen.split_at(room - 1);
        let lines = shown.iter().flat_map(|(name, view)| lines::lines(view, name, detail, shape));
        return lines.chain([lines::more(left_out.len(), shape)]).collect();
    }
    seen.iter().flat_map(|(name, view)| lines::lines(view, name, detail, shape)).collect()
}

/// Shows the progress of the run that has made the least progress.
fn taskbar(seen: &[(&str, View)]) -> Taskbar {
    if seen.is_empty() {
        return Taskbar::Nothing;
    }
    let shares =
        seen.iter().filter(|(_, view)| view.phase != Phase::Idle).map(|(_, view)| view.share_of_stage());
    let least = shares.flatten().min_by(f64::total_cmp);
    least.map_or(Taskbar::Busy, |share| Taskbar::Percent((share * 100.0) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Counts how often a row is displayed in `seconds`; with `is_report`, a change is reported every 10 ms.
    fn times_shown(style: Style, seconds: u64, is_report: bool) -> usize {
        let (mut shown, mut count) = (None, 0);
        for now in (0..seconds * 100).map(|step| ms(step * 10)) {
            if is_due(style, shown, now, is_report) {
                (shown, count) = (Some(now), count + 1);
            }
        }
        count
    }

    #[test]
    fn a_log_gets_a_line_a_minute_and_a_terminal_at_most_ten_redraws_a_second() {
        for is_report in [true, false] {
            assert_eq!(times_shown(Style::Plain, 59, is_report), 0);
            assert_eq!(times_shown(Style::Plain, 601, is_report), 10);
            assert_eq!(times_shown(Style::Json, 60, is_report), 60);
            assert_eq!(times_shown(Style::Quiet, 600, is_report), 0);
        }
        assert_eq!(times_shown(Style::Live, 10, true), 100);
        assert_eq!(times_shown(Style::Live, 10, false), 10);
    }

    fn view(share_done: Option<f64>) -> View {
        View {
            phase: Phase::Precondition,
            test: None,
            what: "SEQ 128KiB W".into(),
            round: None,
            cell: None,
            share_done,
            elapsed: ms(1_000),
            left: None,
            rate: None,
            test_left: None,
            window: Some(super::super::view::Window::EMPTY),
            temperature_celsius: None,
            host_limited: false,
        }
    }

    #[test]
    fn the_lines_of_all_runs_fit_the_rows_of_the_terminal() {
        let shape = Shape { width: 79, colour: false, unicode: true };
        for rows in 1..60 {
            for runs in 1..40 {
                let seen: Vec<(&str, View)> = (0..runs).map(|_| ("x3k9ab", view(Some(0.5)))).collect();
                let lines = block(&seen, Size { columns: 80, rows }, shape);
                assert!(lines.len() <= rows.saturating_sub(ROWS_LEFT).max(1), "{runs} runs in {rows} rows");
                let named = lines.iter().filter(|line| line.text.starts_with("x3k9ab")).count();
                let more = lines
                    .iter()
                    .find_map(|line| line.text.strip_prefix("and ")?.split(' ').next()?.parse().ok());
                assert_eq!(named + more.unwrap_or(0), runs, "each is shown or counted");
            }
        }
    }

    #[test]
    fn the_task_bar_shows_the_run_with_the_least_progress() {
        let seen = |shares: &[Option<f64>]| -> Vec<(&str, View)> {
            shares.iter().map(|share| ("", view(*share))).collect()
        };
        assert_eq!(taskbar(&seen(&[])), Taskbar::Nothing);
        assert_eq!(taskbar(&seen(&[None])), Taskbar::Busy);
        assert_eq!(taskbar(&seen(&[Some(0.9), Some(0.429), None])), Taskbar::Percent(42));
    }
}
