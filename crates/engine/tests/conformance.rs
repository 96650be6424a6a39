//! All engines perform the same requests, transfer exact amounts and report errors.

mod support;

use engine::{Engine, EngineError};
use record::{Access, DataPattern, IoKind, Until, Workload, Zone};
use support::{opened, workload};

const SIZE: u64 = 16 << 20;
const ENGINES: [Engine; 4] = [Engine::Auto, Engine::IoUring, Engine::Libaio, Engine::Threads];

/// Returns whether each 4 KiB block contains data other than zeros.
fn touched(path: &std::path::Path) -> Vec<bool> {
    let bytes = std::fs::read(path).expect("the file");
    bytes.chunks(4096).map(|block| block.iter().any(|&byte| byte != 0)).collect()
}

#[test]
fn the_same_requests_are_done_at_every_depth() {
    for queue_depth in [1, 2, 4, 5, 33] {
        let images = ENGINES.map(|engine| {
            let file = support::file();
            let target = opened(&file, SIZE, engine);
            let until = Until::AmountBytes(1000 * 4096);
            let request = Workload { queue_depth, read_percent: 30, threads: 2, until, ..workload(SIZE) };
            let segment = target.finish(&request);
            assert_eq!(segment.read.ios + segment.write.ios, 1000, "{engine:?}");
            (segment.read.ios, touched(file.path()))
        });
        assert!(images.iter().all(|image| *image == images[0]), "depth {queue_depth}");
        let written = images[0].1.iter().filter(|block| **block).count();
        assert!((500..700).contains(&written), "{written} blocks");
    }
}

#[test]
fn several_kinds_of_io_in_zones_are_done_the_same_by_every_engine() {
    const AMOUNT: u64 = 8 << 20;
    let kind = |share_percent, read_percent, block_bytes| IoKind {
        share_percent,
        access: Access::Random,
        read_percent,
        block_bytes,
    };
    let zone = |access_percent, range_percent| Zone { access_percent, range_percent };
    for queue_depth in [1, 4] {
        let images = ENGINES.map(|engine| {
            let file = support::file();
            let target = opened(&file, SIZE, engine);
            let until = Until::AmountBytes(AMOUNT);
            let request =
                Workload { queue_depth, zones: vec![zone(90, 10), zone(10, 90)], until, ..workload(SIZE) };
            let request = request.of_kinds(vec![kind(50, 0, 4096), kind(30, 0, 12288), kind(20, 100, 8192)]);
            let segment = target.finish(&request);
            let done = segment.read.bytes + segment.write.bytes;
            assert!((AMOUNT..AMOUNT + 12288).contains(&done), "{done} bytes with {engine:?}");
            assert_eq!(segment.read.bytes, segment.read.ios * 8192);
            let mean_write = segment.write.bytes as f64 / segment.write.ios as f64;
            assert!((mean_write - 7168.0).abs() < 500.0, "{mean_write} B per write");
            (segment.read.ios, touched(file.path()))
        });
        assert!(images.iter().all(|image| *image == images[0]), "depth {queue_depth}");
        let (first, rest) = images[0].1.split_at(images[0].1.len() / 10);
        let filled = |part: &[bool]| part.iter().filter(|block| **block).count() as f64 / part.len() as f64;
        assert!(filled(first) > 0.9 && filled(rest) < 0.2, "{} {}", filled(first), filled(rest));
    }
}

#[test]
fn data_comes_back_as_it_was_written() {
    for engine in ENGINES {
        let file = support::file();
        let target = opened(&file, SIZE, engine);
        let pass = Workload {
            access: Access::Sequential,
            data_pattern: DataPattern::Random,
            queue_depth: 8,
            until: Until::AmountBytes(SIZE),
            ..workload(SIZE)
        };
        target.finish(&pass);
        let image = support::fingerprint(file.path());
        // Reads must not change the data.
        let reads = target.finish(&Workload { read_percent: 100, ..pass });
        assert_eq!((reads.read.bytes, reads.write.ios), (SIZE, 0));
        assert_eq!(support::fingerprint(file.path()), image, "{engine:?}");
    }
}

#[test]
fn short_transfers_are_errors_and_counted() {
    for engine in ENGINES {
        for queue_depth in [1, 8] {
            let file = support::file();
            let target = opened(&file, SIZE, engine);
            file.open().set_len(0).expect("the file is truncated during the load");
            let request = Workload { queue_depth, read_percent: 100, threads: 2, ..workload(SIZE) };
            let error = target.run(&request).expect_err("nothing to read");
            assert!(error.to_string().contains("only 0 B transferred"), "{engine:?}: {error}");
            let EngineError::Io(failure) = error else { panic!("{engine:?}: not a failed I/O") };
            let errors = &failure.errors;
            assert_eq!(errors.len(), 1);
            assert!((1..=2 * u64::from(queue_depth)).contains(&errors[0].count), "{errors:?}");
        }
    }
}

#[test]
fn a_workload_reports_its_cpu_cost() {
    for engine in [Engine::IoUring, Engine::Libaio] {
        let file = support::file();
        let target = opened(&file, SIZE, engine);
        let until = Until::DurationNs(300_000_000);
        let segment = target.finish(&Workload { until, ..workload(SIZE) });
        let effort = segment.host.as_ref().expect("a host").effort;
        assert!(effort.cpu_ns() > 1_000_000, "{effort:?} for {} writes", segment.write.ios);
        assert!(effort.cpu_ns() < 400_000_000, "{effort:?}");
    }
}
