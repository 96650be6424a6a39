use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use pts::Standing;
use record::{Library, RUN_FILE};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use super::{Catalogue, Row, State};
use crate::followed::example;

/// Returns a descriptor from which the times that a file is read can be read.
fn reads_of(file: &Path) -> OwnedFd {
    let reads = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).expect("inotify");
    add_watch(&reads, file, WatchFlags::ACCESS).expect("watched");
    reads
}

/// Returns whether the file has been read since the last call.
fn was_read(reads: &OwnedFd) -> bool {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(reads, &mut buffer);
    let mut was_read = false;
    loop {
        match reader.next() {
            Ok(_) => was_read = true,
            Err(Errno::WOULDBLOCK) => return was_read,
            Err(errno) => panic!("{errno}"),
        }
    }
}

/// The run in progress may be measuring.
#[test]
fn whether_a_drive_is_free_is_found_out_without_reading_journals() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, journal) = example(dir.path());
    let catalogue = Catalogue::of(Library::at(dir.path()));
    let reads = reads_of(&run.journal_path());
    let usage = || catalogue.usage(|target| target.identity == "S4EWNX0R").by;
    for _ in 0..3 {
        assert_eq!(usage().as_deref(), Some("run example is in progress"));
    }
    assert_eq!(catalogue.usage(|target| target.identity == "other").by, None);
    drop(journal);
    // A child that another test is just starting may hold a copy of the lock for a moment.
    while usage().is_some() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!was_read(&reads));
    assert_eq!(catalogue.rows().expect("readable").len(), 1);
    assert!(was_read(&reads), "a list of runs needs the journal");
}

#[test]
fn an_interrupted_run_is_read_again_only_if_a_process_works_on_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, journal) = example(dir.path());
    drop(journal);
    let catalogue = Catalogue::of(Library::at(dir.path()));
    let state = || catalogue.rows().expect("readable")[0].state.clone();
    // A child that another test is just starting may hold a copy of the lock for a moment.
    while state() != State::Known(Standing::Incomplete) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let reads = reads_of(&run.dir.join(RUN_FILE));
    assert_eq!([state(), state()], [Standing::Incomplete; 2].map(State::Known));
    assert!(!was_read(&reads));
    let journal = File::open(run.journal_path()).expect("a journal");
    journal.lock().expect("a lock");
    assert_eq!(state(), State::Known(Standing::Running));
    assert!(was_read(&reads));
}

#[test]
fn requests_at_the_same_time_share_the_rows() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_run, _journal) = example(dir.path());
    let catalogue = Catalogue::of(Library::at(dir.path()));
    let together = Barrier::new(4);
    let first = || {
        together.wait();
        Arc::clone(&catalogue.rows().expect("readable")[0])
    };
    let rows: Vec<Arc<Row>> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(first)).collect();
        all.into_iter().map(|thread| thread.join().expect("a row")).collect()
    });
    assert!(rows.iter().all(|row| Arc::ptr_eq(row, &rows[0])), "each journal was read once");
}
