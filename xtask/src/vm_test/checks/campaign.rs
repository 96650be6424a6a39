//! Runs complete tests with `plateau run`, from purge to report, on every kind of disk.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::{
    NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SATA, SCSI_512, SCSI_4096, Target, VIRTIO,
};

pub const GROUP: Group = Group {
    name: "campaign",
    needs: None,
    checks: &[
        Check { name: "the IOPS test on NVMe with 512-byte sectors", ci: false, run: iops_512 },
        Check {
            name: "the IOPS test on NVMe with 4096-byte sectors omits its 512-byte cells",
            ci: false,
            run: iops_4096,
        },
        Check { name: "throughput on NVMe with metadata, SCSI, SATA and virtio", ci: false, run: others },
        Check { name: "a test of one disk leaves every other disk unchanged", ci: true, run: bystanders },
    ],
};

/// Runs tests on a disk; returns the result after checking that it is complete and has a report.
fn complete(lab: &mut Lab, tests: &str, target: Target) -> anyhow::Result<Value> {
    let guest = lab.guest()?;
    let device = guest.device(target)?;
    let identity = guest.identity(&device)?;
    // Large blocks are slow on an emulated disk, but at least some I/Os must complete in every cell.
    let cell_seconds = if tests == "iops" { "0.05" } else { "0.02" };
    let document = guest
        .json(&format!("run {tests} {device} --erase '{identity}' {SHORT} --cell-seconds {cell_seconds}"))?;
    ensure!(document["state"] == "complete", "{target:?}: {}", document["state"]);
    let report = document["report"].as_str().context("no report")?;
    ensure!(guest.sh(&format!("grep -c '</html>' {report}"))? == "1", "the report is truncated");
    let run = document["run"].as_str().context("no run")?;
    ensure!(guest.plateau(&format!("verify {run}"))?.code == 0, "the run does not verify");
    Ok(document)
}

/// Returns the first table of the first test.
fn rows(document: &Value) -> anyhow::Result<Vec<Vec<Option<f64>>>> {
    let rows = document["tests"][0]["tables"][0]["rows"].as_array().context("no table")?;
    let values = |row: &Value| -> Option<Vec<Option<f64>>> {
        Some(row["values"].as_array()?.iter().map(Value::as_f64).collect())
    };
    rows.iter().map(|row| values(row).context("a row has no values")).collect()
}

fn iops_512(lab: &mut Lab) -> anyhow::Result<()> {
    let document = complete(lab, "iops", NVME_512)?;
    let cells = rows(&document)?;
    ensure!(cells.len() == 8 && cells.iter().all(|row| row.len() == 7), "{cells:?}");
    ensure!(cells.iter().flatten().all(|cell| cell.is_some_and(|iops| iops > 0.0)), "{cells:?}");
    ensure!(!document["modified"].to_string().contains("purge by"), "{}", document["modified"]);
    Ok(())
}

fn iops_4096(lab: &mut Lab) -> anyhow::Result<()> {
    let document = complete(lab, "iops", NVME_4096)?;
    let cells = rows(&document)?;
    let (half, whole) = cells.split_first().context("no rows")?;
    ensure!(half.iter().all(Option::is_none), "512-byte cells: {half:?}");
    ensure!(whole.iter().flatten().all(|cell| cell.is_some_and(|iops| iops > 0.0)), "{whole:?}");
    ensure!(document["modified"].to_string().contains("0.5KiB"), "{}", document["modified"]);
    Ok(())
}

fn others(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_METADATA, SCSI_512, SCSI_4096, SATA, VIRTIO] {
        let document = complete(lab, "tp-128", target).with_context(|| format!("{target:?}"))?;
        ensure!(document["target"]["serial"] == target.serial, "{}", document["target"]);
    }
    Ok(())
}

fn bystanders(lab: &mut Lab) -> anyhow::Result<()> {
    const OTHERS: &[Target] = &[NVME_4096, NVME_METADATA, NVME_SLOT, SCSI_512, SATA, VIRTIO];
    let mut before = Vec::new();
    for &target in OTHERS {
        let device = lab.guest()?.device(target)?;
        // Content that a purge of the wrong disk, or a write to it, would destroy.
        lab.guest()?
            .sh(&format!("yes {}{device} | dd of={device} bs=64k count=64 2>/dev/null", target.serial))?;
        before.push(lab.content(target)?);
    }
    complete(lab, "tp-128", NVME_512)?;
    for (&target, before) in OTHERS.iter().zip(before) {
        ensure!(lab.content(target)? == before, "{target:?} changed");
    }
    Ok(())
}
