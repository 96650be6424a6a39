//! The engine's I/O loop does not allocate: a hundred times as many I/Os cause no additional allocations.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Engine, LoadOutcome};
use record::{Arrivals, Process, Regime, Syncs, Until, Workload};
use support::{Opened, opened, workload};

const SIZE: u64 = 16 << 20;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: all calls are forwarded to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns closed and open loops, with and without verification and syncs.
fn kinds() -> Vec<(&'static str, Workload)> {
    let plain = Workload { read_percent: 50, threads: 2, queue_depth: 8, ..workload(SIZE) };
    let arrivals = Some(Arrivals { per_second: 100_000, divisor: 1, process: Process::Poisson });
    let regime = |arrivals, verify| Regime { arrivals, verify, ..Regime::default() };
    let syncs = Syncs { fsync_writes: 90, fdatasync_writes: 70, ..Syncs::NONE };
    // Verification requires a single thread.
    let checked = Workload { threads: 1, ..plain.clone() };
    vec![
        ("open", Workload { regime: regime(arrivals, false), ..plain.clone() }),
        ("checked", Workload { regime: regime(None, true), ..checked.clone() }),
        ("open and checked", Workload { regime: regime(arrivals, true), ..checked.clone() }),
        // The file has no stamps, so each block read is a mismatch.
        ("checked reads", Workload { read_percent: 100, regime: regime(None, true), ..checked }),
        ("synced", Workload { regime: Regime { syncs, ..Regime::default() }, ..plain.clone() }),
        (
            "open and synced",
            Workload { regime: Regime { syncs, ..regime(arrivals, false) }, ..plain.clone() },
        ),
        ("closed", plain),
    ]
}

fn drive(target: &Opened, request: &Workload) {
    let outcome = target.run_checked(request).expect("a run").outcome;
    assert!(matches!(&outcome, LoadOutcome::Finished(segment) if segment.error_count() == 0), "{outcome:?}");
}

#[test]
fn the_loop_does_not_allocate() {
    for engine in [Engine::IoUring, Engine::Libaio, Engine::Threads] {
        for (name, kind) in kinds() {
            let file = support::file();
            let target = opened(&file, SIZE, engine);
            let count = |ios: u64| {
                let request = Workload { until: Until::AmountBytes(ios * 4096), ..kind.clone() };
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                drive(&target, &request);
                ALLOCATIONS.load(Ordering::Relaxed) - before
            };
            count(200);
            let (few, many) = (count(200), count(20_000));
            println!("{name}, {engine:?}: {few} for 200 I/Os, {many} for 20,000");
            // The monitoring thread may allocate a little memory while waiting on its channel.
            assert!(
                many <= few + 60,
                "{few} allocations for 200 I/Os, {many} for 20,000 with {engine:?}, {name}"
            );
        }
    }
}
