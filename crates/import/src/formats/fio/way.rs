//! One direction of a fio job: amounts, rates and response times.

use std::collections::BTreeMap;

use record::DirectionReading;
use serde::Deserialize;
use stdx::Histogram;
use stdx::histogram::slot_of;

use crate::number::possible;

/// Limit on the I/Os of a job: more than a drive performs in its lifetime.
pub(super) const MOST_IOS: u64 = 1_000_000_000_000;
/// Limit on the bytes of a direction: an exbibyte.
const MOST_BYTES: u64 = 1 << 60;
/// Limit on a response time: one day.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// One direction.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Way {
    pub total_ios: u64,
    /// In bytes in fio 3 and later, and in KiB, rounded down, in earlier versions.
    io_bytes: Option<u64>,
    /// Written by fio 3 and later.
    io_kbytes: Option<u64>,
    pub iops: Option<f64>,
    /// Bytes per second, written by fio 3 and later.
    bw_bytes: Option<f64>,
    /// KiB/s.
    bw: Option<f64>,
    lat_ns: Option<Spread>,
    clat_ns: Option<Spread>,
    /// In microseconds, written by versions before fio 3.
    lat: Option<Spread>,
    clat: Option<Spread>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spread {
    min: Option<f64>,
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

    /// Returns the first latencies for which `what` is true, and their unit in ns.
    fn with(&self, what: fn(&Spread) -> bool) -> Option<(&Spread, f64)> {
        let all = [(&self.lat_ns, 1.0), (&self.clat_ns, 1.0), (&self.lat, 1000.0), (&self.clat, 1000.0)];
        all.into_iter().filter_map(|(spread, unit)| Some((spread.as_ref()?, unit))).find(|(s, _)| what(s))
    }

    pub fn bytes_per_second(&self) -> Option<f64> {
        self.bw_bytes.or(self.bw.map(|kib| kib * 1024.0))
    }

    /// Returns whether fio 2 or earlier wrote this direction.
    fn is_old(&self) -> bool {
        let is_new = self.io_kbytes.is_some()
            || self.bw_bytes.is_some()
            || self.lat_ns.is_some()
            || self.clat_ns.is_some();
        !is_new && (self.bw.is_some() || self.lat.is_some() || self.clat.is_some())
    }

    /// Returns the amount. Old versions round it down to a whole KiB; if all I/Os have one known size, their
    /// number determines it exactly.
    fn bytes(&self, block_bytes: u32) -> Option<u64> {
        let stated = self.io_bytes?;
        if !self.is_old() {
            return Some(stated);
        }
        let counted =
            self.total_ios.checked_mul(u64::from(block_bytes)).filter(|bytes| bytes >> 10 == stated);
        counted.or_else(|| stated.checked_mul(1024))
    }

    /// Returns the bytes per I/O, if the amount is a multiple of the number of I/Os.
    pub fn counted_block(&self) -> Option<u64> {
        self.bytes(0).filter(|bytes| bytes % self.total_ios == 0).map(|bytes| bytes / self.total_ios)
    }
}

/// Returns the results of a direction; `None` if the file does not contain its amounts.
pub(super) fn direction(way: Option<&Way>, block_bytes: u32) -> Result<Option<DirectionReading>, String> {
    let Some((way, bytes)) = way.and_then(|way| Some((way, way.bytes(block_bytes)?))) else {
        return Ok(None);
    };
    if bytes > MOST_BYTES || way.total_ios > MOST_IOS {
        return Err("more I/Os or bytes than any drive can transfer".into());
    }
    if way.total_ios == 0 {
        // For a direction without I/Os, fio prints response times of zero.
        return Ok(Some(DirectionReading { bytes, ..DirectionReading::default() }));
    }
    let time = |of: fn(&Spread) -> Option<f64>| {
        measured(way.times().and_then(|(spread, unit)| Some(of(spread)? * unit)), "a response time")
    };
    Ok(Some(DirectionReading {
        ios: way.total_ios,
        bytes,
        latency_min_ns: time(|spread| spread.min)?,
        latency_mean_ns: time(|spread| spread.mean)?,
        latency_max_ns: time(|spread| spread.max)?,
        percentiles_ns: percentiles(&[way])?,
    }))
}

/// Checks that a number reported by fio is a possible measurement.
pub(super) fn measured(value: Option<f64>, what: &str) -> Result<Option<f64>, String> {
    value.map(|value| possible(value, what)).transpose()
}

/// Returns the mean response time in ns over the I/Os of both directions.
pub(super) fn mean(ways: &[&Way]) -> Result<Option<f64>, String> {
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

/// Returns the maximum response time in ns.
pub(super) fn largest(ways: &[&Way]) -> Result<Option<f64>, String> {
    let of = |way: &&Way| way.times().and_then(|(spread, unit)| Some(spread.max? * unit));
    // If the maximum of one direction is missing, the overall maximum is unknown.
    let all: Option<Vec<f64>> = ways.iter().map(of).collect();
    measured(all.and_then(|all| all.into_iter().reduce(f64::max)), "a maximum response time")
}

/// Returns the reported percentiles if only one direction has I/Os; percentiles of two directions cannot be combined.
pub(super) fn percentiles(ways: &[&Way]) -> Result<Vec<(f64, f64)>, String> {
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
pub(super) fn histogram(ways: &[&Way]) -> Result<Option<Histogram>, String> {
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
