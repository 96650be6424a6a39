//! Whether a workload can use the zones of a device: a function of facts.

use record::{Access, Workload};

use crate::refusal::NotZoned;
use crate::zone::{Zone, ZoneReport};

/// Returns the sizes of all I/Os of a workload.
fn sizes(workload: &Workload) -> impl Iterator<Item = u32> {
    let only = workload.kinds.is_empty().then_some(workload.block_bytes);
    workload.kinds.iter().map(|kind| kind.block_bytes).chain(only)
}

/// Returns the size of the smallest I/O of a workload.
#[must_use]
pub fn smallest_bytes(workload: &Workload) -> u64 {
    sizes(workload).min().unwrap_or(workload.block_bytes).into()
}

/// Returns the number of zones that workloads may write at a time; 0 for no limit. It is the strictest of all limits.
#[must_use]
pub fn limit(report: &ZoneReport, workloads: &[&Workload]) -> u32 {
    let requested =
        workloads.iter().filter_map(|workload| workload.zoned()).map(|zoned| zoned.max_open_zones);
    requested.chain([report.most_open]).filter(|limit| *limit > 0).min().unwrap_or(0)
}

/// Checks that a workload can use the zones of a device.
///
/// # Errors
/// Why it cannot.
pub fn check(report: &ZoneReport, workload: &Workload, is_buffered: bool) -> Result<(), NotZoned> {
    let Some(zoned) = workload.zoned() else { return Ok(()) };
    let zone_bytes = report.zone_bytes;
    if is_buffered {
        return Err(NotZoned::Buffered);
    }
    if zoned.zone_bytes != 0 && zoned.zone_bytes != zone_bytes {
        return Err(NotZoned::ZoneSize { requested_bytes: zoned.zone_bytes, zone_bytes });
    }
    let range = workload.range;
    let (start_bytes, end_bytes) = (range.start_bytes, range.span().end_bytes());
    let last_bytes = report.zones.last().map_or(0, Zone::end_bytes);
    let is_end = end_bytes == last_bytes || (end_bytes < last_bytes && end_bytes.is_multiple_of(zone_bytes));
    if range.segments != 1 || !start_bytes.is_multiple_of(zone_bytes) || !is_end {
        return Err(NotZoned::PartOfAZone { start_bytes, end_bytes, zone_bytes });
    }
    let of_range = |zone: &&Zone| zone.start_bytes >= start_bytes && zone.end_bytes() <= end_bytes;
    let zones: Vec<&Zone> = report.zones.iter().filter(of_range).collect();
    check_sizes(workload, zone_bytes, &zones)?;
    let orders = || workload.kinds.iter().map(|kind| kind.access).chain([workload.access]);
    let is_sequential = orders().any(|order| order == Access::Sequential);
    let is_mixed = orders().any(|order| order == Access::Random) || !matches!(workload.read_percent, 0 | 100);
    if is_sequential && (is_mixed || workload.threads > 1) {
        return Err(NotZoned::Sequence);
    }
    if !workload.writes() {
        return Ok(());
    }
    if !zones.iter().any(|zone| zone.is_writable) {
        return Err(NotZoned::NotWritable);
    }
    if report.most_open > 0 && zoned.max_open_zones > report.most_open {
        return Err(NotZoned::TooManyRequested { requested: zoned.max_open_zones, most: report.most_open });
    }
    let most = limit(report, &[workload]);
    let open = zones.iter().filter(|zone| zone.is_open && zone.is_sequential).count();
    if !workload.regime.trims && most > 0 && open > most as usize {
        return Err(NotZoned::TooManyOpen { open, most });
    }
    Ok(())
}

fn check_sizes(workload: &Workload, zone_bytes: u64, zones: &[&Zone]) -> Result<(), NotZoned> {
    let smallest_bytes = smallest_bytes(workload) as u32;
    if workload.regime.trims {
        let is_a_zone = sizes(workload).all(|bytes| u64::from(bytes) == zone_bytes);
        return if is_a_zone { Ok(()) } else { Err(NotZoned::Trim { zone_bytes }) };
    }
    let smallest_zone = zones.iter().min_by_key(|zone| zone.capacity_bytes);
    let capacity_bytes = smallest_zone.map_or(zone_bytes, |zone| zone.capacity_bytes);
    for block_bytes in sizes(workload) {
        if !zone_bytes.is_multiple_of(block_bytes.into()) {
            return Err(NotZoned::Block { block_bytes, zone_bytes });
        }
        if !block_bytes.is_multiple_of(smallest_bytes) {
            return Err(NotZoned::Sizes { block_bytes, smallest_bytes });
        }
        if u64::from(block_bytes) > capacity_bytes {
            return Err(NotZoned::Capacity { block_bytes, capacity_bytes });
        }
    }
    Ok(())
}
