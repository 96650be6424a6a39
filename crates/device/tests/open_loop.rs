//! Open loops: scheduled arrivals, response times measured from the scheduled time, and ramps.

#[path = "open_loop/replayed.rs"]
mod replayed;
mod support;

use device::OpenOptions;
use engine::{Engine, Flow, LoadOutcome, StreamOptions, Tick};
use record::{Access, Arrivals, Process, Regime, Segment, Until, Workload};
use support::storage_daemon::{Behaviour, StorageDaemon};
use support::{armed, finish, skip, workload};

const SIZE: u64 = 64 << 20;
const SECOND_NS: u64 = 1_000_000_000;
const ENGINES: [Engine; 4] = [Engine::Auto, Engine::IoUring, Engine::Libaio, Engine::Threads];

fn paced(per_second: u32, process: Process) -> Regime {
    Regime { arrivals: Some(Arrivals { per_second, divisor: 1, process }), ..Regime::default() }
}

fn simulated() -> device::Armed {
    let options = OpenOptions { scale: Some("1/64".into()), sim_seed: 3, ..OpenOptions::default() };
    device::open("sim:sas-slc-2011", &options).expect("a simulated drive").arm(None).expect("nothing to lose")
}

fn mean_ms(segment: &Segment) -> f64 {
    segment.mean_latency_ms().expect("I/O")
}

#[test]
fn the_rate_is_kept_by_every_engine_at_every_depth() {
    for engine in ENGINES {
        for (queue_depth, threads) in [(1, 1), (8, 2)] {
            let file = support::file();
            let options = OpenOptions { size_bytes: Some(SIZE), engine, ..OpenOptions::default() };
            let mut target = armed(file.path().to_str().expect("a path"), &options);
            let regime = paced(2000, Process::Constant);
            // Each scheduled arrival is submitted, so a fixed amount takes as long as its schedule.
            let until = Until::AmountBytes(1000 * 4096);
            let segment =
                finish(&mut target, &Workload { queue_depth, threads, regime, until, ..workload(SIZE) });
            assert_eq!(segment.write.ios, 1000, "none is left out");
            let (milliseconds, slowest) = (segment.seconds() * 1e3, segment.max_latency_ms().expect("I/O"));
            let seen = format!("{milliseconds} ms for 1000 at 2000 per second, {slowest} ms, {engine:?}");
            assert!(milliseconds >= 499.0, "{seen}");
            // If a busy machine falls behind the schedule, the response times must show it.
            assert!(slowest >= (milliseconds - 500.0) * 0.98, "{seen}");
        }
    }
}

/// A 200 IOPS device under an offered load of 400 IOPS: after two seconds, the last I/O has waited for one
/// second. A busy machine may slow the device down further at any moment, so the assertions must be valid at
/// any speed.
#[test]
fn waiting_for_a_slow_device_is_part_of_the_response_time() {
    for queue_depth in [1, 4] {
        let dir = support::directory();
        let behaviour = Behaviour { total_iops: 200, ..Behaviour::default() };
        let daemon = match StorageDaemon::start(dir.path(), SIZE, behaviour) {
            Ok(daemon) => daemon,
            Err(reason) => return skip(&reason),
        };
        let mut target = armed(&daemon.device, &OpenOptions::default());
        let until = Until::AmountBytes(400 * 4096);
        let closed = finish(&mut target, &Workload { queue_depth, until, ..workload(SIZE) });
        let regime = paced(400, Process::Constant);
        let open = finish(&mut target, &Workload { queue_depth, until, regime, ..workload(SIZE) });
        assert_eq!(open.write.ios, 400);
        let (last, seconds) = (open.max_latency_ms().expect("I/O"), open.seconds());
        // The last I/O was due after one second. After idling, the device may admit a burst of a few dozen
        // I/Os.
        assert!(seconds > 1.8 && last >= (seconds * 1e3 - 1000.0) * 0.98, "{last} ms after {seconds} s");
        assert!(mean_ms(&open) > 400.0, "{} ms", mean_ms(&open));
        // A closed loop does not show this queueing: its response times reflect only its own depth.
        let depth_ms = |segment: &Segment| mean_ms(segment) * 400.0 / segment.seconds() / 1e3;
        let (within, beyond) = (depth_ms(&closed), depth_ms(&open));
        assert!(within <= f64::from(queue_depth) * 1.05, "{within} in flight on average");
        assert!(beyond > f64::from(queue_depth) * 2.0, "{beyond} in flight or waiting on average");
    }
}

#[test]
fn a_simulated_drive_shows_overload_as_well() {
    let mut target = simulated();
    let capacity = target.facts().capacity_bytes;
    let pass = Workload {
        access: Access::Sequential,
        block_bytes: 128 << 10,
        until: Until::AmountBytes(capacity),
        ..workload(capacity)
    };
    finish(&mut target, &pass);
    let reads = Workload {
        read_percent: 100,
        queue_depth: 1,
        until: Until::DurationNs(64 * SECOND_NS),
        ..workload(capacity)
    };
    let most = finish(&mut target, &reads).iops();
    let mut at = |share: f64, process: Process| {
        finish(&mut target, &Workload { regime: paced((most * share) as u32, process), ..reads.clone() })
    };
    let (half, twice) = (at(0.5, Process::Constant), at(2.0, Process::Constant));
    assert!((half.iops() / (most * 0.5) - 1.0).abs() < 0.01, "{} of {}", half.iops(), most * 0.5);
    // The drive is always idle when the next command arrives, so no command waits.
    assert!(mean_ms(&half) < 1.3e3 / most, "{} ms", mean_ms(&half));
    assert!((twice.iops() / most - 1.0).abs() < 0.05, "{} of {most}", twice.iops());
    let waited = twice.max_latency_ms().expect("I/O");
    assert!((waited / 500.0 - 1.0).abs() < 0.05, "the last one waits for half of the second: {waited} ms");
    // Independent arrivals queue even below the maximum rate. At half that rate, they wait for half a service
    // time on average.
    let poisson = at(0.5, Process::Poisson);
    assert!((poisson.iops() / half.iops() - 1.0).abs() < 0.1, "{}", poisson.iops());
    assert!(mean_ms(&poisson) > mean_ms(&half) * 1.3, "{} against {}", mean_ms(&poisson), mean_ms(&half));
    assert_eq!(at(0.5, Process::Poisson).workload.regime.arrivals, poisson.workload.regime.arrivals);
}

#[test]
fn a_ramp_is_not_counted() {
    let file = support::file();
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let mut target = armed(file.path().to_str().expect("a path"), &options);
    let regime = Regime { ramp_ns: 1_200_000_000, ..paced(500, Process::Constant) };
    let request = Workload { regime, until: Until::DurationNs(SECOND_NS), ..workload(SIZE) };
    let begin_ns = target.now_ns();
    let segment = finish(&mut target, &request);
    assert!(segment.start_ns >= begin_ns + 1_200_000_000);
    assert_eq!(segment.end_ns - segment.start_ns, SECOND_NS);
    assert!((400..=501).contains(&segment.write.ios), "{}", segment.write.ios);
    assert_eq!(segment.series.write_ios.iter().sum::<u64>(), segment.write.ios);
    let closed = Workload { regime: Regime { arrivals: None, ..regime }, ..request };
    let segment = finish(&mut target, &closed);
    assert_eq!((segment.end_ns - segment.start_ns, segment.series.write_ios.len()), (SECOND_NS, 1));
    assert_eq!(segment.write.latency.count(), segment.write.ios);
}

#[test]
fn amounts_end_at_their_time_limit_if_not_before() {
    let file = support::file();
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let mut target = armed(file.path().to_str().expect("a path"), &options);
    let limit = |ns| Regime { limit_ns: Some(ns), ..Regime::default() };
    let endless =
        Workload { regime: limit(200_000_000), until: Until::AmountBytes(1 << 50), ..workload(SIZE) };
    let segment = finish(&mut target, &endless);
    assert_eq!(segment.end_ns - segment.start_ns, 200_000_000);
    let short =
        Workload { regime: limit(60 * SECOND_NS), until: Until::AmountBytes(1 << 20), ..workload(SIZE) };
    let segment = finish(&mut target, &short);
    assert_eq!(segment.write.bytes, 1 << 20);
    assert!(segment.seconds() < 30.0);
}

#[test]
fn several_workloads_run_side_by_side() {
    let file = support::file();
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let mut target = armed(file.path().to_str().expect("a path"), &options);
    let check = |target: &mut device::Armed, capacity: u64| {
        let until = Until::DurationNs(300_000_000);
        let writes = Workload { until, regime: paced(1000, Process::Poisson), ..workload(capacity) };
        let reads = Workload { read_percent: 100, queue_depth: 2, until, seed: 2, ..workload(capacity) };
        let mut seen = [false; 2];
        let answers = target.run_concurrently(
            &[writes, reads],
            &[StreamOptions::default(); 2],
            &mut |index: usize, _: &Tick| {
                seen[index] = true;
                Flow::Continue
            },
        );
        let segments: Vec<Segment> = answers
            .expect("a run")
            .into_iter()
            .map(|answer| match answer.outcome {
                LoadOutcome::Finished(segment) => segment,
                LoadOutcome::Stopped => panic!("nobody stopped it"),
            })
            .collect();
        assert!(segments[0].write.ios > 0 && segments[0].read.ios == 0);
        assert!(segments[1].read.ios > 0 && segments[1].write.ios == 0);
        let overlap = segments.iter().map(|s| s.end_ns).min() > segments.iter().map(|s| s.start_ns).max();
        assert!(overlap, "they ran at the same time");
        segments
    };
    check(&mut target, SIZE);
    let mut simulated = simulated();
    let capacity = simulated.facts().capacity_bytes;
    let scaled = check(&mut simulated, capacity);
    assert_eq!(scaled[0].end_ns - scaled[0].start_ns, 300_000_000 / 64);
    assert_eq!(scaled[0].start_ns, scaled[1].start_ns);
}

#[test]
fn stopping_one_workload_stops_all() {
    let file = support::file();
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let mut target = armed(file.path().to_str().expect("a path"), &options);
    let until = Until::DurationNs(3600 * SECOND_NS);
    let slow = Workload { until, regime: paced(1, Process::Constant), ..workload(SIZE) };
    let busy = Workload { until, ..workload(SIZE) };
    let before_ns = target.now_ns();
    let answers = target
        .run_concurrently(&[slow, busy], &[StreamOptions::default(); 2], &mut |_, _| Flow::Stop)
        .expect("a run");
    assert!(answers.iter().all(|answer| answer.outcome == LoadOutcome::Stopped));
    assert!(target.now_ns() - before_ns < 60 * SECOND_NS, "not the requested hour");
}
