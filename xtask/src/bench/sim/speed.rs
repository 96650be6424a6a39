//! Simulated I/Os per second of CPU time.

use std::path::Path;

use nandsim::{Load, Model, Scale, Ssd, Until};
use stdx::access::{Order, Span};

use crate::bench::host::thread_seconds;
use crate::bench::results::{Row, median};

/// Slices of each measurement.
const SLICES: u64 = 7;
/// I/Os per slice.
const IOS: u64 = 3_000_000;
const BLOCK: u32 = 4096;

/// A load, the drive's spare flash, and the required speed in million I/Os per second.
struct Case {
    what: &'static str,
    read_percent: u8,
    op_percent: f64,
    least_m: f64,
}

const CASES: [Case; 4] = [
    Case { what: "4 KiB random read", read_percent: 100, op_percent: 7.0, least_m: 15.0 },
    Case { what: "4 KiB random write, steady", read_percent: 0, op_percent: 28.0, least_m: 5.0 },
    Case { what: "4 KiB random write, steady", read_percent: 0, op_percent: 7.0, least_m: 3.0 },
    Case { what: "4 KiB random 65/35, steady", read_percent: 65, op_percent: 28.0, least_m: 6.0 },
];

/// Returns a row for each load.
pub fn rows(_: &Path) -> anyhow::Result<Vec<Row>> {
    CASES.iter().map(row).collect()
}

fn row(case: &Case) -> anyhow::Result<Row> {
    let mut ssd = steady(case.op_percent)?;
    let before = ssd.health();
    let slices: Vec<f64> = (0..SLICES)
        .map(|slice| {
            let until = Until::Bytes(IOS * u64::from(BLOCK));
            let load = Load { read_percent: case.read_percent, seed: 100 + slice, ..writes(&ssd, until) };
            let begin = thread_seconds();
            let tally = ssd.run(&load, &mut |_| true);
            (tally.read.ios + tally.write.ios) as f64 / (thread_seconds() - begin) / 1e6
        })
        .collect();
    let best = slices.iter().copied().fold(0.0, f64::max);
    let amplification = ssd.health().since(&before).write_amplification();
    let amplification = amplification.map_or(String::new(), |factor| format!(", WA {factor:.2}"));
    Ok(Row {
        what: format!("{}, OP {} %{amplification}", case.what, case.op_percent),
        target: format!(">= {} M IO/s", case.least_m),
        measured: format!("{best:.1} M IO/s (median {:.1})", median(slices)),
        value: 1.0 / best,
        limit: Some(1.0 / case.least_m),
        best_quarter: None,
    })
}

/// Returns a 16 GB drive in the steady state of random writes.
fn steady(op_percent: f64) -> anyhow::Result<Ssd> {
    let mut model = Model::named("sas-slc-2011")?;
    model.geometry.capacity_bytes = 256 << 30;
    model.geometry.effective_op_percent = op_percent;
    let scale = Scale::one_over(16).expect("a scale");
    let mut ssd = Ssd::new(&model, scale, 1);
    let capacity = ssd.capacity_bytes();
    let fill =
        Load { order: Order::Sequential, block_bytes: 128 << 10, ..writes(&ssd, Until::Bytes(capacity)) };
    ssd.run(&fill, &mut |_| true);
    let load = writes(&ssd, Until::Bytes(3 * capacity));
    ssd.run(&load, &mut |_| true);
    Ok(ssd)
}

fn writes(ssd: &Ssd, until: Until) -> Load {
    Load {
        order: Order::Random,
        read_percent: 0,
        block_bytes: BLOCK,
        threads: 2,
        queue_depth: 16,
        span: Span::contiguous(0, ssd.capacity_bytes()),
        until,
        seed: 1,
        min_completions: 0,
        tick_ns: 62_500_000,
    }
}
