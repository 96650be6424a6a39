//! The environment of a check: the machine, its disks, and its power switch.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use crate::guest::Guest;
use crate::hardware::{DISK_BYTES, DISKS, LIBRARY, NVME_SLOT, SLOT_ARGUMENTS, SLOT_DEVICE, Target};
use crate::kit::Kit;
use crate::machine::{self, Machine};
use crate::program::finished;

/// Error from a check that needs a feature that the guest's kernel lacks; the check is skipped.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Lacking(pub String);

/// The machine, which is off until a check needs it. The machine's disks survive a power cut.
pub struct Lab {
    kit: Kit,
    folder: PathBuf,
    initramfs: PathBuf,
    /// Time limit for all checks.
    deadline: Instant,
    machine: Option<Machine>,
}

impl Lab {
    /// Creates empty disks, and a file system on the disk for runs.
    pub(crate) fn new(
        kit: Kit,
        folder: &Path,
        initramfs: PathBuf,
        deadline: Instant,
    ) -> anyhow::Result<Self> {
        for disk in DISKS {
            let image = folder.join(format!("{}.img", disk.node));
            File::create(&image)
                .and_then(|file| file.set_len(disk.bytes))
                .context("cannot create a disk image")?;
        }
        finished(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(folder.join("library.img")))?;
        Ok(Self { kit, folder: folder.into(), initramfs, deadline, machine: None })
    }

    /// Returns the machine, switched on if it is off.
    fn machine(&mut self) -> anyhow::Result<&mut Machine> {
        if self.machine.is_none() {
            let mut machine = Machine::start(&self.kit, &self.folder, &self.initramfs, self.deadline)?;
            let library = machine.guest.device(LIBRARY)?;
            machine.guest.sh(&format!("mount -t ext4 {library} /runs"))?;
            self.machine = Some(machine);
        }
        self.machine.as_mut().context("the machine is off")
    }

    /// Returns the guest, booting it if necessary.
    pub fn guest(&mut self) -> anyhow::Result<&mut Guest> {
        Ok(&mut self.machine()?.guest)
    }

    /// Skips a check that needs a newer kernel in the guest.
    pub fn needs_linux(&self, since: (u32, u32), what: &str) -> anyhow::Result<()> {
        if self.kit.linux()? < since {
            bail!(Lacking(format!("{what}: requires Linux {}.{} or newer", since.0, since.1)));
        }
        Ok(())
    }

    /// Skips a check that needs an older kernel in the guest.
    pub fn needs_linux_before(&self, end: (u32, u32), what: &str) -> anyhow::Result<()> {
        if self.kit.linux()? >= end {
            bail!(Lacking(format!("{what}: requires a kernel older than Linux {}.{}", end.0, end.1)));
        }
        Ok(())
    }

    /// Returns whether the time limit has passed.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Kills the machine. Data that has not been written to the disks is lost.
    pub fn power_cut(&mut self) {
        self.machine = None;
    }

    /// Sends a QMP command to QEMU.
    pub fn ask_qemu(&mut self, command: &str, arguments: Value) -> anyhow::Result<Value> {
        self.machine()?.qmp.ask(command, arguments)
    }

    /// Removes the NVMe drive from its slot.
    pub fn pull(&mut self) -> anyhow::Result<()> {
        let qmp = &mut self.machine()?.qmp;
        qmp.ask("device_del", json!({ "id": SLOT_DEVICE }))?;
        qmp.wait_for("DEVICE_DELETED", SLOT_DEVICE)
    }

    /// Reinserts the NVMe drive, and waits until the guest detects it.
    pub fn put_back(&mut self) -> anyhow::Result<()> {
        self.put_in(NVME_SLOT.serial)
    }

    /// Inserts a drive with this serial number and the same image into the slot.
    pub fn put_in(&mut self, serial: &'static str) -> anyhow::Result<()> {
        let named = SLOT_ARGUMENTS.iter().copied().chain([("serial", serial)]);
        let arguments: Map<String, Value> =
            named.map(|(name, value)| (name.to_owned(), value.into())).collect();
        self.machine()?.qmp.ask("device_add", Value::Object(arguments))?;
        self.guest()?.device(Target { serial, ..NVME_SLOT }).map(drop)
    }

    /// Returns the content of a disk as seen by the host, after a sync in the guest.
    pub fn content(&mut self, target: Target) -> anyhow::Result<Vec<u8>> {
        self.guest()?.sh("sync")?;
        let image = self.folder.join(format!("{}.img", target.node));
        std::fs::read(&image).with_context(|| image.display().to_string())
    }

    /// Clears all signatures from a disk: its first and its last MiB.
    pub fn wipe(&mut self, target: Target) -> anyhow::Result<()> {
        let guest = self.guest()?;
        let device = guest.device(target)?;
        let last = DISK_BYTES / (1 << 20) - 1;
        let [begin, end] = [0, last]
            .map(|seek| format!("dd if=/dev/zero of={device} bs=1M seek={seek} count=1 2>/dev/null"));
        guest.sh(&format!("{begin}; {end}; sync; blockdev --rereadpt {device}"))?;
        Ok(())
    }

    /// Fills a disk with data; returns its device node.
    pub fn fill(&mut self, target: Target) -> anyhow::Result<String> {
        let guest = self.guest()?;
        let device = guest.device(target)?;
        guest.fill(&device)?;
        Ok(device)
    }

    /// Returns the end of the kernel's log.
    pub fn last_words(&self) -> String {
        machine::console(&self.folder)
    }
}
