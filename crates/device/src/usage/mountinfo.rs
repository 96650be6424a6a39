//! The mount table of each visible mount namespace, `/proc/PID/mountinfo`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::procfs::{processes, read, unescape};
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
