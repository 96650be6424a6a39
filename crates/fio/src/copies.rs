//! The options that determine which blocks are duplicated.

use record::SharedSet;

/// fio's default size of a working set.
const DEFAULT_PERCENT: u8 = 5;

/// Which blocks are duplicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicates {
    /// Whether duplicates are copies of a working set, and not of the latest unique block.
    pub(crate) of_set: bool,
    /// Size of the working set, in percent of `size`.
    pub(crate) set_percent: u8,
    /// Whether all jobs share their working sets.
    pub(crate) is_global: bool,
    /// The clones of all jobs.
    pub(crate) clones: SharedSet,
}

impl Default for Duplicates {
    fn default() -> Self {
        let clones = SharedSet { seed: 0, threads: 1, first: 0 };
        Self { of_set: false, set_percent: DEFAULT_PERCENT, is_global: false, clones }
    }
}
