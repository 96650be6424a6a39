//! The mount table of each visible mount namespace, `/proc/PID/mountinfo`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::procfs::{entries, processes, read, unescape};
use crate::host::{DeviceNumber, Roots, parse_number};

/// A line of `/proc/PID/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) number: DeviceNumber,
    pub(super) at: String,
    pub(super) file_system: String,
    pub(super) source: PathBuf,
    /// Where it begins in its source (`fsoffset` of EROFS).
    pub(super) offset_bytes: u64,
}

/// A mount namespace, as seen from the root folder of one of its tasks.
pub(super) struct Namespace {
    /// A visible process in it; none for ours.
    pub(super) pid: Option<u32>,
    /// `/proc/PID/root` of that process, or of one of its threads.
    root: PathBuf,
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
    let mountinfo = read(&own.join("mountinfo"))?;
    let mut views: BTreeSet<View> = View::of(&own).into_iter().collect();
    let mut mounts: BTreeSet<Line> = mountinfo.lines().filter_map(identity).collect();
    let mut found = vec![Namespace { pid: None, root: "/".into(), mountinfo }];
    for (pid, folder) in processes(roots) {
        // A thread may have its own namespace or root, and outlive its leader, whose links then lead nowhere.
        for task in std::iter::once(folder.clone()).chain(entries(&folder.join("task"))) {
            let Some(view) = View::of(&task).filter(|view| !views.contains(view)) else { continue };
            let Ok(text) = read(&task.join("mountinfo")) else { continue };
            views.insert(view);
            // Sources are paths as the mounter saw them, which a process with another root would resolve wrongly.
            let is_new = |line: &&str| identity(line).is_some_and(|mount| mounts.insert(mount));
            let mountinfo: String = text.lines().filter(is_new).flat_map(|line| [line, "\n"]).collect();
            if !mountinfo.is_empty() {
                found.push(Namespace { pid: Some(pid), root: task.join("root"), mountinfo });
            }
        }
    }
    Ok(found)
}

/// What a task sees of its mount namespace: only the mounts below its root folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct View {
    namespace: PathBuf,
    root: Option<PathBuf>,
    /// The mount and inode of the root: the same path may lead elsewhere in a mount that covers another.
    place: Option<(u64, u64)>,
}

impl View {
    fn of(task: &Path) -> Option<Self> {
        let namespace = fs::read_link(task.join("ns/mnt")).ok()?;
        let root = task.join("root");
        let wanted = StatxFlags::INO | StatxFlags::MNT_ID;
        let place = rustix::fs::statx(CWD, &root, AtFlags::STATX_DONT_SYNC, wanted).ok();
        let place = place.map(|found| (found.stx_mnt_id, found.stx_ino));
        Some(Self { namespace, root: fs::read_link(&root).ok(), place })
    }
}

/// The ID of a mount, which is unique among all namespaces but may be reused later, with its volume and source.
type Line = (String, DeviceNumber, PathBuf);

fn identity(line: &str) -> Option<Line> {
    let mount = parse(line)?;
    Some((line.split(' ').next()?.to_owned(), mount.number, mount.source))
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
}
