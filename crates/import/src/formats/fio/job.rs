//! One fio job: the workload from its options, and the results of both directions.

use std::collections::BTreeMap;

use record::{Access, Reading, Times};
use serde::Deserialize;
use serde_json::Value;
use stdx::Histogram;
use stdx::histogram::slot_of;

use crate::number::{count, possible};

/// Limit on the number of I/Os in a job: more than a drive performs in its lifetime.
const MOST_IOS: u64 = 1_000_000_000_000;
/// Limit on a response time: one day.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// Options of one job, or of all jobs.
pub(super) type Options = BTreeMap<String, Value>;

#[derive(Deserialize)]
pub(super) struct Job {
    #[serde(default)]
    jobname: Option<String>,
    #[serde(rename = "job options", default)]
    options: Options,
    #[serde(default)]
    read: Way,
    #[serde(default)]
    write: Way,
    /// Only in files written by Plateau.
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

/// One direction.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Way {
    total_ios: u64,
    io_bytes: Option<u64>,
    iops: Option<f64>,
    /// Bytes per second; fio 3 and later.
    bw_bytes: Option<f64>,
    /// KiB/s.
    bw: Option<f64>,
    lat_ns: Option<Spread>,
    clat_ns: Option<Spread>,
    /// In microseconds; before fio 3.
    lat: Option<Spread>,
    clat: Option<Spread>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spread {
    max: Option<f64>,
    mean: Option<f64>,
    percentile: BTreeMap<String, f64>,
    bins: BTreeMap<u64, u64>,
}

impl Way {
    /// Returns the total latencies or, if absent, the completion latencies, and their unit in ns.
    fn times(&self) -> Option<(&Spread, f64)> {
        let nanoseconds = self.lat_ns.as_ref().or(self.clat_ns.as_ref()).map(|spread| (spread, 1.0));
        nanoseconds.or_else(|| self.lat.as_ref().or(self.clat.as_ref()).map(|spread| (spread, 1000.0)))
    }

    /// Returns the first latencies that satisfy `what`, and their unit in ns.
    fn with(&self, what: fn(&Spread) -> bool) -> Option<(&Spread, f64)> {
        let all = [(&self.lat_ns, 1.0), (&self.clat_ns, 1.0), (&self.lat, 1000.0), (&self.clat, 1000.0)];
        all.into_iter().filter_map(|(spread, unit)| Some((spread.as_ref()?, unit))).find(|(s, _)| what(s))
    }

    fn bytes_per_second(&self) -> Option<f64> {
        self.bw_bytes.or(self.bw.map(|kib| kib * 1024.0))
    }
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
        let ways: Vec<&Way> = [&self.read, &self.write].into_iter().filter(|way| way.total_ios > 0).collect();
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
            if self.write.total_ios > 0 {
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
                    let (read, write) = (self.read.total_ios as f64, self.write.total_ios as f64);
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
        let ways = [&self.read, &self.write].into_iter().filter(|way| way.total_ios > 0);
        let sizes: Option<Vec<u64>> = ways
            .map(|way| {
                way.io_bytes.filter(|bytes| bytes % way.total_ios == 0).map(|bytes| bytes / way.total_ios)
            })
            .collect();
        let sizes = sizes?;
        let first = *sizes.first()?;
        let is_one = sizes.iter().all(|size| *size == first) && (1..=1 << 30).contains(&first);
        is_one.then_some(first as u32)
    }
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

/// Checks that a number reported by fio is a possible measurement.
fn measured(value: Option<f64>, what: &str) -> Result<Option<f64>, String> {
    value.map(|value| possible(value, what)).transpose()
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

/// Returns the mean response time in ns over the I/Os of both directions.
fn mean(ways: &[&Way]) -> Result<Option<f64>, String> {
    let (mut sum, mut ios) = (0.0, 0.0);
    for way in ways {
        let Some((mean, unit)) = way.times().and_then(|(s, unit)| Some((s.mean?, unit))) else {
            return Ok(None);
        };
        sum += possible(mean * unit, "a mean response time")? * way.total_ios as f64;
        ios += way.total_ios as f64;
    }
    Ok(Some(sum / ios))
}

fn largest(ways: &[&Way]) -> Result<Option<f64>, String> {
    let of = |way: &&Way| way.times().and_then(|(spread, unit)| Some(spread.max? * unit));
    // If the maximum of one direction is missing, the maximum of both is not known.
    let all: Option<Vec<f64>> = ways.iter().map(of).collect();
    measured(all.and_then(|all| all.into_iter().reduce(f64::max)), "a maximum response time")
}

/// Returns the reported percentiles if only one direction has I/Os; percentiles of two directions cannot be combined.
fn percentiles(ways: &[&Way]) -> Result<Vec<(f64, f64)>, String> {
    let [way] = ways else { return Ok(Vec::new()) };
    let Some((spread, unit)) = way.with(|spread| !spread.percentile.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for (percent, value) in &spread.percentile {
        let percent = percent.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
        let percent = percent.ok_or("a percentile is not a percentage")?;
        all.push((percent, possible(value * unit, "a percentile")?));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(all)
}

/// Returns the histogram, which json+ contains as bins; `None` if a direction has no bins.
fn histogram(ways: &[&Way]) -> Result<Option<Histogram>, String> {
    let mut slots: BTreeMap<usize, u64> = BTreeMap::new();
    let (mut sum, mut ios, mut least, mut most) = (0u128, 0u64, u64::MAX, 0);
    for way in ways {
        let Some((spread, unit)) = way.with(|spread| !spread.bins.is_empty()) else { return Ok(None) };
        for (value, count) in spread.bins.iter().filter(|(_, count)| **count > 0) {
            let ns = value.checked_mul(unit as u64).filter(|ns| *ns <= LONGEST_NS);
            let ns = ns.ok_or_else(|| format!("a histogram bin at {value} ns is longer than a day"))?;
            ios =
                ios.checked_add(*count).filter(|ios| *ios <= MOST_IOS).ok_or("too many I/Os in the bins")?;
            *slots.entry(slot_of(ns)).or_default() += count;
            sum += u128::from(ns) * u128::from(*count);
            (least, most) = (least.min(ns), most.max(ns));
        }
    }
    // The journal stores the sum in 64 bits.
    if ios == 0 || sum > u128::from(u64::MAX) {
        return Ok(None);
    }
    let filled: Vec<(usize, u64)> = slots.into_iter().collect();
    Ok(Some(Histogram::from_parts(&filled, sum, least, most)?))
}
