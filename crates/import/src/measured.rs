//! Validates what a file says about power and about the target's file system.

use record::{Driven, Efficiency, ExportedCell, ExportedFileSystem, ExportedMeter, FileShare, Uncertain};

use crate::number::possible;

/// Limit on a time in ns (146 years), the same as in a journal.
const LONGEST_NS: u64 = 1 << 62;

fn uncertain(quantity: Uncertain, what: &str) -> Result<(), String> {
    possible(quantity.value, what)?;
    quantity.uncertainty.map_or(Ok(()), |uncertainty| possible(uncertainty, "an uncertainty").map(drop))
}

/// Checks the power meter used in a run.
pub(crate) fn meter(meter: &ExportedMeter) -> Result<(), String> {
    for value in [meter.resolution_watts, meter.tolerance_percent].into_iter().flatten() {
        possible(value, "a property of the power meter")?;
    }
    meter.idle_watts.map_or(Ok(()), |idle| uncertain(idle, "the idle power"))
}

/// Checks a workload's performance per watt.
pub(crate) fn efficiency(found: &Efficiency) -> Result<(), String> {
    uncertain(found.watts, "a power")?;
    uncertain(found.iops_per_watt, "a number of IOPS per watt")?;
    uncertain(found.bytes_per_second_per_watt, "a throughput per watt")
}

/// Checks how much of the I/O is due to a file system.
pub(crate) fn share(share: &FileShare) -> Result<(), String> {
    let all = [
        share.bytes_written_per_byte,
        share.writes_per_write,
        share.bytes_read_per_byte,
        share.reads_per_read,
        share.flushes_per_thousand_writes,
    ];
    all.into_iter().flatten().try_for_each(|ratio| possible(ratio, "a share of the file system").map(drop))
}

/// Checks the file system of a target.
pub(crate) fn file_system(facts: &ExportedFileSystem) -> Result<(), String> {
    facts.share.as_ref().map_or(Ok(()), share)
}

/// Checks the facts about a workload; `None` if the file contains none.
pub(crate) fn cell(cell: ExportedCell) -> Result<Option<Box<ExportedCell>>, String> {
    let driven = &cell.driven;
    let times = [driven.start_ns, driven.duration_ns, driven.gap_before_ns, driven.user_ns, driven.system_ns];
    if let Some(ns) = times.into_iter().flatten().find(|ns| *ns > LONGEST_NS) {
        return Err(format!("a time of {ns} ns is beyond the range of any clock"));
    }
    if let Some(share) = cell.driven.host_share {
        possible(share, "host_share")?;
    }
    if let Some(power) = &cell.power {
        for watts in [power.mean_watts, power.min_watts, power.max_watts] {
            possible(watts, "a power")?;
        }
        power.efficiency.as_ref().map_or(Ok(()), efficiency)?;
    }
    let is_empty = cell.in_results.is_none()
        && cell.driven == Driven::default()
        && cell.power.is_none()
        && cell.on_file.is_none();
    Ok((!is_empty).then(|| Box::new(cell)))
}
