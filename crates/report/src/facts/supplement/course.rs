//! IOPS or throughput over time, with a curve for each phase.

use pts::exhibit::Scale;
use record::{Direction, Segment};

use super::timing::{TimedWorkload, Timing};
use crate::facts::answers::Phase;
use charts::{Curves, Strand};

/// Maximum number of points in a curve; more are indistinguishable on a page.
const POINTS: usize = 600;
/// If the ratio of the fastest to the slowest value exceeds this, a linear axis would hide the slow values.
const WIDE: f64 = 20.0;

/// A time interval with its I/Os or its bytes.
struct Interval {
    from: f64,
    to: f64,
    seconds: f64,
    amount: f64,
}

/// What one read and one write of a workload add to the amount of an interval.
type Weights = fn(&Segment) -> (f64, f64);

/// Returns the recorded intervals of a workload.
fn intervals(timed: &TimedWorkload<'_>, weights: Weights) -> Vec<Interval> {
    let (segment, series) = (timed.segment, &timed.segment.series);
    let whole_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let (of_read, of_write) = weights(segment);
    let amount = |(reads, writes): (u64, u64)| of_read * reads as f64 + of_write * writes as f64;
    let sums: Vec<f64> = match series.read_ios.len() {
        0 => vec![amount((segment.read.ios, segment.write.ios))],
        _ => series.read_ios.iter().zip(&series.write_ios).map(amount).collect(),
    };
    let each_ns = if series.read_ios.is_empty() { whole_ns } else { series.interval_ns };
    let minutes_per_ns = (timed.to_minutes - timed.from_minutes) / whole_ns.max(1) as f64;
    let at = |ns: u64| timed.from_minutes + minutes_per_ns * ns as f64;
    let mut all: Vec<Interval> = Vec::with_capacity(sums.len());
    for (index, amount) in sums.into_iter().enumerate() {
        let from_ns = each_ns.saturating_mul(index as u64).min(whole_ns);
        let to_ns = from_ns.saturating_add(each_ns).min(whole_ns);
        let seconds = (to_ns - from_ns) as f64 / 1e9;
        match all.last_mut().filter(|_| to_ns - from_ns < each_ns / 2) {
            // The remainder of a workload may be too short for a separate interval, so merge it into the last interval.
            Some(last) => {
                last.to = at(to_ns);
                last.seconds += seconds;
                last.amount += amount;
            }
            None => all.push(Interval { from: at(from_ns), to: at(to_ns), seconds, amount }),
        }
    }
    all.retain(|interval| interval.seconds > 0.0);
    all
}

/// Returns the IOPS of a test that lasts `to_minutes` minutes.
pub(super) fn course(timing: &Timing<'_>, to_minutes: f64) -> Curves {
    curves(timing, to_minutes, |_| (1.0, 1.0))
}

/// Returns the throughput in MB/s. The bytes of an interval are its I/Os times their mean size in the workload.
pub(super) fn throughput(timing: &Timing<'_>, to_minutes: f64) -> Curves {
    curves(timing, to_minutes, |segment| {
        let megabytes = |way: &Direction| way.bytes as f64 / way.ios.max(1) as f64 / 1e6;
        (megabytes(&segment.read), megabytes(&segment.write))
    })
}

fn curves(timing: &Timing<'_>, to_minutes: f64, weights: Weights) -> Curves {
    let strand = |phase: Phase, name: &str| {
        let of_phase = timing.workloads.iter().filter(|workload| workload.phase == phase);
        Strand {
            name: name.into(),
            pieces: pieces(of_phase.flat_map(|timed| intervals(timed, weights)), to_minutes / POINTS as f64),
        }
    };
    let mut strands = vec![strand(Phase::Measure, "measured")];
    let preconditioning = strand(Phase::Precondition, "preconditioning");
    strands.extend((!preconditioning.pieces.is_empty()).then_some(preconditioning));
    let values = || strands.iter().flat_map(|strand| strand.pieces.iter().flatten().map(|(_, value)| *value));
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let is_wide = least > 0.0 && most / least > WIDE;
    Curves {
        scale: if is_wide { Scale::Log10 } else { Scale::LinearFromZero },
        room_for: Vec::new(),
        strands,
    }
}

/// Returns the amounts per second over intervals of at least `width` minutes; a gap in the data starts a new curve.
fn pieces(intervals: impl Iterator<Item = Interval>, width: f64) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut last_to = f64::NEG_INFINITY;
    let mut rest = intervals.peekable();
    while let Some(first) = rest.next() {
        let Interval { to: mut end, mut seconds, mut amount, .. } = first;
        // Do not merge across a gap.
        while let Some(next) = rest.next_if(|next| end - first.from < width && next.from - end < width) {
            end = next.to;
            seconds += next.seconds;
            amount += next.amount;
        }
        let point = ((first.from + end) / 2.0, amount / seconds);
        match pieces.last_mut().filter(|_| first.from - last_to < width.max(end - first.from)) {
            Some(piece) => piece.push(point),
            None => pieces.push(vec![point]),
        }
        last_to = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::timing::timings;
    use super::*;
    use crate::facts::samples;
    use crate::facts::scaled_clock::ScaledClock;
    use record::Event;

    /// Returns a segment with `ios` I/Os per second from `start_ns` on, plus a remainder too short for a
    /// separate interval.
    fn segment(start_ns: u64, ios: &[u64], rest_ns: u64) -> record::Segment {
        let Event::Measured(mut segment) = samples::measured(0) else { panic!("a segment") };
        let seconds = ios.len() as u64 - u64::from(rest_ns > 0);
        (segment.start_ns, segment.end_ns) = (start_ns, start_ns + seconds * 1_000_000_000 + rest_ns);
        segment.series.interval_ns = 1_000_000_000;
        (segment.series.read_ios, segment.series.write_ios) = (vec![0; ios.len()].into(), ios.into());
        segment
    }

    fn curve(segments: Vec<record::Segment>) -> Curves {
        let events = segments.into_iter().map(Event::Measured);
        let entries = samples::entries([samples::started("wsat")].into_iter().chain(events).collect());
        let all = timings(&entries, &ScaledClock::of(&entries, 1));
        course(&all[0].1, all[0].1.end_minutes())
    }

    fn values(curves: &Curves) -> Vec<Vec<f64>> {
        let piece = |piece: &Vec<(f64, f64)>| piece.iter().map(|(_, iops)| iops.round()).collect();
        curves.strands[0].pieces.iter().map(piece).collect()
    }

    #[test]
    fn the_remainder_of_a_workload_is_not_a_second_without_io() {
        let curves = curve(vec![segment(0, &[100, 110, 0], 2)]);
        assert_eq!(values(&curves), [[100.0, 110.0]]);
        assert_eq!(curves.scale, Scale::LinearFromZero);
        let half = curve(vec![segment(0, &[100, 110, 60], 600_000_000)]);
        assert_eq!(values(&half), [[100.0, 110.0, 100.0]]);
    }

    #[test]
    fn a_second_without_io_counts_and_a_gap_is_not_joined() {
        let hour = 3_600_000_000_000;
        let curves = curve(vec![segment(0, &[100, 0, 100], 0), segment(hour, &[50], 0)]);
        // On an axis of one hour, single seconds are merged.
        assert_eq!(values(&curves), [[67.0], [50.0]]);
        assert_eq!(values(&curve(vec![segment(0, &[100, 0, 100], 0)])), [[100.0, 0.0, 100.0]]);
    }

    #[test]
    fn values_of_different_magnitude_have_a_logarithmic_axis() {
        assert_eq!(curve(vec![segment(0, &[100, 90_000], 0)]).scale, Scale::Log10);
        assert_eq!(curve(vec![segment(0, &[0, 90_000], 0)]).scale, Scale::LinearFromZero);
    }
}
