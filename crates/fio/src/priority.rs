//! The I/O priorities of a job.

use record::{IoPriority, PriorityShare};

/// Class of the I/Os of `cmdprio_percentage` and `cmdprio_bssplit` without a class of their own.
const REAL_TIME: u8 = 1;

/// An entry of `cmdprio_bssplit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitShare {
    pub(crate) block_bytes: u32,
    pub(crate) share_percent: u8,
    /// `None` for the priority of the other options.
    pub(crate) priority: Option<IoPriority>,
}

/// The options of a job about priorities. Arrays contain the values for reads, then for writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Priorities {
    /// The priority of all other I/Os; `None` for that of the process.
    pub(crate) of_job: Option<IoPriority>,
    /// `cmdprio_percentage`.
    pub(crate) percent: [u8; 2],
    /// `cmdprio_class`; 0 if it was not set.
    pub(crate) class: [u8; 2],
    /// `cmdprio`.
    pub(crate) level: [u8; 2],
    /// `cmdprio_hint`.
    pub(crate) hint: [u16; 2],
    /// `cmdprio_bssplit`.
    pub(crate) split: [Vec<SplitShare>; 2],
}

impl Priorities {
    /// Returns the job's priority, to change it.
    pub(crate) fn job_mut(&mut self) -> &mut IoPriority {
        self.of_job.get_or_insert_default()
    }

    fn given(&self, direction: usize) -> IoPriority {
        let class = if self.class[direction] == 0 { REAL_TIME } else { self.class[direction] };
        IoPriority { class, level: self.level[direction], hint: self.hint[direction] }
    }

    /// Returns whether no option sets a priority.
    pub(crate) fn is_none(&self) -> bool {
        let has_split = self.split.iter().any(|shares| !shares.is_empty());
        self.of_job.is_none() && self.percent == [0; 2] && !has_split
    }

    /// Returns the shares of the reads, direction 0, or of the writes.
    pub(crate) fn shares(&self, direction: usize) -> Vec<PriorityShare> {
        let (read, given) = (direction == 0, self.given(direction));
        let percent = self.percent[direction];
        let any = PriorityShare { read, block_bytes: None, share_percent: percent, priority: given };
        let of_size = |share: &SplitShare| PriorityShare {
            block_bytes: Some(share.block_bytes),
            share_percent: share.share_percent,
            priority: share.priority.unwrap_or(given),
            ..any
        };
        let any = (percent > 0).then_some(any);
        any.into_iter().chain(self.split[direction].iter().map(of_size)).collect()
    }
}
