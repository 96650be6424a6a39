//! `cargo xtask bench agreement`: the results of `plateau load JOBFILE` compared with those of `fio JOBFILE`, for fio's
//! own example job files, on a device of known speed.
//!
//! The device is QEMU's null driver with a limit on IOPS, exported through FUSE and attached as a loop device:
//!
//! * The limit determines the IOPS at every queue depth. With a fixed latency instead, IOPS would be the queue depth
//!   divided by the latency and the CPU time of an I/O, and deep queues would exceed what the single thread of QEMU's
//!   storage daemon can serve, so that both programs would measure the CPU.
//! * Submitting an I/O to a file on FUSE blocks the thread. That time is part of a response time in Plateau and of `lat`
//!   in fio, but not of fio's completion latency. A loop device only blocks when 128 I/Os are outstanding.
//!
//! Both programs run the same file, one after the other, and the order alternates. A difference is a result, not a
//! failure: the benchmark only fails if a program does.

mod comparison;
mod examples;
mod figures;
mod programs;

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::results::{Benchmark, Measured, Results};
use super::targets::made::Workshop;
use super::targets::tools::{fio_version, identity};
use crate::chore::plateau_program;
use comparison::{Line, Pair, heading, lines, summary};
use examples::{Example, chosen};
use programs::Programs;

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<Agreement>("agreement", false);

/// plateau load compared with fio on fio's example job files, on a throttled device; needs root and qemu-storage-daemon
#[derive(clap::Args)]
struct Agreement {
    /// Names of fio's examples [default: the 20 that such a device can run]
    #[arg(value_name = "EXAMPLE")]
    examples: Vec<String>,
    /// Alternating pairs per example; the spread of fio's own results needs two
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..))]
    pairs: u32,
    /// Seconds per job
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Limit of the device in IOPS; the storage daemon must be able to serve more
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    iops: u32,
    /// Release binary to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Size of the device, which stores nothing: larger than every offset in the examples.
const DEVICE_BYTES: u64 = 128 << 30;

impl Measured for Agreement {
    fn run(self, root: &Path, folder: &Path) -> anyhow::Result<Results> {
        let chosen = chosen(&self.examples)?;
        let version = fio_version()?;
        let binary = self.binary.clone().map_or_else(|| plateau_program(root, false), Ok)?.canonicalize()?;
        let mut workshop = Workshop::new(&folder.join("agreement"))?;
        let device = device(&mut workshop, self.iops)?;
        let programs = Programs {
            plateau: binary,
            identity: identity(&device)?,
            folder: workshop.subfolder("results")?,
            seconds: self.seconds,
        };
        let (mut all, mut failed) = (Vec::new(), Vec::new());
        println!("{}", heading());
        for example in chosen {
            match self.measured(example, &device, &programs) {
                Ok(lines) => {
                    lines.iter().for_each(|line| println!("{line}"));
                    all.extend(lines);
                }
                Err(problem) => {
                    println!("{}: {problem:#}", example.0);
                    failed.push(example.0);
                }
            }
        }
        let summary = summary(&all);
        println!("{summary}");
        if !failed.is_empty() {
            bail!("these examples did not run with both programs: {}", failed.join(", "));
        }
        let how = format!(
            "{summary}; {} alternating pairs of {} s per job with {version}, on a loop device limited to {} IOPS",
            self.pairs, self.seconds, self.iops
        );
        Ok(Results { rows: all.iter().flat_map(Line::rows).collect(), how })
    }
}

impl Agreement {
    /// Runs the pairs of an example.
    fn measured(&self, example: &Example, device: &str, programs: &Programs) -> anyhow::Result<Vec<Line>> {
        let job = programs.job_file(example, device)?;
        let mut pairs = Vec::new();
        for index in 0..self.pairs {
            let ours_first = index % 2 == 0;
            let before = if ours_first { None } else { Some(programs.fio(&job)?) };
            let plateau = programs.plateau(&job)?;
            let fio = before.map_or_else(|| programs.fio(&job), Ok)?;
            pairs.push(Pair { fio, plateau });
        }
        lines(example.0, &pairs)
    }
}

/// Creates the device and returns its path.
fn device(workshop: &mut Workshop, iops: u32) -> anyhow::Result<String> {
    let file = workshop.image("served")?.canonicalize()?;
    let limit = format!("throttle-group,id=limit,x-iops-total={iops}");
    // Otherwise, reads return what happens to be in memory, which may look like a file system.
    let null = format!("driver=null-co,node-name=null,size={DEVICE_BYTES},read-zeroes=on");
    let limited = "driver=throttle,node-name=limited,throttle-group=limit,file=null";
    let options = ["--object", &limit, "--blockdev", &null, "--blockdev", limited];
    workshop.serve(&file, &options, "limited")?;
    workshop.attach(&file, &["--direct-io=on"])
}
