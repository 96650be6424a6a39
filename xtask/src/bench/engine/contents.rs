//! Cost of block contents: fresh data, reducible data, stamps and their verification.

use std::path::Path;

use engine::Nowhere;
use record::{DataPattern, Reducible, Regime, Workload};

use super::pairs::{PAIRS, compared, paired, rehearsed};
use super::rivals::Rivals;
use super::targets::{Target, reads};
use crate::bench::results::{Row, median};

const DATA_GB_PER_SECOND: f64 = 25.0;
/// Minimum rate as a fraction of fio's. fio's rate is derived from the time that `refill_buffers` adds to a
/// write without I/O.
const OF_FIO: f64 = 0.8;

/// Measures how fast fresh data is generated, and compares other contents with it.
pub fn rows(rivals: &Rivals, _: &Path) -> anyhow::Result<Vec<Row>> {
    let mut rows = fresh(rivals, engine::ceiling()?.data_bytes_per_second / 1e9)?;
    rows.extend(costs()?);
    Ok(rows)
}

/// Compares `rate`, in GB/s, with the target and with fio.
fn fresh(rivals: &Rivals, rate: f64) -> anyhow::Result<Vec<Row>> {
    let row = |target: String, limit: f64| Row {
        target,
        limit: Some(1.0 / limit),
        ..Row::stated("fresh data for 4 KiB writes, per core", format!("{rate:.1} GB/s"), 1.0 / rate)
    };
    let mut rows = vec![row(format!(">= {DATA_GB_PER_SECOND:.0} GB/s"), DATA_GB_PER_SECOND)];
    if rivals.fio_version.is_some() {
        let write = ["--rw=randwrite", "--scramble_buffers=0"];
        let pairs = paired(
            || rivals.fio_null(32, &[write[0], write[1], "--refill_buffers"]),
            || rivals.fio_null(32, &write),
        )?;
        let fio = 4096.0 / median(pairs.iter().map(|(refill, base)| refill.cpu_ns - base.cpu_ns));
        rows.push(row(format!(">= {OF_FIO} x fio refill ({fio:.1} GB/s)"), OF_FIO * fio));
    }
    Ok(rows)
}

/// Compares other contents and stamps with fresh data, for writes without I/O.
fn costs() -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let fresh = Workload { read_percent: 0, ..reads(32) };
    let reducible = |compressible_percent, dedupable_percent| {
        let reducible = Reducible { compressible_percent, dedupable_percent, working_set: None };
        Workload { data_pattern: DataPattern::Reducible(reducible), ..fresh.clone() }
    };
    let others = [
        ("zeros", Workload { data_pattern: DataPattern::Zero, ..fresh.clone() }),
        ("half of it compressible", reducible(50, 0)),
        ("half of the blocks duplicates", reducible(0, 50)),
        (
            "stamped (verify)",
            Workload { regime: Regime { verify: true, ..Regime::default() }, ..fresh.clone() },
        ),
    ];
    for (what, workload) in others {
        let pairs = paired(|| rehearsed(Nowhere::Null, &workload), || rehearsed(Nowhere::Null, &fresh))?;
        let (other, plain, share) = compared(&pairs, |s| s.cpu_ns);
        let text = format!("{other:.1} / {plain:.1} ns = {share:.2}");
        rows.push(Row::stated(format!("4 KiB writes to null: {what} / fresh"), text, share));
    }
    Ok(rows)
}

/// Compares plain reads with reads whose stamps are verified.
pub fn checked_reads(target: &mut Target) -> anyhow::Result<Row> {
    target.stamp()?;
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        let checked = target.checked()?;
        pairs.push((checked, target.measure(1)?.0));
    }
    let (checked, plain, share) = compared(&pairs, |s| s.cpu_ns);
    let text = format!("{checked:.1} / {plain:.1} ns = {share:.2}");
    Ok(Row::stated("zram 4 KiB random read QD1: checked (verify) / plain", text, share))
}
