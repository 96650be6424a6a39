//! What a seed asks for, and what has to come of it. Nothing here touches anything: this is the oracle, and it knows
//! bytes and names, not how Plateau looks for users.

use stdx::Rng;

use super::holder::Hold;

pub const MIB: u64 = 1 << 20;
/// The smallest target, and a bit more.
pub const LEAST: u64 = 20 * MIB;
/// Layers and files of one stack.
const MOST_NODES: u64 = 7;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A file on the file system that all this is done on.
    File,
    /// A file on an ext4 file system that is mounted from a node.
    Inner,
    Loop {
        is_read_only: bool,
    },
    Partition,
    /// Two devices as one, by device mapper; it needs a kernel that has that.
    Linear,
    /// Two devices as one, by md, without metadata.
    Mirror,
}

/// A file or a block device. What it is built on was made before.
#[derive(Debug, Clone)]
pub struct Node {
    pub what: What,
    pub lower: Vec<usize>,
    /// Where it begins on its lower node.
    pub start: u64,
    pub length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Using {
    Held(Hold),
    Mounted {
        is_read_only: bool,
    },
    Swap,
    /// A file system or swap space that nobody uses.
    Formatted,
}

#[derive(Debug, Clone)]
pub struct Use {
    pub node: usize,
    pub using: Using,
    pub name: Name,
}

/// How a node is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    Plain,
    Symlink,
    /// A hard link to a file, a node of its own for a device.
    Second,
    Bind,
    Dotted,
}

pub struct Plan {
    pub nodes: Vec<Node>,
    pub uses: Vec<Use>,
    pub target: usize,
    pub name: Name,
}

/// What forbids writing to the target; with the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    ReadOnly(usize),
    IsPartition,
    SameBytes(usize, What),
    Used(usize, Using),
}

impl Reason {
    /// Without the node, to be counted.
    pub fn kind(self) -> String {
        match self {
            Self::ReadOnly(_) => "read-only".into(),
            Self::IsPartition => "a partition".into(),
            Self::SameBytes(_, what) => format!("{what:?}"),
            Self::Used(_, Using::Held(hold)) => format!("{hold:?}"),
            Self::Used(_, using) => format!("{using:?}"),
        }
    }
}

/// Bytes `start..end` of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    pub file: usize,
    pub start: u64,
    pub end: u64,
}

impl Reach {
    pub fn overlaps(&self, other: &Self) -> bool {
        self.file == other.file && self.start < other.end && other.start < self.end
    }
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

impl Plan {
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::from_seed_and_stream(seed, 16);
        let mut plan = Self { nodes: Vec::new(), uses: Vec::new(), target: 0, name: Name::Plain };
        for _ in 0..=rng.below(2) {
            plan.nodes.push(Node {
                what: What::File,
                lower: Vec::new(),
                start: 0,
                length: drawn_length(&mut rng, 100),
            });
        }
        for _ in 0..rng.below(MOST_NODES) {
            plan.add_node(&mut rng);
        }
        for _ in 0..one_of(&mut rng, &[0, 0, 1, 1, 1, 2, 3]) {
            plan.add_use(&mut rng);
        }
        plan.target = rng.below(plan.nodes.len() as u64) as usize;
        plan.name = drawn_name(&mut rng);
        plan
    }

    fn add_node(&mut self, rng: &mut Rng) {
        let lower = rng.below(self.nodes.len() as u64) as usize;
        let room = self.nodes[lower].length;
        let kind = rng.below(20);
        let second = rng.below(self.nodes.len() as u64) as usize;
        let node = match kind {
            0..=9 => {
                let start = (rng.below(4) * 20 * MIB).min(room.saturating_sub(LEAST) / MIB * MIB);
                let length = drawn_length(rng, 60).min(room - start);
                let is_read_only = rng.below(10) == 0;
                Node { what: What::Loop { is_read_only }, lower: vec![lower], start, length }
            }
            10..=13 if matches!(self.nodes[lower].what, What::Loop { .. }) && room > LEAST + MIB => {
                let start = (1 + rng.below(2) * 20) * MIB;
                let start = start.min(room - LEAST);
                let length = drawn_length(rng, 30).min(room - start);
                Node { what: What::Partition, lower: vec![lower], start, length }
            }
            14 | 15 if self.is_device(lower) && room >= 3 * LEAST => {
                Node { what: What::Inner, lower: vec![lower], start: 0, length: LEAST }
            }
            16 | 17 if self.is_device(lower) && self.is_device(second) && lower != second => {
                let length = room + self.nodes[second].length;
                Node { what: What::Linear, lower: vec![lower, second], start: 0, length }
            }
            18 | 19 if self.is_device(lower) && self.is_device(second) && lower != second => {
                let length = room.min(self.nodes[second].length);
                Node { what: What::Mirror, lower: vec![lower, second], start: 0, length }
            }
            _ => return,
        };
        // The kernel takes no partition that overlaps another one.
        let overlaps = |other: &Node| {
            other.what == What::Partition
                && other.lower == node.lower
                && node.start < other.start + other.length
                && other.start < node.start + node.length
        };
        if node.what != What::Partition || !self.nodes.iter().any(overlaps) {
            self.nodes.push(node);
        }
    }

    fn add_use(&mut self, rng: &mut Rng) {
        let node = rng.below(self.nodes.len() as u64) as usize;
        let holds = [Hold::Flock, Hold::Posix, Hold::OpenFileDescription, Hold::Writing, Hold::Mapped];
        let using = if self.is_device(node) {
            match rng.below(12) {
                0 | 1 => Using::Mounted { is_read_only: false },
                2 => Using::Mounted { is_read_only: true },
                3 => Using::Held(Hold::Mounted),
                4 => Using::Swap,
                5 => Using::Formatted,
                6 => Using::Held(Hold::Claimed),
                7 | 8 => Using::Held(Hold::Reading),
                _ => Using::Held(one_of(rng, &holds)),
            }
        } else if self.nodes[node].what == What::Inner && rng.below(4) == 0 {
            Using::Swap
        } else {
            Using::Held(one_of(rng, &holds))
        };
        self.uses.push(Use { node, using, name: drawn_name(rng) });
    }

    pub fn is_device(&self, node: usize) -> bool {
        !matches!(self.nodes[node].what, What::File | What::Inner)
    }

    /// The bytes that a node is made of. Device mapper and md count as all of what they are built on.
    pub fn reach(&self, node: usize) -> Vec<Reach> {
        let Node { what, lower, start, length } = &self.nodes[node];
        match what {
            What::File | What::Inner => vec![Reach { file: node, start: 0, end: *length }],
            What::Linear | What::Mirror => lower.iter().flat_map(|&lower| self.reach(lower)).collect(),
            What::Loop { .. } | What::Partition => {
                let lower = self.reach(lower[0]);
                // What lies on several is not cut to size; it counts as all.
                let [Reach { file, start: from, end }] = lower[..] else { return lower };
                let from = from + start;
                vec![Reach { file, start: from, end: (from + length).min(end) }]
            }
        }
    }

    /// Itself and everything it is built on. A file on a mounted file system is built on nothing: it belongs to it.
    pub fn below(&self, node: usize) -> Vec<usize> {
        let mut found = vec![node];
        if self.nodes[node].what != What::Inner {
            found.extend(self.nodes[node].lower.iter().flat_map(|&lower| self.below(lower)));
        }
        found
    }

    fn touch(&self, a: usize, b: usize) -> bool {
        self.reach(a).iter().any(|one| self.reach(b).iter().any(|other| one.overlaps(other)))
    }

    /// Why the target must not be written; none where it must be accepted. `made` and `used` say what there is.
    pub fn verdict(&self, made: &[bool], used: &[bool]) -> Option<Reason> {
        let target = self.target;
        let below = self.below(target);
        for (index, node) in self.nodes.iter().enumerate().filter(|(index, _)| made[*index]) {
            if below.contains(&index) && node.what == (What::Loop { is_read_only: true }) {
                return Some(Reason::ReadOnly(index));
            }
            if node.what == What::Partition && index == target {
                return Some(Reason::IsPartition);
            }
            if node.what == What::Inner && self.touch(node.lower[0], target) {
                return Some(Reason::Used(node.lower[0], Using::Mounted { is_read_only: false }));
            }
            if !below.contains(&index) && node.what != What::Inner && self.touch(index, target) {
                return Some(Reason::SameBytes(index, node.what));
            }
        }
        let uses = self.uses.iter().zip(used).filter(|(_, used)| **used).map(|(one, _)| one);
        let harmless = |one: &&Use| matches!(one.using, Using::Formatted | Using::Held(Hold::Reading));
        let mut uses = uses.filter(|one| !harmless(one));
        uses.find(|one| self.touch(one.node, target)).map(|one| Reason::Used(one.node, one.using))
    }

    /// Whether a signature may stand somewhere on the target, so that a refusal because of one is right.
    pub fn may_carry_signature(&self, used: &[bool]) -> bool {
        let mut uses = self.uses.iter().zip(used).filter(|(_, used)| **used);
        uses.any(|(one, _)| one.using == Using::Formatted && self.touch(one.node, self.target))
    }
}

fn drawn_length(rng: &mut Rng, most_mib: u64) -> u64 {
    LEAST + rng.below(most_mib - 19) * MIB
}

fn drawn_name(rng: &mut Rng) -> Name {
    one_of(
        rng,
        &[Name::Plain, Name::Plain, Name::Symlink, Name::Second, Name::Second, Name::Bind, Name::Dotted],
    )
}
