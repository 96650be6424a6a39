//! A private instance of the kernel's tracer.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::error::CaptureError;

/// Prefix of instance names. It is followed by the process id.
const PREFIX: &str = "plateau-";
/// Maximum size of a tracer file that is read as text.
const LONGEST_TEXT: u64 = 1 << 16;

/// An instance; it is removed when dropped.
pub struct Instance {
    folder: OwnedFd,
    instances: OwnedFd,
    name: String,
    events: Vec<&'static str>,
}

impl Instance {
    /// Opens tracefs, removes instances left by processes that no longer exist, and creates an instance.
    pub fn create() -> Result<Self, CaptureError> {
        let root = tracefs()?;
        let instances = folder(&root, "instances")?;
        remove_abandoned(&instances);
        let name = format!("{PREFIX}{}", rustix::process::getpid().as_raw_nonzero());
        rustix::fs::mkdirat(&instances, &name, Mode::from_raw_mode(0o700))
            .map_err(|errno| failed(&format!("instances/{name}"), errno))?;
        match folder(&instances, &name) {
            Ok(folder) => Ok(Self { folder, instances, name, events: Vec::new() }),
            Err(error) => {
                let _ = rustix::fs::unlinkat(&instances, &name, AtFlags::REMOVEDIR);
                Err(error)
            }
        }
    }

    /// Reads a text file in the instance.
    pub fn read(&self, file: &str) -> Result<String, CaptureError> {
        let mut text = String::new();
        let opened = self.open(file, OFlags::RDONLY)?;
        let read = opened.take(LONGEST_TEXT).read_to_string(&mut text);
        read.map_err(|source| CaptureError::Tracer { file: file.to_owned(), source })?;
        Ok(text)
    }

    /// Writes a setting of the instance.
    pub fn write(&self, file: &str, value: &str) -> Result<(), CaptureError> {
        let written = self.open(file, OFlags::WRONLY)?.write_all(value.as_bytes());
        written.map_err(|source| CaptureError::Tracer { file: file.to_owned(), source })
    }

    /// Opens a file in the instance.
    pub fn open(&self, file: &str, flags: OFlags) -> Result<File, CaptureError> {
        let opened = rustix::fs::openat(&self.folder, file, flags | OFlags::CLOEXEC, Mode::empty());
        opened.map(File::from).map_err(|errno| failed(file, errno))
    }

    /// Names of the CPUs that have a buffer.
    pub fn processors(&self) -> Result<Vec<String>, CaptureError> {
        let fd = folder(&self.folder, "per_cpu")?;
        let mut names: Vec<String> = rustix::fs::Dir::read_from(&fd)
            .map_err(|errno| failed("per_cpu", errno))?
            .flatten()
            .filter_map(|entry| Some(entry.file_name().to_str().ok()?.to_owned()))
            .filter(|name| name.starts_with("cpu"))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Enables an event for one device.
    pub fn enable(&mut self, event: &'static str, device: u64) -> Result<(), CaptureError> {
        self.write(&format!("events/block/{event}/filter"), &format!("dev == {device}"))?;
        self.write(&format!("events/block/{event}/enable"), "1")?;
        self.events.push(event);
        Ok(())
    }

    /// Stops recording.
    pub fn stop(&mut self) {
        // Errors are ignored: removing the instance also stops recording.
        for event in self.events.drain(..).collect::<Vec<_>>() {
            let _ = self.write(&format!("events/block/{event}/enable"), "0");
        }
        let _ = self.write("tracing_on", "0");
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop();
        // If this fails, the next capture removes the instance.
        let _ = rustix::fs::unlinkat(&self.instances, &self.name, AtFlags::REMOVEDIR);
    }
}

/// Opens tracefs without mounting it anywhere.
fn tracefs() -> Result<OwnedFd, CaptureError> {
    let opened = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).and_then(|context| {
        fsconfig_create(context.as_fd())?;
        fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
    });
    opened.map_err(|errno| match errno {
        Errno::PERM | Errno::ACCESS => CaptureError::NotPermitted,
        Errno::NODEV | Errno::NOSYS => CaptureError::NoTracer { what: "tracefs" },
        errno => failed("tracefs", errno),
    })
}

fn folder(parent: &OwnedFd, name: &str) -> Result<OwnedFd, CaptureError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty()).map_err(|errno| failed(name, errno))
}

fn failed(file: &str, errno: Errno) -> CaptureError {
    match errno {
        Errno::PERM | Errno::ACCESS => CaptureError::NotPermitted,
        Errno::NOENT => CaptureError::NoTracer { what: "an event of the block layer, or an instance" },
        errno => CaptureError::Tracer { file: file.to_owned(), source: io::Error::from(errno) },
    }
}

/// Removes the instances of processes that no longer exist.
fn remove_abandoned(instances: &OwnedFd) {
    let Ok(entries) = rustix::fs::Dir::read_from(instances) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().to_str() else { continue };
        let process = name.strip_prefix(PREFIX).and_then(|number| number.parse::<u32>().ok());
        if process.is_some_and(|number| !std::path::Path::new(&format!("/proc/{number}")).exists()) {
            let _ = rustix::fs::unlinkat(instances, name, AtFlags::REMOVEDIR);
        }
    }
}
