//! `sprandom`: random writes that leave a drive as if it had been written at random for a long time.

use record::{Access, Regions};

use super::Job;
use super::order::Sprandom;
use super::values::{switch, thousandths};

pub fn over_provisioning(job: &mut Job, text: &str) -> Result<(), String> {
    job.sprandom.spare_milli = thousandths(text)?;
    match job.sprandom.spare_milli {
        1..1000 => Ok(()),
        _ => Err("it must be between 0 and 1".into()),
    }
}

impl Job {
    /// Returns the regions of the job's writes; `None` if it does not request them.
    pub(crate) fn regions(&self) -> Option<Regions> {
        let Sprandom { is_on, regions, spare_milli, cache_bytes } = self.sprandom;
        is_on.then_some(Regions { count: regions, spare_milli, deferred: cache_bytes > 0 })
    }

    /// Checks the options that `sprandom` requires, as in fio.
    pub(crate) fn check_sprandom(&self) -> Result<(), String> {
        if !self.sprandom.is_on {
            return Ok(());
        }
        let given =
            |name: &str| self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str());
        let is_random_write = self.access == Access::Random && self.read_percent() == 0 && !self.trims;
        let block_bytes = self.blocks[1][0].block_bytes;
        let problem = match () {
            () if !is_random_write => "it requires rw=randwrite",
            () if given("norandommap").is_some_and(|value| switch(value) == Ok(false)) => {
                "it cannot be combined with norandommap=0"
            }
            () if given("random_generator").is_some_and(|value| value != "lfsr") => {
                "it requires random_generator=lfsr"
            }
            () if self.continues || self.files.count != 1 => "only one file for each job is supported",
            () if self.distribution.is_some() || self.order.blocks.is_some() || !self.zones.is_empty() => {
                "it cannot be combined with random_distribution"
            }
            () if self.blocks[1].len() > 1 || ![0, block_bytes].contains(&self.align_bytes) => {
                "it requires one block size, which is also the alignment"
            }
            () => return Ok(()),
        };
        Err(format!("sprandom: {problem}"))
    }

    /// Returns the number of I/Os of a job with `sprandom` on a range of this size, as in fio regardless of `io_size` and
    /// the number of loops.
    pub(crate) fn ios_of_regions(&self, regions: Regions, size: u64) -> Result<u64, String> {
        let block_bytes = u64::from(self.blocks[1][0].block_bytes);
        let (regions, blocks) = (stdx::access::Regions::from(regions), size / block_bytes);
        let region_bytes = regions.writes_per_region(blocks) * block_bytes;
        if region_bytes == 0 {
            return Err("sprandom: the range has fewer blocks than spr_num_regions".into());
        }
        if self.sprandom.cache_bytes > region_bytes {
            return Err(format!(
                "spr_cs: the cache is larger than a region of {region_bytes} B; use fewer regions"
            ));
        }
        let ios = regions.accesses(blocks);
        Ok(self.number_ios.map_or(ios, |most| most.min(ios)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Surroundings, parse};
    use record::{Offsets, Regions, Until, Workload};

    const LENGTH: u64 = 1 << 30;
    const BLOCKS: u64 = LENGTH / 4096;

    fn workload(options: &str) -> Result<Workload, String> {
        let text = format!("[job]\nrw=randwrite\nsprandom=1\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none())?;
        jobs[0].streams(LENGTH, 0, 1).map(|mut streams| streams.remove(0))
    }

    #[test]
    fn the_amount_is_determined_by_the_over_provisioning() {
        let regions =
            |count, spare_milli, deferred| Offsets::Regions(Regions { count, spare_milli, deferred });
        for (options, expected, share) in [
            ("", regions(100, 150, false), 0.149),
            ("norandommap=1 blockalign=4k random_generator=lfsr", regions(100, 150, false), 0.149),
            ("spr_op=0.07 spr_num_regions=400", regions(400, 70, false), 0.0697),
            ("spr_op=0.28 spr_cs=1m io_size=1m loops=4", regions(100, 280, true), 0.279),
            ("runtime=1 time_based", regions(100, 150, false), 0.149),
        ] {
            let workload = workload(options).expect(options);
            assert_eq!(workload.regime.offsets, expected, "{options}");
            let Until::AmountBytes(bytes) = workload.until else { panic!("{options}: {:?}", workload.until) };
            let over = (bytes / 4096) as f64 / BLOCKS as f64 - 1.0;
            assert!((over - share).abs() < 0.0011, "{options}: {over}");
            assert_eq!(workload.validate(LENGTH, 512), Ok(()), "{options}");
        }
        assert_eq!(workload("number_ios=1000").expect("a job").until, Until::AmountBytes(4_096_000));
    }

    #[test]
    fn other_options_are_limited_as_in_fio() {
        for (options, expected) in [
            ("rw=randrw", "requires rw=randwrite"),
            ("rw=write", "requires rw=randwrite"),
            ("norandommap=0", "norandommap=0"),
            ("random_generator=tausworthe", "random_generator=lfsr"),
            ("random_distribution=zipf:1.2", "random_distribution"),
            ("bssplit=4k/50:8k/50", "one block size"),
            ("blockalign=8k", "one block size"),
            ("spr_op=1", "between 0 and 1"),
            ("spr_op=0", "positive"),
            ("spr_num_regions=0", "1 to"),
            ("spr_cs=64m", "larger than a region"),
            ("size=256k", "fewer blocks than spr_num_regions"),
        ] {
            let error = workload(options).expect_err(options);
            assert!(error.contains(expected), "{options}: {error}");
        }
    }
}
