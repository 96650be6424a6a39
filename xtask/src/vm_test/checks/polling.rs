//! Checks that completions are polled on a device with poll queues.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::vm_test::check::{Check, Group};
use crate::vm_test::inside::READS;
use vmlab::Lab;
use vmlab::hardware::{NVME_512, NVME_4096, Target, VIRTIO};

pub const GROUP: Group = Group {
    name: "polling",
    needs: None,
    checks: &[
        Check {
            name: "an NVMe drive with a poll queue is polled and raises no interrupts",
            ci: true,
            run: polled,
        },
        Check {
            name: "a load on a disk without poll queues does not poll, and the segment says why",
            ci: false,
            run: fallback,
        },
    ],
};

fn read(lab: &mut Lab, target: Target) -> anyhow::Result<Value> {
    let guest = lab.guest()?;
    let device = guest.device(target)?;
    let text = guest.sh(&format!("xtask vm-inside {device}"))?;
    let document: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
    ensure!(document["reads"] == READS, "{target:?}: {document}");
    Ok(document)
}

/// Returns the number of interrupts of all NVMe queues so far.
fn interrupts(lab: &mut Lab) -> anyhow::Result<u64> {
    let text = lab.guest()?.sh("grep nvme /proc/interrupts")?;
    let counts = |line: &str| -> u64 {
        line.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok()).sum()
    };
    Ok(text.lines().map(counts).sum())
}

fn polled(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_512, NVME_4096] {
        let before = interrupts(lab)?;
        let document = read(lab, target)?;
        let raised = interrupts(lab)? - before;
        let engine = document["engine"].as_str().unwrap_or_default();
        ensure!(
            document["polled"] == true && engine.contains("completions polled"),
            "{target:?}: {document}"
        );
        // Opening and inspecting the device causes some I/O without polling.
        ensure!(raised < READS / 4, "{target:?}: {raised} interrupts for {READS} reads");
    }
    Ok(())
}

fn fallback(lab: &mut Lab) -> anyhow::Result<()> {
    let document = read(lab, VIRTIO)?;
    let engine = document["engine"].as_str().unwrap_or_default();
    ensure!(document["polled"] == false && engine.contains("not polled: "), "{document}");
    Ok(())
}
