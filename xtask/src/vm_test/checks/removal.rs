//! A drive that is pulled out in the middle of a run.

use anyhow::ensure;

use super::SHORT;
use crate::vm_test::hardware::NVME_SLOT;
use crate::vm_test::lab::Lab;
use crate::vm_test::{Check, Group};

pub const GROUP: Group = Group {
    name: "removal",
    needs: None,
    checks: &[Check {
        name: "a pulled drive is named, nothing finished is lost, and the run goes on with it",
        run,
    }],
};

fn run(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    guest.sh("mkdir -p /runs/library && rm -rf /runs/library/*")?;
    guest.start(&format!("run lat {device} --erase '{identity}' {SHORT} --cell-seconds 0.4"))?;
    guest.wait_for("some cells", "test $(grep -c '\"measured\"' /runs/library/*/journal) -ge 5")?;
    let kept: usize = guest.sh("grep -c '\"measured\"' /runs/library/*/journal")?.parse()?;
    lab.pull()?;

    let guest = lab.guest()?;
    let ended = guest.wait_for_end()?;
    ensure!(ended.code == 5, "ended with {}: {}", ended.code, ended.err);
    ensure!(ended.err.contains(&device), "names the device: {}", ended.err);
    ensure!(
        ["ENODEV", "ENXIO", "ENOSPC", "EIO", "removed", "vanished"].iter().any(|w| ended.err.contains(w)),
        "names the error: {}",
        ended.err
    );
    let id = guest.sh("ls /runs/library")?;
    let now: usize = guest.sh("grep -c '\"measured\"' /runs/library/*/journal")?.parse()?;
    ensure!(now >= kept, "{kept} cells were finished and {now} are kept");
    guest.sh("tail -n 3 /runs/library/*/journal | grep -q '\"interrupted\"'")?;
    ensure!(guest.plateau(&format!("show {id}"))?.out.contains("not complete"), "show says so");

    let said = guest.fails(4, &format!("resume {id}"))?;
    ensure!(said.contains(&device), "{said}");
    lab.put_back()?;
    let guest = lab.guest()?;
    let document = guest.json(&format!("resume {id}"))?;
    ensure!(document["state"] == "complete", "{}", document["state"]);
    ensure!(document["modified"].to_string().contains("interrupted"), "{}", document["modified"]);
    Ok(())
}
