//! The trials, performed inside the virtual machine.
//!
//! When writes are dropped, `fsync` falsely reports success. The process is therefore stopped first (SIGSTOP) and
//! never continued, so that everything displayed up to that point was synced while the disk still worked. Then writes
//! are dropped, the process is killed, and the file system is mounted again with the surviving data.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::{Entry, Event};
use serde_json::Value;
use stdx::rng::split_mix;

use super::disk::Disk;
use crate::chore::Chore;
use crate::kills::judge::{self, Fault, Found};

const AT: &str = "/tmp/power";
/// Directory for the program's output. The output is not on the library's disk, because what was displayed is
/// not lost in a power cut.
const OUT: &str = "/tmp/power-out";
const ERR: &str = "/tmp/power-err";
/// Timeout for a run or a resumption.
const LONGEST: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(5);

struct Trials {
    disk: Disk,
    is_simulated: bool,
    run: Vec<String>,
    undisturbed: Value,
    took: Duration,
    counts: Counts,
}

/// How often each situation occurred, as evidence that the trials tested something.
#[derive(Default)]
struct Counts {
    cuts: u64,
    /// Number of cuts while the program was still running.
    in_the_middle: u64,
    /// Number of cuts before a run was created.
    before_a_run: u64,
    /// Number of cuts that lost bytes at the end of the journal that had been written but not displayed.
    lost_tails: u64,
    /// Number of lines displayed before the cuts.
    lines: u64,
    faults: u64,
}

/// Run the part of `kills power` in the guest of vm-test; exits with 1 if a fault was found
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Inside {
    /// File system of the library
    file_system: String,
    /// `simulated`, or a disk
    target: String,
    /// Power cuts
    times: u64,
    /// Seed for the trials
    seed: u64,
}

impl Chore for Inside {
    fn run(self, _: &Path) -> anyhow::Result<()> {
        let Self { file_system, target, times, seed } = &self;
        let (times, seed) = (*times, *seed);
        let name = format!("{file_system}, {}", if target == "simulated" { target } else { "a disk" });
        let disk = Disk::make(file_system, Path::new(AT))?;
        let mut trials = Trials::prepare(disk, target)?;
        println!("{name}: a run takes {:.1} s", trials.took.as_secs_f64());
        trials.lost_output_is_detected()?;
        let begun = Instant::now();
        for index in 0..times {
            for (fault, text) in trials.trial(index, times, seed).with_context(|| format!("trial {index}"))? {
                println!("{name}, trial {index} (seed {seed}): {}: {text}", fault.name());
                trials.counts.faults += 1;
            }
            trials.clear()?;
        }
        let Counts { cuts, in_the_middle, before_a_run, lost_tails, lines, faults } = trials.counts;
        println!(
            "{name}: {cuts} power cuts, {in_the_middle} of them in the middle of a run or resumption, {before_a_run} before \
             there was a run, {lost_tails} with a lost tail; {lines} displayed lines; {faults} faults ({:.0} s)",
            begun.elapsed().as_secs_f64()
        );
        ensure!(faults == 0, "{faults} faults");
        Ok(())
    }
}

impl Trials {
    /// Performs undisturbed runs to obtain their results and duration.
    fn prepare(disk: Disk, target: &str) -> anyhow::Result<Self> {
        let is_simulated = target == "simulated";
        let (undisturbed, took, counts) = (Value::Null, Duration::ZERO, Counts::default());
        let mut trials = Self { disk, is_simulated, run: Vec::new(), undisturbed, took, counts };
        trials.run = trials.words(target)?;
        // The first run also loads the program from disk, so it is not timed.
        trials.plain(&trials.run)?;
        trials.clear()?;
        let begun = Instant::now();
        let ended = trials.plain(&trials.run)?;
        trials.took = begun.elapsed();
        ensure!(ended.success(), "{:?} ended with {ended}: {}", trials.run, text(ERR)?);
        trials.undisturbed = serde_json::from_str(&text(OUT)?)?;
        trials.clear()?;
        Ok(trials)
    }

    fn words(&self, target: &str) -> anyhow::Result<Vec<String>> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        if self.is_simulated {
            return Ok(words("run lat sim:sas-slc-2011 --scale 1/1024 --profile pts-e-1.0 --json"));
        }
        self.plain(&words(&format!("info {target} --json")))?;
        let document: Value = serde_json::from_str(&text(OUT)?).context("info")?;
        let identity = document["target"]["identity"].as_str().context("the disk has no identity")?;
        Ok(words(&format!(
            "run tp-128 {target} --erase {identity} --cell-seconds 0.01 --max-rounds 5 --profile pts-e-1.0 --json"
        )))
    }

    fn library(&self) -> PathBuf {
        Path::new(AT).join("library")
    }

    fn start(&self, words: &[String]) -> anyhow::Result<Child> {
        let started = Command::new("plateau")
            .args(words)
            .env("PLATEAU_LIBRARY", self.library())
            .env("PLATEAU_STATE", Path::new(AT).join("state"))
            .stdin(Stdio::null())
            .stdout(File::create(OUT)?)
            .stderr(File::create(ERR)?)
            .spawn();
        started.context("cannot start plateau")
    }

    /// Runs the program undisturbed.
    fn plain(&self, words: &[String]) -> anyhow::Result<ExitStatus> {
        let mut child = self.start(words)?;
        ended_within(&mut child, LONGEST)?.with_context(|| {
            drop(child.kill());
            drop(child.wait());
            format!("{words:?} does not end: {}", text(ERR).unwrap_or_default())
        })
    }

    fn clear(&self) -> anyhow::Result<()> {
        for folder in [self.library(), Path::new(AT).join("state")] {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
        }
        // Without this sync, a power cut could bring back an earlier run.
        self.disk.sync()
    }

    /// Proves that the check can fail: output that was displayed while all writes were dropped must be
    /// detected as lost.
    fn lost_output_is_detected(&self) -> anyhow::Result<()> {
        self.disk.drop_writes()?;
        let ended = self.plain(&self.run);
        let err = text(ERR)?;
        self.disk.power_up()?;
        ended?;
        let found = match entries(&self.library()) {
            Ok(entries) => judge::displayed(&err, &entries.unwrap_or_default()),
            Err(found) => Err(found),
        };
        ensure!(
            matches!(found, Err((Fault::Lost, _))),
            "all writes of a run were dropped, but the check found none of its displayed output to be lost: \
              {found:?}; {err}"
        );
        self.clear()
    }

    fn trial(&mut self, index: u64, times: u64, seed: u64) -> anyhow::Result<Vec<Found>> {
        let mut found = Vec::new();
        let mut state = seed ^ (index << 32);
        let share =
            (index as f64 + (split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64) / times as f64;
        self.cut(&self.run.clone(), self.took.mul_f64(share), &mut found)?;
        // In every third trial, the resumption is cut as well.
        if index % 3 == 2
            && let Some(words) = self.resume_words(index)?
        {
            let share = (split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64;
            self.cut(&words, self.took.mul_f64(share), &mut found)?;
        }
        self.complete(index, &mut found)?;
        Ok(found)
    }

    /// Cuts the power after this time, and checks the surviving data.
    fn cut(&mut self, words: &[String], after: Duration, found: &mut Vec<Found>) -> anyhow::Result<()> {
        let mut child = self.start(words)?;
        let has_ended = ended_within(&mut child, after)?.is_some();
        let pid = Pid::from_raw(i32::try_from(child.id())?);
        let stopped = if has_ended { Ok(()) } else { kill(pid, Signal::SIGSTOP) };
        let written = journal_bytes(&self.library());
        let dropped = self.disk.drop_writes();
        drop(child.kill());
        drop(child.wait());
        stopped?;
        dropped?;
        let (out, err) = (text(OUT)?, text(ERR)?);
        self.disk.power_up()?;

        self.counts.cuts += 1;
        self.counts.in_the_middle += u64::from(!has_ended);
        self.counts.lines += err.lines().count() as u64;
        self.counts.lost_tails += u64::from(journal_bytes(&self.library()) < written);
        let entries = match entries(&self.library()) {
            Ok(entries) => entries,
            Err(fault) => {
                found.push(fault);
                return Ok(());
            }
        };
        self.counts.before_a_run += u64::from(entries.is_none());
        let has_run = entries.is_some();
        let entries = entries.unwrap_or_default();
        found.extend(judge::displayed(&err, &entries).err());
        let is_over = entries.iter().any(|entry| matches!(entry.event, Event::TestEnded { .. }));
        if !out.is_empty() && !is_over {
            found.push((
                Fault::Lost,
                "the result was displayed, but the journal contains no end of the test".into(),
            ));
        }
        if !self.plain(&["list".into()])?.success() {
            found.push((Fault::Torn, format!("list: {}", text(ERR)?)));
        }
        if has_run {
            self.verify(found)?;
        }
        Ok(())
    }

    fn verify(&self, found: &mut Vec<Found>) -> anyhow::Result<()> {
        let Some(id) = self.id() else { return Ok(()) };
        let ended = self.plain(&["verify".into(), id])?;
        if !ended.success() {
            found.push((Fault::Differing, format!("verify: {ended}: {}{}", text(OUT)?, text(ERR)?)));
        }
        Ok(())
    }

    fn id(&self) -> Option<String> {
        let run = judge::only_run(&self.library()).ok().flatten();
        run.map(|(run, _)| run.file.id)
    }

    /// Returns the arguments for resuming the run; `None` if it was not created.
    fn resume_words(&self, index: u64) -> anyhow::Result<Option<Vec<String>>> {
        let Some(id) = self.id() else { return Ok(None) };
        let mut words = vec!["resume".to_owned(), id, "--json".into()];
        if index / 2 % 2 == 1 {
            words.push("--restart-test".into());
        }
        Ok(Some(words))
    }

    /// Completes the run, or starts it if it was not created.
    fn complete(&self, index: u64, found: &mut Vec<Found>) -> anyhow::Result<()> {
        let words = self.resume_words(index)?.unwrap_or_else(|| self.run.clone());
        let ended = self.plain(&words)?;
        let (out, err) = (text(OUT)?, text(ERR)?);
        if !ended.success() {
            let fault = if err.contains("another") { Fault::Locked } else { Fault::Ended };
            found.push((fault, format!("{words:?}: {ended}: {err}")));
            return Ok(());
        }
        let entries = match entries(&self.library()) {
            Ok(entries) => entries.unwrap_or_default(),
            Err(fault) => {
                found.push(fault);
                return Ok(());
            }
        };
        found.extend(judge::displayed(&err, &entries).err());
        let document: Value = serde_json::from_str(&out)?;
        match judge::gaps(&entries) {
            Ok(gap) => {
                found.extend(judge::figures(&document, &self.undisturbed, gap, self.is_simulated).err())
            }
            Err(fault) => found.push(fault),
        }
        self.verify(found)
    }
}

fn text(path: &str) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

fn entries(library: &Path) -> Result<Option<Vec<Entry>>, Found> {
    Ok(judge::only_run(library)?.map(|(_, entries)| entries))
}

fn journal_bytes(library: &Path) -> u64 {
    let journals = judge::runs(library).into_iter().map(|run| run.join("journal"));
    journals.filter_map(|journal| std::fs::metadata(journal).ok()).map(|metadata| metadata.len()).sum()
}

fn ended_within(child: &mut Child, limit: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        std::thread::sleep(left.min(PAUSE));
    }
}
