//! The choice of an engine by measurement: it is recorded, it applies to the load, and it leaves no trace on the target
//! that the load would not leave.

mod support;

use engine::{ChoiceLimits, Choosing, Engine};
use record::{IoEngine, NotMeasured, Offsets, PathChoice, Range, Regime, Until, Workload};
use support::{TempFile, opened, workload};

const SIZE: u64 = 32 << 20;
const HOUR_NS: u64 = 3_600_000_000_000;
/// Measurements end after an amount, so the speed of the host does not matter.
const LIMITS: ChoiceLimits = ChoiceLimits { total_ns: HOUR_NS, part: 1, least_ns: 0 };
const UNTIL_DONE: Choosing<'_> = Choosing { limits: LIMITS, go_on: &|| true };
/// Content of each byte that was never written.
const OLD: u8 = 7;

fn filled() -> TempFile {
    let file = support::file();
    std::fs::write(file.path(), vec![OLD; SIZE as usize]).expect("content");
    file
}

fn content(file: &TempFile) -> Vec<u8> {
    std::fs::read(file.path()).expect("content")
}

/// Each block of the range once. One thread: each thread has its own order of all blocks.
fn once(range: Range, read_percent: u8) -> Workload {
    Workload {
        read_percent,
        range,
        until: Until::AmountBytes(range.segment_bytes),
        regime: Regime { offsets: Offsets::OncePerPass, ..Regime::default() },
        ..workload(SIZE)
    }
}

#[test]
fn reads_are_measured_without_a_trace_and_the_segment_says_so() {
    let file = filled();
    let mut target = opened(&file, SIZE, Engine::Auto);
    let load = once(Range::first(SIZE), 100);
    target.choose(std::slice::from_ref(&load), &UNTIL_DONE);
    let path = target.finish(&load).io_path;
    assert!(content(&file).iter().all(|byte| *byte == OLD));
    match *path.choice.expect("a choice") {
        PathChoice::FixedOrder { reason, .. } => {
            assert!(target.is_buffered() && reason == NotMeasured::Buffered, "{reason}");
        }
        PathChoice::Measured { engines, written_bytes } => {
            assert_eq!(written_bytes, 0);
            let names: Vec<IoEngine> = engines.iter().map(|measured| measured.engine).collect();
            assert!(names.len() >= 2 && names.contains(&path.engine), "{names:?}");
            assert!(engines.iter().all(|measured| measured.rounds.len() == 3), "{engines:?}");
            let rounds = engines.iter().flat_map(|measured| &measured.rounds);
            assert!(rounds.clone().all(|round| round.ios >= 100 && round.iops > 0), "{engines:?}");
            let depth = u64::from(load.outstanding()) * 1000;
            assert!(
                rounds.clone().all(|round| (1..=depth).contains(&round.outstanding_milli)),
                "{engines:?}"
            );
        }
    }
}

#[test]
fn only_what_the_load_writes_is_written() {
    let file = filled();
    let mut target = opened(&file, SIZE, Engine::Auto);
    let range = Range { start_bytes: 4 << 20, ..Range::first(16 << 20) };
    let load = once(range, 0);
    target.choose(std::slice::from_ref(&load), &UNTIL_DONE);
    let measured = content(&file);
    let path = target.finish(&load).io_path;
    let after = content(&file);
    let is_inside =
        |block: usize| (range.start_bytes..range.span().end_bytes()).contains(&(block as u64 * 4096));
    let (mut early, mut late) = (0, 0);
    for (block, (one, other)) in measured.chunks(4096).zip(after.chunks(4096)).enumerate() {
        let (is_early, is_late) = (one[0..64] != [OLD; 64], other[0..64] != [OLD; 64]);
        assert_eq!(is_late, is_inside(block), "block {block}");
        assert!(!is_early || one == other, "block {block} differs from what the load wrote there");
        early += u64::from(is_early);
        late += u64::from(is_late);
    }
    assert_eq!(late * 4096, range.segment_bytes);
    match *path.choice.expect("a choice") {
        PathChoice::FixedOrder { reason, .. } => assert!(target.is_buffered() && early == 0, "{reason}"),
        PathChoice::Measured { written_bytes, .. } => {
            assert!(early > 0 && early < late && written_bytes >= early * 4096, "{early} {written_bytes}");
        }
    }
}

#[test]
fn loads_that_must_not_be_measured_touch_nothing() {
    let file = filled();
    let mut target = opened(&file, SIZE, Engine::Auto);
    let verified = Workload { regime: Regime::VERIFIED, ..once(Range::first(SIZE), 0) };
    let short = Workload { until: Until::AmountBytes(64 << 10), ..once(Range::first(SIZE), 0) };
    target.choose(&[verified.clone(), short.clone()], &UNTIL_DONE);
    assert!(content(&file).iter().all(|byte| *byte == OLD));
    let reason = |load: &Workload| match target.finish(load).io_path.choice.as_deref() {
        Some(PathChoice::FixedOrder { reason, .. }) => *reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&verified), NotMeasured::Verification);
    let expected = if target.is_buffered() { NotMeasured::Buffered } else { NotMeasured::Short };
    assert_eq!(reason(&short), expected);
}

#[test]
fn a_requested_engine_or_another_load_has_no_choice_and_a_stop_chooses_nothing() {
    let file = filled();
    let mut target = opened(&file, SIZE, Engine::IoUring);
    let load = once(Range::first(SIZE), 100);
    let go_on = || panic!("nothing is measured");
    target.choose(std::slice::from_ref(&load), &Choosing { limits: LIMITS, go_on: &go_on });
    assert!(target.finish(&load).io_path.choice.is_none());
    drop(target);
    let mut target = opened(&file, SIZE, Engine::Auto);
    target.choose(std::slice::from_ref(&load), &Choosing { limits: LIMITS, go_on: &|| false });
    assert_eq!(target.finish(&load).io_path.choice.is_none(), !target.is_buffered());
}
