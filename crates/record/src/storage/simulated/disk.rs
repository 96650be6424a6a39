//! What is on a disk, and what programs see of it meanwhile.
//!
//! Pure: an operation changes it, nothing else does.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use super::FoundKind;

/// A file or folder, under whatever name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u64);

const ROOT: Node = Node(0);

/// How a sync ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is on the disk.
    Synced,
    /// It failed, and what was to be synced never will be; programs go on to see it.
    Lost,
}

/// Something that changes a disk.
#[derive(Debug, Clone)]
pub enum Op {
    /// A new file or folder.
    Create {
        /// Where.
        folder: Node,
        /// Its name.
        name: String,
        /// What it is from now on.
        node: Node,
        /// File or folder.
        kind: FoundKind,
    },
    /// Bytes are written.
    Write {
        /// The file.
        node: Node,
        /// Offset.
        at: usize,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A file is given another length.
    Length {
        /// The file.
        node: Node,
        /// The length.
        bytes: usize,
    },
    /// The content of a file, or the entries of a folder, are synced.
    Sync {
        /// What.
        node: Node,
        /// How that ended.
        outcome: Outcome,
    },
    /// An entry gets another name.
    Rename {
        /// Where.
        folder: Node,
        /// Name before.
        from: String,
        /// Name from now on.
        to: String,
        /// What has that name.
        node: Node,
    },
    /// An entry is removed.
    Remove {
        /// Where.
        folder: Node,
        /// Its name.
        name: String,
    },
}

/// A disk and the cache above it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Disk {
    pub(super) nodes: BTreeMap<Node, Content>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Content {
    File(File),
    Folder(Folder),
}

/// Content as programs see it, as it is on the disk for certain, and what may or may not be there on top.
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

/// The same for the entries of a folder.
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
    /// Does what `op` says.
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

    fn sync(&mut self, node: Node, outcome: Outcome) {
        match self.nodes.get_mut(&node) {
            Some(Content::File(file)) if outcome == Outcome::Synced => {
                for pending in std::mem::take(&mut file.pending) {
                    pending.apply(Arc::make_mut(&mut file.durable));
                }
            }
            // The pages count as clean from now on. Lengths are metadata, which goes another way: where the data would
            // be, there are zeros.
            Some(Content::File(file)) => {
                for pending in &mut file.pending {
                    if let Pending::Write { at, bytes } = pending {
                        *pending = Pending::Write { at: *at + bytes.len(), bytes: Arc::from([]) };
                    }
                }
            }
            Some(Content::Folder(folder)) if outcome == Outcome::Synced => {
                std::mem::take(&mut folder.pending).iter().for_each(|entry| entry.apply(&mut folder.durable));
            }
            // Entries go through the journal of the file system, which stops as a whole rather than lose some of them.
            Some(Content::Folder(_)) => {}
            None => {}
        }
    }

    /// The folder that `path` is in, and its name there.
    pub(super) fn place(&self, path: &Path) -> io::Result<(Node, String)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        Ok((self.find(path.parent().unwrap_or(Path::new("/")))?, name))
    }

    /// What is at `path`.
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

    /// Names in a folder; none in a file.
    pub(super) fn names(&self, node: Node) -> Vec<String> {
        match self.nodes.get(&node) {
            Some(Content::Folder(folder)) => folder.seen.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// What programs read from a file; nothing from a folder.
    pub(super) fn content(&self, node: Node) -> &[u8] {
        match self.nodes.get(&node) {
            Some(Content::File(file)) => &file.seen,
            _ => &[],
        }
    }

    /// What programs read from the file at `path`; none where there is no file.
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
