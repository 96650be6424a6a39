//! A load in fio's words, as the workload that it means.

use record::{Access, DataPattern, Direction, Range, Regime, Segment, TargetFacts, Until, Workload};
use stdx::units::{SECOND_NS, parse_size};

use crate::cli::Load;

/// fio's names: order of the addresses, and the share of reads where `--rwmixread` does not say it.
const PATTERNS: &[(&str, Access, Option<u8>)] = &[
    ("read", Access::Sequential, Some(100)),
    ("write", Access::Sequential, Some(0)),
    ("randread", Access::Random, Some(100)),
    ("randwrite", Access::Random, Some(0)),
    ("rw", Access::Sequential, None),
    ("readwrite", Access::Sequential, None),
    ("randrw", Access::Random, None),
];
/// fio's share of reads in a mix.
const DEFAULT_MIX: u8 = 50;

/// What was asked, before the target is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    access: Access,
    read_percent: u8,
    block_bytes: u32,
    queue_depth: u16,
    threads: u16,
    runtime_ns: Option<u64>,
    /// Bytes from the start of the target that may be touched; all of it when none.
    pub size_bytes: Option<u64>,
    seed: u64,
}

impl Job {
    pub fn of(options: &Load) -> Result<Self, String> {
        let (_, access, share) = PATTERNS.iter().find(|row| row.0 == options.rw).ok_or_else(|| {
            let names: Vec<_> = PATTERNS.iter().map(|row| row.0).collect();
            format!("--rw {}: {} are possible", options.rw, names.join(", "))
        })?;
        let read_percent = match (share, options.rwmixread) {
            (Some(_), Some(_)) => {
                return Err(format!("--rwmixread is for mixes, and {} is none", options.rw));
            }
            (Some(share), None) => *share,
            (None, mix) => mix.unwrap_or(DEFAULT_MIX),
        };
        let block_bytes = parse_size(&options.bs).map_err(|text| format!("--bs: {text}"))?;
        let block_bytes = u32::try_from(block_bytes).map_err(|_| "--bs is below 4GiB".to_owned())?;
        let size = options.size.as_deref().map(parse_size).transpose();
        let runtime_ns = match options.runtime {
            None => None,
            Some(seconds) if (0.001..=1e8).contains(&seconds) => Some((seconds * SECOND_NS as f64) as u64),
            Some(seconds) => return Err(format!("--runtime {seconds}: 0.001 to 100000000 is possible")),
        };
        Ok(Self {
            access: *access,
            read_percent,
            block_bytes,
            queue_depth: options.iodepth,
            threads: options.numjobs,
            runtime_ns,
            size_bytes: size.map_err(|text| format!("--size: {text}"))?,
            seed: options.seed,
        })
    }

    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// The workload on this target.
    pub fn workload(&self, target: &TargetFacts) -> Result<Workload, String> {
        let bytes = self.size_bytes.unwrap_or(target.capacity_bytes);
        let workload = Workload {
            access: self.access,
            read_percent: self.read_percent,
            block_bytes: self.block_bytes,
            kinds: Vec::new(),
            zones: Vec::new(),
            threads: self.threads,
            queue_depth: self.queue_depth,
            range: Range::first(bytes),
            data_pattern: DataPattern::Random,
            until: self.runtime_ns.map_or(Until::AmountBytes(bytes), Until::DurationNs),
            seed: self.seed,
            regime: Regime::default(),
        };
        let checked = workload.validate(target.capacity_bytes, target.logical_block_bytes);
        checked.map(|()| workload).map_err(|error| format!("{}: {error}", target.path))
    }
}

/// The directions of a segment that had any I/O.
pub fn directions(segment: &Segment) -> impl Iterator<Item = (&'static str, &Direction)> {
    [("read", &segment.read), ("write", &segment.write)].into_iter().filter(|(_, d)| d.ios > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn job(words: &str) -> Result<Job, String> {
        let words = ["plateau", "load", "x"].into_iter().chain(words.split_whitespace());
        let cli = crate::cli::Cli::try_parse_from(words).map_err(|e| e.to_string())?;
        match cli.command {
            crate::cli::Command::Load(options) => Job::of(&options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fios_words_mean_what_they_mean_there() {
        let mix = job("--rw randrw --rwmixread 65 --bs 8k --iodepth 16 --numjobs 2 --runtime 1.5").unwrap();
        assert_eq!((mix.access, mix.read_percent, mix.block_bytes), (Access::Random, 65, 8192));
        assert_eq!((mix.queue_depth, mix.threads, mix.runtime_ns), (16, 2, Some(1_500_000_000)));
        assert!(mix.writes());
        let default = job("").unwrap();
        assert_eq!((default.access, default.read_percent), (Access::Sequential, 100));
        assert_eq!((default.block_bytes, default.queue_depth, default.threads), (4096, 1, 1));
        assert!(!default.writes());
        assert_eq!(job("--rw rw").unwrap().read_percent, 50);
        assert!(job("--rw randrw --rwmixread 100").is_ok_and(|job| !job.writes()));
    }

    #[test]
    fn what_makes_no_sense_says_why() {
        for (words, reason) in [
            ("--rw trim", "randread"),
            ("--rw read --rwmixread 50", "for mixes"),
            ("--bs 0", "--bs"),
            ("--size many", "--size"),
            ("--runtime 0", "--runtime"),
            ("--rwmixread 101", "101"),
        ] {
            let text = job(words).unwrap_err();
            assert!(text.contains(reason), "{words}: {text}");
        }
    }
}
