//! Converts a job to workloads for a target.

use engine::Polling;
use record::{Access, IoKind, Regime, Syncs, Until, Workload};

use super::Job;
use super::job::BlockShare;
use super::limits::Checked;
use super::rates::Rate;
use super::values::Size;

/// One hundred percent.
const ALL: u32 = 100;

impl Job {
    /// Returns the concurrent workloads of a job on a target of `capacity_bytes`; `position` is the position of
    /// the job in its file. Clones that share a range without an observable difference are joined into one
    /// workload.
    ///
    /// # Errors
    /// Returns an error that names options that cannot be combined or do not fit the target.
    pub fn streams(&self, capacity_bytes: u64, position: u64, seed: u64) -> Result<Vec<Workload>, String> {
        self.check()?;
        let first = self.clone_of(capacity_bytes, 0, self.seed.unwrap_or(seed.wrapping_add(position)))?;
        let clones = u64::from(self.numjobs);
        if clones == 1 {
            return Ok(vec![first]);
        }
        if self.access == Access::Random
            && self.in_bytes(self.offset_increment) == Size::Bytes(0)
            && !self.shares_blocks()
        {
            return self.joined(first).map(|workload| vec![workload]);
        }
        let seed_of = |clone: u64| first.seed.wrapping_add(clone << 16);
        (0..clones).map(|clone| self.clone_of(capacity_bytes, clone, seed_of(clone))).collect()
    }

    /// Returns the limits of one of the job's streams; `None` if there are none.
    #[must_use]
    pub fn limits_of(&self, stream: &Workload) -> Option<Checked> {
        let sizes = stream.kinds.iter().map(|kind| kind.block_bytes);
        let block_bytes =
            sizes.clone().all(|bytes| bytes == stream.block_bytes).then(|| stream.block_bytes.into());
        let is_limited = self.limits.has_rate() || self.limits.has_latency();
        is_limited.then(|| Checked::of(&self.limits, stream, block_bytes, self.ramp_ns))
    }

    /// Checks that the options can be combined.
    fn check(&self) -> Result<(), String> {
        self.steady_state()?;
        self.check_latency_target()?;
        self.check_loose()?;
        self.check_sprandom()?;
        self.check_commands()?;
        self.check_data()?;
        if self.trims && self.verify {
            return Err("verify needs written data, and trims destroy it".into());
        }
        if self.trims && self.trims_differ {
            return Err("a third value, for trims, that differs from the value for writes is not supported; write one value".into());
        }
        if self.limits.has_rate() && self.continues {
            return Err("rate_min and rate_iops_min apply to one target: write one job for each".into());
        }
        let has_sizes = self.kinds().is_ok_and(|kinds| kinds.len() > 1);
        if self.limits.least_bytes_per_second != [0; 2] && self.reads.is_none() && has_sizes {
            return Err("rate_min in a mix of several sizes is not supported; use rate_iops_min".into());
        }
        if self.time_based && self.runtime_ns.is_none() {
            return Err("time_based needs a runtime".into());
        }
        if self.runtime_ns == Some(0) {
            return Err("runtime is 0; omit it to run without a time limit".into());
        }
        let syncs = self.writes() && (self.syncs.are_periodic() || self.syncs.end_fsync);
        if self.polling == Polling::Completions && syncs {
            return Err(
                "hipri cannot be combined with syncs, because the kernel polls only for reads and writes"
                    .into(),
            );
        }
        let is_mix = self.mixed_reads().is_ok_and(|reads| reads > 0 && reads < 100);
        if self.logs.histogram.is_some() && is_mix {
            return Err(
                "write_hist_log in a mix: the histograms of each second are not recorded by direction; use one job for reads \
                 and one for writes"
                    .into(),
            );
        }
        if self.think.time().is_some() && (self.rate_iops.is_some() || self.rate_bytes.is_some()) {
            return Err("thinktime cannot be combined with a rate, because a schedule does not wait".into());
        }
        Ok(())
    }

    /// Checks that the options about the data of writes can be combined.
    fn check_data(&self) -> Result<(), String> {
        if self.zero_buffers && (self.compress_percent > 0 || self.dedupe_percent > 0 || self.verify) {
            return Err("zero_buffers cannot be combined with other data options".into());
        }
        let is_reduced = self.compress_percent > 0 || self.dedupe_percent > 0;
        if self.buffer_byte.is_some() && (self.zero_buffers || is_reduced || self.verify) {
            return Err("buffer_pattern cannot be combined with other data options".into());
        }
        if self.verify && self.dedupe_percent > 0 {
            return Err(
                "verify stamps every block, so none can be a duplicate: omit dedupe_percentage".into()
            );
        }
        Ok(())
    }

    /// Returns whether several workloads may write to the same verified blocks: only if no write can be torn, and if their
    /// order does not matter.
    pub(crate) fn shares_blocks(&self) -> bool {
        self.verify && self.commands.atomic && !self.verifies_sequence
    }

    /// Joins all clones into one workload.
    fn joined(&self, first: Workload) -> Result<Workload, String> {
        let clones = u64::from(self.numjobs);
        let until = match first.until {
            Until::AmountBytes(bytes) => Until::AmountBytes(
                bytes.checked_mul(clones).ok_or("the total amount of all clones is too large")?,
            ),
            duration @ Until::DurationNs(_) => duration,
        };
        let arrivals = first
            .regime
            .arrivals
            .map(|one| Rate::joined(one, clones).ok_or("the total rate of all clones is too high"));
        let regime = Regime { arrivals: arrivals.transpose()?, ..first.regime };
        Ok(Workload { threads: self.numjobs, until, regime, ..first })
    }

    fn clone_of(&self, capacity_bytes: u64, clone: u64, seed: u64) -> Result<Workload, String> {
        let start_bytes = self
            .start_of(clone, capacity_bytes)
            .filter(|start| *start < capacity_bytes)
            .ok_or_else(|| {
                let what = if clone == 0 {
                    "the offset".to_owned()
                } else {
                    format!("the start of clone {}", clone + 1)
                };
                format!("{what} lies beyond the end of the target, which has {capacity_bytes} B")
            })?;
        let size = self.size_from(start_bytes, capacity_bytes).unwrap_or(capacity_bytes - start_bytes);
        if start_bytes.checked_add(size).is_none_or(|end| end > capacity_bytes) {
            return Err(format!(
                "{size} B from offset {start_bytes} extend beyond the end of the target, which has \
                 {capacity_bytes} B"
            ));
        }
        // As in fio, a percentage refers to `size`, and `number_ios` only shortens a job.
        let amount = self.io_size.map_or(size, |amount| self.in_bytes(amount).of(size));
        let amount = match self.number_ios {
            Some(ios) => self.bytes_of(ios)?.min(amount),
            None => amount,
        };
        let amount = amount.checked_mul(self.loops.into()).ok_or("size times loops is too large")?;
        let arrivals = self.arrivals()?;
        let is_last = start_bytes + size == capacity_bytes;
        let (range, amount) = self.strided_range((start_bytes, size), amount, is_last)?;
        let (until, limit_ns) = self.end_of(size, amount)?;
        let plain = Workload {
            access: self.access,
            read_percent: self.read_percent(),
            block_bytes: self.blocks[0][0].block_bytes,
            kinds: Vec::new(),
            zones: if self.access == Access::Random { self.zones.clone() } else { Vec::new() },
            sequence: self.sequence(),
            threads: 1,
            queue_depth: self.depth(),
            range,
            from_block: 0,
            align_bytes: self.align_bytes,
            data_pattern: self.data_pattern(size, clone)?,
            until,
            seed,
            regime: Regime {
                arrivals,
                ramp_ns: self.ramp_ns,
                limit_ns,
                verify: self.verify,
                offsets: self.offsets(),
                // As in fio, jobs that only read do not sync.
                syncs: if self.writes() && !self.trims { self.syncs } else { Syncs::NONE },
                thinktime: self.think.time(),
                descending: self.strides.is_descending(),
                trims: self.trims,
                tolerated: self.continues_after.tolerated(),
            },
            commands: self.commands(),
        };
        match &self.kinds()?[..] {
            [only] => {
                Ok(Workload { read_percent: only.read_percent, block_bytes: only.block_bytes, ..plain })
            }
            kinds => Ok(plain.of_kinds(kinds.to_vec())),
        }
    }

    /// Returns the number of bytes that this number of I/Os transfers, or trims.
    fn bytes_of(&self, ios: u64) -> Result<u64, String> {
        let kinds = self.kinds()?;
        if kinds.iter().any(|kind| kind.block_bytes != kinds[0].block_bytes) {
            return Err("number_ios requires a single block size; set io_size instead".into());
        }
        let each_bytes = u64::from(kinds[0].block_bytes) * u64::from(self.trim_ranges().max(1));
        ios.checked_mul(each_bytes).ok_or_else(|| "number_ios is too large".to_owned())
    }

    /// Returns the kinds of I/O by direction and size.
    pub(crate) fn kinds(&self) -> Result<Vec<IoKind>, String> {
        let reads = self.mixed_reads()?;
        let of = |blocks: &[BlockShare], read_percent: u8, share: u32| -> Result<Vec<IoKind>, String> {
            blocks.iter().map(|row| self.kind(row, read_percent, share)).collect()
        };
        match reads {
            0 => of(&self.blocks[1], 0, ALL),
            100 => of(&self.blocks[0], 100, ALL),
            reads if self.blocks[0] == self.blocks[1] => of(&self.blocks[0], reads, ALL),
            reads => {
                let writes = of(&self.blocks[1], 0, ALL - u32::from(reads))?;
                Ok(of(&self.blocks[0], 100, reads.into())?.into_iter().chain(writes).collect())
            }
        }
    }

    /// Returns the kind of I/O for one direction and block size, with `share` percent of all I/Os.
    fn kind(&self, row: &BlockShare, read_percent: u8, share: u32) -> Result<IoKind, String> {
        let part = u32::from(row.share_percent) * share;
        if !part.is_multiple_of(ALL) {
            return Err(format!(
                "{} % of {share} % of the I/Os is not an integer percentage; choose other shares, or the \
                 same sizes for reads and writes",
                row.share_percent
            ));
        }
        let share_percent = (part / ALL) as u8;
        Ok(IoKind { share_percent, access: self.access, read_percent, block_bytes: row.block_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Surroundings, parse};
    use super::*;
    use record::{Arrivals, Offsets, Process, Range};

    const GIB: u64 = 1 << 30;

    fn streams(options: &str) -> Result<Vec<Workload>, String> {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options")[0]
            .streams(GIB, 0, 1)
    }

    fn only(options: &str) -> Workload {
        let mut streams = streams(options).unwrap();
        assert_eq!(streams.len(), 1, "{options}");
        streams.remove(0)
    }

    #[test]
    fn options_mean_the_same_as_in_fio() {
        let mix = only("rw=randrw rwmixread=65 bs=8k iodepth=16 numjobs=2 runtime=90 time_based ramp_time=5");
        assert_eq!((mix.access, mix.read_percent, mix.block_bytes), (Access::Random, 65, 8192));
        assert_eq!((mix.queue_depth, mix.threads, mix.until), (16, 2, Until::DurationNs(90_000_000_000)));
        assert_eq!(
            mix.regime,
            Regime { ramp_ns: 5_000_000_000, offsets: Offsets::OncePerPass, ..Regime::default() }
        );
        let plain = only("");
        assert_eq!((plain.access, plain.read_percent, plain.block_bytes), (Access::Sequential, 100, 4096));
        assert_eq!(
            (plain.threads, plain.until, plain.range),
            (1, Until::AmountBytes(GIB), Range::first(GIB))
        );
        assert_eq!(only("rw=rw").read_percent, 50);
        assert_eq!(only("rw=randrw rwmixwrite=20").read_percent, 80);
        let short = only("rw=randread size=1m io_size=16k loops=3 runtime=10");
        assert_eq!((short.until, short.range.segment_bytes), (Until::AmountBytes(48 << 10), 1 << 20));
        assert_eq!(short.regime.limit_ns, Some(10_000_000_000));
        assert_eq!(only("number_ios=1000 bs=8k").until, Until::AmountBytes(1000 * 8192));
        assert_eq!(only("number_ios=1000 bs=8k size=1m").until, Until::AmountBytes(1 << 20));
        assert_eq!(only("size=64m io_size=50%").until, Until::AmountBytes(32 << 20));
        let paced = only("rw=randread rate=1m bs=4k,8k").regime.arrivals.map(|arrivals| arrivals.per_second);
        assert_eq!(paced, Some(256));
        assert_eq!(only("rw=randwrite bsrange=4k-16k blockalign=16k").align_bytes, 16384);
        let offset = only("offset=25% size=50%");
        assert_eq!((offset.range.start_bytes, offset.range.segment_bytes), (GIB / 4, GIB / 2));
    }

    #[test]
    fn clones_behave_as_in_fio() {
        let random = only("rw=randwrite numjobs=4 size=64m rate_iops=100");
        assert_eq!((random.threads, random.until), (4, Until::AmountBytes(256 << 20)));
        assert_eq!(
            random.regime.arrivals,
            Some(Arrivals { per_second: 400, divisor: 1, process: Process::Constant })
        );
        let sequential = streams("rw=write numjobs=3 size=64m offset_increment=64m").unwrap();
        let starts: Vec<u64> = sequential.iter().map(|stream| stream.range.start_bytes >> 20).collect();
        assert_eq!(starts, [0, 64, 128]);
        assert!(
            sequential
                .iter()
                .all(|stream| stream.threads == 1 && stream.until == Until::AmountBytes(64 << 20))
        );
        assert!(sequential[0].seed != sequential[1].seed);
        assert_eq!(streams("rw=read numjobs=2 size=64m").unwrap()[1].range.start_bytes, 0);
    }

    #[test]
    fn atomic_writes_may_share_verified_blocks() {
        let options = "rw=randwrite verify=crc64 atomic=1 verify_write_sequence=0 numjobs=3 iodepth=4";
        let clones = streams(options).unwrap();
        assert_eq!(clones.len(), 3, "each verifies on its own");
        assert!(clones.iter().all(|clone| clone.threads == 1 && clone.range == Range::first(GIB)));
        let commands = clones[2].commands.as_ref().expect("flags");
        assert!(commands.atomic && commands.shared_blocks);
        assert_eq!(only("rw=read atomic=1").commands, None, "only writes are atomic");
    }

    #[test]
    fn sizes_by_direction_become_kinds_of_io() {
        let split = only("rw=randrw rwmixread=40 bssplit=4k/50:8k/50,64k/100");
        let rows: Vec<_> =
            split.kinds.iter().map(|k| (k.share_percent, k.read_percent, k.block_bytes)).collect();
        assert_eq!(rows, [(20, 100, 4096), (20, 100, 8192), (60, 0, 65536)]);
        assert_eq!((split.read_percent, split.block_bytes), (40, 65536));
        let same = only("rw=randrw rwmixread=33 bssplit=4k/50:8k/50");
        assert_eq!((same.kinds.len(), same.kinds[0].read_percent, same.read_percent), (2, 33, 33));
        assert_eq!(only("rw=randwrite bs=4k,8k").block_bytes, 8192);
        assert_eq!(only("rw=randread bs=4k,8k").block_bytes, 4096);
        assert_eq!(only("rw=randrw rate_iops=300,100").read_percent, 75);
        for (options, offsets) in [
            ("rw=randread", Offsets::OncePerPass),
            ("rw=randread norandommap", Offsets::Independent),
            ("rw=randread bssplit=4k/50:8k/50", Offsets::Independent),
            ("rw=randrw bs=4k,8k", Offsets::Independent),
            ("rw=randrw random_distribution=zipf:1.2", Offsets::ZipfMilli(1200)),
            ("rw=randwrite random_distribution=pareto:0.2", Offsets::ParetoMilli(200)),
            ("rw=randwrite random_distribution=normal:10", Offsets::NormalPercent(10)),
            ("rw=write", Offsets::Independent),
        ] {
            assert_eq!(only(options).regime.offsets, offsets, "{options}");
        }
        let zoned = only("rw=randread random_distribution=zoned:50/5:30/15:20/");
        assert_eq!(zoned.zones[2], record::Zone { access_percent: 20, range_percent: 80 });
    }

    #[test]
    fn jobs_that_write_sync() {
        let syncs = only("rw=randrw fsync=32 fdatasync=4 end_fsync=1 sync=1 numjobs=2").regime.syncs;
        assert_eq!((syncs.fsync_writes, syncs.fdatasync_writes, syncs.end_fsync), (32, 4, true));
        assert_eq!(syncs.each_write, Some(record::EachWrite::Sync));
        assert_eq!(only("rw=write sync=dsync").regime.syncs.each_write, Some(record::EachWrite::Dsync));
        assert!(only("rw=write fsync=0 fdatasync=0 sync=none end_fsync=0").regime.is_plain());
        assert!(only("rw=read hipri fsync=32 end_fsync=1 sync=1").regime.is_plain());
    }

    #[test]
    fn pauses_have_the_units_and_defaults_of_fio() {
        let pauses = |options: &str| {
            let pauses = only(&format!("rw=read {options}")).regime.thinktime;
            pauses.map(|p| (p.length_ns, p.spin_ns, p.ios, p.count_issued, p.io_time_ns))
        };
        assert_eq!(pauses("thinktime=20"), Some((20_000, 0, 1, false, None)));
        assert_eq!(pauses("thinktime_blocks=4"), None);
        let issued = "thinktime=5ms thinktime_spin=10ms thinktime_blocks=4 thinktime_blocks_type=issue";
        assert_eq!(pauses(issued), Some((10_000_000, 10_000_000, 4, true, None)));
        let timed = "thinktime=1s thinktime_iotime=9";
        assert_eq!(pauses(timed), Some((1_000_000_000, 0, 0, false, Some(9_000_000_000))));
        let both = format!("{timed} thinktime_blocks=7");
        assert_eq!(pauses(&both).map(|pauses| pauses.2), Some(7));
    }

    /// Job files often set these in `[global]` for jobs of all kinds.
    #[test]
    fn options_of_mixes_and_random_jobs_have_no_effect_on_others() {
        assert_eq!(only("rw=randread rwmixread=70"), only("rw=randread"));
        assert_eq!(only("rw=write rwmixwrite=70"), only("rw=write"));
        for distribution in ["zoned:50/50:50/50", "zipf:1.2"] {
            assert_eq!(only(&format!("rw=rw random_distribution={distribution}")), only("rw=rw"));
        }
    }

    #[test]
    fn options_that_cannot_be_combined_say_why() {
        for (options, expected) in [
            ("time_based", "needs a runtime"),
            ("runtime=0", "runtime is 0"),
            ("zero_buffers verify=crc32c", "zero_buffers"),
            ("rw=write atomic=1 ioengine=io_uring_cmd", "atomic needs"),
            ("rw=randrw rwmixread=70 rate_iops=100", "700,300"),
            ("rw=randrw rwmixread=70 rate_iops=100,100", "700,300"),
            ("rw=randrw rate_iops=1000,333", "not an integer percentage"),
            ("rw=randrw rwmixread=33 bssplit=4k/50:8k/50,4k", "not an integer percentage"),
            ("size=2g", "beyond the end of the target"),
            ("numjobs=3 offset_increment=512m", "the start of clone 3 lies beyond the end"),
            ("rw=randwrite rate_iops=100,", "does not apply to randwrite"),
            ("rate=1m rate_iops=5", "cannot be combined"),
            ("number_ios=5 bssplit=4k/50:8k/50", "single block size"),
            ("rw=write hipri fsync=1", "hipri cannot be combined with syncs"),
            ("rw=write hipri end_fsync=1", "hipri cannot be combined with syncs"),
            ("thinktime=5 rate_iops=5", "thinktime cannot be combined with a rate"),
            ("rw=randrw write_hist_log=x", "write_hist_log in a mix"),
        ] {
            let error = streams(options).expect_err(expected);
            assert!(error.contains(expected), "{options}: {error}");
        }
    }
}
