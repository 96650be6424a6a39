//! Derives a drive's speeds from measurements: from an earlier run, or from a probe of a simulated drive.

use std::collections::BTreeMap;

use record::{Access, Event, Segment, TargetFacts, Until};

use super::speeds::{Alone, Assumed, Rates, SMALL, Saturation, State};

/// Minimum number of outstanding I/Os that keeps a drive busy.
const BUSY: u32 = 8;
/// Minimum block size for large sequential I/O.
const LARGE: u32 = 128 << 10;
/// Number of recent results of each kind to average: as many as a measurement window has.
const LATEST: usize = 5;
/// Number of capacities that must be written before a drive counts as saturated.
const SATURATED_FILLS: f64 = 1.5;
/// Bursts with a larger fraction of bytes at the fresh rate are ignored: they may end before they use up the
/// fast capacity that the idle time restored.
const ALL_FRESH: f64 = 0.95;

/// Measurements of a drive, by kind of workload.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    sequential: Mixes,
    /// Indexed by 0 (not preconditioned) or 1 (preconditioned), then by block size.
    random: [BTreeMap<u32, Mixes>; 2],
    composite: Mixes,
    alone: Mixes,
    composite_alone: Mixes,
    /// Random 4 KiB writes since a purge: bytes and seconds of each minute.
    filling: Vec<(f64, f64)>,
    fills: Vec<Vec<(f64, f64)>>,
    /// Bursts of random 4 KiB writes: seconds of preceding idle time, bytes and seconds of the burst.
    bursts: Vec<(f64, f64, f64)>,
    state: Option<State>,
    rested_seconds: Option<f64>,
    capacity_bytes: f64,
    divisor: f64,
}

/// Bytes per second in order of measurement, by percentage of reads.
type Mixes = BTreeMap<u8, Vec<f64>>;

/// Returns the mean of the most recent results.
fn mean(mixes: &Mixes, read_percent: u8) -> Option<f64> {
    let all = mixes.get(&read_percent)?;
    let latest = &all[all.len().saturating_sub(LATEST)..];
    let rate = latest.iter().sum::<f64>() / latest.len() as f64;
    (rate > 0.0).then_some(rate)
}

impl Observed {
    /// Collects speeds from the events of a run, or from a probe of `target`.
    #[must_use]
    pub fn of<'a>(target: &TargetFacts, events: impl IntoIterator<Item = &'a Event>) -> Self {
        let divisor = target.simulated.as_ref().map_or(1, |sim| sim.scale_divisor.max(1));
        let capacity_bytes = target.capacity_bytes as f64;
        let mut observed = Self { capacity_bytes, divisor: f64::from(divisor), ..Self::default() };
        events.into_iter().for_each(|event| observed.see(event));
        observed.end_filling();
        observed
    }

    /// Returns whether none of the measurements can be used for an estimate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let random = self.random.iter().all(BTreeMap::is_empty);
        self.sequential.is_empty() && random && self.composite.is_empty() && self.alone.is_empty()
    }

    fn see(&mut self, event: &Event) {
        match event {
            Event::Purged(_) => {
                self.end_filling();
                self.state = Some(State::Fresh);
            }
            Event::Idled { length_ns } => {
                self.end_filling();
                self.rested_seconds = Some(*length_ns as f64 / 1e9);
            }
            Event::Preconditioned(segment) | Event::Measured(segment) => self.see_segment(segment),
            _ => {}
        }
    }

    fn end_filling(&mut self) {
        let filling = std::mem::take(&mut self.filling);
        let written: f64 = filling.iter().map(|minute| minute.0).sum();
        if written >= SATURATED_FILLS * self.capacity_bytes {
            self.fills.push(filling);
        }
    }

    fn see_segment(&mut self, segment: &Segment) {
        let workload = &segment.workload;
        let seconds = segment.end_ns.saturating_sub(segment.start_ns) as f64 / 1e9;
        let bytes = (segment.read.bytes + segment.write.bytes) as f64;
        let rested = self.rested_seconds.take();
        if seconds <= 0.0 || bytes <= 0.0 {
            return;
        }
        let (rate, reads) = (bytes / seconds, workload.read_percent);
        let add = |mixes: &mut Mixes| mixes.entry(reads).or_default().push(rate);
        let (busy, plain) = (workload.outstanding() >= BUSY, workload.kinds.is_empty());
        match (workload.access, plain) {
            (Access::Sequential, true) => {
                self.end_filling();
                if matches!(workload.until, Until::AmountBytes(_)) && reads == 0 {
                    self.state = Some(State::Preconditioned);
                }
                if busy && workload.block_bytes >= LARGE {
                    add(&mut self.sequential);
                }
            }
            (Access::Random, true) if busy => {
                let small_writes = workload.block_bytes == SMALL && reads == 0;
                let burst = rested.filter(|_| small_writes);
                if let Some(rested) = burst {
                    self.bursts.push((rested, bytes, seconds));
                } else if small_writes && self.state == Some(State::Fresh) {
                    self.filling.push((bytes, seconds));
                } else {
                    self.end_filling();
                }
                if burst.is_none() {
                    let before = usize::from(self.state == Some(State::Preconditioned));
                    add(self.random[before].entry(workload.block_bytes).or_default());
                }
            }
            (Access::Random, true) if workload.outstanding() == 1 && workload.block_bytes == SMALL => {
                add(&mut self.alone);
            }
            (_, false) if busy => add(&mut self.composite),
            (_, false) if workload.outstanding() == 1 => add(&mut self.composite_alone),
            _ => {}
        }
    }

    /// Replaces values in `assumed` with measured values.
    #[must_use]
    pub fn applied_to(&self, mut assumed: Assumed) -> Assumed {
        let sequential = &mut assumed.sequential;
        sequential.write = mean(&self.sequential, 0).unwrap_or(sequential.write);
        sequential.read = mean(&self.sequential, 100).unwrap_or(sequential.read);
        self.apply_random(&mut assumed);
        let (saturated, small) = (&self.random[0], assumed.random_of(f64::from(SMALL)).write);
        let steady = saturated.get(&SMALL).and_then(|mixes| mean(mixes, 0));
        assumed.saturation.steady = steady.unwrap_or(small);
        assumed.saturation.fresh = assumed.saturation.fresh.max(assumed.saturation.steady);
        if let Some(saturation) = self.saturation() {
            assumed.saturation = saturation;
        }
        apply_mixes(&mut assumed.composite, &self.composite);
        let mean_bytes = f64::from(2 * SMALL);
        apply_alone(&mut assumed.alone, &self.alone, f64::from(SMALL));
        apply_alone(&mut assumed.composite_alone, &self.composite_alone, mean_bytes);
        assumed
    }

    /// Scales the rates of unmeasured block sizes by the same factor as that of the nearest measured size.
    fn apply_random(&self, assumed: &mut Assumed) {
        let [saturated, preconditioned] = &self.random;
        let mut seen: BTreeMap<u32, Rates> = BTreeMap::new();
        for (block, mixes) in saturated.iter().chain(preconditioned) {
            let mut rates = assumed.random_of(f64::from(*block));
            apply_mixes(&mut rates, mixes);
            seen.insert(*block, rates);
        }
        let usual = assumed.clone();
        let distance = |a: u32, b: u32| (f64::from(a) / f64::from(b)).ln().abs();
        for (block, rates) in &mut assumed.random {
            let nearest =
                seen.iter().min_by(|a, b| distance(*a.0, *block).total_cmp(&distance(*b.0, *block)));
            let Some((near, known)) = nearest else { return };
            let before = usual.random_of(f64::from(*near));
            *rates = Rates {
                write: rates.write * known.write / before.write,
                read: rates.read * known.read / before.read,
                coupling: known.coupling,
            };
        }
        // Remove sizes between measured sizes, so that they are interpolated.
        if let (Some(first), Some(last)) = (seen.keys().next(), seen.keys().next_back()) {
            assumed.random.retain(|block, _| block < first || block > last);
        }
        assumed.random.extend(seen);
    }

    /// Models the last fill as a number of capacities at the fresh rate, followed by writes at the steady rate.
    fn saturation(&self) -> Option<Saturation> {
        let filling = self.fills.last()?;
        let (bytes, seconds) = filling.iter().fold((0.0, 0.0), |(b, s), minute| (b + minute.0, s + minute.1));
        let rate = |minutes: &[(f64, f64)]| {
            let sums = minutes.iter().fold((0.0, 0.0), |(b, s), minute| (b + minute.0, s + minute.1));
            sums.0 / sums.1
        };
        let steady = rate(&filling[filling.len() * 9 / 10..]);
        let fresh = filling.iter().map(|minute| minute.0 / minute.1).fold(steady, f64::max);
        let fills = if fresh > steady * 1.01 {
            (bytes / steady - seconds) / (1.0 / steady - 1.0 / fresh) / self.capacity_bytes
        } else {
            0.0
        };
        let gain = self.idle_gain(fresh, steady);
        Some(Saturation { fresh, fills: fills.max(0.0), steady, idle_gain_bytes_per_second: gain })
    }

    fn idle_gain(&self, fresh: f64, steady: f64) -> f64 {
        let won = self.bursts.iter().filter_map(|&(rested, bytes, seconds)| {
            let at_fresh = (bytes / steady - seconds) / (1.0 / steady - 1.0 / fresh);
            (fresh > steady * 1.01 && at_fresh < ALL_FRESH * bytes).then_some((rested, at_fresh.max(0.0)))
        });
        let (rested, won) = won.fold((0.0, 0.0), |(r, w), burst| (r + burst.0, w + burst.1));
        if rested > 0.0 { won / rested * self.divisor } else { 0.0 }
    }
}

/// Replaces the assumed rates of writes, reads and mixes with measured rates.
fn apply_mixes(rates: &mut Rates, mixes: &Mixes) {
    rates.write = mean(mixes, 0).unwrap_or(rates.write);
    rates.read = mean(mixes, 100).unwrap_or(rates.read);
    let plain = Rates { coupling: 0.0, ..*rates };
    let middle = mixes.keys().copied().filter(|reads| (20..=80).contains(reads));
    let couplings = middle.filter_map(|reads| {
        let share = f64::from(reads) / 100.0;
        let beyond = 1.0 / mean(mixes, reads)? - 1.0 / plain.mixed(reads);
        Some(beyond * plain.write / (4.0 * share * (1.0 - share)))
    });
    let couplings: Vec<f64> = couplings.collect();
    if !couplings.is_empty() {
        rates.coupling = couplings.iter().sum::<f64>() / couplings.len() as f64;
    }
}

fn apply_alone(alone: &mut Alone, mixes: &Mixes, block: f64) {
    let seconds = |reads| mean(mixes, reads).map(|rate| block / rate);
    alone.write_seconds = seconds(0).unwrap_or(alone.write_seconds);
    alone.read_seconds = seconds(100)
        .or_else(|| {
            // The composite is measured only with 0 % and 40 % reads, so the response time of a read is derived.
            Some(((seconds(40)? - 0.6 * alone.write_seconds) / 0.4).max(1e-6))
        })
        .unwrap_or(alone.read_seconds);
}
