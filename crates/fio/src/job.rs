//! A job as requested, before its target is known.

use engine::{Engine, Polling};
use record::{Access, Placement, Process, Zone};

use super::values::Size;

/// fio's default percentage of reads in a mix.
pub const DEFAULT_MIX: u8 = 50;
/// fio's default block size.
pub const DEFAULT_BLOCK: u32 = 4096;

/// A block size and its percentage of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShare {
    pub block_bytes: u32,
    pub share_percent: u8,
}

/// A job. All numbers apply to each clone of the job (`numjobs`), as in fio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Name of the job in the results.
    pub name: String,
    /// The target, if specified.
    pub filename: Option<String>,
    pub(crate) access: Access,
    /// Percentage of reads if the pattern determines it; `None` for a mix.
    pub(crate) reads: Option<u8>,
    /// The value of `rw` as written.
    pub(crate) pattern: String,
    pub(crate) mix: Option<u8>,
    /// Reads, then writes.
    pub(crate) blocks: [Vec<BlockShare>; 2],
    pub(crate) iodepth: u16,
    /// Number of clones.
    pub numjobs: u16,
    pub(crate) runtime_ns: Option<u64>,
    pub(crate) time_based: bool,
    pub(crate) ramp_ns: u64,
    pub(crate) size: Option<Size>,
    pub(crate) io_size: Option<Size>,
    pub(crate) loops: u16,
    pub(crate) offset: Size,
    pub(crate) offset_increment: u64,
    /// Reads, then writes.
    pub(crate) rate_iops: Option<[u32; 2]>,
    pub(crate) process: Process,
    pub(crate) zones: Vec<Zone>,
    /// Whether random offsets may repeat.
    pub norandommap: bool,
    /// Seed of offsets and data, if specified.
    pub seed: Option<u64>,
    /// Whether to use `seed`; if not, the seed is random.
    pub randrepeat: bool,
    /// `ioengine`.
    pub engine: Engine,
    /// `cpus_allowed` or `numa_cpu_nodes`.
    pub placement: Option<Placement>,
    /// `hipri` or `sqthread_poll`.
    pub polling: Polling,
    pub(crate) compress_percent: u8,
    pub(crate) dedupe_percent: u8,
    pub(crate) zero_buffers: bool,
    pub(crate) verify: bool,
    /// Whether stamped blocks are read back and checked.
    pub do_verify: bool,
    /// Whether the results are combined with those of the preceding jobs.
    pub group_reporting: bool,
    /// Whether the job starts a new group of results.
    pub new_group: bool,
    /// Whether the job starts after all preceding jobs have ended.
    pub stonewall: bool,
}

impl Default for Job {
    fn default() -> Self {
        let block = vec![BlockShare { block_bytes: DEFAULT_BLOCK, share_percent: 100 }];
        Self {
            name: String::new(),
            filename: None,
            access: Access::Sequential,
            reads: Some(100),
            pattern: "read".into(),
            mix: None,
            blocks: [block.clone(), block],
            iodepth: 1,
            numjobs: 1,
            runtime_ns: None,
            time_based: false,
            ramp_ns: 0,
            size: None,
            io_size: None,
            loops: 1,
            offset: Size::Bytes(0),
            offset_increment: 0,
            rate_iops: None,
            process: Process::Constant,
            zones: Vec::new(),
            norandommap: false,
            seed: None,
            randrepeat: true,
            engine: Engine::Auto,
            placement: None,
            polling: Polling::No,
            compress_percent: 0,
            dedupe_percent: 0,
            zero_buffers: false,
            verify: false,
            do_verify: true,
            group_reporting: false,
            new_group: false,
            stonewall: false,
        }
    }
}

impl Job {
    /// Returns a job with fio's defaults for all other options.
    #[must_use]
    pub fn named(name: &str, filename: Option<&str>) -> Self {
        Self { name: name.to_owned(), filename: filename.map(str::to_owned), ..Self::default() }
    }

    /// Returns the percentage of reads.
    pub fn read_percent(&self) -> u8 {
        self.reads.or(self.mix).unwrap_or(DEFAULT_MIX)
    }

    /// Returns whether the job includes writes.
    pub fn writes(&self) -> bool {
        self.read_percent() < 100
    }

    /// Returns remarks for readers of the results.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.access == Access::Random && !self.norandommap {
            notes.push("offsets are drawn independently, as in fio with norandommap".to_owned());
        }
        if let (Some(seed), false) = (self.seed, self.randrepeat) {
            notes.push(format!("seed {seed}; randseed={seed} repeats the same load"));
        }
        notes
    }

    /// Returns the end of the range that the job may access on a target of this size; `None` if that is the whole
    /// target.
    pub fn end_bytes(&self, whole_bytes: u64) -> Option<u64> {
        let increments = self.offset_increment.saturating_mul(u64::from(self.numjobs) - 1);
        let start = self.offset.of(whole_bytes).saturating_add(increments);
        self.size.map(|size| start.saturating_add(size.of(whole_bytes)))
    }
}
