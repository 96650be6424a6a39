//! Tracks a test's position in its rounds, and the wall-clock time of its cells.

use std::collections::BTreeMap;
use std::time::Duration;

use pts::steady::WINDOW_ROUNDS;
use pts::{Context, Task, Unit};

/// The position and pace of a test.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// Amount of work in each test of the run, by the test's name.
    lengths: BTreeMap<String, Length>,
    round: u32,
    cell: u32,
    cells: u32,
    /// Maximum number of rounds of a test that ends at steady state.
    max_rounds: u32,
    length: Length,
    rounds_since_gap: u32,
    cell_wall: Option<Duration>,
    measured: u32,
    measured_wall: Duration,
}

/// The amount of work in a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct Length {
    cells_per_round: u32,
    fixed_rounds: Option<u32>,
    /// Whether the test ends at steady state.
    seeks_steady_state: bool,
    tracked_unit: Option<Unit>,
    /// Length of a cell, if it differs from the settings.
    cell: Option<Duration>,
    /// Idle time per cell on average.
    idle: Duration,
}

impl Length {
    pub fn of(task: Task<'_>, context: &Context<'_>) -> Self {
        let fixed_rounds = task.fixed_rounds();
        Self {
            cells_per_round: task.cells_per_round(),
            fixed_rounds,
            seeks_steady_state: fixed_rounds.is_none() && !task.is_timeline(),
            tracked_unit: task.tracked_unit(),
            cell: task.mean_cell_ns(context).map(Duration::from_nanos),
            idle: Duration::from_nanos(mean_idle_ns(task, context)),
        }
    }
}

/// Returns the idle time per cell on average: the times between the steps of a trace.
fn mean_idle_ns(task: Task<'_>, context: &Context<'_>) -> u64 {
    let Task::Custom(test) = task else { return 0 };
    let total: u64 = test.steps.iter().map(|step| context.scaled_ns(step.idle_ns)).sum();
    total.checked_div(test.cells.len() as u64).unwrap_or(0)
}

impl Pace {
    pub fn of(lengths: BTreeMap<String, Length>, max_rounds: u32) -> Self {
        Self { lengths, max_rounds, ..Self::default() }
    }

    pub fn test_started(&mut self, name: &str, real_cell: Option<Duration>) {
        let mut length = self.lengths.get(name).copied().unwrap_or_default();
        if real_cell.is_none() {
            // A simulated drive is idle in its own time.
            length.idle = Duration::ZERO;
        }
        *self = Self {
            cells: length.cells_per_round,
            length,
            lengths: std::mem::take(&mut self.lengths),
            cell_wall: real_cell.map(|cell| length.cell.unwrap_or(cell).saturating_add(length.idle)),
            max_rounds: self.max_rounds,
            ..Self::default()
        };
    }

    pub fn round_started(&mut self, round: u32, cells: u32) {
        (self.round, self.cells, self.cell) = (round, cells, 0);
    }

    /// Marks the end of the current rounds: subsequent loads do not count as cells, and the next round is round
    /// 1 again.
    pub fn rounds_ended(&mut self) {
        (self.round, self.cells, self.rounds_since_gap) = (0, 0, 0);
    }

    pub fn judged(&mut self) {
        self.rounds_since_gap += 1;
    }

    pub fn interrupted(&mut self) {
        self.rounds_since_gap = 0;
    }

    pub fn measured_one(&mut self, wall: Duration) {
        self.cell += 1;
        self.measured += 1;
        self.measured_wall += wall;
        self.cell_wall = Some((self.measured_wall / self.measured).saturating_add(self.length.idle));
    }

    /// Returns the unit of the test's tracking variables.
    pub const fn tracked_unit(&self) -> Option<Unit> {
        self.length.tracked_unit
    }

    pub const fn seeks_steady_state(&self) -> bool {
        self.length.seeks_steady_state
    }

    pub const fn is_in_round(&self) -> bool {
        self.round > 0
    }

    /// Returns the round and the maximum number of rounds.
    pub fn round(&self) -> (u32, u32) {
        // After an interruption, the measurement window restarts.
        let void = self.round.saturating_sub(1).saturating_sub(self.rounds_since_gap);
        let rounds = self.length.fixed_rounds.unwrap_or(self.max_rounds.saturating_add(void));
        (self.round, rounds.max(self.round))
    }

    /// Returns the current cell and the number of cells in this round.
    pub fn cell(&self) -> (u32, Option<u32>) {
        let cell = (self.cell + 1).min(self.cells.max(1));
        (cell, (self.cells > 0).then_some(self.cells))
    }

    /// Returns the number of the current load outside rounds, counted from 1.
    pub const fn step(&self) -> u32 {
        self.measured + 1
    }

    /// Returns the remaining time if the test reaches steady state in the earliest possible round, and if it runs
    /// to the last round.
    pub fn left(&self, rest_of_part: Duration) -> Option<(Duration, Duration)> {
        let cell_wall = self.cell_wall.filter(|_| self.cells > 0)?;
        let begun = u32::from(self.round > 0);
        let left_in_round = if begun == 0 { 0 } else { self.cells.saturating_sub(self.cell + 1) };
        let done = self.length.fixed_rounds.map_or(self.rounds_since_gap + begun, |_| self.round);
        let until = |rounds: u32| {
            let more = rounds.saturating_sub(done).saturating_mul(self.cells);
            rest_of_part.saturating_add(cell_wall.saturating_mul(left_in_round.saturating_add(more)))
        };
        Some(match self.length.fixed_rounds {
            Some(all) => (until(all), until(all)),
            None => (until(WINDOW_ROUNDS as u32), until(self.max_rounds)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_includes_idle_times_unless_the_drive_is_simulated() {
        let [second, idle] = [Duration::from_secs(1), Duration::from_secs(9)];
        let length = Length {
            cells_per_round: 4,
            fixed_rounds: Some(1),
            cell: Some(second),
            idle,
            ..Length::default()
        };
        let left = |real_cell| {
            let mut pace = Pace::of([("replay".to_owned(), length)].into(), 25);
            pace.test_started("replay", real_cell);
            let before = pace.left(Duration::ZERO).map(|(least, _)| least);
            pace.round_started(1, 4);
            pace.measured_one(second);
            (before, pace.left(Duration::ZERO).map(|(least, _)| least))
        };
        // Two cells follow the current one.
        assert_eq!(left(Some(second * 60)), (Some(10 * second * 4), Some(10 * second * 2)));
        assert_eq!(left(None), (None, Some(second * 2)));
    }
}
