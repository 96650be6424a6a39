//! Files on overlayfs: the underlying file may be in use under its name in the layer.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::usage::{self, Thing};

/// `OVERLAYFS_SUPER_MAGIC` (linux/magic.h).
const MAGIC: u64 = 0x794c_7630;

/// A file in a layer of an overlay.
pub(super) struct Below {
    pub(super) path: PathBuf,
    pub(super) thing: Thing,
    pub(super) file: OwnedFd,
}

/// Returns the file in the upper layer that stores a file of an overlay; none for other files, and for those only in
/// a lower layer, because writes go to a copy. The error says why it cannot be determined.
pub(super) fn below(file: impl AsFd) -> Result<Option<Below>, String> {
    // A file system whose type cannot be queried is not an overlay.
    let is_overlay = rustix::fs::fstatfs(&file).is_ok_and(|found| found.f_type as u64 == MAGIC);
    if !is_overlay {
        return Ok(None);
    }
    let unseen = || {
        "it is on overlayfs, whose layers are not visible from here; use a file on a volume or bind mount"
            .to_owned()
    };
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())).map_err(|_| unseen())?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|_| unseen())?;
    let (layer, inside) = upper(&mounts, &path).ok_or_else(unseen)?;
    if !layer.is_dir() {
        return Err(unseen());
    }
    let upper = layer.join(inside);
    match fs::symlink_metadata(&upper) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => open(upper).map(Some).ok_or_else(unseen),
    }
}

fn open(path: PathBuf) -> Option<Below> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty()).ok()?;
    let thing = usage::thing_of_file(&file).filter(|thing| matches!(thing, Thing::File { .. }))?;
    Some(Below { path, thing, file })
}

/// Returns the upper layer of the overlay with `path`, and the path relative to it.
fn upper(mountinfo: &str, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mount_point = |line: &str| line.split(' ').nth(4).map(usage::unescape);
    let covering = mountinfo.lines().filter(|line| mount_point(line).is_some_and(|at| path.starts_with(at)));
    // Of equally long mount points, the last one is visible.
    let line = covering.max_by_key(|line| mount_point(line).map_or(0, |at| at.components().count()))?;
    let (fields, rest) = line.split_once(" - ")?;
    let root = usage::unescape(fields.split(' ').nth(3)?);
    let mut rest = rest.split(' ');
    if rest.next()? != "overlay" {
        return None;
    }
    let inside = root.strip_prefix("/").ok()?.join(path.strip_prefix(mount_point(line)?).ok()?);
    let layer = rest.nth(1)?.split(',').find_map(|option| option.strip_prefix("upperdir="))?;
    // A relative path would be relative to the mounter's working directory.
    Some((usage::unescape(layer), inside)).filter(|(layer, _)| layer.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_layer_is_that_of_the_mount_that_is_seen() {
        let mounts = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      30 20 0:40 /sub /m\\040x rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w\n\
                      31 30 0:41 / /m\\040x/tmp rw - tmpfs tmpfs rw\n";
        let found = upper(mounts, Path::new("/m x/a/b"));
        assert_eq!(found, Some(("/u".into(), "sub/a/b".into())));
        assert_eq!(upper(mounts, Path::new("/m x/tmp/b")), None);
        let relative = mounts.replace("upperdir=/u", "upperdir=u");
        assert_eq!(upper(&relative, Path::new("/m x/a/b")), None, "nobody knows what it is relative to");
        assert_eq!(upper(mounts, Path::new("/etc/b")), None);
    }
}
