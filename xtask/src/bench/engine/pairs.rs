//! Alternating pairs of our measurement and a rival's.

use engine::Nowhere;
use record::Workload;

use super::rivals::Sample;
use crate::bench::results::median;

/// Pairs per comparison.
pub const PAIRS: usize = 5;

/// Runs both measurements alternately; the order is reversed in every other pair.
pub fn paired(
    ours: impl FnMut() -> anyhow::Result<Sample>,
    theirs: impl FnMut() -> anyhow::Result<Sample>,
) -> anyhow::Result<Vec<(Sample, Sample)>> {
    alternated(PAIRS, ours, theirs)
}

/// Runs `count` alternating pairs.
pub fn alternated(
    count: usize,
    mut ours: impl FnMut() -> anyhow::Result<Sample>,
    mut theirs: impl FnMut() -> anyhow::Result<Sample>,
) -> anyhow::Result<Vec<(Sample, Sample)>> {
    let mut pairs = Vec::with_capacity(count);
    for i in 0..count {
        pairs.push(if i % 2 == 0 {
            let first = ours()?;
            (first, theirs()?)
        } else {
            let first = theirs()?;
            (ours()?, first)
        });
    }
    Ok(pairs)
}

/// Returns the medians of both measurements, and the median of the ratios within pairs.
pub fn compared(pairs: &[(Sample, Sample)], of: fn(&Sample) -> f64) -> (f64, f64, f64) {
    (
        median(pairs.iter().map(|p| of(&p.0))),
        median(pairs.iter().map(|p| of(&p.1))),
        median(pairs.iter().map(|p| of(&p.0) / of(&p.1))),
    )
}

/// Runs a workload that does no I/O.
pub fn rehearsed(way: Nowhere, workload: &Workload) -> anyhow::Result<Sample> {
    let done = engine::rehearse(way, workload)?;
    let ios = (done.segment.read.ios + done.segment.write.ios).max(1) as f64;
    Ok(Sample {
        cpu_ns: done.cpu_ns_per_io(),
        user_ns: done.effort.user_ns as f64 / ios,
        iops: done.segment.iops(),
        all_ns: None,
    })
}
