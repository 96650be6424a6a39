//! The parameters of an array to create.

use std::path::PathBuf;

use super::hardware::Hardware;

/// The parameters of an array to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayPlan {
    pub(crate) level: u8,
    pub(crate) chunk_kib: Option<u32>,
    pub(crate) bitmap: bool,
    /// Kernel name: `md127`.
    pub(crate) name: String,
    /// Identifies the array.
    pub(crate) uuid: String,
    /// Device nodes of the members, with links resolved, or addresses on a RAID controller.
    pub(crate) members: Vec<PathBuf>,
    /// Space used on each member; `None` for level 0.
    pub(crate) component_kib: Option<u64>,
    /// Settings for a RAID controller.
    pub(crate) hardware: Option<Hardware>,
}
