//! Performs the trials on one target. Each trial interrupts a run and resumes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use stdx::rng::split_mix;

use super::judge::{self, Fault, Found};
use super::stage::{Device, Kind};
use super::tracer::{Counts, ERR, End, LIBRARY, OUT, Point, Program};

/// Duration of a stop (SIGSTOP), longer than any pause on a busy host.
const STOPPED: Duration = Duration::from_millis(700);
const INTERRUPTED: i32 = 130;
/// Number of trials after which the kinds of interruptions repeat. All but four of these trials use SIGKILL.
const CYCLE: u64 = 12;

/// How a trial interrupts its run.
#[derive(Debug, Clone, Copy)]
enum Act {
    At(Signal, Point),
    /// SIGSTOP after this time, later followed by SIGCONT.
    Stop(Duration),
}

/// Returns the interruption for trial `index` out of `times`. The points for each kind are distributed evenly
/// over the run.
fn act(index: u64, times: u64, seed: u64, counts: Counts, took: Duration) -> Act {
    let mut state = seed ^ (index << 32);
    let random = split_mix(&mut state);
    let within = |all: u64| {
        let share = (index as f64 + (random >> 11) as f64 / (1u64 << 53) as f64) / times as f64;
        (share * all as f64) as u64
    };
    let signal = match index % CYCLE {
        1 => Signal::SIGHUP,
        4 => Signal::SIGTERM,
        7 => Signal::SIGINT,
        3 => return Act::Stop(Duration::from_nanos(within(took.as_nanos() as u64))),
        _ => Signal::SIGKILL,
    };
    let among_relevant = index % 8 != 6;
    let all = if among_relevant { counts.relevant } else { counts.all };
    Act::At(signal, Point { number: within(all) + 1, among_relevant, at_end: random & 1 == 1 })
}

/// A target, with the results of an undisturbed run on it.
pub struct Trials<'a> {
    binary: &'a Path,
    folder: &'a Path,
    device: Option<Device>,
    kind: Kind,
    run: Vec<String>,
    undisturbed: Value,
    counts: Counts,
    took: Duration,
}

/// Result of one trial.
#[derive(Default)]
struct TrialResult {
    killed: bool,
    found: Vec<Found>,
}

impl<'a> Trials<'a> {
    /// Performs two undisturbed runs: one to obtain results and duration, one to count system calls.
    pub fn prepare(
        binary: &'a Path,
        folder: &'a Path,
        kind: Kind,
        device: Option<Device>,
    ) -> anyhow::Result<Self> {
        let (counts, took) = (Counts::default(), Duration::ZERO);
        let (run, undisturbed) = (Vec::new(), Value::Null);
        let mut trials = Self { binary, folder, device, kind, run, undisturbed, counts, took };
        trials.run = trials.words()?;
        let begun = Instant::now();
        let (code, out, err) = trials.plain(&trials.run)?;
        trials.took = begun.elapsed();
        if code != Some(0) {
            bail!("{:?} ended with {code:?}: {err}", trials.run);
        }
        trials.undisturbed = serde_json::from_str(&out)?;
        trials.clear()?;
        let traced = trials.program(&trials.run).trace(None)?;
        if traced.end != End::Code(0) {
            bail!("{:?} ended with {:?} under ptrace", trials.run, traced.end);
        }
        trials.counts = traced.counts;
        trials.clear()?;
        println!(
            "{}: a run takes {:.2} s and {} system calls, {} of them relevant",
            kind.name(),
            trials.took.as_secs_f64(),
            trials.counts.all,
            trials.counts.relevant
        );
        Ok(trials)
    }

    fn words(&self) -> anyhow::Result<Vec<String>> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let Some(device) = &self.device else {
            return Ok(words("run lat sim:sas-slc-2011 --scale 1/256 --profile pts-e-1.0 --json"));
        };
        let (code, out, err) = self.plain(&words(&format!("info {} --json", device.path)))?;
        let document: Value = serde_json::from_str(&out).with_context(|| format!("info: {code:?} {err}"))?;
        let identity = document["target"]["identity"].as_str().context("the device has no identity")?;
        Ok(words(&format!(
            "run tp-128 {} --erase {identity} --tune --cell-seconds 0.01 --max-rounds 5 --profile pts-e-1.0 --json",
            device.path
        )))
    }

    fn program<'b>(&'b self, words: &'b [String]) -> Program<'b> {
        Program { path: self.binary, arguments: words, folder: self.folder }
    }

    /// Runs the program undisturbed; returns exit code, standard output and standard error.
    fn plain(&self, words: &[String]) -> anyhow::Result<(Option<i32>, String, String)> {
        let status = self.program(words).command(&[])?.status()?;
        Ok((status.code(), self.text(OUT)?, self.text(ERR)?))
    }

    fn text(&self, name: &str) -> anyhow::Result<String> {
        Ok(String::from_utf8_lossy(&std::fs::read(self.folder.join(name))?).into_owned())
    }

    fn clear(&self) -> anyhow::Result<()> {
        let library = self.folder.join(LIBRARY);
        if library.exists() {
            std::fs::remove_dir_all(library)?;
        }
        Ok(())
    }

    /// Runs all trials and returns the number of faults.
    pub fn run(&self, times: u64, seed: u64) -> anyhow::Result<usize> {
        let (begun, mut by_fault) = (Instant::now(), BTreeMap::<Fault, usize>::new());
        let (mut kills, mut all) = (0, 0);
        for index in 0..times {
            let act = act(index, times, seed, self.counts, self.took);
            let seen = self.trial(act, index).with_context(|| format!("trial {index} ({act:?})"))?;
            kills += u64::from(seen.killed);
            for (fault, text) in &seen.found {
                println!(
                    "{} trial {index} (seed {seed}, {act:?}): {}: {text}",
                    self.kind.name(),
                    fault.name()
                );
                *by_fault.entry(*fault).or_default() += 1;
                all += 1;
            }
            if !seen.found.is_empty() {
                let kept = self.folder.join(format!("trial-{index}"));
                drop(std::fs::rename(self.folder.join(LIBRARY), kept));
            }
            self.clear()?;
        }
        let count = |fault: &Fault| by_fault.get(fault).copied().unwrap_or(0);
        let counts: Vec<_> = Fault::ALL.iter().map(|f| format!("{} {}", count(f), f.name())).collect();
        println!(
            "{}: {kills} of {times} runs interrupted, {} ({:.0} s)",
            self.kind.name(),
            counts.join(", "),
            begun.elapsed().as_secs_f64()
        );
        Ok(all)
    }

    fn trial(&self, act: Act, index: u64) -> anyhow::Result<TrialResult> {
        let mut seen = TrialResult::default();
        let end = self.interrupted(&self.run, act, &mut seen)?;
        self.look(end, &mut seen)?;
        // In every third trial, the resumption is killed as well.
        if index % 3 == 2
            && let Some(mut words) = self.resume_words(index)?
        {
            words.push("--json".into());
            let point = |all: u64| Point {
                number: all / 4 + index % (all / 4 + 1),
                among_relevant: true,
                at_end: false,
            };
            let again = Act::At(Signal::SIGKILL, point(self.counts.relevant));
            let end = self.interrupted(&words, again, &mut seen)?;
            self.look(end, &mut seen)?;
        }
        self.complete(index, &mut seen)?;
        Ok(seen)
    }

    fn interrupted(&self, words: &[String], act: Act, seen: &mut TrialResult) -> anyhow::Result<End> {
        let end = match act {
            Act::At(signal, point) => {
                let traced = self.program(words).trace(Some((signal, point)))?;
                seen.killed |= traced.hit.is_some();
                traced.end
            }
            Act::Stop(after) => {
                let mut child = self.program(words).command(&[])?.spawn()?;
                std::thread::sleep(after);
                if child.try_wait()?.is_none() {
                    let pid = Pid::from_raw(i32::try_from(child.id())?);
                    kill(pid, Signal::SIGSTOP)?;
                    std::thread::sleep(STOPPED);
                    kill(pid, Signal::SIGCONT)?;
                    seen.killed = true;
                }
                End::Code(child.wait()?.code().unwrap_or(-1))
            }
        };
        Ok(end)
    }

    /// Checks the conditions that must hold right after an interruption.
    fn look(&self, end: End, seen: &mut TrialResult) -> anyhow::Result<()> {
        let err = self.text(ERR)?;
        let library = self.folder.join(LIBRARY);
        let found = &mut seen.found;
        let entries = match judge::only_run(&library) {
            Ok(run) => run.map(|(_, entries)| entries),
            Err(fault) => {
                found.push(fault);
                return Ok(());
            }
        };
        found.extend(judge::displayed(&err, entries.as_deref().unwrap_or_default()).err());
        let is_fine = match end {
            End::Signal(Signal::SIGKILL) | End::Code(0 | INTERRUPTED) => true,
            // Only before the run exists, when there is nothing to restore, may a signal end the process
            // directly.
            End::Signal(Signal::SIGHUP | Signal::SIGTERM | Signal::SIGINT) => entries.is_none(),
            _ => false,
        };
        if !is_fine {
            found.push((Fault::Ended, format!("{end:?}: {err}")));
        }
        if end != End::Signal(Signal::SIGKILL) {
            self.tidy(found);
        }
        if entries.is_some() {
            self.verify(found)?;
        }
        Ok(())
    }

    fn tidy(&self, found: &mut Vec<Found>) {
        let left =
            self.device.iter().flat_map(Device::changed).chain(judge::notes(&self.folder.join(LIBRARY)));
        found.extend(left.map(|what| (Fault::LeftBehind, what)));
    }

    fn verify(&self, found: &mut Vec<Found>) -> anyhow::Result<()> {
        let Some(id) = self.id()? else { return Ok(()) };
        let (code, out, err) = self.plain(&["verify".into(), id])?;
        if code != Some(0) {
            found.push((Fault::Differing, format!("verify: {code:?}: {out}{err}")));
        }
        Ok(())
    }

    fn id(&self) -> anyhow::Result<Option<String>> {
        let run = judge::only_run(&self.folder.join(LIBRARY)).ok().flatten();
        Ok(run.map(|(run, _)| run.file.id))
    }

    /// Returns the arguments for resuming the run; `None` if it was not created.
    fn resume_words(&self, index: u64) -> anyhow::Result<Option<Vec<String>>> {
        let Some(id) = self.id()? else { return Ok(None) };
        let mut words = vec!["resume".to_owned(), id];
        if index / 2 % 2 == 1 {
            words.push("--restart-test".into());
        }
        Ok(Some(words))
    }

    /// Completes the run, or starts it if it was not created, and checks the results and settings.
    fn complete(&self, index: u64, seen: &mut TrialResult) -> anyhow::Result<()> {
        let mut words = self.resume_words(index)?.unwrap_or_else(|| self.run.clone());
        if words[0] == "resume" {
            words.push("--json".into());
        }
        let (code, out, err) = self.plain(&words)?;
        let found = &mut seen.found;
        if code != Some(0) {
            let fault = if err.contains("another") { Fault::Locked } else { Fault::Ended };
            found.push((fault, format!("{words:?}: {code:?}: {err}")));
            return Ok(());
        }
        let entries = match judge::only_run(&self.folder.join(LIBRARY)) {
            Ok(run) => run.map(|(_, entries)| entries).unwrap_or_default(),
            Err(fault) => {
                found.push(fault);
                return Ok(());
            }
        };
        found.extend(judge::displayed(&err, &entries).err());
        let document: Value = serde_json::from_str(&out)?;
        let simulated = self.kind == Kind::Simulated;
        match judge::gaps(&entries) {
            Ok(gap) => found.extend(judge::figures(&document, &self.undisturbed, gap, simulated).err()),
            Err(fault) => found.push(fault),
        }
        self.verify(found)?;
        self.tidy(found);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_cover_the_whole_run_and_every_kind() {
        let counts = Counts { all: 5_000, relevant: 600 };
        let acts: Vec<Act> =
            (0..1_000).map(|index| act(index, 1_000, 1, counts, Duration::from_secs(1))).collect();
        let relevant = acts.iter().filter_map(|act| match act {
            Act::At(_, point) if point.among_relevant => Some(point.number),
            _ => None,
        });
        let numbers: Vec<u64> = relevant.collect();
        assert!(numbers.is_sorted() && numbers[0] < 5 && *numbers.last().expect("some") > 595);
        assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] <= 4), "{numbers:?}");
        for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
            assert!(acts.iter().any(|act| matches!(act, Act::At(sent, _) if *sent == signal)));
        }
        assert!(acts.iter().any(|act| matches!(act, Act::Stop(_))));
    }
}
