//! Creates wrong targets of every kind, which are removed when the test ends.

use std::any::Any;
use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

use super::support::{self, Loop, command};
use crate::OpenOptions;
use crate::error::ErrorKind;
use crate::open::open_single;
use sysfs::Roots;

pub(super) const SIZE: u64 = 32 << 20;

/// Changes a target between opening and arming.
type Meddle = Box<dyn FnOnce() -> Result<Box<dyn Any>, String>>;

/// A wrong target.
pub(super) struct Wrong {
    pub(super) path: String,
    /// The identity to type; by default, the target's identity.
    pub(super) typed: Typed,
    pub(super) roots: Roots,
    /// Runs between opening and arming; returns values that must outlive the attempt, or a reason to skip.
    pub(super) meddle: Option<Meddle>,
    /// Values that must outlive the attempt. They are dropped in reverse order of creation.
    pub(super) kept: Vec<Box<dyn Any>>,
}

pub(super) enum Typed {
    Own,
    Nothing,
    This(String),
}

impl Wrong {
    pub(super) fn at(path: impl Into<String>) -> Self {
        let (roots, meddle) = (Roots::default(), None);
        Self { path: path.into(), typed: Typed::Own, roots, meddle, kept: Vec::new() }
    }

    pub(super) fn keep(mut self, kept: impl Any) -> Self {
        self.kept.insert(0, Box::new(kept));
        self
    }

    pub(super) fn typing(self, typed: Typed) -> Self {
        Self { typed, ..self }
    }

    /// Opens and arms the target; returns the error's message and kind, or a reason to skip.
    pub(super) fn attempt(&mut self) -> Result<(String, ErrorKind), String> {
        let drive = match open_single(&self.path, &OpenOptions::default(), self.roots.clone()) {
            Ok(drive) => drive,
            Err(error) => return Ok((error.to_string(), error.kind())),
        };
        let own = drive.facts().identity.clone();
        if let Some(meddle) = self.meddle.take() {
            self.kept.insert(0, meddle()?);
        }
        let typed = match &self.typed {
            Typed::Own => Some(own.as_str()),
            Typed::Nothing => None,
            Typed::This(text) => Some(text.as_str()),
        };
        let error = drive.arm(typed).expect_err("a refusal");
        Ok((error.to_string(), error.kind()))
    }
}

/// A command, such as `umount` or `swapoff`, that is run on drop.
pub(super) struct After(pub(super) &'static str, pub(super) String);

impl Drop for After {
    fn drop(&mut self) {
        drop(command(self.0, &[&self.1]));
    }
}

pub(super) fn device() -> Option<Loop> {
    Loop::new(SIZE, &[])
}

pub(super) fn put(path: impl AsRef<Path>, at: u64, content: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("something to write to");
    file.write_all_at(content, at).expect("a write");
}

/// Returns a device with these bytes at an offset.
pub(super) fn carrying(at: u64, magic: &[u8]) -> Option<Wrong> {
    let device = device()?;
    put(&device.path, at, magic);
    Some(Wrong::at(&device.path).keep(device))
}

pub(super) fn prepared(program: &str, device: Loop) -> Option<Loop> {
    command(program, &["-q", &device.path])
        .or_else(|_| command(program, &[&device.path]))
        .ok()
        .map(|_| device)
}

/// Returns a mounted device with a folder in its file system; mounted read-only, so that the kernel does not
/// change it.
pub(super) fn mounted() -> Option<(Loop, After, tempfile::TempDir)> {
    let device = prepared("mkfs.ext4", device()?)?;
    let dir = support::directory();
    let at = dir.path().to_str().expect("a path").to_owned();
    command("mount", &[&device.path, &at]).ok()?;
    let made = fs::create_dir(dir.path().join("runs"));
    command("umount", &[&at]).ok()?;
    made.ok()?;
    command("mount", &["-o", "ro", &device.path, &at]).ok()?;
    Some((device, After("umount", at), dir))
}

/// A real loop device with mock attributes.
pub(super) struct Host {
    pub(super) dir: tempfile::TempDir,
    pub(super) device: Loop,
}

impl Host {
    pub(super) fn new() -> Option<Self> {
        let host = Self { dir: support::directory(), device: device()? };
        let kname = host.device.kname().to_owned();
        let number = fs::read_to_string(format!("/sys/block/{kname}/dev")).ok()?;
        host.write(&format!("sys/devices/{kname}/dev"), &number);
        fs::create_dir_all(host.path(&format!("sys/devices/{kname}/holders"))).ok()?;
        host.link(&format!("sys/devices/{kname}"), &format!("sys/dev/block/{}", number.trim()));
        host.link(&format!("sys/devices/{kname}"), &format!("sys/block/{kname}"));
        host.write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        host.write("proc/swaps", "Filename Type Size Used Priority\n");
        Some(host)
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().expect("a parent")).expect("a folder");
        fs::write(self.path(path), text).expect("a file");
    }

    pub(super) fn link(&self, to: &str, at: &str) {
        fs::create_dir_all(self.path(at).parent().expect("a parent")).expect("a folder");
        symlink(self.path(to), self.path(at)).expect("a link");
    }

    /// Sets an attribute of the device.
    pub(super) fn with(self, attribute: &str, text: &str) -> Self {
        self.write(&format!("sys/devices/{}/{attribute}", self.device.kname()), text);
        self
    }

    /// Sets an attribute of another device on the host.
    pub(super) fn with_other(self, kname: &str, attribute: &str, text: &str) -> Self {
        self.write(&format!("sys/devices/{kname}/{attribute}"), text);
        if !self.path(&format!("sys/block/{kname}")).exists() {
            self.link(&format!("sys/devices/{kname}"), &format!("sys/block/{kname}"));
        }
        self
    }

    pub(super) fn held_by(self, kname: &str, uuid: &str) -> Option<Wrong> {
        self.with(&format!("holders/{kname}"), "").with_other(kname, "dm/uuid", uuid).wrong()
    }

    pub(super) fn wrong(self) -> Option<Wrong> {
        let roots = Roots { sys: self.path("sys"), proc: self.path("proc") };
        Some(Wrong { roots, ..Wrong::at(&self.device.path) }.keep(self))
    }
}

/// Returns a device node that is replaced by the node of another device between opening and arming.
pub(super) fn exchanged() -> Option<Wrong> {
    // Avoid tmpfs, which may not allow device nodes.
    let (first, second, dir) = (device()?, device()?, tempfile::tempdir().ok()?);
    let node = dir.path().join("node");
    let make = |device: &Loop, node: &Path| {
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.kname())).ok()?;
        let (major, minor) = number.trim().split_once(':')?;
        command("mknod", &[node.to_str()?, "b", major, minor]).ok()
    };
    make(&first, &node)?;
    fs::File::open(&node).ok()?;
    let (other, place) = (dir.path().join("other"), node.clone());
    make(&second, &other)?;
    let meddle = move || -> Result<Box<dyn Any>, String> {
        fs::rename(&other, &place).expect("another node in its place");
        Ok(Box::new(()))
    };
    let wrong = Wrong::at(node.to_str()?);
    Some(Wrong { meddle: Some(Box::new(meddle)), ..wrong }.keep(first).keep(second).keep(dir))
}

/// Returns a device whose image is replaced between opening and arming.
pub(super) fn attached_anew() -> Option<Wrong> {
    let (mut device, dir) = (device()?, support::directory());
    let other = dir.path().join("other");
    fs::File::create(&other).and_then(|file| file.set_len(SIZE)).ok()?;
    let wrong = Wrong::at(&device.path).keep(dir);
    let meddle = move || -> Result<Box<dyn Any>, String> {
        device.exchange(&other)?;
        Ok(Box::new(device))
    };
    Some(Wrong { meddle: Some(Box::new(meddle)), ..wrong })
}

pub(super) fn resized() -> Option<Wrong> {
    let device = device()?;
    let (path, image) = (device.path.clone(), device.image.clone());
    let meddle = move || -> Result<Box<dyn Any>, String> {
        fs::OpenOptions::new()
            .write(true)
            .open(&image)
            .and_then(|file| file.set_len(2 * SIZE))
            .expect("a size");
        command("losetup", &["--set-capacity", &path]).expect("another capacity");
        Ok(Box::new(()))
    };
    Some(Wrong { meddle: Some(Box::new(meddle)), ..Wrong::at(&device.path) }.keep(device))
}

/// Returns a path in a separate folder.
pub(super) fn in_folder(name: &str, make: impl FnOnce(&Path) -> Option<()>) -> Option<Wrong> {
    let dir = support::directory();
    let path = dir.path().join(name);
    make(&path)?;
    Some(Wrong::at(path.to_str()?).keep(dir))
}
