//! `cargo xtask test [FILTER]...`: runs the test binaries, three at a time.
//!
//! `cargo test` runs the binaries one after another, and many of them mostly wait: for a timer, a device or a browser.
//! Running several at a time is much faster. A fourth binary runs alongside them if it spends most of its time waiting
//! ([`WAITING`]). No test may depend on having the machine to itself; `cargo xtask stress` checks this. Binaries that
//! would disturb all others ([`ALONE`]) run one at a time after the others have ended. All binaries run even after a
//! failure, so that the output lists all failures on a machine.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::chore::{Chore, PROFILE, checking};
use crate::readme::Early;
use crate::test_binaries::{self, TestBinary};

/// Number of binaries that run at the same time, in addition to one of [`WAITING`].
const LANES: usize = 3;
/// Binaries that are started first because they take longest: otherwise, they would run alone at the end.
pub const SLOWEST: &[&str] =
    &["plateau/devices", "device/targets_in_use", "plateau/planned", "plateau/outcomes"];

/// Test binaries that mostly wait for another program or a timer. They run one at a time alongside the others.
/// In a queue of their own, they need hardly any processor time; in the other queue, each of them would leave a
/// core idle.
pub const WAITING: &[&str] = &["plateau/slurm", "plateau/lab", "plateau/monitoring"];

/// Test binaries that run one at a time after all others have ended, because their set-up (such as a mount that
/// no process can see) makes Plateau refuse the targets of all other tests.
pub const ALONE: &[&str] = &["device/hidden_users", "device/shared_bytes"];

/// File in which tests record skipped tests. This path is relative to the root; tests receive an absolute path,
/// because each package runs in its own directory.
pub const SKIPS: &str = "target/skipped-tests";

/// Result of a binary.
struct Ran {
    label: String,
    output: Output,
    took: Duration,
}

/// Run all tests, three binaries at a time, and all doctests; or only some tests
#[derive(clap::Args)]
pub struct Test {
    /// Run only test binaries whose name contains one of these, such as `device/load`
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
}

impl Chore for Test {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        matching(root, test_binaries::build(root)?, &self.filters)
    }
}

/// Runs all tests for `cargo xtask ci`. Meanwhile, the release build for a later step uses the idle processor time.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    let binaries = test_binaries::build(root)?;
    let release = Early::start(root)?;
    matching(root, binaries, &[])?;
    release.finish()?;
    Ok(None)
}

/// Runs the binaries whose label contains one of the filters; if there are no filters, runs all of them and the
/// doctests.
fn matching(root: &Path, mut binaries: Vec<TestBinary>, filters: &[String]) -> anyhow::Result<()> {
    let all = binaries.iter().map(TestBinary::label).collect::<Vec<_>>().join(", ");
    let chosen = |binary: &TestBinary| filters.iter().any(|filter| binary.label().contains(filter.as_str()));
    binaries.retain(|binary| filters.is_empty() || chosen(binary));
    if binaries.is_empty() {
        bail!("no test binary matches; available: {all}");
    }
    // The sort is stable, so the others remain in the order of their names.
    binaries.sort_by_key(|binary| {
        SLOWEST.iter().position(|slow| *slow == binary.label()).unwrap_or(SLOWEST.len())
    });
    let skips = root.join(SKIPS);
    drop(std::fs::remove_file(&skips));
    let jobs = binaries.iter().map(|binary| {
        let mut command = Command::new(&binary.executable);
        command.current_dir(&binary.home).env("CARGO_MANIFEST_DIR", &binary.home).env(skips::FILE, &skips);
        (binary.label(), command)
    });
    let (alone, others): (Vec<Job>, Vec<Job>) = jobs.partition(|(label, _)| ALONE.contains(&label.as_str()));
    let (waiting, busy) = others.into_iter().partition(|(label, _)| WAITING.contains(&label.as_str()));
    run_all([(busy, LANES), (waiting, 1)], alone, |ran| println!("{}", line(ran)))?;
    if !filters.is_empty() {
        return Ok(());
    }
    // Run doctests through cargo, because they have no binaries.
    let arguments = ["test", PROFILE, "--workspace", "--locked", "--doc", "--quiet"];
    let output = checking(root).args(arguments).output().context("cannot start cargo")?;
    if !output.status.success() {
        std::io::stderr().write_all(&[output.stdout, output.stderr].concat())?;
        bail!("a doctest failed; to run the doctests again: cargo {}", arguments.join(" "));
    }
    Ok(())
}

/// A label and its command.
type Job = (String, Command);

/// Commands that are started in order, and how many of them run at a time.
type Queue = (Vec<Job>, usize);

/// Runs the queues at the same time, and then the commands that run alone.
fn run_all(queues: [Queue; 2], alone: Vec<Job>, passed: impl Fn(&Ran) + Sync) -> anyhow::Result<()> {
    let failed: Mutex<Vec<Ran>> = Mutex::default();
    let note = |ran: Ran| {
        if ran.output.status.success() {
            passed(&ran);
        } else {
            failed.lock().expect("no lane panics").push(ran);
        }
    };
    run_queues(queues, &note)?;
    run_queues([(alone, 1)], &note)?;
    let failed = failed.into_inner().expect("no lane panics");
    for ran in &failed {
        println!("--- {} ended with {}", ran.label, ran.output.status);
        std::io::stdout().write_all(&ran.output.stdout)?;
        std::io::stdout().write_all(&ran.output.stderr)?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    let labels: Vec<_> = failed.iter().map(|ran| ran.label.as_str()).collect();
    // Do not suggest `cargo test -p`: it selects fewer packages, so cargo would build them again with other
    // features.
    bail!("{} failed; to run it again: cargo xtask test {}", labels.join(", "), labels.join(" "))
}

/// Runs the queues at the same time.
fn run_queues<const N: usize>(queues: [Queue; N], note: &(impl Fn(Ran) + Sync)) -> anyhow::Result<()> {
    let queues = queues.map(|(jobs, lanes)| (Mutex::new(VecDeque::from(jobs)), lanes));
    let lane = |jobs: &Mutex<VecDeque<Job>>| -> anyhow::Result<()> {
        loop {
            let Some((label, mut command)) = jobs.lock().expect("no lane panics").pop_front() else {
                return Ok(());
            };
            let begun = Instant::now();
            let output = command.output().with_context(|| format!("cannot run {label}"))?;
            note(Ran { label, output, took: begun.elapsed() });
        }
    };
    std::thread::scope(|scope| {
        let lane = &lane;
        let lanes = queues.iter().flat_map(|(jobs, lanes)| std::iter::repeat_n(jobs, *lanes));
        let lanes: Vec<_> = lanes.map(|jobs| scope.spawn(move || lane(jobs))).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().expect("no lane panics"))
    })
}

/// Returns a line for a binary that passed: `device/load  12 passed in 14.2 s`.
fn line(ran: &Ran) -> String {
    let text = String::from_utf8_lossy(&ran.output.stdout);
    let passed: u32 = text
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ok. ")?.split_once(' ')?.0.parse::<u32>().ok())
        .sum();
    format!("{:24} {passed:4} passed in {:6.1} s", ran.label, ran.took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(label: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        (label.to_owned(), command)
    }

    /// Returns two queues, with all jobs in the first.
    fn two(jobs: Vec<Job>) -> [Queue; 2] {
        [(jobs, LANES), (Vec::new(), 1)]
    }

    #[test]
    fn what_waits_occupies_no_other_lane() {
        let dir = tempfile::tempdir().unwrap();
        // Each job ends only when all three are running.
        let meet = |name: &str| {
            let mut job =
                job(name, &format!("touch $D/{name}; until test $(ls $D | wc -l) = 3; do sleep 0.01; done"));
            job.1.env("D", dir.path());
            job
        };
        run_all([(vec![meet("a"), meet("b")], LANES), (vec![meet("c")], 1)], Vec::new(), |_| ()).unwrap();
    }

    #[test]
    fn every_failure_is_named() {
        let passed = Mutex::new(Vec::new());
        let note = |ran: &Ran| passed.lock().unwrap().push(line(ran));
        let good = job("a/good", "echo 'test result: ok. 3 passed; 0 failed'");
        // `a/slow` ends after `a/bad`, so the order of the failures is fixed.
        let jobs = vec![job("a/bad", "exit 3"), job("a/slow", "sleep 0.2; exit 1"), good];
        let error = run_all(two(jobs), Vec::new(), note).unwrap_err().to_string();
        assert_eq!(error, "a/bad, a/slow failed; to run it again: cargo xtask test a/bad a/slow");
        let passed = passed.into_inner().unwrap();
        assert!(passed.len() == 1 && passed[0].starts_with("a/good") && passed[0].contains("   3 passed"));
    }

    #[test]
    fn every_job_is_run() {
        let count = Mutex::new(0);
        let jobs = (0..9).map(|i| job(&format!("a/{i}"), "true")).collect();
        run_all(two(jobs), Vec::new(), |_| *count.lock().unwrap() += 1).unwrap();
        assert_eq!(count.into_inner().unwrap(), 9);
        let missing = || vec![("a/b".into(), Command::new("/no/such"))];
        assert!(run_all(two(missing()), Vec::new(), |_| ()).is_err());
        assert!(run_all(two(Vec::new()), missing(), |_| ()).is_err());
    }

    #[test]
    fn disturbing_binaries_run_alone() {
        let dir = tempfile::tempdir().unwrap();
        // Fails if another job is running, or if a job that must not be disturbed has not run yet.
        let alone = |name: &str| {
            let script = "test $(ls $D | wc -l) = 2 && mkdir $D/here && sleep 0.05 && rmdir $D/here";
            let mut job = job(name, script);
            job.1.env("D", dir.path());
            job
        };
        let other = |name: &str| {
            let mut job = job(name, &format!("sleep 0.05; touch $D/{name}"));
            job.1.env("D", dir.path());
            job
        };
        let waiting = (vec![other("b")], 1);
        run_all([(vec![other("a")], LANES), waiting], vec![alone("c"), alone("d"), alone("e")], |_| ())
            .unwrap();
    }
}
