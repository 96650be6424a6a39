//! A job as requested, before its target is known.

use engine::{Engine, FolderFiles, Polling};
use record::{Access, Offsets, Placement, Process, Syncs, Zone};
use stdx::units::count_of;

use super::command_options::CommandOptions;
use super::continues::Continues;
use super::copies::Duplicates;
use super::file_list::Files;
use super::latency_target::LatencyTarget;
use super::limits::JobLimits;
use super::log_options::Logs;
use super::order::{Order, Sprandom};
use super::steady::{Steady, SteadyState};
use super::strides::Strides;
use super::think::Think;
use super::tie::Tie;
use super::values::Size;

/// fio's default percentage of reads in a mix.
pub const DEFAULT_MIX: u8 = 50;
/// The whole target, in percent.
const ALL: u8 = 100;
/// fio's default block size.
pub const DEFAULT_BLOCK: u32 = 4096;

/// A block size and the percentage of the I/Os that have it.
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
    /// The target. In a job that was only parsed, the value of `filename`; see [`Job::expanded`].
    pub filename: Option<String>,
    pub(crate) files: Files,
    /// The files that the job creates, inspects or deletes, in a job that was expanded.
    pub folder_files: Option<FolderFiles>,
    pub(crate) syncs: Syncs,
    pub(crate) think: Think,
    pub(crate) logs: Logs,
    pub(crate) steady: Steady,
    pub(crate) limits: JobLimits,
    pub(crate) latency: LatencyTarget,
    pub(crate) commands: CommandOptions,
    pub(crate) tie: Tie,
    pub(crate) continues_after: Continues,
    /// Time before the job starts.
    pub start_delay_ns: u64,
    pub(crate) strides: Strides,
    /// Whether the job trims blocks.
    pub(crate) trims: bool,
    /// Whether a value for trims differs from the value for writes.
    pub(crate) trims_differ: bool,
    /// Whether a file that does not exist may be created.
    pub may_create: bool,
    /// Whether a new file is written completely before the job starts, even if the job does not read.
    pub overwrite: bool,
    pub(crate) access: Access,
    /// Percentage of reads if the pattern determines it; `None` for a mix.
    pub(crate) reads: Option<u8>,
    /// The value of `rw` as written.
    pub(crate) pattern: String,
    pub(crate) mix: Option<u8>,
    /// Reads, then writes.
    pub(crate) blocks: [Vec<BlockShare>; 2],
    pub(crate) iodepth: u16,
    /// Whether `ioengine` performs one I/O at a time, regardless of `iodepth`.
    pub(crate) one_at_a_time: bool,
    /// Number of clones.
    pub numjobs: u16,
    pub(crate) runtime_ns: Option<u64>,
    pub(crate) time_based: bool,
    pub(crate) ramp_ns: u64,
    pub(crate) size: Option<Size>,
    pub(crate) io_size: Option<Size>,
    /// Number of I/Os per clone, instead of an amount.
    pub(crate) number_ios: Option<u64>,
    pub(crate) loops: u32,
    pub(crate) offset: Size,
    pub(crate) offset_increment: Size,
    /// Reads, then writes.
    pub(crate) rate_iops: Option<[u32; 2]>,
    /// Bytes per second of reads, then of writes.
    pub(crate) rate_bytes: Option<[u64; 2]>,
    /// Alignment of random offsets; 0 for the greatest common divisor of the sizes.
    pub(crate) align_bytes: u32,
    pub(crate) process: Process,
    pub(crate) zones: Vec<Zone>,
    /// The distribution of random offsets, if one was requested.
    pub(crate) distribution: Option<Offsets>,
    pub(crate) order: Order,
    pub(crate) sprandom: Sprandom,
    /// Whether random offsets may repeat.
    pub norandommap: bool,
    /// Seed for offsets and data, if specified.
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
    pub(crate) duplicates: Duplicates,
    pub(crate) zero_buffers: bool,
    /// The byte that is written, instead of random data.
    pub(crate) buffer_byte: Option<u8>,
    pub(crate) verify: bool,
    /// Whether the number of each write is verified.
    pub(crate) verifies_sequence: bool,
    /// Whether stamped blocks are read back and checked.
    pub do_verify: bool,
    /// Whether the results are combined with the results of the preceding jobs.
    pub group_reporting: bool,
    /// Whether the job starts a new group of results.
    pub new_group: bool,
    /// Whether the job starts after all preceding jobs have ended.
    pub stonewall: bool,
    /// The job that must have ended before this one starts.
    pub wait_for: Option<String>,
    /// Whether this is another target of the preceding job: both jobs start together and share a result.
    pub continues: bool,
    /// Options that were set but have no effect.
    pub(crate) ignored: Vec<&'static str>,
    /// Other remarks for readers of the results.
    pub(crate) remarks: Vec<String>,
    /// The options that were set, with their values.
    pub(crate) given: Vec<(&'static str, String)>,
    /// Those of the options that were set for all jobs, with the values that they had there.
    pub(crate) globals: Vec<(&'static str, String)>,
}

/// The options of a job, by fio's names, with their values.
#[derive(Debug, Clone, Default)]
pub struct GivenOptions {
    /// All options that apply to the job.
    pub(crate) all: Vec<(&'static str, String)>,
    /// Options that were set for all jobs. The job may override them.
    pub(crate) globals: Vec<(&'static str, String)>,
}

impl GivenOptions {
    /// Returns whether an option was set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|(given, _)| *given == name)
    }
}

impl Default for Job {
    fn default() -> Self {
        let block = vec![BlockShare { block_bytes: DEFAULT_BLOCK, share_percent: 100 }];
        Self {
            name: String::new(),
            filename: None,
            files: Files::default(),
            folder_files: None,
            syncs: Syncs::NONE,
            think: Think::default(),
            logs: Logs::default(),
            steady: Steady::default(),
            limits: JobLimits::default(),
            latency: LatencyTarget::default(),
            commands: CommandOptions::default(),
            tie: Tie::default(),
            continues_after: Continues::default(),
            start_delay_ns: 0,
            strides: Strides::default(),
            trims: false,
            trims_differ: false,
            may_create: true,
            overwrite: false,
            access: Access::Sequential,
            reads: Some(100),
            pattern: "read".into(),
            mix: None,
            blocks: [block.clone(), block],
            iodepth: 1,
            one_at_a_time: false,
            numjobs: 1,
            runtime_ns: None,
            time_based: false,
            ramp_ns: 0,
            size: None,
            io_size: None,
            number_ios: None,
            loops: 1,
            offset: Size::Bytes(0),
            offset_increment: Size::Bytes(0),
            rate_iops: None,
            rate_bytes: None,
            align_bytes: 0,
            process: Process::Constant,
            zones: Vec::new(),
            distribution: None,
            order: Order::default(),
            sprandom: Sprandom::default(),
            norandommap: false,
            seed: None,
            randrepeat: true,
            engine: Engine::Auto,
            placement: None,
            polling: Polling::No,
            compress_percent: 0,
            dedupe_percent: 0,
            duplicates: Duplicates::default(),
            zero_buffers: false,
            buffer_byte: None,
            verify: false,
            verifies_sequence: true,
            do_verify: true,
            group_reporting: false,
            new_group: false,
            stonewall: false,
            wait_for: None,
            continues: false,
            ignored: Vec::new(),
            remarks: Vec::new(),
            given: Vec::new(),
            globals: Vec::new(),
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

    /// Returns whether a new target must be filled with data before the job.
    pub fn needs_contents(&self) -> bool {
        self.read_percent() > 0 || self.trims || self.overwrite
    }

    /// Returns the condition that ends the job early.
    ///
    /// # Errors
    /// Returns an error that names options that cannot be combined.
    pub fn steady_state(&self) -> Result<Option<SteadyState>, String> {
        self.steady.state(self.ramp_ns)
    }

    /// Returns whether a log of the job shows response times by direction, which simulated drives do not record.
    pub fn logs_by_direction(&self) -> bool {
        self.logs.latency.is_some() && (1..100).contains(&self.read_percent())
    }

    /// Returns whether each clone ends with an fsync.
    pub fn ends_with_fsync(&self) -> bool {
        self.syncs.end_fsync && self.writes() && !self.trims
    }

    /// Returns remarks for readers of the results.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let is_drawn = self.access == Access::Random && self.order.blocks.is_none();
        if is_drawn && !self.norandommap && self.offsets() == Offsets::Independent {
            notes.push("offsets are drawn independently, as in fio with norandommap".to_owned());
        }
        if let (Some(seed), false) = (self.seed, self.randrepeat) {
            notes.push(format!("seed {seed}; randseed={seed} repeats the same load"));
        }
        if !self.ignored.is_empty() {
            notes.push(format!(
                "without effect: {} (docs/reference/fio.md explains why)",
                self.ignored.join(", ")
            ));
        }
        if self.tie.weight > 0 {
            notes.push("flow: the job waits while it is ahead of the other jobs of its flow_id".into());
        }
        if self.verify && !self.verifies_sequence && !self.commands.atomic {
            notes.push(
                "verify_write_sequence=0: the number of each write is verified nevertheless, because writes are not atomic"
                    .into(),
            );
        }
        if !self.logs.is_none() {
            let seconds = self.logs.intervals.max(1);
            notes.push(format!("each line of a log is an average over {}", count_of(seconds, "second")));
        }
        notes.extend(self.remarks.iter().cloned());
        notes.extend(self.defaults());
        notes
    }

    /// Returns the number of outstanding I/Os per clone.
    pub(crate) const fn depth(&self) -> u16 {
        if self.one_at_a_time { 1 } else { self.iodepth }
    }

    /// Returns remarks about options that were omitted and whose default differs from fio's, and about options without
    /// effect on this job.
    fn defaults(&self) -> Vec<String> {
        let has = |names: &[&str]| self.given.iter().any(|(name, _)| names.contains(name));
        let is_simulated = self.filename.as_ref().is_some_and(|name| name.starts_with("sim:"));
        let mut notes = Vec::new();
        if self.one_at_a_time && self.iodepth > 1 {
            let asked = self.iodepth;
            notes.push(format!(
                "as in fio, this ioengine performs one I/O at a time, not the {asked} of iodepth"
            ));
        }
        let without_effect = [
            ("rwmixread", self.mix.is_some() && self.reads.is_some()),
            ("random_distribution", self.access == Access::Sequential && self.is_distributed()),
        ];
        for (name, _) in without_effect.iter().filter(|(_, is_so)| *is_so) {
            notes.push(format!("as in fio, {name} has no effect on {}", self.pattern));
        }
        if is_simulated || self.trims || !self.engine.transfers_data() {
            return notes;
        }
        if self.iodepth > 1 && !has(&["ioengine"]) {
            notes.push("ioengine is not set: fio would use psync and perform one I/O at a time".into());
        }
        if !has(&["direct", "buffered"]) {
            notes.push(
                "direct is not set: fio would use the page cache, which is bypassed here if possible".into(),
            );
        }
        notes
    }

    /// Adds a remark for readers of the results.
    pub(crate) fn remark(&mut self, text: &str) {
        if self.remarks.iter().all(|known| known != text) {
            self.remarks.push(text.to_owned());
        }
    }

    /// Returns the options that were set.
    pub fn given(&self) -> GivenOptions {
        GivenOptions { all: self.given.clone(), globals: self.globals.clone() }
    }

    /// Returns the first state of a job for which `self` contains the defaults.
    pub(crate) fn begun(&self, name: String) -> Self {
        Self { name, globals: self.given.clone(), ..self.clone() }
    }

    /// Returns how random offsets are chosen: as in fio, each block once per pass unless the job requests otherwise.
    /// Jobs with several sizes or zones draw offsets independently.
    pub(crate) fn offsets(&self) -> Offsets {
        let one_size = match self.read_percent() {
            100 => self.blocks[0].len() == 1,
            0 => self.blocks[1].len() == 1,
            _ => self.blocks[0].len() == 1 && self.blocks[0] == self.blocks[1],
        };
        if let Some(regions) = self.regions() {
            return Offsets::Regions(regions);
        }
        match self.distribution.filter(|_| self.access == Access::Random) {
            Some(offsets) => offsets,
            None if self.access == Access::Random
                && !self.norandommap
                && one_size
                && !self.is_distributed()
                && self.align_bytes == 0 =>
            {
                Offsets::OncePerPass
            }
            None => Offsets::Independent,
        }
    }

    fn is_distributed(&self) -> bool {
        self.distribution.is_some() || self.order.blocks.is_some() || !self.zones.is_empty()
    }

    /// Returns the end of the range that the job may access on a target of this size; `None` for the whole
    /// target.
    pub fn end_bytes(&self, whole_bytes: u64) -> Option<u64> {
        let start = self.start_of(u64::from(self.numjobs) - 1, whole_bytes).unwrap_or(u64::MAX);
        self.size_from(start, whole_bytes).map(|size| start.saturating_add(size))
    }

    /// Returns the start of a clone's range; `None` if it is too large. As in fio, the start is rounded up to a multiple of
    /// the smallest size if it results from a percentage.
    pub(crate) fn start_of(&self, clone: u64, whole_bytes: u64) -> Option<u64> {
        let increment = self.in_bytes(self.offset_increment).of(whole_bytes).checked_mul(clone)?;
        let start = self.in_bytes(self.offset).of(whole_bytes).checked_add(increment)?;
        match self.offset {
            Size::Bytes(_) | Size::Zones(_) => Some(start),
            Size::Percent(_) => start.checked_next_multiple_of(self.smallest_block_bytes()),
        }
    }

    /// Returns the length of a range that begins at `start_bytes`; `None` if it is not limited. As in fio, a percentage
    /// of the target ends with the target and is rounded down to a multiple of the smallest size.
    pub(crate) fn size_from(&self, start_bytes: u64, whole_bytes: u64) -> Option<u64> {
        let rest = whole_bytes.saturating_sub(start_bytes);
        self.size.map(|size| match self.in_bytes(size) {
            Size::Bytes(bytes) => bytes,
            Size::Percent(ALL) => rest,
            size => {
                let bytes = size.of(whole_bytes).min(rest);
                bytes - bytes % self.smallest_block_bytes()
            }
        })
    }

    /// Converts a number of zones to bytes.
    pub(crate) fn in_bytes(&self, size: Size) -> Size {
        size.of_zones(self.strides.zone_bytes)
    }

    /// Returns whether any size is a number of zones.
    pub(crate) fn uses_zones_as_unit(&self) -> bool {
        let sizes = [Some(self.offset), Some(self.offset_increment), self.size, self.io_size];
        sizes.into_iter().flatten().any(|size| matches!(size, Size::Zones(_)))
    }

    fn smallest_block_bytes(&self) -> u64 {
        let sizes = self.blocks.iter().flatten().map(|row| u64::from(row.block_bytes));
        sizes.min().unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};

    /// Compared with fio 3.33 on a file of this length.
    #[test]
    fn percentages_are_aligned_and_end_with_the_target() {
        const LENGTH: u64 = 10_000_384;
        for (options, start, size) in [
            ("offset=33%\nsize=33%", 3_301_376, 805 * 4096),
            ("offset=33%\nbs=64k", 3_342_336, LENGTH - 3_342_336),
            ("offset=50%\nsize=100%", 5_001_216, LENGTH - 5_001_216),
            ("offset=33%\nbssplit=6k/50:4k/50", 3_301_376, LENGTH - 3_301_376),
            ("offset=1k\nsize=1m", 1024, 1 << 20),
        ] {
            let text = format!("[a]\n{options}\n");
            let job = &parse("x", &text, &Job::default(), &Surroundings::none()).unwrap()[0];
            let range = job.streams(LENGTH, 0, 1).unwrap()[0].range;
            assert_eq!((range.start_bytes, range.segment_bytes), (start, size), "{options}");
            if job.size.is_some() {
                assert_eq!(job.end_bytes(LENGTH), Some(start + size), "{options}");
            }
        }
    }
}
