//! The test's workload: random 4 KiB writes, or one of the alternatives in PTS 2.0.

use record::{Access, SaturationLoad, Workload};
use stdx::units::{KIB, block_size};

use crate::conclusions::deviation::Deviation;
use crate::flows::composite::Composite;
use crate::method::profile::{Cell, Edition, mix_name};
use crate::{Context, Stop};

/// A run's workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    access: Access,
    /// Bytes per I/O; None for the composite.
    block_bytes: Option<u32>,
    read_percent: u8,
}

/// The workload in every version of the specification.
const STIMULUS: Load = Load { access: Access::Random, block_bytes: Some(4 * KIB as u32), read_percent: 0 };

impl Load {
    pub fn of(context: &Context<'_>) -> Self {
        let load = |access, block_bytes, read_percent| Self { access, block_bytes, read_percent };
        match context.settings.wsat.workload {
            None => STIMULUS,
            Some(SaturationLoad::Oltp) => load(Access::Random, Some(8 * KIB as u32), 65),
            Some(SaturationLoad::Video) => load(Access::Sequential, Some(128 * KIB as u32), 90),
            Some(SaturationLoad::Metadata) => load(Access::Sequential, Some(512), 50),
            // The mix that CBW uses for the composite; no source gives a different mix.
            Some(SaturationLoad::Composite) => load(Access::Random, None, 40),
        }
    }

    /// Returns one minute of load; sequential I/O continues at `from_block`.
    pub fn workload(self, context: &Context<'_>, cycle: u32, step: u32, from_block: u64) -> Workload {
        let cell = Cell { block_bytes: self.block_bytes.unwrap_or(0), read_percent: self.read_percent };
        let workload = Workload {
            access: self.access,
            range: context.whole_test_range(),
            from_block: if self.access == Access::Sequential { from_block } else { 0 },
            ..context.cell(cycle, step, cell.read_percent, cell.block_bytes)
        };
        match self.block_bytes {
            Some(_) => workload,
            None => Composite::of(context).apply(workload),
        }
    }

    /// Rejects a device that does not support the workload, before anything is written.
    pub fn check(self, context: &Context<'_>) -> Result<(), Stop> {
        if self.block_bytes.is_none() { Composite::of(context).check(context) } else { Ok(()) }
    }

    /// Returns the deviations from the profile, and the composite's deviations from its table.
    pub fn deviations(self, context: &Context<'_>) -> Vec<Deviation> {
        let is_offered = self == STIMULUS || context.profile.edition >= Edition::V2_0;
        let other = (!is_offered).then(|| Deviation::Workload {
            title: "WSAT",
            is: self.name(),
            standard: STIMULUS.name(),
        });
        let composite = self.block_bytes.is_none().then(|| Composite::of(context).modification(context));
        other.into_iter().chain(composite.flatten()).collect()
    }

    /// Returns the name in tables, such as `RND 4KiB W`.
    pub fn name(self) -> String {
        let mix = match self.read_percent {
            0 => "W".to_owned(),
            read => mix_name(read),
        };
        format!("{} {mix}", self.sizes())
    }

    /// Returns the name in page headers, which omits the mix for write-only loads: `RND 4KiB`.
    pub fn header_name(self) -> String {
        if self.read_percent == 0 { self.sizes() } else { self.name() }
    }

    fn sizes(self) -> String {
        let order = if self.access == Access::Sequential { "SEQ" } else { "RND" };
        self.block_bytes.map_or_else(|| "CBW".into(), |_| format!("{order} {}", self.block_name()))
    }

    pub fn block_name(self) -> String {
        self.block_bytes.map_or_else(|| "Composite".into(), |bytes| block_size(bytes.into()))
    }

    /// Returns the mix in page header notation, such as `0:100`.
    pub fn mix(self) -> String {
        format!("{}:{}", self.read_percent, 100 - self.read_percent)
    }

    pub fn only_writes(self) -> bool {
        self.read_percent == 0
    }
}
