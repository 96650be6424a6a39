//! However the files of a run change, the index has the rows that a new index would have: no row is wrong or missing.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use fixture::Scenario;
use record::{Change, Event, Library};
use store::{Access, InProgress, Index, Seen, StoreError};

const BUILD: &str = "this build";

fn open(root: &Path) -> Index {
    Index::open(root, BUILD, Access::Write).expect("an index")
}

fn update(root: &Path) -> (usize, usize) {
    let updated = open(root).update(InProgress::Included).expect("an update");
    (updated.indexed, updated.removed)
}

/// Checks that the index is up to date, and that it knows this.
#[track_caller]
fn assert_current(root: &Path, what: &str) {
    let mut anew = Index::in_memory(root, BUILD).expect("an index");
    let runs = anew.update(InProgress::Included).expect("an update");
    let mut index = open(root);
    assert!(index.dump().expect("a dump") == anew.dump().expect("a dump"), "{what}");
    let seen = index.survey().expect("a survey");
    assert_eq!(seen, anew.survey().expect("a survey"), "{what}");
    // Folders without the files of a run are stale, but not unreadable runs.
    let is_complete =
        |folder: &str| ["run.json", "journal"].iter().all(|name| root.join(folder).join(name).is_file());
    let stale = seen.iter().filter(|(folder, seen)| **seen == Seen::Stale && is_complete(folder)).count();
    assert_eq!(stale, runs.unreadable.len(), "{what}");
    let current = index.runs_if_current().expect("a comparison");
    assert_eq!(current, runs.unreadable.is_empty().then_some(runs.runs), "{what}");
}

/// Writes a file as a backup program does: with its content and time.
fn restore(path: &Path, content: &[u8], modified: SystemTime) {
    fs::write(path, content).expect("written");
    let file = File::options().write(true).open(path).expect("a file");
    file.set_times(FileTimes::new().set_modified(modified)).expect("its time");
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|found| found.modified()).expect("its time")
}

fn append(root: &Path, id: &str) {
    let run = Library::at(root).open(id).expect("a run");
    let (mut journal, _) = run.reopen().expect("a journal");
    journal.append(Event::Interrupted { reason: "a test".into() }).expect("a record");
}

/// Whatever happens to run `a`.
type Happening = fn(&Path);

/// Replaces the files of `a` with those of `b`, all with a time before that of any run.
fn replace(root: &Path) {
    for name in ["run.json", "journal"] {
        let content = fs::read(root.join("b").join(name)).expect("a file");
        restore(&root.join("a").join(name), &content, SystemTime::UNIX_EPOCH + Duration::from_secs(1));
    }
}

/// Cuts the last record off.
fn truncate(root: &Path) {
    let path = root.join("a/journal");
    let whole = fs::read(&path).expect("a journal");
    let end = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("a line") + 1;
    let file = File::options().write(true).open(&path).expect("a journal");
    file.set_len(end as u64).expect("shorter");
}

/// Appends a record, brings the index up to date, and restores the earlier journal with its own time.
fn restore_earlier(root: &Path) {
    let path = root.join("a/journal");
    let (earlier, time) = (fs::read(&path).expect("a journal"), modified(&path));
    append(root, "a");
    assert_eq!(update(root), (1, 0));
    restore(&path, &earlier, time);
}

/// Changes one byte of `run.json`, and neither its length nor the journal.
fn change_run_file(root: &Path) {
    let path = root.join("a/run.json");
    let mut text = fs::read(&path).expect("a file");
    let digit = text.iter().position(u8::is_ascii_digit).expect("a digit");
    text[digit] = if text[digit] == b'9' { b'8' } else { b'9' };
    fs::write(&path, text).expect("written");
}

fn swap(root: &Path) {
    for (from, to) in [("a", "c"), ("b", "a"), ("c", "b")] {
        fs::rename(root.join(from), root.join(to)).expect("renamed");
    }
}

const HAPPENINGS: &[(&str, Happening)] = &[
    ("nothing", |_| ()),
    ("a record is appended", |root| append(root, "a")),
    ("the files are replaced by those of another run, which are older", replace),
    ("the last record is cut off", truncate),
    ("an earlier journal is restored, with its own time", restore_earlier),
    ("the run file is changed in place", change_run_file),
    ("the journal is removed", |root| fs::remove_file(root.join("a/journal")).expect("removed")),
    ("the run file is removed", |root| fs::remove_file(root.join("a/run.json")).expect("removed")),
    ("the run is removed", |root| fs::remove_dir_all(root.join("a")).expect("removed")),
    ("the run is renamed", |root| fs::rename(root.join("a"), root.join("z")).expect("renamed")),
    ("two runs exchange their names", swap),
    ("the run is archived", |root| {
        let run = Library::at(root).open("a").expect("a run");
        drop(run.archive::<record::LibraryError>(|_| Ok(())).expect("archived"));
    }),
    ("the run is tagged", |root| {
        let tag = Change::Tagged { run: "a".into(), tag: "x".into() };
        let tagged = Library::at(root).annotate::<record::LibraryJournalError>("me", |_| Ok(vec![tag]));
        tagged.expect("tagged");
    }),
    ("the library's journal is removed", |root| {
        let _ = fs::remove_file(root.join(record::LIBRARY_JOURNAL));
    }),
    ("a folder that is not a run appears", |root| fs::create_dir(root.join("folder")).expect("created")),
];

#[test]
fn the_rows_follow_every_change_of_the_files() {
    for (what, happen) in HAPPENINGS {
        let root = fixture::folder();
        for id in ["a", "b"] {
            let restless = id == "b";
            fixture::record(root.path(), &Scenario { id, restless, ..Scenario::default() });
        }
        assert_eq!(update(root.path()), (2, 0), "{what}");
        assert_current(root.path(), what);
        happen(root.path());
        update(root.path());
        assert_current(root.path(), what);
        // The same again, one after the other.
        append(root.path(), "b");
        update(root.path());
        assert_current(root.path(), what);
    }
}

#[test]
fn an_index_that_is_not_up_to_date_knows_it() {
    for (what, happen) in &HAPPENINGS[1..] {
        let root = fixture::folder();
        for id in ["a", "b"] {
            fixture::record(root.path(), &Scenario { id, ..Scenario::default() });
        }
        // Whatever the resolution of the clock, the files of the two runs differ in time.
        for name in ["run.json", "journal"] {
            let path = root.path().join("b").join(name);
            let content = fs::read(&path).expect("a file");
            restore(&path, &content, modified(&path) - Duration::from_secs(10));
        }
        let tag = Change::Tagged { run: "b".into(), tag: "y".into() };
        let tagged =
            Library::at(root.path()).annotate::<record::LibraryJournalError>("me", |_| Ok(vec![tag]));
        tagged.expect("tagged");
        update(root.path());
        happen(root.path());
        let current = open(root.path()).runs_if_current().expect("a comparison");
        let is_no_run = *what == "a folder that is not a run appears";
        assert_eq!(current, is_no_run.then_some(2), "{what}");
    }
}

#[test]
fn an_index_of_an_earlier_version_is_migrated() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario { id: "a", ..Scenario::default() });
    update(root.path());
    let dump = open(root.path()).dump().expect("a dump");
    let connection = rusqlite::Connection::open(root.path().join(store::INDEX)).expect("SQLite");
    let earlier = "DROP INDEX run_by_start; DROP INDEX drive_by_run; ALTER TABLE source DROP COLUMN listed; \
                   ALTER TABLE source DROP COLUMN run_id; UPDATE schema_version SET version = 3";
    connection.execute_batch(earlier).expect("the earlier schema");
    drop(connection);
    let read = Index::open(root.path(), BUILD, Access::Read).err();
    assert!(matches!(read, Some(StoreError::Missing { .. })), "{read:?}");
    assert_eq!(update(root.path()), (1, 0), "only the files contain what the new schema needs");
    assert!(open(root.path()).dump().expect("a dump") == dump);
    assert_current(root.path(), "migrated");
}

#[test]
fn the_index_can_be_read_where_nothing_can_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario { id: "a", ..Scenario::default() });
    update(root.path());
    let mode = |mode| fs::Permissions::from_mode(mode);
    let index = root.path().join(store::INDEX);
    fs::set_permissions(&index, mode(0o440)).expect("our own");
    let mut read = Index::open(root.path(), BUILD, Access::Read).expect("an index");
    assert_eq!(read.runs_if_current().expect("a comparison"), Some(1));
    let missing = Index::open(&root.path().join("none"), BUILD, Access::Read).err();
    assert!(matches!(missing, Some(StoreError::Missing { .. })), "{missing:?}");
    // A system call that fails does not mean that others can write to the index.
    let failed = stdx::files::Unowned::System {
        path: index.clone(),
        source: std::io::ErrorKind::ReadOnlyFilesystem.into(),
    };
    let text = StoreError::from(failed).to_string();
    assert_eq!(text, "cannot open or change the store");
    fs::set_permissions(&index, mode(0o666)).expect("our own");
    let untrusted = Index::open(root.path(), BUILD, Access::Read).err();
    assert!(matches!(untrusted, Some(StoreError::Untrusted(_))), "{untrusted:?}");
}
