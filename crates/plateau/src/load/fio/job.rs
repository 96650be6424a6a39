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

/// A job. The numbers apply to each of its clones (`numjobs`), as in fio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub name: String,
    pub filename: Option<String>,
    pub access: Access,
    /// Percentage of reads if the pattern determines it; none for a mix.
    pub reads: Option<u8>,
    /// The value of `rw` as written.
    pub pattern: String,
    pub mix: Option<u8>,
    /// Reads, then writes.
    pub blocks: [Vec<BlockShare>; 2],
    pub iodepth: u16,
    pub numjobs: u16,
    pub runtime_ns: Option<u64>,
    pub time_based: bool,
    pub ramp_ns: u64,
    pub size: Option<Size>,
    pub io_size: Option<Size>,
    pub loops: u16,
    pub offset: Size,
    pub offset_increment: u64,
    /// Reads, then writes.
    pub rate_iops: Option<[u32; 2]>,
    pub process: Process,
    pub zones: Vec<Zone>,
    pub norandommap: bool,
    pub seed: Option<u64>,
    /// Whether to use `seed`; otherwise the seed is random.
    pub randrepeat: bool,
    pub engine: Engine,
    pub placement: Option<Placement>,
    pub polling: Polling,
    pub compress_percent: u8,
    pub dedupe_percent: u8,
    pub zero_buffers: bool,
    pub verify: bool,
    pub do_verify: bool,
    pub group_reporting: bool,
    pub new_group: bool,
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
            notes.push("offsets are drawn independently, as fio does with norandommap".to_owned());
        }
        if let (Some(seed), false) = (self.seed, self.randrepeat) {
            notes.push(format!("seed {seed}; randseed={seed} repeats the same load"));
        }
        notes
    }

    /// Returns the end of the range that the job may touch on a target of this size; none if that is the whole target.
    pub fn end_bytes(&self, whole_bytes: u64) -> Option<u64> {
        let increments = self.offset_increment.saturating_mul(u64::from(self.numjobs) - 1);
        let start = self.offset.of(whole_bytes).saturating_add(increments);
        self.size.map(|size| start.saturating_add(size.of(whole_bytes)))
    }
}
