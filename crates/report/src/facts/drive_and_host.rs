//! Drive and host of a run: load engines, write cache, host checks, changed settings, health.

use pts::Outcome;
use record::{Entry, Event, Health, HostVerdict};
use stdx::units::grouped;

use crate::facts::scaled_clock::ScaledClock;

/// Maximum number of health rows on a page. Longer tables are thinned out evenly, keeping the first and the last row.
const HEALTH_ROWS: usize = 40;

/// A table of text cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextTable {
    pub caption: &'static str,
    /// Column headings, each with its column's fraction of the width in print.
    pub head: Vec<(&'static str, f64)>,
    /// Whether the cells are numbers, which are right-aligned.
    pub is_of_numbers: bool,
    pub rows: Vec<Vec<String>>,
}

/// Returns tables of host checks, settings and health, without empty tables. Times of a scaled drive are
/// converted to times of the full-size drive.
pub(crate) fn tables(entries: &[Entry], scaled: &ScaledClock) -> Vec<TextTable> {
    let tables = [checks(entries), settings(entries), health(entries, scaled)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Returns the distinct load engines, in order of first use.
pub(crate) fn engines(entries: &[Entry]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in entries {
        if let Event::Measured(segment) | Event::Preconditioned(segment) = &entry.event {
            let engine = segment.io_path.to_string();
            if !all.contains(&engine) {
                all.push(engine);
            }
        }
    }
    all
}

/// Returns the states of the drive's volatile write cache during the tests, in order of their first use.
pub(crate) fn write_cache(outcomes: &[Outcome], entries: &[Entry]) -> Vec<bool> {
    let mut states = Vec::new();
    for state in outcomes.iter().flat_map(|outcome| pts::write_cache_states(&outcome.test, entries)) {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    states
}

/// Returns the latest host check.
fn checks(entries: &[Entry]) -> TextTable {
    let last = entries.iter().rev().find_map(|entry| match &entry.event {
        Event::HostChecked { checks } => Some(checks),
        _ => None,
    });
    let row = |check: &record::HostCheck| {
        let fix = check.fix.clone().unwrap_or_default();
        vec![check.name.clone(), check.verdict.words().into(), check.found.clone(), fix]
    };
    TextTable {
        caption: "Host checks",
        head: vec![("Check", 16.0), ("Verdict", 12.0), ("Found", 38.0), ("What to do", 34.0)],
        is_of_numbers: false,
        rows: last.into_iter().flatten().map(row).collect(),
    }
}

/// Returns the problems found by any host check in the run that would invalidate results: a later check without
/// problems does not make earlier measurements valid.
pub(crate) fn invalidating(entries: &[Entry]) -> Vec<String> {
    let checks = entries.iter().filter_map(|entry| match &entry.event {
        Event::HostChecked { checks } => Some(checks),
        _ => None,
    });
    let mut all: Vec<String> = Vec::new();
    for check in checks.flatten().filter(|check| check.verdict == HostVerdict::WouldInvalidate) {
        let found = format!("{}: {}", check.name, check.found);
        if !all.contains(&found) {
            all.push(found);
        }
    }
    all
}

/// Returns the settings that were changed for the run or restored after it, in order.
fn settings(entries: &[Entry]) -> TextTable {
    let on_off = |on: Option<bool>| match on {
        Some(true) => "on".to_owned(),
        Some(false) => "off".into(),
        None => "n/a".into(),
    };
    let row = |event: &Event| {
        let (name, was, is, restored) = match event {
            Event::WriteCache { was_on, is_on, restored } => {
                ("volatile write cache".to_owned(), on_off(*was_on), on_off(*is_on), *restored)
            }
            Event::Tuned { setting, was, is, restored } => {
                (setting.clone(), was.clone(), is.clone(), *restored)
            }
            Event::LbaFormat { was, is, restored } => {
                ("LBA format".into(), was.to_string(), is.to_string(), *restored)
            }
            _ => return None,
        };
        let when = if restored { "after the last test" } else { "before the tests" };
        Some(vec![name, was, is, when.to_owned()])
    };
    TextTable {
        caption: "Drive and host settings",
        head: vec![("Setting", 34.0), ("Before", 22.0), ("Then", 22.0), ("When", 22.0)],
        is_of_numbers: false,
        rows: entries.iter().filter_map(|entry| row(&entry.event)).collect(),
    }
}

fn health(entries: &[Entry], scaled: &ScaledClock) -> TextTable {
    let readings: Vec<(u64, &Health)> = entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::Health { at_ns, health } => Some((*at_ns, health)),
            _ => None,
        })
        .collect();
    let step = readings.len().div_ceil(HEALTH_ROWS).max(1);
    let is_kept = |i: usize| i.is_multiple_of(step) || i + 1 == readings.len();
    let kept = readings
        .iter()
        .enumerate()
        .filter(|(i, _)| is_kept(*i))
        .map(|(_, (at_ns, health))| (scaled.minutes(*at_ns), *health));
    TextTable {
        caption: if step > 1 { "Health during the run (selected readings)" } else { "Health during the run" },
        head: vec![
            ("Minute", 8.0),
            ("Temperature (°C)", 9.0),
            ("Warning", 9.0),
            ("Written by host (GB)", 14.0),
            ("Written to flash (GB)", 14.0),
            ("Media errors", 11.0),
            ("Throttled", 14.0),
            ("Power", 21.0),
        ],
        is_of_numbers: true,
        rows: kept.map(|(minute, health)| health_row(minute, health)).collect(),
    }
}

fn health_row(minute: f64, health: &Health) -> Vec<String> {
    let or_na = |text: Option<String>| text.unwrap_or_else(|| "n/a".into());
    let throttled = match (health.throttling, health.throttle_seconds) {
        (Some(now), _) => Some(if now { "yes" } else { "no" }.to_owned()),
        (None, seconds) => seconds.map(|seconds| format!("{seconds} s over its lifetime")),
    };
    let gigabytes = |bytes: u64| grouped(bytes as f64 / 1e9, 3);
    let state = health.power_state.map(|state| format!("power state {state}"));
    let meters = health
        .power_milliwatts
        .iter()
        .map(|(name, milliwatts)| format!("{name} {:.1} W", *milliwatts as f64 / 1e3));
    let power: Vec<String> = state.into_iter().chain(meters).collect();
    vec![
        format!("{minute:.1}"),
        or_na(health.temperature_celsius.map(|celsius| celsius.to_string())),
        or_na(health.critical_warning.map(|bits| format!("{bits:02x}h"))),
        or_na(health.host_written_bytes.map(gigabytes)),
        or_na(health.media_written_bytes.map(gigabytes)),
        or_na(health.media_errors.map(|count| count.to_string())),
        or_na(throttled),
        or_na((!power.is_empty()).then(|| power.join(", "))),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::samples::entries;
    use super::*;
    use record::HostCheck;

    fn unscaled() -> ScaledClock {
        ScaledClock::of(&[], 1)
    }

    #[test]
    fn a_run_without_such_events_has_no_tables() {
        assert_eq!(tables(&entries(vec![Event::Closed]), &unscaled()), []);
    }

    #[test]
    fn the_latest_check_and_every_change_have_a_row() {
        let checked = |found: &str| Event::HostChecked {
            checks: vec![HostCheck {
                name: "swap".into(),
                verdict: HostVerdict::Warn,
                found: found.into(),
                fix: Some("swapoff -a".into()),
                tunable: false,
            }],
        };
        let cache = |restored| Event::WriteCache { was_on: Some(true), is_on: Some(false), restored };
        let tables =
            tables(&entries(vec![checked("first"), cache(false), checked("last"), cache(true)]), &unscaled());
        let captions: Vec<&str> = tables.iter().map(|table| table.caption).collect();
        assert_eq!(captions, ["Host checks", "Drive and host settings"]);
        assert_eq!(tables[0].rows, [["swap", "warn", "last", "swapoff -a"]]);
        assert_eq!(tables[1].rows[1], ["volatile write cache", "on", "off", "after the last test"]);
    }

    #[test]
    fn findings_that_would_invalidate_results_outlast_a_later_check() {
        let checked = |verdict, found: &str| Event::HostChecked {
            checks: vec![HostCheck {
                name: "other load".into(),
                verdict,
                found: found.into(),
                fix: None,
                tunable: false,
            }],
        };
        let bad = || checked(HostVerdict::WouldInvalidate, "CPUs 100 % busy");
        let events = vec![bad(), bad(), checked(HostVerdict::Warn, "CPUs 20 % busy")];
        assert_eq!(invalidating(&entries(events)), ["other load: CPUs 100 % busy"]);
    }

    #[test]
    fn amounts_of_small_drives_are_not_rounded_to_zero() {
        let health = Health {
            host_written_bytes: Some(16_777_216),
            media_written_bytes: Some(1_234_567_890_123),
            ..Health::default()
        };
        let row = health_row(0.0, &health);
        assert_eq!(row[3..5], ["0.017", "1,234.568"]);
    }

    #[test]
    fn long_runs_keep_the_first_and_the_last_health() {
        let health = |minute: u64| Event::Health {
            at_ns: minute * 60_000_000_000,
            health: Health { temperature_celsius: Some(40), power_state: Some(1), ..Health::default() },
        };
        let tables = tables(&entries((0..100).map(health).collect()), &unscaled());
        let rows = &tables[0].rows;
        assert!(rows.len() <= HEALTH_ROWS + 1, "{}", rows.len());
        assert_eq!((rows[0][0].as_str(), rows[rows.len() - 1][0].as_str()), ("0.0", "99.0"));
        assert_eq!(rows[0][1..], ["40", "n/a", "n/a", "n/a", "n/a", "n/a", "power state 1"]);
    }
}
