//! Killed, interrupted and resumed runs: no completed result is lost.

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use record::{Event, Journal, Note};
use support::{Bench, finished, round, texts};

const RUN: [&str; 7] = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];

/// File systems store times in steps of up to 2 s, so a change made any sooner would go unnoticed.
const LONGER_THAN_A_TIME_STEP: Duration = Duration::from_millis(2500);

#[test]
fn ten_kills_then_a_complete_report() {
    let bench = Bench::new();
    let mut child = bench.start(&RUN);
    let mut kept = 0;
    for kill in 1..=10 {
        // Kill the run in the middle of a round, a little later each time.
        bench.wait_for("more finished cells", |journal| {
            round(journal) > 0 && finished(journal) >= kept + 4 + kill
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let journal = bench.journal().expect("the journal can be read after a kill");
        assert!(finished(&journal) >= kept, "no completed result is lost");
        kept = finished(&journal);
        let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
        child = bench.start(&["resume", &id, "--json"]);
    }
    let output = child.wait_with_output().unwrap();
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["verdict"], "steady state");
    let modified = document["modified"].to_string();
    assert!(modified.contains("interrupted 10 times"), "{modified}");

    let journal = bench.journal().unwrap();
    let gaps = journal.entries.iter().filter(|e| matches!(e.event, Event::Resumed { .. })).count();
    assert_eq!(gaps, 10);
    let first = document["tests"][0]["window"][0]["first_round"].as_u64().unwrap();
    let whole = first_whole_round(&journal);
    assert!(first >= u64::from(whole), "window from {first}, but round {whole} is the first after the gaps");
}

/// Returns the first round after the last gap; a round that begins with the gap counts as complete.
fn first_whole_round(journal: &record::Loaded) -> u32 {
    let (mut round, mut step, mut first) = (0, 0, 1);
    for entry in &journal.entries {
        match &entry.event {
            Event::Noted(record::Note::RoundStarted { round: number, .. }) => (round, step) = (*number, 0),
            Event::Measured(segment) => {
                if segment.gap_before.is_some() {
                    first = if step == 0 { round } else { round + 1 };
                }
                step += 1;
            }
            _ => {}
        }
    }
    first
}

#[test]
fn ctrl_c_keeps_the_run_and_says_how_to_continue() {
    let bench = Bench::new();
    let child = bench.start(&RUN);
    bench.wait_for("a few cells", |journal| finished(journal) >= 6);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("plateau resume"), "{err}");
    let journal = bench.journal().unwrap();
    assert!(matches!(journal.entries.last().unwrap().event, Event::Interrupted { .. }));

    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(bench.ok(&["show", &id]).contains("not complete"));
    let report = bench.json(&["report", &id]);
    let html = support::text(report["report"].as_str().unwrap().as_ref());
    assert!(html.to_lowercase().contains("not complete"), "an interrupted run is marked");
    let document = bench.json(&["resume", &id, "--restart-test"]);
    assert_eq!(document["verdict"], "steady state");
    assert!(!document["modified"].to_string().contains("interrupted"), "a restarted test conforms");

    let again = bench.json(&["resume", &id]);
    assert_eq!(again["run"], document["run"], "resuming a complete run changes nothing");
}

#[test]
fn a_judgement_is_recorded_once_despite_rounding() {
    let bench = Bench::new();
    let id = bench.json(&RUN)["run"].as_str().unwrap().to_owned();
    let mut events: Vec<Event> = bench.journal().unwrap().entries.into_iter().map(|e| e.event).collect();
    let judged = events.iter().rposition(|event| matches!(event, Event::Noted(Note::Judged(_)))).unwrap();
    // Simulate that the machine stopped right after the last evaluation was recorded, and that another build
    // rounded its value differently.
    events.truncate(judged + 1);
    let Event::Noted(Note::Judged(judgement)) = &mut events[judged] else { unreachable!() };
    let value = &mut judgement.variables[0].value;
    *value = f64::from_bits(value.to_bits() + 1);
    let round = judgement.round;
    let path = bench.runs()[0].join("journal");
    std::fs::remove_file(&path).unwrap();
    let mut journal = Journal::create(&path).unwrap();
    events.into_iter().for_each(|event| drop(journal.append(event).unwrap()));
    drop(journal);

    bench.ok(&["resume", &id]);
    let entries = bench.journal().unwrap().entries;
    let same = |event: &Event| matches!(event, Event::Noted(Note::Judged(j)) if j.round == round);
    assert_eq!(entries.iter().filter(|entry| same(&entry.event)).count(), 1);
    bench.ok(&["verify", &id]);
}

/// Early builds did not record where rounds end. DIRTH has two series of rounds, one directly after the other.
#[test]
fn a_run_of_an_early_build_is_resumed_listed_verified_and_reported() {
    let bench = Bench::new();
    let run = ["run", "dirth", "sim:sas-slc-2011", "--scale", "1/1024", "--max-rounds", "5"];
    let id = bench.json(&run)["run"].as_str().unwrap().to_owned();
    let events: Vec<Event> = bench.journal().unwrap().entries.into_iter().map(|entry| entry.event).collect();
    let is_end = |event: &Event| matches!(event, Event::Noted(Note::RoundsEnded));
    let second = events.iter().position(is_end).expect("the first series") + 1;
    assert!(
        matches!(events[second], Event::Noted(Note::RoundStarted { round: 1, .. })),
        "{:?}",
        events[second]
    );
    let path = bench.runs()[0].join("journal");
    // The run stops at the beginning of the second series.
    std::fs::remove_file(&path).unwrap();
    let mut journal = Journal::create(&path).unwrap();
    let early = events[..=second].iter().filter(|event| !is_end(event));
    early.for_each(|event| drop(journal.append(event.clone()).unwrap()));
    drop(journal);
    bench.ok(&["resume", &id]);
    assert_eq!(bench.json(&["verify", &id])["closed"], true);
    let listed = bench.json(&["runs"]);
    assert!(["steady", "unsteady"].contains(&listed[0]["state"].as_str().unwrap()), "{listed}");
    let figures = bench.json(&["query", "SELECT COUNT(*) AS figures FROM figure"]);
    assert!(figures["rows"][0][0].as_u64().is_some_and(|figures| figures > 10), "{figures}");
    assert!(bench.json(&["report", &id])["report"].is_string());
}

#[test]
fn two_writers_are_refused() {
    let bench = Bench::new();
    let mut child = bench.start(&RUN);
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    // Suspend the process, so that it still exists when `resume` checks for other processes.
    assert!(Command::new("kill").args(["-STOP", &child.id().to_string()]).status().unwrap().success());
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let message = bench.fails(75, &["resume", &id]);
    assert!(message.contains("another plateau process"), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Interrupts a WSAT run after some minutes; returns its id.
fn cut_saturation(bench: &Bench) -> String {
    let args = ["run", "wsat", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    let mut child = bench.start(&args);
    bench.wait_for("some minutes", |journal| finished(journal) >= 20);
    child.kill().unwrap();
    child.wait().unwrap();
    bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned()
}

fn restarts(bench: &Bench) -> usize {
    let journal = bench.journal().unwrap();
    journal.entries.iter().filter(|e| matches!(e.event, Event::Restarted { .. })).count()
}

#[test]
fn a_timeline_restarts_at_its_purge() {
    let bench = Bench::new();
    let id = cut_saturation(&bench);
    let document = bench.json(&["resume", &id]);
    assert_eq!(restarts(&bench), 1);
    assert!(!document["modified"].to_string().contains("interrupted"), "{}", document["modified"]);
    assert!(!document["tests"][0]["notes"].to_string().contains("INTERRUPTED"), "the time line has no gap");
}

#[test]
fn a_timeline_continues_with_a_gap_if_requested() {
    let bench = Bench::new();
    let id = cut_saturation(&bench);
    bench.fails(2, &["resume", &id, "--continue-timeline", "--restart-test"]);
    let document = bench.json(&["resume", &id, "--continue-timeline"]);
    assert_eq!(restarts(&bench), 0);
    assert!(document["modified"].to_string().contains("interrupted"), "{}", document["modified"]);
    assert!(document["tests"][0]["notes"].to_string().contains("INTERRUPTED"));
}

/// Runs with a file size limit of `kib`: writes beyond it are truncated, as on a full disk.
fn with_little_room(bench: &Bench, kib: u32, args: &[&str]) -> std::process::Output {
    let plateau = bench.command(args);
    let limited = format!("trap '' XFSZ; ulimit -f {kib} && exec \"$@\"");
    let mut shell = Command::new("bash");
    shell.args(["-c", &limited, "bash"]).arg(plateau.get_program()).args(plateau.get_args());
    for (name, value) in plateau.get_envs() {
        shell.env(name, value.expect("variables are set only"));
    }
    shell.output().expect("a shell")
}

#[test]
fn a_full_disk_leaves_an_intact_journal_that_can_continue() {
    let bench = Bench::new();
    bench.ok(&RUN);
    let room = std::fs::metadata(bench.runs()[0].join("journal")).unwrap().len();
    let bench = Bench::new();
    // Records are several thousand bytes long, so it is unlikely that a record ends at any of these three
    // positions.
    let mut run = String::new();
    for part in [5, 6, 7] {
        let kib = u32::try_from(room * part / 10 / 1024).unwrap();
        let resume = ["resume", run.as_str()];
        let output = with_little_room(&bench, kib, if run.is_empty() { &RUN } else { &resume });
        let (_, err) = texts(&output);
        assert!(output.status.code() == Some(6) && err.contains("cannot append to"), "{err}");
        run = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
        let verified = bench.ok(&["verify", &run]);
        assert!(verified.contains("intact") && !verified.contains("is incomplete"), "{verified}");
        let journal = bench.runs()[0].join("journal");
        let bytes = std::fs::read(&journal).unwrap();
        assert!(
            bytes.ends_with(b"\n") && bytes.len() > (kib as usize - 64) * 1024,
            "{} of {kib} KiB",
            bytes.len()
        );
    }
    let resumed = bench.json(&["resume", &run, "--restart-test"]);
    assert_eq!(resumed["verdict"], "steady state");
}

#[test]
fn a_run_or_a_report_without_space_leaves_no_files() {
    let bench = Bench::new();
    let output = with_little_room(&bench, 1, &RUN);
    assert_eq!(output.status.code(), Some(6), "{}", texts(&output).1);
    assert!(bench.runs().is_empty(), "{:?}", bench.runs());

    let id = bench.json(&RUN)["run"].as_str().unwrap().to_owned();
    let page = bench.path("page.html");
    let output = with_little_room(&bench, 64, &["report", &id, "--html", page.to_str().unwrap()]);
    let (_, err) = texts(&output);
    assert!(output.status.code() == Some(6) && err.contains("cannot write"), "{err}");
    let left = std::fs::read_dir(bench.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), Vec::<std::ffi::OsString>::new());
}

#[test]
fn a_run_on_a_file_continues_only_in_that_file_from_any_directory() {
    // Not every file system stores creation times.
    let bench = Bench::on_build_disk();
    let here = bench.dir.path();
    let args = "run iops drive.bin --size 64MiB --cell-seconds 0.02 --max-rounds 5 --profile pts-e-1.0";
    let args: Vec<&str> = args.split(' ').collect();
    let mut run = bench.command(&args);
    let child = run.current_dir(here).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    if bench.json(&["show", &id])["target"]["attachment"].is_null() {
        skips::skip!("the file system reports no time of birth");
        return;
    }

    let (file, away) = (bench.path("drive.bin"), bench.path("away.bin"));
    std::fs::rename(&file, &away).unwrap();
    let gone = bench.fails(4, &["resume", &id]);
    assert!(gone.contains("no longer exists") && !file.exists(), "{gone}");
    // The new file has the same size, name and location.
    let content = vec![b'x'; 64 << 20];
    std::fs::write(&file, &content).unwrap();
    let other = bench.fails(3, &["resume", &id]);
    assert!(other.contains("--erase 'drive.bin'"), "{other}");
    assert!(std::fs::read(&file).unwrap() == content, "nothing was written");

    std::fs::remove_file(&file).unwrap();
    // Renaming counts as a change. Wait first, so that the time of the change is outside the tolerance for
    // coarse timestamps.
    std::thread::sleep(LONGER_THAN_A_TIME_STEP);
    std::fs::rename(&away, &file).unwrap();
    let renamed = bench.fails(3, &["resume", &id]);
    assert!(renamed.contains("it was changed or renamed at"), "{renamed}");
    let resume = ["resume", &id, "--erase", "drive.bin"];
    let output = bench.command(&resume).current_dir("/").output().unwrap();
    assert!(output.status.success(), "{}", texts(&output).1);
}

/// Interrupts a run on a 64 MiB file with Ctrl-C; returns its id and the file.
fn interrupted_on_a_file(bench: &Bench) -> (String, std::path::PathBuf) {
    let file = bench.path("target");
    let path = file.to_str().unwrap();
    let child = bench.start(&[
        "run",
        "lat",
        path,
        "--size",
        "64MiB",
        "--cell-seconds",
        "0.05",
        "--max-rounds",
        "5",
        "--profile",
        "pts-e-1.0",
    ]);
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    (bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned(), file)
}

#[test]
fn a_file_used_since_the_interruption_is_not_written() {
    let bench = Bench::new();
    let (id, file) = interrupted_on_a_file(&bench);
    let intact = bench.path("intact");
    std::fs::copy(&file, &intact).unwrap();
    let refused = |why: &str| {
        let before = std::fs::read(&file).unwrap();
        let message = bench.fails(3, &["resume", &id]);
        assert!(message.contains(why) && message.contains("--erase 'target'"), "{message}");
        assert!(std::fs::read(&file).unwrap() == before, "the file was written to");
    };
    // All of these changes to the file keep its inode.
    if Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(&file)
        .output()
        .is_ok_and(|made| made.status.success())
    {
        refused("ext");
    } else {
        skips::skip!("no mkfs.ext4");
    }
    std::fs::write(&file, "a letter").unwrap();
    refused("it has 8 B");
    std::thread::sleep(LONGER_THAN_A_TIME_STEP);
    let letter = std::fs::read(&intact).unwrap();
    std::fs::write(&file, letter).unwrap();
    refused("it was changed or renamed at");
    bench.ok(&["resume", &id, "--erase", "target"]);
}

#[test]
fn a_file_unused_since_the_interruption_is_resumed() {
    let bench = Bench::new();
    let (id, _) = interrupted_on_a_file(&bench);
    bench.ok(&["resume", &id]);
}

#[test]
fn a_journal_that_is_replaced_ends_the_run_and_loses_nothing() {
    let bench = Bench::new();
    let child = bench.start(&RUN);
    bench.wait_for("a few cells", |journal| finished(journal) >= 6);
    let path = bench.runs()[0].join("journal");
    let copy = bench.path("copy");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::rename(&copy, &path).unwrap();
    let output = child.wait_with_output().unwrap();
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(6), "{err}");
    assert!(err.contains("replaced while the run was writing") && err.contains("journal.rescued"), "{err}");
    let rescued = record::read_journal(&path.with_file_name("journal.rescued")).unwrap();
    let replaced = bench.journal().unwrap();
    assert!(rescued.entries.len() >= replaced.entries.len());
    assert_eq!(rescued.entries[..replaced.entries.len()], replaced.entries);
}

#[test]
fn a_journal_that_is_emptied_ends_the_run_and_loses_nothing() {
    let bench = Bench::new();
    let child = bench.start(&RUN);
    bench.wait_for("a few cells", |journal| finished(journal) >= 6);
    let run = bench.runs()[0].clone();
    let (path, rescued) = (run.join("journal"), run.join("journal.rescued"));
    // A copy saved after an earlier interruption already has that name and must be kept.
    std::fs::write(&rescued, "mine").unwrap();
    let before = std::fs::read(&path).unwrap();
    std::fs::File::create(&path).unwrap();
    let output = child.wait_with_output().unwrap();
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(6), "{err}");
    assert!(err.contains("another program changed it") && err.contains("journal.rescued-2"), "{err}");
    assert_eq!(support::text(&rescued), "mine");
    let rescued = run.join("journal.rescued-2");
    assert!(std::fs::read(&rescued).unwrap().starts_with(&before), "not a byte is missing");
    // Follow the error message's instructions.
    std::fs::rename(&rescued, &path).unwrap();
    bench.ok(&["resume", run.file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn a_run_that_ended_before_its_estimate_is_estimated_when_it_is_resumed() {
    let bench = Bench::new();
    bench.ok(&["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/1024"]);
    let run = bench.runs()[0].clone();
    let path = run.join("journal");
    let journal = std::fs::read_to_string(&path).expect("a journal");
    let opened: String = journal.split_inclusive('\n').take(2).collect();
    assert!(opened.contains("\"opened\"") && !opened.contains("\"estimated\""), "{opened}");
    std::fs::write(&path, opened).expect("a journal that was cut off");
    bench.ok(&["resume", run.to_str().expect("text")]);
    let events: Vec<Event> = bench.journal().unwrap().entries.into_iter().map(|entry| entry.event).collect();
    assert!(matches!(&events[1..3], [Event::Estimated(_), Event::Resumed { .. }]), "{events:?}");
}
