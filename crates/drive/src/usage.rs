//! Finds users of a target, under any name, and at any level of its storage stack.
//!
//! Objects are identified by what they are: a block device by its number, a file by its volume and inode. Paths are
//! used in messages only. [`Facts`] are gathered at once ([`gather`]) and judged by a pure function ([`users`]): it
//! walks down from the target to everything it is built on, and from there up to everything else that is built on the
//! same bytes. Some facts are available only through the open descriptor ([`descriptor`]).
//!
//! Limits: accesses by a server on another host or behind FUSE are not visible; neither are processes outside of this
//! PID namespace, except by the claims and leases that the kernel checks.

mod claims;
pub(crate) mod descriptor;
mod gather;
mod mounts;
mod overlay;
mod processes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

pub(crate) use gather::{gather, thing_at, thing_of_file};
use mounts::unescape;

use crate::host::{DeviceNumber, Roots};
use crate::refusal::{Access, Refusal};

/// Attempts, and the pause between them, while only transient refusals are found.
const LOOKS: u32 = 12;
const PAUSE: Duration = Duration::from_millis(50);

/// Identity of a block device or file, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thing {
    Device(DeviceNumber),
    /// A regular file: `st_dev` and `st_ino`.
    File {
        volume: DeviceNumber,
        inode: u64,
    },
}

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Device(number) => write!(f, "device {number}"),
            Self::File { volume, inode } => write!(f, "file {inode} on volume {volume}"),
        }
    }
}

/// Bytes from `start` to `end`, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    pub(crate) const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Returns `length` bytes from `start`; to the end if the length is 0.
    pub(crate) fn of(start: u64, length: u64) -> Self {
        Self { start, end: if length == 0 { u64::MAX } else { start.saturating_add(length) } }
    }

    fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Maps `inner`, a span of the device on top of this span, to the lower device.
    fn below(self, inner: Self) -> Self {
        let start = self.start.saturating_add(inner.start);
        Self { start, end: self.start.saturating_add(inner.end).min(self.end) }
    }
}

/// How a device is built on another device or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Partition,
    Loop,
    /// A file on an overlay, over the file that stores its content.
    Overlay,
    /// Device mapper, md, bcache, zram: the byte ranges are not known here, so all of them count.
    Stacked,
}

/// A block device, or a file that is relevant to block devices.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// None where the kernel names a device without a known number.
    thing: Option<Thing>,
    /// Kernel name, or path.
    name: String,
    /// What could not be determined about it, and why.
    problem: Option<Refusal>,
    is_read_only: bool,
}

/// `upper` is built on `span` of `lower`; both are indices of nodes.
#[derive(Debug, Clone, Copy)]
struct Layer {
    upper: usize,
    lower: usize,
    span: Span,
    kind: Kind,
}

/// How the bytes of a device map to a lower one: which bytes, and through which upper node; none for the device
/// itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    via: Option<usize>,
    span: Span,
}

/// A direct user of a device or file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// A mounted file system, with a process of its mount namespace unless that is ours.
    Mount {
        at: String,
        namespace_of: Option<u32>,
    },
    Swap,
    /// Another process.
    Process {
        pid: u32,
        name: String,
        access: Access,
    },
    /// A lock with an unknown owner.
    Lock,
    /// Exported to other hosts by a kernel target (LIO, nvmet).
    Export {
        name: String,
    },
}

/// Facts about the block devices of this host and their users.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    nodes: Vec<Node>,
    layers: Vec<Layer>,
    uses: Vec<(usize, By)>,
    /// Users of an unknown file or device, which may be any.
    unseen: Vec<Unseen>,
}

/// Something that uses an unknown file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unseen {
    /// Why it is unknown, and what helps.
    what: String,
    /// Whether it certainly uses a regular file.
    is_of_file: bool,
}

impl Facts {
    fn place_of(&self, thing: Thing) -> Option<usize> {
        self.nodes.iter().position(|node| node.thing == Some(thing))
    }

    /// Returns the node of a thing; adds it under this name if new.
    fn node(&mut self, thing: Thing, name: impl Into<String>) -> usize {
        self.place_of(thing).unwrap_or_else(|| self.add(Some(thing), name.into()))
    }

    fn add(&mut self, thing: Option<Thing>, name: String) -> usize {
        self.nodes.push(Node { thing, name, problem: None, is_read_only: false });
        self.nodes.len() - 1
    }

    fn layer(&mut self, upper: usize, lower: usize, span: Span, kind: Kind) {
        let is_known = |known: &Layer| known.upper == upper && known.lower == lower;
        if upper != lower && !self.layers.iter().any(is_known) {
            self.layers.push(Layer { upper, lower, span, kind });
        }
    }

    fn used(&mut self, thing: Thing, name: &str, by: By) {
        let node = self.node(thing, name);
        if !self.uses.contains(&(node, by.clone())) {
            self.uses.push((node, by));
        }
    }

    /// Returns a refusal for each unseen user that may use the bytes of a device, given what is below it.
    fn unseen_users(&self, below: &BTreeMap<usize, Vec<Way>>) -> impl Iterator<Item = Refusal> {
        let is_file = |node: &usize| matches!(self.nodes[*node].thing, Some(Thing::File { .. }));
        let reaches_file = below.keys().any(is_file);
        let relevant = self.unseen.iter().filter(move |unseen| reaches_file || !unseen.is_of_file);
        relevant.map(|unseen| Refusal::UnknownUser { what: unseen.what.clone() })
    }

    /// Returns why a user of a regular file may be unknown.
    pub(crate) fn unseen_user_of_files(&self) -> Option<&str> {
        self.unseen.first().map(|unseen| unseen.what.as_str())
    }

    fn add_unseen(&mut self, what: String, is_of_file: bool) {
        let unseen = Unseen { what, is_of_file };
        if !self.unseen.contains(&unseen) {
            self.unseen.push(unseen);
        }
    }

    fn name(&self, node: usize) -> String {
        self.nodes[node].name.clone()
    }

    fn users_of(&self, node: usize) -> impl Iterator<Item = Refusal> {
        let problem = self.nodes[node].problem.clone();
        let uses = self.uses.iter().filter(move |(used, _)| *used == node);
        problem.into_iter().chain(uses.map(move |(_, by)| refusal(self.name(node), by)))
    }

    /// Returns the target and everything below it, with the ways in which its bytes reach each node.
    fn below(&self, target: usize) -> BTreeMap<usize, Vec<Way>> {
        let mut found: BTreeMap<usize, Vec<Way>> = BTreeMap::new();
        let mut next = vec![(target, Way { via: None, span: Span::ALL })];
        while let Some((node, way)) = next.pop() {
            let ways = found.entry(node).or_default();
            if ways.contains(&way) {
                continue;
            }
            ways.push(way);
            for layer in self.layers.iter().filter(|layer| layer.upper == node) {
                let span = match layer.kind {
                    Kind::Stacked => Span::ALL,
                    Kind::Partition | Kind::Loop | Kind::Overlay => layer.span.below(way.span),
                };
                next.push((layer.lower, Way { via: Some(node), span }));
            }
        }
        found
    }

    /// Whether a lower node is reached in two ways, so that non-overlapping parts of the device may be the same
    /// bytes: an array of two loop devices over one file.
    fn reaches_twice(&self, node: usize) -> bool {
        let meet = |ways: &[Way], way: &Way| {
            ways.iter().any(|other| other.via != way.via && other.span.overlaps(way.span))
        };
        self.below(node).values().any(|ways| ways.iter().any(|way| meet(ways, way)))
    }

    /// Whether the target, which reaches `own`, also reaches bytes of `node` by a way around `node`, so that parts of
    /// `node` that it does not reach directly may be its bytes all the same: a mapping of a disk and of a loop device
    /// over that disk.
    fn is_bypassed(&self, node: usize, own: &BTreeMap<usize, Vec<Way>>) -> bool {
        let within = self.below(node);
        let bypasses = |way: &Way| way.via.is_none_or(|via| !within.contains_key(&via));
        within.iter().filter(|(lower, _)| **lower != node).any(|(lower, ways)| {
            let around = own.get(lower).into_iter().flatten().filter(|way| bypasses(way));
            around.into_iter().any(|way| ways.iter().any(|other| other.span.overlaps(way.span)))
        })
    }

    /// Returns everything built on `node`, at any level.
    fn above(&self, node: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut next = vec![node];
        while let Some(lower) = next.pop() {
            let uppers = self.layers.iter().filter(|layer| layer.lower == lower).map(|layer| layer.upper);
            next.extend(uppers.filter(|&upper| found.insert(upper)));
        }
        found
    }
}

/// Repeats the inspection until no transient refusals are left: udev and others briefly open and lock new devices.
pub(crate) fn settled(mut look: impl FnMut() -> Vec<Refusal>) -> Vec<Refusal> {
    let mut found = look();
    for _ in 1..LOOKS {
        let mut protecting = found.iter().filter(|refusal| refusal.protects_data()).peekable();
        if protecting.peek().is_none() || !protecting.all(Refusal::is_transient) {
            break;
        }
        std::thread::sleep(PAUSE);
        found = look();
    }
    found
}

fn refusal(device: String, by: &By) -> Refusal {
    match by.clone() {
        By::Mount { at, namespace_of } => Refusal::Mounted { device, at, namespace_of },
        By::Swap => Refusal::Swap { device },
        By::Process { pid, name, access } => Refusal::OpenBy { what: device, pid, process: name, access },
        By::Lock => Refusal::FileLocked { what: device },
        By::Export { name } => Refusal::Exported { what: device, by: name },
    }
}

/// Returns all users of the bytes of `target`, including exclusive claims below it if there are no others, and any
/// write-protected device below it.
pub(crate) fn users_and_claims(roots: &Roots, facts: &Facts, target: Thing) -> Vec<Refusal> {
    let mut found = users(facts, target);
    if !found.iter().any(Refusal::protects_data) && claims::any_below(roots, facts, target) {
        found.push(Refusal::Busy);
    }
    found
}

/// Returns all users of the bytes of `target`, and any write-protected device below it. A file without facts is
/// unused.
pub(crate) fn users(facts: &Facts, target: Thing) -> Vec<Refusal> {
    let Some(place) = facts.place_of(target) else {
        let unknown = |number| Refusal::Unknown { what: format!("the kernel does not list device {number}") };
        return match target {
            Thing::Device(number) => vec![unknown(number)],
            Thing::File { .. } => Vec::new(),
        };
    };
    let below = facts.below(place);
    let mut found = Vec::new();
    // The kernel itself knows whether a file has users that are unknown here.
    if let Thing::Device(_) = target {
        found.extend(facts.unseen_users(&below));
    }
    let of = |layer: &Layer| Refusal::IsPartition { of: facts.name(layer.lower) };
    let is_own = |layer: &&Layer| layer.upper == place && layer.kind == Kind::Partition;
    found.extend(facts.layers.iter().filter(is_own).map(of));
    found.extend(upwards(facts, place, &below));
    for (&node, ways) in below.iter().filter(|(node, _)| **node != place) {
        found.extend(facts.users_of(node));
        // It is not known here which lower devices a stacked one writes to, so all must be writable.
        let is_read_only = facts.nodes[node].is_read_only;
        found.extend(is_read_only.then(|| Refusal::ReadOnlyBelow { what: facts.name(node) }));
        let others = facts.layers.iter().filter(|layer| layer.lower == node);
        let others = others.filter(|layer| !below.contains_key(&layer.upper));
        let mut others = others.peekable();
        let is_blurred =
            others.peek().is_some() && (facts.reaches_twice(node) || facts.is_bypassed(node, &below));
        let meets = |layer: &&Layer| is_blurred || ways.iter().any(|way| way.span.overlaps(layer.span));
        for layer in others.filter(meets) {
            found.push(Refusal::Shared { below: facts.name(node), by: facts.name(layer.upper) });
            found.extend(facts.users_of(layer.upper));
            found.extend(facts.above(layer.upper).into_iter().flat_map(|upper| facts.users_of(upper)));
        }
    }
    let mut unique: Vec<Refusal> = Vec::new();
    found.into_iter().for_each(|refusal| {
        if !unique.contains(&refusal) {
            unique.push(refusal);
        }
    });
    unique
}

/// Returns what is built on a regular file, under any name: loop devices, mounts, swap space, exports. None if that
/// cannot be determined: whoever may replace a file may not be able to look, as inside a container.
pub fn built_on_file(path: &Path) -> Vec<Refusal> {
    let roots = &Roots::default();
    let Some(file @ Thing::File { .. }) = thing_at(path) else { return Vec::new() };
    let found = gather(roots, Some((file, path))).map(|facts| users(&facts, file)).unwrap_or_default();
    let is_built_on_it = |refusal: &Refusal| {
        matches!(
            refusal,
            Refusal::LoopBacking { .. }
                | Refusal::Held { .. }
                | Refusal::Shared { .. }
                | Refusal::Mounted { .. }
                | Refusal::Swap { .. }
                | Refusal::Exported { .. }
        )
    };
    found.into_iter().filter(is_built_on_it).collect()
}

/// Returns the files that the target is built on, at any level.
pub(crate) fn files_below(facts: &Facts, target: Thing) -> Vec<Thing> {
    let below = facts.place_of(target).map(|place| facts.below(place)).unwrap_or_default();
    let things = below.into_keys().filter_map(|node| facts.nodes[node].thing);
    things.filter(|thing| matches!(thing, Thing::File { .. })).collect()
}

/// Returns the users of the target itself, and of what is built on it.
fn upwards(facts: &Facts, target: usize, below: &BTreeMap<usize, Vec<Way>>) -> Vec<Refusal> {
    let mut found: Vec<Refusal> = facts.users_of(target).collect();
    let mut partitions = Vec::new();
    for layer in facts.layers.iter().filter(|layer| layer.lower == target) {
        // A corrupt /sys could list a device both above and below; it is already counted below.
        if below.contains_key(&layer.upper) {
            continue;
        }
        let (device, by) = (facts.name(target), facts.name(layer.upper));
        match layer.kind {
            Kind::Partition => {
                partitions.push(by);
                found.extend(upwards(facts, layer.upper, below));
            }
            // Only a file on an overlay that somebody uses is a node.
            Kind::Overlay => found.extend(upwards(facts, layer.upper, below)),
            Kind::Loop => found.push(Refusal::LoopBacking { by }),
            Kind::Stacked => found.push(Refusal::Held { device, by }),
        }
        if !matches!(layer.kind, Kind::Partition | Kind::Overlay) {
            let uppers = facts.above(layer.upper).into_iter().chain([layer.upper]);
            found.extend(uppers.flat_map(|upper| facts.users_of(upper)));
        }
    }
    if !partitions.is_empty() {
        partitions.sort();
        found.push(Refusal::Partitions { names: partitions.join(", ") });
    }
    found
}

#[cfg(test)]
mod tests;
