//! Something to run in a run: a test of the PTS, or an own one of its plan.

use record::{OwnRounds, OwnTest, RunFile};

use crate::{Bench, Context, Outcome, Test, own};

/// A test of the PTS, or an own one.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    /// Of the PTS.
    Pts(&'static Test),
    /// Of the plan.
    Own(&'a OwnTest),
}

impl<'a> Task<'a> {
    /// What `run` calls `name`.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn named(run: &'a RunFile, name: &str) -> Result<Self, String> {
        let mut own = run.plan.iter().flat_map(|plan| &plan.own_tests);
        own.find(|test| test.name == name)
            .map_or_else(|| Test::named(name).map(Self::Pts), |test| Ok(Self::Own(test)))
    }

    /// As typed.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Pts(test) => test.name,
            Self::Own(test) => &test.name,
        }
    }

    /// As printed.
    #[must_use]
    pub fn title(self) -> &'a str {
        match self {
            Self::Pts(test) => test.title,
            Self::Own(test) => &test.title,
        }
    }

    /// Its course over time is the result, so a gap spoils it.
    #[must_use]
    pub fn is_timeline(self) -> bool {
        matches!(self, Self::Pts(test) if test.timeline)
    }

    /// Cells of one full round, for estimates.
    #[must_use]
    pub fn cells_per_round(self) -> u32 {
        match self {
            Self::Pts(test) => test.cells_per_round,
            Self::Own(test) => test.cells.len() as u32,
        }
    }

    /// Rounds that it always has; none where steady state or something else ends it.
    #[must_use]
    pub const fn fixed_rounds(self) -> Option<u32> {
        match self {
            Self::Pts(test) => test.fixed_rounds,
            Self::Own(OwnTest { rounds: OwnRounds::Fixed(rounds), .. }) => Some(*rounds),
            Self::Own(_) => None,
        }
    }

    /// Mean length of its cells; none where they are those of the settings.
    #[must_use]
    pub fn mean_cell_ns(self, context: &Context<'_>) -> Option<u64> {
        let Self::Own(test) = self else { return None };
        let total: u64 = test.cells.iter().map(|cell| context.scaled_ns(cell.run_ns + cell.ramp_ns)).sum();
        total.checked_div(test.cells.len() as u64)
    }

    /// Runs it to its end or until the bench stops it.
    pub fn run(self, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
        match self {
            Self::Pts(test) => (test.run)(context, bench),
            Self::Own(test) => own::run(test, context, bench),
        }
    }
}

impl From<&'static Test> for Task<'_> {
    fn from(test: &'static Test) -> Self {
        Self::Pts(test)
    }
}
