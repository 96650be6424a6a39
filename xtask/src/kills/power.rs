//! `cargo xtask kills power`: cuts the power to the library's disk, in the virtual machine of `vm-test`.
//!
//! The library is on a file system over dm-flakey, which starts to drop every write at a random moment. The
//! host side boots the machine; the same program runs the trials inside the machine (`inside.rs`).

mod disk;
mod inside;

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};

use vmlab::Lab;
use vmlab::hardware::VIRTIO;

use crate::vm_test;
pub use inside::Inside;

/// File systems for the library, each with its mkfs program.
const FILE_SYSTEMS: &[(&str, &str)] = &[("ext4", "mkfs.ext4"), ("xfs", "mkfs.xfs")];
const MODULES: &[&str] = &["dm_flakey", "xfs"];
const POLL: Duration = Duration::from_secs(2);

/// Cuts the power `times` times for each combination of file system and target. Returns the number of combinations with
/// faults.
pub fn run(root: &Path, binary: &Path, times: u64, seed: u64) -> anyhow::Result<u64> {
    let found = |name: &str| -> anyhow::Result<PathBuf> {
        let places = ["/usr/sbin", "/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
        places.into_iter().find(|path| path.exists()).with_context(|| format!("{name} is not installed"))
    };
    let names = FILE_SYSTEMS.iter().map(|(_, program)| *program).chain(["dmsetup"]);
    let tools: Vec<(PathBuf, String)> =
        names.map(|name| Ok((found(name)?, format!("bin/{name}")))).collect::<anyhow::Result<_>>()?;
    let mut programs = vec![(binary, "bin/plateau")];
    programs.extend(tools.iter().map(|(path, name)| (path.as_path(), name.as_str())));
    let mut faults = 0;
    vm_test::with_programs(root, &programs, &[], |lab| {
        for module in MODULES {
            lab.guest()?.sh(&format!("insmod /modules/{module}.ko"))?;
        }
        let device = lab.guest()?.device(VIRTIO)?;
        for (file_system, _) in FILE_SYSTEMS {
            for target in ["simulated", &device] {
                let words = format!("{file_system} {target} {times} {seed}");
                faults += u64::from(!trials(lab, &words)?);
            }
        }
        Ok(())
    })?;
    Ok(faults)
}

/// Runs the trials for one combination and forwards their output; returns false if they found a fault.
fn trials(lab: &mut Lab, words: &str) -> anyhow::Result<bool> {
    let guest = lab.guest()?;
    guest.sh(&format!(
        "rm -f /tmp/power.*; (xtask power-inside {words} >/tmp/power.out 2>&1; echo $? >/tmp/power.code) \
         >/dev/null 2>&1 &"
    ))?;
    let mut printed = 0;
    loop {
        sleep(POLL);
        // Checked before the output is read, so that the last lines are not missed.
        let has_ended = guest.run("test -s /tmp/power.code")?.code == 0;
        let new = guest.run(&format!("tail -c +{} /tmp/power.out", printed + 1))?.out;
        printed += new.len();
        print!("{new}");
        if has_ended {
            return match guest.sh("cat /tmp/power.code")?.as_str() {
                "0" => Ok(true),
                "1" => Ok(false),
                code => bail!("the trials ended with {code}"),
            };
        }
    }
}
