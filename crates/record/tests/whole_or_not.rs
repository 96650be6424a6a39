//! A run appears completely or not at all, regardless of which storage operation fails and how.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use record::storage::simulated::{Crash, Disk, Fault, FaultKind, Logged, Simulated};
use record::storage::{Storage, create_folders};
use record::{Event, Library, LibraryError, RunFile, read_journal};
use support::run_file;

const ROOT: &str = "/var/lib/plateau";
const CRASHES: u64 = 40;
/// Number of runs that each of two threads creates.
const RUNS: u32 = 300;
const MORE: &[(&str, &[u8])] = &[("logo", &[7; 3000])];

fn process(disk: Disk, faults: Vec<Fault>) -> Simulated {
    Simulated::on(disk, "2026-11-22T12:00:00Z".parse().expect("a time"), faults)
}

fn library(process: &Simulated) -> Library {
    Library::on(Arc::new(process.clone()), ROOT)
}

/// Returns every state in which a crash may leave the disk, at any operation.
fn survivors(before: &Disk, log: &[Logged]) -> Vec<(usize, Crash, Disk)> {
    let mut disk = before.clone();
    let mut all = Vec::new();
    for place in 0..=log.len() {
        let drawn = (0..CRASHES).map(|seed| Crash::Drawn(seed * 1000 + place as u64));
        let crashes = [Crash::Killed, Crash::NothingSurvives, Crash::EverythingSurvives];
        all.extend(crashes.into_iter().chain(drawn).map(|crash| (place, crash, disk.after(crash))));
        if let Some(Logged::Op(op)) = log.get(place) {
            disk.apply(op);
        }
    }
    all
}

/// Returns the ids of all runs, or an error that names an incomplete or leftover run.
fn look(disk: Disk) -> Result<Vec<String>, String> {
    let process = process(disk, Vec::new());
    let library = library(&process);
    let hidden = |listed: &(Vec<record::Run>, Vec<LibraryError>)| listed.0.len() + listed.1.len();
    let before = library.list().map_err(|e| e.to_string())?;
    library.sweep().map_err(|e| e.to_string())?;
    let listed = library.list().map_err(|e| e.to_string())?;
    if hidden(&before) != hidden(&listed) {
        return Err("what is swept away was listed before".into());
    }
    let left = process.list(Path::new(ROOT)).unwrap_or_default();
    if left.len() != listed.0.len() || !listed.1.is_empty() {
        return Err(format!("{left:?} are in the library, {:?} cannot be read", listed.1));
    }
    for run in &listed.0 {
        let loaded = run.load().map_err(|error| format!("{}: {error}", run.file.id))?;
        let opened = loaded.entries.first().map(|entry| &entry.event);
        if !matches!(opened, Some(Event::Opened { .. })) {
            return Err(format!("{} has no beginning", run.file.id));
        }
        for (name, bytes) in MORE {
            if process.disk().read(&run.dir.join(name)) != Some(bytes) {
                return Err(format!("{} lacks its {name}", run.file.id));
            }
        }
    }
    Ok(listed.0.into_iter().map(|run| run.file.id).collect())
}

#[test]
fn a_crash_at_any_operation_leaves_a_whole_run_or_none() {
    for there in [&[][..], &["first"]] {
        let process = process(Disk::default(), Vec::new());
        for id in there {
            library(&process).create_with(run_file(id), MORE).expect("a run");
        }
        let (before, begun) = (process.disk(), process.log().len());
        library(&process).create_with(run_file("second"), MORE).expect("a run");
        let log = &process.log()[begun..];
        assert!(log.len() >= 12, "{} operations", log.len());
        let mut seen = [0, 0];
        for (place, crash, disk) in survivors(&before, log) {
            let ids = look(disk).unwrap_or_else(|torn| panic!("{crash:?} at {place}: {torn}"));
            let is_there = ids.iter().any(|id| id == "second");
            assert_eq!(ids.len(), there.len() + usize::from(is_there), "{crash:?} at {place}: {ids:?}");
            assert!(is_there || place < log.len(), "{crash:?} lost a run that was created");
            seen[usize::from(is_there)] += 1;
        }
        assert!(seen[0] > 200 && seen[1] > CRASHES, "{seen:?}");
    }
}

#[test]
fn a_failure_at_any_call_leaves_no_run_and_no_left_overs() {
    let kinds =
        [FaultKind::NoSpace, FaultKind::Quota, FaultKind::ReadOnly, FaultKind::Broken, FaultKind::Dead];
    let clean = process(Disk::default(), Vec::new());
    library(&clean).create_with(run_file("only"), MORE).expect("a run");
    let mut failed = 0;
    for kind in kinds {
        for call in 0..clean.calls() {
            let process = process(Disk::default(), vec![Fault { call, kind }]);
            let created = library(&process).create_with(run_file("only"), MORE);
            let whole = if created.is_ok() { vec!["only".to_owned()] } else { Vec::new() };
            failed += usize::from(created.is_err());
            drop(created);
            for crash in
                [Crash::Killed, Crash::NothingSurvives, Crash::EverythingSurvives, Crash::Drawn(call)]
            {
                let found = look(process.disk().after(crash));
                let found = found.unwrap_or_else(|torn| panic!("{kind:?} at {call}, {crash:?}: {torn}"));
                // A run whose last creation step failed may exist after a power cut, or on a disk that no
                // longer accepts changes, but then it is complete.
                let after_failure = whole.is_empty() && (crash != Crash::Killed || kind == FaultKind::Dead);
                assert!(found == whole || after_failure, "{kind:?} at {call}, {crash:?}: {found:?}");
            }
        }
    }
    assert!(failed > 60, "{failed}");
}

#[test]
fn a_failure_and_then_a_crash_at_any_operation_leave_a_whole_run_or_none() {
    let clean = process(Disk::default(), Vec::new());
    library(&clean).create_with(run_file("only"), MORE).expect("a run");
    for kind in [FaultKind::NoSpace, FaultKind::Broken] {
        for call in clean.calls() - 12..clean.calls() {
            let process = process(Disk::default(), vec![Fault { call, kind }]);
            drop(library(&process).create_with(run_file("only"), MORE));
            for (place, crash, disk) in survivors(&Disk::default(), &process.log()) {
                let swept = self::process(disk, Vec::new());
                let found = look(swept.disk());
                found.unwrap_or_else(|torn| panic!("{kind:?} at {call}, {crash:?} at {place}: {torn}"));
                // The removal of leftovers may be interrupted, too.
                let before = swept.disk();
                library(&swept).sweep().expect("swept");
                let crash = Crash::Drawn(place as u64 ^ call);
                for (then, _, disk) in survivors(&before, &swept.log()).into_iter().step_by(13) {
                    let found = look(disk.after(crash));
                    found.unwrap_or_else(|torn| panic!("{kind:?} at {call}, {place}, swept {then}: {torn}"));
                }
            }
        }
    }
}

/// Creates a run in place, file by file, as earlier versions did.
fn create_in_place(process: &Simulated, file: &RunFile) {
    let dir = Path::new(ROOT).join(&file.id);
    let storage: Arc<dyn Storage> = Arc::new(process.clone());
    create_folders(&*storage, Path::new(ROOT)).expect("a folder");
    storage.create_folder(&dir).expect("a folder");
    let mut written = storage.create(&dir.join("run.json")).expect("a file");
    written.append(&serde_json::to_vec(file).expect("JSON")).expect("written");
    written.sync_all().expect("synced");
    drop(record::Journal::create_on(storage, &dir.join("journal")).expect("a journal"));
}

#[test]
fn the_same_check_finds_torn_runs_that_were_created_in_place() {
    let process = process(Disk::default(), Vec::new());
    create_in_place(&process, &run_file("only"));
    let torn = survivors(&Disk::default(), &process.log())
        .into_iter()
        .filter(|(.., disk)| look(disk.clone()).is_err());
    assert!(torn.count() > 50);
}

#[test]
fn a_run_that_is_being_made_is_not_swept_away() {
    let process = process(Disk::default(), Vec::new());
    let storage: Arc<dyn Storage> = Arc::new(process.clone());
    let dir = Path::new(ROOT).join(".new-abcdef-iops");
    create_folders(&*storage, &dir).expect("a folder");
    let held = storage.open_folder(&dir).expect("a folder");
    assert!(held.try_lock().expect("a lock"));
    library(&process).sweep().expect("swept");
    assert!(storage.look(&dir).is_ok(), "another process is working on it");
    drop(held);
    storage.create_folder(&dir.join("something")).expect("a folder");
    library(&process).sweep().expect("swept");
    assert!(storage.look(&dir).is_ok(), "it holds what no run has");
    storage.remove_folder(&dir.join("something")).expect("removed");
    library(&process).sweep().expect("swept");
    assert!(storage.look(&dir).is_err());
}

#[test]
fn in_a_real_folder_a_run_appears_whole_and_left_overs_are_removed() {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("deep/runs");
    let left = root.join(".new-zzzzzz-iops");
    std::fs::create_dir_all(&left).expect("a folder");
    std::fs::write(left.join("run.json"), "{").expect("a file");
    let linked = root.join(".new-link");
    std::os::unix::fs::symlink(dir.path(), &linked).expect("a link");
    let library = Library::at(&root);
    assert!(library.list().expect("a list").0.is_empty(), "what is being made is not listed");
    let (run, mut journal) = library.create_with(run_file("abcdef-iops"), MORE).expect("a run");
    assert!(!left.exists() && linked.is_symlink() && dir.path().exists());
    journal.append(Event::Closed).expect("appended after the directory got its name");
    drop(journal);
    assert_eq!(read_journal(&run.journal_path()).expect("a journal").entries.len(), 2);
    assert_eq!(std::fs::read(run.dir.join("logo")).expect("a file"), MORE[0].1);
    assert!(library.create(run_file("abcdef-iops")).is_err(), "a run is not created twice");
    assert_eq!(library.find("abcdef").expect("a run").load().expect("whole").entries.len(), 2);
}

/// The creator may publish a directory after another process has opened it for removal but before that process
/// locks it.
#[test]
fn a_sweep_takes_nothing_from_runs_that_are_created_at_the_same_time() {
    let dir = tempfile::tempdir().expect("a folder");
    let is_done = AtomicBool::new(false);
    let create = |thread: u32| {
        for number in 0..RUNS {
            let library = Library::at(dir.path());
            let (run, journal) =
                library.create(run_file(&format!("{thread}-{number}-iops"))).expect("created");
            drop(journal);
            run.load().unwrap_or_else(|error| panic!("{}: {error}", run.file.id));
        }
    };
    std::thread::scope(|scope| {
        let sweepers = [(); 2].map(|()| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    Library::at(dir.path()).sweep().expect("swept");
                }
            })
        });
        let creators = [1, 2].map(|thread| {
            let create = &create;
            scope.spawn(move || create(thread))
        });
        let created = creators.map(|creator| creator.join().is_ok());
        is_done.store(true, Ordering::Relaxed);
        assert!(sweepers.into_iter().all(|sweeper| sweeper.join().is_ok()) && created == [true; 2]);
    });
    let (runs, unreadable) = Library::at(dir.path()).list().expect("a library");
    assert_eq!((runs.len(), unreadable.len()), (2 * RUNS as usize, 0));
}

#[test]
fn a_removal_interrupted_anywhere_leaves_a_whole_run_or_none() {
    let process = process(Disk::default(), Vec::new());
    for id in ["first", "second"] {
        library(&process).create_with(run_file(id), MORE).expect("a run");
    }
    let (before, begun) = (process.disk(), process.log().len());
    library(&process).find("second").expect("a run").remove().expect("removed");
    let log = &process.log()[begun..];
    let mut seen = [0, 0];
    for (place, crash, disk) in survivors(&before, log) {
        let ids = look(disk).unwrap_or_else(|torn| panic!("{crash:?} at {place}: {torn}"));
        let is_there = ids.len() == 2;
        assert!(is_there || ids == ["first"], "{crash:?} at {place}: {ids:?}");
        seen[usize::from(is_there)] += 1;
    }
    assert!(seen[0] > CRASHES && seen[1] > CRASHES, "{seen:?}");
}

#[test]
fn a_run_in_progress_is_known_and_stays() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let (run, journal) = library.create(run_file("abcdef-iops")).expect("a run");
    assert!(run.is_in_progress().expect("a lock") && run.appears_in_progress().expect("a lock"));
    assert!(matches!(run.clone().remove(), Err(LibraryError::InProgress { .. })));
    drop(journal);
    assert!(!run.is_in_progress().expect("a lock") && !run.appears_in_progress().expect("a lock"));
    assert_eq!(run.load().expect("a journal").entries.len(), 1, "it was not touched");
}

#[test]
fn only_appended_records_are_read_unless_the_journal_has_changed_otherwise() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, mut journal) = Library::at(dir.path()).create(run_file("abcdef-iops")).expect("a run");
    let mut known = run.load().expect("a journal");
    // A mark that would be lost if the first record were re-read.
    let (mark, first) = (jiff::Timestamp::UNIX_EPOCH, known.entries[0].wall);
    known.entries[0].wall = mark;
    let mut more = |length_ns| drop(journal.append(Event::Idled { length_ns }).expect("appended"));
    more(1);
    more(2);
    let known = run.load_more(known).expect("a journal");
    assert_eq!((known.entries.len(), known.entries[0].wall), (3, mark));
    assert_eq!(known.digest, run.load().expect("a journal").digest);
    let again = run.load_more(known.clone()).expect("a journal");
    assert_eq!((again.entries.len(), again.entries[0].wall), (3, first), "nothing was appended");
    more(3);
    let path = run.journal_path();
    let mut bytes = std::fs::read(&path).expect("readable");
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    std::fs::write(&path, &bytes).expect("writable");
    let text =
        |result: Result<record::Loaded, LibraryError>| result.map(drop).expect_err("damaged").to_string();
    assert_eq!(text(run.load_more(known.clone())), text(run.load()));
    // A journal with fewer records, as if an older copy of it had been restored.
    let shorter = bytes.iter().position(|byte| *byte == b'\n').expect("a header");
    let second = bytes[shorter + 1..].iter().position(|byte| *byte == b'\n').expect("a record");
    std::fs::write(&path, &bytes[..shorter + 1 + second + 1]).expect("writable");
    assert_eq!(run.load_more(known).expect("a journal").entries.len(), 1);
}

#[test]
fn a_removal_follows_no_links_and_removes_only_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path().join("runs"));
    let (run, _) = library.create(run_file("abcdef-iops")).expect("a run");
    let other = dir.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("kept"), "").expect("a file");
    let link = run.dir.join("link");
    std::os::unix::fs::symlink(&other, &link).expect("a link");
    assert!(matches!(run.clone().remove(), Err(LibraryError::Foreign { path, .. }) if path == link));
    std::fs::remove_file(&link).expect("removed");
    let alias = library.root().join("alias");
    std::os::unix::fs::symlink(&run.dir, &alias).expect("a link");
    let by_alias = record::Run::open(&alias).expect("a run");
    assert!(matches!(by_alias.remove(), Err(LibraryError::Foreign { .. })));
    assert!(other.join("kept").exists() && run.load().is_ok());
    std::fs::write(run.dir.join("report.html"), "").expect("a file");
    run.clone().remove().expect("removed");
    assert!(!run.dir.exists() && std::fs::read_dir(library.root()).expect("a folder").count() == 1);
}

#[test]
fn an_id_is_a_plain_name() {
    let text = |id: &str| serde_json::to_vec(&run_file(id)).expect("JSON");
    for id in ["abcdef-iops", "example-slc-a", "a.b_c"] {
        assert!(record::parse_run_file(&text(id)).is_ok(), "{id}");
    }
    for id in ["", ".", "..", "../x", "/etc/x", "a/b", "a b", "-x", ".new-x", "a\nb", &"x".repeat(201)] {
        let problem = record::parse_run_file(&text(id)).expect_err(id);
        assert!(problem.contains("is not the id of a run"), "{id}: {problem}");
    }
    let mut file = run_file("abcdef-iops");
    file.target.capacity_bytes = u64::MAX;
    assert!(record::parse_run_file(&serde_json::to_vec(&file).expect("JSON")).is_err());
}
