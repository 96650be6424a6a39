//! Detects whether the drive's temperature changed while a tracking variable drifted. Health events are not
//! test results, so this module reads them directly from the journal.

use std::collections::BTreeMap;

use record::{Entry, Event, Note};
use stdx::units::CELSIUS;

/// Minimum number of rounds for a conclusion.
const ROUNDS: usize = 8;
/// Minimum correlation of a value with the round number (drift) and with the temperature.
const CORRELATION: f64 = 0.8;
/// If the drive's temperature varies by less than this many degrees Celsius, it counts as constant.
const DEGREES: f64 = 3.0;

/// Observations from the rounds of one test.
#[derive(Default)]
struct Temperatures {
    /// Temperatures reported during the current round.
    reported: Vec<f64>,
    latest: Option<f64>,
    /// Value and temperature of each round, by tracking variable.
    rounds: BTreeMap<String, Vec<(f64, f64)>>,
    unsteady: Vec<String>,
}

/// Returns notes about unsteady variables of `test` that drift with the temperature.
#[must_use]
pub fn notes(test: &str, entries: &[Entry]) -> Vec<String> {
    let mut observed = Temperatures::default();
    let mut inside = false;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                inside = name == test;
                if inside {
                    observed = Temperatures::default();
                }
            }
            Event::TestEnded { .. } => inside = false,
            event if inside => observed.see(event),
            _ => {}
        }
    }
    observed.unsteady.iter().filter_map(|name| note(name, observed.rounds.get(name)?)).collect()
}

impl Temperatures {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Health { health, .. } => {
                let celsius = health.temperature_celsius.map(f64::from);
                self.reported.extend(celsius);
                self.latest = celsius.or(self.latest);
            }
            Event::Noted(Note::RoundStarted { .. }) => self.reported.clear(),
            Event::Noted(Note::WindowRestarted { .. }) => self.rounds.clear(),
            Event::Noted(Note::Judged(judged)) => {
                let count = self.reported.len() as f64;
                let mean = (count > 0.0).then(|| self.reported.iter().sum::<f64>() / count);
                for variable in &judged.variables {
                    let rounds = self.rounds.entry(variable.name.clone()).or_default();
                    rounds.extend(mean.or(self.latest).map(|celsius| (variable.value, celsius)));
                    self.unsteady.retain(|name| *name != variable.name);
                    if !variable.steady {
                        self.unsteady.push(variable.name.clone());
                    }
                }
            }
            _ => {}
        }
    }
}

fn note(name: &str, rounds: &[(f64, f64)]) -> Option<String> {
    let (values, celsius): (Vec<f64>, Vec<f64>) = rounds.iter().copied().unzip();
    let low = celsius.iter().copied().fold(f64::INFINITY, f64::min);
    let high = celsius.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.len() < ROUNDS || high - low < DEGREES {
        return None;
    }
    let numbers: Vec<f64> = (0..values.len()).map(|round| round as f64).collect();
    let (drift, thermal) = (correlation(&numbers, &values)?, correlation(&celsius, &values)?);
    if drift.abs() < CORRELATION || thermal.abs() < CORRELATION {
        return None;
    }
    let way = if drift < 0.0 { "falls" } else { "rises" };
    // Round and temperature correlate with the value; the product has the sign of the temperature's change.
    let warms = drift * thermal > 0.0;
    let (warming, from, to) = if warms { ("warms", low, high) } else { ("cools", high, low) };
    Some(format!(
        "TEMPERATURE: {name} {way} while the drive {warming} from {from:.0} to {to:.0} {CELSIUS} \
         (correlation {thermal:.2}); the drift may be caused by temperature rather than by the flash"
    ))
}

/// Returns the correlation coefficient; None if either series is constant.
fn correlation(xs: &[f64], ys: &[f64]) -> Option<f64> {
    let count = xs.len() as f64;
    let mean = |all: &[f64]| all.iter().sum::<f64>() / count;
    let (x, y) = (mean(xs), mean(ys));
    let sum = |of: &dyn Fn(f64, f64) -> f64| xs.iter().zip(ys).map(|(a, b)| of(a - x, b - y)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|a, _| a * a), sum(&|_, b| b * b), sum(&|a, b| a * b));
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Health, Judgement, VariableJudgement};

    /// A journal of 25 rounds, each with one value and one temperature.
    fn journal(value: impl Fn(u32) -> f64, celsius: impl Fn(u32) -> Option<i16>) -> Vec<Entry> {
        let mut events = vec![Event::TestStarted { test: "iops".into() }];
        for round in 1..=25 {
            events.push(Event::Noted(Note::RoundStarted { round, cells: 56 }));
            let health = Health { temperature_celsius: celsius(round), ..Health::default() };
            events.push(Event::Health { at_ns: 0, health });
            let variable = VariableJudgement {
                name: "RND 4KiB W".into(),
                value: value(round),
                range_share: None,
                slope_share: None,
                steady: false,
            };
            let judged = Judgement { round, steady: false, variables: vec![variable] };
            events.push(Event::Noted(Note::Judged(judged)));
        }
        let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
        (0..).zip(events).map(entry).collect()
    }

    #[test]
    fn a_drive_that_slows_down_as_it_warms_is_named() {
        let warming = |round: u32| Some(38 + round as i16);
        let reported = notes("iops", &journal(|round| 20_000.0 - 300.0 * f64::from(round), warming));
        assert_eq!(
            reported,
            ["TEMPERATURE: RND 4KiB W falls while the drive warms from 39 to 63 °C (correlation \
              -1.00); the drift may be caused by temperature rather than by the flash"]
        );
        let cooling = |round: u32| Some(70 - round as i16);
        let reported = notes("iops", &journal(|round| 10_000.0 + 300.0 * f64::from(round), cooling));
        assert!(reported[0].contains("rises while the drive cools from 69 to 45 °C"), "{reported:?}");
    }

    #[test]
    fn without_drift_change_or_temperature_there_is_no_remark() {
        let falling = |round: u32| 20_000.0 - 300.0 * f64::from(round);
        let warming = |round: u32| Some(38 + round as i16);
        assert!(notes("iops", &journal(falling, |round| Some(40 + (round % 2) as i16))).is_empty());
        assert!(notes("iops", &journal(falling, |_| None)).is_empty());
        let swinging = |round: u32| if round.is_multiple_of(2) { 15_000.0 } else { 20_000.0 };
        assert!(notes("iops", &journal(swinging, warming)).is_empty());
        // The drive warms up at the start, then the drift continues at a constant temperature.
        let soon_warm = |round: u32| Some(if round < 3 { 30 } else { 45 });
        assert!(notes("iops", &journal(falling, soon_warm)).is_empty());
        assert!(notes("lat", &journal(falling, warming)).is_empty(), "another test");
    }

    #[test]
    fn steady_variables_are_not_diagnosed() {
        let mut entries =
            journal(|round| 20_000.0 - 300.0 * f64::from(round), |round| Some(38 + round as i16));
        if let Some(Event::Noted(Note::Judged(judged))) = entries.last_mut().map(|entry| &mut entry.event) {
            judged.variables[0].steady = true;
        }
        assert!(notes("iops", &entries).is_empty());
    }
}
