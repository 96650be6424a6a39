//! `plateau job`: no matter when and how often a job is started, its run has one purge per test and loses no
//! records.

mod support;

use std::process::{Child, Stdio};
use std::time::Duration;

use record::{Event, Library, Loaded, read_journal};
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
    // A folder with one of these names would make the library's own files unusable.
    for id in ["library.journal", "Index.sqlite-wal", "j1.tar.zst"] {
        let error = bench.fails(2, &["job", id, "iops", "sim:sas-slc-2011", "--scale", "1/64"]);
        assert!(error.contains("reserved in a library"), "{id}: {error}");
        assert!(!bench.library().join(id).exists(), "{id}");
    }
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

/// Settings of a run on a small target that lasts for some seconds.
const SHORT: [&str; 6] = ["--cell-seconds", "0.05", "--max-rounds", "5", "--profile", "pts-e-1.0"];

fn journal_of(bench: &Bench, id: &str) -> Option<Loaded> {
    read_journal(&bench.library().join(id).join("journal")).ok()
}

/// Starts a job, and kills it once it has completed more than a few steps.
fn start_and_kill(bench: &Bench, id: &str, words: &[&str]) {
    let mut child = bench.start(&[&["job", id][..], words].concat());
    while journal_of(bench, id).is_none_or(|journal| finished(&journal) < 3) {
        if child.try_wait().expect("a child").is_some() {
            let output = child.wait_with_output().expect("ended");
            panic!("{id} ended: {}", texts(&output).1);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    kill(child);
}

/// Neither the library nor the host alone knows about all use of a drive.
#[test]
fn a_run_does_not_continue_on_a_drive_that_another_run_has_used() {
    for (library, state) in [("same", "other"), ("other", "same")] {
        let bench = Bench::on_build_disk();
        let file = bench.path("t.bin");
        let file = file.to_str().expect("a path");
        let words = [&["iops", file, "--size", "16MiB"], &SHORT[..]].concat();
        start_and_kill(&bench, "b1", &words);
        let other = [&["job", "b2", "lat", file, "--erase", "t.bin"], &SHORT[..]].concat();
        let mut other = bench.command(&other);
        if library == "other" {
            other.env("PLATEAU_LIBRARY", bench.path("elsewhere"));
        }
        if state == "other" {
            other.env("PLATEAU_STATE", bench.path("state"));
        }
        let output = other.output().expect("started");
        assert!(output.status.success(), "{}", texts(&output).1);
        let before = std::fs::read(bench.library().join("b1/journal")).expect("a journal");
        let job = [&["job", "b1"], &words[..]].concat();
        for words in [&job[..], &["resume", "b1"], &["resume", "b1", "--continue-timeline"]] {
            let error = bench.fails(10, words);
            assert!(error.contains("has been used") && error.contains("b2"), "{error}");
            assert!(error.contains("--restart-test"), "{error}");
        }
        assert!(std::fs::read(bench.library().join("b1/journal")).expect("a journal") == before);
        bench.ok(&[&job[..], &["--restart-test"]].concat());
        let journal = journal_of(&bench, "b1").expect("whole");
        assert_eq!(purges(&journal), 2, "the test was restarted");
    }
}

#[test]
fn a_job_confirms_its_target_again_if_others_may_write_to_the_library() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::on_build_disk();
    let file = bench.path("t.bin");
    std::fs::write(&file, vec![1; 16 << 20]).expect("a file");
    let words = [&["iops", file.to_str().expect("a path"), "--erase", "t.bin"], &SHORT[..]].concat();
    start_and_kill(&bench, "b1", &words);
    std::fs::set_permissions(bench.library(), std::fs::Permissions::from_mode(0o2775)).expect("changed");
    assert!(bench.fails(3, &["resume", "b1"]).contains("writable by others"));
    bench.ok(&[&["job", "b1"], &words[..]].concat());
    assert_eq!(purges(&journal_of(&bench, "b1").expect("whole")), 1);
}

#[test]
fn a_job_for_another_drive_does_not_continue_the_run() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("disk"), &[]) else { return };
    let Some(other) = attach(&bench.path("other"), &[]) else { return };
    let its = identity(&bench, &device.path);
    start_and_kill(&bench, "b1", &[&["iops", &device.path, "--erase", &its], &SHORT[..]].concat());
    let file = bench.path("t.bin");
    std::fs::write(&file, "x").expect("a file");
    let serial = format!("serial:{}", identity(&bench, &other.path));
    for target in [&other.path[..], &serial, file.to_str().expect("a path"), "/dev/no-such-drive"] {
        let error = bench.fails(2, &[&["job", "b1", "iops", target], &SHORT[..]].concat());
        assert!(error.contains("started with another target"), "{error}");
    }
    bench.ok(&[&["job", "b1", "iops", &device.path], &SHORT[..]].concat());
}

/// The confirmation in a job's command was typed before the run began.
#[test]
fn a_job_does_not_continue_on_a_target_that_was_replaced() {
    let bench = Bench::on_build_disk();
    let (file, copy) = (bench.path("t.bin"), bench.path("copy"));
    std::fs::write(&file, vec![1; 16 << 20]).expect("a file");
    let words = [&["iops", file.to_str().expect("a path"), "--erase", "t.bin"], &SHORT[..]].concat();
    start_and_kill(&bench, "b1", &words);
    std::fs::copy(&file, &copy).and_then(|_| std::fs::rename(&copy, &file)).expect("replaced");
    let before = std::fs::read(&file).expect("readable");
    let error = bench.fails(3, &[&["job", "b1"], &words[..]].concat());
    assert!(error.contains("recreated or copied"), "{error}");
    assert!(error.contains("confirm with plateau resume b1 --erase"), "{error}");
    assert!(std::fs::read(&file).expect("readable") == before, "nothing was written");
    bench.ok(&["resume", "b1", "--erase", "t.bin"]);
}

#[test]
fn a_job_waits_for_commands_that_are_not_jobs() {
    let bench = Bench::on_build_disk();
    start_and_kill(&bench, "j1", &LONG);
    let resume = bench.start(&["resume", "j1"]);
    let is_continued =
        |journal: &Loaded| journal.entries.iter().any(|e| matches!(e.event, Event::Resumed { .. }));
    bench.wait_for("a continuation", is_continued);
    {
        let _held = hold(resume.id());
        let error = bench.fails(75, &[&["job", "j1"][..], &LONG, &["--wait", "0"]].concat());
        assert!(error.contains("another process is working on run j1"), "{error}");
    }
    kill(resume);
    let Some(device) = attach(&bench.path("disk"), &[]) else { return };
    let identity = identity(&bench, &device.path);
    let words = [&["iops", &device.path, "--erase", &identity], &SHORT[..]].concat();
    let run = bench.start(&[&["run"], &words[..]].concat());
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    while bench.runs().len() < 2 {
        assert!(std::time::Instant::now() < deadline, "the run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let held = hold(run.id());
    let error = bench.fails(75, &[&["job", "j2"], &words[..], &["--wait", "0"]].concat());
    assert!(error.contains("another process is working on the target"), "{error}");
    drop(held);
    kill(run);
}

#[test]
fn continuations_that_complete_nothing_end_with_a_question() {
    let bench = Bench::new();
    let what = ["iops", "sim:sas-slc-2011", "--scale", "1/8", "--profile", "pts-e-1.0"];
    start_and_kill(&bench, "j1", &what);
    let continued = || {
        let run = Library::at(bench.library()).open("j1").expect("a run");
        let (mut journal, _) = run.reopen().expect("free");
        journal.append(Event::Resumed { gap_ns: 1 }).expect("written");
    };
    continued();
    continued();
    let job = [&["job", "j1"], &what[..]].concat();
    let error = bench.fails(10, &job);
    assert!(error.contains("continued 2 times without completing"), "{error}");
    // Whoever starts it again has read this.
    bench.ok(&job);
}

/// What a host would refuse is refused before anything is submitted, and only that.
#[test]
fn a_campaign_accepts_the_options_and_times_that_a_job_accepts() {
    let bench = Bench::new();
    let path = |name: &str| bench.path(name).to_str().expect("a path").to_owned();
    let list = r#"[{"path": "/dev/sda", "kind": "SATA", "identity": "S1", "capacity_bytes": 4000000000000},
        {"path": "sim:sas-slc-2011", "kind": "simulated", "identity": "D1", "capacity_bytes": 32000000000},
        {"path": "sim:sas-slc-2011", "kind": "simulated", "identity": "x-D1", "capacity_bytes": 32000000000}]"#;
    std::fs::write(path("n1.json"), list).expect("written");
    let from = format!("n1={}", path("n1.json"));
    bench.ok(&["fleet", "inventory", "--from", &from, "--dir", &path("fleet")]);
    let submit_text = |text: String| {
        std::fs::write(path("c.toml"), text).expect("written");
        let inventory = path("fleet/inventory.json");
        bench.run(&["fleet", "submit", &path("c.toml"), "--inventory", &inventory, "--dry-run"])
    };
    let submit = |drive: &str, more: &str, options: &str| {
        submit_text(format!(
            "name = \"q\"\n{more}\n[[drives]]\nidentities = [\"{drive}\"]\n[[plans]]\nname = \"p\"\ntests = \"iops\"\n\
             options = [{options}]\n"
        ))
    };
    let all = r#""--tune", "--verify-purge", "--purge-method", "overwrite", "--tag", "a", "--note", "b""#;
    let output = submit("S1", "", all);
    assert!(output.status.success(), "{}", texts(&output).1);
    for (drive, more, options, expected) in [
        ("S1", "", "\"--no-such-option\"", "unexpected argument"),
        ("D1", "", "\"--tune\"", "--tune does not apply to sim:sas-slc-2011"),
        ("S1", "", "\"--scale\", \"1/64\"", "--scale applies only to simulated drives"),
        ("S1", "", "\"--size\", \"4GiB\"", "--size applies only to files"),
        // The preconditioning of this drive takes hours.
        ("S1", "time-limit-minutes = 60", "", "time-limit-minutes is too short for plan 'p' on drive S1"),
    ] {
        let output = submit(drive, more, options);
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(texts(&output).1.contains(expected), "{}", texts(&output).1);
    }
    let output = submit("S1", "time-limit-minutes = 6000", "");
    assert!(output.status.success(), "{}", texts(&output).1);
    for (name, expected) in [
        ("last-week", "'last-week-p-D1-1' cannot be the id of a run"),
        ("q", "two runs would have the id 'q-p-x-D1-1'"),
    ] {
        let plan = |name: &str| format!("[[plans]]\nname = \"{name}\"\ntests = \"iops\"\n");
        let drives = "[[drives]]\nidentities = [\"D1\", \"x-D1\"]\n";
        let output = submit_text(format!("name = \"{name}\"\n{drives}{}{}", plan("p"), plan("p-x")));
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(texts(&output).1.contains(expected), "{}", texts(&output).1);
    }
}
