//! Failed I/Os that a workload tolerates.

use record::{Errors, Tolerated};

/// Number of different errors for which memory is reserved.
const KINDS: usize = 8;

/// The errors that one worker tolerates, and those that it has tolerated.
#[derive(Debug, Clone)]
pub(crate) struct Forgiven {
    tolerated: Tolerated,
    /// Number of failed I/Os by error number, with the time of the first, in order of first appearance.
    pub(super) counts: Vec<(i32, u64, u64)>,
}

impl Forgiven {
    pub(crate) fn of(tolerated: Tolerated) -> Self {
        let kinds = if tolerated == Tolerated::NONE { 0 } else { KINDS };
        Self { tolerated, counts: Vec::with_capacity(kinds) }
    }

    /// Returns the tolerated errors of reads, or of writes.
    pub(super) fn errors(&self, read: bool) -> Errors {
        if read { self.tolerated.read } else { self.tolerated.write }
    }

    pub(super) fn count(&mut self, errno: i32, at_ns: u64) {
        match self.counts.iter_mut().find(|(kind, ..)| *kind == errno) {
            Some((_, count, _)) => *count += 1,
            None => self.counts.push((errno, 1, at_ns)),
        }
    }
}
