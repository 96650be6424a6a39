//! Checks that NVMe commands through io_uring (`io_uring_cmd`) and SCSI commands (`sg`), which bypass the block layer,
//! access the right blocks and are subject to the same safety rules as other I/O.

use anyhow::{Context as _, ensure};

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::{NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SATA, SCSI_512, SCSI_4096, Target};

pub const GROUP: Group = Group {
    name: "passthrough",
    needs: Some("plateau run --help | grep -q io_uring_cmd"),
    checks: &[
        Check {
            name: "exactly the requested blocks are written, and the block device reads them back",
            ci: true,
            run: written,
        },
        Check {
            name: "SCSI commands write exactly the requested blocks, and the block device reads them back",
            ci: true,
            run: written_by_scsi,
        },
        Check { name: "commands read the data that the block device wrote", ci: false, run: read },
        Check {
            name: "commands bypass the block layer, whose counters do not change",
            ci: false,
            run: counted,
        },
        Check { name: "completions of commands are polled", ci: false, run: polled },
        Check {
            name: "if the format has metadata, the load falls back to io_uring, and the segment says why",
            ci: false,
            run: fallback,
        },
        Check {
            name: "on an older kernel, the load falls back to io_uring, and the segment says why",
            ci: false,
            run: older_kernel,
        },
        Check {
            name: "a disk that is not NVMe is refused, and a generic device stands for its namespace",
            ci: true,
            run: other_devices,
        },
        Check {
            name: "a namespace under load is claimed exclusively, and one that is in use is refused",
            ci: false,
            run: exclusive,
        },
        Check { name: "a whole test with NVMe commands, and the report says so", ci: false, run: whole_test },
    ],
};

const TARGETS: &[Target] = &[NVME_512, NVME_4096, NVME_SLOT];
const SCSI: &[Target] = &[SCSI_512, SCSI_4096];
const COMMANDS: &str = "--ioengine io_uring_cmd --cmd_type nvme";
const MIB: usize = 1 << 20;
/// First kernel that supports io_uring NVMe commands with registered buffers.
const SINCE: (u32, u32) = (6, 1);

fn needs_commands(lab: &Lab) -> anyhow::Result<()> {
    lab.needs_linux(SINCE, "NVMe commands through io_uring")
}

/// Runs a load and checks that it used commands.
fn load(lab: &mut Lab, target: Target, words: &str) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(target)?;
    let identity = guest.identity(&device)?;
    let erase = if words.contains("write") || words.contains("randrw") {
        format!("--erase '{identity}'")
    } else {
        String::new()
    };
    let (commands, engine) =
        if SCSI.contains(&target) { ("--ioengine sg", "\"sg\"") } else { (COMMANDS, "\"io_uring_cmd") };
    let document = guest.json(&format!("load {device} {commands} {words} {erase}"))?;
    let text = document.to_string();
    ensure!(text.contains(engine), "{target:?} {words}: {text}");
    Ok(())
}

fn written(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    written_to(lab, TARGETS, "--write_mode zeroes")
}

fn written_by_scsi(lab: &mut Lab) -> anyhow::Result<()> {
    // QEMU's disks report success for WRITE SAME without data (NDOB), and write nothing.
    written_to(lab, SCSI, "--sg_write_mode write_same --zero_buffers")
}

/// Writes data and then, in the given mode, zeros.
fn written_to(lab: &mut Lab, targets: &[Target], zeros: &str) -> anyhow::Result<()> {
    for &target in targets {
        lab.wipe(target)?;
        let before = lab.content(target)?;
        // The verification reads the data back through the block device.
        let words = "--rw randwrite --bssplit 4k/50:64k/50 --iodepth 8 --offset 8m --size 4m --verify crc32c";
        load(lab, target, words)?;
        let after = lab.content(target)?;
        let changed = |range: std::ops::Range<usize>| before[range.clone()] != after[range];
        ensure!(changed(8 * MIB..12 * MIB), "{target:?}: nothing was written");
        ensure!(!changed(0..8 * MIB) && !changed(12 * MIB..before.len()), "{target:?}: other blocks changed");
        let words = "--rw write --bs 64k --iodepth 4 --offset 12m --size 4m";
        load(lab, target, words)?;
        let last = lab.content(target)?;
        ensure!(last[8 * MIB..12 * MIB] == after[8 * MIB..12 * MIB], "{target:?}: earlier blocks changed");
        let empty = last[12 * MIB..16 * MIB].chunks(512).filter(|sector| sector.iter().all(|b| *b == 0));
        ensure!(empty.count() == 0, "{target:?}: some sectors were not written");
        ensure!(last[16 * MIB..] == after[16 * MIB..], "{target:?}: later blocks changed");
        load(lab, target, &format!("--rw write {zeros} --bs 64k --offset 12m --size 2m"))?;
        let zeroed = lab.content(target)?;
        let left =
            zeroed[12 * MIB..14 * MIB].chunks(512).filter(|sector| sector.iter().any(|byte| *byte != 0));
        let left = left.count();
        ensure!(left == 0, "{target:?}: {left} sectors are not zeros");
        ensure!(zeroed[..12 * MIB] == last[..12 * MIB], "{target:?}: earlier blocks are zeros");
        ensure!(zeroed[14 * MIB..] == last[14 * MIB..], "{target:?}: later blocks are zeros");
    }
    Ok(())
}

fn read(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    for &target in TARGETS {
        let guest = lab.guest()?;
        let device = guest.device(target)?;
        let identity = guest.identity(&device)?;
        let plain = "--rw write --bs 4k --iodepth 8 --size 8m --verify crc32c";
        guest.json(&format!("load {device} {plain} --erase '{identity}'"))?;
        // With `--verify`, a read-only load checks the stamps of an earlier load.
        load(lab, target, "--rw randread --bs 4k --iodepth 8 --size 8m --verify crc32c")?;
        let before = lab.content(target)?;
        load(lab, target, "--rw randread --bs 4k --iodepth 8 --size 8m")?;
        load(lab, target, "--rw read --bs 64k --iodepth 1 --size 8m")?;
        ensure!(lab.content(target)? == before, "{target:?}: reading changed the content");
    }
    Ok(())
}

/// Returns the block layer's counts of sectors read and written on a disk.
fn sectors(lab: &mut Lab, device: &str) -> anyhow::Result<(u64, u64)> {
    let name = device.trim_start_matches("/dev/");
    let text = lab.guest()?.sh(&format!("cat /sys/block/{name}/stat"))?;
    let counts: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    Ok((*counts.get(2).context("stat")?, *counts.get(6).context("stat")?))
}

fn counted(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    for &target in TARGETS {
        let device = lab.guest()?.device(target)?;
        let before = sectors(lab, &device)?;
        load(lab, target, "--rw write --bs 64k --iodepth 4 --size 16m")?;
        load(lab, target, "--rw randread --bs 4k --iodepth 4 --size 16m")?;
        let after = sectors(lab, &device)?;
        ensure!(after.1 == before.1, "{target:?}: the block layer wrote {} sectors", after.1 - before.1);
        // The search for signatures, which is done twice, also reads some sectors.
        ensure!(after.0 - before.0 < (8 << 20) / 512, "{target:?}: {} sectors read", after.0 - before.0);
    }
    Ok(())
}

fn polled(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    let device = lab.guest()?.device(NVME_512)?;
    let words = "--rw randread --bs 4k --iodepth 4 --size 4m --hipri";
    let document = lab.guest()?.json(&format!("load {device} {COMMANDS} {words}"))?.to_string();
    ensure!(document.contains("io_uring_cmd; completions polled"), "{document}");
    Ok(())
}

fn fallback(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    let device = lab.guest()?.device(NVME_METADATA)?;
    let words = "--rw randread --bs 4k --iodepth 4 --size 4m";
    let document = lab.guest()?.json(&format!("load {device} {COMMANDS} {words}"))?.to_string();
    ensure!(document.contains("io_uring (io_uring_cmd: its blocks carry metadata)"), "{document}");
    Ok(())
}

fn older_kernel(lab: &mut Lab) -> anyhow::Result<()> {
    lab.needs_linux_before(SINCE, "no NVMe commands through io_uring")?;
    for &target in TARGETS {
        lab.wipe(target)?;
        let guest = lab.guest()?;
        let device = guest.device(target)?;
        let identity = guest.identity(&device)?;
        let words = "--rw randwrite --bs 4k --iodepth 8 --size 4m --verify crc32c";
        let command = format!("load {device} {COMMANDS} {words} --erase '{identity}'");
        let document = guest.json(&command)?.to_string();
        ensure!(document.contains("\"io_uring (io_uring_cmd: "), "{target:?}: {document}");
    }
    Ok(())
}

fn other_devices(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    let guest = lab.guest()?;
    let sata = guest.device(SATA)?;
    let output = guest.fails(2, &format!("load {sata} --rw randread {COMMANDS}"))?;
    ensure!(output.contains("requires an NVMe namespace"), "{output}");
    let namespace = guest.device(NVME_512)?;
    let output = guest.fails(2, &format!("load {namespace} --rw randread --ioengine sg"))?;
    ensure!(output.contains("a whole SCSI or SATA disk"), "{output}");
    let generic = namespace.replace("/dev/nvme", "/dev/ng");
    let output = guest.fails(4, &format!("load {generic} --rw randread"))?;
    ensure!(output.contains(&format!("name its block device, {namespace}")), "{output}");
    // fio passes commands to the generic device; here they are passed to its namespace, with the same checks.
    let output = guest.fails(3, &format!("load {generic} --rw randwrite {COMMANDS}"))?;
    ensure!(output.contains(&namespace), "{output}");
    let document = guest.json(&format!("load {generic} --rw randread {COMMANDS}"))?;
    ensure!(document.to_string().contains("io_uring_cmd"), "{document}");
    Ok(())
}

fn exclusive(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    lab.wipe(NVME_SLOT)?;
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    let write = format!("load {device} {COMMANDS} --rw randwrite --bs 4k --time_based --erase '{identity}'");
    guest.start(&format!("{write} --runtime 8"))?;
    guest.wait_for("the namespace to be driven", "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q /dev/ng")?;
    let output = guest.fails(3, &format!("{write} --runtime 1"))?;
    ensure!(output.contains("has nvme") && output.contains("open for writing"), "{output}");
    ensure!(guest.wait_for_end()?.code == 0, "the first load failed");
    // A device in use is also refused for commands.
    guest.sh(&format!("mkswap {device} && swapon {device}"))?;
    let output = guest.fails(3, &format!("{write} --runtime 1"));
    guest.sh(&format!("swapoff {device}"))?;
    let output = output?;
    ensure!(output.contains("swap"), "{output}");
    lab.wipe(NVME_SLOT)
}

fn whole_test(lab: &mut Lab) -> anyhow::Result<()> {
    needs_commands(lab)?;
    let guest = lab.guest()?;
    let device = guest.device(NVME_4096)?;
    let identity = guest.identity(&device)?;
    let words = format!("--erase '{identity}' {SHORT} --cell-seconds 0.02 --ioengine io_uring_cmd --hipri");
    let document = guest.json(&format!("run tp-128 {device} {words}"))?;
    ensure!(document["state"] == "complete", "{}", document["state"]);
    let engines = document["engines"].to_string();
    ensure!(engines.contains("io_uring_cmd; completions polled"), "{engines}");
    let (report, run) = (document["report"].as_str(), document["run"].as_str());
    let (report, run) = (report.context("no report")?, run.context("no run")?);
    guest.sh(&format!("grep -q 'io_uring_cmd; completions polled' {report}"))?;
    ensure!(guest.plateau(&format!("verify {run}"))?.code == 0, "the run does not verify");
    Ok(())
}
