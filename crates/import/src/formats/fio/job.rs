//! One fio job: the workload from its options, and the results of both directions.

use std::collections::BTreeMap;

use record::{Access, Reading, Times};
use serde::Deserialize;
use serde_json::Value;

use super::way::{MOST_IOS, Way, direction, histogram, largest, mean, measured, percentiles};
use crate::number::count;

/// Options of one job, or of all jobs.
pub(super) type Options = BTreeMap<String, Value>;

#[derive(Deserialize)]
pub(super) struct Job {
    #[serde(default)]
    jobname: Option<String>,
    #[serde(rename = "job options", default)]
    options: Options,
    #[serde(default)]
    read: Option<Way>,
    #[serde(default)]
    write: Option<Way>,
    /// Present only in files that Plateau wrote.
    #[serde(default)]
    plateau: Option<Place>,
}

/// The position of a workload in a Plateau run.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Place {
    phase: Option<String>,
    round: Option<u32>,
    in_window: Option<bool>,
    host_limited: bool,
}

impl Job {
    pub fn name(&self) -> &str {
        self.jobname.as_deref().unwrap_or("without a name")
    }

    /// Returns an option of the job or, if absent, of all jobs.
    pub fn option(&self, global: &Options, key: &str) -> Option<String> {
        self.options.get(key).or_else(|| global.get(key)).and_then(words)
    }

    /// Returns the results; `None` if nothing was read or written.
    pub fn reading(&self, global: &Options, remarks: &mut Vec<String>) -> Result<Option<Reading>, String> {
        let ways: Vec<&Way> = self.ways().collect();
        if ways.is_empty() {
            return Ok(None);
        }
        let option = |key: &str| self.option(global, key);
        let (access, read_percent) =
            self.pattern(option("rw").or_else(|| option("readwrite")).as_deref(), global, remarks)?;
        let block_bytes = self.block(global, remarks)?;
        let ios = ways.iter().try_fold(0u64, |sum, way| sum.checked_add(way.total_ios));
        let ios = ios.filter(|ios| *ios <= MOST_IOS).ok_or("more I/Os than any drive can perform")?;
        let sum = |of: fn(&Way) -> Option<f64>, what: &str| -> Result<Option<f64>, String> {
            let all: Option<Vec<f64>> = ways.iter().map(|way| of(way)).collect();
            measured(all.map(|all| all.iter().sum()), what)
        };
        let number = |key: &str| -> Result<Option<u16>, String> {
            let Some(text) = option(key).filter(|text| !text.is_empty()) else { return Ok(None) };
            let value = text.parse::<u64>().map_err(|_| format!("{key}={text}"))?;
            count(value, key).map(Some)
        };
        let is_group = self.option(global, "group_reporting").is_some_and(|value| value != "0");
        let place = self.plateau.as_ref();
        Ok(Some(Reading {
            phase: place.and_then(|place| place.phase.clone()),
            round: place.and_then(|place| place.round),
            in_window: place.and_then(|place| place.in_window),
            host_limited: place.is_some_and(|place| place.host_limited),
            name: Some(self.name().chars().filter(|c| !c.is_control()).take(60).collect()),
            // If group_reporting is not set, each clone of a job has its own entry.
            threads: if is_group { number("numjobs")? } else { Some(1) },
            queue_depth: number("iodepth")?,
            ios: Some(ios),
            iops: sum(|way| way.iops, "iops")?,
            bytes_per_second: sum(Way::bytes_per_second, "bw")?,
            latency_mean_ns: mean(&ways)?,
            latency_max_ns: largest(&ways)?,
            percentiles_ns: percentiles(&ways)?,
            times: histogram(&ways)?.map(Times),
            read: direction(self.read.as_ref(), block_bytes)?,
            write: direction(self.write.as_ref(), block_bytes)?,
            ..Reading::of(access, read_percent, block_bytes)
        }))
    }

    /// Returns the order of addresses and the share of reads.
    fn pattern(
        &self,
        rw: Option<&str>,
        global: &Options,
        remarks: &mut Vec<String>,
    ) -> Result<(Access, u8), String> {
        let Some(rw) = rw else {
            if total_ios(self.write.as_ref()) > 0 {
                return Err("its options do not specify how it writes (rw)".into());
            }
            remarks.push(format!("job '{}' specifies no rw, so fio reads sequentially", self.name()));
            return Ok((Access::Sequential, 100));
        };
        let kind = rw.split(':').next().unwrap_or(rw);
        let access = if kind.starts_with("rand") { Access::Random } else { Access::Sequential };
        let mix =
            |key: &str| self.option(global, key).map(|text| text.parse::<u8>().ok().filter(|p| *p <= 100));
        let read_percent = match kind {
            "read" | "randread" => 100,
            "write" | "randwrite" => 0,
            "rw" | "readwrite" | "randrw" => match (mix("rwmixread"), mix("rwmixwrite")) {
                (Some(read), _) => read.ok_or("rwmixread is not a percentage")?,
                (None, Some(write)) => 100 - write.ok_or("rwmixwrite is not a percentage")?,
                // Describe the actual I/Os, not fio's default.
                (None, None) => {
                    let [read, write] = [&self.read, &self.write].map(|way| total_ios(way.as_ref()) as f64);
                    (read / (read + write) * 100.0).round() as u8
                }
            },
            other => return Err(format!("rw={other} is neither a read nor a write workload")),
        };
        Ok((access, read_percent))
    }

    /// Returns the bytes per I/O; 0 if I/Os differ in size.
    fn block(&self, global: &Options, remarks: &mut Vec<String>) -> Result<u32, String> {
        if self.option(global, "bssplit").is_some() || self.option(global, "bsrange").is_some() {
            return Ok(0);
        }
        let Some(text) = self.option(global, "bs").or_else(|| self.option(global, "blocksize")) else {
            return Ok(self.counted_block().unwrap_or_else(|| {
                remarks.push(format!("the block size of job '{}' is not in the file", self.name()));
                0
            }));
        };
        let mut sizes = Vec::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let size = bytes(part.trim()).filter(|bytes| (1..=1 << 30).contains(bytes));
            sizes.push(size.ok_or_else(|| format!("bs={part} is not a block size"))? as u32);
        }
        let first = *sizes.first().ok_or("bs is empty")?;
        Ok(if sizes.iter().all(|size| *size == first) { first } else { 0 })
    }
}

impl Job {
    /// Returns the bytes per I/O derived from the amounts, if all of them are equal.
    fn counted_block(&self) -> Option<u32> {
        let sizes: Option<Vec<u64>> = self.ways().map(Way::counted_block).collect();
        let sizes = sizes?;
        let first = *sizes.first()?;
        let is_one = sizes.iter().all(|size| *size == first) && (1..=1 << 30).contains(&first);
        is_one.then_some(first as u32)
    }

    /// Returns the directions with I/Os.
    fn ways(&self) -> impl Iterator<Item = &Way> {
        [&self.read, &self.write].into_iter().flatten().filter(|way| way.total_ios > 0)
    }
}

fn total_ios(way: Option<&Way>) -> u64 {
    way.map_or(0, |way| way.total_ios)
}

/// Returns an option's value as text; empty for an option without a value.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Parses a size in fio's notation: `4k`, `128KiB`, `4096`; k is 1024.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
