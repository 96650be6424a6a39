//! A file system over dm-flakey, which can drop all writes from a given moment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::bail;

/// Size of the disk: large enough for the smallest XFS.
const BYTES: u64 = 320 << 20;
const SECTORS: u64 = BYTES / 512;
const NAME: &str = "power";
/// Backing file, in a RAM file system that does not itself lose writes.
const IMAGE: &str = "/tmp/power-image";
/// Number of attempts to unmount: a killed process may keep the file system busy for a moment.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// How dm-flakey handles writes (Documentation/admin-guide/device-mapper/dm-flakey.rst).
enum Writes {
    Done,
    /// Writes report success but are discarded.
    Dropped,
}

/// The disk of a library; torn down when dropped.
pub struct Disk {
    file_system: String,
    below: String,
    at: PathBuf,
}

impl Disk {
    /// Creates the file system and mounts it.
    pub fn make(file_system: &str, at: &Path) -> anyhow::Result<Self> {
        std::fs::File::create(IMAGE)?.set_len(BYTES)?;
        let below = output("losetup", &["-f"])?;
        output("losetup", &[&below, IMAGE])?;
        std::fs::create_dir_all(at)?;
        // From here on, dropping the value undoes all steps.
        let disk = Self { file_system: file_system.into(), below, at: at.into() };
        disk.map()?;
        let quiet_and_forced: &[&str] = if file_system == "xfs" { &["-q", "-f"] } else { &["-q", "-F"] };
        let node = disk.node()?;
        output(&format!("mkfs.{file_system}"), &[quiet_and_forced, &[&node]].concat())?;
        disk.mount()?;
        Ok(disk)
    }

    fn table(&self, writes: &Writes) -> String {
        match writes {
            Writes::Done => format!("0 {SECTORS} flakey {} 0 60 0", self.below),
            Writes::Dropped => format!("0 {SECTORS} flakey {} 0 0 60 1 drop_writes", self.below),
        }
    }

    fn map(&self) -> anyhow::Result<()> {
        mapper(&["create", NAME, "--table", &self.table(&Writes::Done)])
    }

    /// Returns the kernel's own device node, because the guest has no udev to create one in /dev/mapper.
    fn node(&self) -> anyhow::Result<String> {
        Ok(format!("/dev/dm-{}", output("dmsetup", &["info", "-c", "--noheadings", "-o", "minor", NAME])?))
    }

    fn mount(&self) -> anyhow::Result<()> {
        output("mount", &["-t", &self.file_system, &self.node()?, &self.at.to_string_lossy()]).map(drop)
    }

    /// Drops all further writes, including those in flight. Unlike other uses of suspend, this neither freezes
    /// the file system nor flushes data first.
    pub fn drop_writes(&self) -> anyhow::Result<()> {
        mapper(&["load", NAME, "--table", &self.table(&Writes::Dropped)])?;
        mapper(&["suspend", "--nolockfs", "--noflush", NAME])?;
        mapper(&["resume", NAME])
    }

    /// Discards everything that exists only in memory, and mounts the surviving data.
    pub fn power_up(&self) -> anyhow::Result<()> {
        self.unmount()?;
        // A new device has no cached pages of the previous device.
        mapper(&["remove", NAME])?;
        self.map()?;
        self.mount()
    }

    /// Makes everything that has been written durable.
    pub fn sync(&self) -> anyhow::Result<()> {
        output("sync", &[]).map(drop)
    }

    fn unmount(&self) -> anyhow::Result<()> {
        for _ in 1..ATTEMPTS {
            if output("umount", &[&self.at.to_string_lossy()]).is_ok() {
                return Ok(());
            }
            sleep(PAUSE);
        }
        output("umount", &[&self.at.to_string_lossy()]).map(drop)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.unmount());
        drop(mapper(&["remove", NAME]));
        drop(output("losetup", &["-d", &self.below]));
    }
}

/// Runs dmsetup without udev, which the guest does not have.
fn mapper(words: &[&str]) -> anyhow::Result<()> {
    output("dmsetup", &[&["--noudevsync", "--noudevrules"], words].concat()).map(drop)
}

/// Runs a program and returns its output; an error if it fails.
fn output(program: &str, words: &[&str]) -> anyhow::Result<String> {
    let ran = Command::new(program).args(words).output()?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned());
    }
    bail!("{program} {words:?}: {}", String::from_utf8_lossy(&ran.stderr).trim())
}
