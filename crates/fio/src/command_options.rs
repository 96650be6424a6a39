//! The options about individual commands.

use record::ScsiCommands;

use super::nvme_options::NvmeOptions;
use super::priority::Priorities;
use super::zone_options::ZoneOptions;

/// The options about individual commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandOptions {
    pub(crate) priorities: Priorities,
    pub(crate) nvme: NvmeOptions,
    pub(crate) scsi: ScsiCommands,
    pub(crate) zoned: ZoneOptions,
    /// Whether writes are atomic.
    pub(crate) atomic: bool,
}
