//! `dedupe_mode=working_set` and `dedupe_global`: which blocks are duplicated.

use record::{DataPattern, Reducible, SharedSet, WorkingSet};

use super::Job;
use super::copies::Duplicates;

pub fn dedupe_mode(job: &mut Job, text: &str) -> Result<(), String> {
    job.duplicates.of_set = match text {
        "repeat" => false,
        "working_set" => true,
        _ => return Err("supported: repeat, working_set".into()),
    };
    Ok(())
}

/// Numbers the clones of all jobs, so that they can share their working sets. `seed` is that of jobs without one.
pub fn share_duplicates(jobs: &mut [Job], seed: u64) {
    let seed = jobs.first().and_then(|job| job.seed).unwrap_or(seed);
    let threads = jobs.iter().fold(0u16, |threads, job| threads.saturating_add(job.numjobs));
    let mut first = 0;
    for job in jobs {
        job.duplicates.clones = SharedSet { seed, threads, first };
        first = first.saturating_add(job.numjobs);
    }
}

impl Job {
    /// Returns the data of a clone that transfers `size` bytes of its target.
    pub(crate) fn data_pattern(&self, size: u64, clone: u64) -> Result<DataPattern, String> {
        if let Some(byte) = self.buffer_byte {
            return Ok(DataPattern::Byte(byte));
        }
        Ok(match (self.zero_buffers, self.compress_percent, self.dedupe_percent) {
            (true, _, _) => DataPattern::Zero,
            (false, 0, 0) => DataPattern::Random,
            (false, compressible_percent, dedupable_percent) => DataPattern::Reducible(Reducible {
                compressible_percent,
                dedupable_percent,
                working_set: self.working_set(size, clone)?,
            }),
        })
    }

    fn working_set(&self, size: u64, clone: u64) -> Result<Option<WorkingSet>, String> {
        let Duplicates { of_set, set_percent, is_global, clones } = self.duplicates;
        if !of_set || self.dedupe_percent == 0 {
            return Ok(None);
        }
        if self.size.is_none() || self.files.count != 1 {
            return Err("dedupe_mode=working_set needs a size, and one file for each clone".into());
        }
        if set_percent + self.dedupe_percent > 100 {
            let unique = 100 - self.dedupe_percent;
            return Err(format!(
                "only {unique} % of the blocks are not duplicates, so a working set of {set_percent} % is impossible"
            ));
        }
        let block_bytes = self.blocks[1].iter().map(|row| row.block_bytes).min().unwrap_or(1);
        let blocks = size / 100 * u64::from(set_percent) + size % 100 * u64::from(set_percent) / 100;
        let blocks = blocks / u64::from(block_bytes);
        if blocks == 0 {
            return Err("dedupe_working_set_percentage: the working set contains no block".into());
        }
        let first = clones.first.saturating_add(u16::try_from(clone).unwrap_or(u16::MAX));
        let shared = SharedSet { first, threads: clones.threads.max(first.saturating_add(1)), ..clones };
        Ok(Some(WorkingSet { blocks, shared: is_global.then_some(shared) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Surroundings, parse};

    fn sets(text: &str) -> Result<Vec<WorkingSet>, String> {
        let mut jobs = parse("x", text, &Job::default(), &Surroundings::none())?;
        share_duplicates(&mut jobs, 7);
        let mut sets = Vec::new();
        for (position, job) in jobs.iter().enumerate() {
            for workload in job.streams(1 << 30, position as u64, 7)? {
                if let DataPattern::Reducible(Reducible { working_set: Some(set), .. }) =
                    workload.data_pattern
                {
                    sets.push(set);
                }
            }
        }
        Ok(sets)
    }

    #[test]
    fn a_working_set_is_part_of_the_size_of_each_clone() {
        const JOBS: &str = "[global]\nsize=100m\nrw=write\ndedupe_mode=working_set\ndedupe_percentage=50\n";
        let shared = |first| Some(SharedSet { seed: 7, threads: 4, first });
        let set = |blocks, shared| WorkingSet { blocks, shared };
        for (options, expected) in [
            ("[a]\n", vec![set(1280, None)]),
            ("dedupe_working_set_percentage=50\n[a]\n[b]\n", vec![set(12800, None); 2]),
            (
                "dedupe_global=1\n[a]\nnumjobs=3\n[b]\nbs=8k\n",
                vec![set(1280, shared(0)), set(1280, shared(1)), set(1280, shared(2)), set(640, shared(3))],
            ),
            // Random clones are one workload.
            (
                "dedupe_global\n[a]\nrw=randwrite\nnumjobs=3\n[b]\n",
                vec![set(1280, shared(0)), set(1280, shared(3))],
            ),
            ("[a]\ndedupe_percentage=0\n", Vec::new()),
        ] {
            assert_eq!(sets(&format!("{JOBS}{options}")), Ok(expected), "{options}");
        }
        for (options, expected) in [
            ("[a]\ndedupe_working_set_percentage=51\n", "only 50 % of the blocks are not duplicates"),
            ("[a]\ndedupe_working_set_percentage=0\n", "contains no block"),
            ("[a]\nnrfiles=2\n", "one file for each clone"),
            ("[a]\ndedupe_mode=onfly\n", "supported: repeat, working_set"),
        ] {
            let error = sets(&format!("{JOBS}{options}")).expect_err(options);
            assert!(error.contains(expected), "{options}: {error}");
        }
        let error =
            sets("[a]\nrw=write\ndedupe_mode=working_set\ndedupe_percentage=50\n").expect_err("no size");
        assert!(error.contains("needs a size"), "{error}");
    }
}
