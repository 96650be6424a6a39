//! A disk's durable content and the content that programs see.
//!
//! Operations are the only way to change a disk, and they have no other effect.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use crate::storage::interface::FoundKind;

/// A file or folder, regardless of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u64);

const ROOT: Node = Node(0);

/// Result of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncOutcome {
    /// Everything reached the disk.
    Synced,
    /// The sync failed: the data will never reach the disk, although programs still see it.
    Lost,
}

/// An operation on a disk.
#[derive(Debug, Clone)]
pub enum Op {
    /// A new file or folder.
    Create {
        /// The parent folder.
        folder: Node,
        /// Name of the entry.
        name: String,
        /// The new node.
        node: Node,
        /// File or folder.
        kind: FoundKind,
    },
    /// A write to a file.
    Write {
        /// The file.
        node: Node,
        /// Offset.
        at: usize,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A change to a file's length.
    Length {
        /// The file.
        node: Node,
        /// The length.
        bytes: usize,
    },
    /// A sync of a file's content or a folder's entries.
    Sync {
        /// The file or folder.
        node: Node,
        /// The result.
        outcome: SyncOutcome,
    },
    /// A rename within a folder.
    Rename {
        /// The parent folder.
        folder: Node,
        /// The old name.
        from: String,
        /// The new name.
        to: String,
        /// The node to rename.
        node: Node,
    },
    /// Removal of an entry.
    Remove {
        /// The parent folder.
        folder: Node,
        /// Name of the entry.
        name: String,
    },
}

/// A disk with its page cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Disk {
    pub(super) nodes: BTreeMap<Node, Content>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Content {
    File(File),
    Folder(Folder),
}

/// A file's content as programs see it, its durable content, and its unsynced changes, any of which may have
/// reached the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct File {
    pub seen: Arc<Vec<u8>>,
    pub durable: Arc<Vec<u8>>,
    pub pending: Vec<Pending>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Pending {
    Write { at: usize, bytes: Arc<[u8]> },
    Length(usize),
}

/// The entries of a folder: visible, durable and unsynced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Folder {
    pub seen: BTreeMap<String, Node>,
    pub durable: BTreeMap<String, Node>,
    pub pending: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Entry {
    Put(String, Node),
    Gone(String),
    Moved { from: String, to: String, node: Node },
}

impl Default for Disk {
    fn default() -> Self {
        Self { nodes: BTreeMap::from([(ROOT, Content::Folder(Folder::default()))]) }
    }
}

impl Disk {
    /// Applies `op`.
    pub fn apply(&mut self, op: &Op) {
        match op {
            Op::Create { folder, name, node, kind } => {
                let content = match kind {
                    FoundKind::Folder => Content::Folder(Folder::default()),
                    _ => Content::File(File::default()),
                };
                self.nodes.insert(*node, content);
                self.change(*folder, Entry::Put(name.clone(), *node));
            }
            Op::Write { node, at, bytes } => {
                self.alter(*node, Pending::Write { at: *at, bytes: Arc::clone(bytes) });
            }
            Op::Length { node, bytes } => self.alter(*node, Pending::Length(*bytes)),
            Op::Sync { node, outcome } => self.sync(*node, *outcome),
            Op::Rename { folder, from, to, node } => {
                self.change(*folder, Entry::Moved { from: from.clone(), to: to.clone(), node: *node });
            }
            Op::Remove { folder, name } => self.change(*folder, Entry::Gone(name.clone())),
        }
    }

    fn change(&mut self, folder: Node, entry: Entry) {
        if let Some(Content::Folder(folder)) = self.nodes.get_mut(&folder) {
            entry.apply(&mut folder.seen);
            folder.pending.push(entry);
        }
    }

    fn alter(&mut self, node: Node, pending: Pending) {
        if let Some(Content::File(file)) = self.nodes.get_mut(&node) {
            pending.apply(Arc::make_mut(&mut file.seen));
            file.pending.push(pending);
        }
    }

    fn sync(&mut self, node: Node, outcome: SyncOutcome) {
        match self.nodes.get_mut(&node) {
            Some(Content::File(file)) if outcome == SyncOutcome::Synced => {
                for pending in std::mem::take(&mut file.pending) {
                    pending.apply(Arc::make_mut(&mut file.durable));
                }
            }
            // From now on, the kernel considers the pages clean. Lengths are metadata and still reach the disk,
            // so the file will contain zeros in place of the data.
            Some(Content::File(file)) => {
                for pending in &mut file.pending {
                    if let Pending::Write { at, bytes } = pending {
                        *pending = Pending::Write { at: *at + bytes.len(), bytes: Arc::from([]) };
                    }
                }
            }
            Some(Content::Folder(folder)) if outcome == SyncOutcome::Synced => {
                std::mem::take(&mut folder.pending).iter().for_each(|entry| entry.apply(&mut folder.durable));
            }
            // Entries are written through the file system's journal. If a write fails, the whole journal is
            // aborted, so individual entries are not lost.
            Some(Content::Folder(_)) => {}
            None => {}
        }
    }

    /// Returns the parent folder and the last component of `path`.
    pub(super) fn place(&self, path: &Path) -> io::Result<(Node, String)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        Ok((self.find(path.parent().unwrap_or(Path::new("/")))?, name))
    }

    /// Returns the node at `path`.
    pub(super) fn find(&self, path: &Path) -> io::Result<Node> {
        let mut node = ROOT;
        for component in path.components() {
            if let Component::Normal(name) = component {
                let Some(Content::Folder(folder)) = self.nodes.get(&node) else {
                    return Err(io::ErrorKind::NotADirectory.into());
                };
                let found = name.to_str().and_then(|name| folder.seen.get(name));
                node = *found.ok_or(io::ErrorKind::NotFound)?;
            }
        }
        Ok(node)
    }

    pub(super) fn entry(&self, folder: Node, name: &str) -> Option<Node> {
        match self.nodes.get(&folder)? {
            Content::Folder(folder) => folder.seen.get(name).copied(),
            Content::File(_) => None,
        }
    }

    pub(super) fn kind(&self, node: Node) -> FoundKind {
        match self.nodes.get(&node) {
            Some(Content::Folder(_)) => FoundKind::Folder,
            _ => FoundKind::File,
        }
    }

    /// Returns the names in a folder; empty for a file.
    pub(super) fn names(&self, node: Node) -> Vec<String> {
        match self.nodes.get(&node) {
            Some(Content::Folder(folder)) => folder.seen.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the content of a file as programs see it; empty for a folder.
    pub(super) fn content(&self, node: Node) -> &[u8] {
        match self.nodes.get(&node) {
            Some(Content::File(file)) => &file.seen,
            _ => &[],
        }
    }

    /// Returns the content of the file at `path` as programs see it; `None` if there is no file there.
    #[must_use]
    pub fn read(&self, path: &Path) -> Option<&[u8]> {
        let node = self.find(path).ok()?;
        (self.kind(node) == FoundKind::File).then(|| self.content(node))
    }

    pub(super) fn free_node(&self) -> Node {
        Node(self.nodes.keys().next_back().map_or(0, |last| last.0 + 1))
    }
}

impl Pending {
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => {
                if content.len() < at + bytes.len() {
                    content.resize(at + bytes.len(), 0);
                }
                content[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            Self::Length(bytes) => content.resize(*bytes, 0),
        }
    }
}

impl Entry {
    pub(super) fn apply(&self, entries: &mut BTreeMap<String, Node>) {
        match self {
            Self::Put(name, node) => {
                entries.insert(name.clone(), *node);
            }
            Self::Gone(name) => {
                entries.remove(name);
            }
            Self::Moved { from, to, node } => {
                entries.remove(from);
                entries.insert(to.clone(), *node);
            }
        }
    }
}
