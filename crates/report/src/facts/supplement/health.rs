//! Health data of drive and host during a test: temperature, power, throttling, write amplification.

use std::collections::BTreeMap;

use pts::exhibit::Scale;
use record::Health;

use super::timing::{TimedWorkload, Timing};
use charts::{Content, Curves, Panel, Strand};

/// Maximum number of points in a curve; more would be indistinguishable, so neighbouring points are averaged.
const POINTS: usize = 400;
/// Minimum number of bytes written between two points of write amplification: a hundred units of the NVMe counters, for
/// an accuracy of a few percent.
const WRITTEN_BYTES: u64 = 51_200_000;

/// Name of the quantity that both the readings and a meter may contain.
pub(super) const POWER: &str = "power";

/// Returns the panels of the available quantities, and names of the unavailable quantities.
pub(super) fn panels(timing: &Timing<'_>) -> (Vec<Panel>, Vec<&'static str>) {
    let all = [
        ("temperature", temperature(timing)),
        (POWER, power(timing)),
        ("throttling", throttled(timing)),
        ("bytes written to flash", amplification(timing)),
    ];
    let unavailable = all.iter().filter(|(_, panel)| panel.is_none()).map(|(name, _)| *name).collect();
    (all.into_iter().filter_map(|(_, panel)| panel).collect(), unavailable)
}

fn strip(title: &str, scale: Scale, room_for: &[f64], strands: Vec<Strand>) -> Option<Panel> {
    let curves = Curves { scale, room_for: room_for.to_vec(), strands };
    let has_values = curves.strands.iter().any(|strand| strand.pieces.iter().any(|piece| !piece.is_empty()));
    has_values.then(|| Panel { title: title.into(), content: Content::Strip(curves) })
}

/// Returns the values that drive and host reported during the test.
fn read<'a>(timing: &'a Timing<'_>, of: impl Fn(&Health) -> Option<f64> + 'a) -> Vec<(f64, f64)> {
    let readings = timing.readings.iter().filter(|(minute, _)| *minute >= 0.0);
    readings.filter_map(|(minute, health)| Some((*minute, of(health)?))).collect()
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mean = |chunk: &[(f64, f64)]| {
        let count = chunk.len() as f64;
        let sums = chunk.iter().fold((0.0, 0.0), |sums, point| (sums.0 + point.0, sums.1 + point.1));
        (sums.0 / count, sums.1 / count)
    };
    points.chunks(points.len().div_ceil(POINTS).max(1)).map(mean).collect()
}

fn temperature(timing: &Timing<'_>) -> Option<Panel> {
    let points = thinned(&read(timing, |health| health.temperature_celsius.map(f64::from)));
    let strand = Strand { name: String::new(), pieces: vec![points] };
    strip("Temperature (°C)", Scale::LinearZoomed, &[], vec![strand])
}

fn power(timing: &Timing<'_>) -> Option<Panel> {
    let mut meters: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (minute, health) in timing.readings.iter().filter(|(minute, _)| *minute >= 0.0) {
        for (name, milliwatts) in &health.power_milliwatts {
            meters.entry(name).or_default().push((*minute, *milliwatts as f64 / 1e3));
        }
    }
    let title = match meters.len() {
        1 => meters.keys().map(|name| format!("Power (W) of {name}")).collect(),
        _ => "Power (W)".to_owned(),
    };
    let strand = |(name, points): (&str, Vec<(f64, f64)>)| Strand {
        name: name.into(),
        pieces: vec![thinned(&points)],
    };
    strip(&title, Scale::LinearFromZero, &[], meters.into_iter().map(strand).collect())
}

/// Returns the mean power of each workload, as measured by the meter of the run; `None` if there is no meter. There is a
/// gap wherever no workload ran.
pub(super) fn metered(timing: &Timing<'_>) -> Option<Panel> {
    let of = |timed: &TimedWorkload<'_>| {
        let watts = timed.segment.power.as_ref()?.mean_microwatts as f64 / 1e6;
        Some((timed.from_minutes, timed.to_minutes, watts))
    };
    let means: Vec<(f64, f64, f64)> = timing.workloads.iter().filter_map(of).collect();
    let piece = |chunk: &[(f64, f64, f64)]| {
        let (from, to) = (chunk[0].0, chunk[chunk.len() - 1].1);
        let minutes: f64 = chunk.iter().map(|(from, to, _)| to - from).sum();
        let energy: f64 = chunk.iter().map(|(from, to, watts)| (to - from) * watts).sum();
        let watts = energy / minutes.max(f64::MIN_POSITIVE);
        vec![(from.max(0.0), watts), (to, watts)]
    };
    let pieces = means.chunks(means.len().div_ceil(POINTS).max(1)).map(piece).collect();
    let strand = Strand { name: String::new(), pieces };
    strip("Power by workload (W)", Scale::LinearFromZero, &[], vec![strand])
}

/// Uses the drive's counter of throttled seconds if available, otherwise the sampled state.
fn throttled(timing: &Timing<'_>) -> Option<Panel> {
    let counted = |health: &Health| health.throttle_seconds.map(|seconds| seconds as f64);
    let mut shares = Steps::default();
    for (a, b) in pairs(timing, counted) {
        let seconds = (b.0 - a.0) * 60.0;
        if seconds > 0.0 && b.1 >= a.1 {
            shares.add(a.0, b.0, ((b.1 - a.1) / seconds * 100.0).min(100.0));
        }
    }
    let counted = strip("Throttled (% of the time)", Scale::LinearFromZero, &[100.0], vec![shares.strand()]);
    counted.or_else(|| {
        let state = |health: &Health| health.throttling.map(|now| if now { 1.0 } else { 0.0 });
        let sampled = timing.readings.iter().filter_map(|(minute, health)| Some((*minute, state(health)?)));
        let mut states = Steps::default();
        for pair in thinned(&sampled.collect::<Vec<_>>()).windows(2) {
            states.add(pair[0].0, pair[1].0, pair[1].1);
        }
        strip("Throttled when sampled (1: yes)", Scale::Integer, &[0.0, 1.0], vec![states.strand()])
    })
}

fn amplification(timing: &Timing<'_>) -> Option<Panel> {
    let counters = |health: &Health| health.host_written_bytes.zip(health.media_written_bytes);
    let readings: Vec<(f64, (u64, u64))> =
        timing.readings.iter().filter_map(|(minute, health)| Some((*minute, counters(health)?))).collect();
    let (first, last) = (readings.first()?, readings.last()?);
    let apart = WRITTEN_BYTES.max(last.1.0.saturating_sub(first.1.0) / POINTS as u64);
    let mut steps = Steps::default();
    let mut from = *first;
    for &(minute, (host, flash)) in &readings {
        let (Some(by_host), Some(to_flash)) = (host.checked_sub(from.1.0), flash.checked_sub(from.1.1))
        else {
            from = (minute, (host, flash));
            continue;
        };
        if by_host >= apart {
            steps.add(from.0, minute, to_flash as f64 / by_host as f64);
            from = (minute, (host, flash));
        }
    }
    let title = "Write amplification (flash / host bytes)";
    strip(title, Scale::LinearFromZero, &[1.0], vec![steps.strand()])
}

/// Returns the values of a counter in pairs of successive readings.
fn pairs(timing: &Timing<'_>, of: impl Fn(&Health) -> Option<f64>) -> Vec<((f64, f64), (f64, f64))> {
    let values: Vec<(f64, f64)> =
        timing.readings.iter().filter_map(|(minute, health)| Some((*minute, of(health)?))).collect();
    let step = values.len().div_ceil(POINTS).max(1);
    let kept: Vec<(f64, f64)> = values.into_iter().step_by(step).collect();
    kept.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// A step function.
#[derive(Default)]
struct Steps(Vec<(f64, f64)>);

impl Steps {
    fn add(&mut self, from: f64, to: f64, value: f64) {
        if to > 0.0 {
            self.0.extend([(from.max(0.0), value), (to, value)]);
        }
    }

    fn strand(self) -> Strand {
        Strand { name: String::new(), pieces: vec![self.0] }
    }
}

#[cfg(test)]
mod tests {
    use super::super::timing::timings;
    use super::*;
    use crate::facts::samples;
    use crate::facts::scaled_clock::ScaledClock;

    fn of(readings: Vec<Health>) -> (Vec<Panel>, Vec<&'static str>) {
        let mut events = vec![samples::started("wsat")];
        for (minute, health) in readings.into_iter().enumerate() {
            events.extend([samples::read(minute as u64, health), samples::measured(minute as u64)]);
        }
        let entries = samples::entries(events);
        let all = timings(&entries, &ScaledClock::of(&entries, 1));
        panels(&all[0].1)
    }

    fn points(panel: &Panel) -> Vec<(f64, f64)> {
        let Content::Strip(curves) = &panel.content else { panic!("a strip") };
        curves.strands.iter().flat_map(|strand| strand.pieces.iter().flatten().copied()).collect()
    }

    fn titles(panels: &[Panel]) -> Vec<&str> {
        panels.iter().map(|panel| panel.title.as_str()).collect()
    }

    #[test]
    fn unavailable_quantities_are_named_and_have_no_panel() {
        let warm = |celsius| Health { temperature_celsius: Some(celsius), ..Health::default() };
        let (panels, unavailable) = of(vec![warm(40), warm(45)]);
        assert_eq!(titles(&panels), ["Temperature (°C)"]);
        assert_eq!(points(&panels[0]), [(0.0, 40.0), (1.0, 45.0)]);
        assert_eq!(unavailable, ["power", "throttling", "bytes written to flash"]);
        assert_eq!(of(vec![Health::default()]).1.len(), 4);
    }

    #[test]
    fn the_share_of_throttled_time_is_the_increase_of_the_counter() {
        let slow = |seconds| Health { throttle_seconds: Some(seconds), ..Health::default() };
        // The third sample follows a counter reset.
        let (panels, _) = of(vec![slow(100), slow(115), slow(0), slow(60)]);
        assert_eq!(titles(&panels), ["Throttled (% of the time)"]);
        assert_eq!(points(&panels[0]), [(0.0, 25.0), (1.0, 25.0), (2.0, 100.0), (3.0, 100.0)]);
    }

    #[test]
    fn a_drive_without_a_counter_is_throttled_when_it_reports_so() {
        let slow = |now| Health { throttling: Some(now), ..Health::default() };
        let (panels, _) = of(vec![slow(false), slow(true), slow(false)]);
        assert_eq!(titles(&panels), ["Throttled when sampled (1: yes)"]);
        assert_eq!(points(&panels[0]), [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (2.0, 0.0)]);
    }

    #[test]
    fn write_amplification_needs_enough_bytes_between_two_points() {
        let wrote = |host: u64, flash: u64| Health {
            host_written_bytes: Some(host * 1_000_000),
            media_written_bytes: Some(flash * 1_000_000),
            ..Health::default()
        };
        let (panels, _) = of(vec![wrote(500, 900), wrote(600, 1000), wrote(610, 1040), wrote(700, 1300)]);
        assert_eq!(titles(&panels), ["Write amplification (flash / host bytes)"]);
        assert_eq!(points(&panels[0]), [(0.0, 1.0), (1.0, 1.0), (1.0, 3.0), (3.0, 3.0)]);
        assert!(of(vec![wrote(500, 900), wrote(510, 990)]).0.is_empty(), "too little was written");
        assert!(of(vec![wrote(500, 900), wrote(0, 0)]).0.is_empty(), "counters that decrease are useless");
    }

    #[test]
    fn every_power_meter_has_a_curve() {
        let power = |watts: u64| Health {
            power_milliwatts: [("package-0", 1000 * watts), ("nvme", 6500)]
                .map(|(n, w)| (n.to_owned(), w))
                .into(),
            ..Health::default()
        };
        let (panels, _) = of(vec![power(20), power(30)]);
        assert_eq!(titles(&panels), ["Power (W)"]);
        assert_eq!(points(&panels[0]), [(0.0, 6.5), (1.0, 6.5), (0.0, 20.0), (1.0, 30.0)]);
        let one = |watts: u64| Health {
            power_milliwatts: [("package-0".to_owned(), 1000 * watts)].into(),
            ..Health::default()
        };
        assert_eq!(titles(&of(vec![one(5)]).0), ["Power (W) of package-0"]);
    }

    #[test]
    fn long_tests_have_a_bounded_number_of_points() {
        let reading = |minute: u64| Health {
            temperature_celsius: Some((40 + minute % 9) as i16),
            throttling: Some(minute.is_multiple_of(2)),
            throttle_seconds: (minute > 2000).then_some(minute),
            host_written_bytes: Some(minute * 1_000_000_000),
            media_written_bytes: Some(minute * 3_000_000_000),
            ..Health::default()
        };
        let (panels, _) = of((0..4321).map(reading).collect());
        assert_eq!(panels.len(), 3);
        assert!(panels.iter().all(|panel| (100..=2 * POINTS).contains(&points(panel).len())));
        assert!(points(&panels[2]).iter().all(|(_, waf)| (waf - 3.0).abs() < 1e-9));
    }
}
