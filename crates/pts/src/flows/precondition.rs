//! Time-based workload-dependent preconditioning, shared by HIR and the demand variation tests: rounds of 30
//! minutes of writes, until the tracked minute of the rounds is steady.

use record::{Note, Workload};

use crate::conclusions::incidents::Incidents;
use crate::conclusions::judged_loop::JudgedLoop;
use crate::flows::rounds::{Verdict, judge};
use crate::method::history::{History, Tracked};
use crate::method::timeline::Sample;
use crate::{Bench, Context, Stop};

/// Length of a round in minutes.
pub const ROUND_MINUTES: u32 = 30;

/// Progress of preconditioning.
pub struct Precondition {
    /// The tracked minute of each round.
    pub rounds: Vec<Sample>,
    pub history: History,
    pub converged: bool,
    /// Number of the tracked minute in each round, starting at 1.
    minute: u32,
}

impl Precondition {
    /// Creates an empty state that tracks minute `minute` of each round, counted from 1, as `variable`.
    pub fn tracking(minute: u32, variable: String) -> Self {
        Self { rounds: Vec::new(), history: History::of(vec![variable]), converged: false, minute }
    }

    /// Returns the evaluated loop; `name` distinguishes it from other loops in the test.
    pub fn judged(&self, name: &'static str) -> JudgedLoop {
        JudgedLoop {
            name,
            rounds: self.rounds.len() as u32,
            converged: self.converged,
            window: self.history.window().into_iter().next(),
            only_step: Some(self.minute - 1),
        }
    }

    /// Runs the rounds; `workload` returns the workload of one minute, given its round and step.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        bench: &mut dyn Bench,
        incidents: &mut Incidents,
        workload: impl Fn(u32, u32) -> Workload,
    ) -> Result<(), Stop> {
        for round in 1.. {
            bench.note(Note::RoundStarted { round, cells: ROUND_MINUTES })?;
            let mut gap = None;
            for step in 0..ROUND_MINUTES {
                let segment = bench.run(&workload(round, step))?;
                gap = segment.gap_before.map(|_| step as usize).or(gap);
                incidents.see(&segment);
                if step + 1 == self.minute {
                    let minute = (round - 1) * ROUND_MINUTES + self.minute;
                    self.rounds.push(Sample::of(f64::from(minute), &segment));
                }
            }
            let tracked = self.rounds.last().map_or(Tracked::from(0.0), Sample::tracked);
            let verdict = judge(context, bench, &mut self.history, round, gap, vec![tracked])?;
            self.converged = verdict == Verdict::Steady;
            if verdict != Verdict::Continue {
                break;
            }
        }
        bench.note(Note::RoundsEnded)
    }
}
