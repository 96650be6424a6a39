//! `random_distribution=sequence`: random I/O in a prescribed order.

use record::{Access, Sequence, Until};

use super::Job;
use super::values::number;

/// As in fio.
const MOST_BLOCKS: usize = stdx::access::Sequence::MOST_BLOCKS;

/// Parses block numbers, such as `2,0,1`.
pub fn block_numbers(text: &str) -> Result<Vec<u32>, String> {
    let numbers = text.split(',').map(|block| number(block.trim(), 0, u32::MAX.into()));
    let blocks: Vec<u32> = numbers.collect::<Result<_, _>>()?;
    match blocks.len() {
        ..=MOST_BLOCKS => Ok(blocks),
        more => Err(format!("a sequence has at most {MOST_BLOCKS} block numbers, but this one has {more}")),
    }
}

impl Job {
    /// Returns the order of the job's I/Os; `None` if their offsets are drawn or sequential.
    pub(crate) fn sequence(&self) -> Option<Sequence> {
        let blocks = self.order.blocks.clone().filter(|_| self.access == Access::Random)?;
        Some(Sequence { blocks, strided: self.order.is_strided })
    }

    /// Returns when a clone with a range of `size` bytes ends, given its amount, and the limit of its time. As in fio, an
    /// order of blocks that ends with the range ends the job, even if it has a time or a larger amount.
    pub(crate) fn end_of(&self, size: u64, amount: u64) -> Result<(Until, Option<u64>), String> {
        let block_bytes = u64::from(self.kinds()?[0].block_bytes);
        let sequence = self.sequence().filter(|sequence| sequence.strided).map(stdx::access::Sequence::from);
        // A larger alignment leaves room for fewer blocks.
        let distance = block_bytes.max(self.align_bytes.into());
        let blocks = size.checked_sub(block_bytes).map_or(0, |room| room / distance + 1);
        let most = sequence.and_then(|sequence| sequence.accesses_within(blocks));
        if let Some(regions) = self.regions() {
            return Ok((
                Until::AmountBytes(self.ios_of_regions(regions, size)? * block_bytes),
                self.runtime_ns,
            ));
        }
        match (most, self.runtime_ns) {
            (Some(_), _) if !matches!(self.read_percent(), 0 | 100) => Err(
                "random_sequence_stride in a mix: the ends of the sequences of reads and writes are unknown"
                    .into(),
            ),
            (Some(ios), limit_ns) => {
                let most = ios * block_bytes;
                let amount = if self.time_based { most } else { amount.min(most) };
                Ok((Until::AmountBytes(amount), limit_ns))
            }
            (None, Some(ns)) if self.time_based => Ok((Until::DurationNs(ns), None)),
            (None, limit_ns) => Ok((Until::AmountBytes(amount), limit_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};
    use record::{Until, Workload};

    fn workload(options: &str) -> Result<Workload, String> {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none())?;
        jobs[0].streams(1 << 20, 0, 1).map(|mut streams| streams.remove(0))
    }

    fn ios(options: &str) -> (u64, Option<u64>) {
        let workload = workload(options).expect(options);
        match workload.until {
            Until::AmountBytes(bytes) => (bytes / u64::from(workload.block_bytes), workload.regime.limit_ns),
            Until::DurationNs(ns) => (0, Some(ns)),
        }
    }

    #[test]
    fn strided_sequences_end_with_the_range_of_the_job() {
        const SEQUENCE: &str = "rw=randread size=48k random_distribution=sequence:2,0,1";
        const SECOND: Option<u64> = Some(1_000_000_000);
        for (options, expected) in [
            ("io_size=24k", (6, None)),
            ("io_size=96k", (24, None)),
            ("runtime=1 time_based", (0, SECOND)),
            ("random_sequence_stride=1 io_size=24k", (6, None)),
            ("random_sequence_stride=1 io_size=96k", (12, None)),
            ("random_sequence_stride=1 size=40k", (9, None)),
            ("random_sequence_stride=1 io_size=96k blockalign=8k", (6, None)),
            ("random_sequence_stride=1 size=24k loops=3", (6, None)),
            ("random_sequence_stride=1 runtime=1 time_based", (12, SECOND)),
            ("random_sequence_stride=1 numjobs=2", (24, None)),
        ] {
            assert_eq!(ios(&format!("{SEQUENCE} {options}")), expected, "{options}");
        }
        for (options, expected) in [
            ("random_sequence_stride=1 rw=randrw", "in a mix"),
            ("random_distribution=sequence:2,,1", "0 to"),
            ("random_distribution=sequence:", "0 to"),
        ] {
            let error = workload(&format!("{SEQUENCE} {options}")).expect_err(options);
            assert!(error.contains(expected), "{options}: {error}");
        }
        let many = vec!["1"; 65].join(",");
        let error =
            workload(&format!("rw=randread random_distribution=sequence:{many}")).expect_err("too many");
        assert!(error.contains("at most 64"), "{error}");
    }

    #[test]
    fn only_random_jobs_of_one_size_follow_a_sequence() {
        let sequence = "random_distribution=sequence:2,0,1";
        let problem = |options: &str| {
            let workload = workload(&format!("{options} {sequence}")).expect(options);
            workload.validate(1 << 20, 512).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(workload(&format!("rw=read {sequence}")).expect("a job").sequence, None);
        assert_eq!(problem("rw=randrw"), "");
        assert!(problem("rw=randread bs=512k").contains("block 2 of its sequence is beyond the end"));
        assert!(problem("rw=randread bssplit=4k/50:8k/50").contains("one size"));
    }
}
