//! Lines of `/proc/PID/mountinfo`.

use std::path::PathBuf;

use crate::number::{DeviceNumber, parse_number};

/// A line of `/proc/PID/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
pub struct Mount {
    /// ID of the mount.
    pub id: u64,
    /// Device number. Its major number is 0 if the file system has no device number of its own, as with btrfs.
    pub number: DeviceNumber,
    /// The part of the file system that is mounted: a folder, a file, or the name of a namespace such as
    /// `net:[4026532201]`.
    pub root: PathBuf,
    /// Mount point.
    pub at: String,
    /// Mount options, followed by the file system options that are not among them.
    pub options: String,
    /// Type, such as `ext4`, or with a subtype, `fuse.sshfs`.
    pub file_system: String,
    /// Usually the device, as it was specified to mount(8).
    pub source: PathBuf,
    /// Start of the file system within its source (`fsoffset` of EROFS).
    pub offset_bytes: u64,
}

/// Parses `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw` (proc_pid_mountinfo(5)).
#[must_use]
pub fn parse(line: &str) -> Option<Mount> {
    let (fields, rest) = line.split_once(" - ")?;
    let mut fields = fields.split(' ');
    // A mount must not be overlooked because the kernel has changed a field.
    let id = fields.next()?.parse().unwrap_or_default();
    let number = parse_number(fields.nth(1)?)?;
    let root = unescape(fields.next()?);
    let at = unescape(fields.next()?).to_string_lossy().into_owned();
    let own = fields.next().unwrap_or_default();
    let (file_system, rest) = rest.split_once(' ')?;
    let (source, of_all) = rest.split_once(' ')?;
    let offset = of_all.split(',').find_map(|option| option.strip_prefix("fsoffset="));
    let offset_bytes = offset.and_then(|offset| offset.parse().ok()).unwrap_or(0);
    let further = of_all.split(',').filter(|option| own.split(',').all(|known| known != *option));
    let options = [own].into_iter().chain(further).collect::<Vec<_>>().join(",");
    let (file_system, source) = (file_system.to_owned(), unescape(source));
    Some(Mount { id, number, root, at, options, file_system, source, offset_bytes })
}

/// Unescapes a path: the kernel writes spaces and backslashes as `\040` and the like.
#[must_use]
pub fn unescape(text: &str) -> PathBuf {
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
        let mount = parse(r"36 35 98:0 / /a\040b rw,noatime master:1 - ext3 /dev/sd\134a rw,discard");
        let expected = Mount {
            id: 36,
            number: DeviceNumber { major: 98, minor: 0 },
            root: "/".into(),
            at: "/a b".into(),
            options: "rw,noatime,discard".into(),
            file_system: "ext3".into(),
            source: r"/dev/sd\a".into(),
            offset_bytes: 0,
        };
        assert_eq!(mount, Some(expected));
        let shifted =
            parse("36 35 0:40 / /a ro - erofs /image ro,user_xattr,fsoffset=4096").expect("a mount");
        assert_eq!(shifted.offset_bytes, 4096);
        assert_eq!(parse("garbage"), None);
        assert_eq!(unescape(r"\"), PathBuf::from(r"\"));
    }
}
