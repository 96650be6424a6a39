//! Cells with fewer outstanding I/Os than the test requested.

use record::{DEPTH_KEPT_SHARE, Segment};

use crate::quality::few_ios::kinds_among;

/// Returns a note about these cells; `None` if all of them maintained the queue depth.
pub fn note<'a>(cells: impl Iterator<Item = &'a Segment>) -> Option<String> {
    let (count, kinds) = kinds_among(cells, Segment::is_shallow)?;
    Some(format!(
        "QUEUE DEPTH NOT MAINTAINED: in {count}, less than {:.0} % of the requested depth was outstanding on \
         average; the target blocks during submission, or generating the data took too long: {kinds}",
        DEPTH_KEPT_SHARE * 100.0
    ))
}
