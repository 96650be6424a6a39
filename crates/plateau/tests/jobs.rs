//! `plateau job`: no matter when and how often a job is started, its run has one purge per test and loses no
//! records.

mod support;

use std::process::{Child, Stdio};
use std::time::Duration;

use record::{Event, Loaded};
use support::loop_device::{attach, identity};
use support::{Bench, finished, hold, texts};

const WHAT: [&str; 6] = ["iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];

/// The run lasts long enough to be killed repeatedly, each time after a few cells.
const LONG: [&str; 6] = ["iops", "sim:sas-slc-2011", "--scale", "1/8", "--profile", "pts-e-1.0"];

fn job(words: &[&'static str]) -> Vec<&'static str> {
    [&["job", "j1"][..], &WHAT, words].concat()
}

fn purges(journal: &Loaded) -> usize {
    journal.entries.iter().filter(|entry| matches!(entry.event, Event::Purged(_))).count()
}

fn kill(mut child: Child) {
    child.kill().expect("killed");
    child.wait().expect("ended");
}

#[test]
fn repeated_starts_and_kills_leave_one_complete_run() {
    let bench = Bench::new();
    let job = |words: &[&'static str]| [&["job", "j1"][..], &LONG, words].concat();
    let mut kept = 0;
    for start in 0..6 {
        let child = bench.start(&job(&[]));
        bench.wait_for("more finished cells", |journal| finished(journal) >= kept + 2);
        // Starting the same job again waits, then gives up without touching anything.
        if start == 2 {
            let _held = hold(child.id());
            let error = bench.fails(75, &job(&["--wait", "0"]));
            assert!(error.contains("another process is working on run j1"), "{error}");
        }
        kill(child);
        let journal = bench.journal().expect("readable after a kill");
        assert!(finished(&journal) >= kept, "no completed result is lost");
        assert_eq!(purges(&journal), 1);
        kept = finished(&journal);
    }
    // A process orphaned by a killed scheduler is still writing when the job is started again; the second process
    // waits for the first.
    let orphan = bench.start(&job(&[]));
    bench.wait_for("more finished cells", |journal| finished(journal) > kept);
    let second = bench.start(&job(&["--wait", "120"]));
    let (orphan, second) =
        (orphan.wait_with_output().expect("ended"), second.wait_with_output().expect("ended"));
    assert!(orphan.status.success(), "{}", texts(&orphan).1);
    assert!(second.status.success(), "{}", texts(&second).1);
    let journal = bench.journal().expect("whole");
    assert_eq!(purges(&journal), 1);
    assert_eq!(journal.entries.iter().filter(|entry| matches!(entry.event, Event::Closed)).count(), 1);
    bench.ok(&["verify", "j1"]);
    let before = std::fs::read(bench.library().join("j1/journal")).expect("a journal");
    bench.ok(&job(&[]));
    assert_eq!(std::fs::read(bench.library().join("j1/journal")).expect("a journal"), before);
}

#[test]
fn two_simultaneous_starts_begin_one_run() {
    let bench = Bench::new();
    let children: Vec<Child> = (0..4).map(|_| bench.start(&job(&["--wait", "120"]))).collect();
    for child in children {
        let output = child.wait_with_output().expect("ended");
        assert!(output.status.success(), "{}", texts(&output).1);
    }
    let journal = bench.journal().expect("one run");
    assert_eq!(purges(&journal), 1);
    assert!(!journal.entries.iter().any(|entry| matches!(entry.event, Event::Resumed { .. })));
}

#[test]
fn another_command_with_the_same_id_is_refused() {
    let bench = Bench::new();
    bench.ok(&job(&[]));
    let other = ["job", "j1", "lat", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    assert!(bench.fails(2, &other).contains("started with other tests"));
    assert!(bench.fails(2, &job(&["--seed", "7"])).contains("started with other settings"));
    let target = "started with another target";
    let other = ["job", "j1", "iops", "sim:sata-mlc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    assert!(bench.fails(2, &other).contains(target));
    let other = ["job", "j1", "iops", "sim:sas-slc-2011", "--scale", "1/32", "--profile", "pts-e-1.0"];
    assert!(bench.fails(2, &other).contains(target));
    let other = ["job", "j1", "iops", "other.bin", "--size", "64MiB", "--profile", "pts-e-1.0"];
    assert!(bench.fails(2, &other).contains(target));
    let id = ["job", "latest", "iops", "sim:sas-slc-2011", "--scale", "1/64"];
    assert!(bench.fails(2, &id).contains("RUN would mean another run"));
    assert!(bench.fails(2, &["job", "../x", "iops", "sim:sas-slc-2011"]).contains("cannot be the id"));
    assert!(bench.fails(2, &job(&["--erase", "S1"])).contains("does not apply"));
}

#[test]
fn an_interrupted_timeline_requires_a_decision() {
    let bench = Bench::new();
    let job = |words: &[&'static str]| {
        let what = ["job", "j1", "wsat", "sim:sas-slc-2011", "--scale", "1/4", "--profile", "pts-e-1.0"];
        [&what[..], words].concat()
    };
    let child = bench.start(&job(&[]));
    bench.wait_for("a few minutes", |journal| finished(journal) >= 4);
    kill(child);
    let error = bench.fails(10, &job(&[]));
    assert!(error.contains("--restart-test") && error.contains("--continue-timeline"), "{error}");
    assert_eq!(purges(&bench.journal().expect("readable")), 1);
    bench.ok(&job(&["--continue-timeline"]));
    assert_eq!(purges(&bench.journal().expect("readable")), 1);
}

#[test]
fn a_drive_is_written_by_one_job_at_a_time() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("disk"), &[]) else { return };
    let path = device.path.clone();
    let identity = identity(&bench, &path);
    let job = |id: &str, wait: &str| {
        let mut command = bench.command(&["job", id, "iops", &path, "--erase", &identity, "--wait", wait]);
        command.args(["--cell-seconds", "1", "--max-rounds", "5"]);
        command
    };
    let first = job("a", "0").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !bench.library().join("a/journal").exists() {
        assert!(std::time::Instant::now() < deadline, "the first job does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    let second = job("b", "0").output().expect("started");
    assert_eq!(second.status.code(), Some(75), "{}", texts(&second).1);
    assert!(!bench.library().join("b").exists());
    kill(first);
}
