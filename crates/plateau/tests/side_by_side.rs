//! Several targets at the same time: each run equals a separate run on the same target.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use record::{Event, Loaded, read_journal};
use serde_json::Value;
use support::loop_device::{attach, identity};
use support::{Bench, finished, texts};

const SHORT: [&str; 4] = ["--scale", "1/256", "--profile", "pts-e-1.0"];

fn journal(run: &Path) -> Loaded {
    read_journal(&run.join("journal")).expect("a journal")
}

/// Returns all events except the one with the run file's digest, which depends on the run id.
fn events(run: &Path) -> Vec<(u64, Event)> {
    let entries = journal(run).entries.into_iter();
    entries.filter(|e| !matches!(e.event, Event::Opened { .. })).map(|e| (e.seq, e.event)).collect()
}

/// Finds a target's run in the library.
fn run_on(bench: &Bench, target: &str) -> std::path::PathBuf {
    let mut runs = bench.runs().into_iter();
    let of = |run: &std::path::PathBuf| {
        let file: Value = serde_json::from_str(&support::text(&run.join("run.json"))).unwrap();
        file["target"]["path"] == target
    };
    runs.rfind(of).expect("a run on the target")
}

#[test]
fn simulated_drives_in_parallel_have_the_journals_of_single_runs() {
    let drives = ["sim:sas-slc-2011", "sim:sata-mlc-2011", "sim:nvme-tlc-2018"];
    for targets in [&drives[..2], &drives[..]] {
        let bench = Bench::new();
        let document = bench.json(&[&["run", "lat,tp-128"], targets, &SHORT[..]].concat());
        let runs = document["runs"].as_array().unwrap();
        assert_eq!(runs.len(), targets.len());
        let campaign = document["campaign"].as_str().unwrap();
        for (run, drive) in runs.iter().zip(targets) {
            assert!(run["run"].as_str().unwrap().starts_with(campaign), "{}", run["run"]);
            assert_eq!(run["target"]["path"], *drive);
            assert_eq!(run["state"], "complete");
            let others: Vec<_> = run["concurrent"]["targets"].as_array().unwrap().iter().collect();
            assert_eq!(others.len() + 1, targets.len());
            let alone = Bench::new();
            alone.ok(&[&["run", "lat,tp-128", drive], &SHORT[..]].concat());
            assert!(events(&alone.runs()[0]) == events(&run_on(&bench, drive)), "{drive} differs");
            let verified = bench.json(&["verify", run["run"].as_str().unwrap()]);
            assert_eq!(verified["same"], true, "{verified}");
        }
    }
}

#[test]
fn what_cannot_run_concurrently_is_refused_untouched() {
    let bench = Bench::on_build_disk();
    let (one, other) = (bench.path("one.bin"), bench.path("other.bin"));
    for path in [&one, &other] {
        std::fs::write(path, vec![7u8; 32 << 20]).unwrap();
    }
    let (a, b) = (one.to_str().unwrap(), other.to_str().unwrap());
    let same = bench.path("same.bin");
    std::os::unix::fs::symlink(&one, &same).unwrap();
    let erase = ["--erase", "one.bin", "--erase", "other.bin", "--erase", "same.bin"];
    for (args, hint) in [
        (vec![a, a, "--erase", "one.bin"], "the same drive"),
        ([&[a, same.to_str().unwrap()], &erase[..2], &erase[4..]].concat(), "the same drive"),
        (vec![a, b], "--erase 'one.bin'"),
        ([&[a, b], &erase[..2]].concat(), "--erase 'other.bin'"),
        ([&[a, b], &erase[..]].concat(), "does not match any target"),
    ] {
        let message = bench.fails(3, &[&["run", "lat"], &args[..]].concat());
        assert!(message.contains(hint), "{args:?}: {message}");
    }
    assert!(bench.runs().is_empty(), "no run was started");
    for path in [&one, &other] {
        assert!(std::fs::read(path).unwrap() == vec![7u8; 32 << 20], "every byte is unchanged");
    }
}

#[test]
fn ctrl_c_stops_all_and_each_is_resumed_by_itself() {
    let bench = Bench::new();
    let drives = ["sim:sas-slc-2011", "sim:nvme-tlc-2018"];
    let child = bench.start(&[&["run", "iops"], &drives[..], &["--scale", "1/64", "--json"]].concat());
    let deadline = Instant::now() + Duration::from_secs(120);
    let begun =
        |run: &std::path::PathBuf| read_journal(&run.join("journal")).is_ok_and(|j| finished(&j) >= 3);
    while bench.runs().iter().filter(|run| begun(run)).count() < 2 {
        assert!(Instant::now() < deadline, "waited two minutes for both runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(130), "{err}");
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    for drive in drives {
        let run = run_on(&bench, drive);
        // After the run's end, the journal contains only the restoration of the drive's write cache, if it has
        // one.
        let journal = journal(&run);
        let last = journal.entries.iter().rev().find(|e| !matches!(e.event, Event::WriteCache { .. }));
        assert!(matches!(last.unwrap().event, Event::Interrupted { .. }), "{drive}");
        let id = run.file_name().unwrap().to_str().unwrap();
        assert!(err.contains(&format!("plateau resume {id}")), "{err}");
    }
    let run = run_on(&bench, drives[1]);
    let document = bench.json(&["resume", run.file_name().unwrap().to_str().unwrap(), "--restart-test"]);
    assert_eq!(document["state"], "complete");
}

#[test]
fn two_loop_devices_and_a_simulated_drive() {
    let bench = Bench::on_build_disk();
    let (Some(a), Some(b)) = (attach(&bench.path("a"), &[]), attach(&bench.path("b"), &[])) else {
        return;
    };
    let (one, other) = (identity(&bench, &a.path), identity(&bench, &b.path));
    let args = [
        "run",
        "lat",
        &a.path,
        &b.path,
        "sim:sas-slc-2011",
        "--profile",
        "pts-e-1.0",
        "--cell-seconds",
        "0.05",
    ];
    // The identities in the options are in a different order from the targets.
    let erase = ["--max-rounds", "5", "--erase", &other, "--erase", &one];
    let document = bench.json(&[&args[..], &erase[..]].concat());
    for (index, target) in [a.path.as_str(), &b.path, "sim:sas-slc-2011"].into_iter().enumerate() {
        let run = &document["runs"][index];
        assert_eq!(run["target"]["path"], target);
        assert_eq!((&run["state"], &run["tests"][0]["rounds"]), (&"complete".into(), &5.into()));
    }
    // With enough cores, each run has its own.
    let share = |index: usize| {
        let file = support::text(&run_on(&bench, [&a.path, &b.path][index]).join("run.json"));
        serde_json::from_str::<Value>(&file).unwrap()["placement"]["share"].as_str().map(str::to_owned)
    };
    if std::thread::available_parallelism().map_or(1, usize::from) >= 4 {
        assert!(share(0).is_some() && share(0) != share(1), "{:?} {:?}", share(0), share(1));
    }
}
