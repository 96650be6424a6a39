//! The loop of the load engine makes no system call but its queue's: the kernel hands every one of them to the
//! test, and twenty times as many I/Os make no more of any other kind.

mod support;

use std::collections::BTreeMap;

use drive::{Engine, Flow, Nowhere, OpenOptions, Outcome, rehearse};
use record::{Until, Workload};
use support::{seccomp, skip, workload};

const SIZE: u64 = 16 << 20;
const FEW: u64 = 200;
const MANY: u64 = 4_000;
/// Once a second a worker hands its sums to the display, and a wait at a gate may take more than one call.
const OTHERS_MORE: u64 = 4;

/// Calls of the worker by number, for so many I/Os; the error is a reason to skip.
fn calls(ios: u64, depth: u16, drive: &(dyn Fn(&Workload) + Sync)) -> Result<BTreeMap<i64, u64>, String> {
    let until = Until::AmountBytes(ios * 4096);
    let asked = Workload { read_percent: 100, queue_depth: depth, until, ..workload(SIZE) };
    let ((), calls) =
        seccomp::counted(|| drive(&asked)).map_err(|e| format!("seccomp with a listener: {e}"))?;
    let of_worker = calls.into_iter().filter(|((name, _), _)| name.starts_with("load-"));
    Ok(of_worker.map(|((_, call), count)| (call, count)).collect())
}

fn check(what: &str, depth: u16, own: &[i64], drive: &(dyn Fn(&Workload) + Sync)) {
    let (few, many) = match (calls(FEW, depth, drive), calls(MANY, depth, drive)) {
        (Ok(few), Ok(many)) => (few, many),
        (Err(reason), _) | (_, Err(reason)) => return skip(&reason),
    };
    for (call, &count) in &many {
        let before = few.get(call).copied().unwrap_or(0);
        let is_own = own.contains(call);
        assert!(is_own || count <= before + OTHERS_MORE, "{what}: call {call} {before} times, then {count}");
    }
    let count_own = |calls: &BTreeMap<i64, u64>| own.iter().filter_map(|c| calls.get(c)).sum::<u64>();
    if !own.is_empty() {
        assert!(count_own(&many) > count_own(&few), "{what}: its own calls were seen");
        assert!(count_own(&many) <= 2 * MANY, "{what}: {} calls for {MANY} I/Os", count_own(&many));
    }
}

#[test]
fn nothing_but_the_queue_calls_the_kernel() {
    check("null", 8, &[], &|asked| drop(rehearse(Nowhere::Null, asked).expect("a rehearsal")));
    let ring = &|asked: &Workload| drop(rehearse(Nowhere::NoOpRing, asked).expect("a rehearsal"));
    if rehearse(Nowhere::NoOpRing, &Workload { read_percent: 100, ..workload(SIZE) }).is_ok() {
        check("no-op ring", 8, &[libc::SYS_io_uring_enter], ring);
    } else {
        skip("no io_uring");
    }
    let file = support::file();
    file.as_file().set_len(SIZE).expect("a file of some size");
    let path = file.path().to_str().expect("a path");
    for (engine, depth, own) in [
        (Engine::IoUring, 8, &[libc::SYS_io_uring_enter][..]),
        (Engine::Libaio, 8, &[libc::SYS_io_submit, libc::SYS_io_getevents]),
        (Engine::Auto, 1, &[libc::SYS_pread64]),
    ] {
        let options = OpenOptions { engine, ..OpenOptions::default() };
        let reads = |asked: &Workload| {
            let target = drive::open(path, &options).expect("a target").open_to_read();
            let outcome = target.expect("a readable target").run(asked, &mut |_| Flow::Continue);
            assert!(matches!(outcome, Ok(Outcome::Finished(_))), "{outcome:?}");
        };
        check(&format!("{engine:?}"), depth, own, &reads);
    }
}
