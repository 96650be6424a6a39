//! Repeats the measurements on a simulated drive.

use stdx::access::{Order, Span};

use super::{Figure, Measured, Saturation};
use crate::{Load, Model, Scale, Ssd, Until};

/// Minimum completions in a cell per command in flight, even if its scaled time is shorter.
const COMPLETIONS: u64 = 20;
const MINUTE_NS: u64 = 60_000_000_000;
const MIB: u64 = 1 << 20;

/// The simulated counterparts of a set of measurements.
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
}

/// Runs `rounds` rounds of the measured cells and every other measurement; each cell is the mean of the last two
/// rounds. Times and amounts are divided by the scale.
///
/// # Panics
/// Panics if the measurements do not apply to this drive: no cells, or blocks smaller than its logical block.
#[must_use]
pub fn simulate(model: &Model, scale: Scale, measured: &Measured, rounds: u32) -> Simulated {
    let divisor = u64::from(scale.divisor());
    let mut bench = Bench { ssd: Ssd::new(model, scale, 1), measured, divisor };
    let mut figures = Vec::new();
    let mut write_amplification = None;
    if let Some(saturation) = &measured.saturation {
        write_amplification = bench.saturate(saturation, &mut figures);
    }
    if let Some(rates) = measured.sequential_mb_per_s {
        bench.stream(rates, &mut figures);
    }
    let iops = bench.cells(rounds);
    if let Some(times) = measured.response_ms {
        bench.respond(times, &mut figures);
    }
    Simulated { iops, figures, write_amplification }
}

/// IOPS of 4 KiB random writes to a purged drive, for each of 40 equal parts of three drive fills.
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

fn figure(name: &str, unit: &str, measured: f64, simulated: f64) -> Figure {
    let digits = if simulated < 10.0 { 1000.0 } else { 1.0 };
    let simulated = (simulated * digits).round() / digits;
    Figure { name: name.to_owned(), unit: unit.to_owned(), measured, simulated }
}

impl Bench<'_> {
    fn whole(&self) -> Span {
        Span::contiguous(0, self.ssd.capacity_bytes())
    }

    fn load(&self, until: Until) -> Load {
        Load {
            order: Order::Random,
            read_percent: 0,
            block_bytes: 4096,
            threads: self.measured.threads,
            queue_depth: self.measured.queue_depth,
            span: self.whole(),
            until,
            seed: 1,
            min_completions: 0,
            tick_ns: 0,
        }
    }

    fn run(&mut self, load: &Load) -> crate::Tally {
        self.ssd.run(load, &mut |_| true)
    }

    fn minutes(&self, minutes: u64) -> Until {
        Until::ForNs(minutes * MINUTE_NS / self.divisor)
    }

    /// Makes one sequential pass over the drive in blocks of `block_bytes`; returns MB/s.
    fn fill(&mut self, block_bytes: u32, read_percent: u8) -> f64 {
        let capacity = self.ssd.capacity_bytes();
        let load = Load {
            order: Order::Sequential,
            block_bytes,
            read_percent,
            threads: 1,
            queue_depth: 32,
            ..self.load(Until::Bytes(capacity))
        };
        self.run(&load).bytes_per_second() / 1e6
    }

    fn saturate(&mut self, measured: &Saturation, figures: &mut Vec<Figure>) -> Option<f64> {
        self.ssd.purge();
        let (threads, queue_depth) = (measured.threads, measured.queue_depth);
        let minute = Load { threads, queue_depth, ..self.load(self.minutes(1)) };
        let fresh = self.run(&minute).iops();
        let capacity = self.ssd.capacity_bytes();
        let until = |fills: f64| Until::Bytes((capacity as f64 * fills) as u64 / 4096 * 4096);
        let (from, to) = measured.steady_fills;
        self.run(&Load { until: until(from), seed: 2, ..minute });
        let before = self.ssd.health();
        let steady = self.run(&Load { until: until(to - from), seed: 3, ..minute }).iops();
        figures.push(figure("4 KiB random write, fresh", "IOPS", measured.fresh_iops, fresh));
        figures.push(figure("4 KiB random write, steady", "IOPS", measured.steady_iops, steady));
        self.ssd.health().since(&before).write_amplification()
    }

    fn stream(&mut self, measured: [f64; 2], figures: &mut Vec<Figure>) {
        self.ssd.purge();
        self.fill(128 << 10, 0);
        let written = self.fill(1 << 20, 0);
        let read = self.fill(1 << 20, 100);
        figures.push(figure("sequential 1 MiB read", "MB/s", measured[0], read));
        figures.push(figure("sequential 1 MiB write", "MB/s", measured[1], written));
    }

    /// The part of the drive that the cells access.
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

    fn cells(&mut self, rounds: u32) -> Vec<f64> {
        self.ssd.purge();
        self.fill(128 << 10, 0);
        self.fill(128 << 10, 0);
        let cells = &self.measured.cells;
        let mut order: Vec<usize> = (0..cells.len()).collect();
        // Reads before writes and large blocks before small ones, as in the PTS.
        order.sort_by_key(|&at| std::cmp::Reverse((cells[at].read_percent, cells[at].block_bytes)));
        let span = self.touched();
        let outstanding = u64::from(self.measured.threads) * u64::from(self.measured.queue_depth);
        let mut sums = vec![0.0; cells.len()];
        for round in 0..rounds {
            for &at in &order {
                let cell = cells[at];
                let load = Load {
                    read_percent: cell.read_percent,
                    block_bytes: cell.block_bytes,
                    span,
                    seed: u64::from(round) << 16 | at as u64,
                    min_completions: COMPLETIONS * outstanding,
                    ..self.load(Until::ForNs(self.measured.cell_ns / self.divisor))
                };
                let iops = self.run(&load).iops();
                if round + 2 >= rounds {
                    sums[at] += iops;
                }
            }
        }
        sums.iter().map(|sum| sum / f64::from(rounds.min(2))).collect()
    }

    fn respond(&mut self, measured: [f64; 3], figures: &mut Vec<Figure>) {
        let span = self.touched();
        for ((name, read_percent), measured) in
            [("read", 100), ("65/35", 65), ("write", 0)].into_iter().zip(measured)
        {
            let load = Load {
                threads: 1,
                queue_depth: 1,
                read_percent,
                min_completions: 1000,
                span,
                ..self.load(self.minutes(1))
            };
            let mean_ms = 1000.0 / self.run(&load).iops();
            figures.push(figure(&format!("4 KiB {name}, mean at 1 in flight"), "ms", measured, mean_ms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Cell;

    /// At 1/64, the transfers left over from a cell of 1 MiB take a quarter of the next cell.
    #[test]
    fn a_cell_does_not_wait_for_what_the_one_before_left() {
        let model = Model::named("sata-eslc-2012").unwrap();
        let cell = |block_bytes| Cell { block_bytes, read_percent: 100, iops: 100.0 };
        let small = |blocks: &[u32]| {
            let measured = Measured {
                cells: blocks.iter().map(|&bytes| cell(bytes)).collect(),
                sequential_mb_per_s: None,
                response_ms: None,
                ..Measured::of_model("sata-eslc-2012").unwrap()
            };
            simulate(&model, Scale::one_over(64).unwrap(), &measured, 1).iops[0]
        };
        let (alone, behind) = (small(&[128 << 10]), small(&[128 << 10, 1 << 20]));
        assert!((0.97..1.03).contains(&(behind / alone)), "{alone} IOPS alone, {behind} behind 1 MiB");
    }
}
