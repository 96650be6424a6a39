//! A target that is opened for reading is never written to, no matter who else uses it.

mod support;

use device::{ErrorKind, OpenOptions};
use engine::{Engine, Flow, LoadOutcome};
use record::{DataPattern, Workload};
use support::{Loop, armed, finish, workload};

const SIZE: u64 = 16 << 20;

fn reads() -> Workload {
    Workload { read_percent: 100, ..workload(SIZE) }
}

fn reader(path: &str, engine: Engine) -> device::Reader {
    let options = OpenOptions { engine, ..OpenOptions::default() };
    device::open(path, &options).expect("a target").open_to_read().expect("a readable target")
}

#[test]
fn every_write_is_refused_and_nothing_changes() {
    for engine in [Engine::Auto, Engine::IoUring, Engine::Libaio, Engine::Threads] {
        let file = support::file();
        let path = file.path().to_str().expect("a path");
        let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
        finish(&mut armed(path, &options), &workload(SIZE));
        let before = support::fingerprint(path);
        let mut target = reader(path, engine);
        for (read_percent, data_pattern) in
            [(0, DataPattern::Random), (99, DataPattern::Random), (0, DataPattern::Zero)]
        {
            let request = Workload { read_percent, data_pattern, ..workload(SIZE) };
            let error = target.run(&request, &mut |_| Flow::Continue).expect_err("a write");
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("for reading only"), "{error}");
        }
        let Ok(LoadOutcome::Finished(segment)) = target.run(&reads(), &mut |_| Flow::Continue) else {
            panic!("reads");
        };
        assert!(segment.read.ios > 0 && segment.write.ios == 0);
        assert_eq!(support::fingerprint(path), before, "{engine:?}");
    }
}

#[test]
fn a_device_in_use_can_be_read_and_not_written() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    let before = support::fingerprint(&device.path);
    let mut held = armed(&device.path, &OpenOptions::default());
    let mut target = reader(&device.path, Engine::Auto);
    assert!(matches!(target.run(&reads(), &mut |_| Flow::Continue), Ok(LoadOutcome::Finished(_))));
    assert!(target.run(&workload(SIZE), &mut |_| Flow::Continue).is_err());
    assert_eq!(support::fingerprint(&device.path), before);
    finish(&mut held, &workload(SIZE));
}

#[test]
fn scsi_commands_are_refused_for_anything_but_a_disk() {
    let refused = |path: &str| {
        let options = OpenOptions { engine: Engine::Scsi, ..OpenOptions::default() };
        let error = device::open(path, &options).map(drop).expect_err("an error");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("a whole SCSI or SATA disk"), "{error}");
    };
    refused(support::file_of(SIZE).path().to_str().expect("a path"));
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    refused(&device.path);
}

#[test]
fn nothing_is_created_or_extended() {
    let dir = support::directory();
    let path = dir.path().join("absent");
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let open = || device::open(path.to_str().expect("a path"), &options).expect("a target").open_to_read();
    assert_eq!(open().expect_err("nothing there").kind(), ErrorKind::Unusable);
    assert!(!path.exists());
    std::fs::File::create(&path).expect("a file");
    assert_eq!(open().expect_err("too small").kind(), ErrorKind::Unusable);
    assert_eq!(std::fs::metadata(&path).expect("the file").len(), 0);
}
