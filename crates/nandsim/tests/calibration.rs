//! The models against the tables they were fitted to, so that a change of the simulator that moves them
//! is seen. `examples/calibrate.rs` prints every cell.

mod common;

use common::{SECOND, fill, load, run};
use nandsim::{Load, Model, Scale, Ssd, Until};
use stdx::access::Order;

const MIXES: [u8; 7] = [0, 5, 35, 50, 65, 95, 100];
const BLOCKS: [u32; 8] = [512, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 1 << 20];
const DIVISOR: u32 = 64;

fn drive(name: &str) -> Ssd {
    let scale = Scale::one_over(DIVISOR).unwrap();
    Ssd::new(&Model::named(name).unwrap(), scale, 1)
}

/// Median |ln(simulated / measured)| of the 56 cells in the fifth round.
fn median_error(name: &str, table: &str, threads: u16, queue_depth: u16, seconds: u64) -> f64 {
    let time = Until::ForNs(seconds * SECOND / u64::from(DIVISOR));
    let measured: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let mut ssd = drive(name);
    ssd.purge();
    fill(&mut ssd);
    fill(&mut ssd);
    let mut errors = Vec::new();
    for round in 1..=5 {
        for (column, &mix) in MIXES.iter().enumerate().rev() {
            for (row, &block) in BLOCKS.iter().enumerate().rev() {
                let min_completions = 20 * u64::from(threads) * u64::from(queue_depth);
                let cell = load(&ssd, Order::Random, mix, block, time);
                let cell = Load { threads, queue_depth, min_completions, ..cell };
                let iops = run(&mut ssd, &cell).iops();
                if round == 5 {
                    errors.push((iops / measured[row][column]).ln().abs());
                }
            }
        }
    }
    ssd.check().unwrap();
    errors.sort_by(f64::total_cmp);
    (errors[27] + errors[28]) / 2.0
}

#[test]
fn the_slc_model_meets_its_table() {
    let error = median_error("sas-slc-2011", include_str!("data/iops_SLC-B.csv"), 2, 16, 60);
    println!("median error {:.1} %", 100.0 * error);
    assert!(error < 0.07, "median error {error}");
}

#[test]
fn the_mlc_model_meets_its_table() {
    let error = median_error("sata-mlc-2011", include_str!("data/iops_MLC-A.csv"), 1, 8, 60);
    println!("median error {:.1} %", 100.0 * error);
    assert!(error < 0.12, "median error {error}");
}

#[test]
fn the_sata_enterprise_model_meets_its_table() {
    let error = median_error("sata-eslc-2012", include_str!("data/iops_SATA-E.csv"), 2, 16, 60);
    println!("median error {:.1} %", 100.0 * error);
    assert!(error < 0.22, "median error {error}");
}

#[test]
fn the_tlc_model_meets_its_table() {
    let error = median_error("nvme-tlc-2018", include_str!("data/iops_NVMe-TLC.csv"), 2, 16, 30);
    println!("median error {:.1} %", 100.0 * error);
    assert!(error < 0.19, "median error {error}");
}

/// Fresh and steady 4 KiB random writes, and the drive fills at which they part and meet.
#[test]
fn fresh_and_steady_writes_are_near_the_measured() {
    let drives = [("sas-slc-2011", 2, 16, 55_677.0, 19_415.0), ("sata-mlc-2011", 1, 8, 56_896.0, 2_714.0)];
    for (name, threads, queue_depth, fresh, steady) in drives {
        let mut ssd = drive(name);
        let until = Until::Bytes(8 * ssd.capacity_bytes());
        let wsat =
            Load { threads, queue_depth, tick_ns: SECOND / 8, ..load(&ssd, Order::Random, 0, 4096, until) };
        let one_fill = Until::Bytes(ssd.capacity_bytes());
        let tally = run(&mut ssd, &wsat);
        let rates: Vec<f64> = tally.ticks.iter().map(|tick| tick.write_ios as f64 * 8.0).collect();
        let fills = |ticks: usize| {
            let bytes: u64 = tally.ticks[..ticks].iter().map(|tick| tick.write_bytes).sum();
            bytes as f64 / ssd.capacity_bytes() as f64
        };
        let tail = &rates[rates.len() * 3 / 4..rates.len() - 1];
        let (first, last) = (rates[2], tail.iter().sum::<f64>() / tail.len() as f64);
        let falls = rates.iter().position(|&rate| rate < 0.8 * first).unwrap();
        let settles = rates.iter().rposition(|&rate| (rate / last - 1.0).abs() > 0.1).unwrap();
        let settles =
            rates[..settles].iter().position(|&rate| (rate / last - 1.0).abs() < 0.1).unwrap_or(settles);
        println!(
            "{name}: {first:.0} falls after {:.2} fills, {last:.0} from {:.2} fills",
            fills(falls),
            fills(settles)
        );
        assert!((first / fresh - 1.0).abs() < 0.1, "{name}: fresh {first}, measured {fresh}");
        assert!((last / steady - 1.0).abs() < 0.1, "{name}: steady {last}, measured {steady}");
        for seconds in [5, 30, 120] {
            ssd.idle(seconds * SECOND / u64::from(DIVISOR));
            let five = Load {
                until: Until::ForNs(5 * SECOND / u64::from(DIVISOR)),
                seed: seconds,
                tick_ns: 0,
                ..wsat
            };
            let rested = run(&mut ssd, &five).iops() / last;
            println!("  {seconds} s idle: {rested:.2} x steady for 5 s");
            assert!(rested > 1.1, "{name}: {rested} x steady after {seconds} s idle");
            run(&mut ssd, &Load { until: one_fill, seed: seconds + 1, tick_ns: 0, ..wsat });
        }
    }
}
