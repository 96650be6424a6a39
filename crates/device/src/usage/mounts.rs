//! Mounted file systems in all visible mount namespaces, and swap areas.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::descriptor::{self, Elsewhere};
use super::facts::{By, Facts};
use super::mountinfo::{Mount, Namespace, namespaces, parse};
use super::overlay::Overlays;
use super::procfs::{entries, read, unescape};
use super::stored::node_at;
use super::thing::{Thing, thing_at};
use sysfs::Roots;

/// Returns the mount namespaces; our own is the first. Namespaces that only a descriptor keeps alive are
/// included if a mounted file system appears in none of the others.
pub(super) fn all_namespaces(roots: &Roots) -> io::Result<Vec<Namespace>> {
    let pause = &mut || std::thread::sleep(Duration::from_millis(50));
    let found = namespaces(roots, false, pause)?;
    if has_unlisted_erofs(roots, &found) { namespaces(roots, true, pause) } else { Ok(found) }
}

/// Adds the mounts.
pub(super) fn gather(roots: &Roots, facts: &mut Facts, read: &[Namespace], overlays: &Overlays<'_>) {
    let kinds = FileSystems::of(roots);
    for namespace in read {
        for mount in namespace.mountinfo.lines().filter_map(parse) {
            add(facts, namespace, overlays, &mount, kinds.source_of(&mount));
        }
    }
    // Mounts may come and go while the tables are being read, but a hidden mount stays hidden.
    let again = || all_namespaces(roots).is_ok_and(|read| !has_unlisted_erofs(roots, &read));
    if has_unlisted_erofs(roots, read) && !again() {
        let what = "an EROFS that no mount table shows may have its data in any file; stop the processes that \
                    have its files open";
        facts.add_unseen(what.into(), true);
    }
}

/// Returns whether an EROFS without a device is in use although no mount table shows it, because its mount was
/// detached while in use or was never attached. The kernel has a folder for each EROFS, named `erofs-25`, for
/// example, or after the device (fs/erofs/sysfs.c).
fn has_unlisted_erofs(roots: &Roots, namespaces: &[Namespace]) -> bool {
    let is_in_file = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name != "features" && roots.number_of(name).is_none()
    };
    let count = entries(&roots.sys.join("fs/erofs")).iter().filter(|folder| is_in_file(folder)).count();
    let mounts = namespaces.iter().flat_map(|namespace| namespace.mountinfo.lines()).filter_map(parse);
    let in_files = mounts.filter(|mount| mount.file_system == "erofs" && mount.number.major == 0);
    let listed: BTreeSet<_> = in_files.map(|mount| mount.number).collect();
    count > listed.len()
}

fn add(facts: &mut Facts, namespace: &Namespace, overlays: &Overlays<'_>, mount: &Mount, source: Source) {
    let at = match &namespace.kept_by {
        None => mount.at.clone(),
        Some(kept_by) => format!("{} (in a mount namespace that {kept_by} keeps)", mount.at),
    };
    let by = By::Mount { at, namespace_of: namespace.pid };
    if mount.number.major != 0 {
        facts.used(Thing::Device(mount.number), &mount.number.to_string(), by.clone());
    }
    if source == Source::Text {
        return;
    }
    // Only the source shows the device of a btrfs or of a file system that is stored in a file.
    let within = namespace.within(&mount.source);
    let thing = Some(&within).filter(|_| mount.source.is_absolute()).and_then(|path| thing_at(path));
    if source == Source::Device && is_in_unknown_file(mount, thing, &within) {
        let what = format!("the file system at {} may have its data in any file; unmount it", mount.at);
        facts.add_unseen(what, true);
    }
    match thing {
        Some(thing) => {
            node_at(facts, overlays, thing, &mount.source);
            facts.used(thing, "", by);
        }
        None => used_by_name(facts, &mount.source, by),
    }
}

/// Returns whether a file system has data in a file that the mount table does not show: either the file at its source
/// was renamed, so that the path is now unused or belongs to another file, or the file system spans several files.
fn is_in_unknown_file(mount: &Mount, thing: Option<Thing>, source: &Path) -> bool {
    if mount.file_system == "erofs" && !is_whole_erofs(source, mount.offset_bytes) {
        return true;
    }
    // btrfs and bcachefs have devices, which they claim.
    if mount.number.major != 0 || ["btrfs", "bcachefs"].contains(&mount.file_system.as_str()) {
        return false;
    }
    match thing {
        Some(Thing::Device(_)) => false,
        None => true,
        Some(Thing::File { .. }) => {
            let file = opened(source);
            file.is_some_and(|file| descriptor::open_elsewhere(&file) == Elsewhere::No)
        }
    }
}

fn opened(source: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(source, flags, Mode::empty()).ok()
}

/// Returns whether an EROFS without further devices begins at this offset (`struct erofs_super_block`).
fn is_whole_erofs(source: &Path, offset_bytes: u64) -> bool {
    const MAGIC: [u8; 4] = 0xE0F5_E1E2_u32.to_le_bytes();
    const AT: u64 = 1024;
    const EXTRA_DEVICES: usize = 86;
    let mut block = [0; 128];
    let read = opened(source).and_then(|file| rustix::io::pread(file, &mut block, offset_bytes + AT).ok());
    read == Some(block.len()) && block.starts_with(&MAGIC) && block[EXTRA_DEVICES..][..2] == [0, 0]
}

/// Fallback for a source that is not a device node: finds the device by its kernel name.
fn used_by_name(facts: &mut Facts, source: &Path, by: By) {
    let Ok(kname) = source.strip_prefix("/dev") else { return };
    let node = facts.nodes.iter().find(|node| Path::new(&node.name) == kname);
    if let Some((thing, name)) = node.and_then(|node| Some((node.thing?, node.name.clone()))) {
        facts.used(thing, &name, by);
    }
}

/// Adds the active swap areas. An unlinked swap file has no usable path; only the check on the target's open
/// descriptor detects it.
pub(super) fn swaps(roots: &Roots, facts: &mut Facts) -> io::Result<()> {
    let text = match read(&roots.proc.join("swaps")) {
        // A kernel without swap does not have this file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for area in text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape) {
        match thing_at(&area) {
            Some(thing) => facts.used(thing, &area.display().to_string(), By::Swap),
            None => used_by_name(facts, &area, By::Swap),
        }
    }
    Ok(())
}

/// What the source field of a mount refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The device or file that contains the file system.
    Device,
    /// Possibly the path of that device or file, as with FUSE servers for images.
    DeviceIfAny,
    /// Arbitrary text.
    Text,
}

/// The types of file systems that the kernel supports, and whether they need a device.
struct FileSystems {
    /// `None` if the list cannot be read.
    with_device: Option<BTreeSet<String>>,
}

impl FileSystems {
    fn of(roots: &Roots) -> Self {
        let text = read(&roots.proc.join("filesystems")).ok();
        let with_device = |text: String| {
            text.lines().filter_map(|line| line.strip_prefix('\t')).map(str::to_owned).collect()
        };
        Self { with_device: text.map(with_device) }
    }

    /// Types that are not listed are internal to the kernel (`nsfs`, `pidfs`, `rootfs`) and have no device.
    fn source_of(&self, mount: &Mount) -> Source {
        let (kind, subtype) = mount.file_system.split_once('.').unwrap_or((&mount.file_system, ""));
        match &self.with_device {
            Some(with_device) if !with_device.contains(kind) => {
                if subtype.is_empty() {
                    Source::Text
                } else {
                    Source::DeviceIfAny
                }
            }
            _ => Source::Device,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erofs_is_whole_without_further_devices() {
        let image = tempfile::NamedTempFile::new().expect("a file");
        let write = |at: usize, bytes: &[u8]| {
            let mut content = std::fs::read(image.path()).expect("a file");
            content.resize(content.len().max(8192), 0);
            content[at..at + bytes.len()].copy_from_slice(bytes);
            std::fs::write(image.path(), content).expect("a file");
        };
        assert!(!is_whole_erofs(image.path(), 0), "empty");
        write(1024, &0xE0F5_E1E2_u32.to_le_bytes());
        assert!(is_whole_erofs(image.path(), 0));
        assert!(!is_whole_erofs(image.path(), 512));
        write(512 + 1024, &0xE0F5_E1E2_u32.to_le_bytes());
        assert!(is_whole_erofs(image.path(), 512));
        write(1024 + 86, &1u16.to_le_bytes());
        assert!(!is_whole_erofs(image.path(), 0), "a blob in another file");
        assert!(!is_whole_erofs(Path::new("/no/such/image"), 0));
    }
}
