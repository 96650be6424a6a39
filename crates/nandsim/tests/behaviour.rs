//! Behaviour that a test of a drive would show: write cliff and steady state, recovery, purge, read/write mixes,
//! scales.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};

use common::{SECOND, churn, fill, load, run, small};
use nandsim::{Load, MODELS, Memory, Model, Scale, Ssd, Until};
use stdx::access::Order;

fn near(a: f64, b: f64, percent: f64) -> bool {
    (a / b - 1.0).abs() * 100.0 <= percent
}

#[test]
fn fresh_then_a_cliff_then_steady() {
    let mut ssd = small(256, 20.0, 1024);
    let tick_ns = SECOND / 10;
    let load = Load { tick_ns, ..load(&ssd, Order::Random, 0, 4096, Until::Bytes(8 * ssd.capacity_bytes())) };
    let tally = run(&mut ssd, &load);
    let full: Vec<f64> =
        tally.ticks.iter().filter(|t| t.end_ns - t.start_ns == tick_ns).map(|t| t.write_ios as f64).collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (fresh, last) = (mean(&full[1..4]), &full[full.len() * 3 / 4..]);
    let steady = mean(last);
    assert!(fresh > 2.5 * steady, "fresh {fresh}, steady {steady} per tick");
    // Steady means that both halves have the same mean and no tick deviates far from it.
    let (before, after) = last.split_at(last.len() / 2);
    assert!(near(mean(before), mean(after), 3.0), "{} then {}", mean(before), mean(after));
    assert!(last.iter().all(|&tick| near(tick, steady, 15.0)), "{last:?}");
    // The first drive fill needs no collection; the write cliff follows.
    let written: f64 = full.iter().take_while(|&&tick| tick > 0.8 * fresh).sum::<f64>() * 4096.0;
    let fills = written / ssd.capacity_bytes() as f64;
    assert!((1.0..1.6).contains(&fills), "the cliff comes after {fills} fills");
}

#[test]
fn memory_hooks_do_not_change_the_result() {
    static FETCHED: AtomicU64 = AtomicU64::new(0);
    let count = |_| _ = FETCHED.fetch_add(1, Ordering::Relaxed);
    let model = Model::named("nvme-tlc-2018").unwrap();
    let life = |memory| {
        let mut ssd = Ssd::new_in(&model, Scale::one_over(1024).unwrap(), 1, memory);
        fill(&mut ssd);
        let load = load(&ssd, Order::Random, 50, 16384, Until::Bytes(2 * ssd.capacity_bytes()));
        (run(&mut ssd, &load), ssd.state_hash())
    };
    let alone = life(Memory::default());
    assert_eq!(FETCHED.load(Ordering::Relaxed), 0);
    assert_eq!(life(Memory { fetch: Some(count), ..Memory::default() }), alone);
    assert!(FETCHED.load(Ordering::Relaxed) > 0, "nothing was fetched");
}

#[test]
fn ticks_cover_the_whole_run() {
    let mut ssd = small(64, 20.0, 256);
    let load = Load {
        tick_ns: SECOND / 7,
        ..load(&ssd, Order::Random, 50, 4096, Until::ForNs(SECOND + SECOND / 2))
    };
    let mut called = Vec::new();
    let tally = ssd.run(&load, &mut |tick| {
        called.push(*tick);
        true
    });
    assert_eq!(called, tally.ticks);
    assert!(tally.ticks.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
    assert_eq!(tally.ticks[0].start_ns, tally.start_ns);
    assert_eq!(tally.ticks.last().unwrap().end_ns, tally.end_ns);
    assert_eq!(tally.elapsed_ns(), SECOND + SECOND / 2);
    let (reads, writes): (u64, u64) =
        tally.ticks.iter().fold((0, 0), |sum, tick| (sum.0 + tick.read_ios, sum.1 + tick.write_ios));
    assert_eq!((reads, writes), (tally.read.ios, tally.write.ios));
    assert_eq!(reads, tally.read.latency.count());
    let latency: u64 = tally.ticks.iter().map(|tick| tick.latency_sum_ns).sum();
    assert_eq!(u128::from(latency), tally.read.latency.sum() + tally.write.latency.sum());
    assert_eq!(tally.read.bytes, reads * 4096);
}

#[test]
fn a_callback_stops_the_run_at_its_tick() {
    let mut ssd = small(64, 20.0, 256);
    let load =
        Load { tick_ns: SECOND / 10, ..load(&ssd, Order::Random, 0, 4096, Until::ForNs(100 * SECOND)) };
    let mut ticks = 0;
    let tally = ssd.run(&load, &mut |_| {
        ticks += 1;
        ticks < 3
    });
    assert!(tally.stopped);
    assert_eq!((tally.ticks.len(), tally.elapsed_ns()), (3, 3 * (SECOND / 10)));
    ssd.check().unwrap();
}

#[test]
fn a_timed_run_waits_for_its_completions() {
    let mut ssd = small(64, 20.0, 256);
    let short = Load { min_completions: 500, ..load(&ssd, Order::Random, 0, 4096, Until::ForNs(1000)) };
    let tally = run(&mut ssd, &short);
    assert_eq!(tally.write.ios, 500);
    assert!(tally.elapsed_ns() > 1000);
    let long = Load { until: Until::ForNs(SECOND), ..short };
    assert_eq!(run(&mut ssd, &long).elapsed_ns(), SECOND);
}

#[test]
fn idle_time_and_purge_restore_speed() {
    let mut ssd = small(256, 20.0, 1024);
    let burst = |ssd: &mut Ssd| {
        let load = load(ssd, Order::Random, 0, 4096, Until::ForNs(SECOND / 2));
        run(ssd, &load).iops()
    };
    let fresh = burst(&mut ssd);
    churn(&mut ssd, 6);
    let steady = burst(&mut ssd);
    assert!(fresh > 2.5 * steady, "fresh {fresh}, steady {steady}");

    ssd.idle(SECOND / 20); // less than the idle delay
    assert!(near(burst(&mut ssd), steady, 10.0));
    ssd.idle(30 * SECOND);
    let rested = burst(&mut ssd);
    assert!(rested > 1.5 * steady, "rested {rested}, steady {steady}");
    churn(&mut ssd, 2);
    let again = burst(&mut ssd);
    assert!(near(again, steady, 5.0), "{again} after idle time, {steady} before");

    ssd.purge();
    assert!(near(burst(&mut ssd), fresh, 1.0));
    ssd.check().unwrap();
}

#[test]
fn trim_makes_room() {
    let mut ssd = small(256, 10.0, 1024);
    churn(&mut ssd, 5);
    let amplification = |ssd: &mut Ssd| {
        let before = ssd.health();
        churn(ssd, 1);
        ssd.health().since(&before).write_amplification().unwrap()
    };
    let full = amplification(&mut ssd);
    let half = ssd.capacity_bytes() / 2;
    ssd.trim(half, half);
    ssd.check().unwrap();
    let lower = stdx::access::Span::contiguous(0, half);
    let inside = Load { span: lower, ..load(&ssd, Order::Random, 0, 4096, Until::Bytes(4 * half)) };
    let before = ssd.health();
    run(&mut ssd, &inside);
    let trimmed = ssd.health().since(&before).write_amplification().unwrap();
    assert!(full > 3.5 && trimmed < 1.6, "full {full}, half trimmed {trimmed}");
}

#[test]
fn reads_and_writes_share_one_bottleneck() {
    let mut ssd = small(256, 20.0, 1024);
    fill(&mut ssd);
    churn(&mut ssd, 5);
    let mut cell = |read_percent: u8| {
        let load = load(&ssd, Order::Random, read_percent, 4096, Until::ForNs(3 * SECOND));
        run(&mut ssd, &load).iops()
    };
    let (read, write) = (cell(100), cell(0));
    for percent in [35, 65] {
        let r = f64::from(percent) / 100.0;
        let expected = 1.0 / ((1.0 - r) / write + r / read);
        let measured = cell(percent);
        println!("{percent} % reads: {measured:.0}, harmonic {expected:.0}");
        assert!(near(measured, expected, 25.0), "{percent} % reads: {measured}, harmonic {expected}");
    }
}

#[test]
fn a_smaller_drive_shows_the_same_numbers() {
    let model = Model::named("sas-slc-2011").unwrap();
    let cells = |n: u32| {
        let mut ssd = Ssd::new(&model, Scale::one_over(n).unwrap(), 1);
        let mut values = vec![churn(&mut ssd, 3).iops()];
        for read_percent in [0, 65, 100] {
            for block in [4096, 131_072] {
                let minute = Until::ForNs(60 * SECOND / u64::from(n));
                let load =
                    Load { min_completions: 640, ..load(&ssd, Order::Random, read_percent, block, minute) };
                values.push(run(&mut ssd, &load).iops());
            }
        }
        values
    };
    let (large, small) = (cells(32), cells(64));
    for (a, b) in large.iter().zip(&small) {
        assert!(near(*a, *b, 5.0), "1/32 {large:.0?}, 1/64 {small:.0?}");
    }
}

#[test]
fn the_smallest_scale_still_works() {
    for (name, _) in MODELS {
        let model = Model::named(name).unwrap();
        let mut ssd = Ssd::new(&model, Scale::one_over(Scale::MAX).unwrap(), 1);
        assert!(ssd.effective_op() * 100.0 >= model.geometry.effective_op_percent, "{name}");
        churn(&mut ssd, 3);
        ssd.idle(SECOND);
        ssd.check().unwrap();
    }
}

#[test]
fn small_writes_cost_a_read() {
    let mut ssd = small(64, 20.0, 256);
    churn(&mut ssd, 4);
    let mut cell = |block: u32| {
        let load = load(&ssd, Order::Random, 0, block, Until::ForNs(2 * SECOND));
        run(&mut ssd, &load).iops()
    };
    let (whole, part) = (cell(4096), cell(512));
    assert!(part < 0.95 * whole && part > 0.3 * whole, "4096 B {whole}, 512 B {part}");
    // Sequential writes are merged in the buffer instead.
    let ordered = Load { threads: 1, ..load(&ssd, Order::Sequential, 0, 512, Until::Bytes(4 << 20)) };
    let before = ssd.health();
    run(&mut ssd, &ordered);
    let amplification = ssd.health().since(&before).write_amplification().unwrap();
    assert!(amplification < 3.5, "{amplification}");
}

#[test]
fn the_latency_of_a_single_command_is_the_sum_of_its_parts() {
    let mut ssd = small(64, 20.0, 256);
    fill(&mut ssd);
    ssd.idle(SECOND);
    let single =
        Load { threads: 1, queue_depth: 1, ..load(&ssd, Order::Random, 100, 4096, Until::ForNs(SECOND)) };
    let latency = run(&mut ssd, &single).read.latency;
    // In us: controller 2.2, sensing 50, channel 40.96, link 7.447, fixed latency 20.
    assert_eq!((latency.min(), latency.max()), (Some(120_607), Some(120_607)));
}

#[test]
fn every_model_reads_and_names_itself() {
    for (name, _) in MODELS {
        let model = Model::named(name).unwrap();
        assert_eq!(model.name, *name);
        assert!(model.version > 0 && !model.misfits.is_empty(), "{name}");
    }
    let unknown = Model::named("sas-slc-1999").unwrap_err().to_string();
    assert!(unknown.contains("sas-slc-2011") && unknown.contains("sata-mlc-2011"), "{unknown}");
}

#[test]
fn an_error_in_a_model_names_the_key() {
    let good = MODELS[0].1;
    let wrong = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        Model::from_toml(&good.replacen(from, to, 1)).unwrap_err().to_string()
    };
    let message = wrong("map_unit_bytes = 4096", "map_unit_bytes = 5000");
    assert!(message.contains("geometry.map_unit_bytes") && message.contains("power of two"), "{message}");
    let message = wrong("map_unit_bytes", "map_unit_byte");
    assert!(message.contains("map_unit_byte") && message.contains("expected"), "{message}");
    let message = wrong("channels = 8", "channels = \"many\"");
    assert!(message.contains("in [geometry]: channels: invalid type"), "{message}");
    let message = wrong("link_full_duplex = true", "");
    assert!(message.contains("link_full_duplex"), "{message}");
}
