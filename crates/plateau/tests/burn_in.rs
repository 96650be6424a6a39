//! Burn-in: each fault of a simulated drive causes FAIL with the reason, and a drive without faults gets PASS. Checks
//! the exit code, JSON and page 1.

mod support;

use serde_json::Value;
use support::{Bench, text, texts};

const REJECTED: i32 = 9;

/// Runs an hour-long burn-in and returns its JSON document.
fn burned_in(bench: &Bench, drive: &str, code: i32, options: &[&str]) -> Value {
    let args = [&["run", "burn-in", drive, "--burn-in-hours", "1", "--json"], options].concat();
    let output = bench.run(&args);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(code), "plateau {args:?}:\n{out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("plateau {args:?} printed no JSON ({e}):\n{out}"))
}

fn simulated(code: i32, options: &[&str]) -> (Bench, Value) {
    let bench = Bench::new();
    let options = [&["--scale", "1/256"], options].concat();
    let document = burned_in(&bench, "sim:sas-slc-2011", code, &options);
    (bench, document)
}

fn acceptance(document: &Value) -> &Value {
    &document["tests"][0]["acceptance"]
}

/// The only reason why a drive was rejected.
fn reason(document: &Value) -> &Value {
    let acceptance = acceptance(document);
    assert_eq!(acceptance["verdict"], "FAIL", "{acceptance}");
    let [only] = &acceptance["reasons"].as_array().unwrap()[..] else { panic!("{acceptance}") };
    only
}

#[test]
fn a_good_drive_passes() {
    for load in ["mixed", "jesd219"] {
        let (bench, document) = simulated(0, &["--burn-in-load", load]);
        let acceptance = acceptance(&document);
        assert_eq!((&acceptance["verdict"], &acceptance["reasons"]), (&"PASS".into(), &Value::Array(vec![])));
        let unchecked: Vec<_> = acceptance["unchecked"].as_array().unwrap().iter().collect();
        assert_eq!(unchecked, ["reallocated sectors", "available spare"]);
        let html = text(document["report"].as_str().unwrap().as_ref());
        let (_, cover) = html.split_once("<article").unwrap();
        let (cover, pages) = cover.split_once("</article>").unwrap();
        assert!(
            cover.contains(" passed Burn-In.")
                && cover.contains("Burn-In: PASS")
                && cover.contains("not checked: reallocated sectors"),
            "{cover}"
        );
        let first = pages.split("<section").nth(1).unwrap();
        assert!(
            first.contains("BURN-IN PASS") && html.contains("NOT CHECKED: reallocated sectors"),
            "{load}"
        );
        let id = document["run"].as_str().unwrap();
        assert_eq!(bench.json(&["verify", id])["same"], true);
        assert!(bench.ok(&["show", id]).contains("verdict   PASS"));
    }
}

#[test]
fn wrong_data_is_found_with_its_offset() {
    for (fault, what) in [("flip", "corrupt"), ("lost-writes", "a lost write")] {
        let fault = format!("{fault}:at=64MiB,length=4KiB,after=25min");
        let (bench, document) = simulated(REJECTED, &["--sim-fault", &fault]);
        let reason = reason(&document);
        assert_eq!((&reason["reason"], &reason["offset_bytes"]), (&"data".into(), &(64u64 << 20).into()));
        assert!(reason["text"].as_str().unwrap().contains(what), "{reason}");
        // The fault begins after the first cell, and the load ends with the cell in which the fault was found.
        let journal = bench.journal().unwrap();
        let cells = journal.entries.iter().filter(|e| matches!(e.event, record::Event::Measured(_))).count();
        assert!((2..6).contains(&cells), "{cells} cells");
        let html = text(document["report"].as_str().unwrap().as_ref());
        let (_, cover) = html.split_once("<article").unwrap();
        let (cover, pages) = cover.split_once("</article>").unwrap();
        assert!(
            cover.contains(" failed Burn-In: ")
                && cover.contains("Burn-In: FAIL")
                && cover.contains("at byte 67108864"),
            "{cover}"
        );
        let first = pages.split("<section").nth(1).unwrap();
        assert!(first.contains("BURN-IN FAIL") && first.contains("at byte 67108864"), "{fault}");
    }
}

#[test]
fn a_failed_io_is_a_reason() {
    for (fault, kind, verb) in [
        ("media:at=64MiB,length=4KiB,on=reads", "ENODATA", "a read"),
        ("media:at=64MiB,length=4KiB,on=writes", "ENODATA", "a write"),
        ("timeout:after=5min", "ETIMEDOUT", "a "),
    ] {
        // The drive also counts media errors.
        let (_, document) = simulated(REJECTED, &["--sim-fault", fault, "--burn-in-media-errors", "1000"]);
        let reason = reason(&document);
        let text = reason["text"].as_str().unwrap();
        assert!(
            reason["reason"] == "io" && text.starts_with(verb) && text.ends_with(kind),
            "{fault}: {text}"
        );
        assert!(reason["offset_bytes"].is_u64(), "{reason}");
    }
    let (_, document) = simulated(REJECTED, &["--sim-fault", "media:at=64MiB,length=4KiB"]);
    let reasons = acceptance(&document)["reasons"].as_array().unwrap();
    let kinds: Vec<&Value> = reasons.iter().map(|reason| &reason["reason"]).collect();
    assert_eq!(kinds, ["io", "grown"], "{reasons:?}");
}

#[test]
fn a_worn_or_hot_drive_is_rejected() {
    let bench = Bench::new();
    let model = bench.ok(&["sim", "show", "sas-slc-2011", "--toml"]);
    let worn: String = model
        .lines()
        .filter(|line| !line.starts_with("rated_erases"))
        .flat_map(|line| [line, if line == "[geometry]" { "\nrated_erases = 1\n" } else { "\n" }])
        .collect();
    let path = bench.path("worn.toml");
    std::fs::write(&path, worn).unwrap();
    let drive = format!("sim:{}", path.display());
    let document = burned_in(&bench, &drive, REJECTED, &["--scale", "1/256"]);
    let text = reason(&document)["text"].as_str().unwrap();
    assert!(text.starts_with("endurance used ") && text.ends_with("(at most 100 %)"), "{text}");
    let (_, document) = simulated(REJECTED, &["--burn-in-temperature", "20"]);
    assert!(reason(&document)["text"].as_str().unwrap().starts_with("temperature "));
}

#[test]
fn an_interrupted_burn_in_has_no_verdict_until_it_is_resumed() {
    let options = ["--sim-fault", "removal:after=35min"];
    let (bench, document) = simulated(5, &options);
    let id = document["run"].as_str().unwrap();
    let shown = bench.json(&["show", id]);
    assert!(acceptance(&shown).is_null(), "{shown}");
    let resumed = bench.json(&["resume", id]);
    assert_eq!(acceptance(&resumed)["verdict"], "PASS");
}

#[test]
fn a_file_is_verified() {
    let bench = Bench::on_build_disk();
    let file = bench.path("target.bin");
    let options = ["--size", "32MiB", "--cell-seconds", "0.01"];
    let document = burned_in(&bench, file.to_str().unwrap(), 0, &options);
    assert_eq!(acceptance(&document)["verdict"], "PASS");
    let journal = bench.journal().unwrap();
    let checked = journal.entries.iter().filter_map(|entry| match &entry.event {
        record::Event::Measured(segment) => segment.verified.as_ref().map(|verified| verified.checked_blocks),
        _ => None,
    });
    let checked: Vec<u64> = checked.collect();
    assert!(checked.len() == 6 && checked.iter().all(|blocks| *blocks > 0), "{checked:?}");
}

/// The next test in the same run must not hide damage done to the drive by the last cell of the burn-in.
#[test]
fn the_drive_is_examined_after_the_last_cell() {
    let bench = Bench::new();
    bench.ok(&["run", "burn-in,tp-128", "sim:sas-slc-2011", "--scale", "1/1024", "--burn-in-hours", "1"]);
    let entries = bench.journal().unwrap().entries;
    let is_end =
        |e: &record::Entry| matches!(&e.event, record::Event::TestEnded { test, .. } if test == "burn-in");
    let end = entries.iter().position(is_end).expect("the end of the burn-in");
    let before = &entries[end - 1].event;
    assert!(matches!(before, record::Event::Health { .. }), "{before:?}");
}
