//! The range of a sequential job that skips parts of it: `rw=read:8k` and `zonemode=strided`.

use record::{Access, Range};

use super::Job;

impl Job {
    /// Returns the range of a job that may access `size` bytes from `start`, and how much of `amount` the job
    /// transfers. `is_last` says whether the target ends with these bytes.
    pub(crate) fn strided_range(
        &self,
        (start, size): (u64, u64),
        amount: u64,
        is_last: bool,
    ) -> Result<(Range, u64), String> {
        let whole = Range { start_bytes: start, ..Range::first(size) };
        let strides = self.strides;
        let zoned = strides.zoned.unwrap_or(strides.zone_bytes > 0);
        match (strides.skip_bytes, zoned) {
            (0, false) => Ok((whole, amount)),
            (0, true) => Ok((self.zones(whole)?, amount)),
            (_, false) => {
                let range = self.skipping(whole)?;
                Ok((range, self.skipping_amount(range, amount, is_last)))
            }
            (_, true) => {
                Err("rw with a number of bytes to skip cannot be combined with zonemode=strided".into())
            }
        }
    }

    fn skipping(&self, whole: Range) -> Result<Range, String> {
        let kinds = self.kinds()?;
        let block = u64::from(kinds[0].block_bytes);
        if kinds.iter().any(|kind| u64::from(kind.block_bytes) != block) {
            return Err("skipping bytes after each I/O requires a single block size".into());
        }
        let bytes = self.strides.skip_bytes.unsigned_abs();
        let stride = match self.strides.skip_bytes < 0 {
            false => bytes.checked_add(block),
            true => bytes.checked_sub(block).filter(|stride| *stride >= block),
        };
        let stride = stride.ok_or_else(|| {
            format!("to descend without overlaps, a job must skip at least -{} bytes", 2 * block)
        })?;
        repeated(whole, block, stride)
    }

    /// Returns how much of `amount` a job transfers that skips bytes. As in fio, an ascending job transfers its range once
    /// per loop, unless the target ends with the range or the amount was requested.
    fn skipping_amount(&self, range: Range, amount: u64, is_last: bool) -> u64 {
        if self.strides.is_descending() || is_last || self.io_size.is_some() {
            return amount;
        }
        let pass = range.segment_bytes.saturating_mul(range.segments.into());
        amount.min(pass.saturating_mul(self.loops.into()))
    }

    fn zones(&self, whole: Range) -> Result<Range, String> {
        let zone = self.strides.zone_bytes;
        if self.access != Access::Sequential {
            return Err(format!("zonemode=strided applies to sequential I/O, and {} is not", self.pattern));
        }
        if zone == 0 {
            return Err("zonemode=strided needs a zonesize".into());
        }
        if self.strides.zone_range_bytes.is_some_and(|range| range != zone) {
            return Err("zonerange: only the zonesize is supported".into());
        }
        let stride =
            zone.checked_add(self.strides.zone_skip_bytes).ok_or("zonesize plus zoneskip is too large")?;
        repeated(whole, zone, stride)
    }
}

/// Returns the pieces of `length` bytes that fit into a contiguous range, with their starts `stride` bytes
/// apart.
fn repeated(whole: Range, length: u64, stride: u64) -> Result<Range, String> {
    if stride == length || whole.segment_bytes < length {
        return Ok(whole);
    }
    let count = (whole.segment_bytes - length) / stride + 1;
    let segments =
        u32::try_from(count).map_err(|_| format!("{count} pieces are too many; use a part of the target"))?;
    Ok(Range { segments, segment_bytes: length, stride_bytes: stride, ..whole })
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};
    use record::{Range, Until, Workload};

    const MIB: u64 = 1 << 20;

    fn workload(options: &str) -> Result<Workload, String> {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none())?;
        jobs[0].streams(64 * MIB, 0, 1).map(|mut streams| streams.remove(0))
    }

    #[test]
    fn skipped_bytes_become_the_distance_of_segments() {
        let forward = workload("rw=write:112k bs=16k offset=1m size=1m").unwrap();
        let range = Range { start_bytes: MIB, segments: 8, segment_bytes: 16 << 10, stride_bytes: 128 << 10 };
        assert_eq!((forward.range, forward.regime.descending), (range, false));
        assert_eq!(forward.until, Until::AmountBytes(8 * (16 << 10)));
        // Three I/Os fit: at 0, 384 KiB and 768 KiB.
        assert_eq!(workload("rw=read:128k bs=256k size=1m").unwrap().range.segments, 3);
        let back = workload("rw=read:-8k bs=4k size=1m").unwrap();
        assert_eq!((back.range, back.regime.descending), (Range::first(MIB), true));
        let sparse = workload("rw=read:-16k bs=4k size=1m").unwrap();
        assert_eq!((sparse.range.segments, sparse.range.stride_bytes), (86, 12 << 10));
        for (options, expected) in [
            ("rw=read:-4k bs=4k", "at least -8192 bytes"),
            ("rw=read:4k bssplit=4k/50:8k/50", "single block size"),
            ("rw=read:4k zonemode=strided zonesize=1m", "cannot be combined"),
        ] {
            let error = workload(options).unwrap_err();
            assert!(error.contains(expected), "{options}: {error}");
        }
    }

    /// Compared with fio 3.33.
    #[test]
    fn the_amount_of_jobs_that_skip_bytes_is_as_in_fio() {
        for (options, ios) in [
            ("rw=write:112k bs=16k offset=1m size=1m", 8),
            ("rw=read:4k bs=4k size=1m", 128),
            ("rw=read:4k bs=4k size=1m loops=3", 384),
            ("rw=read:4k bs=4k size=1m number_ios=200", 128),
            ("rw=read:4k bs=4k size=1m io_size=3m", 768),
            ("rw=read:4k bs=4k offset=62m size=2m", 512),
            ("rw=read:-8k bs=4k size=1m", 256),
            ("rw=read:-16k bs=4k size=1m", 256),
            ("rw=read bs=64k size=1m zonesize=128k zoneskip=128k", 16),
        ] {
            let workload = workload(options).unwrap();
            let bytes = ios * u64::from(workload.block_bytes);
            assert_eq!(workload.until, Until::AmountBytes(bytes), "{options}");
        }
    }

    #[test]
    fn zones_that_are_skipped_do_not_count_towards_the_amount() {
        let zones = workload("rw=read bs=64k zonemode=strided zonesize=1m zoneskip=7m").unwrap();
        let range = Range { start_bytes: 0, segments: 8, segment_bytes: MIB, stride_bytes: 8 * MIB };
        assert_eq!((zones.range, zones.until), (range, Until::AmountBytes(64 * MIB)));
        let implied = workload("rw=read bs=64k zonesize=1m zoneskip=7m size=12m").unwrap();
        assert_eq!((implied.range.segments, implied.until), (2, Until::AmountBytes(12 * MIB)));
        assert_eq!(workload("rw=read zonemode=none zonesize=1m").unwrap().range, Range::first(64 * MIB));
        for (options, expected) in [
            ("rw=randread zonemode=strided zonesize=1m", "sequential I/O"),
            ("rw=read zonemode=strided", "needs a zonesize"),
            ("rw=read zonesize=1m zonerange=2m", "only the zonesize"),
        ] {
            let error = workload(options).unwrap_err();
            assert!(error.contains(expected), "{options}: {error}");
        }
    }
}
