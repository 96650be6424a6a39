//! Overlayfs: which file stores the content of a file on it. The stored file may be in use under its own name, and
//! the file on the overlay under its other one.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, Statx, StatxFlags};

use super::gather::thing_of_file;
use super::mounts::{Namespace, parse};
use super::{Thing, unescape};
use crate::host::DeviceNumber;

/// `OVERLAYFS_SUPER_MAGIC` (linux/magic.h).
const MAGIC: u64 = 0x794c_7630;
/// How often two names of a file are compared: it may be written in between.
const COMPARISONS: u32 = 5;

/// Where the content of a file is stored.
#[derive(Debug)]
pub(super) enum Stored {
    /// In the file itself; also if it is only in a lower layer of an overlay, because writes go to a copy.
    Here,
    /// In a file in the upper layer of an overlay.
    Upper {
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
    /// Ours is the first one.
    namespaces: &'a [Namespace],
    /// Whether the file system of each mounted volume is an overlay. Not all volumes of files are in it: btrfs and
    /// overlayfs may report others.
    volumes: BTreeMap<DeviceNumber, bool>,
    any: bool,
}

impl<'a> Overlays<'a> {
    pub(super) fn of(namespaces: &'a [Namespace]) -> Self {
        let mounts = namespaces.iter().flat_map(|namespace| namespace.mountinfo.lines()).filter_map(parse);
        let volumes: BTreeMap<_, _> =
            mounts.map(|mount| (mount.number, mount.file_system == "overlay")).collect();
        let any = volumes.values().any(|is_overlay| *is_overlay);
        Self { namespaces, volumes, any }
    }

    /// Whether a file may be on an overlay, judging by its volume.
    pub(super) fn may_hold(&self, thing: Thing) -> bool {
        let Thing::File { volume, .. } = thing else { return false };
        // An overlay has no device, so its number has no major.
        self.any && volume.major == 0 && self.volumes.get(&volume).copied().unwrap_or(true)
    }

    /// Returns where the content of a file is stored. `path` is valid in our namespace or in one of the others.
    pub(super) fn stored(&self, thing: Thing, path: &Path) -> Stored {
        if !self.may_hold(thing) {
            return Stored::Here;
        }
        let found = self.namespaces.iter().find_map(|namespace| {
            let file =
                open_nothing(&namespace.within(path)).filter(|file| thing_of_file(file) == Some(thing))?;
            Some(stored_below(namespace, path, &file))
        });
        found.unwrap_or(Stored::Unknown)
    }

    /// Like [`stored`](Self::stored), for a link in `/proc` to a file of a process in the given namespace.
    pub(super) fn stored_of_link(&self, namespace: &Path, link: &Path) -> Stored {
        let namespace = self.namespaces.iter().find(|known| known.link.as_deref() == Some(namespace));
        let parts = namespace.zip(open_linked(link)).zip(std::fs::read_link(link).ok());
        let Some(((namespace, file), path)) = parts else { return Stored::Unknown };
        stored_below(namespace, &path, &file)
    }
}

/// Opens a file without following a symbolic link; that is not noticed by anyone (`O_PATH`).
fn open_nothing(path: &Path) -> Option<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn open_linked(link: &Path) -> Option<OwnedFd> {
    rustix::fs::open(link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Opens a file for reading that was opened with `O_PATH`.
pub(super) fn reopened(file: impl AsFd) -> Option<OwnedFd> {
    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(link, flags, Mode::empty()).ok()
}

fn stored_below(namespace: &Namespace, path: &Path, file: &OwnedFd) -> Stored {
    // A file system whose type cannot be queried is not an overlay.
    if !rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type as u64 == MAGIC) {
        return Stored::Here;
    }
    let Some(layers) = Layers::of(&namespace.mountinfo, path) else { return Stored::Unknown };
    // The paths of the layers are those of whoever mounted the overlay: inside a container, or outside.
    let candidate = |layer: &PathBuf, inside: bool| {
        let path = layer.join(&layers.inside);
        let path = if inside { namespace.within(&path) } else { path };
        // Something else may be mounted over the layer by now.
        let found = open_nothing(&path).filter(|found| have_same_content(file, found))?;
        Some((path, thing_of_file(&found)?, found))
    };
    let stored_in = |layer: &PathBuf| candidate(layer, true).or_else(|| candidate(layer, false));
    if let Some((path, thing, file)) = layers.upper.as_ref().and_then(stored_in) {
        return Stored::Upper { path, thing, file };
    }
    if layers.lower.iter().any(|layer| stored_in(layer).is_some()) { Stored::Here } else { Stored::Unknown }
}

/// Whether two files are the same one under two names: overlayfs reports these attributes of the stored file.
fn have_same_content(one: &OwnedFd, other: &OwnedFd) -> bool {
    const WANTED: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::BTIME);
    let attributes = |file: &OwnedFd| {
        let found: Statx = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, WANTED).ok()?;
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
    /// Returns the layers of the overlay with `path`.
    fn of(mountinfo: &str, path: &Path) -> Option<Self> {
        let mount_point = |line: &str| line.split(' ').nth(4).map(unescape);
        let covering =
            mountinfo.lines().filter(|line| mount_point(line).is_some_and(|at| path.starts_with(at)));
        // Of equally long mount points, the last one is visible.
        let line = covering.max_by_key(|line| mount_point(line).map_or(0, |at| at.components().count()))?;
        let (fields, rest) = line.split_once(" - ")?;
        let root = unescape(fields.split(' ').nth(3)?);
        let mut rest = rest.split(' ');
        if rest.next()? != "overlay" {
            return None;
        }
        let inside = root.strip_prefix("/").ok()?.join(path.strip_prefix(mount_point(line)?).ok()?);
        // A relative path would be relative to the mounter's working directory.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_are_those_of_the_mount_that_is_seen() {
        let mounts = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      30 20 0:40 /sub /m\\040x rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w\n\
                      31 30 0:41 / /m\\040x/tmp rw - tmpfs tmpfs rw\n\
                      32 20 0:42 / /new rw - overlay overlay rw,lowerdir+=/l1,lowerdir+=/l2\n";
        let lower = vec![PathBuf::from("/l1"), "/l2".into()];
        let expected = Layers { upper: Some("/u".into()), lower: lower.clone(), inside: "sub/a/b".into() };
        assert_eq!(Layers::of(mounts, Path::new("/m x/a/b")), Some(expected));
        assert_eq!(
            Layers::of(mounts, Path::new("/new/a")),
            Some(Layers { upper: None, lower, inside: "a".into() })
        );
        assert_eq!(Layers::of(mounts, Path::new("/m x/tmp/b")), None);
        let relative = mounts.replace("upperdir=/u", "upperdir=u");
        let found = Layers::of(&relative, Path::new("/m x/a/b")).expect("an overlay");
        assert_eq!(found.upper, None, "nobody knows what it is relative to");
        assert_eq!(Layers::of(mounts, Path::new("/etc/b")), None);
    }
}
