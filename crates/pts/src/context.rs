//! What a test knows before it begins, and the workloads that follow from it.

use record::{Access, DataPattern, Range, RunFile, Settings, TargetFacts, Until, Workload};
use stdx::rng::split_mix;
use stdx::units::KIB;

use crate::{Profile, range};

/// Block size of the workload-independent preconditioning.
const PRECONDITION_BLOCK: u32 = 128 * KIB as u32;

/// What a test knows before it begins.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The version of the specification.
    pub profile: &'static Profile,
    /// Settings after defaults and options.
    pub settings: &'a Settings,
    /// The device.
    pub target: &'a TargetFacts,
}

impl<'a> Context<'a> {
    /// The context of a run.
    ///
    /// # Errors
    /// When the run's profile is not known to this build.
    pub fn of(run: &'a RunFile) -> Result<Self, String> {
        Ok(Self { profile: Profile::named(&run.profile)?, settings: &run.settings, target: &run.target })
    }

    /// Part of the LBA space that preconditioning touches.
    #[must_use]
    pub fn precondition_range(&self) -> Range {
        range::share_of(self.target.capacity_bytes, self.settings.precondition_range_percent)
    }

    /// Part of the LBA space that the test touches.
    #[must_use]
    pub fn test_range(&self) -> Range {
        let within = range::share_of(self.target.capacity_bytes, self.settings.test_range_percent);
        match self.settings.active_range_amount_bytes {
            None => within,
            Some(amount) => range::active(
                within,
                amount,
                self.settings.active_range_segments,
                self.target.simulated.as_ref().map_or(1, |sim| sim.scale_divisor),
            ),
        }
    }

    /// Workload-independent preconditioning: SEQ 128 KiB writes of so many user capacities, one thread
    /// at the test's queue depth.
    #[must_use]
    pub fn precondition(&self) -> Workload {
        let amount = self.target.capacity_bytes * u64::from(self.settings.precondition_capacities);
        Workload {
            access: Access::Sequential,
            read_percent: 0,
            block_bytes: PRECONDITION_BLOCK,
            threads: 1,
            queue_depth: self.settings.queue_depth,
            range: self.precondition_range(),
            data_pattern: DataPattern::Random,
            until: Until::AmountBytes(amount - amount % u64::from(PRECONDITION_BLOCK)),
            seed: seed_of(self.settings.seed, 0, 0),
        }
    }

    /// One cell of a random test loop; `step` is its position in the round.
    #[must_use]
    pub fn cell(&self, round: u32, step: u32, read_percent: u8, block_bytes: u32) -> Workload {
        Workload {
            access: Access::Random,
            read_percent,
            block_bytes,
            threads: self.settings.threads,
            queue_depth: self.settings.queue_depth,
            range: self.test_range(),
            data_pattern: DataPattern::Random,
            until: Until::DurationNs(self.settings.cell_ns),
            seed: seed_of(self.settings.seed, round, step),
        }
    }
}

/// Every step has its own seed, so that no two rounds repeat their addresses.
fn seed_of(seed: u64, round: u32, step: u32) -> u64 {
    let mut state = seed ^ (u64::from(round) << 32 | u64::from(step));
    split_mix(&mut state)
}
