//! Actual cost of a run's tests, compared with the estimates.

use record::{Entry, Estimated, Event, Expense, Note, RunFile, Segment};
use stdx::units::{amount_base10, count_of, span};

use crate::dry::{Cost, Estimate};

/// Estimated and actual cost of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCost {
    /// Name of the test.
    pub test: String,
    /// Estimated cost if steady state is reached as early as possible, and if it is never reached; `None` if
    /// the run has no estimate.
    pub estimated: Option<(Expense, Expense)>,
    /// Cost so far.
    pub taken: Expense,
    /// Number of cells missing from the last round, because write saturation may end in the middle of a round.
    pub cells_missing: u32,
    /// Whether a round has started and the journal does not yet show that the rounds are over.
    in_rounds: bool,
    /// Whether the test completed.
    pub ended: bool,
    /// Factor by which all times of a scaled simulated drive are divided; 1 for real and unscaled drives.
    pub scale_divisor: u32,
}

impl From<Cost> for Expense {
    fn from(cost: Cost) -> Self {
        Self { rounds: cost.rounds, duration_ns: cost.duration_ns, written_bytes: cost.written_bytes() }
    }
}

/// Converts estimates to the form stored with a run.
#[must_use]
pub fn estimated(estimates: &[Estimate], source: &str) -> Estimated {
    let test = |estimate: &Estimate| record::TestEstimate {
        test: estimate.test.clone(),
        shortest: estimate.shortest.into(),
        longest: estimate.longest.into(),
    };
    Estimated { source: source.into(), tests: estimates.iter().map(test).collect() }
}

/// Returns the cost of each started test since its last restart. Like the estimate, it excludes the purge.
#[must_use]
pub fn of_run(run: &RunFile, entries: &[Entry]) -> Vec<TestCost> {
    let estimates = entries.iter().find_map(|entry| match &entry.event {
        Event::Estimated(estimated) => Some(estimated),
        _ => None,
    });
    let mut all: Vec<TestCost> = Vec::new();
    let mut inside = false;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => {
                inside = true;
                all.retain(|cost| cost.test != *test);
                let of = estimates.and_then(|all| all.tests.iter().find(|known| known.test == *test));
                let estimated = of.map(|known| (known.shortest, known.longest));
                let (test, taken) = (test.clone(), Expense::default());
                all.push(TestCost {
                    test,
                    estimated,
                    taken,
                    cells_missing: 0,
                    in_rounds: false,
                    ended: false,
                    scale_divisor: run.scale_divisor().max(1),
                });
            }
            // The cost of tests that another tool measured is not known.
            Event::Imported(_) if inside => {
                all.pop();
                inside = false;
            }
            event if inside => {
                let Some(cost) = all.last_mut() else { continue };
                cost.take(event);
                inside = !cost.ended;
            }
            _ => {}
        }
    }
    all
}

impl TestCost {
    fn take(&mut self, event: &Event) {
        let divisor = u64::from(self.scale_divisor);
        let taken = &mut self.taken;
        if let (Event::Measured(_), true) = (event, self.in_rounds) {
            self.cells_missing = self.cells_missing.saturating_sub(1);
        }
        match event {
            Event::Measured(segment) | Event::Preconditioned(segment) => {
                // A segment begins after the ramp.
                let ramp_ns = segment.workload.regime.ramp_ns / divisor;
                taken.duration_ns = taken.duration_ns.saturating_add(ramp_ns + length_ns(segment));
                taken.written_bytes = taken.written_bytes.saturating_add(segment.write.bytes);
            }
            // A scaled drive divides the requested idle time by its scale.
            Event::Idled { length_ns } => {
                taken.duration_ns = taken.duration_ns.saturating_add(length_ns / divisor);
            }
            Event::Noted(Note::RoundStarted { cells, .. }) => {
                taken.rounds += 1;
                (self.cells_missing, self.in_rounds) = (*cells, true);
            }
            Event::Noted(Note::RoundsEnded) => self.in_rounds = false,
            Event::TestEnded { .. } => self.ended = true,
            _ => {}
        }
    }

    /// Returns the estimate for the actual number of rounds.
    #[must_use]
    pub fn expected(&self) -> Option<Expense> {
        let (shortest, longest) = self.estimated?;
        let rounds = f64::from(longest.rounds) - f64::from(shortest.rounds);
        let beyond = f64::from(self.taken.rounds) - f64::from(shortest.rounds);
        let share = if rounds > 0.0 { beyond / rounds } else { 0.0 };
        let line = |from: u64, to: u64| (from as f64 + (to as f64 - from as f64) * share).max(0.0) as u64;
        Some(Expense {
            rounds: self.taken.rounds,
            duration_ns: line(shortest.duration_ns, longest.duration_ns),
            written_bytes: line(shortest.written_bytes, longest.written_bytes),
        })
    }
}

fn length_ns(segment: &Segment) -> u64 {
    segment.end_ns.saturating_sub(segment.start_ns)
}

/// Formats a range, or one value if both ends are equal as printed: some tests end after a certain time or amount.
fn range(least: String, most: &str) -> String {
    if least == most { least } else { format!("{least} to {most}") }
}

impl std::fmt::Display for TestCost {
    /// Formats as `iops: 5 h 02 min and 2.1 TB written in 5 rounds; expected 5 h 01 min and 2 TB written`. Each test has
    /// its own name for rounds: `wsat: 24 h 00 min and 1.9 TB written in 48 cycles`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cost = |of: &Expense| {
            format!("{} and {} written", span(of.duration_ns), amount_base10(of.written_bytes))
        };
        write!(f, "{}: {}", self.test, cost(&self.taken))?;
        let round = pts::Test::named(&self.test).map_or("round", |test| test.round_name);
        match (self.taken.rounds, self.cells_missing) {
            (0, _) => {}
            (rounds, 0) => write!(f, " in {}", count_of(rounds, round))?,
            (1, _) => write!(f, " in part of a {round}")?,
            (rounds, _) => write!(f, " in {} and part of another", count_of(rounds - 1, round))?,
        }
        match (self.ended, self.expected(), &self.estimated) {
            (true, Some(expected), _) => write!(f, "; expected {}", cost(&expected)),
            (false, _, Some((shortest, longest))) if shortest != longest => {
                let times = range(span(shortest.duration_ns), &span(longest.duration_ns));
                let amounts =
                    range(amount_base10(shortest.written_bytes), &amount_base10(longest.written_bytes));
                write!(f, " so far; expected {times} and {amounts} written")
            }
            (false, _, Some((shortest, _))) => write!(f, " so far; expected {}", cost(shortest)),
            (false, ..) => write!(f, " so far"),
            _ => Ok(()),
        }?;
        match self.scale_divisor {
            1 => Ok(()),
            divisor => write!(f, "; simulated time, at scale 1/{divisor}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::TestEstimate;
    use stdx::units::SECOND_NS;

    const HOUR_NS: u64 = 3600 * SECOND_NS;

    fn expense(rounds: u32, hours: u64, gigabytes: u64) -> Expense {
        Expense { rounds, duration_ns: hours * HOUR_NS, written_bytes: gigabytes * 1_000_000_000 }
    }

    fn of(estimated: Option<(Expense, Expense)>, taken: Expense, ended: bool) -> TestCost {
        TestCost {
            test: "iops".into(),
            estimated,
            taken,
            cells_missing: 0,
            in_rounds: false,
            ended,
            scale_divisor: 1,
        }
    }

    #[test]
    fn an_incomplete_round_is_reported_as_such() {
        let within = |rounds| TestCost { cells_missing: 10, ..of(None, expense(rounds, 1, 1), true) };
        assert_eq!(within(1).to_string(), "iops: 1 h 00 min and 1 GB written in part of a round");
        assert_eq!(within(2).to_string(), "iops: 1 h 00 min and 1 GB written in 1 round and part of another");
    }

    #[test]
    fn scaled_times_are_labelled() {
        let scaled = TestCost { scale_divisor: 64, ..of(None, expense(5, 1, 1), true) };
        assert_eq!(
            scaled.to_string(),
            "iops: 1 h 00 min and 1 GB written in 5 rounds; simulated time, at scale 1/64"
        );
    }

    #[test]
    fn rounds_have_the_name_that_the_test_gives_them() {
        let saturation = |cells_missing| TestCost {
            test: "wsat".into(),
            cells_missing,
            ..of(None, expense(5, 2, 1), true)
        };
        assert!(saturation(0).to_string().ends_with(" written in 5 cycles"));
        assert!(saturation(9).to_string().ends_with(" written in 4 cycles and part of another"));
        let custom = TestCost { test: "of a plan".into(), ..of(None, expense(5, 1, 1), true) };
        assert!(custom.to_string().ends_with(" written in 5 rounds"));
    }

    #[test]
    fn the_forecast_follows_the_rounds() {
        let range = (expense(5, 5, 500), expense(25, 25, 2500));
        let done = of(Some(range), expense(7, 8, 600), true);
        assert_eq!(done.expected(), Some(expense(7, 7, 700)));
        assert_eq!(
            done.to_string(),
            "iops: 8 h 00 min and 600 GB written in 7 rounds; expected 7 h 00 min and 700 GB written"
        );
        let cut = of(Some(range), expense(2, 2, 200), false);
        assert!(
            cut.to_string().contains("so far; expected 5 h 00 min to 1 d 01 h and 500 GB to 2.5 TB written"),
            "{cut}"
        );
        let one_amount = of(Some((expense(0, 5, 500), expense(0, 25, 500))), expense(2, 2, 200), false);
        let text = one_amount.to_string();
        assert!(text.contains("so far; expected 5 h 00 min to 1 d 01 h and 500 GB written"), "{text}");
        let fixed = of(Some((expense(0, 22, 9), expense(0, 22, 9))), expense(0, 22, 8), true);
        assert_eq!(fixed.expected(), Some(expense(0, 22, 9)));
        assert_eq!(of(None, expense(5, 1, 1), true).expected(), None);
    }

    #[test]
    fn a_restarted_test_counts_from_its_restart() {
        let event = |seq, event| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
        let round = || Event::Noted(Note::RoundStarted { round: 1, cells: 1 });
        let estimate =
            TestEstimate { test: "hir".into(), shortest: expense(5, 1, 1), longest: expense(25, 2, 2) };
        let entries: Vec<Entry> = [
            Event::Estimated(Estimated { source: "usual".into(), tests: vec![estimate] }),
            Event::TestStarted { test: "hir".into() },
            round(),
            Event::Idled { length_ns: HOUR_NS },
            Event::Restarted { test: "hir".into() },
            round(),
            round(),
            Event::Idled { length_ns: 2 * HOUR_NS },
            Event::TestEnded { test: "hir".into(), converged: None },
            round(),
        ]
        .into_iter()
        .zip(0..)
        .map(|(of, seq)| event(seq, of))
        .collect();
        let run = run_file();
        let all = of_run(&run, &entries);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].taken, all[0].ended), (expense(2, 2, 0), true));
        assert!(all[0].estimated.is_some());
    }

    fn run_file() -> RunFile {
        let profile = pts::PROFILES[0];
        RunFile {
            version: record::RUN_FILE_VERSION,
            id: "r".into(),
            created: jiff::Timestamp::UNIX_EPOCH,
            plateau_version: "0".into(),
            plateau_commit: None,
            command: Vec::new(),
            tests: vec!["hir".into()],
            profile: profile.name.into(),
            settings: Some(profile.settings(1)),
            target: record::TargetFacts {
                kind: record::TargetKind::File,
                path: "f".into(),
                identity: "f".into(),
                attachment: None,
                vendor: None,
                model: None,
                serial: None,
                firmware: None,
                interface: None,
                nand: None,
                capacity_bytes: 1 << 30,
                logical_block_bytes: 512,
                physical_block_bytes: 512,
                rotational: None,
                simulated: None,
                array: None,
            },
            host: record::HostFacts::default(),
            ceiling: None,
            placement: None,
            origin: None,
            handling: record::Handling::default(),
            plan: None,
            driving: None,
            concurrent: None,
            file_system: None,
            power: None,
            labels: record::Labels::default(),
            stated: record::Stated::default(),
        }
    }
}
