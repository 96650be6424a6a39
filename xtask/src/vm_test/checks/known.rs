//! Checks that measured figures match the known performance of a drive.
//!
//! These checks are not part of `ci`, because a busy host would affect the result; tests in `device` check the
//! same without the virtual machine.

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::hardware::{PACE, PACED};

pub const GROUP: Group = Group {
    name: "known",
    needs: None,
    checks: &[
        Check { name: "the measured IOPS of a drive with known IOPS are within 3 %", ci: false, run: iops },
        Check {
            name: "a drive with a constant response time: mean and 99th percentile within 5 %",
            ci: false,
            run: response_time,
        },
    ],
};

const IOPS_WITHIN: f64 = 0.03;
const TIME_WITHIN: f64 = 0.05;
/// Response time of the drive. It is so long that stalls of several milliseconds on a busy host are negligible.
const TIME_NS: f64 = 400e6;
/// Number of attempts. Only the best attempt counts, because host stalls make any drive slower.
const ATTEMPTS: u32 = 4;
/// Queue depth. It is high enough that more than ten I/Os in an attempt exceed the 99th percentile.
const DEPTH: u32 = 128;

/// Measures reads at this queue depth, with a ramp that excludes the initial burst.
fn reads(lab: &mut Lab, device: &str, depth: u32) -> anyhow::Result<Value> {
    let words = format!("--rw randread --bs 4k --iodepth {depth} --time_based --ramp_time 1 --runtime 4");
    let document = lab.guest()?.json(&format!("load {device} {words}"))?;
    Ok(document["jobs"][0]["read"].clone())
}

fn off(measured: f64, known: f64) -> f64 {
    (measured / known - 1.0).abs()
}

fn iops(lab: &mut Lab) -> anyhow::Result<()> {
    let device = lab.guest()?.device(PACED)?;
    for limit in [300, 1000] {
        set_pace(lab, limit)?;
        let result = is_paced(lab, &device, limit.into());
        set_pace(lab, 0)?;
        result?;
    }
    Ok(())
}

/// Checks that the measured IOPS reach the drive's limit and never exceed it.
fn is_paced(lab: &mut Lab, device: &str, limit: f64) -> anyhow::Result<()> {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let measured = reads(lab, device, 8)?["iops"].as_f64().context("IOPS")?;
        ensure!(
            measured <= limit * (1.0 + IOPS_WITHIN),
            "measured {measured:.1} IOPS on a drive limited to {limit}"
        );
        if off(measured, limit) <= IOPS_WITHIN {
            return Ok(());
        }
        seen.push(measured);
    }
    bail!("measured {seen:.1?} IOPS on a drive limited to {limit}")
}

/// Sets the limit in I/Os per second; 0 removes it.
fn set_pace(lab: &mut Lab, iops: u32) -> anyhow::Result<()> {
    let limits = json!({ "path": PACE, "property": "limits", "value": { "iops-total": iops } });
    lab.ask_qemu("qom-set", limits).map(drop)
}

fn response_time(lab: &mut Lab) -> anyhow::Result<()> {
    const NULL: &str = "/sys/kernel/config/nullb/nullb0";
    let guest = lab.guest()?;
    guest.sh("test -d /sys/module/null_blk || insmod /modules/null_blk.ko nr_devices=0")?;
    guest.sh("mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config")?;
    guest.sh(&format!(
        "mkdir {NULL} && cd {NULL} && echo 32 >size && echo 1 >memory_backed && echo 2 >irqmode && \
         echo {DEPTH} >hw_queue_depth && echo {TIME_NS:.0} >completion_nsec && echo 1 >power"
    ))?;
    let result = keeps_to(lab, "/dev/nullb0");
    lab.guest()?.sh(&format!("echo 0 >{NULL}/power; rmdir {NULL}"))?;
    result
}

/// Checks that the mean and the 99th percentile match in at least one attempt, and that no mean is lower than
/// the device allows.
fn keeps_to(lab: &mut Lab, device: &str) -> anyhow::Result<()> {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let times = reads(lab, device, DEPTH)?["lat_ns"].clone();
        let mean = times["mean"].as_f64().context("a mean")?;
        let percentile = times["percentile"]["99.000000"].as_f64().context("a percentile")?;
        ensure!(
            mean >= TIME_NS * (1.0 - TIME_WITHIN),
            "measured a mean of {mean:.0} ns on a drive with {TIME_NS} ns"
        );
        if off(mean, TIME_NS) <= TIME_WITHIN && off(percentile, TIME_NS) <= TIME_WITHIN {
            return Ok(());
        }
        seen.push((mean, percentile));
    }
    bail!("measured means and 99th percentiles of {seen:?} ns on a drive with {TIME_NS} ns")
}
