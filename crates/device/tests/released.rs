//! A device is free once its target is dropped. This test has its own process, because a child of another test
//! would hold a copy of the descriptor between fork and exec.

mod support;

use device::OpenOptions;
use engine::Engine;
use record::{Until, Workload};
use support::{Loop, armed, finish, workload};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 64 * MIB;

#[test]
fn a_device_is_free_as_soon_as_it_is_released() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    for _ in 0..10 {
        let mut target =
            armed(&device.path, &OpenOptions { engine: Engine::IoUring, ..OpenOptions::default() });
        finish(&mut target, &Workload { until: Until::AmountBytes(MIB), threads: 2, ..workload(SIZE) });
        drop(target);
        let free = rustix::fs::open(
            &device.path,
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::EXCL,
            rustix::fs::Mode::empty(),
        );
        assert!(free.is_ok(), "{free:?}");
    }
}
