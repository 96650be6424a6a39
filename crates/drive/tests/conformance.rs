//! Whatever way an I/O takes into the kernel: the same requests are done, amounts are exact, errors are told.

mod support;

use drive::{Engine, ErrorKind, Flow, OpenOptions};
use record::{Access, DataPattern, Until, Workload};
use support::{armed, finish, workload};

const SIZE: u64 = 16 << 20;
const ENGINES: [Engine; 4] = [Engine::Auto, Engine::IoUring, Engine::Libaio, Engine::Threads];

fn options(engine: Engine) -> OpenOptions {
    OpenOptions { size_bytes: Some(SIZE), engine, ..OpenOptions::default() }
}

/// Which 4 KiB blocks hold something.
fn touched(path: &std::path::Path) -> Vec<bool> {
    let bytes = std::fs::read(path).expect("the file");
    bytes.chunks(4096).map(|block| block.iter().any(|&byte| byte != 0)).collect()
}

#[test]
fn the_same_requests_are_done_at_every_depth() {
    for queue_depth in [1, 2, 4, 5, 33] {
        let images = ENGINES.map(|engine| {
            let file = support::file();
            let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
            let until = Until::AmountBytes(1000 * 4096);
            let asked = Workload { queue_depth, read_percent: 30, threads: 2, until, ..workload(SIZE) };
            let segment = finish(&mut target, &asked);
            assert_eq!(segment.read.ios + segment.write.ios, 1000, "{engine:?}");
            (segment.read.ios, touched(file.path()))
        });
        assert!(images.iter().all(|image| *image == images[0]), "depth {queue_depth}");
        let written = images[0].1.iter().filter(|block| **block).count();
        assert!((500..700).contains(&written), "{written} blocks");
    }
}

#[test]
fn data_comes_back_as_it_was_written() {
    for engine in ENGINES {
        let file = support::file();
        let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
        let pass = Workload {
            access: Access::Sequential,
            data_pattern: DataPattern::Random,
            queue_depth: 8,
            until: Until::AmountBytes(SIZE),
            ..workload(SIZE)
        };
        finish(&mut target, &pass);
        let image = support::fingerprint(file.path());
        // Reads must leave the data alone.
        let reads = finish(&mut target, &Workload { read_percent: 100, ..pass });
        assert_eq!((reads.read.bytes, reads.write.ios), (SIZE, 0));
        assert_eq!(support::fingerprint(file.path()), image, "{engine:?}");
    }
}

#[test]
fn what_is_cut_short_is_an_error_and_counted() {
    for engine in ENGINES {
        for queue_depth in [1, 8] {
            let file = support::file();
            let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
            file.as_file().set_len(0).expect("a file cut behind the engine's back");
            let asked = Workload { queue_depth, read_percent: 100, threads: 2, ..workload(SIZE) };
            let error = target.run(&asked, &mut |_| Flow::Continue).expect_err("nothing to read");
            assert_eq!(error.kind(), ErrorKind::Device, "{engine:?}");
            assert!(error.to_string().contains("only 0 B were transferred"), "{engine:?}: {error}");
            let drive::DriveError::Device { errors, .. } = error else { panic!("{error:?}") };
            assert_eq!(errors.len(), 1);
            assert!((1..=2 * u64::from(queue_depth)).contains(&errors[0].count), "{errors:?}");
        }
    }
}

#[test]
fn a_workload_says_what_it_cost() {
    for engine in [Engine::IoUring, Engine::Libaio] {
        let file = support::file();
        let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
        let until = Until::DurationNs(300_000_000);
        let segment = finish(&mut target, &Workload { until, ..workload(SIZE) });
        let effort = target.effort().expect("one thread did it all");
        assert!(effort.cpu_ns() > 1_000_000, "{effort:?} for {} writes", segment.write.ios);
        assert!(effort.cpu_ns() < 400_000_000, "{effort:?}");
    }
}
