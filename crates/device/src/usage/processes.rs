//! Other processes that have a block device or a relevant file open for writing, locked, or mapped.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::facts::{By, Facts};
use super::overlay::{Overlays, Stored};
use super::procfs::{processes, read};
use super::rings;
use super::thing::{Thing, thing_at};
use crate::refusal::Access;
use sysfs::{DeviceNumber, Roots};

/// Number of times that the list of processes is read, until each new process lives long enough to be inspected.
/// Inspecting a few processes takes less than a millisecond.
const PASSES: u32 = 200;

/// Adds the processes that this user may inspect; others remain undetected.
pub(super) fn gather(roots: &Roots, facts: &mut Facts, overlays: &Overlays<'_>) {
    let files: BTreeSet<Thing> = facts.nodes.iter().filter_map(|node| node.thing).collect();
    let relevant = Relevant { files, overlays };
    let mut known = BTreeSet::from([own_pid(roots)]);
    for _ in 0..PASSES {
        let mut new = processes(roots);
        new.retain(|(pid, _)| known.insert(*pid));
        let mut has_one_ended = false;
        for (pid, folder) in new {
            add(roots, facts, &relevant, pid, &folder);
            // Before it was inspected, the process may have started another process and passed its files on.
            if has_ended(&folder) {
                has_one_ended = true;
                // The kernel may reuse the ID after that. A zombie still has its ID.
                if !folder.exists() {
                    known.remove(&pid);
                }
            }
        }
        if !has_one_ended {
            return;
        }
    }
    let what = "processes start and end faster than they can be inspected; wait until fewer are started, or \
                stop whatever starts them";
    facts.add_unseen(what.into(), false);
}

/// Returns whether a process no longer exists or has already released its files (proc_pid_stat(5)).
fn has_ended(folder: &Path) -> bool {
    let text = read(&folder.join("stat")).unwrap_or_default();
    let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.map_or_else(|| !folder.exists(), |state| "ZX".contains(state))
}

/// Returns the ID of this process in this `/proc`, which may belong to an outer PID namespace.
fn own_pid(roots: &Roots) -> u32 {
    let link = fs::read_link(roots.proc.join("self"));
    link.ok().and_then(|pid| pid.to_str()?.parse().ok()).unwrap_or_else(std::process::id)
}

/// Adds everything that a process uses.
fn add(roots: &Roots, facts: &mut Facts, relevant: &Relevant<'_>, pid: u32, folder: &Path) {
    let mut found = descriptors(folder, relevant);
    let mut mapped = mappings(folder, relevant);
    for task in tasks_apart(roots, folder, pid) {
        found.extend(descriptors(&task, relevant));
        // The threads of a process share an address space, but the list of mappings of a leader that has exited is
        // empty.
        if mapped.is_empty() {
            mapped = mappings(&task, relevant);
        }
    }
    found.extend(mapped);
    let name = read(&folder.join("comm")).unwrap_or_default().trim().to_owned();
    for (opened, access) in found {
        match opened {
            Opened::Known(thing) => {
                facts.used(thing, &thing.to_string(), By::Process { pid, name: name.clone(), access });
            }
            Opened::Hidden => {
                let what = format!(
                    "process {pid} ({name}) uses a file on an overlay, or with a path, that is not visible from \
                     here; stop it"
                );
                facts.add_unseen(what, true);
            }
        }
    }
}

/// A file of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    Known(Thing),
    /// A file that cannot be identified; it may be any regular file.
    Hidden,
}

/// Relevant files of processes: block devices, and files that are already among the facts.
struct Relevant<'a> {
    files: BTreeSet<Thing>,
    overlays: &'a Overlays<'a>,
}

impl Relevant<'_> {
    fn contains(&self, thing: Thing) -> bool {
        matches!(thing, Thing::Device(_)) || self.files.contains(&thing)
    }

    /// Returns the object of a link in a process's folder if the object, or the file that stores its content, is
    /// relevant.
    fn at(&self, link: &Path) -> Option<Opened> {
        self.opened(thing_at(link)?, || self.overlays.stored_of_link(link))
    }

    /// Same as [`at`](Self::at), for a file registered with a ring; `path` is its path as seen by the process.
    /// By now, another file may be there.
    fn registered_at(&self, folder: &Path, path: &Path) -> Option<Opened> {
        // Other links are not paths, such as `socket:[123]`.
        let inside = path.strip_prefix("/").ok()?;
        if let Some(link) = rings::descriptor_of(folder, path) {
            return self.at(&link);
        }
        let within = folder.join("root").join(inside);
        if !rings::is_at(path, &within) {
            return Some(Opened::Hidden);
        }
        let thing = thing_at(&within)?;
        self.opened(thing, || self.overlays.stored(thing, path))
    }

    fn opened(&self, thing: Thing, stored: impl FnOnce() -> Stored) -> Option<Opened> {
        if self.contains(thing) || !self.overlays.may_hold(thing) {
            return Some(Opened::Known(thing)).filter(|_| self.contains(thing));
        }
        match stored() {
            // The kernel accepts no upper layer that is on another overlay.
            Stored::Upper { thing, .. } => Some(Opened::Known(thing)).filter(|_| self.contains(thing)),
            // A process that opened the file for writing uses a copy in the upper layer.
            Stored::Here | Stored::Lower { .. } => None,
            Stored::Unknown => Some(Opened::Hidden),
        }
    }
}

/// Returns threads that may have their own descriptors (`unshare(CLONE_FILES)`) or that outlive their leader.
fn tasks_apart(roots: &Roots, folder: &Path, pid: u32) -> Vec<PathBuf> {
    // Threads cannot be compared by IDs from another PID namespace.
    let are_ours = own_pid(roots) == std::process::id();
    let entries = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
    let numbered =
        entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
    let apart = numbered.filter(|(tid, _)| *tid != pid && !(are_ours && shares(pid, *tid, KCMP_FILES)));
    apart.map(|(_, task)| task).collect()
}

/// `KCMP_FILES` of kcmp(2): the descriptor table.
const KCMP_FILES: libc::c_int = 2;

/// Returns whether two threads share a resource; `false` if unknown.
fn shares(pid: u32, tid: u32, what: libc::c_int) -> bool {
    let none: libc::c_ulong = 0;
    // SAFETY: compares two tasks in the kernel and accesses no memory of this process.
    unsafe { libc::syscall(libc::SYS_kcmp, pid as libc::c_long, tid as libc::c_long, what, none, none) == 0 }
}

/// Returns the block devices and relevant files that a process has opened for more than reading.
fn descriptors(folder: &Path, relevant: &Relevant<'_>) -> Vec<(Opened, Access)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join("fd")).into_iter().flatten().flatten() {
        let info = folder.join("fdinfo").join(entry.file_name());
        if let Some(opened) = relevant.at(&entry.path()) {
            let access = read(&info).ok().and_then(|info| access_of(&info));
            found.extend(access.map(|access| (opened, access)));
        } else if fs::read_link(entry.path()).is_ok_and(|link| link.as_os_str() == rings::NAME) {
            let registered = rings::registered(&info);
            let registered = registered.iter().filter_map(|path| relevant.registered_at(folder, path));
            found.extend(registered.map(|opened| (opened, Access::Registered)));
        }
    }
    found
}

/// Parses `/proc/PID/fdinfo/FD`: octal flags, and a line for each lock (proc_pid_fdinfo(5)).
fn access_of(info: &str) -> Option<Access> {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = i32::from_str_radix(flags.trim(), 8).ok()?;
    if flags & libc::O_PATH != 0 {
        return None;
    }
    if info.lines().any(|line| line.starts_with("lock:")) {
        return Some(Access::Locked);
    }
    (flags & libc::O_ACCMODE != libc::O_RDONLY).then_some(Access::Writing)
}

/// Returns the objects that a process has mapped shared and may write to; their descriptors may already be closed.
fn mappings(folder: &Path, relevant: &Relevant<'_>) -> Vec<(Opened, Access)> {
    let text = read(&folder.join("maps")).unwrap_or_default();
    let mut ranges: Option<Option<BTreeSet<String>>> = None;
    // mprotect(2) can make a mapping writable if the file was opened for writing. When in doubt, assume that the
    // file was opened for writing.
    let mut can_be_made_writable = |range: &str| {
        let read = || read(&folder.join("smaps")).ok().map(|text| may_be_written(&text));
        ranges.get_or_insert_with(read).as_ref().is_none_or(|ranges| ranges.contains(range))
    };
    let mapped = |line: &str| {
        let mapping = shared_mapping(line)?;
        // For a device node, the volume and inode of the node itself are listed, and the node may be on any file
        // system. Only root may follow the link to the device. For a file on an overlay, some kernels list the stored
        // file.
        let link = folder.join("map_files").join(mapping.range);
        let listed = Thing::File { volume: mapping.volume, inode: mapping.inode };
        let listed = || relevant.contains(listed).then_some(Opened::Known(listed));
        let opened = relevant.at(&link).or_else(listed)?;
        (mapping.is_writable || can_be_made_writable(mapping.range)).then_some((opened, Access::Mapped))
    };
    text.lines().filter_map(mapped).collect()
}

/// A shared file mapping in `/proc/PID/maps`.
#[derive(Debug, PartialEq, Eq)]
struct Mapping<'a> {
    range: &'a str,
    volume: DeviceNumber,
    inode: u64,
    is_writable: bool,
}

/// Parses `7f01-7f02 rw-s 00000000 08:01 131 /path` (proc_pid_maps(5)), if it is shared.
fn shared_mapping(line: &str) -> Option<Mapping<'_>> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights, _offset) = (fields.next()?, fields.next()?, fields.next()?);
    let volume = hexadecimal(fields.next()?)?;
    let inode = fields.next()?.parse().ok().filter(|inode| *inode != 0)?;
    let is_writable = rights.as_bytes().get(1) == Some(&b'w');
    rights.ends_with('s').then_some(Mapping { range, volume, inode, is_writable })
}

/// Ranges in `/proc/PID/smaps` whose `VmFlags` contain `mw`, "may write" (proc_pid_smaps(5)).
fn may_be_written(smaps: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut range = "";
    for line in smaps.lines() {
        let first = line.split_ascii_whitespace().next().unwrap_or_default();
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            if flags.split_ascii_whitespace().any(|flag| flag == "mw") {
                found.insert(range.to_owned());
            }
        } else if !first.ends_with(':') {
            range = first;
        }
    }
    found
}

/// Adds the file locks in `/proc/locks`; locks on block devices are found through the descriptors above.
pub(super) fn locks(roots: &Roots, facts: &mut Facts) {
    let own = own_pid(roots).to_string();
    let text = read(&roots.proc.join("locks")).unwrap_or_default();
    for (volume, inode) in text.lines().filter_map(|line| lock(line, &own)) {
        let thing = Thing::File { volume, inode };
        if facts.place_of(thing).is_some() {
            facts.used(thing, "", By::Lock);
        }
    }
}

/// Parses `1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF` (proc_locks(5)), unless the lock is our own.
fn lock(line: &str, own: &str) -> Option<(DeviceNumber, u64)> {
    let mut fields = line.split_ascii_whitespace().skip(1).skip_while(|field| *field == "->").skip(3);
    let (owner, file) = (fields.next()?, fields.next()?);
    let (volume, inode) = file.rsplit_once(':')?;
    (owner != own).then_some((hexadecimal(volume)?, inode.parse().ok()?))
}

fn hexadecimal(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    Some(DeviceNumber { major: number(major)?, minor: number(minor)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_distinguished_by_what_they_allow() {
        for (info, expected) in [
            ("pos:\t0\nflags:\t0100000\nmnt_id:\t25\n", None),
            ("pos:\t0\nflags:\t0100002\n", Some(Access::Writing)),
            ("pos:\t0\nflags:\t0100001\n", Some(Access::Writing)),
            ("pos:\t0\nflags:\t012100002\n", None),
            ("flags:\t0100000\nlock:\t1: OFDLCK ADVISORY READ -1 00:05:9 100 101\n", Some(Access::Locked)),
            ("", None),
        ] {
            assert_eq!(access_of(info), expected, "{info}");
        }
    }

    #[test]
    fn shared_mappings_count_if_they_may_be_written() {
        let volume = DeviceNumber { major: 0xfd, minor: 1 };
        for (rights, is_writable) in [("rw-s", true), ("r--s", false), ("---s", false)] {
            let line = format!("7f01-7f02 {rights} 00000000 fd:01 131   /a file");
            let expected = Mapping { range: "7f01-7f02", volume, inode: 131, is_writable };
            assert_eq!(shared_mapping(&line), Some(expected), "{line}");
        }
        for line in ["7f01-7f02 rw-p 0 fd:01 131 /a", "7f01-7f02 rw-s 0 00:00 0", ""] {
            assert_eq!(shared_mapping(line), None, "{line}");
        }
        let smaps = "7f01-7f02 r--s 00000000 fd:01 131   /a: file\nSize:   4 kB\nVmFlags: rd sh mr mw me ms sd\n\
                     7f03-7f04 r--s 00000000 fd:01 132   /b\nSize:   4 kB\nVmFlags: rd sh mr me ms sd\n";
        assert_eq!(may_be_written(smaps), BTreeSet::from(["7f01-7f02".to_owned()]));
    }

    #[test]
    fn locks_are_of_files_and_own_ones_do_not_count() {
        let expected = Some((DeviceNumber { major: 0xfd, minor: 0x10 }, 2_531_452));
        assert_eq!(lock("1: POSIX  ADVISORY  WRITE 3568 fd:10:2531452 0 EOF", "1"), expected);
        assert_eq!(lock("1: -> FLOCK  ADVISORY  WRITE 3568 fd:10:2531452 0 EOF", "1"), expected);
        assert_eq!(lock("2: OFDLCK ADVISORY  READ -1 fd:10:2531452 100 100", "1"), expected);
        assert_eq!(lock("1: POSIX  ADVISORY  WRITE 3568 fd:10:2531452 0 EOF", "3568"), None);
    }
}
