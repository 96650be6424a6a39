//! Journal data beyond the pages of the specification: the course of a test on one time axis with the health data of
//! drive and host, and response times up to five nines.

pub(crate) mod cells;
mod health;
mod heat;
pub(crate) mod moments;

use pts::exhibit::Scale;
use record::Entry;

use crate::answers::{Answer, Phase, answers};
use crate::chart::{Content, Curves, Panel, Strand, TimeLine};
use crate::document::Document;
use moments::{Moments, Stretch};

/// Maximum points of a curve; more are indistinguishable on a page.
const POINTS: usize = 600;
/// Ratio of the fastest to the slowest value above which a linear axis would hide the slow ones.
const WIDE: f64 = 20.0;

/// The additional data of one test.
#[derive(Debug, Clone)]
pub(crate) struct Beyond {
    /// Name of the test.
    pub test: String,
    pub title: String,
    /// Actual cost, compared with the estimate.
    pub spent: Option<String>,
    /// IOPS, response times and health over the whole test.
    pub timeline: TimeLine,
    /// Explains how to read the timeline, and what it leaves out.
    pub remark: String,
    /// Workloads of the window with their response times; empty for tests with too many.
    pub cells: Vec<cells::Cell>,
}

/// Collects the data of every started test.
pub(crate) fn beyond(document: &Document, entries: &[Entry]) -> Vec<Beyond> {
    let all = answers(entries);
    let spent = pts::cost::of_run(&document.run, entries);
    let moments = moments::moments(entries, document.run.scale_divisor());
    let none = Moments::default();
    let of = |outcome: &pts::Outcome| {
        let mine: Vec<&Answer<'_>> =
            all.iter().filter(|a| a.test == outcome.test && a.phase == Phase::Measure).collect();
        let moments =
            moments.iter().find(|(test, _)| *test == outcome.test).map_or(&none, |(_, known)| known);
        let (timeline, untold) = timeline(moments);
        Beyond {
            test: outcome.test.clone(),
            title: outcome.title.clone(),
            spent: spent.iter().find(|spent| spent.test == outcome.test).map(ToString::to_string),
            remark: remark(moments, &untold, document.run.scale_divisor(), outcome),
            timeline,
            cells: cells::cells(document, &mine),
        }
    };
    document.outcomes.iter().map(of).collect()
}

fn timeline(moments: &Moments<'_>) -> (TimeLine, Vec<&'static str>) {
    let to_minutes = moments.end_minutes();
    let mut panels = vec![
        Panel { title: "IOPS".into(), content: Content::Course(course(moments, to_minutes)) },
        Panel {
            title: "Response time (ms)".into(),
            content: Content::Heat(heat::columns(moments, to_minutes)),
        },
    ];
    let (told, untold) = health::panels(moments);
    panels.extend(told);
    (TimeLine { to_minutes, interruptions: moments.interruptions.clone(), panels }, untold)
}

fn remark(moments: &Moments<'_>, untold: &[&str], scale_divisor: u32, outcome: &pts::Outcome) -> String {
    let mut text = "The axis begins with the first I/O of the test.".to_owned();
    if !moments.interruptions.is_empty() {
        text += " A dashed red line marks an interruption, whose duration is left out.";
    }
    if scale_divisor > 1 {
        text += &format!(
            " Minutes are those of the full-size drive: {scale_divisor} times those of the scaled one."
        );
    }
    if let Some(count) = &outcome.host_limited {
        text += &format!(" {}", crate::content::chart_remark(count));
    }
    match untold {
        [] => {}
        all if moments.readings.is_empty() => {
            text += &format!(" No health data was available: no {}.", all.join(", no "));
        }
        some => text += &format!(" Not reported by drive or host: {}.", some.join(", ")),
    }
    text
}

/// A time interval with its I/Os.
struct Interval {
    from: f64,
    to: f64,
    seconds: f64,
    ios: u64,
}

fn intervals(stretch: &Stretch<'_>) -> Vec<Interval> {
    let (segment, series) = (stretch.segment, &stretch.segment.series);
    let whole_ns = segment.end_ns.saturating_sub(segment.start_ns);
    let sums: Vec<u64> = match series.read_ios.len() {
        0 => vec![segment.read.ios + segment.write.ios],
        _ => series.read_ios.iter().zip(&series.write_ios).map(|(reads, writes)| reads + writes).collect(),
    };
    let each_ns = if series.read_ios.is_empty() { whole_ns } else { series.interval_ns };
    let minutes_per_ns = (stretch.to_minutes - stretch.from_minutes) / whole_ns.max(1) as f64;
    let at = |ns: u64| stretch.from_minutes + minutes_per_ns * ns as f64;
    let mut all: Vec<Interval> = Vec::with_capacity(sums.len());
    for (index, ios) in sums.into_iter().enumerate() {
        let from_ns = each_ns.saturating_mul(index as u64).min(whole_ns);
        let to_ns = from_ns.saturating_add(each_ns).min(whole_ns);
        let seconds = (to_ns - from_ns) as f64 / 1e9;
        match all.last_mut().filter(|_| to_ns - from_ns < each_ns / 2) {
            // The remainder of a workload may be too short for an interval of its own, so merge it into the last one.
            Some(last) => {
                last.to = at(to_ns);
                last.seconds += seconds;
                last.ios += ios;
            }
            None => all.push(Interval { from: at(from_ns), to: at(to_ns), seconds, ios }),
        }
    }
    all.retain(|interval| interval.seconds > 0.0);
    all
}

fn course(moments: &Moments<'_>, to_minutes: f64) -> Curves {
    let strand = |(phase, name): (Phase, &str)| {
        let mine = moments.stretches.iter().filter(|stretch| stretch.phase == phase);
        let intervals: Vec<Interval> = mine.flat_map(intervals).collect();
        Strand { name: name.into(), pieces: pieces(&intervals, to_minutes / POINTS as f64) }
    };
    let strands = [(Phase::Measure, "measured"), (Phase::Precondition, "preconditioning")].map(strand);
    let strands: Vec<Strand> =
        strands.into_iter().filter(|strand| strand.name == "measured" || !strand.pieces.is_empty()).collect();
    let values = || strands.iter().flat_map(|strand| strand.pieces.iter().flatten().map(|(_, iops)| *iops));
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let is_wide = least > 0.0 && most / least > WIDE;
    Curves {
        scale: if is_wide { Scale::Log10 } else { Scale::LinearFromZero },
        room_for: Vec::new(),
        strands,
    }
}

/// IOPS over intervals of at least `width` minutes; a gap starts a new piece.
fn pieces(intervals: &[Interval], width: f64) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut last_to = f64::NEG_INFINITY;
    let mut rest = intervals;
    while let Some(first) = rest.first() {
        let mut end = first.to;
        let mut count = 1;
        // Do not merge across a gap.
        while let Some(next) =
            rest.get(count).filter(|next| end - first.from < width && next.from - end < width)
        {
            end = next.to;
            count += 1;
        }
        let (taken, left) = rest.split_at(count);
        let seconds: f64 = taken.iter().map(|interval| interval.seconds).sum();
        let ios = taken.iter().fold(0_u64, |sum, interval| sum.saturating_add(interval.ios));
        let point = ((first.from + end) / 2.0, ios as f64 / seconds);
        match pieces.last_mut().filter(|_| first.from - last_to < width.max(end - first.from)) {
            Some(piece) => piece.push(point),
            None => pieces.push(vec![point]),
        }
        (last_to, rest) = (end, left);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Event;

    /// A segment with `ios` per second from `start_ns` on, plus a remainder too short for a separate interval.
    fn segment(start_ns: u64, ios: &[u64], rest_ns: u64) -> record::Segment {
        let Event::Measured(mut segment) = moments::tests::measured(0) else { panic!("a segment") };
        let seconds = ios.len() as u64 - u64::from(rest_ns > 0);
        (segment.start_ns, segment.end_ns) = (start_ns, start_ns + seconds * 1_000_000_000 + rest_ns);
        segment.series.interval_ns = 1_000_000_000;
        (segment.series.read_ios, segment.series.write_ios) = (vec![0; ios.len()], ios.to_vec());
        segment
    }

    fn curve(segments: Vec<record::Segment>) -> Curves {
        let events = segments.into_iter().map(Event::Measured);
        let entries =
            moments::tests::entries([moments::tests::started("wsat")].into_iter().chain(events).collect());
        let all = moments::moments(&entries, 1);
        course(&all[0].1, all[0].1.end_minutes())
    }

    fn values(curves: &Curves) -> Vec<Vec<f64>> {
        let piece = |piece: &Vec<(f64, f64)>| piece.iter().map(|(_, iops)| iops.round()).collect();
        curves.strands[0].pieces.iter().map(piece).collect()
    }

    #[test]
    fn the_rest_of_a_workload_is_no_second_without_io() {
        let curves = curve(vec![segment(0, &[100, 110, 0], 2)]);
        assert_eq!(values(&curves), [[100.0, 110.0]]);
        assert_eq!(curves.scale, Scale::LinearFromZero);
        let half = curve(vec![segment(0, &[100, 110, 60], 600_000_000)]);
        assert_eq!(values(&half), [[100.0, 110.0, 100.0]]);
    }

    #[test]
    fn a_second_without_io_counts_and_a_hole_is_not_joined() {
        let hour = 3_600_000_000_000;
        let curves = curve(vec![segment(0, &[100, 0, 100], 0), segment(hour, &[50], 0)]);
        // An axis of one hour merges single seconds.
        assert_eq!(values(&curves), [[67.0], [50.0]]);
        assert_eq!(values(&curve(vec![segment(0, &[100, 0, 100], 0)])), [[100.0, 0.0, 100.0]]);
    }

    #[test]
    fn what_differs_much_is_on_a_logarithmic_axis() {
        assert_eq!(curve(vec![segment(0, &[100, 90_000], 0)]).scale, Scale::Log10);
        assert_eq!(curve(vec![segment(0, &[0, 90_000], 0)]).scale, Scale::LinearFromZero);
    }
}
