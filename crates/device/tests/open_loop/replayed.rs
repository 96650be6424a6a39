//! Replays of individual I/Os: each is issued at its offset and due time, except those that do not fit the target.

use std::path::{Path, PathBuf};

use super::support::{armed, directory};
use device::{DriveError, ErrorKind, OpenOptions};
use engine::{Due, Flow, Pace, ReplayOptions, Replayed};
use stdx::access::Access;

/// The smallest target.
const SIZE: u64 = 16 << 20;
const OPTIONS: ReplayOptions = ReplayOptions { pace: Pace::Open, depth: 8, largest_bytes: 16_384, seed: 1 };

const fn due(due_us: u64, read: bool, offset_bytes: u64, block_bytes: u32) -> Due {
    Due { due_ns: due_us * 1000, access: Access { read, block_bytes, offset_bytes } }
}

/// Returns a source that supplies a few I/Os at a time.
fn source(ios: &[Due]) -> impl FnMut(&mut Vec<Due>) {
    let mut rest = ios.iter().copied();
    move |batch| batch.extend(rest.by_ref().take(3))
}

fn replay(
    target: &mut device::Armed,
    options: &ReplayOptions,
    ios: &[Due],
) -> Result<Option<Replayed>, DriveError> {
    target.replay(options, &mut source(ios), &mut |_| Flow::Continue)
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let dir = directory();
    let path = dir.path().join("target");
    std::fs::write(&path, vec![0; SIZE as usize]).expect("a file");
    (dir, path)
}

fn open(path: &Path) -> device::Armed {
    armed(path.to_str().expect("a path"), &OpenOptions::default())
}

#[test]
fn each_io_goes_to_its_place_and_never_starts_early() {
    let (_dir, path) = file();
    let ios = [
        due(0, false, 8192, 4096),
        due(1000, false, 1 << 20, 16_384),
        due(1000, true, 0, 4096),
        due(30_000, false, SIZE - 4096, 4096),
    ];
    let replayed = replay(&mut open(&path), &OPTIONS, &ios).expect("a replay").expect("not stopped");
    assert_eq!((replayed.read.ios, replayed.write.ios), (1, 3));
    assert_eq!((replayed.read.bytes, replayed.write.bytes), (4096, 24_576));
    assert_eq!(replayed.lateness.count(), 4);
    assert!(replayed.length_ns >= 30_000_000, "{} ns", replayed.length_ns);
    let content = std::fs::read(&path).expect("the file");
    let blocks = content.chunks(4096).enumerate();
    let written: Vec<usize> =
        blocks.filter(|(_, block)| block.iter().any(|byte| *byte != 0)).map(|(index, _)| index).collect();
    assert_eq!(written, [2, 256, 257, 258, 259, SIZE as usize / 4096 - 1]);
}

#[test]
fn a_closed_loop_ignores_times() {
    let (_dir, path) = file();
    let ios: Vec<Due> = (0..100).map(|index| due(index * 3_600_000_000, true, index * 4096, 4096)).collect();
    let options = ReplayOptions { pace: Pace::Closed, depth: 4, ..OPTIONS };
    let replayed = replay(&mut open(&path), &options, &ios).expect("a replay").expect("not stopped");
    assert_eq!((replayed.read.ios, replayed.lateness.count()), (100, 0));
    assert!(replayed.most_outstanding <= 4);
}

#[test]
fn an_io_that_does_not_fit_is_an_error_and_is_not_issued() {
    let (_dir, path) = file();
    for wrong in [
        due(1, false, SIZE - 4096, 8192),
        due(1, false, 100, 4096),
        due(1, false, u64::MAX - 511, 4096),
        due(1, false, 0, 0),
        due(1, false, 0, 32_768),
    ] {
        let ios = [due(0, true, 0, 4096), wrong, due(2, false, 0, 4096)];
        let error = replay(&mut open(&path), &OPTIONS, &ios).expect_err("it does not fit");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert!(std::fs::read(&path).expect("the file").iter().all(|byte| *byte == 0));
    let drive = device::open(path.to_str().expect("a path"), &OpenOptions::default()).expect("a target");
    let mut reader = drive.open_to_read().expect("it can be read");
    let write = [due(0, false, 0, 4096)];
    let refused = reader.replay(&OPTIONS, &mut source(&write), &mut |_| Flow::Continue);
    assert_eq!(refused.expect_err("a write").kind(), ErrorKind::Invalid);
}

#[test]
fn a_replay_can_be_stopped() {
    let (_dir, path) = file();
    let ios: Vec<Due> = (0..100).map(|index| due(index * 3_600_000_000, true, 0, 4096)).collect();
    let stopped = open(&path).replay(&OPTIONS, &mut source(&ios), &mut |_| Flow::Stop);
    assert_eq!(stopped.expect("no failure"), None);
}

#[test]
fn simulated_drives_replay_in_virtual_time() {
    let options = OpenOptions { scale: Some("1/64".into()), sim_seed: 3, ..OpenOptions::default() };
    let mut target = device::open("sim:sas-slc-2011", &options).expect("a drive").arm(None).expect("a drive");
    // Ten minutes.
    let ios: Vec<Due> =
        (0..600).map(|second| due(second * 1_000_000, second % 2 == 0, second * 4096, 4096)).collect();
    let replayed = replay(&mut target, &OPTIONS, &ios).expect("a replay").expect("not stopped");
    assert_eq!((replayed.read.ios, replayed.write.ios), (300, 300));
    assert_eq!((replayed.lateness.max(), replayed.held_back), (Some(0), 0));
    assert_eq!(replayed.length_ns / 1_000_000_000, 599);
    assert_eq!((replayed.last_due_ns, replayed.last_start_ns), (599_000_000_000, 599_000_000_000));
}

/// All but the first four of 300 I/Os that are due at the same time must wait for a free slot.
#[test]
fn every_io_that_had_to_wait_is_counted() {
    let (_dir, path) = file();
    let ios: Vec<Due> = (0..300).map(|index| due(0, true, index * 4096, 4096)).collect();
    let options = ReplayOptions { depth: 4, ..OPTIONS };
    let sim = OpenOptions { scale: Some("1/64".into()), ..OpenOptions::default() };
    let sim = device::open("sim:sas-slc-2011", &sim).expect("a drive").arm(None).expect("a drive");
    for mut target in [open(&path), sim] {
        let replayed = replay(&mut target, &options, &ios).expect("a replay").expect("not stopped");
        assert_eq!((replayed.held_back, replayed.most_outstanding), (296, 4), "{:?}", replayed.io_path);
        assert_eq!(replayed.last_due_ns, 0);
        assert!(replayed.last_start_ns > 0 && replayed.last_start_ns <= replayed.length_ns);
    }
}
