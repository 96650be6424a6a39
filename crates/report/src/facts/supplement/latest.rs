//! The latest part of a test, for displays of runs in progress.

use charts::{Content, Panel, TimeLine};
use record::{Entry, RunFile};

use super::timing::{self, Timing};
use super::{course, health, heat};
use crate::facts::scaled_clock::ScaledClock;

/// Maximum length of the part.
const MOST_MINUTES: f64 = 60.0;

/// The latest hour of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Latest {
    /// IOPS, throughput, response times, and the readings of drive and host on one time axis. Panels of quantities
    /// that were not reported are absent.
    pub line: TimeLine,
    /// Names of the quantities that neither drive nor host reported.
    pub unavailable: Vec<&'static str>,
}

/// Returns the latest hour of the current test, or of the last test; `None` before its first workload is complete.
/// Times of a scaled drive refer to the full-size drive.
#[must_use]
pub fn latest(run: &RunFile, entries: &[Entry]) -> Option<Latest> {
    of_entries(entries, run.scale_divisor())
}

fn of_entries(entries: &[Entry], scale_divisor: u32) -> Option<Latest> {
    let scaled = ScaledClock::of(entries, scale_divisor);
    let mut timings = timing::timings(entries, &scaled).into_iter().rev().map(|(_, timing)| timing);
    let mut timing = timings.find(|timing| !timing.workloads.is_empty())?;
    cut(&mut timing);
    let to_minutes = timing.end_minutes();
    let panel = |title: &str, content| Panel { title: title.into(), content };
    let mut panels = vec![
        panel("IOPS", Content::Course(course::course(&timing, to_minutes))),
        panel("Throughput (MB/s)", Content::Strip(course::throughput(&timing, to_minutes))),
        panel("Response time (ms)", Content::Heat(heat::columns(&timing, to_minutes))),
    ];
    let (available, mut unavailable) = health::panels(&timing);
    panels.extend(available);
    if let Some(metered) = health::metered(&timing) {
        panels.push(metered);
        unavailable.retain(|name| *name != health::POWER);
    }
    panels.iter_mut().for_each(keep_visible);
    Some(Latest { line: TimeLine { to_minutes, interruptions: timing.interruptions, panels }, unavailable })
}

/// Removes everything before the latest hour, and shifts the axis so that it begins with this hour.
fn cut(timing: &mut Timing<'_>) {
    let begin = (timing.end_minutes() - MOST_MINUTES).max(0.0);
    timing.workloads.retain(|timed| timed.to_minutes > begin);
    for timed in &mut timing.workloads {
        timed.from_minutes -= begin;
        timed.to_minutes -= begin;
    }
    // The last reading before the hour is the first value of the counters.
    let before = timing.readings.iter().rposition(|(minute, _)| *minute < begin).unwrap_or(0);
    timing.readings.drain(..before);
    timing.readings.iter_mut().for_each(|(minute, _)| *minute -= begin);
    timing.interruptions.iter_mut().for_each(|minute| *minute -= begin);
    timing.interruptions.retain(|minute| *minute >= 0.0);
}

/// Removes values before the beginning of the axis: those of a workload that began earlier.
fn keep_visible(panel: &mut Panel) {
    match &mut panel.content {
        Content::Course(curves) | Content::Strip(curves) => {
            for strand in &mut curves.strands {
                strand.pieces.iter_mut().for_each(|piece| piece.retain(|(minute, _)| *minute >= 0.0));
                strand.pieces.retain(|piece| !piece.is_empty());
            }
        }
        Content::Heat(columns) => {
            columns.retain(|column| column.to_minutes > 0.0);
            columns.iter_mut().for_each(|column| column.from_minutes = column.from_minutes.max(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::samples::{self, MINUTE_NS};
    use record::{Event, Health, Power, Segment, Until};

    /// Returns a workload of `minutes` minutes with 10 I/Os of 4 KiB per second.
    fn workload(from_minute: u64, minutes: u64) -> Segment {
        let mut segment = samples::segment(from_minute);
        segment.end_ns = segment.start_ns + minutes * MINUTE_NS;
        segment.workload.until = Until::DurationNs(minutes * MINUTE_NS);
        segment.series.write_ios = vec![600; minutes as usize].into();
        segment.series.read_ios = vec![0; minutes as usize].into();
        segment.write.ios = 600 * minutes;
        segment.write.bytes = 4096 * segment.write.ios;
        segment.write.latency.record(1_000_000);
        segment
    }

    fn of(events: Vec<Event>) -> Option<Latest> {
        let entries = samples::entries([samples::started("wsat")].into_iter().chain(events).collect());
        of_entries(&entries, 1)
    }

    fn titles(latest: &Latest) -> Vec<&str> {
        latest.line.panels.iter().map(|panel| panel.title.as_str()).collect()
    }

    fn points(panel: &Panel) -> Vec<(f64, f64)> {
        match &panel.content {
            Content::Course(curves) | Content::Strip(curves) => {
                curves.strands.iter().flat_map(|strand| strand.pieces.iter().flatten().copied()).collect()
            }
            Content::Heat(columns) => {
                columns.iter().map(|column| (column.from_minutes, column.to_minutes)).collect()
            }
        }
    }

    #[test]
    fn only_what_the_run_recorded_has_a_panel() {
        assert_eq!(of(vec![samples::read(0, Health::default())]), None, "no workload is complete");
        let bare = of(vec![Event::Measured(workload(0, 2))]).expect("a workload");
        assert_eq!(titles(&bare), ["IOPS", "Throughput (MB/s)", "Response time (ms)"]);
        assert_eq!(bare.unavailable, ["temperature", "power", "throttling", "bytes written to flash"]);
        let health = |minute: u64| Health {
            temperature_celsius: Some(40 + minute as i16),
            host_written_bytes: Some(minute * 1_000_000_000),
            media_written_bytes: Some(minute * 3_000_000_000),
            ..Health::default()
        };
        let read = |minute| samples::read(minute, health(minute));
        let metered = Power {
            mean_microwatts: 6_500_000,
            min_microwatts: 6_000_000,
            max_microwatts: 7_000_000,
            samples: 120,
            standard_error_microwatts: None,
            tolerance_microwatts: None,
        };
        let segment = Segment { power: Some(metered), ..workload(0, 2) };
        let all = of(vec![read(0), Event::Measured(segment), read(2)]).expect("a workload");
        let [_, throughput, _, temperature, amplification, power] = &all.line.panels[..] else {
            panic!("{:?}", titles(&all))
        };
        let megabytes: Vec<String> =
            points(throughput).iter().map(|(at, mb)| format!("{at} {mb:.5}")).collect();
        assert_eq!(megabytes, ["0.5 0.04096", "1.5 0.04096"]);
        assert_eq!(points(temperature), [(0.0, 40.0), (2.0, 42.0)]);
        assert_eq!(points(amplification), [(0.0, 3.0), (2.0, 3.0)]);
        assert_eq!(points(power), [(0.0, 6.5), (2.0, 6.5)]);
        assert_eq!(all.unavailable, ["throttling"]);
    }

    #[test]
    fn the_axis_begins_an_hour_before_the_latest_value() {
        let warm = |minute: u64| {
            let celsius = Some(minute as i16);
            samples::read(minute, Health { temperature_celsius: celsius, ..Health::default() })
        };
        let mut events = vec![Event::Preconditioned(workload(0, 90)), Event::Measured(workload(90, 1))];
        events.extend([20, 91, 100].map(warm));
        let latest = of(events).expect("workloads");
        assert_eq!(latest.line.to_minutes, 60.0);
        for panel in &latest.line.panels {
            let points = points(panel);
            assert!(!points.is_empty(), "{}", panel.title);
            assert!(
                points.iter().all(|(minute, _)| (0.0..=60.0).contains(minute)),
                "{}: {points:?}",
                panel.title
            );
        }
        // The load that is in progress has readings, but no IOPS yet.
        assert_eq!(points(&latest.line.panels[3]), [(51.0, 91.0), (60.0, 100.0)]);
        let last_iops = points(&latest.line.panels[0]).iter().map(|(minute, _)| *minute).fold(0.0, f64::max);
        assert!((50.0..51.0).contains(&last_iops), "{last_iops}");
    }
}
