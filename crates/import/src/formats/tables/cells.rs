//! Rows of `cells.csv`.

use record::{
    BelowLoad, CellPower, DirectionReading, Driven, Efficiency, Exported, ExportedCell, ImportedTest, OnFile,
    Reading, Uncertain,
};

use super::rows::Row;
use crate::measured;
use crate::number::possible;

/// Columns of percentiles.
const PERCENTILES: [(f64, &str); 5] = [
    (50.0, "latency_p50_ns"),
    (99.0, "latency_p99_ns"),
    (99.9, "latency_p99_9_ns"),
    (99.99, "latency_p99_99_ns"),
    (99.999, "latency_p99_999_ns"),
];

fn reading(row: &Row<'_>, test: &mut ImportedTest, _: &mut Exported) -> Result<(), String> {
    let number = |column: &str| row.number(column)?.map(|value| possible(value, column)).transpose();
    let mut percentiles = Vec::new();
    for (percent, column) in PERCENTILES {
        percentiles.extend(number(column)?.map(|ns| (percent, ns)));
    }
    let read_percent: u8 =
        row.parsed("read_percent")?.filter(|share| *share <= 100).ok_or("no share of reads")?;
    let reading = Reading {
        name: row.text("job"),
        phase: row.text("phase"),
        round: row.parsed("round")?,
        in_window: row.parsed("in_window")?,
        host_limited: row.parsed("host_limited")?.unwrap_or(false),
        threads: row.parsed("threads")?,
        queue_depth: row.parsed("queue_depth")?,
        iops: number("iops")?,
        bytes_per_second: number("bytes_per_second")?,
        latency_mean_ns: number("latency_mean_ns")?,
        latency_max_ns: number("latency_max_ns")?,
        percentiles_ns: percentiles,
        ..Reading::of(row.access()?, read_percent, row.parsed("block_bytes")?.unwrap_or(0))
    };
    test.readings.push(reading);
    Ok(())
}

/// Adds a workload, with amounts in both directions if the file contains them.
pub(super) fn cell(row: &Row<'_>, test: &mut ImportedTest, exported: &mut Exported) -> Result<(), String> {
    reading(row, test, exported)?;
    exported.lacks_host_limits |= row.text("host_limited").is_none();
    let way = |ios: &str, bytes: &str| -> Result<Option<DirectionReading>, String> {
        let (ios, bytes) = (row.parsed(ios)?, row.parsed(bytes)?);
        let way = ios.zip(bytes);
        Ok(way.map(|(ios, bytes)| DirectionReading { ios, bytes, ..DirectionReading::default() }))
    };
    let (read, write) = (way("read_ios", "read_bytes")?, way("write_ios", "write_bytes")?);
    let stated = measured::cell(ExportedCell {
        workload: row.text("workload"),
        in_results: row.parsed("in_results")?,
        driven: driven(row)?,
        power: power(row)?,
        on_file: on_file(row)?,
    })?;
    if let Some(last) = test.readings.last_mut() {
        last.exported = stated;
        last.ios =
            read.as_ref().zip(write.as_ref()).and_then(|(read, write)| read.ios.checked_add(write.ios));
        (last.read, last.write) = (read, write);
    }
    Ok(())
}

fn driven(row: &Row<'_>) -> Result<Driven, String> {
    Ok(Driven {
        start_ns: row.parsed("start_ns")?,
        duration_ns: row.parsed("duration_ns")?,
        errors: row.parsed("errors")?,
        engine: row.text("engine"),
        gap_before_ns: row.parsed("gap_before_ns")?,
        host_share: row.number("host_share")?,
        user_ns: row.parsed("user_ns")?,
        system_ns: row.parsed("system_ns")?,
        voluntary_switches: row.parsed("voluntary_switches")?,
        involuntary_switches: row.parsed("involuntary_switches")?,
    })
}

/// Returns the power during a workload; `None` if the row lacks the mean, the extremes or the number of
/// samples.
fn power(row: &Row<'_>) -> Result<Option<CellPower>, String> {
    let (Some(mean_watts), Some(min_watts), Some(max_watts), Some(samples)) = (
        row.number("power_mean_watts")?,
        row.number("power_min_watts")?,
        row.number("power_max_watts")?,
        row.parsed("power_samples")?,
    ) else {
        return Ok(None);
    };
    Ok(Some(CellPower { mean_watts, min_watts, max_watts, samples, efficiency: efficiency(row)? }))
}

fn efficiency(row: &Row<'_>) -> Result<Option<Efficiency>, String> {
    let quantity = |value: &str, uncertainty: &str| -> Result<Option<Uncertain>, String> {
        let uncertainty = row.number(uncertainty)?;
        Ok(row.number(value)?.map(|value| Uncertain { value, uncertainty }))
    };
    let all = (
        quantity("attributed_watts", "attributed_watts_uncertainty")?,
        quantity("iops_per_watt", "iops_per_watt_uncertainty")?,
        quantity("bytes_per_second_per_watt", "bytes_per_second_per_watt_uncertainty")?,
    );
    let (Some(watts), Some(iops_per_watt), Some(bytes_per_second_per_watt)) = all else { return Ok(None) };
    Ok(Some(Efficiency { watts, iops_per_watt, bytes_per_second_per_watt }))
}

fn on_file(row: &Row<'_>) -> Result<Option<OnFile>, String> {
    let Some(allocated_bytes) = row.parsed("file_allocated_bytes")? else { return Ok(None) };
    let counted = (
        row.parsed("below_read_ios")?,
        row.parsed("below_read_bytes")?,
        row.parsed("below_write_ios")?,
        row.parsed("below_write_bytes")?,
        row.parsed("below_flushes")?,
    );
    let below = match counted {
        (Some(read_ios), Some(read_bytes), Some(write_ios), Some(write_bytes), Some(flushes)) => {
            Some(BelowLoad { read_ios, read_bytes, write_ios, write_bytes, flushes })
        }
        _ => None,
    };
    Ok(Some(OnFile { allocated_bytes, extents: row.parsed("file_extents")?, below }))
}
