//! Derives a plan and its expected outcome from a seed. This is the oracle: it accesses no device. It tracks
//! the bytes of each node, independently of how Plateau searches for users.

use stdx::Rng;

use super::holder::Hold;

pub const MIB: u64 = 1 << 20;
/// Slightly more than the minimum size of a target.
pub const LEAST: u64 = 20 * MIB;
/// Upper limit (exclusive) on the number of nodes that are added to a stack's initial files.
const MOST_NODES: u64 = 9;

/// The type of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A file on the file system that holds all of the test's files.
    File,
    /// A file on an ext4 file system that is mounted from a node.
    Inner,
    Loop {
        is_read_only: bool,
    },
    Partition,
    /// Created with device mapper, if the kernel supports it.
    Mapped(Mapping),
    /// Created with md, without metadata.
    Array(Level),
}

/// A device-mapper target type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Two devices, concatenated.
    Linear,
    /// One encrypted device.
    Crypt,
    /// A device whose writes are redirected to another device.
    Snapshot,
}

/// An md level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Raid0,
    Raid1,
    Raid5,
    Raid10,
}

impl What {
    /// Returns the label under which the target type is counted.
    pub fn kind(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Inner => "file on ext4",
            Self::Loop { is_read_only: false } => "loop",
            Self::Loop { is_read_only: true } => "loop, read-only",
            Self::Partition => "partition",
            Self::Mapped(Mapping::Linear) => "dm-linear",
            Self::Mapped(Mapping::Crypt) => "dm-crypt",
            Self::Mapped(Mapping::Snapshot) => "dm-snapshot",
            Self::Array(Level::Raid0) => "md raid0",
            Self::Array(Level::Raid1) => "md raid1",
            Self::Array(Level::Raid5) => "md raid5",
            Self::Array(Level::Raid10) => "md raid10",
        }
    }
}

/// The kernel features to which a plan is restricted.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    pub has_mapper: bool,
    pub has_md: bool,
}

/// A file or a block device. Its lower nodes precede it in the plan.
#[derive(Debug, Clone)]
pub struct Node {
    pub what: What,
    pub lower: Vec<usize>,
    /// Offset on the lower node.
    pub start: u64,
    pub length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Using {
    Held(Hold),
    Mounted {
        is_read_only: bool,
    },
    /// EROFS, mounted from a file without a loop device.
    MountedFile,
    Swap,
    /// A file system that is not mounted.
    Formatted,
}

impl Using {
    /// Returns the label under which the use is counted.
    pub fn kind(self) -> String {
        match self {
            Self::Held(hold) => format!("{hold:?}"),
            Self::Mounted { is_read_only: false } => "ext4 mounted".into(),
            Self::Mounted { is_read_only: true } => "ext4 mounted read-only".into(),
            Self::MountedFile => "erofs mounted from a file".into(),
            Self::Swap => "swap".into(),
            Self::Formatted => "ext4, not mounted".into(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Use {
    pub node: usize,
    pub using: Using,
    pub name: Name,
}

/// The kind of path that names a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    Plain,
    Symlink,
    /// A hard link to a file or a second device node.
    Second,
    Bind,
    Dotted,
}

pub struct StackPlan {
    pub nodes: Vec<Node>,
    pub uses: Vec<Use>,
    pub target: usize,
    pub name: Name,
}

/// Why the target must not be written to, with the responsible node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    ReadOnly(usize),
    IsPartition,
    SameBytes(usize, What),
    Used(usize, Using),
}

impl Reason {
    pub fn is_claim(self) -> bool {
        matches!(self, Self::Used(_, Using::Held(Hold::Claimed)))
    }

    /// Returns the label under which the reason is counted, without the node.
    pub fn kind(self) -> String {
        match self {
            Self::ReadOnly(_) => "read-only".into(),
            Self::IsPartition => "a partition".into(),
            Self::SameBytes(_, what) => format!("{} on the same bytes", what.kind()),
            Self::Used(_, using) => using.kind(),
        }
    }
}

/// The bytes `start..end` of a file.
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

/// A byte range of a node at or below another node, and the upper node through which the range is reached.
struct Way {
    node: usize,
    via: Option<usize>,
    start: u64,
    end: u64,
}

impl Way {
    /// Returns whether two ranges overlap. Two ranges that are reached through the same upper node do not
    /// count. They have already been compared at that node, where they can be distinguished.
    fn meets(&self, other: &Self) -> bool {
        let is_distinct = self.via.is_none() || other.via.is_none() || self.via != other.via;
        is_distinct && self.node == other.node && self.start < other.end && other.start < self.end
    }
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

impl StackPlan {
    pub fn of_seed(seed: u64, kernel: Kernel) -> Self {
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
            plan.add_node(&mut rng, kernel);
        }
        for _ in 0..one_of(&mut rng, &[0, 0, 1, 1, 1, 2, 3]) {
            plan.add_use(&mut rng);
        }
        let last = plan.nodes.len() - 1;
        // In half of the plans, the target is the top of the stack: most other nodes are in use by the nodes
        // above them.
        plan.target = if rng.below(2) == 0 { last } else { rng.below(last as u64 + 1) as usize };
        plan.name = drawn_name(&mut rng);
        plan
    }

    fn add_node(&mut self, rng: &mut Rng, kernel: Kernel) {
        let lower = rng.below(self.nodes.len() as u64) as usize;
        let room = self.nodes[lower].length;
        let node = match rng.below(24) {
            0..=3 if matches!(self.nodes[lower].what, What::Loop { .. }) && room > LEAST + MIB => {
                let start = (1 + rng.below(2) * 20) * MIB;
                let start = start.min(room - LEAST);
                let length = drawn_length(rng, 30).min(room - start);
                Node { what: What::Partition, lower: vec![lower], start, length }
            }
            4..=6 if self.is_device(lower) && room >= 3 * LEAST => {
                Node { what: What::Inner, lower: vec![lower], start: 0, length: LEAST }
            }
            7..=11 if kernel.has_mapper => {
                let all = [Mapping::Linear, Mapping::Crypt, Mapping::Snapshot];
                let Some(node) = self.mapped(one_of(rng, &all), rng) else { return };
                node
            }
            12..=16 if kernel.has_md => {
                let all = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid10];
                let Some(node) = self.array(one_of(rng, &all), rng) else { return };
                node
            }
            _ => {
                let start = (rng.below(4) * 20 * MIB).min(room.saturating_sub(LEAST) / MIB * MIB);
                let length = drawn_length(rng, 60).min(room - start);
                let is_read_only = rng.below(10) == 0;
                Node { what: What::Loop { is_read_only }, lower: vec![lower], start, length }
            }
        };
        // The kernel rejects partitions that overlap.
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

    /// Returns `count` distinct devices.
    fn devices(&self, count: usize, rng: &mut Rng) -> Option<Vec<usize>> {
        let mut all: Vec<usize> = (0..self.nodes.len()).filter(|&node| self.is_device(node)).collect();
        let mut drawn = Vec::new();
        while drawn.len() < count && !all.is_empty() {
            drawn.push(all.swap_remove(rng.below(all.len() as u64) as usize));
        }
        (drawn.len() == count).then_some(drawn)
    }

    fn mapped(&self, mapping: Mapping, rng: &mut Rng) -> Option<Node> {
        let lower = self.devices(if mapping == Mapping::Crypt { 1 } else { 2 }, rng)?;
        let lengths: Vec<u64> = lower.iter().map(|&node| self.nodes[node].length).collect();
        let length = if mapping == Mapping::Linear { lengths.iter().sum() } else { lengths[0] };
        Some(Node { what: What::Mapped(mapping), lower, start: 0, length })
    }

    fn array(&self, level: Level, rng: &mut Rng) -> Option<Node> {
        let lower = (level == Level::Raid5).then(|| self.devices(3, rng)).flatten();
        let lower = lower.or_else(|| self.devices(2, rng))?;
        let each = lower.iter().map(|&node| self.nodes[node].length).min()? / MIB * MIB;
        let members = lower.len() as u64;
        let length = match level {
            Level::Raid0 => each * members,
            Level::Raid1 | Level::Raid10 => each,
            Level::Raid5 => each * (members - 1),
        };
        Some(Node { what: What::Array(level), lower, start: 0, length })
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
        } else if self.nodes[node].what == What::Inner && rng.below(3) > 0 {
            one_of(rng, &[Using::Swap, Using::MountedFile, Using::MountedFile])
        } else {
            Using::Held(one_of(rng, &holds))
        };
        self.uses.push(Use { node, using, name: drawn_name(rng) });
    }

    pub fn is_device(&self, node: usize) -> bool {
        !matches!(self.nodes[node].what, What::File | What::Inner)
    }

    /// Returns the bytes that back a node. A device-mapper or md node counts as all of its lower nodes.
    pub fn reach(&self, node: usize) -> Vec<Reach> {
        let Node { what, lower, start, length } = &self.nodes[node];
        match what {
            What::File | What::Inner => vec![Reach { file: node, start: 0, end: *length }],
            What::Mapped(_) | What::Array(_) => lower.iter().flat_map(|&lower| self.reach(lower)).collect(),
            What::Loop { .. } | What::Partition => {
                let lower = self.reach(lower[0]);
                // If the lower node has several ranges, each is included in full.
                let [Reach { file, start: from, end }] = lower[..] else { return lower };
                let from = from + start;
                vec![Reach { file, start: from, end: (from + length).min(end) }]
            }
        }
    }

    /// Returns the node itself and everything below it. In this model, a file on a mounted file system has no
    /// nodes below it, because the lower nodes belong to the file system.
    pub fn below(&self, node: usize) -> Vec<usize> {
        let mut found = vec![node];
        if self.nodes[node].what != What::Inner {
            found.extend(self.nodes[node].lower.iter().flat_map(|&lower| self.below(lower)));
        }
        found
    }

    /// Returns all ranges at or below a node. Device mapper and md use all of their lower nodes.
    fn ways(&self, node: usize) -> Vec<Way> {
        let mut found = vec![Way { node, via: None, start: 0, end: self.nodes[node].length }];
        let mut next = 0;
        while let Some(&Way { node: upper, start, end, .. }) = found.get(next) {
            next += 1;
            let Node { what, lower, start: from, length } = &self.nodes[upper];
            found.extend(lower.iter().filter(|_| *what != What::Inner).map(|&lower| match what {
                What::Mapped(_) | What::Array(_) => {
                    Way { node: lower, via: Some(upper), start: 0, end: self.nodes[lower].length }
                }
                _ => Way { node: lower, via: Some(upper), start: from + start, end: from + end.min(*length) },
            }));
        }
        found
    }

    fn touch(&self, a: usize, b: usize) -> bool {
        let other = self.ways(b);
        self.ways(a).iter().any(|one| other.iter().any(|other| one.meets(other)))
    }

    /// Returns why the target must be refused; `None` if it must be accepted. `made` and `used` say which nodes
    /// and uses exist.
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

    /// Returns whether there may be a signature on the target, which would justify a refusal.
    pub fn may_carry_signature(&self, formatted: &[usize]) -> bool {
        formatted.iter().any(|&node| self.touch(node, self.target))
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
