//! If neither io_uring nor libaio is allowed, as in some containers, threads perform the I/O and the segment
//! records why. If a ring can be created but rejects all requests, the load fails. This test runs in its own
//! process, because the restrictions on its threads cannot be lifted.

mod support;

use engine::{Engine, EngineError};
use record::{Arrivals, Process, Regime, Workload};
use support::{opened, seccomp, skip, workload};

const SIZE: u64 = 16 << 20;

#[test]
fn threads_are_the_fallback_of_io_uring_and_libaio() {
    let calls = [libc::SYS_io_uring_setup, libc::SYS_io_setup];
    let subject = std::thread::spawn(move || {
        if let Err(error) = seccomp::forbid(&calls, libc::ENOSYS) {
            return skip(&format!("seccomp: {error}"));
        }
        let file = support::file();
        let segment = opened(&file, SIZE, Engine::Auto).finish(&workload(SIZE));
        let why = "Function not implemented";
        assert_eq!(segment.io_path.to_string(), format!("threads (io_uring: {why}; libaio: {why})"));
        assert!(segment.write.ios > 0);
        let host = segment.host.expect("a host");
        assert!(host.effort.system_ns > 0, "the helping threads count as well: {host:?}");
        for engine in [Engine::IoUring, Engine::Libaio] {
            let refused = opened(&file, SIZE, engine).run(&workload(SIZE)).expect_err("forbidden");
            assert!(matches!(refused, EngineError::Setup { .. }), "{engine:?}: {refused}");
        }
    });
    subject.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn a_ring_that_accepts_no_submissions_is_an_error() {
    for per_second in [None, Some(1000)] {
        let subject = std::thread::spawn(move || {
            if let Err(error) = seccomp::forbid(&[libc::SYS_io_uring_enter], libc::EAGAIN) {
                return skip(&format!("seccomp: {error}"));
            }
            let file = support::file();
            let target = opened(&file, SIZE, Engine::IoUring);
            let arrivals =
                per_second.map(|per_second| Arrivals { per_second, divisor: 1, process: Process::Constant });
            let request = Workload { regime: Regime { arrivals, ..Regime::default() }, ..workload(SIZE) };
            let refused = target.run(&request).expect_err("nothing can be done");
            if matches!(refused, EngineError::Setup { .. }) {
                return skip(&format!("no ring on this host: {refused}"));
            }
            let text = refused.to_string();
            assert!(text.contains("io_uring_enter failed for 5 s"), "{text}");
            assert!(text.contains("temporarily unavailable"), "{text}");
        });
        subject.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}
