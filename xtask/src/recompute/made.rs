//! The runs that are recomputed: one of each kind, small and simulated.

use std::collections::VecDeque;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, bail};
use pts::Profile;

/// The simulated drive of most runs.
const DRIVE: &str = "sim:sas-slc-2011";
const SCALE: &str = "1/1024";
/// Names of the runs that the self-test alters: a small run with maxima, and a run with a power source.
const ALTERED: [&str; 2] = ["altered", "metered"];
/// Exit code of a burn-in that rejects the drive.
const REJECTED: i32 = 9;
/// Exit code of a run whose drive failed.
const DEVICE_FAILED: i32 = 5;

/// The runs in a library.
pub struct Made {
    /// Directory of every run.
    pub all: Vec<PathBuf>,
    /// Directory of each run to alter.
    pub altered: Vec<PathBuf>,
}

/// The commands of one run, in order, each with its expected exit code.
struct Job {
    name: String,
    steps: Vec<(i32, Vec<String>)>,
}

impl Job {
    /// A run that completes.
    fn run(name: &str, arguments: &[&str]) -> Self {
        let words = [&["run"], arguments, &["--name", name]].concat();
        Self { name: name.into(), steps: vec![(0, strings(&words))] }
    }

    /// A run that is resumed with these options after its drive has failed.
    fn interrupted(name: &str, arguments: &[&str], fault: &str, resume: &[&str]) -> Self {
        let faulty = [arguments, &["--scale", SCALE, "--sim-fault", fault]].concat();
        let mut job = Self::run(name, &faulty);
        job.steps[0].0 = DEVICE_FAILED;
        job.then([&["resume", name], resume].concat())
    }

    fn then(mut self, words: Vec<&str>) -> Self {
        self.steps.push((0, strings(&words)));
        self
    }

    fn execute(&self, binary: &Path, library: &Path) -> anyhow::Result<()> {
        let begun = Instant::now();
        for (code, words) in &self.steps {
            let mut command = Command::new(binary);
            command.arg("--quiet").arg("--library").arg(library).args(words).current_dir(library);
            let output = command.output().context("cannot start plateau")?;
            if output.status.code() != Some(*code) {
                let message = String::from_utf8_lossy(&output.stderr);
                bail!("`plateau {}` ended with {}: {message}", words.join(" "), output.status);
            }
        }
        println!("made {} in {:.1} s", self.name, begun.elapsed().as_secs_f64());
        Ok(())
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// Creates the runs under `place`, `lanes` at a time.
///
/// # Errors
/// Returns an error if a command does not end with the expected exit code.
pub fn runs(binary: &Path, place: &Path, lanes: usize) -> anyhow::Result<Made> {
    let library = place.join("runs");
    std::fs::create_dir_all(&library)?;
    std::fs::write(place.join("small.toml"), small_drive(binary)?)?;
    std::fs::write(place.join("key.pem"), KEY)?;
    std::fs::write(place.join("custom.toml"), CUSTOM)?;
    let meter = place.join("meter");
    std::fs::write(&meter, METER)?;
    std::fs::set_permissions(&meter, Permissions::from_mode(0o755))?;
    let source = format!("command:{}", meter.display());
    let mut jobs = jobs();
    jobs.push(metered(&source));
    let queue = Mutex::new(VecDeque::from(jobs));
    let lane = || -> anyhow::Result<()> {
        loop {
            let Some(job) = queue.lock().expect("no lane panics").pop_front() else { return Ok(()) };
            job.execute(binary, &library)?;
        }
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        started.into_iter().try_for_each(|lane| lane.join().expect("no lane panics"))
    })?;
    let altered = ALTERED.iter().map(|name| Ok(library.join(id_of(binary, &library, name)?)));
    Ok(Made { altered: altered.collect::<anyhow::Result<_>>()?, all: directories(&library)? })
}

/// Returns all runs, the longest first.
fn jobs() -> Vec<Job> {
    let mut jobs: Vec<Job> = pts::PROFILES
        .iter()
        .rev()
        .map(|profile: &Profile| {
            Job::run(profile.name, &["all", DRIVE, "--scale", SCALE, "--profile", profile.name])
        })
        .collect();
    jobs.push(Job::run("zones", &["hdd-tp,hdd-iops", "sim:../small.toml", "--cell-seconds", "0.02"]));
    // `tssdr` has 25 rounds at 256 outstanding I/Os, which take minutes; `custom` has a similar test.
    for name in
        ["quick", "map", "tkperf", "anandtech-qd", "anandtech-qd-random", "anandtech-qd-mixed", "ezfio"]
    {
        jobs.push(Job::run(name, &[name, DRIVE, "--scale", SCALE]));
    }
    jobs.push(Job::run("custom", &["--plan", "../custom.toml", "sim:../small.toml"]));
    let cached = ["client-write", "sim:nvme-tlc-2018", "--scale", "1/256"];
    jobs.push(Job::run("cached", &cached));
    jobs.push(Job::run("uncached", &["client-write", DRIVE, "--scale", "1/256", "--tc", "2", "--qd", "4"]));
    let small = ["tp,lat", "sim:../small.toml", "--cell-seconds", "0.1"];
    jobs.push(Job::run(ALTERED[0], &small));
    jobs.push(Job::run("signed", &small).then(vec!["report", "signed", "--sign", "../key.pem"]));
    // Segments that end within a sector at this scale, another demand, and no steady state in five rounds.
    let amount = ["--ar-amount", "16GiB", "--tc", "3", "--qd", "8", "--max-rounds", "5", "--seed", "7"];
    let large = ["tp,lat,xsr,iops", "sim:nvme-tlc-2018", "--scale", "1/1000", "--profile", "pts-c-2.0"];
    jobs.push(Job::run("amount", &[&large[..], &amount].concat()));
    // This run reaches steady state, because its few writes at this scale take longer than five samples.
    let slow = ["wsat", "sim:sata-mlc-hybrid-2011", "--scale", "1/256", "--tc", "1", "--qd", "4"];
    jobs.push(Job::run("saturated", &slow));
    // Interruptions in the third round, in a timeline that starts again, and in one that continues.
    jobs.push(Job::interrupted("interrupted", &["iops", DRIVE], "removal:after=60h", &[]));
    jobs.push(Job::interrupted("power", &["lat", DRIVE], "power:after=40min", &[]));
    let oldest = ["wsat", DRIVE, "--profile", "pts-e-1.0"];
    jobs.push(Job::interrupted("restarted", &oldest, "removal:after=22min", &[]));
    jobs.push(Job::interrupted("continued", &oldest, "removal:after=22min", &["--continue-timeline"]));
    jobs.extend(verified());
    let idle = ["client-write", "sim:nvme-tlc-2018"];
    jobs.push(Job::interrupted("cached-again", &idle, "removal:after=10min", &[]));
    jobs.push(Job { name: "imported".into(), steps: vec![(0, strings(&["examples", "--install"]))] });
    jobs
}

/// A run on a file, because a simulated drive draws no power.
fn metered(source: &str) -> Job {
    let short = ["--size", "32MiB", "--cell-seconds", "0.05", "--max-rounds", "5"];
    let power = ["--power", source, "--power-idle", "1"];
    Job::run(ALTERED[1], &[&["lat", "../metered.img"], &short[..], &power].concat())
}

/// Burn-ins that accept their drive, and some that reject it.
fn verified() -> Vec<Job> {
    let mut jobs = Vec::new();
    let small_burn = ["burn-in", DRIVE, "--burn-in-hours", "1", "--scale", "1/256"];
    jobs.push(Job::run("burned-in", &small_burn));
    let jesd =
        ["burn-in,jesd219", DRIVE, "--burn-in-hours", "1", "--burn-in-load", "jesd219", "--scale", "1/256"];
    jobs.push(Job::run("enterprise", &jesd));
    for (name, fault) in [
        ("flipped", "flip:at=30%,after=15min"),
        ("lost", "lost-writes:at=30%"),
        ("bad", "media:at=30%,on=reads"),
    ] {
        let mut job = Job::run(name, &[&small_burn[..], &["--sim-fault", fault]].concat());
        job.steps[0].0 = REJECTED;
        jobs.push(job);
    }
    jobs
}

/// Returns a drive that is small enough to be simulated at its full size.
fn small_drive(binary: &Path) -> anyhow::Result<String> {
    let words = ["sim", "show", "sas-slc-2011", "--toml"];
    let output = Command::new(binary).args(words).output().context("cannot start plateau")?;
    let smaller = [
        ("capacity_bytes", "134217728"),
        ("superblocks", "128"),
        ("program_unit_bytes", "8192"),
        ("write_buffer_bytes", "1048576"),
    ];
    let line = |line: &str| {
        let key = line.split(" = ").next().unwrap_or_default();
        let value = smaller.iter().find(|(name, _)| *name == key);
        value.map_or_else(|| line.to_owned(), |(name, value)| format!("{name} = {value}"))
    };
    Ok(String::from_utf8(output.stdout)?.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// Returns the id of the run with this name.
fn id_of(binary: &Path, library: &Path, name: &str) -> anyhow::Result<String> {
    let mut command = Command::new(binary);
    let output = command.arg("--library").arg(library).args(["show", name, "--json"]).output()?;
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).context("plateau show")?;
    Ok(shown["run"].as_str().context("plateau show does not name a run")?.to_owned())
}

/// Returns the directory of every run, sorted.
fn directories(library: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(library)? {
        let path = entry?.path();
        if path.join("journal").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A program that acts as a meter with varying values.
const METER: &str = include_str!("../../recompute/meter.sh");
/// A private key that is used only for these runs: the byte 7 repeated 32 times, as PKCS #8.
const KEY: &str = include_str!("../../recompute/key.pem");
/// A plan of custom tests.
const CUSTOM: &str = include_str!("../../recompute/custom.toml");
