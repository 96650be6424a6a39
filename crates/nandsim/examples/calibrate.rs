//! Compares a model with measured tables: purge, two sequential fills, rounds of the 56 IOPS cells,
//! then fresh and saturated 4 KiB writes, sequential throughput and latency at one command in flight.
//!
//! `calibrate MODEL TABLE [--scale 1/64] [--rounds 6] [--threads 2] [--depth 16] [--fob N] [--steady N]
//! [--seq-read MB/s] [--seq-write MB/s] [--latency R,M,W in us] [--cell SECONDS] [--climb STEPS]
//! [--seed N]`
//!
//! MODEL is a file or the name of a built-in model, TABLE a CSV with a row per block size. With
//! `--climb` the timing and spare keys are varied at random to fit four of the seven mixes, and the best
//! set is printed.

use std::process::ExitCode;

use nandsim::{Load, MODELS, Model, Scale, Ssd, Until};
use stdx::Rng;
use stdx::access::{Order, Span};

const MIXES: [u8; 7] = [0, 5, 35, 50, 65, 95, 100];
/// Mixes that `--climb` fits; the others are held out to score what it found.
const FITTED: [u8; 4] = [0, 35, 65, 100];

/// What was measured on a drive of the class.
struct Target {
    /// Block size in bytes and IOPS for each of [`MIXES`].
    rows: Vec<(u32, Vec<f64>)>,
    /// Fresh and steady 4 KiB write IOPS, sequential MB/s read and written, latency in us: 0 is unknown.
    headline: [f64; 7],
}

const HEADLINES: [&str; 7] =
    ["FOB IOPS", "steady IOPS", "seq read MB/s", "seq write MB/s", "lat R us", "lat 65/35 us", "lat W us"];

struct Setting {
    scale: Scale,
    rounds: u32,
    threads: u16,
    depth: u16,
    cell_seconds: u64,
}

struct Outcome {
    rows: Vec<Vec<f64>>,
    headline: [f64; 7],
    write_amplification: f64,
    ios: u64,
}

fn main() -> ExitCode {
    match calibrate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("calibrate: {message}");
            ExitCode::FAILURE
        }
    }
}

fn calibrate() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let name = words.next().ok_or("name a model and a table")?;
    let table = words.next().ok_or("name a table of measured IOPS")?;
    let text = match MODELS.iter().find(|m| m.0 == name) {
        Some(known) => known.1.to_owned(),
        None => std::fs::read_to_string(&name).map_err(|e| format!("{name}: {e}"))?,
    };
    let table = std::fs::read_to_string(&table).map_err(|e| format!("{table}: {e}"))?;
    let mut target = Target { rows: rows_of(&table)?, headline: [0.0; 7] };
    let scale = Scale::one_over(64).expect("64 is a scale");
    let mut setting = Setting { scale, rounds: 6, threads: 2, depth: 16, cell_seconds: 60 };
    let (mut climb, mut seed) = (0u32, 1u64);
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
        let number = || value.parse::<f64>().map_err(|e| format!("{option} {value}: {e}"));
        match option.as_str() {
            "--scale" => setting.scale = value.parse().map_err(|e| format!("{e}"))?,
            "--rounds" => setting.rounds = number()? as u32,
            "--threads" => setting.threads = number()? as u16,
            "--depth" => setting.depth = number()? as u16,
            "--cell" => setting.cell_seconds = number()? as u64,
            "--seed" => seed = number()? as u64,
            "--climb" => climb = number()? as u32,
            "--fob" => target.headline[0] = number()?,
            "--steady" => target.headline[1] = number()?,
            "--seq-read" => target.headline[2] = number()?,
            "--seq-write" => target.headline[3] = number()?,
            "--latency" => {
                for (place, part) in target.headline[4..].iter_mut().zip(value.split(',')) {
                    *place = part.parse().map_err(|e| format!("{option} {value}: {e}"))?;
                }
            }
            _ => return Err(format!("unknown option {option}")),
        }
    }
    let mut model = Model::from_toml(&text).map_err(|e| e.to_string())?;
    if climb > 0 {
        model = climbed(model, &target, &setting, climb, seed);
        println!("{:#?}\n{:#?}\n{:#?}\n{:#?}", model.geometry, model.timing, model.firmware, model.cache);
    }
    let clock = std::time::Instant::now();
    let outcome = simulate(&model, &setting);
    print(&target, &outcome);
    println!("{:.2} million I/Os in {:.2} s", outcome.ios as f64 / 1e6, clock.elapsed().as_secs_f64());
    Ok(())
}

fn rows_of(table: &str) -> Result<Vec<(u32, Vec<f64>)>, String> {
    let number = |text: &str| text.trim().parse::<f64>().map_err(|e| format!("'{text}': {e}"));
    let row = |line: &str| {
        let cells = line.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(((cells[0] * 1024.0) as u32, cells[1..].to_vec()))
    };
    table.lines().skip(1).filter(|line| !line.trim().is_empty()).map(row).collect()
}

/// The whole sequence; times are those of the PTS divided by the scale.
fn simulate(model: &Model, setting: &Setting) -> Outcome {
    let mut ssd = Ssd::new(model, setting.scale, 1);
    let n = u64::from(setting.scale.divisor());
    let minute = 60_000_000_000 / n;
    let (capacity, mut ios) = (ssd.capacity_bytes(), 0);
    let base = Load {
        order: Order::Random,
        read_percent: 0,
        block_bytes: 4096,
        threads: setting.threads,
        queue_depth: setting.depth,
        span: Span::contiguous(0, ssd.capacity_bytes()),
        until: Until::ForNs(minute),
        seed: 1,
        min_completions: 20 * u64::from(setting.threads) * u64::from(setting.depth),
        tick_ns: 0,
    };
    let mut run = |ssd: &mut Ssd, load: Load| {
        let tally = ssd.run(&load, &mut |_| true);
        ios += tally.read.ios + tally.write.ios;
        tally
    };
    let fill = Load { order: Order::Sequential, block_bytes: 128 << 10, threads: 1, queue_depth: 32, ..base };
    let fill = Load { until: Until::Bytes(capacity), ..fill };
    let mut headline = [0.0; 7];

    ssd.purge();
    headline[0] = run(&mut ssd, base).iops();
    run(&mut ssd, Load { until: Until::Bytes(6 * capacity), seed: 2, ..base });
    let before = ssd.health();
    headline[1] = run(&mut ssd, Load { until: Until::ForNs(10 * minute), seed: 3, ..base }).iops();
    let write_amplification = ssd.health().since(&before).write_amplification().unwrap_or(0.0);

    ssd.purge();
    run(&mut ssd, fill);
    let big = Load { block_bytes: 1 << 20, ..fill };
    headline[3] = run(&mut ssd, big).bytes_per_second() / 1e6;
    headline[2] = run(&mut ssd, Load { read_percent: 100, ..big }).bytes_per_second() / 1e6;

    ssd.purge();
    run(&mut ssd, fill);
    run(&mut ssd, fill);
    let cell = setting.cell_seconds * 1_000_000_000 / n;
    let mut rows = vec![vec![0.0; MIXES.len()]; 8];
    for round in 0..setting.rounds {
        for (column, &read_percent) in MIXES.iter().enumerate().rev() {
            for (row, block_bytes) in
                [512, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 1 << 20].into_iter().enumerate().rev()
            {
                let seed = u64::from(round) << 8 | (column * 8 + row) as u64;
                let cell = Load { read_percent, block_bytes, seed, until: Until::ForNs(cell), ..base };
                let iops = run(&mut ssd, cell).iops();
                if round + 2 >= setting.rounds {
                    rows[row][column] += iops / f64::from(setting.rounds.min(2));
                }
            }
        }
    }
    for (place, read_percent) in [100, 65, 0].into_iter().enumerate() {
        let single = Load { threads: 1, queue_depth: 1, read_percent, min_completions: 1000, ..base };
        let tally = run(&mut ssd, single);
        headline[4 + place] = 1e6 / tally.iops();
    }
    Outcome { rows, headline, write_amplification, ios }
}

/// |ln(simulated / measured)| of the cells of the mixes that `wanted` names, sorted.
fn errors(target: &Target, outcome: &Outcome, wanted: &dyn Fn(u8) -> bool) -> Vec<f64> {
    let mut errors = Vec::new();
    for ((_, measured), simulated) in target.rows.iter().zip(&outcome.rows) {
        let cells = measured.iter().zip(simulated).zip(MIXES).filter(|&(_, mix)| wanted(mix));
        errors.extend(cells.map(|((m, s), _)| (s / m).ln().abs()));
    }
    errors.sort_by(f64::total_cmp);
    errors
}

fn median(sorted: &[f64]) -> f64 {
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// Median and mean of the fitted cells and the mean of the headline figures.
fn loss(target: &Target, outcome: &Outcome) -> f64 {
    let cells = errors(target, outcome, &|mix| FITTED.contains(&mix));
    let mean = cells.iter().sum::<f64>() / cells.len() as f64;
    let known = target.headline.iter().zip(&outcome.headline).filter(|(m, _)| **m > 0.0);
    let heads: Vec<f64> = known.map(|(m, s)| (s / m).ln().abs()).collect();
    let head = if heads.is_empty() { 0.0 } else { heads.iter().sum::<f64>() / heads.len() as f64 };
    median(&cells) + mean + head
}

fn climbed(mut best: Model, target: &Target, setting: &Setting, steps: u32, seed: u64) -> Model {
    let mut rng = Rng::from_seed(seed);
    let mut least = loss(target, &simulate(&best, setting));
    for step in 0..steps {
        let mut next = best.clone();
        let (geometry, timing) = (&mut next.geometry, &mut next.timing);
        let keys: [&mut f64; 11] = [
            &mut geometry.effective_op_percent,
            &mut timing.read_us,
            &mut timing.program_us,
            &mut timing.channel_mb_per_s,
            &mut timing.link_mb_per_s,
            &mut timing.read_command_us,
            &mut timing.write_command_us,
            &mut timing.map_unit_us,
            &mut timing.read_latency_us,
            &mut timing.write_latency_us,
            &mut timing.modify_us,
        ];
        let reach = if step % 3 == 0 { 0.4 } else { 0.1 };
        let mut keys = Vec::from(keys);
        if timing.program_suspend_us > 0.0 {
            keys.push(&mut timing.program_suspend_us);
        }
        let mut cache_bytes = next.cache.as_ref().map_or(0.0, |cache| cache.bytes as f64);
        if let Some(cache) = &mut next.cache {
            keys.extend([&mut cache.program_us, &mut cache.read_us, &mut cache_bytes]);
        }
        for key in keys {
            if rng.percent(35) {
                let unit = rng.below(2001) as f64 / 1000.0 - 1.0;
                *key = (*key * (reach * unit).exp() * 1000.0).round() / 1000.0;
            }
        }
        if let Some(cache) = &mut next.cache {
            cache.bytes = cache_bytes as u64;
        }
        let found = loss(target, &simulate(&next, setting));
        if found < least {
            eprintln!("step {step}: {found:.4}");
            (best, least) = (next, found);
        }
    }
    best
}

fn print(target: &Target, outcome: &Outcome) {
    println!("simulated, and as a share of what was measured, in percent; columns: percent of reads");
    println!("{:>8} {}", "bytes", MIXES.map(|m| format!("{m:>14}")).join(""));
    for ((block, measured), simulated) in target.rows.iter().zip(&outcome.rows) {
        let cells = measured.iter().zip(simulated).map(|(m, s)| format!("{s:>9.0} {:>3.0}%", 100.0 * s / m));
        println!("{block:>8} {}", cells.collect::<String>());
    }
    let percent = |ln: f64| 100.0 * (ln.exp() - 1.0);
    let [fitted, held_out] =
        [true, false].map(|fit| errors(target, outcome, &|mix| FITTED.contains(&mix) == fit));
    println!(
        "median error of the mixes 0, 35, 65, 100 {:.1} %, of the mixes 5, 50, 95 {:.1} %",
        percent(median(&fitted)),
        percent(median(&held_out))
    );
    let cells = errors(target, outcome, &|_| true);
    let within = |limit: f64| cells.iter().filter(|&&e| e <= f64::ln(1.0 + limit)).count();
    println!(
        "cells: median error {:.1} %, 90th percentile {:.1} %, within 15 % {} and within 30 % {} of {}",
        percent(median(&cells)),
        percent(cells[cells.len() * 9 / 10]),
        within(0.15),
        within(0.30),
        cells.len()
    );
    for ((name, measured), simulated) in HEADLINES.iter().zip(target.headline).zip(outcome.headline) {
        println!("{name:>15}: {simulated:>9.1} of {measured:>9.1}");
    }
    println!("write amplification of 4 KiB random writes: {:.2}", outcome.write_amplification);
}
