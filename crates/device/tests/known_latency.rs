//! The engine's results are accurate: this test measures a device whose rate is known.
//!
//! `qemu-storage-daemon` admits a fixed number of I/Os per second, evenly spaced. With a fixed number of
//! outstanding I/Os, each I/O takes that number divided by the rate (Little's law). This applies to the mean
//! and to the slowest I/O.

mod support;

use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use device::OpenOptions;
use record::{Segment, Until, Workload};
use support::storage_daemon::{Behaviour, StorageDaemon};
use support::{armed, finish, skip, workload};

const SIZE: u64 = 16 << 20;
const IOPS: u32 = 100;
/// Warm-up time, long enough to use up the burst that the device allows after idling.
const WARM_UP_NS: u64 = 500_000_000;
const LENGTH_NS: u64 = 2_000_000_000;
const WITHIN: f64 = 0.05;
const ATTEMPTS: u32 = 5;

/// Raises the priority of this process and its children above all others, if permitted (root). Otherwise,
/// scheduling delays would dominate the percentiles on a busy machine. The processes sleep most of the time.
fn go_first() {
    let process = std::process::id().to_string();
    let _ = Command::new("chrt").args(["--fifo", "--all-tasks", "--pid", "10", &process]).output();
}

fn is_near(ns: f64, known_ns: f64) -> bool {
    (ns / known_ns - 1.0).abs() <= WITHIN
}

/// Returns the 99th percentile of plain reads, without the engine.
fn plain_p99_ns(device: &str) -> f64 {
    let file = std::fs::OpenOptions::new().read(true).open(device).expect("a readable device");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advice");
    let mut buffer = [0; 4096];
    let mut times: Vec<f64> = (0..100u64)
        .map(|i| {
            // Bypass the page cache, because the engine uses direct I/O; every block is read only once.
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("advice");
            let begin = Instant::now();
            file.read_exact_at(&mut buffer, (i * 37 % 4096) * 4096).expect("a read");
            begin.elapsed().as_nanos() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[98]
}

/// Returns the first segment whose 99th percentile is within limits, or the last segment if none is. Also
/// returns the worst 99th percentile of plain reads. Plain reads follow each attempt, because the load on a
/// busy machine changes from second to second.
fn measured(
    target: &mut device::Armed,
    device: &str,
    request: &Workload,
    known_ns: f64,
) -> (Segment, Option<f64>) {
    finish(target, &Workload { until: Until::DurationNs(WARM_UP_NS), ..request.clone() });
    let mut worst_plain_ns = 0f64;
    for attempt in 1.. {
        let segment = finish(target, &Workload { until: Until::DurationNs(LENGTH_NS), ..request.clone() });
        let p99_ns = segment.read.latency.quantile(0.99).expect("I/Os");
        if is_near(p99_ns as f64, known_ns) {
            return (segment, None);
        }
        worst_plain_ns = worst_plain_ns.max(plain_p99_ns(device));
        if attempt == ATTEMPTS {
            return (segment, Some(worst_plain_ns));
        }
    }
    unreachable!("the last attempt returns")
}

#[test]
fn mean_and_99th_percentile_are_those_of_the_device() {
    go_first();
    let dir = support::directory();
    let behaviour = Behaviour { total_iops: IOPS, ..Behaviour::default() };
    let device = match StorageDaemon::start(dir.path(), SIZE, behaviour) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let mut target = armed(&device.device, &OpenOptions::default());
    // Inspecting the device may have used up its burst allowance.
    std::thread::sleep(Duration::from_millis(200));
    for queue_depth in [1, 4] {
        let request = Workload { read_percent: 100, queue_depth, ..workload(SIZE) };
        let known_ns = f64::from(queue_depth) / f64::from(IOPS) * 1e9;
        let (segment, plain_ns) = measured(&mut target, &device.device, &request, known_ns);
        let mean_ns = segment.read.latency.mean().expect("I/Os");
        let p99_ns = segment.read.latency.quantile(0.99);
        let seen =
            format!("depth {queue_depth}: mean {mean_ns:.0} ns, p99 {p99_ns:?} ns, known {known_ns:.0} ns");
        if let Some(plain_ns) = plain_ns {
            // On a busy machine, the program that serves the device is scheduled late. This delays the next I/O
            // and thus also changes the mean.
            let busy = !is_near(plain_ns, 1e9 / f64::from(IOPS));
            assert!(busy, "{seen}; plain reads keep to {plain_ns:.0} ns");
            skip(&format!("{seen}: this machine is too busy, also for plain reads"));
            continue;
        }
        assert!(is_near(mean_ns, known_ns), "{seen}");
        assert!(is_near(segment.iops(), f64::from(IOPS)), "{seen}: {} IOPS", segment.iops());
    }
}
