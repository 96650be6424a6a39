//! `cargo xtask kills`: sends signals to real runs at chosen system calls, then resumes the runs. It also kills the
//! commands that archive and unarchive a run.
//!
//! After each interruption, the journal must contain everything that was displayed, and the run must be intact. After
//! the resumed run has completed, `verify` must pass, the results must equal the results of an undisturbed run or
//! record the gap, and no setting may remain changed. Trials are distributed evenly over the system calls that a run
//! makes.

mod archiving;
mod judge;
mod power;
mod stage;
mod tracer;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::chore::Chore;
pub use power::Inside as PowerInside;
use stage::{Device, Kind};
use trial::Trials;

/// Filter that selects power cuts, which require the virtual machine.
const POWER: &str = "power";
const TIMES: u64 = 1_000;
const TIMES_POWER: u64 = 50;
/// Number of trials in `ci`, enough to cover each kind of interruption.
const TIMES_CI: u64 = 12;

/// Kill real runs at chosen system calls, then resume them; or cut the power to the library's disk
///
/// With the `power` filter, the power is cut in the VM of vm-test, for each combination of two file systems and
/// two targets.
#[derive(Default, clap::Args)]
pub struct Kills {
    /// Kills per target [default: 1000, or 50 power cuts]
    #[arg(long, value_name = "N")]
    times: Option<u64>,
    /// Seed for the trials
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// A plateau binary to test instead of building one
    #[arg(long, value_name = "PROGRAM")]
    binary: Option<PathBuf>,
    /// Run the part for `cargo xtask ci`, with the binary built for its tests
    #[arg(long)]
    ci: bool,
    /// `simulated`, `loop` or `archive`, or a part of these names; or `power`
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,
}

impl Chore for Kills {
    /// Fails if any trial found a fault.
    fn run(self, root: &Path) -> anyhow::Result<()> {
        match perform(root, &self)? {
            Some(reason) => bail!("not everything was tested: {reason}"),
            None => Ok(()),
        }
    }
}

/// Runs the part for `cargo xtask ci`; returns the reason if nothing was tested.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    perform(root, &Kills { seed: 1, ci: true, ..Kills::default() })
}

fn perform(root: &Path, options: &Kills) -> anyhow::Result<Option<String>> {
    let binary = match &options.binary {
        Some(path) => std::fs::canonicalize(path)?,
        None => crate::chore::plateau_program(root, options.ci)?,
    };
    if options.filter == POWER {
        let times = options.times.unwrap_or(TIMES_POWER);
        let faults = power::run(root, &binary, times, options.seed)?;
        return if faults == 0 {
            Ok(None)
        } else {
            bail!("faults with {faults} combinations of file system and target")
        };
    }
    let folder = root.join("target/kills");
    std::fs::create_dir_all(&folder)?;
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| kind.name().contains(&options.filter)).collect();
    let with_archives = archiving::NAME.contains(&options.filter);
    if kinds.is_empty() && !with_archives {
        bail!("no target matches '{}'; available: simulated, loop, archive, power", options.filter);
    }
    let requested = kinds.len();
    let (mut faults, mut skipped) = (0, Vec::new());
    let times = |kind: Option<Kind>| match options.times.unwrap_or(if options.ci { TIMES_CI } else { TIMES })
    {
        // There are fewer trials on a loop device, which runs in real time.
        times if options.ci && kind == Some(Kind::Loop) => times / 2,
        times => times,
    };
    if with_archives {
        let place = tempfile::Builder::new().prefix(archiving::NAME).tempdir_in(&folder)?;
        faults += archiving::run(&binary, place.path(), times(None))?;
    }
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
        let found = trials.run(times(Some(kind)), options.seed)?;
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

/// Returns the reason if the trials count as skipped. In `ci`, one target is sufficient (the simulated one
/// does not need root); otherwise, every requested target must be tested.
fn without(skipped: &[&str], requested: usize, ci: bool) -> Option<String> {
    let is_enough = skipped.is_empty() || ci && skipped.len() < requested;
    (!is_enough)
        .then(|| format!("skipped {}, which needs root and a free loop device", skipped.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untested_request_is_a_failure_except_in_ci() {
        assert_eq!(without(&[], 2, false), None);
        assert_eq!(without(&["loop"], 2, true), None);
        for (requested, ci) in [(1, false), (1, true), (2, false)] {
            let reason = without(&["loop"], requested, ci).expect("a reason");
            assert!(reason.contains("skipped loop"), "{reason}");
        }
    }
}
