//! A demand variation test's workload: the parameters that vary, their order, and the durations.

use record::{Until, Workload};

use crate::flows::composite::Composite;
use crate::method::profile::{Cell, Demand, mix_name};
use crate::{Context, Stop, Test};

/// Thread counts (outer loop) and queue depths (inner loop), from high to low demand.
pub const STEPS: [u16; 7] = [32, 16, 8, 6, 4, 2, 1];
/// Cells per round of demand variation.
pub(crate) const CELLS: u32 = (STEPS.len() * STEPS.len()) as u32;
/// Demand during preconditioning, during the writes between rounds, and in the tracking variable.
pub const HIGHEST: Demand = Demand { threads: 32, queue_depth: 32 };
pub const BETWEEN_MINUTES: u32 = 5;
pub const BEFORE_HISTOGRAM_MINUTES: u32 = 60;
pub const HISTOGRAM_MINUTES: u32 = 10;
/// First round number of each phase, chosen so that the seeds of different phases differ.
pub const VARIATION_ROUNDS: u32 = 1_000;
pub const HISTOGRAM_ROUNDS: u32 = 2_000;

/// The workload whose demand is varied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub test: &'static Test,
    pub stimulus: Stimulus,
    /// Percentage of reads; preconditioning only writes.
    pub read_percent: u8,
}

/// Sizes and offsets of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stimulus {
    /// Fixed block size in bytes, at any offset.
    Block(u32),
    /// The composite of ECW and CBW.
    Composite,
}

/// The demands in a round, in loop order.
pub fn demands() -> impl Iterator<Item = Demand> {
    STEPS.into_iter().flat_map(|threads| STEPS.map(|queue_depth| Demand { threads, queue_depth }))
}

impl Pattern {
    /// Returns the pattern for `minutes`; `place` gives the round and the step within it.
    pub fn load(&self, context: &Context<'_>, demand: Demand, place: (u32, u32), minutes: u32) -> Workload {
        self.mixed(context, demand, place, minutes, self.read_percent)
    }

    /// Returns the pattern with writes only.
    pub fn writes(&self, context: &Context<'_>, demand: Demand, place: (u32, u32), minutes: u32) -> Workload {
        self.mixed(context, demand, place, minutes, 0)
    }

    pub fn mixed(
        &self,
        context: &Context<'_>,
        demand: Demand,
        (round, step): (u32, u32),
        minutes: u32,
        read_percent: u8,
    ) -> Workload {
        let of = |block_bytes| Workload {
            range: context.whole_test_range(),
            until: Until::DurationNs(context.minutes_ns(minutes)),
            ..context.cell_at(demand, round, step, Cell { block_bytes, read_percent })
        };
        match self.stimulus {
            Stimulus::Block(block_bytes) => of(block_bytes),
            Stimulus::Composite => Composite::of(context).apply(of(0)),
        }
    }

    pub fn check(&self, context: &Context<'_>) -> Result<(), Stop> {
        match self.stimulus {
            Stimulus::Block(_) => Ok(()),
            Stimulus::Composite => Composite::of(context).check(context),
        }
    }

    /// Name on pages, with the given percentage of reads: `RND 8KiB W`, `CBW 40/60`.
    pub fn name(&self, read_percent: u8) -> String {
        match self.stimulus {
            Stimulus::Block(block_bytes) => Cell { block_bytes, read_percent }.name(),
            Stimulus::Composite => format!("{} {}", self.test.subject, mix_name(read_percent)),
        }
    }
}
