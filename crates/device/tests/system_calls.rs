//! The engine's I/O loop makes only the system calls of its queue: the kernel reports every call to the test,
//! and twenty times as many I/Os cause no additional calls of any other kind.

mod support;

use std::collections::BTreeMap;

use device::OpenOptions;
use engine::{Engine, Flow, LoadOutcome, Nowhere, StreamOptions, rehearse};
use record::{Arrivals, Process, Regime, Until, Workload};
use support::seccomp::Calls;
use support::{armed, seccomp, skip, workload};

const SIZE: u64 = 16 << 20;
const FEW: u64 = 200;
const MANY: u64 = 4_000;
/// Allowance for other calls: once a second, a worker passes its sums to the display, and waiting for the
/// common start may take several calls.
const OTHERS_MORE: u64 = 4;
/// Allowance for memory: at the end, a worker merges its histograms, whose size depends on the spread of response
/// times, and a thread's heap grows through mprotect. `allocations.rs` checks that the loop itself does not
/// allocate.
const HEAP_MORE: u64 = 20;
/// When the next arrival is near, an open loop polls for completions as often as possible.
const NO_LIMIT: u64 = u64::MAX / MANY;

/// The calls that threads with this name may make, and how many per I/O.
struct Role {
    name: &'static str,
    own: &'static [i64],
    most_per_io: u64,
}

const fn worker(own: &'static [i64]) -> Role {
    Role { name: "load-", own, most_per_io: 2 }
}

/// Counts the calls of all threads for `ios` I/Os; an error is a reason to skip.
fn calls(ios: u64, request: &Workload, drive: &(dyn Fn(&Workload) + Sync)) -> Result<Calls, String> {
    let request = Workload { until: Until::AmountBytes(ios * 4096), ..request.clone() };
    let ((), calls) =
        seccomp::counted(|| drive(&request)).map_err(|e| format!("seccomp with a listener: {e}"))?;
    Ok(calls)
}

fn check(what: &str, request: &Workload, roles: &[Role], drive: &(dyn Fn(&Workload) + Sync)) {
    let (few, many) = match (calls(FEW, request, drive), calls(MANY, request, drive)) {
        (Ok(few), Ok(many)) => (few, many),
        (Err(reason), _) | (_, Err(reason)) => return skip(&reason),
    };
    for role in roles {
        check_role(&format!("{what}, {}", role.name), role, &of_role(role, &few), &of_role(role, &many));
    }
}

/// Returns the calls by all threads with this role, by system call number.
fn of_role(role: &Role, calls: &Calls) -> BTreeMap<i64, u64> {
    let mut sums = BTreeMap::new();
    for ((_, call), count) in calls.iter().filter(|((name, _), _)| name.starts_with(role.name)) {
        *sums.entry(*call).or_default() += count;
    }
    sums
}

fn check_role(what: &str, role: &Role, few: &BTreeMap<i64, u64>, many: &BTreeMap<i64, u64>) {
    assert!(!many.is_empty(), "{what}: such a thread was seen");
    for (call, &count) in many {
        let before = few.get(call).copied().unwrap_or(0);
        let is_own = role.own.contains(call);
        let more = if *call == libc::SYS_mprotect { HEAP_MORE } else { OTHERS_MORE };
        assert!(is_own || count <= before + more, "{what}: call {call} {before} times, then {count}");
    }
    let count_own = |calls: &BTreeMap<i64, u64>| role.own.iter().filter_map(|c| calls.get(c)).sum::<u64>();
    println!("{what}: {} of its own calls for {FEW} I/Os, {} for {MANY}", count_own(few), count_own(many));
    if !role.own.is_empty() {
        assert!(count_own(many) > count_own(few), "{what}: its own calls were seen");
        let most = role.most_per_io * MANY;
        assert!(count_own(many) <= most, "{what}: {} calls for {MANY} I/Os", count_own(many));
    }
}

fn reads(queue_depth: u16) -> Workload {
    Workload { read_percent: 100, queue_depth, ..workload(SIZE) }
}

/// Checks the system calls of a load that reads a temporary file with this engine.
fn check_reads(what: &str, engine: Engine, request: &Workload, roles: &[Role]) {
    let file = support::file();
    file.open().set_len(SIZE).expect("a file of some size");
    let path = file.path().to_str().expect("a path");
    let options = OpenOptions { engine, ..OpenOptions::default() };
    let reads = |request: &Workload| {
        let target = device::open(path, &options).expect("a target").open_to_read();
        let outcome = target.expect("a readable target").run(request, &mut |_| Flow::Continue);
        assert!(matches!(outcome, Ok(LoadOutcome::Finished(_))), "{outcome:?}");
    };
    check(&format!("{what}, {engine:?}"), request, roles, &reads);
}

#[test]
fn nothing_but_the_queue_calls_the_kernel() {
    check("null", &reads(8), &[worker(&[])], &|request| {
        drop(rehearse(Nowhere::Null, request).expect("a rehearsal"))
    });
    let ring = &|request: &Workload| drop(rehearse(Nowhere::NoOpRing, request).expect("a rehearsal"));
    if rehearse(Nowhere::NoOpRing, &reads(4)).is_ok() {
        check("no-op ring", &reads(8), &[worker(&[libc::SYS_io_uring_enter])], ring);
    } else {
        skip("no io_uring");
    }
    for (engine, depth, own) in [
        (Engine::IoUring, 8, &[libc::SYS_io_uring_enter][..]),
        (Engine::Libaio, 8, &[libc::SYS_io_submit, libc::SYS_io_getevents]),
        (Engine::Auto, 1, &[libc::SYS_pread64]),
    ] {
        check_reads("closed", engine, &reads(depth), &[worker(own)]);
    }
}

#[test]
fn helper_threads_read_and_wait_for_each_other() {
    // Each I/O crosses between threads twice. Each hand-over takes a lock contended by nine threads, and wakes the
    // other side, which then waits again.
    let roles = [
        Role { most_per_io: 20, ..worker(&[libc::SYS_futex]) },
        Role { name: "io-helper", own: &[libc::SYS_futex, libc::SYS_pread64], most_per_io: 20 },
    ];
    check_reads("closed", Engine::Threads, &reads(8), &roles);
}

#[test]
fn an_open_loop_calls_nothing_else() {
    let arrivals = Some(Arrivals { per_second: 20_000, divisor: 1, process: Process::Poisson });
    let regime = Regime { arrivals, ..Regime::default() };
    for (engine, depth, own) in [
        (Engine::IoUring, 8, &[libc::SYS_io_uring_enter][..]),
        (Engine::Libaio, 8, &[libc::SYS_io_submit, libc::SYS_io_getevents]),
        (Engine::Auto, 1, &[libc::SYS_pread64, libc::SYS_futex]),
    ] {
        let role = Role { most_per_io: NO_LIMIT, ..worker(own) };
        check_reads("open", engine, &Workload { regime, ..reads(depth) }, &[role]);
    }
}

#[test]
fn stamps_and_checks_call_nothing() {
    let regime = Regime { verify: true, ..Regime::default() };
    for (engine, depth, own) in [
        (Engine::IoUring, 8, &[libc::SYS_io_uring_enter][..]),
        (Engine::Auto, 1, &[libc::SYS_pread64, libc::SYS_pwrite64]),
    ] {
        let file = support::file();
        let path = file.path().to_str().expect("a path");
        let options = OpenOptions { engine, size_bytes: Some(SIZE), ..OpenOptions::default() };
        let mixed = |request: &Workload| {
            let answers = armed(path, &options).run_concurrently(
                std::slice::from_ref(request),
                &[StreamOptions::default()],
                &mut |_, _| Flow::Continue,
            );
            let findings = answers.expect("a run").remove(0).verified.expect("checks");
            assert!(findings.wrong() == 0, "{findings}");
        };
        let request = Workload { regime, read_percent: 50, ..reads(depth) };
        check(&format!("checked, {engine:?}"), &request, &[worker(own)], &mixed);
    }
}
