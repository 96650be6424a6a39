//! The current second of a run, from its `live` file, or the last complete cell if that file is not available.

use live::{Live, LiveSecond};
use maud::{Markup, html};
use pts::Standing;
use record::Segment;
use stdx::units::{amount_base10, grouped, span};

use super::frame::milliseconds;
use super::opened::shared;
use super::plot;
use crate::app::{Answer, App, Call};
use crate::parts::Part;
use crate::snapshot::Snapshot;

/// Age above which the file is considered stale.
const MOST_AGE_NS: u64 = 10_000_000_000;

/// `/runs/{id}/second`: the part of a run's page that changes every second.
pub fn part(app: &App, call: &Call) -> Answer {
    shared(app, call, Part::Second, content)
}

/// The run's current activity; nothing if it is not in progress.
pub fn content(snapshot: &Snapshot) -> Markup {
    if snapshot.standing != Standing::Running {
        return html! {};
    }
    let now = record::wall_now();
    let live = Live::of(&snapshot.run).ok().flatten().filter(|live| live.age_ns(now) <= MOST_AGE_NS);
    match live {
        Some(live) if !current(&live).is_empty() => of_live(&live),
        _ => {
            let latest = snapshot.loaded.entries.iter().rev().find_map(crate::live::segment);
            html! { @if let Some(segment) = latest { (of_segment(segment)) } }
        }
    }
}

/// Returns the latest seconds of the current load, in ascending order of time.
fn current(live: &Live) -> &[LiveSecond] {
    let seconds = &live.seconds[..];
    let restart =
        (1..seconds.len()).rev().find(|at| seconds[*at].elapsed_seconds <= seconds[at - 1].elapsed_seconds);
    &seconds[restart.unwrap_or(0)..]
}

fn of_live(live: &Live) -> Markup {
    let seconds = current(live);
    let points: Vec<(f64, f64)> =
        seconds.iter().map(|second| (second.elapsed_seconds, second.iops)).collect();
    let one = |name: &str, value: String| html! { div { dt { (name) } dd { (value) } } };
    html! {
        section.box {
            h2 { "This load: " (live.step.as_deref().unwrap_or("not named")) ", second by second" }
            @if let Some(now) = seconds.last() {
                dl.numbers {
                    (one("IOPS now", grouped(now.iops, 0)))
                    (one("Throughput now", format!("{} MB/s", grouped(now.bytes_per_second / 1e6, 1))))
                    (one("Mean response time now", milliseconds(now.mean_latency_seconds * 1e3)))
                    (one("Maximum response time now", milliseconds(now.max_latency_seconds * 1e3)))
                    // The bytes on the rest of the page are those of completed loads; a load may take hours.
                    @if let Some(bytes) = live.load_written_bytes { (one("Written by this load", amount_base10(bytes))) }
                    @if let Some(share) = live.share_done { (one("Done", format!("{} %", grouped(share * 100.0, 0)))) }
                    @if let Some(left) = live.left_seconds { (one(if live.left_is_estimate { "Left, estimated" } else { "Left" }, span((left * 1e9) as u64))) }
                }
            }
            @if points.len() > 1 { (plot::seconds(&points)) }
        }
    }
}

fn of_segment(segment: &Segment) -> Markup {
    let series = &segment.series;
    let seconds = series.interval_ns as f64 / 1e9;
    let length = series.read_ios.len().max(series.write_ios.len());
    let (mut reads, mut writes) = (series.read_ios.iter(), series.write_ios.iter());
    let mut ios = || reads.next().unwrap_or(0) + writes.next().unwrap_or(0);
    let points: Vec<(f64, f64)> =
        (0..length).map(|index| (seconds * index as f64, ios() as f64 / seconds)).collect();
    html! {
        @if points.len() > 2 && seconds > 0.0 {
            section.box {
                h2 { "Last complete load: " (segment.workload) ", second by second" }
                (plot::seconds(&points))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seconds_of_the_current_load_are_shown() {
        let second = |elapsed_seconds: f64| LiveSecond {
            elapsed_seconds,
            iops: 1.0,
            bytes_per_second: 1.0,
            mean_latency_seconds: 1.0,
            max_latency_seconds: 1.0,
        };
        let text = r#"{"run":"a","time":"2026-11-25T00:00:00Z","left_is_estimate":false,"host_limited":false,"seconds":[]}"#;
        let mut live: Live = serde_json::from_str(text).expect("a document");
        assert!(current(&live).is_empty());
        live.seconds = [8.0, 9.0, 1.0, 2.0].map(second).to_vec();
        assert_eq!(current(&live).iter().map(|each| each.elapsed_seconds).collect::<Vec<_>>(), [1.0, 2.0]);
    }
}
