//! Cuts the power in the middle of a run.

use anyhow::ensure;

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::NVME_512;

pub const GROUP: Group = Group {
    name: "power",
    needs: None,
    checks: &[Check {
        name: "two power cuts in one run lose no completed step, and the drive is found under another name",
        ci: false,
        run,
    }],
};

const JOURNAL: &str = "/runs/library/*/journal";
/// A name that changes after a reboot. Linux 7.3 has been seen to name NVMe controllers differently after a reboot.
const NAME: &str = "/dev/until-the-power-fails";

fn run(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_512)?;
    guest.sh(&format!("ln -sf {device} {NAME}"))?;
    let identity = guest.identity(NAME)?;
    guest.sh("mkdir -p /runs/library && rm -rf /runs/library/*")?;
    guest.start(&format!("run lat {NAME} --erase '{identity}' {SHORT} --cell-seconds 0.3"))?;
    let mut cells = 0;
    for cut in 1..=2 {
        // Some cells must complete before each cut, so that there is a gap between two segments.
        guest_waits(lab, cells + 8)?;
        let guest = lab.guest()?;
        let seen = guest.sh(&format!("cat {JOURNAL}"))?;
        cells = seen.matches("\"measured\"").count();
        lab.power_cut();

        let guest = lab.guest()?;
        let after = guest.sh(&format!("cat {JOURNAL}"))?;
        ensure!(after.starts_with(&seen), "cut {cut}: the journal lost records");
        let id = guest.sh("ls /runs/library")?;
        ensure!(
            guest.plateau(&format!("show {id}"))?.out.contains("not complete"),
            "`show` does not say that the run is not complete"
        );
        guest.device(NVME_512)?;
        guest.start(&format!("resume {id} --json"))?;
    }
    let ended = lab.guest()?.wait_for_end()?;
    ensure!(ended.code == 0, "resume ended with {}: {}", ended.code, ended.err);
    ensure!(ended.err.contains(NAME), "resume did not say with which drive it continued: {}", ended.err);
    let document: serde_json::Value = serde_json::from_str(&ended.out)?;
    ensure!(document["state"] == "complete", "{}", document["state"]);
    let gaps = document["modified"].to_string().matches("interrupted for").count();
    ensure!(gaps == 2, "{}", document["modified"]);
    let run = document["run"].as_str().unwrap_or_default();
    ensure!(lab.guest()?.plateau(&format!("verify {run}"))?.code == 0, "the run does not verify");
    Ok(())
}

/// Waits until the journal contains at least this many cells.
fn guest_waits(lab: &mut Lab, cells: usize) -> anyhow::Result<()> {
    let command = format!("test $(grep -c '\"measured\"' {JOURNAL}) -ge {cells}");
    lab.guest()?.wait_for("more cells", &command)
}
