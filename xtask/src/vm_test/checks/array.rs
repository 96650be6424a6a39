//! Checks that arrays are created for each test on purged members, and dismantled after the test or after a
//! crash.

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::guest::Guest;
use vmlab::hardware::{NVME_SLOT, SATA, SCSI_512, Target, VIRTIO};

pub const GROUP: Group = Group {
    name: "array",
    needs: Some("plateau help run | grep -q array:"),
    checks: &[
        Check {
            name: "RAID 0: for each of two tests, the members are purged and the array is created again",
            ci: false,
            run: level_0,
        },
        Check {
            name: "RAID 5: for each of two tests, the members are purged, the array is created again, and the test waits for the resync",
            ci: false,
            run: level_5,
        },
        Check {
            name: "RAID 10: for each of two tests, the members are purged, the array is created again, and the test waits for the resync",
            ci: false,
            run: level_10,
        },
        Check { name: "a degraded array is refused", ci: true, run: degraded },
        Check {
            name: "an array that loses a member ends the run and is dismantled",
            ci: false,
            run: loses_a_member,
        },
        Check { name: "resuming a killed run dismantles the array that it left", ci: false, run: killed },
        Check {
            name: "a member that is not confirmed or is in use is refused, and every byte is unchanged",
            ci: true,
            run: refused,
        },
    ],
};

const DESCRIPTION: &str = "/tmp/array.toml";
const MEASURED: &str = "grep -q '\"measured\"' /runs/library/*/journal";
const THREE: &[Target] = &[SCSI_512, SATA, VIRTIO];

/// Describes an array of empty disks; returns the options that confirm its members.
fn describe(lab: &mut Lab, level: u8, members: &[Target]) -> anyhow::Result<String> {
    let mut paths = Vec::new();
    let mut erase = String::new();
    for &member in members {
        lab.wipe(member)?;
        let guest = lab.guest()?;
        let device = guest.device(member)?;
        erase += &format!(" --erase '{}'", guest.identity(&device)?);
        paths.push(format!("\"{device}\""));
    }
    let text = format!("level = {level}\\nchunk_kib = 64\\nmembers = [{}]\\n", paths.join(", "));
    lab.guest()?.sh(&format!("mkdir -p /run/mdadm; printf '{text}' >{DESCRIPTION}"))?;
    lab.guest()?.sh("mkdir -p /runs/library && rm -rf /runs/library/*")?;
    Ok(erase)
}

/// Returns whether mdadm finds array metadata. The output must state the result explicitly, because an exit
/// code alone proves nothing.
fn has_metadata(guest: &mut Guest, device: &str) -> anyhow::Result<bool> {
    let examined = guest.run(&format!("mdadm --examine {device}"))?;
    let output = format!("{}{}", examined.out, examined.err);
    match (examined.code, output.contains("Magic : a92b4efc"), output.contains("No md superblock detected")) {
        (0, true, false) => Ok(true),
        (_, false, true) => Ok(false),
        (code, ..) => bail!("`mdadm --examine {device}` ended with {code}: {output}"),
    }
}

/// Checks that members have metadata during a run. This shows that the check for its absence can fail.
fn all_have_metadata(lab: &mut Lab, members: &[Target]) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    for &member in members {
        let device = guest.device(member)?;
        ensure!(
            has_metadata(guest, &device)?,
            "{member:?} has no metadata, although it is a member of a running array"
        );
    }
    Ok(())
}

/// Checks that no array exists, no member has metadata, and no restore record remains.
fn nothing_is_left(lab: &mut Lab, members: &[Target]) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let arrays = guest.run("grep -q ^md /proc/mdstat")?;
    ensure!(arrays.code != 0, "an array is left: {}", guest.sh("cat /proc/mdstat")?);
    for &member in members {
        let device = guest.device(member)?;
        ensure!(!has_metadata(guest, &device)?, "{member:?} has metadata of an array");
        let info = guest.json(&format!("info {device}"))?;
        ensure!(info["refusals"] == Value::Array(Vec::new()), "{member:?}: {}", info["refusals"]);
    }
    let notes = guest.sh("ls -A /runs/state | grep -c ^.array- || true")?;
    ensure!(notes == "0", "{notes} restore records are left");
    Ok(())
}

/// Runs two tests on an array; returns the result.
fn campaign(lab: &mut Lab, level: u8, members: &[Target]) -> anyhow::Result<Value> {
    let erase = describe(lab, level, members)?;
    let guest = lab.guest()?;
    guest.start(&format!("run tp-128,lat array:{DESCRIPTION}{erase} {SHORT} --cell-seconds 0.05 --json"))?;
    guest.wait_for("a cell", MEASURED)?;
    all_have_metadata(lab, members)?;
    let guest = lab.guest()?;
    let ended = guest.wait_for_end()?;
    ensure!(ended.code == 0, "ended with {}: {}", ended.code, ended.err);
    let document: Value = serde_json::from_str(&ended.out).with_context(|| ended.out.clone())?;
    ensure!(document["state"] == "complete", "{}", document["state"]);
    let modified = document["modified"].to_string();
    ensure!(modified.contains(&format!("an array of {} drives", members.len())), "{modified}");
    let listed = document["target"]["array"]["members"].as_array().context("no members")?;
    let report = document["report"].as_str().context("no report")?;
    let path = document["path"].as_str().context("no path")?;
    for (member, listed) in members.iter().zip(listed) {
        ensure!(listed["serial"] == member.serial, "{listed}");
        ensure!(
            guest.run(&format!("grep -q {} {report}", member.serial))?.code == 0,
            "{member:?} is not in the report"
        );
        // One purge per test.
        let purges = guest.sh(&format!("grep '\"purged\"' {path}/journal | grep -c {}", member.serial))?;
        ensure!(purges == "2", "purges of {member:?}: {purges}");
    }
    let created = guest.sh(&format!("grep -c array_created {path}/journal"))?;
    ensure!(created == "2", "created {created} times");
    let run = document["run"].as_str().context("no run")?;
    ensure!(guest.plateau(&format!("verify {run}"))?.code == 0, "the run does not verify");
    nothing_is_left(lab, members)?;
    Ok(document)
}

fn capacity(document: &Value) -> anyhow::Result<u64> {
    document["target"]["capacity_bytes"].as_u64().context("no capacity")
}

fn level_0(lab: &mut Lab) -> anyhow::Result<()> {
    let document = campaign(lab, 0, &[SATA, VIRTIO])?;
    ensure!(capacity(&document)? == 2 * (28 << 20), "{}", capacity(&document)?);
    Ok(())
}

/// Checks that both purges of the only run recorded a resync.
fn resynced(lab: &mut Lab) -> anyhow::Result<()> {
    let waits = lab.guest()?.sh("grep -c array_in_sync /runs/library/*/journal || true")?;
    ensure!(waits == "2", "{waits} resyncs are recorded");
    Ok(())
}

fn level_5(lab: &mut Lab) -> anyhow::Result<()> {
    let document = campaign(lab, 5, THREE)?;
    ensure!(capacity(&document)? == 2 * (28 << 20), "{}", capacity(&document)?);
    resynced(lab)
}

fn level_10(lab: &mut Lab) -> anyhow::Result<()> {
    let document = campaign(lab, 10, &[NVME_SLOT, SCSI_512, SATA, VIRTIO])?;
    ensure!(capacity(&document)? == 2 * (28 << 20), "{}", capacity(&document)?);
    resynced(lab)
}

fn degraded(lab: &mut Lab) -> anyhow::Result<()> {
    lab.wipe(VIRTIO)?;
    let guest = lab.guest()?;
    let device = guest.device(VIRTIO)?;
    guest.sh(&format!(
        "mdadm --create /dev/md50 --run --level=1 --metadata=1.2 --bitmap=none --raid-devices=2 {device} missing"
    ))?;
    let identity = guest.identity("/dev/md50")?;
    let before = lab.content(VIRTIO)?;
    let output = lab.guest()?.fails(4, &format!("run tp-128 /dev/md50 --erase '{identity}' {SHORT}"))?;
    ensure!(output.contains("degraded array: 1 of its members"), "{output}");
    ensure!(lab.content(VIRTIO)? == before, "the disk was written to");
    lab.guest()?.sh(&format!("mdadm --stop /dev/md50 && mdadm --zero-superblock {device}"))?;
    Ok(())
}

/// Starts a test on RAID 5 and waits until it is measuring.
fn start(lab: &mut Lab, cell_seconds: &str) -> anyhow::Result<()> {
    let erase = describe(lab, 5, THREE)?;
    let guest = lab.guest()?;
    guest.start(&format!("run tp-128 array:{DESCRIPTION}{erase} {SHORT} --cell-seconds {cell_seconds}"))?;
    guest.wait_for("a cell", MEASURED)
}

fn loses_a_member(lab: &mut Lab) -> anyhow::Result<()> {
    start(lab, "1")?;
    let guest = lab.guest()?;
    let array = guest.sh("sed -n 's/^\\(md[0-9]*\\) .*/\\1/p' /proc/mdstat")?;
    let member = guest.device(SATA)?;
    guest.sh(&format!("mdadm --fail /dev/{array} {member}"))?;
    let ended = guest.wait_for_end()?;
    ensure!(ended.code == 5, "ended with {}: {}", ended.code, ended.err);
    ensure!(ended.err.contains("degraded: 1 of its members failed"), "{}", ended.err);
    nothing_is_left(lab, THREE)
}

fn killed(lab: &mut Lab) -> anyhow::Result<()> {
    start(lab, "0.3")?;
    let guest = lab.guest()?;
    guest.sh("kill -9 $(pidof plateau)")?;
    guest.wait_for_end()?;
    guest.sh("grep -q ^md /proc/mdstat").context("the killed run did not leave its array")?;
    all_have_metadata(lab, THREE)?;
    let guest = lab.guest()?;
    let id = guest.sh("cd /runs/library && ls -d */ | tr -d /")?;
    let resumed = guest.plateau(&format!("resume {id}"))?;
    ensure!(resumed.code == 0, "resume ended with {}: {}", resumed.code, resumed.err);
    ensure!(resumed.err.contains("dismantled the RAID 5"), "{}", resumed.err);
    let restarts = guest.sh("grep -c '\"restarted\"' /runs/library/*/journal")?;
    ensure!(restarts == "1", "the test was restarted {restarts} times");
    nothing_is_left(lab, THREE)
}

fn refused(lab: &mut Lab) -> anyhow::Result<()> {
    let erase = describe(lab, 5, THREE)?;
    let guest = lab.guest()?;
    let device = guest.device(SATA)?;
    guest.sh(&format!("yes bystander | dd of={device} bs=64k count=16 2>/dev/null"))?;
    let before = lab.content(SATA)?;
    let run = format!("run tp-128 array:{DESCRIPTION}");
    let guest = lab.guest()?;
    let none = guest.fails(3, &run)?;
    ensure!(THREE.iter().all(|member| none.contains(member.serial) || *member == SCSI_512), "{none}");
    let some = guest.fails(3, &format!("{run} --erase '{}' --erase '{}'", SATA.serial, VIRTIO.serial))?;
    ensure!(
        some.contains("to continue, add --erase")
            && !some.contains(&format!("add --erase '{}'", SATA.serial)),
        "{some}"
    );
    let wrong = guest.fails(3, &format!("{run}{erase} --erase 'PLATNVME1'"))?;
    ensure!(wrong.contains("'PLATNVME1' does not match any of its members"), "{wrong}");
    let swap = guest.device(VIRTIO)?;
    guest.sh(&format!("mkswap {swap} && swapon {swap}"))?;
    let used = guest.fails(3, &format!("{run}{erase}"));
    guest.sh(&format!("swapoff {swap}"))?;
    let used = used?;
    ensure!(used.contains("swap space"), "{used}");
    ensure!(lab.content(SATA)? == before, "a member was written to");
    let runs = lab.guest()?.sh("ls -A /runs/library | wc -l")?;
    ensure!(runs == "0", "{runs} runs or records were created");
    lab.wipe(VIRTIO)?;
    lab.wipe(SATA)
}
