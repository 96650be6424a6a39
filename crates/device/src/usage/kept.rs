//! Mount namespaces without processes, which exist because of a mount (`mount --bind /proc/PID/ns/mnt FILE`) or
//! an open descriptor. A thread enters each of these namespaces, which makes the mounts appear in `/proc`.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, Statx, StatxFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::procfs::{entries, processes, read};
use sysfs::Roots;

/// Prefix of links to mount namespaces, and of the root of a mount that keeps a namespace alive: `mnt:[4026532201]`.
/// Other kinds of namespaces (`net:[…]`, created by `ip netns add` or Docker) have no mounts.
pub(super) const PREFIX: &str = "mnt:[";

/// Name of the threads that enter mount namespaces.
const THREAD: &str = "mounts";

/// Returns whether `task` is a thread that inspects a mount namespace, in this or another Plateau process. Any
/// thread may have this name, so its mounts are still reported.
pub(super) fn is_visitor(task: &Path) -> bool {
    read(&task.join("comm")).is_ok_and(|name| name.trim_end() == THREAD)
}

/// A thread in another mount namespace. The thread leaves the namespace on drop.
pub(super) struct Visitor {
    /// The folder of the thread in `/proc`.
    pub(super) task: PathBuf,
    stay: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Visitor {
    /// Enters a mount namespace, which requires root.
    pub(super) fn enter(roots: &Roots, namespace: OwnedFd) -> io::Result<Self> {
        let (arrived, arrival) = mpsc::channel();
        let (stay, left) = mpsc::channel::<()>();
        // Read this link before entering: the other namespace may have no /proc.
        let link = roots.proc.join("thread-self");
        let visit = move || {
            let entered = fs::read_link(link).and_then(|task| enter(&namespace).map(|()| task));
            drop(namespace);
            let is_inside = entered.is_ok();
            // These channels close early only if the visiting thread panics.
            let is_expected = arrived.send(entered).is_ok();
            if is_inside && is_expected {
                // Ends when the other side is dropped.
                let _ = left.recv();
            }
        };
        let thread = Builder::new().name(THREAD.into()).spawn(visit)?;
        let task = arrival.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok(Self { task: roots.proc.join(task), stay: Some(stay), thread: Some(thread) })
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        drop(self.stay.take());
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Moves only this thread into a mount namespace.
fn enter(namespace: &OwnedFd) -> io::Result<()> {
    // SAFETY: only the working directory and the root folder become private to this thread; descriptors stay shared.
    unsafe { unshare_unsafe(UnshareFlags::FS) }?;
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Mount))?)
}

/// Opens the mount namespace `name` (`mnt:[…]`) at `path`; returns `None` if the path refers to something else.
pub(super) fn opened(path: &Path, name: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let found = rustix::fs::fstat(&file).ok()?;
    (is_namespace(&found) && name_of(&found) == name).then_some(file)
}

/// Returns whether the file is a namespace of any kind: all of them are on one volume.
fn is_namespace(found: &Stat) -> bool {
    rustix::fs::stat("/proc/self/ns/mnt").is_ok_and(|own| own.st_dev == found.st_dev)
}

fn name_of(namespace: &Stat) -> PathBuf {
    format!("{PREFIX}{}]", namespace.st_ino).into()
}

/// Returns the mount namespaces that processes have opened: their names, with links to them in `/proc`. The
/// link itself shows a path if the namespace was opened through a mount.
pub(super) fn by_descriptors(roots: &Roots) -> Vec<(PathBuf, PathBuf)> {
    let tasks = processes(roots).into_iter().flat_map(|(_, folder)| entries(&folder.join("task")));
    let links = tasks.flat_map(|task| entries(&task.join("fd")));
    // Querying any other file could block on a file server.
    let may_be_one = |link: &PathBuf| {
        let volume = rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::empty());
        let own = rustix::fs::statx(CWD, "/proc/self/ns/mnt", AtFlags::STATX_DONT_SYNC, StatxFlags::empty());
        let number = |found: Statx| (found.stx_dev_major, found.stx_dev_minor);
        volume.is_ok_and(|volume| own.is_ok_and(|own| number(own) == number(volume)))
    };
    let named = |link: PathBuf| Some((name_of(&rustix::fs::stat(&link).ok()?), link));
    links.filter(may_be_one).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_namespace_itself_is_opened() {
        let own = fs::read_link("/proc/self/ns/mnt").expect("a namespace");
        assert!(opened(Path::new("/proc/self/ns/mnt"), &own).is_some());
        assert!(opened(Path::new("/proc/self/ns/mnt"), Path::new("mnt:[1]")).is_none());
        assert!(opened(Path::new("/dev/null"), &own).is_none());
    }

    #[test]
    fn without_permission_to_enter_there_is_no_visitor() {
        let no_namespace = fs::File::open("/dev/null").expect("a device");
        assert!(Visitor::enter(&Roots::default(), no_namespace.into()).is_err());
    }
}
