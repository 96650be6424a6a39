//! Mounted file systems, in every visible mount namespace, and swap areas.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::descriptor::{self, Elsewhere};
use super::gather::{node_at, processes, read, thing_at};
use super::overlay::Overlays;
use super::{By, Facts, Thing};
use crate::host::{DeviceNumber, Roots, parse_number};

/// A line of `/proc/PID/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) number: DeviceNumber,
    at: String,
    pub(super) file_system: String,
    source: PathBuf,
    /// Where it begins in its source (`fsoffset` of EROFS).
    offset_bytes: u64,
}

/// A mount namespace.
pub(super) struct Namespace {
    /// A visible process in it; none for ours.
    pub(super) pid: Option<u32>,
    /// `/proc/PID/root` of that process.
    root: PathBuf,
    /// The link `/proc/PID/ns/mnt`, which identifies it.
    link: Option<PathBuf>,
    pub(super) mountinfo: String,
}

impl Namespace {
    /// Returns a path in it as one in ours.
    pub(super) fn within(&self, path: &Path) -> PathBuf {
        match self.pid {
            None => path.to_owned(),
            Some(_) => self.root.join(path.strip_prefix("/").unwrap_or(path)),
        }
    }
}

/// Returns the mount namespaces, ours first. Ours must be readable; others are included where the kernel shows them.
pub(super) fn namespaces(roots: &Roots) -> io::Result<Vec<Namespace>> {
    let own = roots.proc.join("self");
    let link = fs::read_link(own.join("ns/mnt")).ok();
    let mountinfo = read(&own.join("mountinfo"))?;
    let mut found = vec![Namespace { pid: None, root: "/".into(), link, mountinfo }];
    for (pid, folder) in processes(roots) {
        let Ok(link) = fs::read_link(folder.join("ns/mnt")) else { continue };
        if found.iter().any(|known| known.link.as_ref() == Some(&link)) {
            continue;
        }
        if let Ok(mountinfo) = read(&folder.join("mountinfo")) {
            found.push(Namespace { pid: Some(pid), root: folder.join("root"), link: Some(link), mountinfo });
        }
    }
    Ok(found)
}

/// Adds the mounts.
pub(super) fn gather(roots: &Roots, facts: &mut Facts, namespaces: &[Namespace], overlays: &Overlays<'_>) {
    let without_device = without_device(roots);
    for namespace in namespaces {
        for mount in namespace.mountinfo.lines().filter_map(parse) {
            // The source of a file system without a device is arbitrary text.
            let has_source = !without_device.contains(&mount.file_system);
            add(facts, namespace, overlays, &mount, has_source);
        }
    }
}

fn add(facts: &mut Facts, namespace: &Namespace, overlays: &Overlays<'_>, mount: &Mount, has_source: bool) {
    let by = By::Mount { at: mount.at.clone(), namespace_of: namespace.pid };
    if mount.number.major != 0 {
        facts.used(Thing::Device(mount.number), &mount.number.to_string(), by.clone());
    }
    if !has_source {
        return;
    }
    // Only the source shows the device of btrfs, and of file systems stored in files.
    let source = namespace.within(&mount.source);
    let thing = thing_at(&source).filter(|_| mount.source.is_absolute());
    if is_in_unknown_file(mount, thing, &source) {
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

/// Whether a file system has data in a file that the mount table does not show: the one at its source was renamed, so
/// that another one or none is there by now, or it has further ones.
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

/// Whether an EROFS begins there and has no further devices (fs/erofs/erofs_fs.h, `struct erofs_super_block`).
fn is_whole_erofs(source: &Path, offset_bytes: u64) -> bool {
    const MAGIC: [u8; 4] = 0xE0F5_E1E2_u32.to_le_bytes();
    const AT: u64 = 1024;
    const EXTRA_DEVICES: usize = 86;
    let mut block = [0; 128];
    let read = opened(source).and_then(|file| rustix::io::pread(file, &mut block, offset_bytes + AT).ok());
    read == Some(block.len()) && block.starts_with(&MAGIC) && block[EXTRA_DEVICES..][..2] == [0, 0]
}

/// Falls back to the kernel name where the source is not a device node.
fn used_by_name(facts: &mut Facts, source: &Path, by: By) {
    let Ok(kname) = source.strip_prefix("/dev") else { return };
    let node = facts.nodes.iter().find(|node| Path::new(&node.name) == kname);
    if let Some((thing, name)) = node.and_then(|node| Some((node.thing?, node.name.clone()))) {
        facts.used(thing, &name, by);
    }
}

/// Adds the active swap areas. An unlinked swap file is detected only through its descriptor.
pub(super) fn swaps(roots: &Roots, facts: &mut Facts) -> io::Result<()> {
    let text = match read(&roots.proc.join("swaps")) {
        // A kernel without swap has no such file.
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

/// Returns the names of file systems without a device.
fn without_device(roots: &Roots) -> BTreeSet<String> {
    let text = read(&roots.proc.join("filesystems")).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("nodev\t")).map(str::to_owned).collect()
}

/// Parses `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw` (proc_pid_mountinfo(5)).
pub(super) fn parse(line: &str) -> Option<Mount> {
    let (fields, rest) = line.split_once(" - ")?;
    let mut fields = fields.split(' ');
    let number = parse_number(fields.nth(2)?)?;
    let at = unescape(fields.nth(1)?).to_string_lossy().into_owned();
    let (file_system, rest) = rest.split_once(' ')?;
    let (source, options) = rest.split_once(' ')?;
    let offset = options.split(',').find_map(|option| option.strip_prefix("fsoffset="));
    let offset_bytes = offset.and_then(|offset| offset.parse().ok()).unwrap_or(0);
    Some(Mount { number, at, file_system: file_system.to_owned(), source: unescape(source), offset_bytes })
}

/// Unescapes a path: the kernel writes blanks and backslashes as `\040` and the like.
pub(crate) fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let code = octal.and_then(|octal| u8::from_str_radix(std::str::from_utf8(octal).ok()?, 8).ok());
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 4 } else { 1 };
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_lines_are_understood() {
        let mount =
            parse(r"36 35 98:0 / /a\040b rw,noatime master:1 - ext3 /dev/sd\134a rw").expect("a mount");
        let expected = Mount {
            number: DeviceNumber { major: 98, minor: 0 },
            at: "/a b".into(),
            file_system: "ext3".into(),
            source: r"/dev/sd\a".into(),
            offset_bytes: 0,
        };
        assert_eq!(mount, expected);
        let shifted =
            parse("36 35 0:40 / /a ro - erofs /image ro,user_xattr,fsoffset=4096").expect("a mount");
        assert_eq!(shifted.offset_bytes, 4096);
        assert_eq!(parse("garbage"), None);
        assert_eq!(unescape(r"\"), PathBuf::from(r"\"));
    }

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
