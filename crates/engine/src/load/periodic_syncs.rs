//! Decides when a thread issues a sync between its writes.
//!
//! As in fio, a sync is the operation right after every N writes, unless it would be the last one.

use stdx::access::Access;

use crate::queue::Sync;

/// One thread's syncs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeriodicSyncs {
    fsync_writes: u64,
    fdatasync_writes: u64,
    /// Number of writes issued.
    writes: u64,
    due: Option<Sync>,
}

impl PeriodicSyncs {
    pub(crate) fn of(syncs: record::Syncs) -> Self {
        let record::Syncs { fsync_writes, fdatasync_writes, .. } = syncs;
        let (fsync_writes, fdatasync_writes) = (fsync_writes.into(), fdatasync_writes.into());
        Self { fsync_writes, fdatasync_writes, writes: 0, due: None }
    }

    /// Counts an issued I/O.
    pub(crate) fn issued(&mut self, access: Access) {
        if access.read {
            return;
        }
        self.writes += 1;
        let is_due = |every: u64| every > 0 && self.writes.is_multiple_of(every);
        self.due = if is_due(self.fsync_writes) {
            Some(Sync::Fsync)
        } else {
            is_due(self.fdatasync_writes).then_some(Sync::Fdatasync)
        };
    }

    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// Returns the sync to issue next, if any.
    pub(crate) fn take_due(&mut self) -> Option<Sync> {
        self.due.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the operations of a thread, one letter each: reads, writes, fsyncs, fdatasyncs.
    fn operations(fsync_writes: u32, fdatasync_writes: u32, ios: &str) -> String {
        let syncs = record::Syncs { fsync_writes, fdatasync_writes, ..record::Syncs::NONE };
        let (mut syncs, mut operations) = (PeriodicSyncs::of(syncs), String::new());
        for io in ios.chars() {
            operations.extend(syncs.take_due().map(|sync| if sync == Sync::Fsync { 'f' } else { 'd' }));
            operations.push(io);
            syncs.issued(Access { read: io == 'r', block_bytes: 512, offset_bytes: 0 });
        }
        operations
    }

    #[test]
    fn a_sync_follows_every_so_many_writes_but_not_the_last_one() {
        assert_eq!(operations(2, 0, "wwwwww"), "wwfwwfww");
        assert_eq!(operations(0, 3, "wwwwwww"), "wwwdwwwdw");
        assert_eq!(operations(4, 2, "wwwwwwwww"), "wwdwwfwwdwwfw");
        assert_eq!(operations(0, 0, "wwww"), "wwww");
    }

    #[test]
    fn reads_do_not_count_and_do_not_repeat_a_sync() {
        assert_eq!(operations(2, 0, "wrrwrrww"), "wrrwfrrww");
        assert_eq!(operations(1, 1, "rrrr"), "rrrr");
    }
}
