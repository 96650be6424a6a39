//! Removes a drive in the middle of a run.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::{NVME_SLOT, Target};

pub const GROUP: Group = Group {
    name: "removal",
    needs: None,
    checks: &[
        Check {
            name: "pulling a drive ends the run with an error that names it, and the run resumes once the \
              drive is back",
            ci: false,
            run,
        },
        Check {
            name: "every completed second of the interrupted cell is kept; another drive is refused",
            ci: true,
            run: another_drive,
        },
    ],
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
    ensure!(ended.err.contains(&device), "the error does not name the device: {}", ended.err);
    ensure!(
        ["ENODEV", "ENXIO", "ENOSPC", "EIO", "removed", "vanished"].iter().any(|w| ended.err.contains(w)),
        "the message does not name the error: {}",
        ended.err
    );
    let id = guest.sh("ls /runs/library")?;
    let now: usize = guest.sh("grep -c '\"measured\"' /runs/library/*/journal")?.parse()?;
    ensure!(now >= kept, "{kept} cells were completed, but only {now} are kept");
    guest.sh("tail -n 3 /runs/library/*/journal | grep -q '\"interrupted\"'")?;
    ensure!(
        guest.plateau(&format!("show {id}"))?.out.contains("not complete"),
        "`show` does not say that the run is not complete"
    );

    let output = guest.fails(4, &format!("resume {id}"))?;
    ensure!(output.contains(&device), "{output}");
    lab.put_back()?;
    let guest = lab.guest()?;
    let document = guest.json(&format!("resume {id}"))?;
    ensure!(document["state"] == "complete", "{}", document["state"]);
    ensure!(document["modified"].to_string().contains("interrupted"), "{}", document["modified"]);
    Ok(())
}

/// Returns the I/Os, reads plus writes, in each recorded second of the interrupted cell.
fn cut_seconds(lab: &mut Lab) -> anyhow::Result<Vec<u64>> {
    let line = lab.guest()?.sh("grep -o '{.*\"cut\".*' /runs/library/*/journal")?;
    let entry: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
    let series = &entry["event"]["cut"]["series"];
    let column =
        |name: &str| -> Option<Vec<u64>> { series[name].as_array()?.iter().map(Value::as_u64).collect() };
    let (reads, writes) = (column("read_ios"), column("write_ios"));
    let (reads, writes) = (reads.context("reads")?, writes.context("writes")?);
    Ok(reads.iter().zip(&writes).map(|(read, write)| read + write).collect())
}

fn another_drive(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    guest.sh("mkdir -p /runs/library && rm -rf /runs/library/*")?;
    guest.start(&format!("run tp-128 {device} --erase '{identity}' {SHORT} --cell-seconds 6"))?;
    guest.wait_for("a cell", "grep -q '\"measured\"' /runs/library/*/journal")?;
    // Wait until the middle of the next cell, which starts immediately.
    guest.sh("sleep 3.5")?;
    lab.pull()?;
    let ended = lab.guest()?.wait_for_end()?;
    ensure!(ended.code == 5 && ended.err.contains(&device), "ended with {}: {}", ended.code, ended.err);
    let seconds = cut_seconds(lab)?;
    ensure!((2..6).contains(&seconds.len()) && !seconds.contains(&0), "I/Os in each second: {seconds:?}");

    lab.put_in("PLATOTHER")?;
    let other = Target { serial: "PLATOTHER", ..NVME_SLOT };
    ensure!(lab.guest()?.device(other)? == device, "the other drive did not take the place of the first one");
    lab.fill(other)?;
    let before = lab.content(other)?;
    let id = lab.guest()?.sh("ls /runs/library")?;
    let output = lab.guest()?.fails(3, &format!("resume {id}"))?;
    ensure!(
        output.contains(&identity) && output.contains("PLATOTHER"),
        "the message does not name both drives: {output}"
    );
    let output = lab.guest()?.fails(3, &format!("resume {id} --erase PLATOTHER"))?;
    ensure!(
        output.contains("is not the device"),
        "specifying the name of the other drive was not refused: {output}"
    );
    ensure!(lab.content(other)? == before, "the other drive was written to");
    lab.pull()?;
    lab.put_back()?;
    lab.wipe(NVME_SLOT)
}
