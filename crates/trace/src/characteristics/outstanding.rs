//! The number of outstanding I/Os at each issue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stdx::Histogram;

use crate::Io;

/// Largest number that is counted separately.
const MOST: usize = 1 << 16;

#[derive(Default)]
pub struct Outstanding {
    ends: BinaryHeap<Reverse<u64>>,
    depths: Histogram,
}

impl Outstanding {
    pub fn add(&mut self, io: &Io) {
        let Some(response_ns) = io.response_ns else { return };
        while self.ends.peek().is_some_and(|Reverse(end_ns)| *end_ns <= io.issue_ns) {
            self.ends.pop();
        }
        if self.ends.len() < MOST {
            self.ends.push(Reverse(io.issue_ns.saturating_add(response_ns)));
        }
        self.depths.record(self.ends.len() as u64);
    }

    pub fn finish(self) -> Histogram {
        self.depths
    }
}
