//! Polling is used if supported; otherwise the load runs without it and the segment records why.

mod support;

use device::{ErrorKind, OpenOptions};
use engine::{Engine, Polling};
use record::{IoEngine, PathRemark, Until, Workload};
use support::{Loop, armed, finish, workload};

const SIZE: u64 = 16 << 20;
const IOS: u64 = 2_000;

fn mix() -> Workload {
    Workload { read_percent: 50, until: Until::AmountBytes(IOS * 4096), ..workload(SIZE) }
}

fn options(polling: Polling) -> OpenOptions {
    OpenOptions { size_bytes: Some(SIZE), polling, ..OpenOptions::default() }
}

#[test]
fn the_kernel_can_poll_for_submissions() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Polling::Submissions));
    for queue_depth in [1, 8] {
        let segment = finish(&mut target, &Workload { queue_depth, ..mix() });
        assert_eq!(segment.read.ios + segment.write.ios, IOS);
        let host = segment.host.expect("a host");
        let path = segment.io_path;
        let is_expected = |remark: &PathRemark| match remark {
            PathRemark::SubmissionsPolled => host.polled,
            PathRemark::NotPolled { .. } => !host.polled,
            _ => false,
        };
        assert!(path.engine == IoEngine::IoUring && path.remarks.iter().any(is_expected), "{path:?}");
    }
}

#[test]
fn unpolled_loads_state_the_reason() {
    let file = support::file();
    let path = file.path().to_str().expect("a path");
    let segment = finish(&mut armed(path, &options(Polling::Completions)), &mix());
    let path = segment.io_path.to_string();
    assert!(path.contains("not polled: a file"), "{path}");
    assert!(!segment.host.expect("a host").polled);
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    let options = OpenOptions { polling: Polling::Completions, ..OpenOptions::default() };
    let segment = finish(&mut armed(&device.path, &options), &mix());
    let path = segment.io_path.to_string();
    assert!(path.contains("not polled: the device has no poll queues"), "{path}");
}

#[test]
fn only_io_uring_polls() {
    let file = support::file();
    for engine in [Engine::Libaio, Engine::Threads] {
        let options = OpenOptions { engine, ..options(Polling::Submissions) };
        let error = device::open(file.path().to_str().expect("a path"), &options).expect_err("nothing polls");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{engine:?}: {error}");
    }
    let simulated = OpenOptions { polling: Polling::Completions, ..OpenOptions::default() };
    assert!(device::open("sim:sas-slc-2011", &simulated).is_err());
}
