//! What a check works with: the machine, its disks, its power switch.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use super::Lacking;
use super::guest::Guest;
use super::hardware::{DISK_BYTES, DISKS, LIBRARY, NVME_SLOT, SLOT_ARGUMENTS, SLOT_DEVICE, Target};
use super::kit::{Kit, finished};
use super::machine::{self, Machine};

/// The only machine, off until a check asks for it. Its disks outlive a power cut.
pub struct Lab {
    pub kit: Kit,
    folder: PathBuf,
    initramfs: PathBuf,
    /// When all checks have to be done.
    deadline: Instant,
    machine: Option<Machine>,
}

impl Lab {
    /// Makes empty disks, and a file system on the one for runs.
    pub fn new(kit: Kit, folder: &Path, initramfs: PathBuf, deadline: Instant) -> anyhow::Result<Self> {
        for disk in DISKS {
            let image = folder.join(format!("{}.img", disk.node));
            File::create(&image).and_then(|file| file.set_len(disk.bytes)).context("an image")?;
        }
        finished(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(folder.join("library.img")))?;
        Ok(Self { kit, folder: folder.into(), initramfs, deadline, machine: None })
    }

    /// The machine, switched on if it is off.
    fn machine(&mut self) -> anyhow::Result<&mut Machine> {
        if self.machine.is_none() {
            let mut machine = Machine::start(&self.kit, &self.folder, &self.initramfs, self.deadline)?;
            let library = machine.guest.device(LIBRARY)?;
            machine.guest.sh(&format!("mount -t ext4 {library} /runs"))?;
            self.machine = Some(machine);
        }
        self.machine.as_mut().context("the machine was just switched on")
    }

    /// The guest, booted if need be.
    pub fn guest(&mut self) -> anyhow::Result<&mut Guest> {
        Ok(&mut self.machine()?.guest)
    }

    /// Ends a check that asks for what the guest's kernel does not have yet.
    pub fn needs_linux(&self, since: (u32, u32), what: &str) -> anyhow::Result<()> {
        if self.kit.linux()? < since {
            bail!(Lacking(format!("{what}: from Linux {}.{} on", since.0, since.1)));
        }
        Ok(())
    }

    /// Ends a check that asks for what the guest's kernel no longer lacks.
    pub fn needs_linux_before(&self, end: (u32, u32), what: &str) -> anyhow::Result<()> {
        if self.kit.linux()? >= end {
            bail!(Lacking(format!("{what}: before Linux {}.{}", end.0, end.1)));
        }
        Ok(())
    }

    /// Whether there is no time left for another check.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Kills the machine. What it has not written to its disks is lost.
    pub fn power_cut(&mut self) {
        self.machine = None;
    }

    /// Asks the emulator itself.
    pub fn ask_qemu(&mut self, command: &str, arguments: Value) -> anyhow::Result<Value> {
        self.machine()?.qmp.ask(command, arguments)
    }

    /// Pulls the NVMe drive out of its slot.
    pub fn pull(&mut self) -> anyhow::Result<()> {
        let qmp = &mut self.machine()?.qmp;
        qmp.ask("device_del", json!({ "id": SLOT_DEVICE }))?;
        qmp.wait_for("DEVICE_DELETED", SLOT_DEVICE)
    }

    /// Puts it back, and waits until the guest has it.
    pub fn put_back(&mut self) -> anyhow::Result<()> {
        self.put_in(NVME_SLOT.serial)
    }

    /// Puts a drive with this serial number into the slot, over the same image.
    pub fn put_in(&mut self, serial: &'static str) -> anyhow::Result<()> {
        let named = SLOT_ARGUMENTS.iter().copied().chain([("serial", serial)]);
        let arguments: Map<String, Value> =
            named.map(|(name, value)| (name.to_owned(), value.into())).collect();
        self.machine()?.qmp.ask("device_add", Value::Object(arguments))?;
        self.guest()?.device(Target { serial, ..NVME_SLOT }).map(drop)
    }

    /// What is on a disk, as the host sees it; what the guest has not written yet is written first.
    pub fn content(&mut self, target: Target) -> anyhow::Result<Vec<u8>> {
        self.guest()?.sh("sync")?;
        let image = self.folder.join(format!("{}.img", target.node));
        std::fs::read(&image).with_context(|| image.display().to_string())
    }

    /// Takes everything off a disk by which it could be recognised as somebody's.
    pub fn wipe(&mut self, target: Target) -> anyhow::Result<()> {
        let guest = self.guest()?;
        let device = guest.device(target)?;
        let last = DISK_BYTES / (1 << 20) - 1;
        let [begin, end] = [0, last]
            .map(|seek| format!("dd if=/dev/zero of={device} bs=1M seek={seek} count=1 2>/dev/null"));
        guest.sh(&format!("{begin}; {end}; sync; blockdev --rereadpt {device}"))?;
        Ok(())
    }

    /// Puts something on all of a disk; gives its node.
    pub fn fill(&mut self, target: Target) -> anyhow::Result<String> {
        let guest = self.guest()?;
        let device = guest.device(target)?;
        guest.fill(&device)?;
        Ok(device)
    }

    /// The end of the kernel's log.
    pub fn last_words(&self) -> String {
        machine::console(&self.folder)
    }
}
