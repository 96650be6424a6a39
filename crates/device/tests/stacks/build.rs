//! Builds a plan from files in a private tmpfs and dismantles it even after a failure.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::SeekFrom;
use stdx::Rng;

use super::holder::{Hold, Holder};
use super::kernel;
use super::mapper;
use super::plan::{LEAST, MIB, Name, Node, Reach, StackPlan, Using, What};

const PAGE: u64 = 4096;
/// First loop device number, above all numbers that `losetup --find` returns.
const FIRST_LOOP: u32 = 1001;
const LOOPS: u32 = 60_000;

/// File systems to copy, because creating a file system takes longer than all the other steps. `None` means
/// that the program is not available.
pub struct Templates {
    /// For a mount.
    pub small: Option<PathBuf>,
    /// A file system on a file that is large enough for a target.
    pub large: Option<PathBuf>,
    /// EROFS, for a mount without a loop device.
    pub erofs: Option<PathBuf>,
}

/// A clean-up step that runs on drop. A stack's steps are dropped in reverse order.
enum Undo {
    Unmount(PathBuf),
    SwapOff(PathBuf),
    Loop { number: u32, backing: (u64, u64) },
    Mapped(String),
    Array(String),
    Holder(#[expect(dead_code, reason = "ends its process when dropped")] Holder),
}

impl Drop for Undo {
    fn drop(&mut self) {
        let undone = match self {
            Self::Unmount(at) => kernel::unmount(at),
            Self::SwapOff(path) => kernel::swap_off(path),
            Self::Loop { number, backing } => kernel::detach_loop(*number, *backing),
            Self::Mapped(name) => mapper::remove(name),
            Self::Array(name) => mapper::stop_array(name),
            Self::Holder(_) => Ok(()),
        };
        if let Err(error) = undone {
            eprintln!("cannot be undone: {error}");
        }
    }
}

/// A plan after it has been built.
pub struct Stack<'a> {
    plan: &'a StackPlan,
    folder: PathBuf,
    /// `None` if the kernel refused to create the node.
    paths: Vec<Option<PathBuf>>,
    pub used: Vec<bool>,
    /// Nodes that the kernel refused to create, and why.
    pub failures: Vec<(What, String)>,
    /// Nodes that contain a file system or swap space.
    pub formatted: Vec<usize>,
    /// Nodes in use by a writable mount or swap, whose bytes may change at any time.
    changing: Vec<usize>,
    undo: Vec<Undo>,
    names: u32,
}

impl Drop for Stack<'_> {
    fn drop(&mut self) {
        while let Some(last) = self.undo.pop() {
            drop(last);
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl<'a> Stack<'a> {
    pub fn build(plan: &'a StackPlan, folder: &Path, templates: &Templates, seed: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut stack = Self {
            plan,
            folder: folder.into(),
            paths: Vec::new(),
            used: Vec::new(),
            failures: Vec::new(),
            formatted: Vec::new(),
            changing: Vec::new(),
            undo: Vec::new(),
            names: 0,
        };
        let mut rng = Rng::from_seed_and_stream(seed, 17);
        for (index, node) in plan.nodes.iter().enumerate() {
            // If a lower node is missing, skip this node, because a failure here would provide no information.
            let made = node.lower.iter().all(|&lower| stack.paths[lower].is_some()).then(|| {
                let made = stack.make(index, node, templates, &mut rng);
                made.map_err(|error| stack.failures.push((node.what, error.to_string())))
            });
            stack.paths.push(made.and_then(Result::ok));
        }
        for one in &plan.uses {
            let used = stack.use_it(one.node, one.using, one.name, templates);
            stack.used.push(used.is_ok());
        }
        stack.flush();
        Ok(stack)
    }

    pub fn made(&self) -> Vec<bool> {
        self.paths.iter().map(Option::is_some).collect()
    }

    fn path(&self, node: usize) -> io::Result<PathBuf> {
        self.paths.get(node).cloned().flatten().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn make(
        &mut self,
        index: usize,
        node: &Node,
        templates: &Templates,
        rng: &mut Rng,
    ) -> io::Result<PathBuf> {
        match node.what {
            What::File => {
                let path = self.folder.join(format!("file{index}"));
                let file = File::create_new(&path)?;
                file.set_len(node.length)?;
                let mut page = vec![0; PAGE as usize];
                for _ in 0..16 {
                    rng.fill(&mut page);
                    file.write_all_at(&page, rng.below(node.length / PAGE) * PAGE)?;
                }
                Ok(path)
            }
            What::Loop { is_read_only } => self.attach(node, is_read_only),
            What::Partition => {
                let disk = self.path(node.lower[0])?;
                let number = index as u32 + 1;
                kernel::add_partition(&disk, number, node.start, node.length)?;
                let path = PathBuf::from(format!("{}p{number}", disk.display()));
                fs::metadata(&path).map(|_| path)
            }
            What::Inner => {
                let lower = node.lower[0];
                self.format(lower, templates.large.as_deref())?;
                let at = self.folder.join(format!("mount{index}"));
                fs::create_dir(&at)?;
                kernel::mount(&self.path(lower)?, &at, "ext4", libc::MS_NOATIME, "")?;
                self.undo.push(Undo::Unmount(at.clone()));
                self.changing.push(lower);
                let path = at.join("file");
                let file = File::create_new(&path)?;
                rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, LEAST)?;
                file.write_all_at(&[7; 4096], 5 * MIB)?;
                file.sync_all()?;
                Ok(path)
            }
            What::Mapped(mapping) => {
                let lower = self.lower(node)?;
                let name = format!("stack{}-{index}", std::process::id());
                let path = mapper::map(&name, &self.folder, mapping, &lower)?;
                self.undo.push(Undo::Mapped(name));
                Ok(path)
            }
            What::Array(level) => {
                let lower = self.lower(node)?;
                let lengths = node.lower.iter().map(|&lower| self.plan.nodes[lower].length);
                let each = lengths.min().unwrap_or_default() / MIB * MIB;
                let name = format!("md_stack{}_{index}", std::process::id());
                let path = mapper::array(&name, level, &lower, each)?;
                self.undo.push(Undo::Array(name));
                Ok(path)
            }
        }
    }

    fn lower(&self, node: &Node) -> io::Result<Vec<PathBuf>> {
        node.lower.iter().map(|&lower| self.path(lower)).collect()
    }

    fn attach(&mut self, node: &Node, is_read_only: bool) -> io::Result<PathBuf> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let lower = self.path(node.lower[0])?;
        let backing = kernel::as_backing(&lower)?;
        let first = std::process::id().wrapping_mul(131);
        loop {
            let number = FIRST_LOOP + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % LOOPS;
            if let Some(path) = kernel::attach_loop(number, &lower, node.start, node.length, is_read_only)? {
                self.undo.push(Undo::Loop { number, backing });
                return Ok(path);
            }
        }
    }

    /// Copies a file system to a node, unless a byte of the node already belongs to a file system.
    fn format(&mut self, node: usize, template: Option<&Path>) -> io::Result<()> {
        let template = template.ok_or(io::ErrorKind::Unsupported)?;
        self.unformatted(node)?;
        let device = File::options().write(true).open(self.path(node)?)?;
        copy_data(template, &device)?;
        device.sync_all()?;
        self.formatted.push(node);
        Ok(())
    }

    fn unformatted(&self, node: usize) -> io::Result<()> {
        let own = self.plan.reach(node);
        let overlaps = |&other: &usize| {
            self.plan.reach(other).iter().any(|reach| own.iter().any(|own| own.overlaps(reach)))
        };
        if self.formatted.iter().any(overlaps) { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    }

    fn use_it(&mut self, node: usize, using: Using, name: Name, templates: &Templates) -> io::Result<()> {
        self.path(node)?;
        let small = templates.small.as_deref();
        match using {
            Using::Formatted => return self.format(node, small),
            Using::Mounted { .. } | Using::Held(Hold::Mounted) => self.format(node, small)?,
            Using::MountedFile => self.format(node, templates.erofs.as_deref())?,
            Using::Swap => {
                self.unformatted(node)?;
                let device = File::options().write(true).open(self.path(node)?)?;
                swap_header(&device, self.plan.nodes[node].length)?;
                self.formatted.push(node);
            }
            Using::Held(_) => {}
        }
        let path = self.named(node, name)?;
        let folder = self.folder.join(format!("at{}", self.names));
        fs::create_dir_all(&folder)?;
        match using {
            Using::Mounted { is_read_only } => {
                let flags = if is_read_only { libc::MS_RDONLY } else { 0 };
                kernel::mount(&path, &folder, "ext4", flags | libc::MS_NOATIME, "")?;
                self.undo.push(Undo::Unmount(folder));
                if !is_read_only {
                    self.changing.push(node);
                }
            }
            Using::MountedFile => {
                kernel::mount(&path, &folder, "erofs", libc::MS_RDONLY, "")?;
                self.undo.push(Undo::Unmount(folder));
            }
            Using::Swap => {
                kernel::swap_on(&path)?;
                // The kernel may swap to it at any time.
                self.changing.push(node);
                self.undo.push(Undo::SwapOff(path));
            }
            Using::Held(hold) => self.undo.push(Undo::Holder(Holder::start(hold, &path, Some(&folder))?)),
            Using::Formatted => {}
        }
        Ok(())
    }

    /// Returns a path to the node, of the requested kind.
    pub fn named(&mut self, node: usize, name: Name) -> io::Result<PathBuf> {
        let path = self.path(node)?;
        self.names += 1;
        let new_name = |folder: &Path| folder.join(format!("name{}", self.names));
        let place = new_name(&self.folder);
        match name {
            Name::Plain => return Ok(path),
            Name::Dotted => {
                let (folder, file) = (path.parent(), path.file_name());
                let (folder, file) = folder.zip(file).ok_or(io::ErrorKind::InvalidInput)?;
                let last = folder.file_name().unwrap_or_default();
                return Ok(folder.join("..").join(last).join(".").join(file));
            }
            Name::Symlink => std::os::unix::fs::symlink(&path, &place)?,
            Name::Second if self.plan.is_device(node) => kernel::block_node(&path, &place)?,
            Name::Second => {
                let place = new_name(path.parent().unwrap_or(&self.folder));
                fs::hard_link(&path, &place)?;
                return Ok(place);
            }
            Name::Bind => {
                File::create_new(&place)?;
                kernel::mount(&path, &place, "", libc::MS_BIND, "")?;
                self.undo.push(Undo::Unmount(place.clone()));
            }
        }
        Ok(place)
    }

    /// Ensures that data written through devices has reached the backing files.
    fn flush(&self) {
        for path in self.paths.iter().flatten().rev() {
            drop(File::open(path).and_then(|node| node.sync_all()));
        }
    }

    /// Returns all non-zero pages of all files.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        self.flush();
        let mut pages = BTreeMap::new();
        for (index, node) in self.plan.nodes.iter().enumerate() {
            if let (What::File | What::Inner, Some(path)) = (node.what, &self.paths[index]) {
                add_pages(index, path, &mut pages)?;
            }
        }
        Ok(Snapshot(pages))
    }

    /// Returns the bytes that may change at any time, because a mounted file system or swap space uses them.
    pub fn changing(&self) -> Vec<Reach> {
        self.changing.iter().flat_map(|&node| self.plan.reach(node)).collect()
    }
}

/// Hashes of pages, by file and offset.
#[derive(PartialEq, Eq)]
pub struct Snapshot(BTreeMap<(usize, u64), u64>);

impl Snapshot {
    /// Returns the first page that differs, apart from those in `except`.
    pub fn difference(&self, other: &Self, except: &[Reach]) -> Option<(usize, u64)> {
        let counts = |&(file, start): &(usize, u64)| {
            let page = Reach { file, start, end: start + PAGE };
            !except.iter().any(|reach| reach.overlaps(&page))
        };
        let keys = self.0.keys().chain(other.0.keys());
        keys.copied().find(|key| self.0.get(key) != other.0.get(key) && counts(key))
    }

    /// Returns whether any page within `reach` differs.
    pub fn differs_within(&self, other: &Self, reach: &[Reach]) -> bool {
        let within = |&(file, start): &(usize, u64)| {
            reach.iter().any(|reach| reach.overlaps(&Reach { file, start, end: start + PAGE }))
        };
        let mut keys = self.0.keys().chain(other.0.keys());
        keys.any(|key| within(key) && self.0.get(key) != other.0.get(key))
    }
}

fn add_pages(index: usize, path: &Path, pages: &mut BTreeMap<(usize, u64), u64>) -> io::Result<()> {
    let file = File::open(path)?;
    let mut page = [0; PAGE as usize];
    for (start, end) in extents(&file) {
        for at in (start / PAGE * PAGE..end).step_by(PAGE as usize) {
            let length = file.read_at(&mut page, at)?;
            if page[..length].iter().any(|byte| *byte != 0) {
                let mut hasher = DefaultHasher::new();
                page[..length].hash(&mut hasher);
                pages.insert((index, at), hasher.finish());
            }
        }
    }
    Ok(())
}

/// Returns the parts of a file that are not holes.
fn extents(file: &File) -> Vec<(u64, u64)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Ok(start) = rustix::fs::seek(file, SeekFrom::Data(at)) {
        let Ok(end) = rustix::fs::seek(file, SeekFrom::Hole(start)) else { break };
        found.push((start, end));
        at = end;
    }
    found
}

fn copy_data(from: &Path, to: &File) -> io::Result<()> {
    let from = File::open(from)?;
    for (start, end) in extents(&from) {
        let mut data = vec![0; (end - start) as usize];
        from.read_exact_at(&mut data, start)?;
        to.write_all_at(&data, start)?;
    }
    Ok(())
}

/// Writes the header of version 1 swap space with 4 KiB pages (mkswap(8)).
fn swap_header(device: &File, bytes: u64) -> io::Result<()> {
    let mut page = [0; PAGE as usize];
    page[1024..1028].copy_from_slice(&1u32.to_le_bytes());
    page[1028..1032].copy_from_slice(&((bytes / PAGE - 1) as u32).to_le_bytes());
    page[4086..].copy_from_slice(b"SWAPSPACE2");
    device.write_all_at(&page, 0)?;
    device.sync_all()
}
