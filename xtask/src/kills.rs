//! `cargo xtask kills`: kills, hangs up, stops and interrupts real runs at chosen system calls, then resumes them.
//!
//! After each interruption the journal must hold everything displayed, and the run must be intact. After completion
//! `verify` must pass, the results must equal those of an undisturbed run or state their gap, and no setting may
//! remain changed. Trials are spread evenly over the system calls of a run.

mod judge;
mod power;
mod stage;
mod tracer;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

pub use power::run_inside as run_power_inside;
use stage::{Device, Kind};
use trial::Trials;

const USAGE: &str = "usage: cargo xtask kills [--ci] [--times N] [--seed S] [--binary PROGRAM] \
                     [FILTER]\nFILTER is 'simulated' or 'loop'; N kills on each [default: 1000]\n       \
                     cargo xtask kills power [--times N] [--seed S] [--binary PROGRAM]\ncuts the power below \
                     the library N times for each of two file systems and two targets, in the VM of vm-test \
                     [default: 50]";
/// Filter that selects power cuts, which need the virtual machine.
const POWER: &str = "power";
const TIMES: u64 = 1_000;
const TIMES_POWER: u64 = 50;
/// Enough to cover each kind of interruption.
const TIMES_CI: u64 = 12;

struct Options {
    times: Option<u64>,
    seed: u64,
    binary: Option<PathBuf>,
    filter: String,
    ci: bool,
}

fn parse(arguments: &[String]) -> anyhow::Result<Options> {
    let mut options = Options { times: None, seed: 1, binary: None, filter: String::new(), ci: false };
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--ci" => (options.ci, options.times) = (true, Some(TIMES_CI)),
            "--times" => options.times = Some(words.next().context(USAGE)?.parse().context(USAGE)?),
            "--seed" => options.seed = words.next().context(USAGE)?.parse().context(USAGE)?,
            "--binary" => options.binary = Some(words.next().context(USAGE)?.into()),
            part if !part.starts_with('-') && options.filter.is_empty() => options.filter = part.into(),
            _ => bail!(USAGE),
        }
    }
    Ok(options)
}

/// Runs all trials; fails if one of them found a fault.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    match conducted(root, &parse(arguments)?)? {
        Some(reason) => bail!("not everything was tested: {reason}"),
        None => Ok(()),
    }
}

/// Runs the part for `cargo xtask ci`; returns the reason if nothing was tested.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    conducted(root, &parse(&["--ci".to_owned()])?)
}

fn conducted(root: &Path, options: &Options) -> anyhow::Result<Option<String>> {
    let binary = match &options.binary {
        Some(path) => std::fs::canonicalize(path)?,
        None => crate::vm_test::build(root, options.ci)?,
    };
    if options.filter == POWER {
        let times = options.times.unwrap_or(TIMES_POWER);
        let faults = power::conduct(root, &binary, times, options.seed)?;
        return if faults == 0 { Ok(None) } else { bail!("faults on {faults} of file systems and targets") };
    }
    let folder = root.join("target/kills");
    std::fs::create_dir_all(&folder)?;
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| kind.name().contains(&options.filter)).collect();
    if kinds.is_empty() {
        bail!(USAGE);
    }
    let requested = kinds.len();
    let (mut faults, mut skipped) = (0, Vec::new());
    for kind in kinds {
        let place = tempfile::Builder::new().prefix(kind.name()).tempdir_in(&folder)?;
        let device = match kind {
            Kind::Simulated => None,
            Kind::Loop => match Device::attach(place.path()) {
                Ok(device) => Some(device),
                Err(error) => {
                    println!("{}: skipped: {error:#}", kind.name());
                    skipped.push(kind.name());
                    continue;
                }
            },
        };
        let trials = Trials::prepare(&binary, place.path(), kind, device)?;
        // A loop device runs in real time.
        let times = options.times.unwrap_or(TIMES);
        let times = if options.ci && kind == Kind::Loop { times / 2 } else { times };
        let found = trials.conduct(times, options.seed)?;
        if found > 0 {
            println!("{}: see {}", kind.name(), place.keep().display());
        }
        faults += found;
    }
    if faults > 0 {
        bail!("{faults} faults");
    }
    Ok(without(&skipped, requested, options.ci))
}

/// Returns why the trials count as skipped, if they do. In `ci` it is enough that some target could be created, as
/// the simulated one can without root; elsewhere every requested one has to be tested.
fn without(skipped: &[&str], requested: usize, ci: bool) -> Option<String> {
    let is_enough = skipped.is_empty() || ci && skipped.len() < requested;
    (!is_enough)
        .then(|| format!("skipped {}, which needs root and a free loop device", skipped.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_requested_and_not_tested_is_a_failure_except_in_ci() {
        assert_eq!(without(&[], 2, false), None);
        assert_eq!(without(&["loop"], 2, true), None);
        for (requested, ci) in [(1, false), (1, true), (2, false)] {
            let reason = without(&["loop"], requested, ci).expect("a reason");
            assert!(reason.contains("skipped loop"), "{reason}");
        }
    }
}
