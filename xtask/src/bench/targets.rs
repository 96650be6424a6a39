//! What the benchmark reads: a RAM disk and a file, both made and filled here, and removed afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use drive::{Armed, Engine, Flow, OpenOptions, Outcome};
use record::{Access, DataPattern, Range, Regime, Until, Workload};

use super::rivals::Sample;

const BYTES: u64 = 256 << 20;
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
        Self { path: made, armed: None, made: Made::Zram }.filled(&OpenOptions::default())
    }

    /// A new file in `folder`.
    pub fn file(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(format!("engine-{}.data", std::process::id()));
        let text = path.to_str().context("a path that is no text")?.to_owned();
        let options = OpenOptions { size_bytes: Some(BYTES), ..OpenOptions::default() };
        Self { path: text, armed: None, made: Made::File(path) }.filled(&options)
    }

    fn filled(mut self, options: &OpenOptions) -> anyhow::Result<Self> {
        let drive = drive::open(&self.path, options)?;
        let identity = drive.facts().identity.clone();
        let mut armed = drive.arm(Some(&identity))?;
        let fill = Workload {
            access: Access::Sequential,
            read_percent: 0,
            block_bytes: 128 << 10,
            until: Until::AmountBytes(BYTES),
            ..reads(8)
        };
        armed.run(&fill, &mut |_| Flow::Continue)?;
        self.armed = Some(armed);
        Ok(self)
    }

    /// The same target, driven by this engine from here on.
    pub fn by(&mut self, engine: Engine) -> anyhow::Result<&mut Self> {
        // It is held by one only.
        self.armed = None;
        let options = OpenOptions { engine, ..OpenOptions::default() };
        let drive = drive::open(&self.path, &options)?;
        let identity = drive.facts().identity.clone();
        self.armed = Some(drive.arm(Some(&identity))?);
        Ok(self)
    }

    /// Random reads of 4 KiB by our engine, and how it drove them.
    pub fn measure(&mut self, depth: u16) -> anyhow::Result<(Sample, String)> {
        let armed = self.armed.as_mut().context("a target that was let go")?;
        let Outcome::Finished(segment) = armed.run(&reads(depth), &mut |_| Flow::Continue)? else {
            bail!("nobody stopped it");
        };
        let effort = armed.effort().context("no effort is known of helping threads")?;
        let ios = segment.read.ios.max(1) as f64;
        let sample = Sample {
            cpu_ns: effort.cpu_ns() as f64 / ios,
            user_ns: effort.user_ns as f64 / ios,
            iops: segment.iops(),
        };
        Ok((sample, segment.engine))
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
