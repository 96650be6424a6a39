//! The generic character device of an NVMe namespace (`/dev/ng0n1` of `/dev/nvme0n1`), which accepts commands that
//! bypass the block layer.
//!
//! It is opened for a block device that has been identified, checked and opened (exclusively for writing), and that
//! stays open as long as this does. The kernel does not check the character device for other users, so everything
//! that protects data is done on the block device.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use rustix::fs::{Mode, OFlags};

use super::Held;
use super::block::Block;
use crate::admin::{Data, NvmeCommand};
use crate::error::reason;
use crate::host::{DeviceNumber, SysDevice};
use crate::ioctl;
use crate::queue::passthrough::Namespace;
use crate::wire::nvme::{self, IDENTIFY_BYTES};

const IDENTIFY: u8 = 0x06;
/// Identify Namespace (Base 2.0c, figure 273).
const OF_NAMESPACE: u32 = 0x00;
/// Identify Controller.
const OF_CONTROLLER: u32 = 0x01;

/// An open character device.
#[derive(Debug)]
pub(crate) struct Generic {
    fd: OwnedFd,
    /// The block device of the same namespace.
    block: OwnedFd,
    pub(crate) namespace: Namespace,
}

impl Generic {
    /// Opens the generic device of an open block device; the error says why there is none, or that its namespace is
    /// not verifiably the same.
    pub(crate) fn of(block: &Block, held: &Held, sys: &SysDevice, writable: bool) -> io::Result<Self> {
        let other = io::Error::other;
        let name = name_of(&sys.kname).ok_or_else(|| other(format!("{} is not a namespace", sys.kname)))?;
        let class = block.roots.sys.join("class/nvme-generic").join(&name);
        let told = fs::read_to_string(class.join("dev")).map_err(|e| {
            other(format!("there is no {name}, which Linux provides since 5.13: {}", reason(&e)))
        })?;
        let parents = [class.join("device"), sys.position().join("device")].map(fs::canonicalize);
        let [Ok(parent), Ok(block_parent)] = parents else {
            return Err(other(format!("/sys does not report what {name} belongs to")));
        };
        if parent != block_parent {
            return Err(other(format!("{name} does not belong to the controller of {}", sys.kname)));
        }
        let flags = if writable { OFlags::RDWR } else { OFlags::RDONLY } | OFlags::CLOEXEC;
        let fd = rustix::fs::open(format!("/dev/{name}"), flags, Mode::empty())?;
        let node = File::from(fd.try_clone()?).metadata()?;
        let number = DeviceNumber::from_raw(node.rdev()).to_string();
        if !node.file_type().is_char_device() || number != told.trim() {
            return Err(other(format!("/dev/{name} is {number} instead of {}", told.trim())));
        }
        let namespace = same_namespace(&fd, held, writable)?;
        let capacity_bytes = ioctl::capacity_bytes(held.fd.as_fd())?;
        let Namespace { number, block_shift, .. } = namespace.0;
        if namespace.1 << block_shift != capacity_bytes {
            return Err(other(format!("namespace {number} of {name} has a different capacity")));
        }
        Ok(Self { fd, block: held.fd.try_clone()?, namespace: namespace.0 })
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Drops the block device's page cache, which may be stale because commands bypass it.
    pub(crate) fn forget_cached(&self) {
        // Nothing can be done if it fails; our own reads are direct.
        let _ = rustix::fs::fadvise(&self.block, 0, None, rustix::fs::Advice::DontNeed);
    }
}

/// Converts `nvme0n1` to `ng0n1`; none for a partition, or a path of a multipath namespace.
fn name_of(kname: &str) -> Option<String> {
    let rest = kname.strip_prefix("nvme")?;
    let (controller, namespace) = rest.split_once('n')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (number(controller) && number(namespace)).then(|| format!("ng{rest}"))
}

/// Verifies that both files are the same namespace, and returns it with its size in blocks.
fn same_namespace(generic: &OwnedFd, held: &Held, writable: bool) -> io::Result<(Namespace, u64)> {
    let files = [generic.as_fd(), held.fd.as_fd()];
    let [number, block_number] = files.map(ioctl::nvme_namespace);
    let number = number?;
    let serials =
        files.map(|fd| identify(fd, 0, OF_CONTROLLER).map(|page| nvme::Controller::decode(&page).serial));
    let [serial, block_serial] = serials;
    if number != block_number? || serial? != block_serial? {
        return Err(io::Error::other("the character device belongs to another namespace"));
    }
    let [told, block_told] =
        files.map(|fd| identify(fd, number, OF_NAMESPACE).map(|page| nvme::Namespace::decode(&page)));
    let (told, block_told) = (told?, block_told?);
    if (&told.nguid, &told.eui64, told.size_blocks)
        != (&block_told.nguid, &block_told.eui64, block_told.size_blocks)
    {
        return Err(io::Error::other("the character device belongs to another namespace"));
    }
    let format = told.formats.iter().find(|format| format.index == told.format);
    let format = format.ok_or_else(|| io::Error::other("the drive does not report its block size"))?;
    if format.metadata_bytes > 0 || told.protection > 0 {
        return Err(io::Error::other("its blocks carry metadata"));
    }
    let block_shift = format.block_bytes.trailing_zeros();
    Ok((Namespace { number, block_shift, writable }, told.size_blocks))
}

fn identify(fd: BorrowedFd<'_>, namespace: u32, structure: u32) -> io::Result<[u8; IDENTIFY_BYTES]> {
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
