//! Checks that the volatile write cache is set for a run, and restored after the run or after a crash.

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::{NVME_SLOT, SATA, SCSI_512, Target};

pub const GROUP: Group = Group {
    name: "write-cache",
    needs: Some("plateau help run | grep -q write-cache"),
    checks: &[
        Check {
            name: "the cache is off during a run that requests it, and on again afterwards",
            ci: false,
            run: during,
        },
        Check {
            name: "resuming a killed run restores the cache setting that the run had changed",
            ci: false,
            run: killed,
        },
    ],
};

/// Returns whether the cache is on, as reported by QEMU.
fn is_on(lab: &mut Lab, target: Target) -> anyhow::Result<bool> {
    let answer = lab.ask_qemu("query-block", json!({}))?;
    let blocks = answer.as_array().context("no block devices")?;
    let block = blocks.iter().find(|block| block["inserted"]["node-name"] == target.node);
    let block = block.with_context(|| format!("{target:?} is not listed"))?;
    block["inserted"]["cache"]["writeback"].as_bool().context("no write cache")
}

/// Starts a run with the cache off, and waits until it is measuring.
fn start(lab: &mut Lab, target: Target) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(target)?;
    let identity = guest.identity(&device)?;
    guest.sh("mkdir -p /runs/library && rm -rf /runs/library/*")?;
    guest.start(&format!(
        "run tp-128 {device} --erase '{identity}' {SHORT} --cell-seconds 0.3 --write-cache off"
    ))?;
    guest.wait_for("a cell", "grep -q '\"measured\"' /runs/library/*/journal")
}

fn during(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_SLOT, SCSI_512, SATA] {
        ensure!(is_on(lab, target)?, "{target:?}: the cache is off before the run");
        start(lab, target)?;
        ensure!(!is_on(lab, target)?, "{target:?}: the cache is on during the run");
        let ended = lab.guest()?.wait_for_end()?;
        ensure!(ended.code == 0, "{target:?} ended with {}: {}", ended.code, ended.err);
        ensure!(is_on(lab, target)?, "{target:?}: not restored");
    }
    Ok(())
}

fn killed(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_SLOT, SATA] {
        start(lab, target)?;
        lab.guest()?.sh("kill -9 $(pidof plateau)")?;
        lab.guest()?.wait_for_end()?;
        ensure!(!is_on(lab, target)?, "{target:?}: the cache is on although the run was killed");
        let id = lab.guest()?.sh("cd /runs/library && ls -d */ | tr -d /")?;
        let resumed = lab.guest()?.plateau(&format!("resume {id}"))?;
        ensure!(resumed.code == 0, "resume ended with {}: {}", resumed.code, resumed.err);
        ensure!(is_on(lab, target)?, "{target:?}: not restored; resume said {}", resumed.err);
    }
    Ok(())
}
