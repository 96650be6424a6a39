//! The state of a disk after a crash.

use std::collections::BTreeMap;
use std::sync::Arc;

use stdx::rng::Rng;

use super::disk::{Content, Disk, Entry, File, Folder, Node, Pending};

/// Size of a sector, which disks write atomically.
const SECTOR_BYTES: usize = 512;

/// How a process terminates prematurely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Crash {
    /// The process is killed, but the system keeps running, so the next process sees all its changes.
    Killed,
    /// A power cut after which only synced data survives.
    NothingSurvives,
    /// A power cut after which all data, synced or not, survives.
    EverythingSurvives,
    /// A power cut after which written sectors, file lengths and folder entries survive at random; the value is
    /// the seed.
    Drawn(u64),
}

impl Disk {
    /// Returns the disk in the state that the next process finds.
    #[must_use]
    pub fn after(&self, crash: Crash) -> Self {
        match crash {
            Crash::Killed => self.clone(),
            Crash::NothingSurvives => self.survivor(|_| Vec::new(), |_| Vec::new()),
            Crash::EverythingSurvives => self.survivor(|file| file.pending.clone(), |f| f.pending.clone()),
            Crash::Drawn(seed) => {
                let rng = std::cell::RefCell::new(Rng::from_seed(seed));
                self.survivor(
                    |file| draw_writes(file, &mut rng.borrow_mut()),
                    |folder| {
                        let mut rng = rng.borrow_mut();
                        folder.pending.iter().filter(|_| rng.percent(50)).cloned().collect()
                    },
                )
            }
        }
    }

    /// Returns whether all data on the disk would survive a power cut.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.nodes.values().all(|content| match content {
            Content::File(file) => file.pending.is_empty(),
            Content::Folder(folder) => folder.pending.is_empty(),
        })
    }

    fn survivor(
        &self,
        writes: impl Fn(&File) -> Vec<Pending>,
        entries: impl Fn(&Folder) -> Vec<Entry>,
    ) -> Self {
        let content = |content: &Content| match content {
            Content::File(file) => {
                let mut durable = Arc::clone(&file.durable);
                for pending in writes(file) {
                    pending.apply(Arc::make_mut(&mut durable));
                }
                Content::File(File { seen: Arc::clone(&durable), durable, pending: Vec::new() })
            }
            Content::Folder(folder) => {
                let mut durable = folder.durable.clone();
                entries(folder).iter().for_each(|entry| entry.apply(&mut durable));
                Content::Folder(Folder { seen: durable.clone(), durable, pending: Vec::new() })
            }
        };
        let nodes = self.nodes.iter().map(|(node, old)| (*node, content(old))).collect();
        Self { nodes }.tidied()
    }

    /// Removes nodes without a name and renumbers the others in tree order, so that disks with the same content
    /// compare equal.
    fn tidied(self) -> Self {
        let mut nodes = BTreeMap::new();
        let mut next = 0;
        self.adopt(Node(0), &mut next, &mut nodes);
        Self { nodes }
    }

    fn adopt(&self, old: Node, next: &mut u64, nodes: &mut BTreeMap<Node, Content>) -> Node {
        let new = Node(*next);
        *next += 1;
        match &self.nodes[&old] {
            Content::File(file) => {
                nodes.insert(new, Content::File(file.clone()));
            }
            Content::Folder(folder) => {
                let mut entries = BTreeMap::new();
                for (name, node) in &folder.durable {
                    entries.insert(name.clone(), self.adopt(*node, next, nodes));
                }
                let folder = Folder { seen: entries.clone(), durable: entries, pending: Vec::new() };
                nodes.insert(new, Content::Folder(folder));
            }
        }
        new
    }
}

/// Randomly chooses which unsynced changes to a file survive.
fn draw_writes(file: &File, rng: &mut Rng) -> Vec<Pending> {
    let mut survive = Vec::new();
    for pending in &file.pending {
        match pending {
            Pending::Length(_) => survive.extend(rng.percent(50).then(|| pending.clone())),
            Pending::Write { at, bytes } => draw_parts(*at, bytes, rng, &mut survive),
        }
    }
    survive
}

fn draw_parts(at: usize, bytes: &Arc<[u8]>, rng: &mut Rng, survive: &mut Vec<Pending>) {
    let part = |from: usize, to: usize| Pending::Write { at: at + from, bytes: bytes[from..to].into() };
    match rng.below(4) {
        // A prefix survives.
        0 => survive.push(part(0, rng.below(bytes.len() as u64 + 1) as usize)),
        // Only the new length reaches the disk, without the data.
        1 => survive.push(part(bytes.len(), bytes.len())),
        // Any subset of the sectors survives, with or without the new length.
        style => {
            let mut from = 0;
            while from < bytes.len() {
                let to = ((at + from) / SECTOR_BYTES + 1) * SECTOR_BYTES - at;
                let to = to.min(bytes.len());
                if rng.percent(50) {
                    survive.push(part(from, to));
                }
                from = to;
            }
            if style == 2 {
                survive.push(part(bytes.len(), bytes.len()));
            }
        }
    }
}
