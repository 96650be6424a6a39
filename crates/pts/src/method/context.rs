//! A test's input, and the workloads derived from it.

use record::{Access, DataPattern, Range, Regime, RunFile, Settings, TargetFacts, Until, Workload};
use stdx::rng::split_mix;
use stdx::units::{KIB, block_size, span};

use crate::Profile;
use crate::method::profile::{CELL_NS, Cell, Demand};
use crate::method::range;

/// Block size of the workload-independent preconditioning.
pub const PRECONDITION_BLOCK: u32 = 128 * KIB as u32;

/// A test's input.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Version of the specification.
    pub profile: &'static Profile,
    /// Settings with defaults and options applied.
    pub settings: &'a Settings,
    /// The target.
    pub target: &'a TargetFacts,
}

impl<'a> Context<'a> {
    /// The context of a run.
    ///
    /// # Errors
    /// Returns an error if this build does not have the run's profile, or the run has no settings because it was
    /// imported.
    pub fn of(run: &'a RunFile) -> Result<Self, String> {
        let settings = run.settings.as_ref().ok_or("the run has no settings")?;
        Ok(Self { profile: Profile::of(run)?, settings, target: &run.target })
    }

    /// Returns the factor by which the capacity and the times of a simulated drive are scaled down; 1 for real and
    /// unscaled drives.
    #[must_use]
    pub fn scale_divisor(&self) -> u32 {
        self.target.simulated.as_ref().map_or(1, |sim| sim.scale_divisor.max(1))
    }

    /// Returns whether maximum response times are meaningful. A scaled drive does a fraction of the work, so its
    /// longest stall differs from that of the full-size drive.
    #[must_use]
    pub fn has_maxima(&self) -> bool {
        self.scale_divisor() == 1
    }

    /// The note for pages and tests that omit maxima; None if maxima are shown.
    pub(crate) fn maxima_note(&self) -> Option<String> {
        let divisor = self.scale_divisor();
        let text =
            format!("maxima n/a: at scale 1/{divisor} the longest stall is not that of the full-size drive");
        (!self.has_maxima()).then_some(text)
    }

    /// The part of the LBA space that preconditioning writes.
    #[must_use]
    pub fn precondition_range(&self) -> Range {
        range::share_of(self.target.capacity_bytes, self.settings.precondition_range_percent)
    }

    /// The part of the LBA space that the test may touch.
    #[must_use]
    pub fn test_range(&self) -> Range {
        let within = range::share_of(self.target.capacity_bytes, self.settings.test_range_percent);
        match self.settings.active_range_amount_bytes {
            None => within,
            Some(amount) => {
                range::active(within, amount, self.settings.active_range_segments, self.scale_divisor())
            }
        }
    }

    /// Workload-independent preconditioning: SEQ 128 KiB writes of `precondition_capacities` user capacities, at the
    /// run's thread count and queue depth (ADR 013).
    #[must_use]
    pub fn precondition(&self) -> Workload {
        self.precondition_at(self.demand(None), PRECONDITION_BLOCK)
    }

    /// Workload-independent preconditioning with a different demand and block size, for Throughput.
    #[must_use]
    pub fn precondition_at(&self, demand: Demand, block_bytes: u32) -> Workload {
        let amount =
            self.target.capacity_bytes.saturating_mul(u64::from(self.settings.precondition_capacities));
        Workload {
            access: Access::Sequential,
            read_percent: 0,
            block_bytes,
            kinds: Vec::new(),
            zones: Vec::new(),
            sequence: None,
            threads: demand.threads,
            queue_depth: demand.queue_depth,
            range: self.precondition_range(),
            from_block: 0,
            align_bytes: 0,
            data_pattern: DataPattern::Random,
            until: Until::AmountBytes(amount - amount % u64::from(block_bytes)),
            seed: seed_of(self.settings.seed, 0, 0),
            regime: Regime::default(),
            commands: None,
        }
    }

    /// Header fields for preconditioning: workload, TC/QD and duration.
    pub(crate) fn precondition_phase(&self, demand: Demand, block_bytes: u32) -> [String; 3] {
        let range = match self.settings.precondition_range_percent {
            100 => String::new(),
            percent => format!(" (AR {percent}%)"),
        };
        [
            format!("SEQ {} W", block_size(block_bytes.into())),
            demand.to_string(),
            format!("{}X Device Capacity{range}", self.settings.precondition_capacities),
        ]
    }

    /// Describes preconditioning for a test's outline: `write the capacity twice`.
    #[must_use]
    pub fn precondition_in_words(&self) -> String {
        match self.settings.precondition_capacities {
            1 => "write the capacity once".into(),
            2 => "write the capacity twice".into(),
            times => format!("write the capacity {times} times"),
        }
    }

    /// Returns one cell of a random test loop; `step` is its index in the round.
    #[must_use]
    pub fn cell(&self, round: u32, step: u32, read_percent: u8, block_bytes: u32) -> Workload {
        Workload {
            access: Access::Random,
            read_percent,
            block_bytes,
            kinds: Vec::new(),
            zones: Vec::new(),
            sequence: None,
            threads: self.settings.threads,
            queue_depth: self.settings.queue_depth,
            range: self.test_range(),
            from_block: 0,
            align_bytes: 0,
            data_pattern: DataPattern::Random,
            until: Until::DurationNs(self.settings.cell_ns),
            seed: seed_of(self.settings.seed, round, step),
            regime: Regime::default(),
            commands: None,
        }
    }

    /// Returns a cell with an explicit demand.
    #[must_use]
    pub fn cell_at(&self, demand: Demand, round: u32, step: u32, cell: Cell) -> Workload {
        Workload {
            threads: demand.threads,
            queue_depth: demand.queue_depth,
            ..self.cell(round, step, cell.read_percent, cell.block_bytes)
        }
    }

    /// Returns a test's demand: the recommended one, unless the operator set another one for the run.
    #[must_use]
    pub fn demand(&self, recommended: Option<Demand>) -> Demand {
        let chosen = Demand { threads: self.settings.threads, queue_depth: self.settings.queue_depth };
        let standard = Demand { threads: self.profile.threads, queue_depth: self.profile.queue_depth };
        let is_open = chosen == standard && !self.settings.demand_is_chosen;
        recommended.filter(|_| is_open).unwrap_or(chosen)
    }

    /// Returns the whole Test AR. Timeline tests do not use AR segments, even on client drives.
    #[must_use]
    pub fn whole_test_range(&self) -> Range {
        range::share_of(self.target.capacity_bytes, self.settings.test_range_percent)
    }

    /// Returns how long the run takes for what the specification gives as `minutes` minutes. A cell corresponds
    /// to one minute, so shorter cells shorten every part of a run.
    #[must_use]
    pub fn minutes_ns(&self, minutes: u32) -> u64 {
        self.settings.cell_ns.saturating_mul(u64::from(minutes))
    }

    /// Returns how many minutes this many cells take.
    #[must_use]
    pub fn minutes_of(&self, cells: f64) -> f64 {
        cells * self.settings.cell_ns as f64 / CELL_NS as f64
    }

    /// Formats a time that the specification gives as `minutes` minutes; if cells do not take a minute, formats
    /// its actual length.
    #[must_use]
    pub fn minutes_in_words(&self, minutes: u32) -> String {
        match self.settings.cell_ns {
            CELL_NS => format!("{minutes} minutes"),
            _ => span(self.minutes_ns(minutes)),
        }
    }

    /// Returns how long the run takes for what the specification gives as `seconds` seconds, scaled like
    /// minutes.
    #[must_use]
    pub fn seconds_ns(&self, seconds: u32) -> u64 {
        self.settings.cell_ns.saturating_mul(u64::from(seconds)) / 60
    }

    /// Scales a time in a custom test, where times are specified for cells of one minute.
    #[must_use]
    pub fn scaled_ns(&self, ns: u64) -> u64 {
        (u128::from(ns) * u128::from(self.settings.cell_ns) / u128::from(CELL_NS)) as u64
    }

    /// Returns the seed for one step.
    pub(crate) fn seed(&self, round: u32, step: u32) -> u64 {
        seed_of(self.settings.seed, round, step)
    }

    /// Returns the sizes in `blocks` that the device does not support because its sectors are larger.
    #[must_use]
    pub fn impossible(&self, blocks: &[u32]) -> Vec<u32> {
        let sector = self.target.logical_block_bytes;
        blocks.iter().copied().filter(|bytes| !bytes.is_multiple_of(sector)).collect()
    }
}

/// Returns a distinct seed for each step, so that no two rounds use the same offsets.
fn seed_of(seed: u64, round: u32, step: u32) -> u64 {
    let mut state = seed ^ (u64::from(round) << 32 | u64::from(step));
    split_mix(&mut state)
}
