//! Overlayfs: finds the file that stores the content of a file on an overlay. The stored file may be in use under
//! its own name or through the file on the overlay.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, Statx, StatxFlags};

use super::mountinfo::{Namespace, parse};
use super::procfs::unescape;
use super::thing::{Thing, thing_of_file};
use sysfs::DeviceNumber;

/// `OVERLAYFS_SUPER_MAGIC` (linux/magic.h).
const MAGIC: u64 = 0x794c_7630;
/// Number of attempts to compare two names of a file, because the file may be written in between.
const COMPARISONS: u32 = 5;

/// Returns whether an open file is on an overlay, which stores its content in another file.
pub(crate) fn is_on_one(file: impl AsFd) -> bool {
    // A file system whose type cannot be queried is not an overlay.
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type as u64 == MAGIC)
}

/// The location where the content of a file is stored.
#[derive(Debug)]
pub(super) enum Stored {
    /// In the file itself.
    Here,
    /// In a file in an overlay's upper layer.
    Upper {
        path: PathBuf,
        thing: Thing,
        /// Opened with `O_PATH`.
        file: OwnedFd,
    },
    /// In a file in a lower layer: reads come from it, writes go to a copy.
    Lower {
        path: PathBuf,
        thing: Thing,
        /// Opened with `O_PATH`.
        file: OwnedFd,
    },
    /// On an overlay whose layers are not visible from here.
    Unknown,
}

/// The overlays in all visible mount namespaces.
pub(super) struct Overlays<'a> {
    /// Our own namespace is the first.
    namespaces: &'a [Namespace],
    /// For each mounted volume, whether its file system is an overlay. The map does not contain all volumes of
    /// files: btrfs and overlayfs may report others, and an overlay may be unmounted while its files are open.
    volumes: BTreeMap<DeviceNumber, bool>,
}

impl<'a> Overlays<'a> {
    pub(super) fn of(namespaces: &'a [Namespace]) -> Self {
        let mounts = namespaces.iter().flat_map(|namespace| namespace.mountinfo.lines()).filter_map(parse);
        let volumes = mounts.map(|mount| (mount.number, mount.file_system == "overlay")).collect();
        Self { namespaces, volumes }
    }

    /// Returns whether a file may be on an overlay, judging by its volume.
    pub(super) fn may_hold(&self, thing: Thing) -> bool {
        let Thing::File { volume, .. } = thing else { return false };
        // An overlay has no device, so its device number has no major number.
        volume.major == 0 && self.volumes.get(&volume).copied().unwrap_or(true)
    }

    /// Returns where the content of a file is stored. `path` is valid in our namespace or in another namespace.
    pub(super) fn stored(&self, thing: Thing, path: &Path) -> Stored {
        if !self.may_hold(thing) {
            return Stored::Here;
        }
        let open = |namespace: &Namespace| open_nothing(&namespace.within(path), OFlags::NOFOLLOW);
        let mut files = self.namespaces.iter().filter_map(open);
        let file = files.find(|file| thing_of_file(file) == Some(thing));
        file.map_or(Stored::Unknown, |file| self.stored_below(path, &file))
    }

    /// Same as [`stored`](Self::stored), for a link in `/proc` to a process's file.
    pub(super) fn stored_of_link(&self, link: &Path) -> Stored {
        let path = std::fs::read_link(link).ok();
        // A process that has just ended has no files.
        let Some((path, file)) = path.zip(open_nothing(link, OFlags::empty())) else { return Stored::Here };
        self.stored_below(&path, &file)
    }

    /// Same as [`stored`](Self::stored), for an open file; its content may be on a further overlay.
    pub(super) fn stored_below(&self, path: &Path, file: &OwnedFd) -> Stored {
        if !is_on_one(file) {
            return Stored::Here;
        }
        let layers =
            self.mount_of(file).and_then(|(namespace, line)| Some((namespace, Layers::of(line, path)?)));
        let Some((namespace, layers)) = layers else { return Stored::Unknown };
        // Paths of layers are as seen by the mounting process, inside or outside a container.
        let candidate = |layer: &PathBuf, inside: bool| {
            let path = layers.path_in(layer);
            let path = if inside { namespace.within(&path) } else { path };
            let found = open_nothing(&path, OFlags::NOFOLLOW);
            // By now, another file system may be mounted over the layer.
            let found = found.filter(|found| have_same_content(file, found))?;
            Some((path, thing_of_file(&found)?, found))
        };
        let stored_in = |layer: &PathBuf| candidate(layer, true).or_else(|| candidate(layer, false));
        if let Some((path, thing, file)) = layers.upper.as_ref().and_then(stored_in) {
            return Stored::Upper { path, thing, file };
        }
        match layers.lower.iter().find_map(stored_in) {
            Some((path, thing, file)) => Stored::Lower { path, thing, file },
            None => Stored::Unknown,
        }
    }

    /// Returns the line in the mount table for the mount through which a file was opened.
    fn mount_of(&self, file: &OwnedFd) -> Option<(&Namespace, &str)> {
        let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
        let id =
            Some(found.stx_mnt_id.to_string()).filter(|_| found.stx_mask & StatxFlags::MNT_ID.bits() != 0)?;
        let is_it = |line: &&str| line.split(' ').next() == Some(id.as_str());
        self.namespaces
            .iter()
            .find_map(|namespace| Some((namespace, namespace.mountinfo.lines().find(is_it)?)))
    }
}

/// Opens a file with `O_PATH`, which has no side effects.
fn open_nothing(path: &Path, flags: OFlags) -> Option<OwnedFd> {
    rustix::fs::open(path, flags | OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Opens a path with `O_PATH`, which has no side effects, following links.
pub(super) fn opened_nothing(path: &Path) -> Option<OwnedFd> {
    open_nothing(path, OFlags::empty())
}

/// Opens for reading a file that was opened with `O_PATH`.
pub(super) fn reopened(file: impl AsFd) -> Option<OwnedFd> {
    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(link, flags, Mode::empty()).ok()
}

/// Returns whether two names refer to the same file: overlayfs reports the stored file's values for these attributes.
fn have_same_content(one: &OwnedFd, other: &OwnedFd) -> bool {
    const FIELDS: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::BTIME);
    let attributes = |file: &OwnedFd| {
        let found: Statx = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, FIELDS).ok()?;
        let time = |time: rustix::fs::StatxTimestamp| (time.tv_sec, time.tv_nsec);
        let times = [found.stx_mtime, found.stx_ctime, found.stx_btime].map(time);
        Some((found.stx_mode, found.stx_uid, found.stx_size, found.stx_blocks, times))
    };
    (0..COMPARISONS).any(|_| attributes(one).is_some_and(|found| attributes(other) == Some(found)))
}

/// The layers of an overlay.
#[derive(Debug, PartialEq, Eq)]
struct Layers {
    upper: Option<PathBuf>,
    lower: Vec<PathBuf>,
    /// The path of the file in each layer.
    inside: PathBuf,
}

impl Layers {
    /// Returns the layers of an overlay from its line in the mount table, for the file at `path`.
    fn of(line: &str, path: &Path) -> Option<Self> {
        let (fields, rest) = line.split_once(" - ")?;
        let mut fields = fields.split(' ');
        let (root, mount_point) = (unescape(fields.nth(3)?), unescape(fields.next()?));
        let mut rest = rest.split(' ');
        if rest.next()? != "overlay" {
            return None;
        }
        let inside = joined(root.strip_prefix("/").ok()?, path.strip_prefix(mount_point).ok()?);
        // A relative path would be relative to the working directory of the process that mounted the overlay.
        let layer = |path: &str| Some(unescape(path)).filter(|path| path.is_absolute());
        let (mut upper, mut lower) = (None, Vec::new());
        for (name, value) in rest.nth(1)?.split(',').filter_map(|option| option.split_once('=')) {
            match name {
                "upperdir" => upper = layer(value),
                "lowerdir" => lower.extend(value.split(':').filter_map(layer)),
                "lowerdir+" => lower.extend(layer(value)),
                _ => {}
            }
        }
        Some(Self { upper, lower, inside })
    }

    fn path_in(&self, layer: &Path) -> PathBuf {
        joined(layer, &self.inside)
    }
}

/// Joins without a trailing slash, because that would fail on a file that is itself a mount point.
fn joined(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_are_those_in_the_line_of_the_mount() {
        let of = |line: &str, path: &str| Layers::of(line, Path::new(path));
        let line = "30 20 0:40 /sub /m\\040x rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w";
        let lower = vec![PathBuf::from("/l1"), "/l2".into()];
        let expected = Layers { upper: Some("/u".into()), lower: lower.clone(), inside: "sub/a/b".into() };
        assert_eq!(of(line, "/m x/a/b"), Some(expected));
        assert_eq!(of(line, "/etc/b"), None, "not below the mount point");
        let new = "32 20 0:42 / /new rw - overlay overlay rw,lowerdir+=/l1,lowerdir+=/l2";
        assert_eq!(of(new, "/new/a"), Some(Layers { upper: None, lower, inside: "a".into() }));
        assert_eq!(of("31 30 0:41 / /tmp rw - tmpfs tmpfs rw", "/tmp/b"), None);
        let relative = line.replace("upperdir=/u", "upperdir=u");
        let found = of(&relative, "/m x/a/b").expect("an overlay");
        assert_eq!(found.upper, None, "nobody knows what it is relative to");
    }

    #[test]
    fn a_file_that_is_a_mount_point_has_no_slash_at_its_end() {
        let line = "30 20 0:40 /a/file /bound rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w";
        let found = Layers::of(line, Path::new("/bound")).expect("an overlay");
        assert_eq!(found.path_in(Path::new("/u")).as_os_str(), "/u/a/file");
    }
}
