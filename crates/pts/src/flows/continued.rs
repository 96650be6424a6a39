//! Sequential streams that continue from one cell to the next.

use record::Segment;

/// Returns the number of blocks that each thread requested in a cell, whether completed or in flight at its end.
pub(crate) fn requested_blocks(segment: &Segment) -> u64 {
    let completed = segment.read.ios + segment.write.ios;
    completed.div_ceil(segment.workload.threads.max(1).into()) + u64::from(segment.workload.queue_depth)
}
