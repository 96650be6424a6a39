//! Cells of a simulated drive that lasted longer than requested. On a scaled drive, cells are shorter, so a
//! cell could end before any I/O completes. The simulator therefore extends it until enough I/Os have
//! completed.

use record::Segment;

use crate::Deviation;

/// Returns the deviation of test `title` due to extended cells among `workloads`; None if there are none.
pub fn among<'a>(
    title: &str,
    workloads: impl Iterator<Item = &'a Segment>,
    scale_divisor: u32,
) -> Option<Deviation> {
    let timed = workloads.filter(|segment| segment.requested_ns(scale_divisor).is_some());
    let (mut all, mut extended, mut largest) = (0, 0, 1.0_f64);
    for segment in timed {
        all += 1;
        if let Some(factor) = segment.extended_by(scale_divisor) {
            extended += 1;
            largest = largest.max(factor);
        }
    }
    // The factor is rounded up, so that no cell was extended by more than that.
    let up_to_tenths = (largest * 10.0).ceil() as u64;
    let title = title.to_owned();
    (extended > 0).then_some(Deviation::Extended { title, extended, all, up_to_tenths })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::segment;
    use record::{IoEngine, Until};

    /// A cell requested to take a minute, at scale 1/10, with its actual length in seconds.
    fn minute(seconds: u64) -> Segment {
        let mut segment = segment(vec![1; seconds as usize], seconds * 1_000_000_000);
        segment.workload.until = Until::DurationNs(60_000_000_000);
        segment
    }

    #[test]
    fn extended_cells_are_counted_with_the_largest_factor() {
        let mut fill = minute(50);
        fill.workload.until = Until::AmountBytes(1);
        let cells = [minute(6), minute(6), minute(9), minute(349), fill];
        let found = among("IOPS", cells.iter(), 10).expect("a deviation").to_string();
        assert!(found.starts_with("IOPS: 2 of 4 cells "), "{found}");
        assert!(found.ends_with("(up to 58.2 times)"), "{found}");
        assert_eq!(among("IOPS", cells[..2].iter(), 10), None);
    }

    #[test]
    fn only_a_simulated_drive_extends_cells() {
        let real = Segment { io_path: IoEngine::IoUring.into(), ..minute(9) };
        assert_eq!(among("IOPS", [real].iter(), 10), None);
    }
}
