//! Stamped blocks: intact targets pass, and every kind of damage is found at its location.

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use device::{Armed, ErrorKind, OpenOptions};
use engine::{Answer, Engine, Flow, LoadOutcome, StreamOptions, VerifyReport, Wrong};
use record::{Access, DataPattern, IoKind, Range, Reducible, Regime, Until, Workload, WrongData, WrongPlace};
use support::{armed, workload};

const SIZE: u64 = 16 << 20;
const CHECKED: Regime = Regime::VERIFIED;

fn options(engine: Engine) -> OpenOptions {
    OpenOptions { size_bytes: Some(SIZE), engine, ..OpenOptions::default() }
}

fn checked() -> Workload {
    Workload { regime: CHECKED, until: Until::AmountBytes(SIZE), ..workload(SIZE) }
}

fn findings(target: &mut Armed, workload: &Workload, read_back: bool) -> VerifyReport {
    let mut answers = target
        .run_concurrently(
            std::slice::from_ref(workload),
            &[StreamOptions::reading_back(read_back)],
            &mut |_, _| Flow::Continue,
        )
        .expect("a run");
    let Answer { outcome, verified: findings } = answers.remove(0);
    assert!(matches!(outcome, LoadOutcome::Finished(_)));
    findings.expect("checks")
}

/// Writes every block once, damages the file and reads all of it.
fn after(damage: impl Fn(&File)) -> VerifyReport {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let pass = Workload { access: Access::Sequential, ..checked() };
    assert_eq!(findings(&mut target, &pass, true).wrong(), 0);
    damage(&file.open());
    findings(&mut target, &Workload { read_percent: 100, ..pass }, false)
}

#[test]
fn intact_targets_pass_with_every_engine() {
    let kind = |share_percent, read_percent, block_bytes| IoKind {
        share_percent,
        access: Access::Random,
        read_percent,
        block_bytes,
    };
    let mixed = checked().of_kinds(vec![kind(60, 30, 4096), kind(40, 50, 12288)]);
    let halves = DataPattern::Reducible(Reducible {
        compressible_percent: 50,
        dedupable_percent: 0,
        working_set: None,
    });
    let rate = record::Arrivals { per_second: 20_000, divisor: 1, process: record::Process::Poisson };
    let paced = Workload { regime: Regime { arrivals: Some(rate), ..CHECKED }, ..checked() };
    let cases = [
        checked(),
        Workload { queue_depth: 32, ..checked() },
        mixed,
        Workload { data_pattern: halves, ..checked() },
        paced,
        Workload { threads: 4, queue_depth: 8, ..checked() },
        Workload { threads: 3, access: Access::Sequential, read_percent: 30, ..checked() },
        Workload {
            range: Range { start_bytes: 4096, segments: 1000, segment_bytes: 8192, stride_bytes: 12288 },
            ..checked()
        },
    ];
    for engine in [Engine::Auto, Engine::IoUring, Engine::Libaio, Engine::Threads] {
        for request in &cases {
            let file = support::file();
            let mut target = armed(file.path().to_str().expect("a path"), &options(engine));
            // Two runs over the same range: the second run finds the stamps of the first, which must not be
            // reported.
            for seed in [1, 2] {
                let found = findings(&mut target, &Workload { seed, ..request.clone() }, true);
                assert_eq!(found.wrong(), 0, "{engine:?} {request}: {found}");
                assert!(found.checked > 1000, "{found}");
            }
        }
    }
}

/// Runs workloads concurrently. Returns their findings combined.
fn together(target: &mut Armed, workloads: &[Workload]) -> Result<VerifyReport, device::DriveError> {
    let streams = vec![StreamOptions::reading_back(true); workloads.len()];
    let answers = target.run_concurrently(workloads, &streams, &mut |_, _| Flow::Continue)?;
    let mut all = VerifyReport::default();
    answers.into_iter().filter_map(|answer| answer.verified).for_each(|report| all.add(report));
    Ok(all)
}

#[test]
fn workloads_verify_the_blocks_that_they_share() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let from = |start_bytes: u64, access| Workload {
        access,
        read_percent: 0,
        block_bytes: 8192,
        seed: start_bytes,
        range: Range { start_bytes, ..Range::first(SIZE / 2) },
        until: Until::AmountBytes(SIZE),
        ..checked()
    };
    let shared =
        [from(0, Access::Random), from(SIZE / 4, Access::Sequential), from(SIZE / 2, Access::Random)];
    let found = together(&mut target, &shared).expect("a run");
    // Almost all blocks of the file were written, and each is read back once.
    assert_eq!(found.wrong(), 0, "{found}");
    assert!((SIZE / 8192 * 9 / 10..=SIZE / 8192).contains(&found.checked), "{found}");
    // Blocks whose starts differ by 4 KiB have stamps of that size.
    let found = together(&mut target, &[from(0, Access::Random), from(4096, Access::Random)]).expect("a run");
    assert!(found.wrong() == 0 && found.checked > SIZE / 4096 / 3, "{found}");
    let unaligned =
        Workload { range: Range { start_bytes: 0, ..Range::first(SIZE) }, ..from(0, Access::Random) };
    let reader = Workload { read_percent: 100, ..unaligned.clone() };
    let error =
        together(&mut target, &[unaligned, reader]).expect_err("the reader does not know what was written");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

#[test]
fn damage_is_found_by_several_threads() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let pass = Workload { access: Access::Sequential, threads: 4, ..checked() };
    assert_eq!(findings(&mut target, &Workload { read_percent: 0, ..pass.clone() }, true).wrong(), 0);
    file.open().write_all_at(&[9; 4096], 9 << 20).expect("a block");
    let found = findings(&mut target, &Workload { read_percent: 100, ..pass }, false);
    assert_eq!((found.checked, found.wrong(), found.places.len()), (SIZE / 4096, 1, 1), "{found}");
}

#[test]
fn a_flipped_bit_is_found_where_it_is() {
    let found = after(|file| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, 81_920 + 777).expect("a byte");
        file.write_all_at(&[byte[0] ^ 0x10], 81_920 + 777).expect("a byte");
    });
    assert_eq!((found.checked, found.wrong()), (SIZE / 4096, 1), "{found}");
    assert_eq!((found.places[0].offset_bytes, found.places[0].wrong), (81_920, Wrong::Corrupt));
    assert!(found.to_string().contains("4096 B at byte 81920: corrupt"), "{found}");
}

#[test]
fn a_misdirected_write_is_found_at_both_places() {
    let found = after(|file| {
        let mut block = [0; 4096];
        file.read_exact_at(&mut block, 40_960).expect("a block");
        file.write_all_at(&block, 1 << 20).expect("a block");
    });
    assert_eq!(found.wrong(), 1, "{found}");
    assert_eq!(found.places[0].offset_bytes, 1 << 20);
    assert_eq!(found.places[0].wrong, Wrong::Misdirected { of_bytes: 40_960 });
}

#[test]
fn blocks_that_were_wiped_have_no_stamp() {
    let found = after(|file| file.write_all_at(&[0; 8192], 0).expect("two blocks"));
    assert_eq!(found.wrong(), 2, "{found}");
    assert!(found.places.iter().all(|place| place.wrong == Wrong::Unstamped));
}

/// Part of the file is wiped while the load that wrote it is still running, so these writes are lost.
#[test]
fn lost_writes_are_found_by_the_load_that_wrote_them() {
    let file = support::file();
    let path = file.path().to_str().expect("a path").to_owned();
    let mut target = armed(&path, &options(Engine::Auto));
    let tamper = |path: &Path| {
        let file = File::options().write(true).open(path).expect("the file");
        file.write_all_at(&vec![0; 1 << 20], 4 << 20).expect("a hole where data was");
    };
    let writes = Workload {
        access: Access::Sequential,
        read_percent: 0,
        until: Until::AmountBytes(SIZE),
        regime: CHECKED,
        ..workload(SIZE)
    };
    let found = findings(&mut target, &writes, true);
    assert_eq!((found.wrong(), found.checked), (0, SIZE / 4096));
    // The same writes, but the range is wiped before it is read back.
    let slow = Workload {
        regime: Regime {
            arrivals: Some(record::Arrivals {
                per_second: 1500,
                divisor: 1,
                process: record::Process::Constant,
            }),
            ..CHECKED
        },
        ..writes
    };
    let mut tampered = false;
    let answers = target.run_concurrently(
        std::slice::from_ref(&slow),
        &[StreamOptions::reading_back(true)],
        &mut |_, tick| {
            // At this point, the range to be wiped has been written.
            if !tampered && tick.share_done > 0.4 {
                tamper(Path::new(&path));
                tampered = true;
            }
            Flow::Continue
        },
    );
    let found = answers.expect("a run").remove(0).verified.expect("checks");
    assert!(tampered);
    assert_eq!(found.wrong(), 256, "{found}");
    assert_eq!(found.places[0].offset_bytes, 4 << 20);
    assert_eq!(found.places[0].wrong, Wrong::Lost { found: 0, written: 1 });
    assert!(found.to_string().contains("256 lost"), "{found}");
}

#[test]
fn unverifiable_workloads_are_refused_before_anything_is_written() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let mut refused = |workloads: &[Workload], message: &str| {
        let error = target
            .run_concurrently(
                workloads,
                &vec![StreamOptions::reading_back(true); workloads.len()],
                &mut |_, _| Flow::Continue,
            )
            .expect_err(message);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(message), "{error}");
    };
    refused(&[Workload { queue_depth: 2000, ..checked() }], "range of at least 8000 blocks");
    refused(&[checked(), workload(SIZE)], "writes to the range that");
    let small = Workload { range: Range::first(8 * 4096), threads: 2, queue_depth: 4, ..checked() };
    let error = target.run(&small, &mut |_| Flow::Continue).expect_err("too few blocks");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let holes = std::fs::read(file.path()).expect("the file");
    assert!(holes.iter().all(|byte| *byte == 0));
}

#[test]
fn findings_become_part_of_the_segment() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let mut found = |workload: &Workload| {
        let outcome = target.run(workload, &mut |_| Flow::Continue).expect("a run");
        let LoadOutcome::Finished(segment) = outcome else { panic!("nobody stopped it") };
        segment.verified.expect("verification")
    };
    let pass = Workload { access: Access::Sequential, ..checked() };
    let blocks = SIZE / u64::from(pass.block_bytes);
    let written = found(&pass);
    assert_eq!((written.checked_blocks, written.wrong_blocks, written.failed), (blocks, 0, None));
    let offset_bytes = 5 * u64::from(pass.block_bytes);
    file.open().write_all_at(b"damage", offset_bytes + 1000).expect("a write");
    let read = found(&Workload { read_percent: 100, ..pass.clone() });
    let place = WrongPlace { offset_bytes, length_bytes: pass.block_bytes, wrong: WrongData::Corrupt };
    assert_eq!((read.checked_blocks, read.wrong_blocks, read.places), (blocks, 1, vec![place]));
}

/// If a load is stopped, its findings must not be lost: when the load is repeated, the damage may no longer
/// exist.
#[test]
fn findings_before_a_load_is_stopped_are_kept() {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let pass = Workload { access: Access::Sequential, ..checked() };
    target.run(&pass, &mut |_| Flow::Continue).expect("a run");
    let read = Workload { read_percent: 100, until: Until::DurationNs(60_000_000_000), ..pass };
    let stopped = |target: &mut Armed| target.run(&read, &mut |_| Flow::Stop).expect("a run");
    assert!(matches!(stopped(&mut target), LoadOutcome::Stopped), "nothing is wrong");
    for block in 0..SIZE / u64::from(read.block_bytes) {
        file.open().write_all_at(b"damage", block * u64::from(read.block_bytes) + 1000).expect("a write");
    }
    let LoadOutcome::Finished(segment) = stopped(&mut target) else { panic!("the finding was dropped") };
    assert!(segment.verified.is_some_and(|verified| verified.wrong_blocks > 0));
}

/// Writes every block once with `written_bytes` per I/O, damages the file and reads it with `read_bytes` per I/O.
fn reread(written_bytes: u32, read_bytes: u32, access: Access, damage: impl Fn(&File)) -> VerifyReport {
    let file = support::file();
    let mut target = armed(file.path().to_str().expect("a path"), &options(Engine::Auto));
    let pass = Workload { access: Access::Sequential, block_bytes: written_bytes, ..checked() };
    assert_eq!(findings(&mut target, &Workload { read_percent: 0, ..pass.clone() }, true).wrong(), 0);
    damage(&file.open());
    findings(&mut target, &Workload { access, read_percent: 100, block_bytes: read_bytes, ..pass }, false)
}

#[test]
fn reads_that_are_shorter_than_the_stamped_blocks_are_not_called_corrupt() {
    for access in [Access::Sequential, Access::Random] {
        let found = reread(65536, 4096, access, |_| {});
        let reads = SIZE / 4096;
        assert_eq!((found.wrong(), found.checked, found.unchecked), (0, 0, reads), "{found}");
        assert!(found.places.is_empty());
        assert!(found.to_string().contains("stamped in blocks of 65536 B"), "{found}");
    }
}

#[test]
fn a_damaged_block_does_not_hide_others_in_the_same_read() {
    let found = reread(4096, 65536, Access::Sequential, |file| {
        let mut block = [0; 4096];
        file.read_exact_at(&mut block, 20_480).expect("a block");
        file.write_all_at(&block, 45_056).expect("a block");
        file.write_all_at(b"damage", 8192 + 1000).expect("damage");
        // The first block of a read, and the first block of all.
        file.write_all_at(b"damage", 0).expect("damage");
        file.write_all_at(b"damage", 65_536).expect("damage");
    });
    let places: Vec<_> = found.places.iter().map(|place| (place.offset_bytes, place.length_bytes)).collect();
    assert_eq!(places, [(0, 4096), (8192, 4096), (45_056, 4096), (65_536, 4096)], "{found}");
    assert_eq!((found.wrong(), found.checked), (4, SIZE / 4096), "{found}");
}
