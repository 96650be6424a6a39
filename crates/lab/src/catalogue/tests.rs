use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, SystemTime};

use pts::Standing;
use record::{JOURNAL_FILE, Library, RUN_FILE};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use super::{Catalogue, Row, SavedRows, State};
use crate::followed::example;
use crate::metrics_of;

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

#[test]
fn the_next_server_reads_only_the_runs_that_changed() {
    let (dir, state) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (run, journal) = example(dir.path());
    drop(journal);
    let server = |build: &str| {
        let saved = SavedRows::new(state.path(), build.into()).at_once();
        Catalogue::saving(Library::at(dir.path()), saved)
    };
    let listed = |catalogue: &Catalogue| Row::clone(&catalogue.rows().expect("readable")[0]);
    let first = server("1");
    // A child that another test is just starting may hold a copy of the lock for a moment.
    while listed(&first).state != State::Known(Standing::Incomplete) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let row = listed(&first);
    let reads = reads_of(&run.journal_path());
    assert_eq!(listed(&server("1")), row);
    assert!(!was_read(&reads));
    assert_eq!(listed(&server("2")), row);
    assert!(was_read(&reads), "another build may evaluate runs differently");
    assert_eq!(listed(&server("2")), row);
    assert!(!was_read(&reads));
    let run_file = File::options().write(true).open(run.dir.join(RUN_FILE)).expect("a run file");
    run_file.set_modified(SystemTime::UNIX_EPOCH).expect("another time");
    assert_eq!(listed(&server("2")), row);
    assert!(was_read(&reads), "the run file may have changed");
    std::fs::write(state.path().join("rows"), "{").expect("damage");
    assert_eq!(listed(&server("2")), row);
    assert!(was_read(&reads));
}

#[test]
fn metrics_are_made_from_the_saved_rows() {
    let (dir, state) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (run, journal) = example(dir.path());
    drop(journal);
    let saved = SavedRows::new(state.path(), "1".into()).at_once();
    let catalogue = Catalogue::saving(Library::at(dir.path()), saved);
    // A child that another test is just starting may hold a copy of the lock for a moment.
    while catalogue.rows().expect("readable")[0].state != State::Known(Standing::Incomplete) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let reads = reads_of(&run.journal_path());
    for (build, is_current) in [("1", true), ("2", false)] {
        let text = metrics_of(Library::at(dir.path()), state.path(), build.into()).expect("readable");
        assert!(text.contains("plateau_runs{state=\"incomplete\"} 1\n"), "{text}");
        assert_eq!(was_read(&reads), !is_current, "{build}");
    }
}

#[test]
fn rows_follow_runs_that_are_added_and_removed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, _journal) = example(dir.path());
    let catalogue = Catalogue::of(Library::at(dir.path()));
    let ids = || -> Vec<String> {
        catalogue.rows().expect("readable").iter().map(|row| row.file.id.clone()).collect()
    };
    assert_eq!(ids(), ["example"]);
    // Lists contain a copied run once per folder.
    let copy = dir.path().join("a-copy");
    std::fs::create_dir(&copy).expect("a folder");
    for name in [RUN_FILE, JOURNAL_FILE] {
        std::fs::copy(run.dir.join(name), copy.join(name)).expect("copied");
    }
    assert_eq!(ids(), ["example"; 2]);
    std::fs::rename(&copy, dir.path().join("z-copy")).expect("renamed");
    assert_eq!(ids(), ["example"; 2]);
    std::fs::remove_dir_all(dir.path().join("z-copy")).expect("removed");
    assert_eq!(ids(), ["example"]);
}
