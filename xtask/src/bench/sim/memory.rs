//! Memory of a simulated full-size drive.

use std::path::Path;

use nandsim::{Load, Model, Scale, Ssd, Until};
use stdx::access::{Order, Span};

use crate::bench::host::resident_mib;
use crate::bench::results::Row;

const MODEL: &str = "nvme-tlc-2018";
const LIMIT_MB_PER_GB: f64 = 2.2;

/// Returns the resident memory per GB of capacity, for a drive written once.
pub fn rows(_: &Path) -> anyhow::Result<Vec<Row>> {
    let before = resident_mib()?;
    let mut ssd = Ssd::new(&Model::named(MODEL)?, Scale::FULL, 1);
    let capacity = ssd.capacity_bytes();
    let fill = Load {
        order: Order::Sequential,
        read_percent: 0,
        block_bytes: 1 << 20,
        threads: 1,
        queue_depth: 32,
        span: Span::contiguous(0, capacity),
        until: Until::Bytes(capacity),
        seed: 1,
        min_completions: 0,
        tick_ns: 0,
    };
    ssd.run(&fill, &mut |_| true);
    let taken = (resident_mib()? - before) * f64::from(1 << 20) / 1e6;
    let per_gb = taken / (capacity as f64 / 1e9);
    Ok(vec![Row {
        what: format!("memory, {MODEL} ({:.0} GB, 4 KiB units), scale 1", capacity as f64 / 1e9),
        target: format!("<= {LIMIT_MB_PER_GB} MB per GB"),
        measured: format!("{per_gb:.2} MB per GB ({taken:.0} MB)"),
        value: per_gb,
        limit: Some(LIMIT_MB_PER_GB),
        best_quarter: None,
    }])
}
