//! Runs random stacks in the virtual machine.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::counts::Counts;
use super::drawn::Drawn;
use vmlab::Lab;

use crate::vm_test;

/// Number of stacks per process and call. A call that takes too long would be reported as a hanging guest.
const EACH: u64 = 20;
/// Modules loaded before the first stack; if one is missing, the kernel cannot build the layers that need it.
const MODULES: &[&str] = &["aes_generic", "ecb", "xts", "dm_crypt", "dm_snapshot", "erofs"];

/// Returns the counts of all stacks, and the number of failures.
pub fn run(root: &Path, program: &Path, drawn: &Drawn, kernel: &[PathBuf]) -> anyhow::Result<(Counts, u64)> {
    let found = |name: &str| {
        let places = ["/usr/sbin", "/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
        places.into_iter().find(|path| path.exists()).with_context(|| format!("{name} is not installed"))
    };
    let (ext4, erofs) = (found("mkfs.ext4")?, found("mkfs.erofs")?);
    let programs = [(program, "bin/stacks"), (&*ext4, "bin/mkfs.ext4"), (&*erofs, "bin/mkfs.erofs")];
    let mut counts = Counts::default();
    let mut failed = 0;
    vm_test::with_programs(root, &programs, kernel, |lab| {
        let modules: Vec<String> =
            MODULES.iter().map(|name| format!("insmod /modules/{name}.ko 2>/dev/null")).collect();
        // With a count of 0, this only creates the templates before concurrent processes need them.
        let prepare =
            "mkdir -p /tmp/templates; PLATEAU_STACKS_TEMPLATES=/tmp/templates PLATEAU_STACKS_COUNT=0 stacks";
        lab.guest()?.sh(&format!("{}; {prepare}", modules.join("; ")))?;
        let at_once = EACH * drawn.jobs;
        for first in (drawn.seed..drawn.seed + drawn.count).step_by(at_once as usize) {
            let some = at_once.min(drawn.seed + drawn.count - first);
            let (batch, wrong) = batch(lab, &Drawn { seed: first, count: some, jobs: drawn.jobs }.shares())?;
            counts.add(batch);
            failed += wrong;
        }
        Ok(())
    })?;
    Ok((counts, failed))
}

/// Runs some stacks in concurrent processes, because each process mostly waits for the kernel.
fn batch(lab: &mut Lab, shares: &[(u64, u64)]) -> anyhow::Result<(Counts, u64)> {
    let start = |(job, &(seed, count)): (usize, &(u64, u64))| {
        format!(
            "(PLATEAU_STACKS_TEMPLATES=/tmp/templates PLATEAU_STACKS_SEED={seed} PLATEAU_STACKS_COUNT={count} \
             PLATEAU_STACKS_COUNTS=/tmp/counts{job} stacks >/tmp/out{job} 2>&1; echo $? >/tmp/code{job}) &"
        )
    };
    let jobs: Vec<String> = shares.iter().enumerate().map(start).collect();
    let guest = lab.guest()?;
    guest.sh(&format!("rm -f /tmp/counts* /tmp/code*; {} wait", jobs.join(" ")))?;
    let (mut all, mut failed) = (Counts::default(), 0);
    for (job, &(_, count)) in shares.iter().enumerate() {
        print!("{}", guest.run(&format!("cat /tmp/out{job}"))?.out);
        let json = guest.run(&format!("cat /tmp/counts{job}"))?;
        let counts = if json.code == 0 { Counts::parse(json.out.as_bytes())? } else { Counts::default() };
        if guest.sh(&format!("cat /tmp/code{job}"))? != "0" || counts.stacks() < count {
            failed += count.saturating_sub(counts.stacks()).max(1);
        }
        all.add(counts);
    }
    Ok((all, failed))
}
