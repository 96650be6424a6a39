//! Facts about a host's block devices: how they are stacked, and who uses them.

use std::collections::{BTreeMap, BTreeSet};

use super::thing::Thing;
use crate::refusal::{Access, Refusal};

/// Bytes from `start` to `end`, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    pub(crate) const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Returns `length` bytes starting at `start`; a length of 0 means up to the end.
    pub(crate) fn of(start: u64, length: u64) -> Self {
        Self { start, end: if length == 0 { u64::MAX } else { start.saturating_add(length) } }
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Maps `inner`, a span of the device on top of this span, to the lower device.
    pub(super) fn below(self, inner: Self) -> Self {
        let start = self.start.saturating_add(inner.start);
        Self { start, end: self.start.saturating_add(inner.end).min(self.end) }
    }
}

/// How a device is built on another device or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Partition,
    Loop,
    /// The upper node is a file on an overlay, and the lower node is the file that stores its content.
    Overlay,
    /// Device mapper, md, bcache, zram: the byte ranges are unknown, so all bytes count.
    Stacked,
}

/// A block device, or a file that is relevant for block devices.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// `None` if the kernel names a device whose number is unknown.
    pub(super) thing: Option<Thing>,
    /// Kernel name or path.
    pub(super) name: String,
    /// What could not be determined about the device or file, and why.
    pub(super) problem: Option<Refusal>,
    pub(super) is_read_only: bool,
}

/// `upper` is built on `span` of `lower`; `upper` and `lower` are indices of nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) span: Span,
    pub(super) kind: Kind,
}

/// The bytes of a lower device that belong to a device, and the upper node that leads to them; `None` for the
/// device itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) via: Option<usize>,
    pub(super) span: Span,
}

/// A direct user of a device or file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum By {
    /// A mounted file system, with a process of its mount namespace unless that is our own.
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
    pub(super) nodes: Vec<Node>,
    pub(super) layers: Vec<Layer>,
    pub(super) uses: Vec<(usize, By)>,
    /// Users of an unknown file or device, which may be any file or device.
    pub(super) unseen: Vec<Unseen>,
}

/// A user of an unknown file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unseen {
    /// Why the file or device is unknown, and what to do about it.
    pub(super) what: String,
    /// Whether the file or device is known to be a regular file.
    pub(super) is_of_file: bool,
}

impl Facts {
    pub(super) fn place_of(&self, thing: Thing) -> Option<usize> {
        self.nodes.iter().position(|node| node.thing == Some(thing))
    }

    /// Returns the node of an object; adds it under this name if it is new.
    pub(super) fn node(&mut self, thing: Thing, name: impl Into<String>) -> usize {
        self.place_of(thing).unwrap_or_else(|| self.add(Some(thing), name.into()))
    }

    pub(super) fn add(&mut self, thing: Option<Thing>, name: String) -> usize {
        self.nodes.push(Node { thing, name, problem: None, is_read_only: false });
        self.nodes.len() - 1
    }

    pub(super) fn layer(&mut self, upper: usize, lower: usize, span: Span, kind: Kind) {
        let is_known = |known: &Layer| known.upper == upper && known.lower == lower;
        if upper != lower && !self.layers.iter().any(is_known) {
            self.layers.push(Layer { upper, lower, span, kind });
        }
    }

    pub(super) fn used(&mut self, thing: Thing, name: &str, by: By) {
        let node = self.node(thing, name);
        if !self.uses.contains(&(node, by.clone())) {
            self.uses.push((node, by));
        }
    }

    /// Returns a refusal for each use of an unknown object that may involve the bytes of a device that is built
    /// on the nodes `below`.
    pub(super) fn unseen_users(&self, below: &BTreeMap<usize, Vec<Way>>) -> impl Iterator<Item = Refusal> {
        let is_file = |node: &usize| matches!(self.nodes[*node].thing, Some(Thing::File { .. }));
        let reaches_file = below.keys().any(is_file);
        let relevant = self.unseen.iter().filter(move |unseen| reaches_file || !unseen.is_of_file);
        relevant.map(|unseen| Refusal::UnknownUser { what: unseen.what.clone() })
    }

    /// Returns why a user of a regular file may be unknown.
    pub(crate) fn unseen_user_of_files(&self) -> Option<&str> {
        self.unseen.first().map(|unseen| unseen.what.as_str())
    }

    /// Returns whether the content of a file is stored in another file, below an overlay.
    pub(crate) fn is_stored_elsewhere(&self, thing: Thing) -> bool {
        let node = self.place_of(thing);
        self.layers.iter().any(|layer| layer.kind == Kind::Overlay && Some(layer.upper) == node)
    }

    pub(super) fn add_unseen(&mut self, what: String, is_of_file: bool) {
        let unseen = Unseen { what, is_of_file };
        if !self.unseen.contains(&unseen) {
            self.unseen.push(unseen);
        }
    }

    pub(super) fn name(&self, node: usize) -> String {
        self.nodes[node].name.clone()
    }

    pub(super) fn users_of(&self, node: usize) -> impl Iterator<Item = Refusal> {
        let problem = self.nodes[node].problem.clone();
        let uses = self.uses.iter().filter(move |(used, _)| *used == node);
        problem.into_iter().chain(uses.map(move |(_, by)| refusal(self.name(node), by)))
    }

    /// Returns the target and everything below it, with the ways in which its bytes reach each node.
    pub(super) fn below(&self, target: usize) -> BTreeMap<usize, Vec<Way>> {
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

    /// Returns whether a lower node is reached in two ways. If so, different parts of the device may be the
    /// same bytes, as in an array of two loop devices over one file.
    pub(super) fn reaches_twice(&self, node: usize) -> bool {
        let meet = |ways: &[Way], way: &Way| {
            ways.iter().any(|other| other.via != way.via && other.span.overlaps(way.span))
        };
        self.below(node).values().any(|ways| ways.iter().any(|way| meet(ways, way)))
    }

    /// Returns whether the target, which reaches `own`, also reaches bytes of `node` on a path that does not
    /// include `node`. If so, parts of `node` that the target does not reach directly may still be the
    /// target's bytes, as with a mapping of a disk and of a loop device over that disk.
    pub(super) fn is_bypassed(&self, node: usize, own: &BTreeMap<usize, Vec<Way>>) -> bool {
        let within = self.below(node);
        let bypasses = |way: &Way| way.via.is_none_or(|via| !within.contains_key(&via));
        within.iter().filter(|(lower, _)| **lower != node).any(|(lower, ways)| {
            let around = own.get(lower).into_iter().flatten().filter(|way| bypasses(way));
            around.into_iter().any(|way| ways.iter().any(|other| other.span.overlaps(way.span)))
        })
    }

    /// Returns everything built on `node`, at any level.
    pub(super) fn above(&self, node: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut next = vec![node];
        while let Some(lower) = next.pop() {
            let uppers = self.layers.iter().filter(|layer| layer.lower == lower).map(|layer| layer.upper);
            next.extend(uppers.filter(|&upper| found.insert(upper)));
        }
        found
    }
}

pub(super) fn refusal(device: String, by: &By) -> Refusal {
    match by.clone() {
        By::Mount { at, namespace_of } => Refusal::Mounted { device, at, namespace_of },
        By::Swap => Refusal::Swap { device },
        By::Process { pid, name, access } => Refusal::OpenBy { what: device, pid, process: name, access },
        By::Lock => Refusal::FileLocked { what: device },
        By::Export { name } => Refusal::Exported { what: device, by: name },
    }
}
