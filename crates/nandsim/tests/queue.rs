//! Individual commands: open loops, and a closed loop on the queue, which must match [`Ssd::run`] bit for bit.

mod common;

use common::{SECOND, churn, fill, load, small};
use nandsim::{
    Cache, Command, Direction, Failed, Faults, Hybrid, Load, LostCommands, MediaFault, Model, Queue, Scale,
    Ssd, Tally, Throttling, Until, VictimPolicy,
};
use proptest::prelude::*;
use stdx::Rng;
use stdx::access::{Order, Stream, share};
use stdx::histogram::coarse::Columns;

/// Reimplements [`Ssd::run`] on top of the queue.
struct Loop {
    streams: Vec<(Stream, u64)>,
    depth: usize,
    block: u32,
}

impl Loop {
    fn new(load: &Load) -> Self {
        let ios = match load.until {
            Until::ForNs(_) => None,
            Until::Bytes(bytes) => Some(bytes / u64::from(load.block_bytes)),
        };
        let stream = |thread: u16| {
            let stream = Stream::new(load.seed, thread, load.threads, &load.pattern());
            let part = ios.map(|ios| share(ios, thread, load.threads));
            (stream, part.map_or(u64::MAX, |part| part.end - part.start))
        };
        Self {
            streams: (0..load.threads).map(stream).collect(),
            depth: load.queue_depth.into(),
            block: load.block_bytes,
        }
    }

    fn submit(&mut self, queue: &mut Queue<'_>, tag: usize) {
        let (stream, left) = &mut self.streams[tag / self.depth];
        if *left > 0 {
            *left -= 1;
            let access = stream.next_access();
            let (read, offset_bytes, length_bytes) = (access.read, access.offset_bytes, self.block);
            queue.submit(tag, Command { read, offset_bytes, length_bytes });
        }
    }
}

fn run_by_queue(ssd: &mut Ssd, load: &Load) -> Tally {
    let start_ns = ssd.now_ns();
    let tags = usize::from(load.threads) * usize::from(load.queue_depth);
    let mut closed = Loop::new(load);
    let (mut read, mut write) = (Direction::default(), Direction::default());
    let deadline = match load.until {
        Until::ForNs(ns) => start_ns + ns,
        Until::Bytes(_) => u64::MAX,
    };
    let mut failed: Option<Failed> = None;
    let mut queue = ssd.queue(tags);
    (0..tags).for_each(|tag| closed.submit(&mut queue, tag));
    loop {
        let enough = read.ios + write.ios >= load.min_completions;
        if enough && queue.now_ns() > deadline {
            break;
        }
        let until = if enough { deadline } else { u64::MAX };
        let Some(done) = queue.next_completion(until) else { break };
        if let Some(failure) = done.failed {
            match &mut failed {
                Some(failed) => failed.count(failure.cause),
                None => failed = Some(Failed::first(failure)),
            }
            closed.streams.iter_mut().for_each(|(_, left)| *left = 0);
            continue;
        }
        let direction = if done.command.read { &mut read } else { &mut write };
        direction.ios += 1;
        direction.bytes += u64::from(done.command.length_bytes);
        direction.latency.record(done.completed_ns - done.submitted_ns);
        closed.submit(&mut queue, done.tag);
    }
    Tally {
        start_ns,
        end_ns: queue.now_ns(),
        read,
        write,
        ticks: Vec::new(),
        times: Columns::default(),
        stopped: false,
        failed,
    }
}

/// Returns a model with a random set of features.
fn varied(rng: &mut Rng) -> Model {
    let mut model = model(rng.percent(40), rng.percent(50));
    let (firmware, timing) = (&mut model.firmware, &mut model.timing);
    model.geometry.map_unit_bytes = if rng.percent(30) { 8192 } else { 4096 };
    let policies = [VictimPolicy::Greedy, VictimPolicy::Fifo, VictimPolicy::Windowed, VictimPolicy::Ring];
    firmware.victim_policy = policies[rng.below(4) as usize];
    firmware.victim_window = 8;
    firmware.ring_skips_percent = if rng.percent(50) { 0.0 } else { 60.0 };
    firmware.collect_burst_map_units = if rng.percent(70) { 1 } else { 50 };
    firmware.volatile_buffer = rng.percent(50);
    firmware.map_bytes_per_write = if rng.percent(50) { 0.0 } else { 900.0 };
    timing.modify_in_background = rng.percent(40);
    timing.read_ahead = rng.percent(40);
    timing.link_full_duplex = rng.percent(50);
    model.hybrid = (model.cache.is_none() && rng.percent(50)).then(|| Hybrid {
        granule_bytes: model.geometry.map_unit_bytes << (1 + rng.below(3)),
        log_bytes: 4 << 20 << rng.below(3),
        modify_us: 300.0,
        merge_us: 200.0,
    });
    model
}

fn some_faults(rng: &mut Rng, ssd: &Ssd) -> Faults {
    let (now, capacity) = (ssd.now_ns(), ssd.capacity_bytes());
    let start = rng.below(capacity);
    let media = MediaFault {
        bytes: start..start + 1 + rng.below(1 << 18),
        reads: rng.percent(70),
        writes: rng.percent(50),
        retry_ns: rng.below(SECOND / 10),
    };
    let lost = LostCommands {
        from_ns: now + rng.below(SECOND / 50),
        commands: 1 + rng.below(5) as u32,
        timeout_ns: SECOND,
    };
    let slow = Throttling { times_ns: now..now + SECOND / 20, bytes_per_second: 20_000_000 };
    Faults {
        data: Vec::new(),
        media: if rng.percent(50) { vec![media] } else { Vec::new() },
        lost: if rng.percent(40) { vec![lost] } else { Vec::new() },
        slow: if rng.percent(40) { vec![slow] } else { Vec::new() },
        removed_at_ns: rng.percent(20).then(|| now + rng.below(SECOND / 20)),
        power_lost_at_ns: rng.percent(20).then(|| now + rng.below(SECOND / 20)).into_iter().collect(),
    }
}

fn model(cached: bool, suspends: bool) -> Model {
    let mut model = common::small_model(64, 12.0, 64);
    model.timing.program_suspend_us = if suspends { 10.0 } else { 0.0 };
    model.timing.die_held_through_transfer = !suspends;
    model.thermal.throttle_c = if suspends { 32.5 } else { 0.0 };
    model.cache = cached.then_some(Cache {
        bytes: 6 << 20,
        program_us: 60.0,
        read_us: 20.0,
        fold_from_percent: 20.0,
        fold_below_programs: 3,
    });
    model
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_and_the_closed_loop_agree_bit_for_bit(
        loads in prop::collection::vec(
            (0u8..=100, prop_oneof![Just(512u32), Just(4096), Just(65_536)], 1u16..4, 1u16..33, 1u64..3000, 0u8..3, any::<bool>()),
            1..8,
        ),
        seed: u64,
    ) {
        let mut rng = Rng::from_seed(seed);
        let model = varied(&mut rng);
        let [mut fast, mut slow] = [1, 1].map(|seed| Ssd::new(&model, Scale::FULL, seed));
        for ssd in [&mut fast, &mut slow] {
            fill(ssd);
        }
        let switch = rng.percent(60);
        for ssd in [&mut fast, &mut slow] {
            ssd.set_write_cache(!switch);
        }
        for (read_percent, block, threads, queue_depth, ios, until, sequential) in loads {
            let order = if sequential { Order::Sequential } else { Order::Random };
            let until = match until {
                0 => Until::Bytes(ios * u64::from(block)),
                _ => Until::ForNs(ios * 10_000),
            };
            let min_completions = if matches!(until, Until::Bytes(_)) { 0 } else { ios / 2 };
            let load = Load { threads, queue_depth, seed: ios, min_completions, ..load(&fast, order, read_percent, block, until) };
            // Faults are injected only in byte-limited runs, which wait for every command. A timed run does not
            // report failures after its deadline.
            if matches!(load.until, Until::Bytes(_)) && rng.percent(60) {
                let faults = some_faults(&mut rng, &fast);
                for ssd in [&mut fast, &mut slow] {
                    ssd.inject_faults(faults.clone());
                }
            }
            let tally = fast.run(&load, &mut |_| true);
            prop_assert_eq!(&tally, &run_by_queue(&mut slow, &load));
            prop_assert_eq!(fast.state_hash(), slow.state_hash());
            prop_assert_eq!(fast.smart(), slow.smart());
            slow.check().unwrap();
            for ssd in [&mut fast, &mut slow] {
                ssd.inject_faults(Faults::default());
                ssd.power_cycle();
            }
            fast.idle(ios * 50_000);
            slow.idle(ios * 50_000);
        }
    }
}

#[test]
fn time_passes_between_commands() {
    let mut ssd = small(64, 20.0, 256);
    fill(&mut ssd);
    ssd.idle(SECOND);
    let start = ssd.now_ns();
    let mut queue = ssd.queue(2);
    assert_eq!(queue.next_completion(start + SECOND), None);
    assert_eq!(queue.now_ns(), start + SECOND);
    let read = Command { read: true, offset_bytes: 8192, length_bytes: 4096 };
    queue.submit(1, read);
    let done = queue.next_completion(u64::MAX).unwrap();
    assert_eq!((done.tag, done.command, done.submitted_ns, done.failed), (1, read, start + SECOND, None));
    assert_eq!(done.completed_ns - done.submitted_ns, 120_607);
    assert_eq!((queue.in_flight(), queue.next_completion(u64::MAX)), (0, None));
}

/// Below the drive's maximum rate, commands in an open loop do not queue; above it, latency grows without
/// bound.
#[test]
fn an_open_loop_shows_when_the_drive_is_overloaded() {
    let mut ssd = small(64, 20.0, 256);
    churn(&mut ssd, 3);
    let mean_latency = |ssd: &mut Ssd, gap_ns: u64| {
        ssd.idle(SECOND);
        let mut stream =
            Stream::new(1, 0, 1, &load(ssd, Order::Random, 100, 4096, Until::ForNs(SECOND)).pattern());
        let mut queue = ssd.queue(4000);
        let (start, mut sum) = (queue.now_ns(), 0);
        for tag in 0..4000 {
            let arrival = start + tag as u64 * gap_ns;
            while let Some(done) = queue.next_completion(arrival) {
                sum += done.completed_ns - done.submitted_ns;
            }
            let offset_bytes = stream.next_access().offset_bytes;
            queue.submit(tag, Command { read: true, offset_bytes, length_bytes: 4096 });
        }
        while let Some(done) = queue.next_completion(u64::MAX) {
            sum += done.completed_ns - done.submitted_ns;
        }
        sum / 4000
    };
    let (slow, fast) = (mean_latency(&mut ssd, 200_000), mean_latency(&mut ssd, 10_000));
    assert!(slow < 150_000 && fast > 10 * slow, "{slow} ns at 5000 a second, {fast} ns at 100,000");
}
