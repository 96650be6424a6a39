//! The options that make a job pause.

use record::ThinkTime;

/// The pauses of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause; 0 for none.
    pub(crate) length_ns: u64,
    pub(crate) spin_ns: u64,
    /// Number of I/Os from one pause to the next, if specified.
    pub(crate) blocks: Option<u32>,
    pub(crate) count_issued: bool,
    pub(crate) io_time_ns: Option<u64>,
}

impl Think {
    /// Returns the pauses; `None` if there are none. As in fio, the other options have no effect without a length.
    pub(crate) fn time(self) -> Option<ThinkTime> {
        let Self { length_ns, spin_ns, blocks, count_issued, io_time_ns } = self;
        (length_ns > 0).then(|| ThinkTime {
            length_ns: length_ns.max(spin_ns),
            spin_ns,
            ios: blocks.unwrap_or(io_time_ns.is_none().into()),
            count_issued,
            io_time_ns,
        })
    }
}
