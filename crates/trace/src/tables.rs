//! A trace as text for a terminal, and as CSV and JSON for other programs.

use std::fmt::Write as _;

use chartdata::exhibit::Table;
use serde_json::{Value, json};
use stdx::Histogram;
use stdx::units::grouped;

use crate::characteristics::Characteristics;
use crate::html::text;
use crate::pages::{facts, hot, streams_table};

/// Returns the facts and the top streams of a trace.
#[must_use]
pub fn summary(of: &Characteristics) -> String {
    let facts = facts(of);
    let width = facts.items.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in &facts.items {
        let _ = writeln!(out, "{name:width$}  {value}");
    }
    out.push('\n');
    out.push_str(&aligned(&streams_table(of)));
    let _ = writeln!(out, "\n{}", hot(of));
    for burst in &of.bursts {
        let _ = writeln!(
            out,
            "{} windows: {} I/Os on average, {} at most, dispersion {:.1}",
            stdx::units::span(burst.window_ns),
            grouped(burst.mean, 1),
            grouped(burst.peak as f64, 0),
            burst.dispersion
        );
    }
    out.trim_end().to_owned()
}

/// Returns a table with aligned columns.
fn aligned(table: &Table) -> String {
    let cells = |row: &chartdata::exhibit::Row| -> Vec<String> {
        row.cells.iter().map(|cell| text(cell, table.decimals)).collect()
    };
    let rows: Vec<(&str, Vec<String>)> =
        table.rows.iter().map(|row| (row.name.as_str(), cells(row))).collect();
    let first = rows.iter().map(|(name, _)| name.len()).chain([table.row_heading.len()]).max().unwrap_or(0);
    let width = |column: usize| {
        let longest = rows.iter().filter_map(|(_, cells)| cells.get(column)).map(String::len).max();
        longest.unwrap_or(0).max(table.columns[column].len())
    };
    let line = |name: &str, cells: &[String]| {
        let mut line = format!("{name:first$}");
        for (column, cell) in cells.iter().enumerate() {
            let _ = write!(line, "  {cell:>0$}", width(column));
        }
        line + "\n"
    };
    let head = line(&table.row_heading, &table.columns);
    rows.iter().fold(head, |all, (name, cells)| all + &line(name, cells))
}

/// Returns the steps of a trace as CSV, one row each.
#[must_use]
pub fn csv(of: &Characteristics) -> String {
    let mut out = String::from(
        "start_s,length_s,read_ios,write_ios,trim_ios,flush_ios,read_bytes,write_bytes,mean_response_ms,max_response_ms,mean_outstanding\n",
    );
    for (index, step) in of.steps.iter().enumerate() {
        let completed =
            |value: f64| if step.served.completed > 0 { value.to_string() } else { String::new() };
        let [read, write, trim, flush] = step.ios;
        let _ = writeln!(
            out,
            "{},{},{read},{write},{trim},{flush},{},{},{},{},{}",
            index as f64 * of.step_ns as f64 / 1e9,
            of.step_ns as f64 / 1e9,
            step.bytes[0],
            step.bytes[1],
            step.mean_ms().map_or_else(String::new, |ms| ms.to_string()),
            completed(step.served.response_max_ns as f64 / 1e6),
            // If the trace has no completions, the number is unknown.
            if of.summary.completed > 0 {
                (step.served.outstanding_ns as f64 / of.step_ns as f64).to_string()
            } else {
                String::new()
            },
        );
    }
    out
}

/// Returns all results, for programs.
#[must_use]
pub fn json(of: &Characteristics) -> Value {
    let summary = of.summary;
    let streams: Vec<Value> = of
        .streams
        .iter()
        .map(|stream| {
            json!({
                "name": stream.kind.to_string(),
                "op": stream.kind.op.name(),
                "sequential": stream.kind.is_sequential,
                "bytes": stream.kind.bytes,
                "ios": stream.ios,
                "mean_response_ms": stream.mean_ms(),
            })
        })
        .collect();
    json!({
        "source": of.origin.source,
        "anonymised": of.origin.is_anonymised,
        "resolution_ns": of.origin.resolution_ns,
        "ios": summary.ios,
        "completed": summary.completed,
        "length_ns": summary.end_ns,
        "read_bytes": summary.read_bytes,
        "written_bytes": summary.written_bytes,
        "end_bytes": summary.end_bytes,
        "lost_events": summary.lost_events,
        "moved": summary.moved,
        "iops": of.iops(),
        "read_percent": of.read_percent(),
        "streams": streams,
        "read_response": times(&of.responses[0]),
        "write_response": times(&of.responses[1]),
        "outstanding": {
            "mean": of.depths.mean(),
            "median": of.depths.quantile(0.5),
            "p95": of.depths.quantile(0.95),
            "max": of.depths.max(),
        },
        "idle_ns": (summary.completed > 0).then_some(of.idle.total_ns),
        "idle_times": (summary.completed > 0).then(|| of.idle.times.count()),
        "bursts": of.bursts.iter().map(|burst| json!({
            "window_ns": burst.window_ns,
            "mean": burst.mean,
            "peak": burst.peak,
            "dispersion": burst.dispersion,
        })).collect::<Vec<_>>(),
        "reuse": {
            "block_bytes": 4096,
            "first_accesses": of.reuse.first,
            "share_within_2_to_the_n_blocks": of.reuse.cumulative(),
        },
        "region_bytes": of.region_bytes,
        "regions": of.regions.iter().map(|region| json!([region.reads, region.writes])).collect::<Vec<_>>(),
    })
}

fn times(times: &Histogram) -> Value {
    json!({
        "ios": times.count(),
        "mean_ns": times.mean(),
        "median_ns": times.quantile(0.5),
        "p99_ns": times.quantile(0.99),
        "max_ns": times.max(),
    })
}
