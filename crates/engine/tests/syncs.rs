//! Syncs and pauses work the same way with all engines, and neither is counted as an I/O.

mod support;

use std::time::Duration;

use engine::{Engine, EngineError, FailedOperation};
use record::{Arrivals, EachWrite, Process, Regime, Segment, Syncs, ThinkTime, Until, Workload};
use support::{opened, seccomp, skip, workload};

const SIZE: u64 = 16 << 20;
const ENGINES: [Engine; 4] = [Engine::Auto, Engine::IoUring, Engine::Libaio, Engine::Threads];

/// Performs 4 KiB writes to a new file.
fn written(engine: Engine, writes: u64, request: Workload) -> Segment {
    let file = support::file();
    let target = opened(&file, SIZE, engine);
    let until = Until::AmountBytes(writes * 4096);
    let segment = target.finish(&Workload { until, ..request });
    assert_eq!((segment.read.ios, segment.write.ios), (0, writes), "{engine:?}");
    assert_eq!(segment.write.bytes, writes * 4096, "{engine:?}");
    segment
}

fn request(syncs: Syncs, queue_depth: u16) -> Workload {
    let regime = Regime { syncs, ..Regime::default() };
    Workload { read_percent: 0, queue_depth, regime, ..workload(SIZE) }
}

#[test]
fn every_engine_issues_the_same_syncs() {
    let syncs = Syncs { fsync_writes: 8, fdatasync_writes: 2, ..Syncs::NONE };
    for engine in ENGINES {
        for queue_depth in [1, 4, 33] {
            let segment = written(engine, 200, request(syncs, queue_depth));
            let synced = segment.synced.expect("syncs");
            // No sync follows the last write.
            assert_eq!((synced.syncs, synced.latency.count()), (99, 99), "{engine:?}, depth {queue_depth}");
            assert!(synced.latency.min() > Some(0) && synced.end_fsync_ns.is_none(), "{synced:?}");
        }
    }
}

#[test]
fn each_thread_counts_its_own_writes() {
    let syncs = Syncs { fdatasync_writes: 10, ..Syncs::NONE };
    let segment = written(Engine::Auto, 300, Workload { threads: 3, ..request(syncs, 2) });
    assert_eq!(segment.synced.expect("syncs").syncs, 27);
}

#[test]
fn the_fsync_at_the_end_is_part_of_the_time_but_not_of_the_syncs() {
    let syncs = Syncs { end_fsync: true, ..Syncs::NONE };
    for engine in ENGINES {
        for queue_depth in [1, 8] {
            let segment = written(engine, 64, Workload { threads: 2, ..request(syncs, queue_depth) });
            let synced = segment.synced.as_ref().expect("syncs");
            assert_eq!(synced.syncs, 0, "{engine:?}");
            let end_fsync_ns = synced.end_fsync_ns.expect("an fsync");
            assert!(end_fsync_ns > 0 && segment.end_ns - segment.start_ns > end_fsync_ns, "{engine:?}");
        }
    }
    let until = Until::DurationNs(50_000_000);
    let file = support::file();
    let target = opened(&file, SIZE, Engine::Auto);
    let timed = target.finish(&Workload { until, ..request(syncs, 4) });
    assert!(timed.end_ns - timed.start_ns > 50_000_000, "the fsync follows the end of the time");
}

#[test]
fn a_load_that_only_reads_does_not_sync() {
    let syncs = Syncs { fsync_writes: 1, end_fsync: true, each_write: Some(EachWrite::Sync), ..Syncs::NONE };
    for engine in ENGINES {
        let file = support::file();
        let target = opened(&file, SIZE, engine);
        let until = Until::AmountBytes(64 * 4096);
        let segment = target.finish(&Workload { read_percent: 100, until, ..request(syncs, 4) });
        assert_eq!((segment.read.ios, segment.synced), (64, None), "{engine:?}");
    }
}

#[test]
fn synchronous_writes_are_plain_writes_with_a_flag() {
    for each_write in [EachWrite::Sync, EachWrite::Dsync] {
        let syncs = Syncs { each_write: Some(each_write), ..Syncs::NONE };
        for engine in ENGINES {
            for queue_depth in [1, 8] {
                let segment = written(engine, 64, request(syncs, queue_depth));
                assert!(segment.synced.is_none() && segment.io_path.fallbacks.is_empty(), "{engine:?}");
            }
        }
    }
}

#[test]
fn a_schedule_includes_syncs_without_losing_arrivals() {
    let syncs = Syncs { fsync_writes: 20, ..Syncs::NONE };
    let arrivals = Some(Arrivals { per_second: 20_000, divisor: 1, process: Process::Constant });
    let regime = Regime { arrivals, syncs, ..Regime::default() };
    let segment = written(Engine::Auto, 200, Workload { regime, ..request(syncs, 4) });
    assert_eq!(segment.synced.expect("syncs").syncs, 9);
}

#[test]
fn pauses_extend_a_load_and_end_with_its_time() {
    let pause = Duration::from_millis(20);
    let thinktime = ThinkTime {
        length_ns: pause.as_nanos() as u64,
        spin_ns: 1_000_000,
        ios: 8,
        count_issued: true,
        io_time_ns: None,
    };
    let regime = Regime { thinktime: Some(thinktime), ..Regime::default() };
    for engine in ENGINES {
        for queue_depth in [1, 4] {
            let request = Workload { regime, ..request(Syncs::NONE, queue_depth) };
            let segment = written(engine, 32, request.clone());
            assert!(segment.seconds() >= 4.0 * pause.as_secs_f64(), "{engine:?}: {} s", segment.seconds());
            assert_eq!(segment.depth_share(), None);
            let file = support::file();
            let target = opened(&file, SIZE, engine);
            let long = ThinkTime { length_ns: u64::MAX, ..thinktime };
            let regime = Regime { thinktime: Some(long), ..Regime::default() };
            let timed = Workload { until: Until::DurationNs(50_000_000), regime, ..request };
            let segment = target.finish(&timed);
            assert_eq!((segment.write.ios, segment.end_ns - segment.start_ns), (8, 50_000_000));
        }
    }
}

/// Returns how often the load's own thread made a system call.
fn calls_of_the_load(syncs: Syncs, call: i64) -> Option<u64> {
    let request = request(syncs, 1);
    match seccomp::counted(|| written(Engine::Auto, 40, request)) {
        Err(reason) => {
            skip(&format!("seccomp with a listener: {reason}"));
            None
        }
        Ok((_, calls)) => {
            let own = calls.iter().filter(|((name, made), _)| name.starts_with("load-") && *made == call);
            Some(own.map(|(_, count)| count).sum())
        }
    }
}

#[test]
fn the_options_are_the_system_calls_of_the_same_name() {
    let every_ten = Syncs { fsync_writes: 10, ..Syncs::NONE };
    let both = Syncs { fdatasync_writes: 4, ..every_ten };
    let with_end = Syncs { end_fsync: true, ..every_ten };
    let dsync = Syncs { each_write: Some(EachWrite::Dsync), ..Syncs::NONE };
    for (syncs, call, expected) in [
        (every_ten, libc::SYS_fsync, 3),
        (every_ten, libc::SYS_fdatasync, 0),
        // Of the 9 multiples of 4, one is also a multiple of 10.
        (both, libc::SYS_fdatasync, 8),
        (with_end, libc::SYS_fsync, 4),
        (dsync, libc::SYS_pwritev2, 40),
        (Syncs::NONE, libc::SYS_pwritev2, 0),
    ] {
        if let Some(count) = calls_of_the_load(syncs, call) {
            assert_eq!(count, expected, "call {call} with {syncs:?}");
        }
    }
}

#[test]
fn a_failed_sync_ends_the_load() {
    let periodic = Syncs { fsync_writes: 10, ..Syncs::NONE };
    let at_end = Syncs { end_fsync: true, ..Syncs::NONE };
    for (syncs, written) in [(periodic, 10), (at_end, 64)] {
        let subject = std::thread::spawn(move || {
            if let Err(error) = seccomp::forbid(&[libc::SYS_fsync], libc::EIO) {
                return skip(&format!("seccomp: {error}"));
            }
            let file = support::file();
            let target = opened(&file, SIZE, Engine::Threads);
            let until = Until::AmountBytes(64 * 4096);
            let error = target.run(&Workload { until, ..request(syncs, 1) }).expect_err("no sync");
            let text = error.to_string();
            assert!(text.contains(": a sync of the written data failed with EIO"), "{text}");
            let EngineError::Io(failure) = error else { panic!("not a failed I/O: {text}") };
            assert_eq!((failure.operation, failure.errors.len()), (FailedOperation::Sync, 1));
            let content = std::fs::read(file.path()).expect("the file");
            let blocks = content.chunks(4096).filter(|block| block.iter().any(|byte| *byte != 0)).count();
            assert!(blocks > 0 && blocks <= written, "{blocks} blocks written");
        });
        subject.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}
