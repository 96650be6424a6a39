//! Runs `plateau load` with `zonemode=zbd` on zoned devices of null_blk, which refuse writes that are not at a write pointer.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::guest::Guest;
use vmlab::hardware::VIRTIO;

pub const GROUP: Group = Group {
    name: "zoned",
    needs: Some("plateau load --help | grep -q max.open.zones"),
    checks: &[
        Check { name: "fio's examples for zoned drives run unchanged", ci: false, run: examples },
        Check {
            name: "zones are written at their write pointers, read up to them, and reset by trims",
            ci: true,
            run: states,
        },
        Check {
            name: "a drive without such zones is refused before anything is touched",
            ci: false,
            run: refusals,
        },
    ],
};

const FOLDER: &str = "/sys/kernel/config/nullb/nullb0";
const DEVICE: &str = "/dev/nullb0";

/// The examples, with spaces between their lines; only the target and the times differ.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "zbd-rand-write",
        "[global] name=zbd-rand-write group_reporting rw=randwrite zonemode=zbd zonesize=256M max_open_zones=32 bs=512K \
         direct=1 numjobs=16 time_based runtime=3 [dev1] filename=/dev/nullb0 ioengine=psync",
    ),
    (
        "zbd-rand-write-trim-gc",
        "[global] group_reporting zonemode=zbd zonesize=256M direct=1 time_based runtime=4 filename=/dev/nullb0 offset=524z \
         [warmup] rw=randwrite bs=2M size=128z ioengine=libaio runtime=2 \
         [wjob] wait_for=warmup rw=randwrite bs=2M size=128z ioengine=libaio flow=128 \
         [trimjob] wait_for=warmup rw=randtrim bs=256M size=128z ioengine=psync flow=1",
    ),
    (
        "zbd-rand-write-zone-reset-gc",
        "[global] name=zbd-rand-write-gc group_reporting rw=randwrite zonemode=zbd zonesize=256M bs=32M direct=1 time_based \
         runtime=4 [dev1] filename=/dev/nullb0 size=8z offset=524z ioengine=psync zone_reset_threshold=0.7 \
         zone_reset_frequency=0.125",
    ),
    (
        "zbd-seq-read",
        "[global] name=zbd-seq-read rw=read bs=256K direct=1 numjobs=1 zonemode=zbd zonesize=256M read_beyond_wp=0 \
         [dev1] filename=/dev/nullb0 offset=140660178944 size=10G ioengine=libaio iodepth=16",
    ),
];

/// Creates a zoned device of this size and zone size, of which `most_open` zones may be open; null_blk ignores this limit if
/// there are not more zones. Without memory, it keeps the state of zones but no data.
fn create(
    guest: &mut Guest,
    (mebibytes, zone_mebibytes): (u64, u64),
    most_open: u32,
    in_memory: bool,
) -> anyhow::Result<()> {
    guest.sh("test -d /sys/module/null_blk || insmod /modules/null_blk.ko nr_devices=0")?;
    guest.sh("grep -q ' /sys/kernel/config ' /proc/mounts || mount -t configfs none /sys/kernel/config")?;
    let memory = u8::from(in_memory);
    guest
        .sh(&format!(
            "mkdir {FOLDER} && cd {FOLDER} && echo {mebibytes} >size && echo {memory} >memory_backed && echo 1 >zoned && \
             echo {zone_mebibytes} >zone_size && echo {most_open} >zone_max_open && echo 1 >power"
        ))
        .map(drop)
}

fn remove(guest: &mut Guest) -> anyhow::Result<()> {
    guest.sh(&format!("echo 0 >{FOLDER}/power; rmdir {FOLDER}")).map(drop)
}

/// Returns the bytes of one direction of all jobs.
fn bytes(document: &Value, direction: &str) -> u64 {
    let jobs = document["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    jobs.iter().filter_map(|job| job[direction]["io_bytes"].as_u64()).sum()
}

fn examples(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    create(guest, (656 * 256, 256), 40, false)?;
    let ran = run_examples(guest);
    remove(guest)?;
    ran
}

fn run_examples(guest: &mut Guest) -> anyhow::Result<()> {
    let identity = guest.identity(DEVICE)?;
    for (name, lines) in EXAMPLES {
        let quoted: Vec<String> = lines.split(' ').map(|line| format!("'{line}'")).collect();
        guest.sh(&format!("printf '%s\\n' {} >/tmp/zoned.fio", quoted.join(" ")))?;
        let reads = *name == "zbd-seq-read";
        let erase = if reads { String::new() } else { format!("--erase '{identity}'") };
        let document = guest.json(&format!("load /tmp/zoned.fio {erase}")).context(*name)?;
        let direction = if reads { "read" } else { "write" };
        let moved = bytes(&document, direction);
        // The examples before have written to these zones; 40 of them hold 10 GiB.
        let is_plausible = moved > 0 && (!reads || moved <= 10 << 30);
        ensure!(is_plausible, "{name}: {moved} bytes: {document}");
        if *name == "zbd-rand-write-trim-gc" {
            let trimmed = bytes(&document, "trim");
            ensure!(trimmed > 0 && trimmed.is_multiple_of(256 << 20), "{name}: {trimmed} bytes trimmed");
        }
    }
    Ok(())
}

fn states(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    create(guest, (64, 4), 6, true)?;
    let checked = check_states(guest);
    remove(guest)?;
    checked
}

const MIB: u64 = 1 << 20;

fn check_states(guest: &mut Guest) -> anyhow::Result<()> {
    let identity = guest.identity(DEVICE)?;
    let load =
        |words: &str| format!("load {DEVICE} --zonemode zbd --zonesize 4m {words} --erase '{identity}'");
    let read = format!("load {DEVICE} --zonemode zbd --zonesize 4m --rw read --bs 64k");
    // Three of four zones are written, the last of them up to its middle.
    guest.json(&load("--rw write --bs 64k --size 12m --io_size 10m --iodepth 8"))?;
    for (zone, expected) in [(0, 4 * MIB), (1, 4 * MIB), (2, 2 * MIB), (3, 0)] {
        ensure!(contents(guest, zone)? == expected, "zone {zone} has other contents than {expected} bytes");
    }
    let document = guest.json(&read)?;
    ensure!(bytes(&document, "read") == 10 * MIB, "reads go up to the write pointers: {document}");
    // The next write continues there. A full zone is reset, but only if it is written again.
    guest.json(&load("--rw write --bs 64k --offset 8m --size 4m"))?;
    ensure!(bytes(&guest.json(&read)?, "read") == 12 * MIB);
    guest.json(&load("--rw trim --bs 4m --size 8m"))?;
    for (zone, expected) in [(0, 0), (1, 0), (2, 4 * MIB)] {
        ensure!(contents(guest, zone)? == expected, "zone {zone} has other contents than {expected} bytes");
    }
    ensure!(bytes(&guest.json(&read)?, "read") == 4 * MIB);
    // All zones are written several times over; each engine keeps to the write pointers.
    for engine in ["psync", "libaio", "io_uring"] {
        let words = format!("--rw randwrite --bs 16k --ioengine {engine} --iodepth 16 --io_size 256m");
        let document = guest.json(&load(&words)).context(engine)?;
        ensure!(bytes(&document, "write") == 256 * MIB, "{engine}: {document}");
    }
    guest.json(&load("--rw trim --bs 4m"))?;
    let mixed = guest
        .json(&load("--rw randrw --bs 16k --iodepth 16 --numjobs 4 --io_size 64m --max_open_zones 3"))?;
    ensure!(bytes(&mixed, "read") > 0 && bytes(&mixed, "write") > 0, "{mixed}");
    Ok(())
}

/// Returns the number of bytes of a zone that are written, approximately: written data is random, and null_blk returns 0xff for
/// what lies beyond the write pointer.
fn contents(guest: &mut Guest, zone: u64) -> anyhow::Result<u64> {
    let count = guest
        .sh(&format!("dd if={DEVICE} bs=4M skip={zone} count=1 2>/dev/null | tr -d '\\0\\377' | wc -c"))?;
    let count: u64 = count.trim().parse().context("a number")?;
    // Two bytes in 256 have one of these values.
    Ok((count as f64 * 256.0 / 254.0 / MIB as f64).round() as u64 * MIB)
}

fn refusals(lab: &mut Lab) -> anyhow::Result<()> {
    let plain = lab.guest()?.device(VIRTIO)?;
    let guest = lab.guest()?;
    let identity = guest.identity(&plain)?;
    guest.fill(&plain)?;
    let before = guest.sh(&format!("md5sum {plain}"))?;
    let words = "--zonemode zbd --rw randwrite --bs 64k --size 1m";
    let output = guest.fails(2, &format!("load {plain} {words} --erase '{identity}'"))?;
    ensure!(output.contains("not a zoned block device"), "{output}");
    ensure!(guest.sh(&format!("md5sum {plain}"))? == before, "the disk was written to");
    create(guest, (64, 4), 6, true)?;
    let checked = check_refusals(guest);
    remove(guest)?;
    checked
}

fn check_refusals(guest: &mut Guest) -> anyhow::Result<()> {
    let identity = guest.identity(DEVICE)?;
    for (words, expected) in [
        ("--rw randwrite --bs 64k --zonesize 8m", "the zones have 4 MiB"),
        ("--rw randwrite --bs 64k --max_open_zones 7", "permits 6"),
        ("--rw randwrite --bs 64k --offset 1m", "whole zones"),
        ("--rw randtrim --bs 64k", "use bs=4194304"),
        ("--rw randwrite --bs 64k --verify crc32c", "verify"),
    ] {
        let output = guest.fails(2, &format!("load {DEVICE} --zonemode zbd {words} --erase '{identity}'"))?;
        ensure!(output.contains(expected), "{words}: {output}");
    }
    ensure!(contents(guest, 0)? == 0, "the device was written to");
    Ok(())
}
