//! Targets of the benchmark: a RAM disk and a file, both created and filled for the benchmark, and removed
//! afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use device::{Armed, OpenOptions};
use engine::{Engine, Flow, LoadOutcome, StreamOptions};
use record::{Access, DataPattern, Placement, Range, Regime, Until, Workload};

use super::rivals::{Sample, time_of_all};

/// Size of targets. They are small, so that memory access costs little; this cost affects only tools whose
/// reads are not performed by kernel helper threads.
const BYTES: u64 = 64 << 20;
const RUN_NS: u64 = 1_000_000_000;
const RESET_ATTEMPTS: u32 = 20;
const RESET_PAUSE: Duration = Duration::from_millis(100);

/// A target filled with incompressible data.
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
    /// Creates a zram device.
    pub fn zram() -> anyhow::Result<Self> {
        let made = command("zramctl", &["--find", "--size", &BYTES.to_string()])?;
        Self { path: made, armed: None, made: Made::Zram }.filled(&placed())
    }

    /// Creates a file in `folder`.
    pub fn file(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(format!("engine-{}.data", std::process::id()));
        let text = path.to_str().context("the path is not UTF-8")?.to_owned();
        let options = OpenOptions { size_bytes: Some(BYTES), ..placed() };
        Self { path: text, armed: None, made: Made::File(path) }.filled(&options)
    }

    fn filled(mut self, options: &OpenOptions) -> anyhow::Result<Self> {
        let drive = device::open(&self.path, options)?;
        let identity = drive.facts().identity.clone();
        let mut armed = drive.arm(Some(&identity))?;
        let fill = filling(128 << 10, Regime::default());
        armed.run(&fill, &mut |_| Flow::Continue)?;
        // Everything is read once beforehand, in case a hypervisor caches data that has been read.
        armed.run(&Workload { read_percent: 100, ..fill }, &mut |_| Flow::Continue)?;
        self.armed = Some(armed);
        Ok(self)
    }

    /// Reopens the target with another engine.
    pub fn by(&mut self, engine: Engine) -> anyhow::Result<&mut Self> {
        // The target is closed first, because it can be opened only once.
        self.armed = None;
        let options = OpenOptions { engine, ..placed() };
        let drive = device::open(&self.path, &options)?;
        let identity = drive.facts().identity.clone();
        self.armed = Some(drive.arm(Some(&identity))?);
        Ok(self)
    }

    /// Measures random 4 KiB reads with our engine, and returns the result with the I/O path that was used.
    pub fn measure(&mut self, depth: u16) -> anyhow::Result<(Sample, String)> {
        let armed = self.armed.as_mut().context("the target is not open")?;
        let before = time_of_all("self")?;
        let (sample, engine) = sample_of(armed.run(&reads(depth), &mut |_| Flow::Continue)?)?;
        let ios = sample.iops * RUN_NS as f64 / 1e9;
        Ok((Sample { all_ns: Some((time_of_all("self")? - before) / ios), ..sample }, engine))
    }

    /// Writes stamps to all blocks.
    pub fn stamp(&mut self) -> anyhow::Result<()> {
        self.with_checks(filling(4096, STAMPED)).map(drop)
    }

    /// Measures random 4 KiB reads at depth 1 with verified stamps.
    pub fn checked(&mut self) -> anyhow::Result<Sample> {
        sample_of(self.with_checks(Workload { regime: STAMPED, ..reads(1) })?).map(|(sample, _)| sample)
    }

    fn with_checks(&mut self, workload: Workload) -> anyhow::Result<LoadOutcome> {
        let armed = self.armed.as_mut().context("the target is not open")?;
        let answers =
            armed.run_concurrently(&[workload], &[StreamOptions::default()], &mut |_, _| Flow::Continue)?;
        let answer = answers.into_iter().next().context("the workload has no answer")?;
        let report = answer.verified.context("the load with checks has no report")?;
        anyhow::ensure!(report.wrong() == 0, "{report:?}");
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

/// Resets the zram device, with retries: in the kernel, the ring of a process that has just ended may still
/// hold the device.
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

/// Returns options that place the load on the same CPU as the other tools.
fn placed() -> OpenOptions {
    let placement = Some(Placement::CpusAllowed(super::rivals::processor().to_string()));
    OpenOptions { placement, ..OpenOptions::default() }
}

const STAMPED: Regime = Regime::VERIFIED;

/// Returns a workload that writes the whole target once.
fn filling(block_bytes: u32, regime: Regime) -> Workload {
    let until = Until::AmountBytes(BYTES);
    Workload { access: Access::Sequential, read_percent: 0, block_bytes, until, regime, ..reads(8) }
}

/// Returns the figures of a load, and the I/O path that it used.
fn sample_of(outcome: LoadOutcome) -> anyhow::Result<(Sample, String)> {
    let LoadOutcome::Finished(segment) = outcome else { bail!("the load was stopped") };
    let effort = segment.host.as_ref().context("the CPU time is unknown")?.effort;
    let ios = segment.read.ios.max(1) as f64;
    let sample = Sample {
        cpu_ns: effort.cpu_ns() as f64 / ios,
        user_ns: effort.user_ns as f64 / ios,
        iops: segment.iops(),
        all_ns: None,
    };
    Ok((sample, segment.io_path.to_string()))
}

/// Returns a workload of random 4 KiB reads for one second.
pub fn reads(queue_depth: u16) -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 100,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth,
        range: Range::first(BYTES),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(RUN_NS),
        seed: 1,
        regime: Regime::default(),
        commands: None,
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
