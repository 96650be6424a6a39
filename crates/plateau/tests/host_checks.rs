//! Host checks, tuning, and the settings of a resumed run, on loop devices created by the test.

mod support;

use std::path::Path;
use std::process::Command;

use record::{Event, HostVerdict, Loaded};
use support::loop_device::{Loop, attach};
use support::{Bench, finished, text};

const SHORT: [&str; 6] = ["--profile", "pts-e-1.0", "--cell-seconds", "0.02", "--max-rounds", "5"];

/// A loop device with the kernel's default settings.
struct Untuned(Loop);

impl Untuned {
    fn attach(image: &Path) -> Option<Self> {
        let device = Self(attach(image, &[])?);
        let set = std::fs::write(device.setting("nomerges"), "0")
            .and_then(|()| std::fs::write(device.setting("iostats"), "1"));
        if let Err(error) = set {
            skips::skip!("settings of {} cannot be changed: {error}", device.path());
            return None;
        }
        Some(device)
    }

    fn path(&self) -> &str {
        &self.0.path
    }

    fn setting(&self, name: &str) -> String {
        format!("/sys/block/{}/queue/{name}", self.0.kname())
    }

    fn merges_and_stats(&self) -> (String, String) {
        let now = |name| text(self.setting(name).as_ref()).trim().to_owned();
        (now("nomerges"), now("iostats"))
    }
}

/// Returns the JSON document that `check` prints, whatever its verdict.
fn checked(bench: &Bench, options: &[&str]) -> serde_json::Value {
    let output = bench.run(&[&["check", "--json"], options].concat());
    let (out, err) = support::texts(&output);
    let document: serde_json::Value =
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}\n{err}"));
    // Other tests may keep the machine too busy for valid measurements.
    let code = if document["verdict"] == "would_invalidate" { 7 } else { 0 };
    assert_eq!(output.status.code(), Some(code), "{err}");
    document
}

fn verdict(document: &serde_json::Value, name: &str) -> serde_json::Value {
    let checks = document["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).expect("a check of that name")["verdict"].clone()
}

#[test]
fn checks_report_what_could_skew_results_and_tuning_is_undone() {
    let bench = Bench::on_build_disk();
    let Some(device) = Untuned::attach(&bench.path("image")) else { return };
    let document = checked(&bench, &[device.path()]);
    assert_eq!(document["checks"].as_array().map(Vec::len), Some(15));
    assert_eq!(
        (verdict(&document, "nomerges"), verdict(&document, "iostats")),
        ("warn".into(), "warn".into())
    );
    let document = checked(&bench, &[device.path(), "--tune"]);
    assert_eq!((verdict(&document, "nomerges"), verdict(&document, "iostats")), ("ok".into(), "ok".into()));
    assert_eq!(device.merges_and_stats(), ("0".into(), "1".into()));
    assert!(bench.fails(2, &["check", "sim:sas-slc-2011"]).contains("simulated"));
    assert!(bench.fails(4, &["check", "/dev/null"]).contains("character device"));
}

#[test]
fn devices_with_swap_space_are_not_tuned() {
    let bench = Bench::on_build_disk();
    let Some(device) = Untuned::attach(&bench.path("image")) else { return };
    let made = Command::new("mkswap").arg(device.path()).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return skips::without("mkswap");
    }
    assert!(bench.fails(3, &["check", device.path(), "--tune"]).contains("swap space"));
    assert_eq!(device.merges_and_stats(), ("0".into(), "1".into()));
}

fn tunings(journal: &Loaded, put_back: bool) -> usize {
    let is_tuned = |event: &Event| matches!(event, Event::Tuned { restored, .. } if *restored == put_back);
    journal.entries.iter().filter(|entry| is_tuned(&entry.event)).count()
}

fn purges(journal: &Loaded) -> Vec<String> {
    let method = |event: &Event| match event {
        Event::Purged(purged) => Some(purged.method.clone()),
        _ => None,
    };
    journal.entries.iter().filter_map(|entry| method(&entry.event)).collect()
}

#[test]
fn settings_are_restored_after_a_kill_and_a_resumed_run_keeps_its_handling() {
    let bench = Bench::on_build_disk();
    let Some(device) = Untuned::attach(&bench.path("image")) else { return };
    let info = bench.json(&["info", device.path()]);
    let identity = info["target"]["identity"].as_str().expect("an identity");
    let how = ["--tune", "--purge-method", "write-zeroes", "--verify-purge", "--write-cache", "keep"];
    let run = ["run", "iops", device.path(), "--erase", identity];
    let mut child = bench.start(&[&run[..], &how[..], &SHORT[..]].concat());
    bench.wait_for("a few cells", |journal| finished(journal) > 5);
    assert_eq!(device.merges_and_stats(), ("2".into(), "0".into()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(device.merges_and_stats(), ("2".into(), "0".into()), "a killed run restores nothing");
    assert_eq!(bench.notes().len(), 1, "the drive's settings");

    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let show = bench.ok(&["resume", &id, "--restart-test"]);
    assert!(show.contains("\nchecks "), "{show}");
    assert_eq!(device.merges_and_stats(), ("0".into(), "1".into()));
    let journal = bench.journal().unwrap();
    let methods = purges(&journal);
    assert!(methods.len() == 2 && methods[0] == methods[1] && methods[0].contains("eroes"), "{methods:?}");
    assert!(tunings(&journal, false) >= 4 && tunings(&journal, true) >= 2);
    let looks = journal.entries.iter().filter_map(|entry| match &entry.event {
        Event::HostChecked { checks } => Some(checks),
        _ => None,
    });
    for checks in looks {
        let nomerges = checks.iter().find(|check| check.name == "nomerges").expect("a check");
        assert_eq!(nomerges.verdict, HostVerdict::Ok, "the tests ran on a tuned host");
    }
    assert_eq!(bench.notes(), [""; 0], "no restore record remains");
}
