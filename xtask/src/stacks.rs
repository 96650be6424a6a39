//! `cargo xtask stacks`: builds many random stacks of devices, files, mounts and locks
//! (`crates/device/tests/stacks.rs`).
//!
//! On the host, this command needs root and loop devices; `--in-vm` boots the virtual machine of `vm-test`,
//! whose kernel also has device mapper and md. Layers and outcomes are counted; in the machine, a run of at
//! least [`SENSIBLE`] stacks fails if any required kind of layer was never built.

mod counts;
mod drawn;
mod machine;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};

use crate::chore::{Chore, PROFILE, built, cargo, checking};
use counts::Counts;
use drawn::Drawn;

/// Number of stacks after which every kind of layer has occurred many times.
const SENSIBLE: u64 = 1000;

/// Build random stacks of devices, files, mounts and locks, and check that nothing in use is written to
#[derive(clap::Args)]
pub struct Stacks {
    #[command(flatten)]
    drawn: Drawn,
    /// Build the stacks in the virtual machine of vm-test, which also has device mapper and md
    #[arg(long)]
    in_vm: bool,
    /// Boot the kernel in this Debian package (the .deb file of linux-image-VERSION-amd64)
    #[arg(long, value_name = "PACKAGE", requires = "in_vm")]
    kernel: Vec<PathBuf>,
}

impl Chore for Stacks {
    /// Fails if any stack fails.
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let program = build(root, self.in_vm)?;
        let begun = Instant::now();
        let (counts, failed) = if self.in_vm {
            machine::run(root, &program, &self.drawn, &self.kernel)?
        } else {
            on_this_host(&program, &self.drawn)?
        };
        counts.print();
        println!("{} stacks in {:.0} s", counts.stacks() + failed, begun.elapsed().as_secs_f64());
        if failed > 0 {
            let place = if self.in_vm { " --in-vm" } else { "" };
            bail!("{failed} stacks failed; to repeat one of them, use --count 1 --seed SEED{place}");
        }
        if self.in_vm && self.drawn.count >= SENSIBLE { counts.all_kinds() } else { Ok(()) }
    }
}

fn on_this_host(program: &Path, drawn: &Drawn) -> anyhow::Result<(Counts, u64)> {
    let folder = tempfile::tempdir()?;
    let shares = drawn.shares();
    let started = shares.iter().enumerate().map(|(job, &(seed, count))| {
        let file = folder.path().join(job.to_string());
        Ok((start(program, seed, count, &file)?, file, count))
    });
    let started: Vec<(Child, PathBuf, u64)> = started.collect::<anyhow::Result<_>>()?;
    let (mut all, mut failed) = (Counts::default(), 0);
    for (child, file, count) in started {
        let output = child.wait_with_output()?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        // A process that could not start reports the reason on standard error, and writes no counts.
        let counts = std::fs::read(&file)
            .map(|json| Counts::parse(&json))
            .unwrap_or_else(|_| Ok(Counts::default()))?;
        if !output.status.success() {
            failed += count.saturating_sub(counts.stacks()).max(1);
        }
        all.add(counts);
    }
    Ok((all, failed))
}

fn start(program: &Path, seed: u64, count: u64, counts: &Path) -> anyhow::Result<Child> {
    Command::new(program)
        .env("PLATEAU_STACKS_SEED", seed.to_string())
        .env("PLATEAU_STACKS_COUNT", count.to_string())
        .env("PLATEAU_STACKS_COUNTS", counts)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| program.display().to_string())
}

/// Builds the test, optimised if it runs in the virtual machine, whose emulated CPU is slow.
fn build(root: &Path, is_optimised: bool) -> anyhow::Result<PathBuf> {
    let (mut command, profile) =
        if is_optimised { (cargo(), "--release") } else { (checking(root), PROFILE) };
    command.args(["test", profile, "--package", "device", "--test", "stacks", "--no-run"]).current_dir(root);
    built(command, "stacks", true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chore::parsed;

    #[test]
    fn wrong_arguments_are_refused() {
        for wrong in [&["--count"][..], &["--fast"], &["--jobs", "0"], &["--kernel", "linux.deb"]] {
            assert!(parsed::<Stacks>(wrong).is_err(), "{wrong:?}");
        }
        let right = parsed::<Stacks>(&["--count", "5", "--in-vm"]).unwrap();
        assert!(right.drawn.count == 5 && right.in_vm);
    }
}
