//! The mapping and the collector: invariants under random commands, write amplification, determinism.

mod common;

use common::{SECOND, churn, fill, load, run, small};
use nandsim::{Load, Ssd, Until, VictimPolicy};
use proptest::prelude::*;
use stdx::access::{Order, Span};

/// a / (a + W0(-a e^-a)) is the write amplification of uniform random writes, with a = 1 + spare share.
fn closed_form(spare: f64) -> f64 {
    let a = 1.0 + spare;
    let z = -a * (-a).exp();
    let mut w = 0.0_f64;
    for _ in 0..200 {
        let e = w.exp();
        w -= (w * e - z) / (e * (w + 1.0));
    }
    a / (a + w)
}

#[test]
fn write_amplification_is_the_closed_form() {
    for percent in [7.0, 15.0, 28.0] {
        let mut ssd = small(1024, percent, 1024);
        fill(&mut ssd);
        churn(&mut ssd, 6);
        let before = ssd.health();
        churn(&mut ssd, 3);
        let measured = ssd.health().since(&before).write_amplification().unwrap();
        let expected = closed_form(ssd.effective_op());
        let deviation = 100.0 * (measured / expected - 1.0);
        println!("OP {percent} %: {measured:.3}, closed form {expected:.3}, {deviation:+.2} %");
        assert!((-6.0..=1.0).contains(&deviation), "OP {percent} %: {measured} is {deviation:+.2} % off");
        ssd.check().unwrap();
    }
}

/// The closed form is the limit with FIFO collection.
#[test]
fn write_amplification_of_fifo_is_the_closed_form_within_2_5_percent() {
    for percent in [7.0, 10.0, 15.0, 20.0, 28.0, 40.0, 60.0, 100.0] {
        let mut model = common::small_model(512, percent, 1024);
        model.firmware.victim_policy = VictimPolicy::Fifo;
        let mut ssd = Ssd::new(&model, nandsim::Scale::FULL, 1);
        fill(&mut ssd);
        churn(&mut ssd, 5);
        let before = ssd.health();
        churn(&mut ssd, 3);
        let measured = ssd.health().since(&before).write_amplification().unwrap();
        let expected = closed_form(ssd.effective_op());
        let deviation = 100.0 * (measured / expected - 1.0);
        println!("OP {percent} %: {measured:.3}, closed form {expected:.3}, {deviation:+.2} %");
        assert!(deviation.abs() <= 2.5, "OP {percent} %: {measured} is {deviation:+.2} % off");
        ssd.check().unwrap();
    }
}

#[test]
fn a_window_lies_between_fifo_and_greedy() {
    let amplification = |policy: VictimPolicy| {
        let mut model = common::small_model(256, 10.0, 1024);
        (model.firmware.victim_policy, model.firmware.victim_window) = (policy, 64);
        let mut ssd = Ssd::new(&model, nandsim::Scale::FULL, 1);
        churn(&mut ssd, 6);
        let before = ssd.health();
        churn(&mut ssd, 3);
        ssd.health().since(&before).write_amplification().unwrap()
    };
    let [fifo, windowed, greedy] =
        [VictimPolicy::Fifo, VictimPolicy::Windowed, VictimPolicy::Greedy].map(amplification);
    assert!(greedy < windowed && windowed < fifo, "greedy {greedy}, windowed {windowed}, FIFO {fifo}");
}

#[test]
fn same_seed_same_drive() {
    let history = |seed: u64| {
        let mut ssd = Ssd::new(&common::small_model(64, 10.0, 128), nandsim::Scale::FULL, seed);
        let mut tallies = vec![fill(&mut ssd), churn(&mut ssd, 2)];
        ssd.idle(SECOND);
        let mixed = Load { tick_ns: SECOND / 10, ..load(&ssd, Order::Random, 65, 512, Until::ForNs(SECOND)) };
        tallies.push(run(&mut ssd, &mixed));
        (ssd.state_hash(), tallies)
    };
    let (first, again, other) = (history(1), history(1), history(2));
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
}

#[test]
fn after_a_purge_everything_repeats() {
    let mut ssd = small(64, 10.0, 128);
    let mut round = || {
        ssd.purge();
        let start = ssd.now_ns();
        let write = |ssd: &mut Ssd, order, block, seed| {
            let until = Until::Bytes(2 * ssd.capacity_bytes());
            run(ssd, &Load { seed, ..load(ssd, order, 0, block, until) })
        };
        let fill = write(&mut ssd, Order::Sequential, 128 << 10, 1);
        let churn = write(&mut ssd, Order::Random, 4096, 2);
        ssd.check().unwrap();
        (fill.end_ns - start, churn.end_ns - start, churn.write)
    };
    assert_eq!(round(), round());
}

#[derive(Debug, Clone)]
enum Step {
    Run {
        order: Order,
        read_percent: u8,
        block: u32,
        threads: u16,
        depth: u16,
        from: u64,
        ios: u64,
        timed: bool,
    },
    Trim {
        from: u64,
        length: u64,
    },
    Idle(u64),
    Purge,
}

fn step() -> impl Strategy<Value = Step> {
    let run = (
        prop_oneof![3 => Just(Order::Random), 1 => Just(Order::Sequential)],
        prop_oneof![2 => Just(0u8), 1 => Just(65), 1 => Just(100)],
        prop_oneof![Just(512u32), Just(4096), Just(6144), Just(65_536), Just(1 << 20)],
        1u16..4,
        1u16..40,
        0u64..64,
        1u64..20_000,
        any::<bool>(),
    );
    prop_oneof![
        12 => run.prop_map(|(order, read_percent, block, threads, depth, from, ios, timed)| Step::Run {
            order, read_percent, block, threads, depth, from: from * 512, ios, timed,
        }),
        3 => (0u64..40_000_000, 0u64..40_000_000).prop_map(|(from, length)| Step::Trim { from, length }),
        3 => (0u64..5 * SECOND).prop_map(Step::Idle),
        1 => Just(Step::Purge),
    ]
}

fn take(ssd: &mut Ssd, step: &Step) {
    match *step {
        Step::Run { order, read_percent, block, threads, depth, from, ios, timed } => {
            let length = (ssd.capacity_bytes() - from) / u64::from(block) * u64::from(block);
            let bytes =
                (ios * u64::from(block)).min(3 * ssd.capacity_bytes()) / u64::from(block) * u64::from(block);
            let load = Load {
                threads,
                queue_depth: depth,
                span: Span::contiguous(from, length),
                seed: ios,
                ..load(ssd, order, read_percent, block, Until::Bytes(bytes))
            };
            let load = if timed { Load { until: Until::ForNs(ios * 10_000), ..load } } else { load };
            let before = ssd.now_ns();
            let tally = run(ssd, &load);
            assert_eq!(tally.start_ns, before);
            if timed {
                assert_eq!(tally.elapsed_ns(), ios * 10_000);
                assert!(ssd.now_ns() >= tally.end_ns);
            } else {
                assert_eq!(ssd.now_ns(), tally.end_ns);
                assert_eq!(tally.read.bytes + tally.write.bytes, bytes);
            }
        }
        Step::Trim { from, length } => ssd.trim(from, length),
        Step::Idle(ns) => {
            let before = ssd.now_ns();
            ssd.idle(ns);
            assert_eq!(ssd.now_ns(), before + ns);
        }
        Step::Purge => ssd.purge(),
    }
}

/// The mapping table costs die time per command, regardless of the command's length.
#[test]
fn the_mapping_table_costs_every_write_command_the_same() {
    let written = |map_bytes_per_write: f64, block_bytes: u32| {
        let mut model = common::small_model(64, 50.0, 64);
        model.firmware.map_bytes_per_write = map_bytes_per_write;
        let mut ssd = Ssd::new(&model, nandsim::Scale::FULL, 1);
        let until = Until::Bytes(16 << 20);
        let writes = Load { threads: 1, ..load(&ssd, Order::Random, 0, block_bytes, until) };
        let rate = run(&mut ssd, &writes).iops();
        ssd.check().unwrap();
        (ssd.health().nand_written_bytes, rate)
    };
    for (block_bytes, share) in [(4096, 0.0..0.7), (131_072, 0.9..1.0)] {
        let ((without, fast), (with, slow)) = (written(0.0, block_bytes), written(4096.0, block_bytes));
        let commands = u64::from((16 << 20) / block_bytes);
        assert_eq!(with - without, 4096 * commands, "{block_bytes}");
        assert!(share.contains(&(slow / fast)), "{block_bytes}: {slow} instead of {fast} IOPS");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_after_random_commands(steps in prop::collection::vec(step(), 1..25), op in 1u32..40, burst in any::<bool>()) {
        let mut model = common::small_model(64, f64::from(op), 64);
        model.firmware.collect_burst_map_units = if burst { 100 } else { 1 };
        model.timing.die_held_through_transfer = op % 2 == 0;
        model.firmware.map_bytes_per_write = if op % 3 == 0 { 4096.0 } else { 0.0 };
        let mut ssd = Ssd::new(&model, nandsim::Scale::FULL, 3);
        for step in &steps {
            take(&mut ssd, step);
            if let Err(broken) = ssd.check() {
                prop_assert!(false, "after {:?}: {}", step, broken);
            }
        }
    }
}
