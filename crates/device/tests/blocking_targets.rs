//! Targets that may block: kernel threads issue the I/Os, and the engine waits for several completions at a
//! time. No completion may be lost.

mod support;

use device::OpenOptions;
use engine::Engine;
use record::{Arrivals, PathRemark, Process, Regime, Until, Workload};
use support::zram::Zram;
use support::{armed, finish, workload};

const SIZE: u64 = 16 << 20;

fn on_zram(device: &Zram) -> device::Armed {
    armed(&device.path, &OpenOptions { engine: Engine::IoUring, ..OpenOptions::default() })
}

/// If the engine waited for more completions than there are I/Os, it would wait forever. The last I/Os of a
/// fixed amount are therefore the critical case.
#[test]
fn amounts_are_exact_at_depths_below_and_above_the_number_of_helpers() {
    let Some(device) = Zram::new(SIZE) else { return };
    let mut target = on_zram(&device);
    for queue_depth in [1, 2, 7, 33, 64, 200] {
        for ios in [1, 3, 1001] {
            let until = Until::AmountBytes(ios * 4096);
            let request = Workload { queue_depth, read_percent: 50, until, ..workload(SIZE) };
            let segment = finish(&mut target, &request);
            assert_eq!(segment.read.ios + segment.write.ios, ios, "depth {queue_depth}");
            assert!(segment.io_path.remarks.contains(&PathRemark::KernelThreads), "{}", segment.io_path);
        }
    }
}

#[test]
fn time_and_depth_are_kept() {
    let Some(device) = Zram::new(SIZE) else { return };
    let mut target = on_zram(&device);
    let (queue_depth, length_ns) = (64, 300_000_000);
    let until = Until::DurationNs(length_ns);
    let request = Workload { queue_depth, threads: 2, read_percent: 100, until, ..workload(SIZE) };
    let segment = finish(&mut target, &request);
    assert_eq!(segment.end_ns - segment.start_ns, length_ns);
    // Little's law: the number of outstanding I/Os is the rate times the response time.
    let mean_s = segment.read.latency.mean().expect("reads") / 1e9;
    let outstanding = segment.iops() * mean_s;
    assert!((0.75 * 128.0..1.01 * 128.0).contains(&outstanding), "{outstanding} I/Os outstanding");
}

#[test]
fn an_open_loop_waits_for_each() {
    let Some(device) = Zram::new(SIZE) else { return };
    let mut target = on_zram(&device);
    let arrivals = Some(Arrivals { per_second: 2000, divisor: 1, process: Process::Constant });
    let until = Until::DurationNs(300_000_000);
    let request = Workload {
        queue_depth: 64,
        until,
        regime: Regime { arrivals, ..Regime::default() },
        ..workload(SIZE)
    };
    let iops = finish(&mut target, &request).iops();
    assert!((1900.0..=2100.0).contains(&iops), "{iops} IOPS");
}
