//! Random stacks of files, loop devices, partitions, device mapper, md, links, mounts, swap, locks and open writers.
//! They are generated from a seed and built on real devices that are backed by the test's own files. If the target of a
//! stack is in use, it must be refused and every byte must stay the same; if it is free, it must be accepted and
//! writable. The expected outcome is derived from the plan (`stacks/plan.rs`), not by inspection.
//!
//! `PLATEAU_STACKS_COUNT` and `PLATEAU_STACKS_SEED` set the number of stacks and the first seed; a failure is
//! printed with its seed. The numbers of layers and outcomes are printed on standard output or written as JSON
//! to the file named by `PLATEAU_STACKS_COUNTS`. `cargo xtask stacks` runs many stacks. The test needs root;
//! everything happens in a private mount namespace.

#[path = "stacks/build.rs"]
mod build;
#[path = "stacks/counts.rs"]
mod counts;
#[path = "stacks/holder.rs"]
mod holder;
#[path = "stacks/kernel.rs"]
mod kernel;
#[path = "stacks/mapper.rs"]
mod mapper;
#[path = "stacks/plan.rs"]
mod plan;
mod support;

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use device::{DriveError, OpenOptions, Refusal};
use record::Until;

use build::{Stack, Templates};
use counts::{Counts, StackOutcome};
use plan::{Kernel, StackPlan};

/// Number of stacks in `ci`, which takes a few seconds.
const DEFAULT_COUNT: u64 = 40;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "hold") {
        return holder::run(&arguments[1..]);
    }
    // Programs that list tests pass these arguments.
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    match prepared() {
        Ok((place, templates)) => judged(&place, &templates),
        Err(error) => {
            skips::skip!("stacks need root and loop devices: {error}");
            ExitCode::SUCCESS
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Sets up a tmpfs in a private mount namespace, and the file system templates.
fn prepared() -> io::Result<(tempfile::TempDir, Templates)> {
    File::options().read(true).write(true).open("/dev/loop-control")?;
    kernel::own_namespace()?;
    let place = tempfile::tempdir()?;
    kernel::mount(Path::new("stacks"), place.path(), "tmpfs", 0, "")?;
    let given = std::env::var_os("PLATEAU_STACKS_TEMPLATES").map(PathBuf::from);
    let template = |name: &str, mib: u64| {
        let path = given.as_ref().unwrap_or(&place.path().to_owned()).join(name);
        let made =
            path.exists() || make_template(&path, mib).map_err(|reason| support::skip(&reason)).is_ok();
        made.then_some(path)
    };
    let (small, large) = (template("small", 16), template("large", 56));
    let erofs = place.path().join("erofs");
    let erofs =
        make_erofs(place.path(), &erofs).map_err(|reason| support::skip(&reason)).is_ok().then_some(erofs);
    Ok((place, Templates { small, large, erofs }))
}

fn make_erofs(place: &Path, image: &Path) -> Result<(), String> {
    let tree = place.join("tree");
    std::fs::create_dir(&tree)
        .and_then(|()| std::fs::write(tree.join("file"), [7; 4096]))
        .map_err(|error| error.to_string())?;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    support::command("mkfs.erofs", &[&path(image), &path(&tree)]).map(drop)
}

fn make_template(path: &Path, mib: u64) -> Result<(), String> {
    File::create(path).and_then(|file| file.set_len(mib * plan::MIB)).map_err(|error| error.to_string())?;
    let path = path.to_str().ok_or("a path that is not UTF-8")?;
    let options = ["-q", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard", "-m", "0", path];
    support::command("mkfs.ext4", &options).map(drop)
}

fn judged(place: &tempfile::TempDir, templates: &Templates) -> ExitCode {
    let (count, first) = (number("PLATEAU_STACKS_COUNT", DEFAULT_COUNT), number("PLATEAU_STACKS_SEED", 1));
    let kernel = mapper::kernel();
    let (begun, mut counts, mut failed) = (Instant::now(), Counts::default(), 0);
    for seed in first..first + count {
        let folder = place.path().join(seed.to_string());
        let tried = catch_unwind(AssertUnwindSafe(|| attempt(seed, kernel, &folder, templates, &mut counts)));
        match tried.unwrap_or_else(|_| Err("it panicked".into())) {
            Ok(outcome) => counts.add(outcome),
            Err(problem) => {
                failed += 1;
                println!("seed {seed}: {problem}");
            }
        }
    }
    if let Err(error) = kernel::unmount(place.path()) {
        eprintln!("{}: {error}", place.path().display());
    }
    if let Err(error) = counts.report(std::env::var_os("PLATEAU_STACKS_COUNTS").map(PathBuf::from).as_deref())
    {
        eprintln!("what was counted cannot be written: {error}");
        return ExitCode::FAILURE;
    }
    println!("{count} stacks from seed {first} in {:.0} s", begun.elapsed().as_secs_f64());
    println!("{} passed, {failed} failed", count - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Builds the stack for a seed and tries to arm its target. The error describes the failure and the stack.
fn attempt(
    seed: u64,
    kernel: Kernel,
    folder: &Path,
    templates: &Templates,
    counts: &mut Counts,
) -> Result<StackOutcome, String> {
    let plan = StackPlan::of_seed(seed, kernel);
    let failed = |error: io::Error| format!("{error}");
    let mut stack = Stack::build(&plan, folder, templates, seed).map_err(failed)?;
    counts.built(&plan, &stack);
    if !stack.made()[plan.target] {
        return Ok(StackOutcome::NotBuilt);
    }
    let path = stack.named(plan.target, plan.name).map_err(failed)?;
    let before = stack.snapshot().map_err(failed)?;
    let expected = plan.verdict(&stack.made(), &stack.used);
    let taken = take(&path.to_string_lossy(), expected.is_none());
    let after = stack.snapshot().map_err(failed)?;
    let shown = |problem: String| {
        let uses: Vec<_> = plan.uses.iter().zip(&stack.used).collect();
        let nodes: Vec<_> = plan.nodes.iter().zip(stack.made()).enumerate().collect();
        format!(
            "{problem}\n  target {} as {:?} ({})\n  nodes {nodes:?}\n  uses {uses:?}",
            plan.target,
            plan.name,
            path.display()
        )
    };
    let mut may_change = stack.changing();
    let written = plan.reach(plan.target);
    let outcome = match (&taken, &expected) {
        (Ok(()), Some(why)) => return Err(shown(format!("ACCEPTED although {why:?}"))),
        (Ok(()), None) => {
            if !before.differs_within(&after, &written) {
                return Err(shown("accepted, and nothing was written".into()));
            }
            may_change.extend(written);
            StackOutcome::Accepted
        }
        // A signature can be wiped at any time, so a refusal that names only a signature is not enough: it
        // must name the actual user. Exclusive claims are an exception, because they are checked
        // only if there is no other reason not to write.
        (Err(error), Some(why)) if is_signature(error) && !why.is_claim() => {
            return Err(shown(format!("refused for a signature alone, although {why:?}: {error}")));
        }
        (Err(_), Some(why)) => StackOutcome::Refused(*why),
        (Err(error), None) if is_signature(error) && plan.may_carry_signature(&stack.formatted) => {
            StackOutcome::RefusedForSignature
        }
        (Err(error), None) => return Err(shown(format!("refused although it is free: {error}"))),
    };
    match before.difference(&after, &may_change) {
        None => Ok(outcome),
        Some((file, at)) => Err(shown(format!("byte {at} and on of file {file} CHANGED"))),
    }
}

/// Arms the target with its own identity; writes to it only if it is expected to be free.
fn take(path: &str, is_free: bool) -> Result<(), DriveError> {
    let drive = device::open(path, &OpenOptions::default())?;
    let identity = drive.facts().identity.clone();
    let mut armed = drive.arm(Some(&identity))?;
    if is_free {
        let mut workload = support::workload(armed.facts().capacity_bytes / plan::MIB * plan::MIB);
        workload.until = Until::AmountBytes(32 * 4096);
        support::finish(&mut armed, &workload);
    }
    Ok(())
}

fn is_signature(error: &DriveError) -> bool {
    let DriveError::Refused { refusals, .. } = error else { return false };
    refusals.iter().all(|refusal| matches!(refusal, Refusal::Signature { .. }))
}
