//! The mount table of each visible mount namespace, `/proc/PID/mountinfo`.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};
pub(super) use sysfs::{Mount, parse};

use super::kept::{self, Visitor};
use super::procfs::{entries, processes, read};
use sysfs::{DeviceNumber, Roots};

/// Maximum number of pauses while waiting for threads that inspect a namespace.
const PAUSES: u32 = 12;

/// A mount namespace, as seen from the root folder of one of its tasks.
pub(super) struct Namespace {
    /// A visible process in the namespace; `None` for our own namespace and for one without processes.
    pub(super) pid: Option<u32>,
    /// What keeps the namespace alive if it has no processes.
    pub(super) kept_by: Option<String>,
    /// `/proc/PID/root` of that process or of one of its threads.
    root: PathBuf,
    pub(super) mountinfo: String,
    /// Keeps `root` valid.
    _visitor: Option<Visitor>,
}

impl Namespace {
    /// Converts a path in this namespace to a path in ours.
    pub(super) fn within(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// Returns the mount namespaces; our own is the first. Our own namespace must be readable. Other namespaces are
/// included if the kernel shows them: the namespaces of processes, and namespaces that a mount keeps alive.
/// `of_descriptors`, which takes longer, also includes namespaces that a descriptor keeps alive. Namespaces that cannot
/// be entered have no mounts in the list. `pause` waits for other threads to leave the namespaces that they inspect.
pub(super) fn namespaces(
    roots: &Roots,
    of_descriptors: bool,
    pause: &mut dyn FnMut(),
) -> io::Result<Vec<Namespace>> {
    let mut found = Found::default();
    let own = roots.proc.join("self");
    let mountinfo = read(&own.join("mountinfo"))?;
    found.views.extend(View::of(&own));
    found.add(&mountinfo, |mountinfo| Namespace {
        pid: None,
        kept_by: None,
        root: "/".into(),
        mountinfo,
        _visitor: None,
    });
    let mut visitors = Vec::new();
    for (pid, folder) in processes(roots) {
        // A thread may have its own namespace or root. It may also outlive its leader, which breaks the leader's links.
        for task in std::iter::once(folder.clone()).chain(entries(&folder.join("task"))) {
            if kept::is_visitor(&task) {
                visitors.push((pid, task));
            } else {
                found.add_task(pid, &task);
            }
        }
    }
    found.visit_kept(roots);
    if of_descriptors {
        for (name, link) in kept::by_descriptors(roots) {
            let kept_by = format!("the descriptor {}", link.display());
            found.visit(roots, &name, &link, kept_by);
        }
        found.visit_kept(roots);
    }
    // A namespace may exist only because a thread is inspecting it, which takes only moments.
    for _ in 0..PAUSES {
        let is_unknown = |task: &Path| View::of(task).is_some_and(|view| !found.views.contains(&view));
        visitors.retain(|(_, task)| is_unknown(task));
        if visitors.is_empty() {
            break;
        }
        pause();
    }
    visitors.iter().for_each(|(pid, task)| found.add_task(*pid, task));
    found.visit_kept(roots);
    Ok(found.namespaces)
}

/// The namespaces found so far.
#[derive(Default)]
struct Found {
    namespaces: Vec<Namespace>,
    views: BTreeSet<View>,
    mounts: BTreeSet<Line>,
    /// Names of the mount namespaces that mounts keep alive, and the locations of these mounts.
    kept: VecDeque<(PathBuf, PathBuf, String)>,
}

impl Found {
    /// Adds a namespace with those of its mounts that have not been seen before.
    fn add(&mut self, mountinfo: &str, namespace: impl FnOnce(String) -> Namespace) {
        // Sources are paths as the mounting process saw them and may refer to something else under other root folders.
        let is_new = |line: &&str| identity(line).is_some_and(|mount| self.mounts.insert(mount));
        let new: String = mountinfo.lines().filter(is_new).flat_map(|line| [line, "\n"]).collect();
        if new.is_empty() && !self.namespaces.is_empty() {
            return;
        }
        let namespace = namespace(new);
        let mounts = namespace.mountinfo.lines().filter_map(parse);
        let keeping = mounts.filter(|mount| mount.root.to_str().is_some_and(|r| r.starts_with(kept::PREFIX)));
        self.kept.extend(keeping.map(|mount| {
            let place = namespace.within(Path::new(&mount.at));
            (mount.root, place, format!("the mount at {}", mount.at))
        }));
        self.namespaces.push(namespace);
    }

    /// Adds the namespace of a task, unless it is already known.
    fn add_task(&mut self, pid: u32, task: &Path) {
        let Some(view) = View::of(task).filter(|view| !self.views.contains(view)) else { return };
        let Ok(text) = read(&task.join("mountinfo")) else { return };
        self.views.insert(view);
        self.add(&text, |mountinfo| Namespace {
            pid: Some(pid),
            kept_by: None,
            root: task.join("root"),
            mountinfo,
            _visitor: None,
        });
    }

    /// Enters the namespaces that mounts keep alive, including those that are visible only inside another namespace.
    fn visit_kept(&mut self, roots: &Roots) {
        while let Some((name, place, kept_by)) = self.kept.pop_front() {
            self.visit(roots, &name, &place, kept_by);
        }
    }

    /// Enters a namespace unless it is already known.
    fn visit(&mut self, roots: &Roots, name: &Path, place: &Path, kept_by: String) {
        if self.views.iter().any(|view| view.namespace == name) {
            return;
        }
        let visitor = kept::opened(place, name).and_then(|file| Visitor::enter(roots, file).ok());
        let Some(visitor) = visitor else { return };
        let Ok(text) = read(&visitor.task.join("mountinfo")) else { return };
        self.views.extend(View::of(&visitor.task));
        self.add(&text, |mountinfo| Namespace {
            pid: None,
            kept_by: Some(kept_by),
            root: visitor.task.join("root"),
            mountinfo,
            _visitor: Some(visitor),
        });
    }
}

/// The part of its mount namespace that a task sees: the mounts under its root folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct View {
    namespace: PathBuf,
    root: Option<PathBuf>,
    /// Mount and inode of the root folder: a mount that covers another may have a different object at the same path.
    place: Option<(u64, u64)>,
}

impl View {
    fn of(task: &Path) -> Option<Self> {
        let namespace = fs::read_link(task.join("ns/mnt")).ok()?;
        let root = task.join("root");
        let fields = StatxFlags::INO | StatxFlags::MNT_ID;
        let place = rustix::fs::statx(CWD, &root, AtFlags::STATX_DONT_SYNC, fields).ok();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a task with a view of the mount namespace `number` to a mock `/proc`.
    fn task(folder: &Path, name: &str, number: u32, mounts: &str) {
        fs::create_dir_all(folder.join("ns")).expect("a folder");
        fs::create_dir_all(folder.join("task")).expect("a folder");
        std::os::unix::fs::symlink(format!("mnt:[{number}]"), folder.join("ns/mnt")).expect("a link");
        std::os::unix::fs::symlink("/", folder.join("root")).expect("a link");
        fs::write(folder.join("comm"), format!("{name}\n")).expect("a file");
        fs::write(folder.join("mountinfo"), mounts).expect("a file");
    }

    #[test]
    fn a_thread_that_inspects_a_namespace_does_not_use_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let roots = Roots { sys: dir.path().join("sys"), proc: dir.path().join("proc") };
        let (own, theirs) = ("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n", "2 0 8:2 / /m rw - ext4 /dev/sda2 rw\n");
        task(&roots.proc.join("self"), "test", 1, own);
        task(&roots.proc.join("70"), "plateau", 1, own);
        task(&roots.proc.join("70/task/71"), "mounts", 2, theirs);
        let found = |pause: &mut dyn FnMut()| -> Vec<Option<u32>> {
            let found = namespaces(&roots, false, pause).expect("namespaces");
            found.iter().skip(1).map(|namespace| namespace.pid).collect()
        };
        assert_eq!(found(&mut || {}), [Some(70)], "any thread may have this name");
        task(&roots.proc.join("80"), "sleep", 2, theirs);
        assert_eq!(found(&mut || {}), [Some(80)], "another process is in the namespace");
        fs::remove_dir_all(roots.proc.join("80")).expect("removed");
        let mut leave = || fs::remove_dir_all(roots.proc.join("70/task/71")).expect("removed");
        assert_eq!(found(&mut leave), [], "the namespace ended with the inspection");
    }
}
