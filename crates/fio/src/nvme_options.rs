//! The options of a job about NVMe commands.

use record::{DataPlacement, WriteMode, WriteModeShare};

/// The options of a job about NVMe commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NvmeOptions {
    /// `write_mode`; empty for plain writes.
    pub(crate) write_modes: Vec<WriteModeShare>,
    /// `num_range`; 0 if it was not set.
    pub(crate) trim_ranges: u16,
    /// Whether `fdp` or `dataplacement` requests data placement.
    pub(crate) places_data: bool,
    /// `fdp_pli` and `fdp_pli_select`.
    pub(crate) placement: DataPlacement,
}

impl NvmeOptions {
    /// Returns whether any write becomes another command.
    pub(crate) fn replaces_writes(&self) -> bool {
        self.write_modes.iter().any(|share| share.mode != WriteMode::Write)
    }
}
