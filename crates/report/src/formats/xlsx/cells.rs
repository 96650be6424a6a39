//! Every workload on one sheet.

use rust_xlsxwriter::{Worksheet, XlsxError};

use super::super::format::Source;
use super::style::{bold, number};
use crate::facts::observations::{Observation, observations};

const TEXTS: [&str; 5] = ["test", "job", "phase", "workload", "marks"];
const NUMBERS: [(&str, usize); 21] = [
    ("record", 0),
    ("round", 0),
    ("block_bytes", 0),
    ("read_percent", 0),
    ("threads", 0),
    ("queue_depth", 0),
    ("duration_ns", 0),
    ("iops", 1),
    ("bytes_per_second", 0),
    ("latency_mean_ns", 0),
    ("latency_p50_ns", 0),
    ("latency_p99_ns", 0),
    ("latency_p99_9_ns", 0),
    ("latency_p99_99_ns", 0),
    ("latency_p99_999_ns", 0),
    ("errors", 0),
    ("host_share", 3),
    ("user_ns", 0),
    ("system_ns", 0),
    ("voluntary_switches", 0),
    ("involuntary_switches", 0),
];
const LAST: [&str; 2] = ["in_window", "host_limited"];

/// Returns the sheet; None if the run has no workloads.
pub(super) fn sheet(source: Source<'_>) -> Result<Option<Worksheet>, XlsxError> {
    let all = observations(&source.judged());
    if all.is_empty() {
        return Ok(None);
    }
    let mut sheet = Worksheet::new();
    sheet.set_name("Cells")?;
    let headings = TEXTS.into_iter().chain(NUMBERS.map(|(name, _)| name)).chain(LAST);
    for (column, heading) in (0..).zip(headings) {
        sheet.write_with_format(0, column, heading, &bold())?;
        sheet.set_column_width(column, heading.len().max(9) as f64 + 2.0)?;
    }
    let label = source.document.label().unwrap_or_default();
    let formats = NUMBERS.map(|(_, decimals)| number(decimals));
    for (row, observation) in (1..).zip(&all) {
        let texts = [
            observation.test,
            observation.job.unwrap_or_default(),
            observation.phase.unwrap_or_default(),
            &observation.workload,
            &label,
        ];
        for (column, text) in (0..).zip(texts) {
            sheet.write_string(row, column, text)?;
        }
        for (column, (value, format)) in (TEXTS.len() as u16..).zip(numbers(observation).iter().zip(&formats))
        {
            if let Some(value) = value.filter(|v| v.is_finite()) {
                sheet.write_with_format(row, column, value, format)?;
            }
        }
        let last = (TEXTS.len() + NUMBERS.len()) as u16;
        sheet.write_boolean(row, last, observation.in_window)?;
        if let Some(host_limited) = observation.host_limited {
            sheet.write_boolean(row, last + 1, host_limited)?;
        }
    }
    sheet.autofilter(0, 0, all.len() as u32, (TEXTS.len() + NUMBERS.len() + LAST.len()) as u16 - 1)?;
    sheet.set_freeze_panes(1, 0)?;
    Ok(Some(sheet))
}

/// Returns the numbers of an observation in the order of [`NUMBERS`].
fn numbers(observation: &Observation<'_>) -> [Option<f64>; NUMBERS.len()] {
    let driven = &observation.driven;
    let count = |value: Option<u64>| value.map(|value| value as f64);
    let [p50, p99, p99_9, p99_99, p99_999] = observation.times.percentiles;
    [
        Some(observation.record as f64),
        observation.round.map(f64::from),
        observation.block_bytes.map(f64::from),
        Some(f64::from(observation.read_percent)),
        observation.threads.map(f64::from),
        observation.queue_depth.map(f64::from),
        count(driven.duration_ns),
        observation.iops,
        observation.bytes_per_second,
        observation.times.mean,
        p50,
        p99,
        p99_9,
        p99_99,
        p99_999,
        count(driven.errors),
        driven.host_share,
        count(driven.user_ns),
        count(driven.system_ns),
        count(driven.voluntary_switches),
        count(driven.involuntary_switches),
    ]
}
