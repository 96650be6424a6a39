//! The generic character device of an NVMe namespace (`/dev/ng0n1` of `/dev/nvme0n1`), which accepts commands that
//! bypass the block layer.
//!
//! It is opened for a block device that has been identified, checked and opened (exclusively if for writing),
//! and that remains open as long as the generic device does. The kernel does not check the character device for
//! other users, so all data protection relies on the block device.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use admin::identify::{self, IDENTIFY_BYTES};
use admin::{Data, NvmeCommand};
use engine::{CommandDevice, Namespace};
use record::errno::reason;
use rustix::fs::{Mode, OFlags};

use crate::ioctl;
use sysfs::{DeviceNumber, Roots, SysDevice};

const IDENTIFY: u8 = 0x06;
/// Identify Namespace (Base 2.0c, figure 273).
const OF_NAMESPACE: u32 = 0x00;
/// Identify Controller.
const OF_CONTROLLER: u32 = 0x01;

/// An open character device.
#[derive(Debug)]
pub(crate) struct Generic {
    fd: OwnedFd,
    namespace: Namespace,
}

impl Generic {
    /// Opens the generic device of an open block device; the error says why the generic device is not
    /// available, or why its namespace cannot be verified to be the same.
    pub(crate) fn of(
        roots: &Roots,
        block: BorrowedFd<'_>,
        sys: &SysDevice,
        writable: bool,
    ) -> io::Result<Self> {
        let other = io::Error::other;
        let name = name_of(&sys.kname).ok_or_else(|| other(format!("{} is not a namespace", sys.kname)))?;
        let class = roots.sys.join("class/nvme-generic").join(&name);
        let registered = fs::read_to_string(class.join("dev")).map_err(|e| {
            other(format!("there is no {name}, which Linux provides since 5.13: {}", reason(&e)))
        })?;
        let parents = [class.join("device"), sys.position().join("device")].map(fs::canonicalize);
        let [Ok(parent), Ok(block_parent)] = parents else {
            return Err(other(format!("/sys does not report the controller of {name}")));
        };
        if parent != block_parent {
            return Err(other(format!("{name} does not belong to the controller of {}", sys.kname)));
        }
        let flags = if writable { OFlags::RDWR } else { OFlags::RDONLY } | OFlags::CLOEXEC;
        let fd = rustix::fs::open(format!("/dev/{name}"), flags, Mode::empty())?;
        let node = File::from(fd.try_clone()?).metadata()?;
        let number = DeviceNumber::from_raw(node.rdev()).to_string();
        if !node.file_type().is_char_device() || number != registered.trim() {
            return Err(other(format!("/dev/{name} is {number} instead of {}", registered.trim())));
        }
        let namespace = same_namespace(fd.as_fd(), block, writable)?;
        let capacity_bytes = ioctl::capacity_bytes(block)?;
        let Namespace { number, block_shift, .. } = namespace.0;
        if namespace.1 << block_shift != capacity_bytes {
            return Err(other(format!("namespace {number} of {name} has a different capacity")));
        }
        Ok(Self { fd, namespace: namespace.0 })
    }

    /// Returns the device in the form that a load requires.
    pub(crate) fn commands(&self) -> CommandDevice<'_> {
        CommandDevice { fd: self.fd.as_fd(), namespace: self.namespace }
    }
}

/// Converts `nvme0n1` to `ng0n1`; returns `None` for a partition or a path of a multipath namespace.
fn name_of(kname: &str) -> Option<String> {
    let rest = kname.strip_prefix("nvme")?;
    let (controller, namespace) = rest.split_once('n')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (number(controller) && number(namespace)).then(|| format!("ng{rest}"))
}

/// Verifies that both files are the same namespace and returns the namespace with its size in blocks.
fn same_namespace(
    generic: BorrowedFd<'_>,
    block: BorrowedFd<'_>,
    writable: bool,
) -> io::Result<(Namespace, u64)> {
    let files = [generic, block];
    let [number, block_number] = files.map(ioctl::nvme_namespace);
    let number = number?;
    let controllers = files.map(|fd| {
        let page = page(fd, 0, OF_CONTROLLER);
        page.map(|page| (identify::serial_of_controller(&page), identify::optional_commands(&page)))
    });
    let [controller, block_controller] = controllers;
    let ((serial, optional_commands), (block_serial, _)) = (controller?, block_controller?);
    if number != block_number? || serial != block_serial {
        return Err(io::Error::other("the character device belongs to another namespace"));
    }
    let pages = files.map(|fd| page(fd, number, OF_NAMESPACE).map(|page| identify::namespace(&page)));
    let [(identity, layout), (block_identity, _)] = {
        let [ours, theirs] = pages;
        [ours?, theirs?]
    };
    if identity != block_identity {
        return Err(io::Error::other("the character device belongs to another namespace"));
    }
    let layout = layout.ok_or_else(|| io::Error::other("the drive does not report its block size"))?;
    if layout.has_metadata {
        return Err(io::Error::other("its blocks carry metadata"));
    }
    let block_shift = layout.block_bytes.trailing_zeros();
    Ok((Namespace { number, block_shift, writable, optional_commands }, identity.size_blocks))
}

/// Returns a page from the Identify command.
fn page(fd: BorrowedFd<'_>, namespace: u32, structure: u32) -> io::Result<[u8; IDENTIFY_BYTES]> {
    let mut bytes = [0; IDENTIFY_BYTES];
    let command = NvmeCommand::of(IDENTIFY, namespace, structure, 0);
    match ioctl::nvme_admin(fd, &command, Data::In(&mut bytes))? {
        (0, _) => Ok(bytes),
        (status, _) => Err(io::Error::other(format!("Identify failed with NVMe status {status:#x}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_namespaces_have_a_generic_device() {
        assert_eq!(name_of("nvme0n1").as_deref(), Some("ng0n1"));
        assert_eq!(name_of("nvme12n34").as_deref(), Some("ng12n34"));
        for other in ["nvme0n1p1", "nvme0c0n1", "nvme0", "sda", "loop0", "nvmen1", "nvme0n"] {
            assert_eq!(name_of(other), None, "{other}");
        }
    }
}
