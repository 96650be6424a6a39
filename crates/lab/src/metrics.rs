//! `/metrics`: the state of the library, its runs in progress and the start queue for Prometheus, in the OpenMetrics
//! text format.
//!
//! The number of label values is bounded: only `plateau_run_info` has a run's identity, path and tests as labels.
//! `docs/guide/monitoring.md` describes every family.

use std::path::Path;

use jiff::Timestamp;
use live::{Live as Present, LivePhase, LiveSecond};
use pts::Standing;
use record::{Library, gap_ns};
use stdx::Number;

use crate::app::{Answer, App, Call};
use crate::catalogue::{Catalogue, Listing, Row, SavedRows, State};
use crate::embedding::Metric;
use crate::live::Live;
use crate::snapshot::Snapshots;
use crate::starts::Stage;

const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A family of metrics.
struct Family {
    name: &'static str,
    help: &'static str,
    is_counter: bool,
    samples: String,
}

impl Family {
    const fn of(name: &'static str, help: &'static str) -> Self {
        Self { name, help, is_counter: false, samples: String::new() }
    }

    fn of_metric(metric: &Metric) -> Self {
        let mut family = Self { is_counter: metric.is_counter, ..Self::of(metric.name, metric.help) };
        family.add(&[], metric.value);
        family
    }

    fn add(&mut self, labels: &[(&str, &str)], value: impl Into<Number>) {
        let value = value.into();
        let pairs: Vec<String> =
            labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escaped(text))).collect();
        let labels = if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
        let suffix = if self.is_counter { "_total" } else { "" };
        self.samples.push_str(&format!("{}{suffix}{labels} {value}\n", self.name));
    }

    fn text(&self) -> String {
        let Self { name, help, is_counter, samples } = self;
        let kind = if *is_counter { "counter" } else { "gauge" };
        format!("# TYPE {name} {kind}\n# HELP {name} {help}\n{samples}")
    }
}

/// `/metrics`
pub fn metrics(app: &App, _: &Call) -> Answer {
    let families = match families(&app.catalogue, &app.snapshots) {
        Ok(families) => families,
        Err(why) => return Answer::error(500, why),
    };
    let others = match &app.embedding {
        Some(read) => read().iter().map(Family::of_metric).collect(),
        None => vec![starts(app)],
    };
    Answer::of(TEXT, text_of(&families) + &text_of(&others) + "# EOF\n")
}

fn starts(app: &App) -> Family {
    let mut starts = Family::of("plateau_starts", "Runs planned, waiting or started here, by stage.");
    let stages: Vec<&str> = app.starts.all().iter().map(|entry| entry.stage.word()).collect();
    for word in Stage::WORDS {
        starts.add(&[("stage", word)], stages.iter().filter(|stage| **stage == word).count() as u64);
    }
    starts
}

/// Returns the current metrics of a library in Prometheus's own text format, without the metrics that only a
/// server has. Only runs that have changed since this `build` saved the rows in the `folder` of a server are read.
///
/// # Errors
/// Returns a description of the problem if the library cannot be listed.
pub fn metrics_of(library: Library, folder: &Path, build: String) -> Result<String, String> {
    let catalogue = Catalogue::saving(library, SavedRows::new(folder, build));
    let families = families(&catalogue, &Snapshots::default())?;
    Ok(text_of(&families))
}

fn text_of(families: &[Family]) -> String {
    families.iter().map(Family::text).collect()
}

fn families(catalogue: &Catalogue, snapshots: &Snapshots) -> Result<Vec<Family>, String> {
    let Listing { rows, warnings } = catalogue.listing()?;
    let mut runs = Family::of("plateau_runs", "Runs in the library by state.");
    for word in State::WORDS {
        let count = rows.iter().filter(|row| row.state.word() == word).count();
        let unopened = if word == State::UNREADABLE { warnings.len() } else { 0 };
        runs.add(&[("state", word)], (count + unopened) as u64);
    }
    let mut free =
        Family::of("plateau_library_free_bytes", "Space available on the file system of the library.");
    if let Ok(volume) = rustix::fs::statvfs(catalogue.root()) {
        free.add(&[], volume.f_bavail.saturating_mul(volume.f_frsize));
    }
    let mut running = Running::new();
    rows.iter()
        .filter(|row| row.state == State::Known(Standing::Running))
        .for_each(|row| running.add(catalogue, snapshots, row));
    Ok([runs, free].into_iter().chain(running.families()).collect())
}

/// The families of runs in progress.
struct Running {
    info: Family,
    record_age: Family,
    report_age: Family,
    activity_age: Family,
    left: Family,
    iops: Family,
    throughput: Family,
    written: Family,
    expected: Family,
    temperature: Family,
    wear: Family,
}

impl Running {
    fn new() -> Self {
        Self {
            info: Family::of("plateau_run_info", "A run in progress; always 1."),
            record_age: Family::of("plateau_run_record_age_seconds", "Time since the latest journal record."),
            report_age: Family::of(
                "plateau_run_report_age_seconds",
                "Time since the run last reported its activity.",
            ),
            activity_age: Family::of(
                "plateau_run_activity_age_seconds",
                "Time since the last I/O of the load, since the last report during other activities, or since data of a \
                 received run arrived.",
            ),
            left: Family::of("plateau_run_left_seconds", "Longest expected time until the run ends."),
            iops: Family::of(
                "plateau_run_latest_iops",
                "IOPS of the current second, or of the last workload.",
            ),
            throughput: Family::of(
                "plateau_run_latest_bytes_per_second",
                "Throughput of the current second, or of the last workload.",
            ),
            written: Family::of("plateau_run_written_bytes", "Bytes that the run has written."),
            expected: Family::of(
                "plateau_run_expected_written_bytes",
                "Largest expected number of bytes written.",
            ),
            temperature: Family::of("plateau_run_temperature_celsius", "Latest temperature of the drive."),
            wear: Family::of(
                "plateau_run_used_endurance_ratio",
                "Fraction of the rated endurance used, as reported by the drive.",
            ),
        }
    }

    fn add(&mut self, catalogue: &Catalogue, snapshots: &Snapshots, row: &Row) {
        let id = row.file.id.as_str();
        let run = [("run", id)];
        let (drive, tests) = (row.drive(), row.file.tests.join(","));
        let about = [run[0], ("drive", drive.as_str()), ("target", &row.file.target.path), ("tests", &tests)];
        self.info.add(&about, true);
        let now = record::wall_now();
        if let Some(last) = row.last_record {
            self.record_age.add(&run, gap_ns(last, now) as f64 / 1e9);
        }
        let Some(opened) = catalogue.run(id) else { return };
        let present = Present::of(&opened).ok().flatten();
        let received = transfer::mark_of(&opened).ok().flatten().map(|mark| mark.last);
        let activity = activity_age(now, present.as_ref(), received);
        let Ok(snapshot) = snapshots.of(opened) else { return };
        let live = Live::of(&snapshot);
        let mut iops = live.latest.map(|segment| segment.iops());
        let mut throughput = live.latest.map(|segment| segment.megabytes_per_second() * 1e6);
        let mut celsius = live.health.and_then(|health| health.temperature_celsius);
        if let Some(present) = present {
            self.report_age.add(&run, present.age_ns(now) as f64 / 1e9);
            if let Some(second) = current_second(&present) {
                (iops, throughput) = (Some(second.iops), Some(second.bytes_per_second));
            }
            celsius = present.temperature_celsius.or(celsius);
        }
        if let Some(seconds) = activity {
            self.activity_age.add(&run, seconds);
        }
        let of_drive = live.health.and_then(|health| health.percentage_used);
        for (family, value) in [
            (&mut self.left, live.left_ns.map(|(_, longest)| Number::from(longest as f64 / 1e9))),
            (&mut self.iops, iops.map(Number::from)),
            (&mut self.throughput, throughput.map(Number::from)),
            (&mut self.written, Some(live.written_bytes.into())),
            (&mut self.expected, live.expected_written_bytes.map(|(_, largest)| largest.into())),
            (&mut self.temperature, celsius.map(|celsius| f64::from(celsius).into())),
            (&mut self.wear, of_drive.map(|percent| (f64::from(percent) / 100.0).into())),
        ] {
            value.into_iter().for_each(|value| family.add(&run, value));
        }
    }

    fn families(self) -> [Family; 11] {
        let Self { info, record_age, report_age, activity_age, left, iops, throughput, .. } = self;
        let Self { written, expected, temperature, wear, .. } = self;
        [
            info,
            record_age,
            report_age,
            activity_age,
            left,
            iops,
            throughput,
            written,
            expected,
            temperature,
            wear,
        ]
    }
}

/// Returns how long a run has been inactive, in seconds; `None` if unknown. The thread that reports continues even if the
/// device hangs, so during a load, only I/Os count. Of a run on another host, only the time of the last transfer is known.
fn activity_age(now: Timestamp, present: Option<&Present>, received: Option<Timestamp>) -> Option<f64> {
    let reported = |present: &Present| {
        present.age_ns(now) as f64 / 1e9 + present.inactive_seconds.filter(|s| *s >= 0.0).unwrap_or(0.0)
    };
    present.map(reported).or_else(|| received.map(|last| gap_ns(last, now) as f64 / 1e9))
}

/// Returns the current second of a load; `None` if no load is running, because the seconds then belong to an earlier load.
fn current_second(present: &Present) -> Option<&LiveSecond> {
    let is_load = matches!(present.phase, Some(LivePhase::Precondition | LivePhase::Cell | LivePhase::Load));
    present.seconds.last().filter(|_| is_load)
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    /// A run that reported at 1,000 s.
    fn present(phase: &str, inactive_seconds: Option<f64>) -> Present {
        let json = serde_json::json!({
            "run": "r", "time": at(1000), "phase": phase, "inactive_seconds": inactive_seconds,
            "left_is_estimate": false, "host_limited": false,
            "seconds": [{
                "elapsed_seconds": 1.0, "iops": 5.0, "bytes_per_second": 1.0, "mean_latency_seconds": 0.0,
                "max_latency_seconds": 0.0
            }],
        });
        serde_json::from_value(json).expect("a report")
    }

    #[test]
    fn a_run_on_a_device_that_hangs_is_inactive_although_it_reports() {
        let age = |present: Option<&Present>, received| activity_age(at(1001), present, received);
        assert_eq!(age(Some(&present("cell", Some(0.5))), None), Some(1.5));
        assert_eq!(age(Some(&present("cell", Some(400.0))), None), Some(401.0));
        assert_eq!(age(Some(&present("purge", None)), None), Some(1.0));
        assert_eq!(age(None, Some(at(400))), Some(601.0), "a host that no longer sends");
        assert_eq!(age(None, None), None);
    }

    #[test]
    fn the_seconds_of_an_earlier_load_are_not_current() {
        for (phase, iops) in [("cell", Some(5.0)), ("precondition", Some(5.0)), ("load", Some(5.0))] {
            assert_eq!(current_second(&present(phase, None)).map(|second| second.iops), iops, "{phase}");
        }
        for phase in ["purge", "idle", "settle"] {
            assert_eq!(current_second(&present(phase, None)), None, "{phase}");
        }
    }
}
