//! One test of a run: a PTS test, or a custom test from the plan.

use record::{CustomRounds, CustomTest, RunFile};

use crate::custom;
use crate::{Bench, Context, Outcome, Test, Unit};

/// A PTS test or a custom test.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    /// A test from the PTS.
    Pts(&'static Test),
    /// A custom test from the plan.
    Custom(&'a CustomTest),
}

impl<'a> Task<'a> {
    /// Looks up `name` among the tests of `run`.
    ///
    /// # Errors
    /// Returns an error if there is no such test; the message lists all tests.
    pub fn named(run: &'a RunFile, name: &str) -> Result<Self, String> {
        let mut custom = run.plan.iter().flat_map(|plan| &plan.custom_tests);
        custom
            .find(|test| test.name == name)
            .map_or_else(|| Test::named(name).map(Self::Pts), |test| Ok(Self::Custom(test)))
    }

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Pts(test) => test.name,
            Self::Custom(test) => &test.name,
        }
    }

    /// Title as printed.
    #[must_use]
    pub fn title(self) -> &'a str {
        match self {
            Self::Pts(test) => test.title,
            Self::Custom(test) => &test.title,
        }
    }

    /// Returns whether the result is a timeline, which a gap invalidates.
    #[must_use]
    pub fn is_timeline(self) -> bool {
        matches!(self, Self::Pts(test) if test.timeline)
    }

    /// Unit of the tracking variables.
    #[must_use]
    pub fn tracked_unit(self) -> Option<Unit> {
        match self {
            Self::Pts(test) => test.tracked_unit,
            Self::Custom(test) => Some(custom::tracked_unit(test)),
        }
    }

    /// Cells in a full round, for estimates.
    #[must_use]
    pub fn cells_per_round(self) -> u32 {
        match self {
            Self::Pts(test) => test.cells_per_round,
            Self::Custom(test) => test.cells.len() as u32,
        }
    }

    /// Number of rounds, if it is fixed; None if steady state or another condition ends the test.
    #[must_use]
    pub const fn fixed_rounds(self) -> Option<u32> {
        match self {
            Self::Pts(test) => test.fixed_rounds,
            Self::Custom(CustomTest { rounds: CustomRounds::Fixed(rounds), .. }) => Some(*rounds),
            Self::Custom(_) => None,
        }
    }

    /// Mean length of a cell; None if the settings determine it.
    #[must_use]
    pub fn mean_cell_ns(self, context: &Context<'_>) -> Option<u64> {
        let Self::Custom(test) = self else { return None };
        let total: u64 = test.cells.iter().map(|cell| context.scaled_ns(cell.run_ns + cell.ramp_ns)).sum();
        total.checked_div(test.cells.len() as u64)
    }

    /// Runs the test until it completes or the bench stops it.
    pub fn run(self, context: &Context<'_>, bench: &mut dyn Bench) -> Outcome {
        match self {
            Self::Pts(test) => (test.run)(context, bench),
            Self::Custom(test) => custom::run(test, context, bench),
        }
    }
}

impl From<&'static Test> for Task<'_> {
    fn from(test: &'static Test) -> Self {
        Self::Pts(test)
    }
}
