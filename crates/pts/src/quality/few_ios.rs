//! Cells that were too short for their workload: few I/Os completed, so the figures are coarse.

use record::Segment;
use stdx::units::{count_of, counted};

/// With fewer I/Os, a single I/O changes the figure by more than a tenth.
const FEW: u64 = 10;
/// Above this number, kinds of cells are counted rather than listed.
const LISTED: usize = 6;

/// Returns whether this cell's figures are coarse.
pub fn has_few(segment: &Segment) -> bool {
    segment.read.ios + segment.write.ios < FEW
}

/// Returns a note about these cells; None if enough I/Os completed in all of them.
pub fn note<'a>(cells: impl Iterator<Item = &'a Segment>) -> Option<String> {
    let (count, kinds) = kinds_among(cells, has_few)?;
    Some(format!(
        "FEW I/Os: fewer than {FEW} completed in {count}, so their figures are coarse, or 0 if none \
         completed; use longer cells, or a larger scale of a simulated drive: {kinds}"
    ))
}

/// Returns the number of cells that satisfy `such` (`2 of 56 cells`), and their kinds; None if there are none.
pub fn kinds_among<'a>(
    cells: impl Iterator<Item = &'a Segment>,
    such: impl Fn(&Segment) -> bool,
) -> Option<(String, String)> {
    let (mut all, mut found) = (0u32, 0u32);
    let mut kinds: Vec<String> = Vec::new();
    for segment in cells {
        all += 1;
        if !such(segment) {
            continue;
        }
        found += 1;
        let workload = &segment.workload;
        let kind = format!("{workload} at TC {} QD {}", workload.threads, workload.queue_depth);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let more = kinds.len().saturating_sub(LISTED);
    kinds.truncate(LISTED);
    if more > 0 {
        kinds.push(format!("{} more", count_of(more, "kind")));
    }
    (found > 0).then(|| (format!("{} of {} cells", counted(found), counted(all)), kinds.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::segment;

    #[test]
    fn cells_with_too_few_ios_are_named_once() {
        let cells = [9, 10, 0, 500].map(|ios| segment(vec![ios], 1_000_000_000));
        let text = note(cells.iter()).expect("a note");
        assert!(text.contains("in 2 of 4 cells") && text.matches("RND").count() == 1, "{text}");
        assert_eq!(note(cells[1..2].iter()), None);
        let text = note(cells.iter().cycle().take(2_126)).expect("a note");
        assert!(text.contains("in 1,063 of 2,126 cells"), "{text}");
    }
}
