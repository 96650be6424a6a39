//! Repeats the measurements on a simulated drive.

use stdx::access::{Order, Span};
use stdx::units::block_size;

use super::figure::Kind;
use super::{Demand, Figure, Measured, Saturation, Throughput};
use crate::{Load, Model, Scale, Ssd, Tally, Until};

/// Minimum number of completions in a cell per command in flight, even if they take longer than the scaled
/// time.
const COMPLETIONS: u64 = 20;
/// The corresponding minimum for a throughput cell, which may have a thousand commands in flight.
const STREAM_COMPLETIONS: u64 = 2;
/// Minimum number of completions in a latency cell.
const LATENCIES: u64 = 1000;
const MINUTE_NS: u64 = 60_000_000_000;
const MIB: u64 = 1 << 20;
/// Read percentages in the latency test, in PTS order.
const LATENCY_MIXES: [u8; 3] = [100, 65, 0];
const LATENCY_BLOCKS: [u32; 3] = [8192, 4096, 512];
/// Maximum number of rounds in the throughput and latency tests.
const ROUNDS: u32 = 5;
/// Number of minutes in which a drive is fresh. This constant and the next ones define the times in the write
/// saturation test as reports do (docs/reference/tests.md), so that they can be compared with published values.
const FRESH_MINUTES: usize = 60;
/// A drop must last for at least N of the M minutes after it: (N, M).
const DROP_LASTS: (usize, usize) = (5, 6);
/// Length of the moving average in minutes.
const AVERAGE_MINUTES: usize = 10;
/// Largest relative deviation of the moving average from the steady rate.
const STEADY_WITHIN: f64 = 0.1;

/// The simulated counterpart of a set of measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// IOPS of the measured cells, in the same order.
    pub iops: Vec<f64>,
    /// The other figures that were measured.
    pub figures: Vec<Figure>,
    /// Write amplification of steady 4 KiB random writes; `None` if saturation was not measured.
    pub write_amplification: Option<f64>,
}

struct Bench<'a> {
    ssd: Ssd,
    measured: &'a Measured,
    divisor: u64,
    rounds: u32,
}

/// Runs `rounds` rounds of the measured cells, and all other measurements; a cell's result is the mean of the
/// last two rounds. Times and amounts are divided by the scale.
///
/// # Panics
/// Panics if the measurements do not apply to this drive: they have no cells, or blocks smaller than its
/// logical block.
#[must_use]
pub fn simulate(model: &Model, scale: Scale, measured: &Measured, rounds: u32) -> Simulated {
    let divisor = u64::from(scale.divisor());
    let mut bench = Bench { ssd: Ssd::new(model, scale, 1), measured, divisor, rounds };
    let mut figures = Vec::new();
    let mut write_amplification = None;
    if let Some(saturation) = &measured.saturation {
        write_amplification = bench.saturate(saturation, &mut figures);
    }
    for throughput in &measured.throughput {
        bench.stream(throughput, &mut figures);
    }
    let iops = bench.cells();
    if !measured.latency.is_empty() {
        bench.respond(&mut figures);
    }
    Simulated { iops, figures, write_amplification }
}

/// Returns the IOPS of 4 KiB random writes to a purged drive, for each of 40 equal parts of three drive
/// fills.
#[must_use]
pub fn saturation_curve(model: &Model, scale: Scale) -> Vec<f64> {
    let mut ssd = Ssd::new(model, scale, 1);
    ssd.purge();
    let capacity = ssd.capacity_bytes();
    let part = |seed| Load {
        order: Order::Random,
        read_percent: 0,
        block_bytes: 4096,
        threads: 2,
        queue_depth: 16,
        span: Span::contiguous(0, capacity),
        until: Until::Bytes(capacity * 3 / 40 / 4096 * 4096),
        seed,
        min_completions: 0,
        tick_ns: 0,
    };
    (0..40).map(|seed| ssd.run(&part(seed), &mut |_| true).iops()).collect()
}

impl Bench<'_> {
    fn whole(&self) -> Span {
        Span::contiguous(0, self.ssd.capacity_bytes())
    }

    /// Returns a load of random 4 KiB writes to the whole drive.
    fn load(&self, demand: Demand, until: Until) -> Load {
        Load {
            order: Order::Random,
            read_percent: 0,
            block_bytes: 4096,
            threads: demand.threads,
            queue_depth: demand.queue_depth,
            span: self.whole(),
            until,
            seed: 1,
            min_completions: 0,
            tick_ns: 0,
        }
    }

    fn run(&mut self, load: &Load) -> Tally {
        self.ssd.run(load, &mut |_| true)
    }

    fn scaled(&self, ns: u64) -> Until {
        Until::ForNs(ns / self.divisor)
    }

    /// Purges the drive and fills it twice.
    fn precondition(&mut self) {
        self.ssd.purge();
        let capacity = self.ssd.capacity_bytes();
        let demand = Demand { threads: 1, queue_depth: 32 };
        let once = self.load(demand, Until::Bytes(capacity));
        for _ in 0..2 {
            self.run(&Load { order: Order::Sequential, block_bytes: 128 << 10, ..once });
        }
    }

    fn saturate(&mut self, measured: &Saturation, figures: &mut Vec<Figure>) -> Option<f64> {
        self.ssd.purge();
        let capacity = self.ssd.capacity_bytes();
        let until = |fills: f64| Until::Bytes((capacity as f64 * fills) as u64 / 4096 * 4096);
        let (from, to) = measured.steady_fills;
        let tick_ns = MINUTE_NS / self.divisor;
        let saturating = Load { tick_ns, ..self.load(measured.demand, until(from)) };
        let tally = self.run(&saturating);
        let before = self.ssd.health();
        let rest = self.run(&Load { until: until(to - from), seed: 2, ..saturating });
        let steady = rest.iops();
        let minutes: Vec<(f64, f64)> = tally
            .ticks
            .iter()
            .chain(&rest.ticks)
            .scan(0, |bytes, tick| {
                *bytes += tick.write_bytes;
                let seconds = (tick.end_ns - tick.start_ns) as f64 / 1e9;
                Some((tick.write_ios as f64 / seconds, *bytes as f64 / capacity as f64))
            })
            .collect();
        let fresh = minutes[0].0;
        let iops = (Kind::Saturation, "IOPS");
        let mut add =
            |name: &str, unit, of, value| figures.push(Figure::new(name.to_owned(), unit, of, value));
        add("WSAT RND 4KiB W, first minute", iops, measured.fresh_iops, fresh);
        add("WSAT RND 4KiB W, steady state", iops, measured.steady_iops, steady);
        let rates: Vec<f64> = minutes.iter().map(|minute| minute.0).collect();
        let drop = first_drop(&rates, steady);
        for (name, at, of) in [
            ("WSAT, first drop", drop, measured.drop),
            ("WSAT, steady from", steady_from(&rates, steady, drop.unwrap_or(0)), measured.steady),
        ] {
            let fills = at.map_or(0.0, |at| minutes[at].1);
            add(name, (Kind::Time, "minutes"), of.0, at.map_or(0.0, |at| (at + 1) as f64));
            add(name, (Kind::Time, "drive fills"), of.1, fills);
        }
        self.ssd.health().since(&before).write_amplification()
    }

    fn stream(&mut self, measured: &Throughput, figures: &mut Vec<Figure>) {
        if measured.preconditioned {
            self.precondition();
        } else {
            self.ssd.purge();
        }
        let demand = measured.demand;
        let cell = Load {
            order: Order::Sequential,
            block_bytes: measured.block_bytes,
            min_completions: STREAM_COMPLETIONS * demand.outstanding(),
            span: self.touched(),
            ..self.load(demand, self.scaled(self.measured.cell_ns))
        };
        let mut rates = [0.0; 2];
        let rounds = self.rounds.min(ROUNDS);
        for round in 0..rounds {
            for (rate, read_percent) in rates.iter_mut().zip([100, 0]) {
                let tally = self.run(&Load { read_percent, ..cell });
                if round + 2 >= rounds {
                    *rate += tally.bytes_per_second() / 1e6 / f64::from(rounds.min(2));
                }
            }
        }
        let block = block_size(measured.block_bytes.into());
        for ((rate, of), direction) in rates.into_iter().zip(measured.mb_per_s).zip(["R", "W"]) {
            let name = format!("TP SEQ {block} {direction}");
            figures.push(Figure::new(name, (Kind::Throughput, "MB/s"), of, rate));
        }
    }

    /// Returns the part of the drive that cells access.
    fn touched(&self) -> Span {
        let whole = self.whole();
        let Some(range) = self.measured.active_range else { return whole };
        let segments = (range.segments / self.divisor as u32).max(1);
        let bytes = range.bytes / self.divisor / u64::from(segments);
        let stride = whole.segment_bytes / u64::from(segments) / MIB * MIB;
        if stride < bytes {
            return whole;
        }
        Span { start_bytes: 0, segments, segment_bytes: bytes, stride_bytes: stride }
    }

    fn cells(&mut self) -> Vec<f64> {
        self.precondition();
        let (cells, demand, rounds) = (&self.measured.cells, self.measured.demand, self.rounds);
        let mut order: Vec<usize> = (0..cells.len()).collect();
        // Reads come before writes and large blocks before small ones, as in the PTS.
        order.sort_by_key(|&at| std::cmp::Reverse((cells[at].read_percent, cells[at].block_bytes)));
        let span = self.touched();
        let mut sums = vec![0.0; cells.len()];
        for round in 0..rounds {
            for &at in &order {
                let cell = cells[at];
                let load = Load {
                    read_percent: cell.read_percent,
                    block_bytes: cell.block_bytes,
                    span,
                    seed: u64::from(round) << 16 | at as u64,
                    min_completions: COMPLETIONS * demand.outstanding(),
                    ..self.load(demand, self.scaled(self.measured.cell_ns))
                };
                let iops = self.run(&load).iops();
                if round + 2 >= rounds {
                    sums[at] += iops;
                }
            }
        }
        sums.iter().map(|sum| sum / f64::from(rounds.min(2))).collect()
    }

    /// Runs the whole latency test, and adds the figures for the measured cells.
    fn respond(&mut self, figures: &mut Vec<Figure>) {
        self.precondition();
        let (span, demand) = (self.touched(), Demand { threads: 1, queue_depth: 1 });
        let cell = Load { min_completions: LATENCIES, span, ..self.load(demand, self.scaled(MINUTE_NS)) };
        let rounds = self.rounds.min(ROUNDS);
        let mut sums = [[(0.0, 0); LATENCY_BLOCKS.len()]; LATENCY_MIXES.len()];
        for round in 0..rounds {
            for (sums, read_percent) in sums.iter_mut().zip(LATENCY_MIXES) {
                for ((sum, most), block_bytes) in sums.iter_mut().zip(LATENCY_BLOCKS) {
                    let seed =
                        u64::from(round) << 32 | u64::from(read_percent) << 16 | u64::from(block_bytes);
                    let tally = self.run(&Load { read_percent, block_bytes, seed, ..cell });
                    if round + 2 >= rounds {
                        *sum += 1000.0 / tally.iops() / f64::from(rounds.min(2));
                        let maxima = [&tally.read, &tally.write].map(|part| part.latency.max());
                        *most = maxima.into_iter().flatten().fold(*most, u64::max);
                    }
                }
            }
        }
        for latency in &self.measured.latency {
            let at = |all: &[u32], it: u32| all.iter().position(|&of| of == it);
            let mix = LATENCY_MIXES.iter().position(|&mix| mix == latency.read_percent);
            let (Some(mix), Some(block)) = (mix, at(&LATENCY_BLOCKS, latency.block_bytes)) else { continue };
            let (mean_ms, most_ns) = sums[mix][block];
            let (block, mix) = (block_size(latency.block_bytes.into()), ["R", "65/35", "W"][mix]);
            let name = |what| format!("LAT RND {block} {mix}, {what}");
            figures.push(Figure::new(name("mean"), (Kind::Mean, "ms"), latency.mean_ms, mean_ms));
            let most_ms = most_ns as f64 / 1e6;
            figures.push(Figure::new(name("maximum"), (Kind::Maximum, "ms"), latency.most_ms, most_ms));
        }
    }
}

/// Returns the index of the first minute below the midpoint of the fresh and steady rates that is followed by
/// enough others below it; `None` if the rate hardly drops.
fn first_drop(rates: &[f64], steady: f64) -> Option<usize> {
    let fresh = rates.iter().take(FRESH_MINUTES).copied().max_by(f64::total_cmp)?;
    let middle = f64::midpoint(fresh, steady);
    let (lasts, of) = DROP_LASTS;
    let drops = |at: &usize| {
        let following = rates[at + 1..].iter().take(of).filter(|rate| **rate < middle).count();
        rates[*at] < middle && following >= lasts
    };
    (0..rates.len()).find(drops).filter(|_| fresh > (1.0 + STEADY_WITHIN) * steady)
}

/// Returns the index of the first minute, not before `earliest`, from which the moving average stays near
/// `steady`.
fn steady_from(rates: &[f64], steady: f64, earliest: usize) -> Option<usize> {
    let is_away = |some: &[f64]| {
        let mean = some.iter().sum::<f64>() / some.len() as f64;
        (mean - steady).abs() > STEADY_WITHIN * steady
    };
    let away = rates.windows(AVERAGE_MINUTES).rposition(is_away);
    let first = away.map_or(0, |at| at + 1).max(earliest);
    (first + AVERAGE_MINUTES <= rates.len()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Cell;

    #[test]
    fn times_are_defined_as_in_reports() {
        // Two slow minutes do not count as a drop.
        let rates: Vec<f64> = (0..100)
            .map(|minute| match minute {
                10 | 11 => 900.0,
                0..30 => 5_000.0,
                30..40 => 2_000.0,
                _ => 1_000.0,
            })
            .collect();
        let drop = first_drop(&rates, 1_000.0);
        assert_eq!((drop, steady_from(&rates, 1_000.0, drop.unwrap())), (Some(30), Some(39)));
        assert_eq!(first_drop(&[1_050.0; 20], 1_000.0), None);
    }

    /// At 1/64, the transfers left over from a cell with 1 MiB reads take a quarter of the next cell.
    #[test]
    fn a_cell_is_not_delayed_by_transfers_of_the_previous_one() {
        let model = Model::named("sata-eslc-2012").unwrap();
        let cell = |block_bytes| Cell { block_bytes, read_percent: 100, iops: 100.0 };
        let small = |blocks: &[u32]| {
            let measured = Measured {
                cells: blocks.iter().map(|&bytes| cell(bytes)).collect(),
                ..Measured::of_model("sata-eslc-2012").unwrap().only_cells()
            };
            simulate(&model, Scale::one_over(64).unwrap(), &measured, 1).iops[0]
        };
        let (alone, after) = (small(&[128 << 10]), small(&[128 << 10, 1 << 20]));
        assert!((0.97..1.03).contains(&(after / alone)), "{alone} IOPS alone, {after} after 1 MiB");
    }
}
