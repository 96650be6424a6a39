//! What the benchmark reads: a RAM disk and a file, both made and filled here, and removed afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use drive::{Armed, Engine, Flow, OpenOptions, Outcome};
use record::{Access, DataPattern, Placement, Range, Regime, Until, Workload};

use super::rivals::{Sample, time_of_all};

/// Small: what the machine's memory takes is the target's time, and a tool that lets helping threads of the kernel read
/// does not pay it.
const BYTES: u64 = 64 << 20;
const RUN_NS: u64 = 1_000_000_000;
const RESET_ATTEMPTS: u32 = 20;
const RESET_PAUSE: Duration = Duration::from_millis(100);

/// A target that was filled with data no device can compress.
pub struct Target {
    pub path: String,
    armed: Option<Armed>,
    made: Made,
}

enum Made {
    Zram,
    File(PathBuf),
}

impl Target {
    /// A zram device of its own; the error says why there is none.
    pub fn zram() -> anyhow::Result<Self> {
        let made = command("zramctl", &["--find", "--size", &BYTES.to_string()])?;
        Self { path: made, armed: None, made: Made::Zram }.filled(&placed())
    }

    /// A new file in `folder`.
    pub fn file(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(format!("engine-{}.data", std::process::id()));
        let text = path.to_str().context("a path that is not text")?.to_owned();
        let options = OpenOptions { size_bytes: Some(BYTES), ..placed() };
        Self { path: text, armed: None, made: Made::File(path) }.filled(&options)
    }

    fn filled(mut self, options: &OpenOptions) -> anyhow::Result<Self> {
        let drive = drive::open(&self.path, options)?;
        let identity = drive.facts().identity.clone();
        let mut armed = drive.arm(Some(&identity))?;
        let fill = filling(128 << 10, Regime::default());
        armed.run(&fill, &mut |_| Flow::Continue)?;
        // Where a host below this one caches what is read, nobody shall be the first to read a block.
        armed.run(&Workload { read_percent: 100, ..fill }, &mut |_| Flow::Continue)?;
        self.armed = Some(armed);
        Ok(self)
    }

    /// The same target, driven by this engine from here on.
    pub fn by(&mut self, engine: Engine) -> anyhow::Result<&mut Self> {
        // It is held by one only.
        self.armed = None;
        let options = OpenOptions { engine, ..placed() };
        let drive = drive::open(&self.path, &options)?;
        let identity = drive.facts().identity.clone();
        self.armed = Some(drive.arm(Some(&identity))?);
        Ok(self)
    }

    /// Random reads of 4 KiB by our engine, and how it drove them.
    pub fn measure(&mut self, depth: u16) -> anyhow::Result<(Sample, String)> {
        let armed = self.armed.as_mut().context("a target that was let go")?;
        let before = time_of_all("self")?;
        let (sample, engine) = sample_of(armed.run(&reads(depth), &mut |_| Flow::Continue)?)?;
        let ios = sample.iops * RUN_NS as f64 / 1e9;
        Ok((Sample { all_ns: Some((time_of_all("self")? - before) / ios), ..sample }, engine))
    }

    /// Writes stamps everywhere.
    pub fn stamp(&mut self) -> anyhow::Result<()> {
        self.with_checks(filling(4096, STAMPED)).map(drop)
    }

    /// Random reads of 4 KiB, one at a time, whose stamps are checked.
    pub fn checked(&mut self) -> anyhow::Result<Sample> {
        sample_of(self.with_checks(Workload { regime: STAMPED, ..reads(1) })?).map(|(sample, _)| sample)
    }

    fn with_checks(&mut self, workload: Workload) -> anyhow::Result<Outcome> {
        let armed = self.armed.as_mut().context("a target that was let go")?;
        let answers = armed.run_together(&[workload], &[false], &mut |_, _| Flow::Continue)?;
        let answer = answers.into_iter().next().context("one answer for one workload")?;
        let findings = answer.findings.context("findings of a load with checks")?;
        anyhow::ensure!(findings.wrong() == 0, "{findings:?}");
        Ok(answer.outcome)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.armed = None;
        let removed = match &self.made {
            Made::Zram => reset(&self.path),
            Made::File(path) => std::fs::remove_file(path).map_err(Into::into),
        };
        if let Err(problem) = removed {
            eprintln!("{problem:#}");
        }
    }
}

/// A process that ended a moment ago may still have a ring in the kernel that holds the device.
fn reset(device: &str) -> anyhow::Result<()> {
    let mut answer = command("zramctl", &["--reset", device]);
    for _ in 0..RESET_ATTEMPTS {
        if answer.is_ok() {
            break;
        }
        std::thread::sleep(RESET_PAUSE);
        answer = command("zramctl", &["--reset", device]);
    }
    answer.map(drop)
}

/// On the processor that the others run on.
fn placed() -> OpenOptions {
    let placement = Some(Placement::CpusAllowed(super::rivals::processor().to_string()));
    OpenOptions { placement, ..OpenOptions::default() }
}

const STAMPED: Regime = Regime { ramp_ns: 0, arrivals: None, limit_ns: None, verify: true };

/// Writes to everything once.
fn filling(block_bytes: u32, regime: Regime) -> Workload {
    let until = Until::AmountBytes(BYTES);
    Workload { access: Access::Sequential, read_percent: 0, block_bytes, until, regime, ..reads(8) }
}

/// What a load came to, and how it was driven.
fn sample_of(outcome: Outcome) -> anyhow::Result<(Sample, String)> {
    let Outcome::Finished(segment) = outcome else { bail!("nobody stopped it") };
    let effort = segment.host.as_ref().context("no effort is known")?.effort;
    let ios = segment.read.ios.max(1) as f64;
    let sample = Sample {
        cpu_ns: effort.cpu_ns() as f64 / ios,
        user_ns: effort.user_ns as f64 / ios,
        iops: segment.iops(),
        all_ns: None,
    };
    Ok((sample, segment.io_path.to_string()))
}

/// Random reads of 4 KiB for a second.
pub fn reads(queue_depth: u16) -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 100,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        threads: 1,
        queue_depth,
        range: Range::first(BYTES),
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(RUN_NS),
        seed: 1,
        regime: Regime::default(),
    }
}

fn command(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
