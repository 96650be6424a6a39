//! Checks that `plateau purge` empties a disk with each supported method, and refuses unsupported methods
//! without changing the disk.

use anyhow::{Context as _, bail, ensure};

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::{NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SATA, SCSI_512, Target, VIRTIO};

pub const GROUP: Group = Group {
    name: "purge",
    needs: Some("plateau help purge"),
    checks: &[
        Check {
            name: "each kind of disk offers the methods that its emulation supports, and no others",
            ci: false,
            run: offers,
        },
        Check { name: "NVMe: every supported method removes all content", ci: true, run: empties_nvme },
        Check {
            name: "SCSI: every supported method removes all content, and a FORMAT UNIT that does nothing is an error",
            ci: true,
            run: empties_scsi,
        },
        Check {
            name: "NVMe with metadata, SATA, virtio: every supported method removes all content",
            ci: false,
            run: empties_others,
        },
        Check { name: "every other method is refused and changes no byte", ci: false, run: refused },
        Check { name: "formatting one NVMe namespace leaves the others unchanged", ci: true, run: others },
        Check { name: "a disk in use is not purged", ci: false, run: used },
        Check { name: "a run begins with the requested purge method", ci: false, run: named },
    ],
};

/// Disks, with the methods that are known to work on them. QEMU supports neither sanitize operations nor ATA
/// security. A SCSI disk rejects SANITIZE only when the command is sent, and reports success for FORMAT UNIT
/// without doing anything.
const OFFERS: &[(Target, &[&str])] = &[
    (NVME_SLOT, &["nvme-format-user", "discard", "write-zeroes", "overwrite"]),
    (SCSI_512, &["discard", "write-zeroes", "overwrite"]),
    (SATA, &["discard", "overwrite"]),
    (VIRTIO, &["discard", "write-zeroes", "overwrite"]),
];

/// Whether a disk supports a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    Yes,
    /// The disk may support the method, which is used only if selected by name.
    Perhaps,
    No,
}

/// Returns the purge methods that a disk supports.
fn methods(lab: &mut Lab, device: &str) -> anyhow::Result<Vec<(String, Offer)>> {
    let info = lab.guest()?.json(&format!("info {device}"))?;
    let listed = info["purge_methods"].as_array().context("no list of methods")?;
    let method = |entry: &serde_json::Value| {
        let offer = match (entry["available"].as_bool()?, entry["why_not"].is_null()) {
            (true, true) => Offer::Yes,
            (true, false) => Offer::Perhaps,
            (false, _) => Offer::No,
        };
        Some((entry["name"].as_str()?.to_owned(), offer))
    };
    listed.iter().map(|entry| method(entry).context("a method has no name")).collect()
}

fn is_empty(content: &[u8]) -> bool {
    content.iter().all(|&byte| byte == 0)
}

fn offers(lab: &mut Lab) -> anyhow::Result<()> {
    for (target, expected) in OFFERS {
        let device = lab.guest()?.device(*target)?;
        let methods = methods(lab, &device)?;
        let offered = methods.iter().filter(|(_, offer)| *offer == Offer::Yes);
        let offered: Vec<&str> = offered.map(|(name, _)| name.as_str()).collect();
        ensure!(offered == *expected, "{target:?} offers {offered:?} instead of {expected:?}");
    }
    Ok(())
}

fn empties_nvme(lab: &mut Lab) -> anyhow::Result<()> {
    empties(lab, &[NVME_SLOT])
}

fn empties_scsi(lab: &mut Lab) -> anyhow::Result<()> {
    empties(lab, &[SCSI_512])
}

fn empties_others(lab: &mut Lab) -> anyhow::Result<()> {
    empties(lab, &[NVME_METADATA, SATA, VIRTIO])
}

fn empties(lab: &mut Lab, targets: &[Target]) -> anyhow::Result<()> {
    for &target in targets {
        let device = lab.guest()?.device(target)?;
        let identity = lab.guest()?.identity(&device)?;
        for (name, offer) in methods(lab, &device)?.iter().filter(|(_, offer)| *offer != Offer::No) {
            lab.fill(target)?;
            let before = lab.content(target)?;
            ensure!(!is_empty(&before), "{target:?} was not filled");
            let command = format!("purge {device} --method {name} --verify-purge --erase '{identity}'");
            let ran = lab.guest()?.plateau(&command)?;
            // At this point, the samples used for verification have replaced some of the content.
            let failed = *offer == Offer::Perhaps
                && ran.code == 5
                && (ran.err.contains("failed") || ran.err.contains("was not purged"));
            if failed && !is_empty(&lab.content(target)?) {
                continue;
            }
            ensure!(ran.code == 0, "{target:?} {name} ended with {}: {}", ran.code, ran.err);
            ensure!(is_empty(&lab.content(target)?), "{target:?} contains data after {name}: {}", ran.out);
        }
    }
    Ok(())
}

fn refused(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_SLOT, SCSI_512, SATA, VIRTIO] {
        let device = lab.fill(target)?;
        let identity = lab.guest()?.identity(&device)?;
        let before = lab.content(target)?;
        let mut wrong = Vec::new();
        for (name, _) in methods(lab, &device)?.iter().filter(|(_, offer)| *offer == Offer::No) {
            let ran =
                lab.guest()?.plateau(&format!("purge {device} --method {name} --erase '{identity}'"))?;
            if !matches!(ran.code, 2 | 4) {
                wrong.push(format!("{target:?} {name} ended with {}: {}", ran.code, ran.err));
            }
        }
        let ran = lab.guest()?.plateau(&format!("purge {device} --method hammer --erase '{identity}'"))?;
        ensure!(
            ran.code == 2 && ran.err.contains("hammer"),
            "an unknown method ended with {}: {}",
            ran.code,
            ran.err
        );
        ensure!(lab.content(target)? == before, "{target:?} changed");
        if !wrong.is_empty() {
            bail!(wrong.join("\n"));
        }
    }
    Ok(())
}

fn others(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_512, NVME_4096, NVME_METADATA] {
        lab.fill(target)?;
    }
    let (before, other) = (lab.content(NVME_512)?, lab.content(NVME_METADATA)?);
    let device = lab.guest()?.device(NVME_4096)?;
    let identity = lab.guest()?.identity(&device)?;
    lab.guest()?.json(&format!("purge {device} --method nvme-format-user --erase '{identity}'"))?;
    ensure!(is_empty(&lab.content(NVME_4096)?), "the formatted namespace contains data");
    ensure!(
        lab.content(NVME_512)? == before && lab.content(NVME_METADATA)? == other,
        "another namespace changed"
    );
    Ok(())
}

fn used(lab: &mut Lab) -> anyhow::Result<()> {
    lab.wipe(NVME_SLOT)?;
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    guest.sh(&format!("mke2fs -q {device} && mount -o ro -t ext4 {device} /mnt"))?;
    let before = lab.content(NVME_SLOT)?;
    let mut output = Vec::new();
    for method in ["", "--method nvme-format-user", "--method overwrite"] {
        let command = format!("purge {device} {method} --erase '{identity}'");
        output.push(lab.guest()?.fails(3, &command)?);
    }
    lab.guest()?.sh("umount /mnt")?;
    lab.guest()?.fails(3, &format!("purge {device} --erase '{identity}'")).context("a file system")?;
    lab.guest()?.fails(3, &format!("purge {device}")).context("no identity typed")?;
    ensure!(output.iter().all(|text| text.contains("mounted at /mnt")), "{output:?}");
    ensure!(lab.content(NVME_SLOT)? == before, "the content changed");
    lab.wipe(NVME_SLOT)
}

fn named(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    let short = SHORT;
    let document = guest.json(&format!(
        "run tp-128 {device} --erase '{identity}' {short} --cell-seconds 0.02 --purge-method nvme-format-user"
    ))?;
    ensure!(document["state"] == "complete", "{}", document["state"]);
    ensure!(!document["modified"].to_string().contains("purge by"), "a PTS purge: {}", document["modified"]);
    let document = guest.json(&format!(
        "run tp-128 {device} --erase '{identity}' {short} --cell-seconds 0.02 --purge-method discard"
    ))?;
    ensure!(document["modified"].to_string().contains("purge by discard"), "{}", document["modified"]);
    Ok(())
}
