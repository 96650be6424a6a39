//! Before the first job, completely writes new files that jobs read, so that reads reach the device.

use record::{Access, DataPattern, Range, Regime, Until, Workload};
use stdx::units::MIB;

/// Returns the workload that writes a file completely. Its length is a multiple of 1 MiB.
#[must_use]
pub fn laying_out(capacity_bytes: u64, seed: u64) -> Workload {
    let length = capacity_bytes / MIB * MIB;
    Workload {
        access: Access::Sequential,
        read_percent: 0,
        block_bytes: MIB as u32,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth: 8,
        range: Range::first(length),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::AmountBytes(length),
        seed,
        regime: Regime::default(),
        commands: None,
    }
}
