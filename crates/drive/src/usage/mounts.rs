//! Mounted file systems, in every visible mount namespace, and swap areas.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::gather::{processes, read, thing_at};
use super::{By, Facts, Thing};
use crate::host::{DeviceNumber, Roots, parse_number};

/// A line of `/proc/PID/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    number: DeviceNumber,
    at: String,
    file_system: String,
    source: PathBuf,
}

/// Adds the mounts. Our own namespace must be readable; others are included where the kernel shows them.
pub(super) fn gather(roots: &Roots, facts: &mut Facts) -> io::Result<()> {
    let without_device = without_device(roots);
    let own = roots.proc.join("self");
    add(facts, &own, None, &without_device, &read(&own.join("mountinfo"))?);
    let mut seen: BTreeSet<PathBuf> = fs::read_link(own.join("ns/mnt")).into_iter().collect();
    for (pid, folder) in processes(roots) {
        let Ok(namespace) = fs::read_link(folder.join("ns/mnt")) else { continue };
        if seen.contains(&namespace) {
            continue;
        }
        if let Ok(text) = read(&folder.join("mountinfo")) {
            seen.insert(namespace);
            add(facts, &folder, Some(pid), &without_device, &text);
        }
    }
    Ok(())
}

fn add(facts: &mut Facts, process: &Path, pid: Option<u32>, without_device: &BTreeSet<String>, text: &str) {
    for mount in text.lines().filter_map(parse) {
        let by = By::Mount { at: mount.at.clone(), namespace_of: pid };
        if mount.number.major != 0 {
            facts.used(Thing::Device(mount.number), &mount.number.to_string(), by.clone());
        }
        // Only the source shows the device of btrfs, and of file systems stored in files; the source of a file system
        // without a device is arbitrary text.
        if without_device.contains(&mount.file_system) || !mount.source.is_absolute() {
            continue;
        }
        let name = mount.source.display().to_string();
        let source = match pid {
            None => mount.source.clone(),
            Some(_) => process.join("root").join(mount.source.strip_prefix("/").unwrap_or(&mount.source)),
        };
        match thing_at(&source) {
            Some(thing) => facts.used(thing, &name, by),
            None => used_by_name(facts, &mount.source, by),
        }
    }
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
fn parse(line: &str) -> Option<Mount> {
    let (fields, rest) = line.split_once(" - ")?;
    let mut fields = fields.split(' ');
    let number = parse_number(fields.nth(2)?)?;
    let at = unescape(fields.nth(1)?).to_string_lossy().into_owned();
    let (file_system, rest) = rest.split_once(' ')?;
    let source = unescape(rest.split(' ').next()?);
    Some(Mount { number, at, file_system: file_system.to_owned(), source })
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
        };
        assert_eq!(mount, expected);
        assert_eq!(parse("garbage"), None);
        assert_eq!(unescape(r"\"), PathBuf::from(r"\"));
    }
}
