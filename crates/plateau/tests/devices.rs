//! Real block devices and files: loop devices created by the test, some of them slow or failing.

mod support;

use std::process::Command;

use record::{Event, Note};
use support::loop_device::{SIZE, attach, identity};
use support::storage_daemon::{Behaviour, StorageDaemon};
use support::zram::Zram;
use support::{Bench, finished, round, table, text, texts};

const SHORT: [&str; 6] = ["--profile", "pts-e-1.0", "--cell-seconds", "0.02", "--max-rounds", "5"];

fn run_short(bench: &Bench, device: &str) -> serde_json::Value {
    let identity = identity(bench, device);
    bench.json(&[&["run", "iops", device, "--erase", &identity], &SHORT[..]].concat())
}

#[test]
fn loop_device_with_512_byte_sectors() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &[]) else { return };
    let document = run_short(&bench, &device.path);
    assert!(document["modified"].to_string().contains("purge by discard"), "{}", document["modified"]);
    let cells = table(&document);
    // A busy machine may not complete a single large I/O in such a short cell.
    assert!(cells[..5].iter().flatten().all(|cell| cell.is_some_and(|iops| iops > 0.0)), "{cells:?}");
}

#[test]
fn loop_device_with_4096_byte_sectors() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &["--sector-size", "4096"]) else { return };
    let document = run_short(&bench, &device.path);
    assert!(document["modified"].to_string().contains("all 0.5KiB cells skipped"));
    let cells = table(&document);
    assert!(cells[0].iter().all(Option::is_none) && cells[1..].iter().flatten().all(Option::is_some));
    let html = text(document["report"].as_str().unwrap().as_ref());
    assert!(html.contains("n/a (4Kn)"));
    // The result contains the host's ceiling and the I/O path of each cell.
    assert_eq!(document["ceiling"]["null"].as_array().map(Vec::len), Some(3), "{}", document["ceiling"]);
    let engines = document["engines"].to_string();
    assert!(engines.contains("; not pinned") || engines.contains("; cpu"), "{engines}");
}

/// Runs every step of `tests`, or of all tests if `PLATEAU_EVERY_TEST=1` is set, with cells too short for
/// conclusions.
fn tests_complete(bench: &Bench, device: &str, tests: &[&str], cell_seconds: &str, options: &[&str]) {
    let identity = identity(bench, device);
    // The 128 zones of hdd-tp, of at least 1 MiB each, do not fit on the device.
    let every: Vec<&str> = pts::TESTS.iter().map(|test| test.name).filter(|name| *name != "hdd-tp").collect();
    let names = if std::env::var_os("PLATEAU_EVERY_TEST").is_some() { &every[..] } else { tests };
    let document = bench.json(
        &[
            &["run", &names.join(","), device, "--erase", &identity],
            &["--profile", "pts-e-2.0", "--cell-seconds", cell_seconds, "--max-rounds", "5"][..],
            // Smaller thread count and queue depth for tests that let the operator choose them. With the
            // profile's values, large blocks take too long.
            &["--tc", "1", "--qd", "8"][..],
            options,
        ]
        .concat(),
    );
    let modified = document["modified"].to_string();
    for deviation in ["cell time", "purge by discard"] {
        assert!(modified.contains(deviation), "{modified}");
    }
    let tests = document["tests"].as_array().unwrap();
    assert_eq!(tests.iter().map(|test| test["test"].as_str().unwrap()).collect::<Vec<_>>(), names);
    for test in tests {
        assert!(test["stopped"].is_null(), "{test}");
        let figures = test["key_figures"].as_array().unwrap();
        let missing: Vec<_> =
            figures.iter().filter(|f| f["value"].as_f64().is_none_or(|v| v < 0.0)).collect();
        // In such a short time, the recovery time may not be measurable.
        assert!(missing.is_empty() || test["test"] == "xsr", "{}: {missing:?}", test["test"]);
        assert!(!figures.is_empty(), "{test}");
    }
    let verified = bench.json(&["verify", document["run"].as_str().unwrap()]);
    assert_eq!(verified["same"], true, "{verified}");
}

#[test]
fn every_kind_of_test_on_a_loop_device() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &[]) else { return };
    // Every cell needs at least one I/O, even on a busy machine.
    let tests = ["iops", "tp-1024", "tp-128", "lat", "wsat"];
    tests_complete(&bench, &device.path, &tests, "0.15", &[]);
}

#[test]
fn every_kind_of_test_on_a_zram_device() {
    let bench = Bench::on_build_disk();
    let Some(device) = Zram::new(SIZE) else { return };
    // Each figure of these tests comes from several cells, so shorter cells are enough. ECW is the older name of CBW.
    // zram has sectors of 4 KiB.
    tests_complete(&bench, &device.path, &["cbw", "dirth"], "0.01", &["--composite-fits-sectors"]);
}

#[test]
fn hours_of_minutes_on_a_zram_device() {
    let bench = Bench::on_build_disk();
    let Some(device) = Zram::new(SIZE) else { return };
    // Each figure comes from dozens of the 2,250 cells.
    tests_complete(&bench, &device.path, &["hir", "xsr"], "0.01", &[]);
}

#[test]
fn a_host_limit_is_reported_during_the_run_and_by_show() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return skips::skip!("there is no /dev/shm");
    };
    let bench = Bench::within(memory);
    let scratch = bench.path("scratch.bin");
    let args = ["run", "lat", scratch.to_str().unwrap(), "--size", "32MiB", "--json"];
    let output = bench.run(&[&args[..], &SHORT[..]].concat());
    let (out, err) = texts(&output);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let test = &document["tests"][0];
    let figures = test["key_figures"].as_array().unwrap();
    let limited: Vec<&str> = figures
        .iter()
        .filter(|figure| figure["host_limited"] == true)
        .map(|figure| figure["name"].as_str().unwrap())
        .collect();
    // Memory completes I/Os as fast as one thread submits them, so the thread is always busy unless other processes
    // use its CPU.
    if limited.is_empty() {
        return skips::skip!("the machine is too busy for a thread of its own");
    }
    assert!(test["notes"].to_string().contains("HOST-LIMITED: "), "{test}");
    let shown = bench.ok(&["show", document["run"].as_str().unwrap()]);
    let (figures, legend) = shown.rsplit_once("\n* host-limited: more than 70 %").expect("a legend");
    let marked = figures.rsplit_once("\n\n").expect("key figures").1.matches("* ms").count();
    assert_eq!(marked, limited.len(), "{shown}");
    assert!(legend.contains("may reflect the host"), "{shown}");
    let is_marked = |line: &&str| line.starts_with("round ") && line.contains("  host-limited: ");
    assert!(err.lines().filter(is_marked).count() > 0, "{err}");
}

#[test]
fn a_file_is_filled_only_if_it_contains_no_data() {
    let bench = Bench::on_build_disk();
    let scratch = bench.path("scratch.bin");
    let path = scratch.to_str().unwrap();
    let run = [&["run", "iops", path, "--size", "32MiB"], &SHORT[..]].concat();
    let document = bench.json(&run);
    assert!(document["modified"].to_string().contains("the target is a file on "));
    assert_eq!(std::fs::metadata(&scratch).unwrap().len(), SIZE);

    let before = std::fs::read(&scratch).unwrap();
    let message = bench.fails(3, &run);
    assert!(message.contains("--erase 'scratch.bin'"), "{message}");
    assert!(std::fs::read(&scratch).unwrap() == before, "a refused file is untouched");
    bench.ok(&[&run[..], &["--erase", "scratch.bin"]].concat());
}

#[test]
fn refused_targets_keep_every_byte() {
    let bench = Bench::on_build_disk();
    let image = bench.path("image");
    let Some(device) = attach(&image, &[]) else { return };
    let made = Command::new("mkfs.ext4").args(["-q", "-F", &device.path]).status();
    if !made.is_ok_and(|status| status.success()) {
        skips::without("mkfs.ext4");
        return;
    }
    let identity = identity(&bench, &device.path);
    let before = std::fs::read(&image).unwrap();
    let with =
        |erase: &'static [&'static str]| [&["run", "iops", &device.path][..], &SHORT[..], erase].concat();
    let message = bench.fails(3, &[&with(&["--erase"])[..], &[identity.as_str()]].concat());
    assert!(message.contains("ext"), "the message names the file system: {message}");
    bench.fails(3, &with(&[]));
    bench.fails(3, &with(&["--erase", "wrong"]));
    assert!(std::fs::read(&image).unwrap() == before, "every byte is unchanged");
    assert!(bench.runs().is_empty(), "no run was started");
}

#[test]
fn unusable_targets_are_named() {
    let bench = Bench::new();
    let dir = bench.dir.path().to_str().unwrap().to_owned();
    for (target, hint) in [
        ("/dev/nothing-here", "no such device"),
        (dir.as_str(), "directory"),
        ("/dev/null", "character device"),
    ] {
        let message = bench.fails(4, &[&["run", "iops", target], &SHORT[..]].concat());
        assert!(message.contains(hint), "{target}: {message}");
    }
    let small = bench.path("small.bin");
    let message = bench.fails(2, &["run", "iops", small.to_str().unwrap(), "--size", "1MiB"]);
    assert!(message.contains("16 MiB"), "{message}");
    assert!(!small.exists(), "nothing was created");
    assert!(bench.runs().is_empty());
}

/// A drive that is fast until the third round and slow from then on.
#[test]
fn finds_the_plateau_after_a_write_cliff() {
    let bench = Bench::on_build_disk();
    let fast = Behaviour { total_iops: 4000, ..Behaviour::default() };
    let daemon = match StorageDaemon::start(bench.dir.path(), SIZE, fast) {
        Ok(daemon) => daemon,
        Err(reason) => return skips::skip!("{reason}"),
    };
    let identity = identity(&bench, &daemon.device);
    let child = bench.start(&[
        // Each round has two cells, which are long enough that a busy host does not cause variation.
        "run",
        "tp-128",
        &daemon.device,
        "--erase",
        &identity,
        "--profile",
        "pts-e-1.0",
        "--cell-seconds",
        "0.5",
        "--tc",
        "1",
        "--qd",
        "4",
        "--json",
    ]);
    bench.wait_for("the third round", |journal| round(journal) >= 3);
    // Even on a very busy host, the first rounds are several times as fast.
    daemon.set_total_iops(50).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["verdict"], "steady state", "{err}");
    let window = &document["tests"][0]["window"][0];
    assert!(window["first_round"].as_u64().unwrap() >= 3, "the window starts after the cliff: {window}");
    let mean = window["mean"].as_f64().unwrap();
    assert!((5.7..8.0).contains(&mean), "128 KiB at a limit of 50 IOPS are 6.6 MB/s: {mean}");
}

#[test]
fn a_device_that_fails_in_a_cell_leaves_an_intact_journal() {
    let bench = Bench::on_build_disk();
    let mut daemon = match StorageDaemon::start(bench.dir.path(), SIZE, Behaviour::default()) {
        Ok(daemon) => daemon,
        Err(reason) => return skips::skip!("{reason}"),
    };
    let identity = identity(&bench, &daemon.device);
    let child = bench.start(&[
        "run",
        "iops",
        &daemon.device,
        "--erase",
        &identity,
        "--profile",
        "pts-e-1.0",
        "--cell-seconds",
        "4",
    ]);
    bench.wait_for("a cell", |journal| {
        journal.entries.iter().any(|entry| matches!(entry.event, Event::Measured(_)))
    });
    let kept = finished(&bench.journal().unwrap());
    // Wait until two full seconds of a cell have passed; cells follow each other immediately.
    bench.wait_for("the middle of a cell", |journal| {
        let last = journal.entries.last().unwrap();
        let age_ms = jiff::Timestamp::now().as_millisecond() - last.wall.as_millisecond();
        matches!(last.event, Event::Measured(_)) && (2300..2800).contains(&age_ms)
    });
    daemon.kill();
    let output = child.wait_with_output().unwrap();
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.contains("EIO"), "the message contains the device's error: {err}");
    let journal = bench.journal().unwrap();
    assert!(finished(&journal) >= kept && journal.torn.is_none());
    let Event::Interrupted { reason } = &journal.entries.last().unwrap().event else {
        panic!("the journal does not end with the interruption")
    };
    assert!(reason.contains("EIO"), "{reason}");
    // The record contains every completed second of the cell in which the drive failed.
    let cut = journal.entries.iter().find_map(|entry| match &entry.event {
        Event::Cut(cut) => Some(cut),
        _ => None,
    });
    let cut = cut.expect("the completed part of the cell");
    assert!(cut.series.read_ios.len() + cut.series.write_ios.len() >= 4, "{cut:?}");
    let each = cut.series.read_ios.iter().zip(&cut.series.write_ios);
    assert!(each.into_iter().all(|(read, write)| read + write > 0), "{cut:?}");
    assert!(cut.errors.iter().any(|error| error.kind == "EIO"), "{cut:?}");

    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(bench.ok(&["show", &id]).contains("not complete"));
    bench.ok(&["report", &id]);
    let message = texts(&bench.run(&["resume", &id])).1;
    assert!(finished(&bench.journal().unwrap()) == finished(&journal), "{message}");
}

#[test]
fn killed_on_a_real_device_and_resumed() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &[]) else { return };
    let identity = identity(&bench, &device.path);
    let mut child = bench.start(&[&["run", "iops", &device.path, "--erase", &identity], &SHORT[..]].concat());
    for rounds in 1..=3 {
        bench.wait_for("another round", |journal| round(journal) >= rounds && finished(journal) > 20);
        child.kill().unwrap();
        child.wait().unwrap();
        let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
        child = bench.start(&["resume", &id]);
    }
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(out.contains("interrupted for"), "{out}");
    let journal = bench.journal().unwrap();
    let restarts = journal
        .entries
        .iter()
        .filter(|e| matches!(e.event, Event::Noted(Note::WindowRestarted { .. })))
        .count();
    assert!(restarts >= 1);
}

#[test]
fn a_different_device_at_the_same_path_is_not_resumed() {
    let bench = Bench::on_build_disk();
    let Some(mut device) = attach(&bench.path("image"), &[]) else { return };
    let identity = identity(&bench, &device.path);
    let mut child = bench.start(&[&["run", "iops", &device.path, "--erase", &identity], &SHORT[..]].concat());
    bench.wait_for("a few cells", |journal| finished(journal) >= 5);
    child.kill().unwrap();
    child.wait().unwrap();

    let other = bench.path("other");
    let content = vec![7u8; SIZE as usize];
    std::fs::write(&other, &content).unwrap();
    if let Err(reason) = device.exchange(&other) {
        return skips::skip!("{reason}");
    }
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let message = bench.fails(3, &["resume", &id]);
    assert!(message.contains("reattached") && message.contains("--erase"), "{message}");
    assert!(std::fs::read(&other).unwrap() == content, "the other device is untouched");
}
