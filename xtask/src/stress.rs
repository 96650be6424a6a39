//! `cargo xtask stress [FILTER]... [--times N] [--alone]`: runs test binaries repeatedly, each concurrently with a copy
//! of itself, to find tests that fail at random. Output of failed runs is kept in `target/stress`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::chore::Chore;
use crate::test::ALONE;
use crate::test_binaries;

/// Every test binary that uses devices, signals or time, cheapest first.
const SUBJECTS: &str = "\
    device/refusals device/targets_in_use device/shared_bytes device/hidden_users device/signatures \
    plateau/hardware_raid plateau/power plateau/jobs plateau/slurm device/unit engine/unit plateau/unit \
    device/polling device/read_only_open engine/fallback engine/choice device/blocking_targets \
    engine/conformance engine/allocations device/verify device/open_loop device/system_calls device/load \
    device/trims device/released device/failing_device engine/seccomp_fallback engine/syncs live/live \
    transfer/faults fleet/campaign fleet/prolog device/known_latency device/simulated \
    plateau/device_side plateau/interrupted plateau/side_by_side plateau/host_checks plateau/signals \
    plateau/load plateau/devices plateau/browser plateau/serve plateau/shared_store plateau/forwarded \
    plateau/tls plateau/notified plateau/published plateau/copied plateau/burn_in plateau/file_systems \
    plateau/client_write store/postgresql plateau/units plateau/monitoring plateau/lab plateau/outcomes \
    plateau/watched plateau/witnessed";

const FOLDER: &str = "target/stress";
/// Timeout for a test binary.
const LONGEST: Duration = Duration::from_secs(20 * 60);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Prefix of the line that a skipped test prints.
const SKIP: &str = "skipped: ";

/// Repeatedly run the tests that use devices, signals or time, each alongside a copy of itself
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Stress {
    /// Run only test binaries whose name contains one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Number of runs of each binary
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// Do not run a copy at the same time
    #[arg(long)]
    alone: bool,
}

/// Results of all runs of a binary.
struct Tally {
    name: String,
    runs: u32,
    failures: Vec<Failure>,
    /// Maximum number of tests skipped in a run.
    skipped: usize,
    took: Duration,
}

/// A failed run.
struct Failure {
    how: String,
    output: PathBuf,
}

impl Chore for Stress {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let chosen: Vec<&str> = SUBJECTS.split_whitespace().filter(|label| self.chooses(label)).collect();
        if chosen.is_empty() {
            bail!("no test binary matches; available: {}", SUBJECTS.replace(' ', ", "));
        }
        let folder = root.join(FOLDER);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let built = test_binaries::build(root)?;
        let mut tallies = Vec::new();
        for label in chosen {
            let binary = built.iter().find(|binary| binary.label() == label);
            let binary = binary.with_context(|| format!("cargo did not build {label}"))?;
            let command = || {
                let mut command = Command::new(&binary.executable);
                command.arg("--show-output").current_dir(&binary.home);
                command
            };
            let own = Self { alone: self.alone || ALONE.contains(&label), ..self.clone() };
            let tally = repeat(label, &folder, &own, command)?;
            println!("{}", tally.line());
            tallies.push(tally);
        }
        println!("\n{}", table(&tallies));
        let failed = tallies.iter().filter(|tally| !tally.failures.is_empty()).count();
        if failed == 0 { Ok(()) } else { bail!("{failed} of {} test binaries failed", tallies.len()) }
    }
}

impl Stress {
    fn chooses(&self, label: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| label.contains(filter.as_str()))
    }
}

/// Runs a binary the requested number of times, with or without a concurrent copy.
fn repeat(
    label: &str,
    folder: &Path,
    stress: &Stress,
    command: impl Fn() -> Command,
) -> anyhow::Result<Tally> {
    let copies: &[char] = if stress.alone { &['a'] } else { &['a', 'b'] };
    let begun = Instant::now();
    let mut tally = Tally::of(label);
    for time in 1..=stress.times {
        let mut running = Vec::new();
        for copy in copies {
            let output = folder.join(format!("{}-{time}{copy}.txt", label.replace('/', "-")));
            let file = File::create(&output).with_context(|| output.display().to_string())?;
            let child = command().stdout(file.try_clone()?).stderr(file).spawn();
            running.push((child.with_context(|| format!("cannot run {label}"))?, output));
        }
        let deadline = Instant::now() + LONGEST;
        for (mut child, output) in running {
            let ended = wait(&mut child, deadline)?;
            tally.add(ended, output)?;
        }
    }
    tally.took = begun.elapsed();
    Ok(tally)
}

/// Returns the exit status; `None` if the process was killed at the deadline.
fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

impl Tally {
    fn of(label: &str) -> Self {
        Self { name: label.to_owned(), runs: 0, failures: Vec::new(), skipped: 0, took: Duration::ZERO }
    }

    /// Counts a run, and deletes its output if it passed.
    fn add(&mut self, ended: Option<ExitStatus>, output: PathBuf) -> std::io::Result<()> {
        self.runs += 1;
        let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
        let skipped = text.lines().filter(|line| line.starts_with(SKIP)).count();
        self.skipped = self.skipped.max(skipped);
        let how = match ended {
            Some(status) if status.success() => return fs::remove_file(output),
            Some(_) => failed_tests(&text),
            None => format!("hung for {} min", LONGEST.as_secs() / 60),
        };
        self.failures.push(Failure { how, output });
        Ok(())
    }

    /// Returns a line for the table.
    fn line(&self) -> String {
        let seconds = self.took.as_secs_f64();
        format!("{:24} {:5} {:9} {:8} {seconds:9.1}", self.name, self.runs, self.failures.len(), self.skipped)
    }
}

/// Returns the failed tests listed by the harness, or the last line of output if there are none.
fn failed_tests(text: &str) -> String {
    let listed = text.rsplit_once("\nfailures:\n").map_or("", |(_, rest)| rest);
    let names: Vec<&str> =
        listed.lines().take_while(|line| line.starts_with("    ")).map(str::trim).collect();
    if names.is_empty() { text.lines().last().unwrap_or_default().to_owned() } else { names.join(", ") }
}

/// Returns the final table.
fn table(tallies: &[Tally]) -> String {
    let mut lines =
        vec![format!("{:24} {:>5} {:>9} {:>8} {:>9}", "binary", "runs", "failures", "skipped", "seconds")];
    for tally in tallies {
        lines.push(tally.line());
        let failures = tally.failures.iter();
        lines.extend(failures.map(|failure| format!("  {}: {}", failure.output.display(), failure.how)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chore::parsed;

    #[test]
    fn filters_choose_binaries_by_a_part_of_their_name() {
        let labels = |words: &[&str]| {
            let stress: Stress = parsed(words).unwrap();
            SUBJECTS.split_whitespace().filter(|label| stress.chooses(label)).collect::<Vec<_>>()
        };
        assert_eq!(labels(&["refusals"]), ["device/refusals"]);
        assert_eq!(
            labels(&["raid", "unit"]),
            ["plateau/hardware_raid", "device/unit", "engine/unit", "plateau/unit", "plateau/units"]
        );
        assert_eq!(labels(&[]).len(), SUBJECTS.split_whitespace().count());
        assert_eq!(
            parsed::<Stress>(&["--times", "7", "--alone"]).unwrap(),
            Stress { filters: vec![], times: 7, alone: true }
        );
        for wrong in [&["--times"][..], &["--times", "0"], &["--often"]] {
            assert!(parsed::<Stress>(wrong).is_err(), "{wrong:?}");
        }
        assert!(parsed::<Stress>(&["no-such-binary"]).unwrap().run(Path::new(".")).is_err());
    }

    #[test]
    fn every_binary_is_there() {
        for label in SUBJECTS.split_whitespace().chain(crate::test::SLOWEST.iter().copied()) {
            let (package, name) = label.split_once('/').unwrap();
            let file = match name {
                "unit" => format!("crates/{package}/src/lib.rs"),
                name => format!("crates/{package}/tests/{name}.rs"),
            };
            assert!(crate::root().join(&file).is_file(), "{file}");
        }
    }

    /// The command represents a test binary whose second copy fails in the second round.
    #[test]
    fn failures_are_counted_and_their_output_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let script = "n=$(ls | wc -l); touch $$; echo 'skipped: no device'; [ $n != 3 ] || { \
                      printf '\nfailures:\n    one\n    two\n\nthe end\n'; exit 1; }";
        let home = tempfile::tempdir().unwrap();
        let command = || {
            let mut command = Command::new("flock");
            command.args([".", "sh", "-c", script]).current_dir(home.path());
            command
        };
        let tally = repeat("a/b", folder.path(), &parsed(&["--times", "3"]).unwrap(), command).unwrap();
        assert_eq!((tally.runs, tally.failures.len(), tally.skipped), (6, 1, 1));
        assert_eq!(tally.failures[0].how, "one, two");
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(left.collect::<Vec<_>>(), [tally.failures[0].output.clone()]);
        assert!(table(&[tally]).contains(".txt: one, two"));
    }

    #[test]
    fn hanging_binaries_are_killed() {
        let mut child = Command::new("sleep").arg("3600").spawn().unwrap();
        assert_eq!(wait(&mut child, Instant::now()).unwrap(), None);
    }
}
