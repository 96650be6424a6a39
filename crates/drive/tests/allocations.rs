//! The loop of the load engine does not allocate: a hundred times as many I/Os allocate no more.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use drive::{Engine, OpenOptions};
use record::{Until, Workload};
use support::{armed, finish, workload};

const SIZE: u64 = 16 << 20;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_loop_does_not_allocate() {
    for engine in [Engine::IoUring, Engine::Libaio, Engine::Threads] {
        let file = support::file();
        let options = OpenOptions { size_bytes: Some(SIZE), engine, ..OpenOptions::default() };
        let mut target = armed(file.path().to_str().expect("a path"), &options);
        let mut count = |ios: u64| {
            let asked = Workload {
                read_percent: 50,
                threads: 2,
                queue_depth: 8,
                until: Until::AmountBytes(ios * 4096),
                ..workload(SIZE)
            };
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            assert_eq!(finish(&mut target, &asked).error_count(), 0);
            ALLOCATIONS.load(Ordering::Relaxed) - before
        };
        count(200);
        let (few, many) = (count(200), count(20_000));
        // The watching thread allocates a little when it waits on its channel.
        assert!(many <= few + 60, "{few} allocations for 200 I/Os, {many} for 20,000 with {engine:?}");
    }
}
