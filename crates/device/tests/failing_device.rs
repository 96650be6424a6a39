//! Devices that are slow, fail or disappear under load.

mod support;

use std::time::Duration;

use device::{ErrorKind, OpenOptions};
use engine::{Engine, Flow};
use record::{Access, Arrivals, Process, Regime, Until, Workload};
use support::storage_daemon::{Behaviour, StorageDaemon};
use support::{Loop, armed, command, finish, skip, workload};

const SIZE: u64 = 64 << 20;
const HOUR_NS: u64 = 3_600_000_000_000;
/// Time limit, far shorter than the load, yet long enough for a busy machine.
const NO_HANG: Duration = Duration::from_secs(60);

fn start(behaviour: Behaviour) -> Option<(tempfile::TempDir, StorageDaemon)> {
    let dir = support::directory();
    match StorageDaemon::start(dir.path(), SIZE, behaviour) {
        Ok(daemon) => Some((dir, daemon)),
        Err(reason) => {
            skip(&reason);
            None
        }
    }
}

#[test]
fn a_device_of_500_iops_is_measured_as_such() {
    for engine in [Engine::IoUring, Engine::Libaio, Engine::Threads] {
        let slow = Behaviour { total_iops: 500, ..Behaviour::default() };
        let Some((_dir, daemon)) = start(slow) else { return };
        let mut target = armed(&daemon.device, &OpenOptions { engine, ..OpenOptions::default() });
        let until = Until::DurationNs(4_000_000_000);
        let segment = finish(&mut target, &Workload { queue_depth: 8, until, ..workload(SIZE) });
        // A busy machine may starve the program that serves the device, but cannot make it faster. If some I/Os
        // were not counted, the queue would not appear to be full in the check below.
        assert!((250.0..525.0).contains(&segment.iops()), "{engine:?}: {}", segment.iops());
        // By Little's law. Helper threads that wait for a CPU have no I/O in flight.
        let depth = segment.iops() * segment.mean_latency_ms().expect("I/O") / 1e3;
        let least = if engine == Engine::Threads { 6.0 } else { 7.5 };
        assert!((least..8.5).contains(&depth), "{engine:?}: the queue was kept full: {depth}");
    }
}

#[test]
fn a_medium_error_ends_the_run_and_says_where() {
    for engine in [Engine::IoUring, Engine::Libaio, Engine::Threads] {
        let bad_sector = Some(SIZE / 512 / 2);
        let Some((_dir, daemon)) = start(Behaviour { bad_sector, total_iops: 0 }) else { return };
        // The bad sector is in the middle, where Plateau does not look for signatures.
        let mut target = armed(&daemon.device, &OpenOptions { engine, ..OpenOptions::default() });
        let pass = Workload {
            access: Access::Sequential,
            read_percent: 100,
            // At a higher depth, the kernel may merge adjacent reads, all of which would then fail.
            queue_depth: 1,
            until: Until::AmountBytes(SIZE),
            ..workload(SIZE)
        };
        let error = target.run(&pass, &mut |_| Flow::Continue).expect_err("a bad sector");
        let (what, errors) = (error.to_string(), error.errors());
        assert!(
            what.contains(&format!("read of 4096 B at byte {}", SIZE / 2)) && what.contains("EIO"),
            "{what}"
        );
        assert_eq!((errors.len(), errors[0].kind.as_str(), errors[0].count), (1, "EIO", 1));
    }
}

#[test]
fn a_device_that_dies_ends_the_run_at_once() {
    let open = |per_second| Regime {
        arrivals: Some(Arrivals { per_second, divisor: 1, process: Process::Poisson }),
        ..Regime::default()
    };
    for (engine, regime) in [
        (Engine::IoUring, Regime::default()),
        (Engine::Libaio, Regime::default()),
        (Engine::Threads, Regime::default()),
        (Engine::IoUring, open(2000)),
        (Engine::Threads, open(2000)),
    ] {
        let Some((_dir, mut daemon)) = start(Behaviour::default()) else { return };
        let mut target = armed(&daemon.device, &OpenOptions { engine, ..OpenOptions::default() });
        let (done, finished) = std::sync::mpsc::channel();
        let (runs, running) = std::sync::mpsc::channel();
        let run = std::thread::spawn(move || {
            let until = Until::DurationNs(HOUR_NS);
            let request =
                Workload { threads: 2, queue_depth: 16, read_percent: 50, until, regime, ..workload(SIZE) };
            let result = target.run(&request, &mut |_| {
                // Only the first tick's message is received.
                let _ = runs.send(());
                Flow::Continue
            });
            done.send(result).expect("a listener");
        });
        running.recv().expect("a load under way");
        daemon.kill();
        let error = finished.recv_timeout(NO_HANG).expect("no hang").expect_err("a dead device");
        assert_eq!(error.kind(), ErrorKind::Device);
        assert!(error.to_string().contains("EIO"), "{error}");
        run.join().expect("a clean end");
    }
}

/// Makes a device writable again on drop. Otherwise, the next image on this loop device would inherit the
/// setting.
struct Writable(String);

impl Drop for Writable {
    fn drop(&mut self) {
        if let Err(problem) = command("blockdev", &["--setrw", &self.0]) {
            eprintln!("{problem}");
        }
    }
}

#[test]
fn a_device_that_becomes_read_only_ends_the_run() {
    for engine in [Engine::IoUring, Engine::Libaio, Engine::Threads] {
        let Some(device) = Loop::new(SIZE, &[]) else { return };
        let mut target = armed(&device.path, &OpenOptions { engine, ..OpenOptions::default() });
        let path = device.path.clone();
        let _writable = Writable(path.clone());
        let mut switched = None;
        let request = Workload { until: Until::DurationNs(HOUR_NS), threads: 2, ..workload(SIZE) };
        let result = target.run(&request, &mut |_| {
            switched.get_or_insert_with(|| command("blockdev", &["--setro", &path]).expect("blockdev"));
            Flow::Continue
        });
        let error = result.expect_err("writes are forbidden");
        assert_eq!(error.kind(), ErrorKind::Device, "{error}");
        assert!(error.to_string().contains("EPERM"), "{error}");
    }
}
