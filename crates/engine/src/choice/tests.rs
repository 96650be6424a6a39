use record::{Access, Arrivals, DataPattern, Process, Range, Regime, Syncs};

use super::*;

/// Rounds with these IOPS, this number of outstanding I/Os and this CPU time per I/O.
fn engine(engine: IoEngine, iops: [u64; 3], outstanding: u64, cpu_ns_per_io: u64) -> MeasuredEngine {
    let round =
        |iops| MeasuredRound { ios: 1000, iops, outstanding_milli: outstanding * 1000, cpu_ns_per_io };
    MeasuredEngine { engine, rounds: iops.map(round).to_vec() }
}

fn workload(until: Until) -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 100,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 2,
        queue_depth: 16,
        range: Range::first(64 << 20),
        from_block: 3,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until,
        seed: 7,
        regime: Regime::default(),
        commands: None,
    }
}

#[test]
fn the_first_engine_is_used_unless_another_is_clearly_better_in_every_round() {
    let uring = |iops, outstanding| engine(IoEngine::IoUring, iops, outstanding, 3000);
    let aio = |iops, outstanding, cpu_ns| engine(IoEngine::Libaio, iops, outstanding, cpu_ns);
    for (what, first, second, expected) in [
        ("faster", uring([100; 3], 32), aio([105; 3], 32, 3000), 1),
        ("faster on average", uring([100; 3], 32), aio([300, 300, 104], 32, 3000), 0),
        ("faster, but never twice in a row", uring([100, 200, 100], 32), aio([200, 100, 200], 32, 3000), 0),
        ("faster, at a smaller depth", uring([100; 3], 32), aio([160; 3], 4, 3000), 1),
        ("as fast", uring([100; 3], 32), aio([104; 3], 32, 3000), 0),
        ("deeper", uring([100; 3], 28), aio([97; 3], 29, 3000), 1),
        ("deeper, but slower", uring([100; 3], 28), aio([96; 3], 29, 3000), 0),
        ("deeper, but both keep the depth", uring([100; 3], 29), aio([100; 3], 32, 3000), 0),
        ("cheaper", uring([100; 3], 32), aio([97; 3], 32, 2400), 1),
        ("hardly cheaper", uring([100; 3], 32), aio([100; 3], 32, 2401), 0),
        ("cheaper, but at a smaller depth", uring([100; 3], 32), aio([100; 3], 30, 100), 0),
        ("cheaper, but slower", uring([100; 3], 32), aio([96; 3], 32, 100), 0),
    ] {
        assert_eq!(best(&[first, second], 32), expected, "{what}");
    }
}

#[test]
fn each_engine_is_compared_with_the_best_one_before_it() {
    let three = |second, third| {
        let engines = [
            engine(IoEngine::IoUring, [100; 3], 32, 3000),
            engine(IoEngine::Libaio, [second; 3], 32, 3000),
            engine(IoEngine::Threads, [third; 3], 32, 9000),
        ];
        best(&engines, 32)
    };
    assert_eq!((three(150, 155), three(150, 158), three(90, 105), three(90, 104)), (1, 2, 2, 0));
    assert_eq!(best(&[engine(IoEngine::IoUring, [1; 3], 1, 1)], 32), 0);
}

#[test]
fn incomplete_or_extreme_figures_choose_nothing() {
    let first = engine(IoEngine::IoUring, [1; 3], 32, 3000);
    let empty = MeasuredEngine { engine: IoEngine::Libaio, rounds: Vec::new() };
    assert_eq!(best(&[first.clone(), empty.clone()], 32), 0);
    assert_eq!(best(&[empty.clone(), empty.clone()], 32), 0);
    let mut short = engine(IoEngine::Libaio, [100; 3], 32, 10);
    short.rounds.pop();
    assert_eq!(best(&[first, short], 32), 0);
    let largest = engine(IoEngine::IoUring, [u64::MAX; 3], u64::MAX / 1000, u64::MAX);
    assert_eq!(best(&[largest.clone(), largest], u64::MAX), 0);
}

#[test]
fn measurements_take_a_small_part_of_the_load() {
    let limits = ChoiceLimits::default();
    let minute = slice(&workload(Until::DurationNs(60 * SECOND_NS)), 9, limits.total_ns, &limits).unwrap();
    assert_eq!(minute.amount_bytes, None);
    assert!(minute.length_ns * 9 <= 2 * SECOND_NS && minute.length_ns > 100_000_000, "{minute:?}");
    let short = slice(&workload(Until::DurationNs(5 * SECOND_NS)), 9, limits.total_ns, &limits).unwrap();
    assert!(short.length_ns * 9 <= SECOND_NS / 4, "{short:?}");
    for until in [Until::DurationNs(SECOND_NS), Until::AmountBytes(64 << 20)] {
        assert_eq!(slice(&workload(until), 9, limits.total_ns, &limits), Err(NotMeasured::Short));
    }
    let amount = slice(&workload(Until::AmountBytes(1 << 30)), 9, limits.total_ns, &limits).unwrap();
    assert_eq!(amount.amount_bytes, Some((1 << 30) / 20 / 9));
    let mut limited = workload(Until::AmountBytes(1 << 30));
    limited.regime.limit_ns = Some(SECOND_NS);
    assert_eq!(slice(&limited, 9, limits.total_ns, &limits), Err(NotMeasured::Short), "it may take a second");
}

#[test]
fn measurements_stay_within_the_load() {
    let slice = Slice { length_ns: 1000, amount_bytes: Some(1 << 20) };
    let load = workload(Until::AmountBytes(1 << 30));
    let mut seen = Vec::new();
    for index in 0..9 {
        let short = measurement(&load, slice, index, 9);
        assert_eq!((short.until, short.regime.limit_ns), (Until::AmountBytes(1 << 20), Some(1000)));
        assert_eq!((short.range, short.read_percent), (load.range, 100));
        assert!(
            !seen.contains(&(short.seed, short.from_block)) && short.seed != load.seed,
            "new data is read"
        );
        seen.push((short.seed, short.from_block));
        assert!(short.validate(64 << 20, 4096).is_ok());
    }
    for read_percent in [0, 50] {
        let load = Workload { read_percent, ..load.clone() };
        let short = measurement(&load, slice, 5, 9);
        let same = Workload { until: load.until, regime: load.regime, ..short };
        assert_eq!(same, load, "the first I/Os of the load itself");
    }
    let timed = measurement(&load, Slice { amount_bytes: None, ..slice }, 0, 9);
    assert_eq!((timed.until, timed.regime.limit_ns), (Until::DurationNs(1000), None));
}

#[test]
fn only_loads_without_side_effects_are_measured() {
    let plain = workload(Until::DurationNs(SECOND_NS));
    let of = |change: fn(&mut Workload)| {
        let mut workload = plain.clone();
        change(&mut workload);
        unmeasurable(&workload, false, false)
    };
    assert_eq!(of(|_| ()), None);
    assert_eq!(of(|load| load.read_percent = 0), None);
    assert_eq!(of(|load| load.queue_depth = 1), Some(NotMeasured::DepthOne));
    assert_eq!(of(|load| load.regime.verify = true), Some(NotMeasured::Verification));
    assert_eq!(of(|load| load.regime.trims = true), Some(NotMeasured::Trims));
    let rate = |load: &mut Workload| {
        load.regime.arrivals = Some(Arrivals { per_second: 10, divisor: 1, process: Process::Constant });
    };
    assert_eq!(of(rate), Some(NotMeasured::Schedule));
    let syncs = |load: &mut Workload| load.regime.syncs = Syncs { end_fsync: true, ..Syncs::NONE };
    assert_eq!(of(syncs), None, "a load that only reads has no syncs");
    let written = |load: &mut Workload| {
        load.read_percent = 50;
        load.regime.syncs = Syncs { end_fsync: true, ..Syncs::NONE };
    };
    assert_eq!(of(written), Some(NotMeasured::Syncs));
    assert_eq!(unmeasurable(&plain, true, false), Some(NotMeasured::Polling));
    assert_eq!(unmeasurable(&plain, false, true), Some(NotMeasured::Buffered));
}

#[test]
fn workloads_that_differ_only_in_place_and_seed_share_a_choice() {
    let load = workload(Until::DurationNs(SECOND_NS));
    let mut choices = Choices::default();
    choices.add(&load, NotMeasured::Short.choice());
    let moved =
        Workload { seed: 8, from_block: 0, range: Range { start_bytes: 4096, ..load.range }, ..load.clone() };
    assert!(choices.of(&load).is_some() && choices.of(&moved).is_none());
    assert!(choices.of_shape(&moved).is_some());
    assert!(choices.of_shape(&Workload { block_bytes: 8192, ..moved }).is_none());
}
