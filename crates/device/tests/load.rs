//! The load engines on files and loop devices: each performs exactly the requested workload.

mod support;

use std::os::unix::fs::FileExt;

use device::{ErrorKind, OpenOptions};
use engine::{Engine, Flow, LoadOutcome};
use record::{Access, DataPattern, IoEngine, Range, Segment, Until, Workload};
use support::zram::Zram;
use support::{Loop, armed, finish, workload};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 64 * MIB;
const ENGINES: [Engine; 3] = [Engine::IoUring, Engine::Libaio, Engine::Threads];

fn options(engine: Engine) -> OpenOptions {
    OpenOptions { size_bytes: Some(SIZE), engine, ..OpenOptions::default() }
}

fn check_sums(segment: &Segment) {
    let series = &segment.series;
    assert_eq!(series.read_ios.iter().sum::<u64>(), segment.read.ios);
    assert_eq!(series.write_ios.iter().sum::<u64>(), segment.write.ios);
    assert_eq!(segment.read.latency.count(), segment.read.ios);
    assert_eq!(segment.write.latency.count(), segment.write.ios);
    let block = u64::from(segment.workload.block_bytes);
    assert_eq!(
        (segment.read.bytes, segment.write.bytes),
        (segment.read.ios * block, segment.write.ios * block)
    );
    let intervals = (segment.end_ns - segment.start_ns).div_ceil(series.interval_ns) as usize;
    assert_eq!(series.read_ios.len(), intervals);
}

#[test]
fn amounts_are_exact_and_stay_in_their_range() {
    let range = Range { start_bytes: 16 * MIB, segments: 4, segment_bytes: MIB, stride_bytes: 3 * MIB };
    for engine in ENGINES {
        let dir = support::directory();
        let path = dir.path().join("target");
        let mut target = armed(path.to_str().expect("a path"), &options(engine));
        let request = Workload {
            access: Access::Sequential,
            block_bytes: 16 << 10,
            threads: 3,
            queue_depth: 5,
            range,
            until: Until::AmountBytes(4 * MIB),
            ..workload(SIZE)
        };
        let segment = finish(&mut target, &request);
        assert_eq!((segment.write.bytes, segment.read.bytes), (4 * MIB, 0));
        check_sums(&segment);
        let file = std::fs::File::open(&path).expect("the file");
        for sector in 0..SIZE / 512 {
            let mut bytes = [0; 512];
            file.read_exact_at(&mut bytes, sector * 512).expect("a sector");
            let from = (sector * 512).wrapping_sub(range.start_bytes);
            let inside = from / range.stride_bytes < 4 && from % range.stride_bytes < range.segment_bytes;
            assert_eq!(bytes != [0; 512], inside, "sector {sector} with {engine:?}");
        }
    }
}

#[test]
fn odd_amounts_and_fewer_ios_than_depth_are_exact() {
    for engine in ENGINES {
        let file = support::file();
        let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
        for (ios, threads, queue_depth) in [(1, 1, 1), (3, 2, 16), (1001, 7, 3)] {
            let until = Until::AmountBytes(ios * 4096 + 100);
            let segment = finish(
                &mut target,
                &Workload { threads, queue_depth, read_percent: 50, until, ..workload(SIZE) },
            );
            assert_eq!(segment.read.ios + segment.write.ios, ios);
            check_sums(&segment);
        }
    }
}

#[test]
fn timed_runs_keep_mix_time_and_depth() {
    for engine in ENGINES {
        let file = support::file();
        let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
        let fill = Workload { until: Until::AmountBytes(SIZE), access: Access::Sequential, ..workload(SIZE) };
        finish(&mut target, &fill);
        let until = Until::DurationNs(1_500_000_000);
        let mut ticks = Vec::new();
        let request = Workload { read_percent: 65, threads: 2, queue_depth: 8, until, ..workload(SIZE) };
        let outcome = target.run(&request, &mut |tick| {
            ticks.push(*tick);
            Flow::Continue
        });
        let Ok(LoadOutcome::Finished(segment)) = outcome else { panic!("{outcome:?}") };
        check_sums(&segment);
        assert_eq!(segment.end_ns - segment.start_ns, 1_500_000_000);
        let ios = segment.read.ios + segment.write.ios;
        // The number of reads has a binomial distribution, and a busy machine completes few I/Os.
        let share = segment.read.ios as f64 / ios as f64;
        let deviation = (0.65 * 0.35 / ios as f64).sqrt();
        assert!((share - 0.65).abs() < 5.0 * deviation, "{share} of {ios}");
        // By Little's law, depth = rate x response time. The time between a completion and the next
        // submission is not included.
        let depth = segment.iops() * segment.mean_latency_ms().expect("I/O") / 1e3;
        // Check only an upper bound, because helper threads that wait for a CPU have no I/O in flight;
        // failing_device.rs checks the lower bound on a device limited to 500 IOPS.
        assert!(depth < 16.5, "{depth} with {engine:?}");
        // A busy machine may deliver a second tick while the last I/Os complete.
        assert!(
            !ticks.is_empty() && ticks.iter().map(|tick| tick.read_ios + tick.write_ios).sum::<u64>() <= ios
        );
        assert!(ticks[0].bytes > 0);
        assert!(ticks.iter().all(|tick| (0.66..=1.0).contains(&tick.share_done)), "{ticks:?}");
    }
}

#[test]
fn stopping_ends_the_run_soon() {
    for engine in ENGINES {
        let file = support::file();
        let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
        let before_ns = target.now_ns();
        let request = Workload { until: Until::DurationNs(3_600_000_000_000), threads: 2, ..workload(SIZE) };
        let outcome = target.run(&request, &mut |_| Flow::Stop);
        assert_eq!(outcome.expect("a stop"), LoadOutcome::Stopped);
        assert!(target.now_ns() - before_ns < 60_000_000_000, "not the requested hour");
        assert_eq!(finish(&mut target, &workload(SIZE)).errors, []);
    }
}

#[test]
fn a_panicking_watcher_leaves_no_thread_running() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let request = Workload { until: Until::DurationNs(3_600_000_000_000), ..workload(SIZE) };
    let run =
        std::panic::AssertUnwindSafe(|| target.run(&request, &mut |_| panic!("the watcher's own mistake")));
    assert!(std::panic::catch_unwind(run).is_err());
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let images: Vec<u32> = ENGINES
        .iter()
        .map(|&engine| {
            let file = support::file();
            let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
            // Use depth 1, because two writes to the same block may be reordered at higher depths.
            finish(
                &mut target,
                &Workload { queue_depth: 1, until: Until::AmountBytes(SIZE / 8), ..workload(SIZE) },
            );
            support::fingerprint(file.path())
        })
        .collect();
    assert!(images.iter().all(|image| *image == images[0]));
}

#[test]
fn the_segment_records_its_io_path() {
    let file = support::file();
    let path = file.path().to_str().expect("a path");
    let engine = |engine, queue_depth| {
        let request = Workload { queue_depth, ..workload(SIZE) };
        let path = finish(&mut armed(path, &options(engine)), &request).io_path;
        assert!(path.fallbacks.is_empty(), "{path}");
        path.engine
    };
    assert_eq!(engine(Engine::Auto, 1), IoEngine::Psync);
    assert_eq!(engine(Engine::Auto, 2), IoEngine::IoUring);
    assert_eq!(engine(Engine::IoUring, 1), IoEngine::IoUring);
    assert_eq!(engine(Engine::Libaio, 2), IoEngine::Libaio);
    assert_eq!(engine(Engine::Threads, 2), IoEngine::Threads);
}

#[test]
fn zeros_are_zeros() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let pass = Workload { access: Access::Sequential, until: Until::AmountBytes(SIZE), ..workload(SIZE) };
    let empty = support::fingerprint(file.path());
    finish(&mut target, &pass);
    assert_ne!(support::fingerprint(file.path()), empty);
    finish(&mut target, &Workload { data_pattern: DataPattern::Zero, ..pass });
    assert_eq!(support::fingerprint(file.path()), empty);
}

#[test]
fn sectors_of_4096_take_no_512_byte_blocks() {
    let Some(device) = Loop::new(SIZE, &["--sector-size", "4096"]) else { return };
    let mut target = armed(&device.path, &OpenOptions::default());
    assert_eq!(target.facts().logical_block_bytes, 4096);
    let before = support::fingerprint(&device.path);
    let error = target
        .run(&Workload { block_bytes: 512, ..workload(SIZE) }, &mut |_| Flow::Continue)
        .expect_err("512 B on 4096 B sectors");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("4096 B sectors"), "{error}");
    let too_deep = Workload { queue_depth: 5000, ..workload(SIZE) };
    let error = target.run(&too_deep, &mut |_| Flow::Continue).expect_err("too deep");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(support::fingerprint(&device.path), before);
}

#[test]
fn loop_devices_of_both_sector_sizes_are_loaded_and_purged() {
    for sector in ["512", "4096"] {
        for engine in ENGINES {
            let Some(device) = Loop::new(SIZE, &["--sector-size", sector]) else { return };
            let mut target = armed(&device.path, &OpenOptions { engine, ..OpenOptions::default() });
            assert_eq!(target.facts().identity, format!("{}:{SIZE}", device.kname()));
            let block_bytes = sector.parse().expect("a number");
            let until = Until::AmountBytes(2 * MIB);
            let segment = finish(&mut target, &Workload { block_bytes, threads: 2, until, ..workload(SIZE) });
            assert_eq!(segment.write.bytes, 2 * MIB);
            let empty = {
                let purged = target.purge().expect("a discard");
                assert!(!purged.pts_purge && purged.method.contains("discard"));
                assert!(purged.end_ns > purged.start_ns);
                support::fingerprint(&device.path)
            };
            let zeros = support::file();
            zeros.open().set_len(SIZE).expect("a length");
            assert_eq!(empty, support::fingerprint(zeros.path()));
        }
    }
}

/// Returns the numbers of reads and writes that the kernel has completed, and of those that it has merged into others
/// (`/sys/block/DEVICE/stat`).
fn completed_and_merged(device: &Loop) -> [u64; 2] {
    let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", device.kname())).expect("statistics");
    let columns: Vec<u64> = stat.split_whitespace().map(|column| column.parse().expect("a count")).collect();
    [columns[0] + columns[4], columns[1] + columns[5]]
}

#[test]
fn sequential_ios_reach_the_device_one_by_one() {
    for engine in [Engine::IoUring, Engine::Libaio] {
        let Some(device) = Loop::new(SIZE, &[]) else { return };
        // A scheduler would merge what is waiting in its queue, whoever submits it. Devices with the same number may have
        // had other settings.
        for (setting, value) in [("scheduler", "none"), ("nomerges", "0"), ("iostats", "1")] {
            let file = format!("/sys/block/{}/queue/{setting}", device.kname());
            if let Err(error) = std::fs::write(&file, value) {
                return support::skip(&format!("{file} cannot be set: {error}"));
            }
        }
        let mut target = armed(&device.path, &OpenOptions { engine, ..OpenOptions::default() });
        for read_percent in [0, 100, 50] {
            let request = Workload {
                access: Access::Sequential,
                read_percent,
                threads: 2,
                queue_depth: 16,
                until: Until::AmountBytes(16 * MIB),
                ..workload(SIZE)
            };
            let before = completed_and_merged(&device);
            let segment = finish(&mut target, &request);
            let ios = segment.read.ios + segment.write.ios;
            let after = completed_and_merged(&device);
            let [completed, merged] = [after[0] - before[0], after[1] - before[1]];
            // Others may look at a new device as well.
            let as_requested = completed >= ios && merged < ios / 100;
            assert!(
                as_requested,
                "{engine:?}, {read_percent} % reads: {completed} of {ios}, {merged} merged"
            );
        }
    }
}

#[test]
fn idling_takes_time_and_a_purge_empties_a_file() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    finish(&mut target, &workload(SIZE));
    let before_ns = target.now_ns();
    target.idle(20_000_000).expect("idleness");
    assert!(target.now_ns() - before_ns >= 20_000_000);
    let purged = target.purge().expect("a hole");
    assert!(!purged.pts_purge);
    drop(target);
    let drive = device::open(file.path().to_str().expect("a path"), &options(Engine::Auto)).expect("a file");
    assert!(!drive.needs_erase_confirmation(), "nothing but a hole is left");
}

#[test]
fn zram_is_a_device_like_any_other() {
    let Some(device) = Zram::new(SIZE) else { return };
    for engine in ENGINES {
        let mut target = armed(&device.path, &OpenOptions { engine, ..OpenOptions::default() });
        let kname = device.path.trim_start_matches("/dev/");
        assert_eq!(target.facts().identity, format!("{kname}:{SIZE}"));
        let request = Workload { block_bytes: 512, ..workload(SIZE) };
        let error = target.run(&request, &mut |_| Flow::Continue).expect_err("512 B on 4096 B sectors");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let until = Until::AmountBytes(SIZE);
        let pass = Workload { access: Access::Sequential, block_bytes: 128 << 10, until, ..workload(SIZE) };
        assert_eq!(finish(&mut target, &pass).write.bytes, SIZE);
        let stored = || std::fs::read_to_string(format!("/sys/block/{kname}/mm_stat")).expect("statistics");
        let compressed: u64 = stored().split_whitespace().nth(1).expect("a size").parse().expect("a number");
        assert!(compressed > SIZE / 100 * 99, "the data can be compressed to {compressed} B of {SIZE}");
        target.purge().expect("a discard");
    }
}
