//! Runs this program inside the guest, to test features of the `device` crate that the command line does not cover.

use std::path::Path;

use anyhow::{Context as _, bail};
use device::OpenOptions;
use engine::{Engine, Flow, LoadOutcome, Polling};
use record::{Access, DataPattern, Range, Regime, Until, Workload};
use serde_json::json;

use crate::chore::Chore;

/// Number of reads per call.
pub const READS: u64 = 2000;
/// Bytes per read.
pub const READ_BYTES: u32 = 4096;

/// Read a device with polled completions in the vm-test guest, and print the result; writes nothing
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Inside {
    /// The device
    device: String,
}

impl Chore for Inside {
    fn run(self, _: &Path) -> anyhow::Result<()> {
        let options =
            OpenOptions { engine: Engine::IoUring, polling: Polling::Completions, ..OpenOptions::default() };
        let mut reader = device::open(&self.device, &options)?.open_to_read()?;
        let workload = Workload {
            access: Access::Random,
            read_percent: 100,
            block_bytes: READ_BYTES,
            kinds: Vec::new(),
            zones: Vec::new(),
            sequence: None,
            threads: 1,
            queue_depth: 4,
            range: Range::first(reader.facts().capacity_bytes / (1 << 20) * (1 << 20)),
            from_block: 0,
            align_bytes: 0,
            data_pattern: DataPattern::Random,
            until: Until::AmountBytes(READS * u64::from(READ_BYTES)),
            seed: 1,
            regime: Regime::default(),
            commands: None,
        };
        let LoadOutcome::Finished(segment) = reader.run(&workload, &mut |_| Flow::Continue)? else {
            bail!("the load was stopped")
        };
        let host = segment.host.context("the segment has no host data")?;
        println!(
            "{}",
            json!({ "engine": segment.io_path.to_string(), "reads": segment.read.ios, "polled": host.polled })
        );
        Ok(())
    }
}
