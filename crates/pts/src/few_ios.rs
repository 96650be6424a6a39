//! Cells that were too short for their load: so few I/Os ended in them that their figures are coarse.

use record::Segment;

/// With fewer I/Os than this, one more or less is more than a tenth of the figure.
const FEW: u64 = 10;
/// More kinds of cells than this are counted instead of listed.
const LISTED: usize = 6;

/// Whether the figures of this cell are coarse.
pub fn has_few(segment: &Segment) -> bool {
    segment.read.ios + segment.write.ios < FEW
}

/// What must be said of these cells; none where enough I/Os ended in all of them.
pub fn note<'a>(cells: impl Iterator<Item = &'a Segment>) -> Option<String> {
    let (count, kinds) = kinds_among(cells, has_few)?;
    Some(format!(
        "FEW I/Os: fewer than {FEW} completed in {count}, so their figures are coarse, and 0 where none \
         completed; longer cells, or a larger scale of a simulated drive, give finer ones: {kinds}"
    ))
}

/// How many of the cells are `such` (`2 of 56 cells`), and their kinds; none where none is.
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
        kinds.push(format!("{more} more kinds"));
    }
    (found > 0).then(|| (format!("{found} of {all} cells"), kinds.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::tests::segment;

    #[test]
    fn cells_with_too_few_ios_are_named_once() {
        let cells = [9, 10, 0, 500].map(|ios| segment(vec![ios], 1_000_000_000));
        let told = note(cells.iter()).expect("a note");
        assert!(told.contains("in 2 of 4 cells") && told.matches("RND").count() == 1, "{told}");
        assert_eq!(note(cells[1..2].iter()), None);
    }
}
