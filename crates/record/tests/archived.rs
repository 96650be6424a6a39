//! Archived runs: an interruption at any point loses nothing, and an archive can be read like the directory.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use record::storage::Storage as _;
use record::storage::simulated::{Crash, Disk, Fault, FaultKind, Logged, Simulated};
use record::{Event, Library, LibraryError, Run};
use support::run_file;

const ROOT: &str = "/var/lib/plateau";
const CRASHES: u64 = 12;
const MORE: &[(&str, &[u8])] = &[("logo", &[7; 3000]), ("empty", b"")];
const ID: &str = "abcdef-iops";

fn fine(_: &Run) -> Result<(), LibraryError> {
    Ok(())
}

fn create(library: &Library) -> Run {
    let (run, mut journal) = library.create_with(run_file(ID), MORE).expect("a run");
    journal.append(Event::Closed).expect("appended");
    run
}

fn process(disk: Disk, faults: Vec<Fault>) -> Simulated {
    Simulated::on(disk, "2026-11-22T12:00:00Z".parse().expect("a time"), faults)
}

fn on(process: &Simulated) -> Library {
    Library::on(Arc::new(process.clone()), ROOT)
}

/// Returns a description of the problem, unless the library contains the run exactly once and complete.
fn problem(library: &Library, records: usize) -> Option<String> {
    let (runs, unreadable) = library.list().expect("a library");
    if runs.len() != 1 || !unreadable.is_empty() {
        return Some(format!("{} runs, {unreadable:?}", runs.len()));
    }
    let run = library.find(ID).expect("the run");
    let loaded = run.load().map_err(|error| error.to_string());
    if loaded.as_ref().map(|loaded| loaded.entries.len()) != Ok(records) {
        return Some(format!("{loaded:?}"));
    }
    MORE.iter()
        .find(|(name, bytes)| run.read_file(name, 1 << 20).ok().as_deref() != Some(*bytes))
        .map(|(name, _)| format!("{name} is missing or was changed"))
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

#[derive(Debug, Clone, Copy)]
enum Command {
    Archive,
    Unarchive,
}

fn execute(command: Command, library: &Library) -> Result<record::Archived, LibraryError> {
    let run = library.find(ID)?;
    match command {
        Command::Archive => run.archive(fine),
        Command::Unarchive => run.unarchive(fine),
    }
}

/// Checks the library after a crash at every operation of `command`, followed by `then`.
fn crashed(before: &Disk, command: Command, then: Command) {
    let process = self::process(before.clone(), Vec::new());
    execute(command, &on(&process)).expect("done");
    let log = process.log();
    assert!(log.len() >= 8, "{} operations", log.len());
    let (mut folders, mut archives) = (0, 0);
    for (place, crash, disk) in survivors(before, &log) {
        let process = self::process(disk, Vec::new());
        let library = on(&process);
        let at = format!("{command:?}, {crash:?} at {place}, then {then:?}");
        assert_eq!(problem(&library, 2), None, "{at}");
        match execute(then, &library) {
            Ok(_) => {}
            // The run was already archived or restored.
            Err(LibraryError::AlreadyArchived { .. }) if matches!(then, Command::Archive) => archives += 1,
            Err(LibraryError::NotArchived { .. }) if matches!(then, Command::Unarchive) => folders += 1,
            Err(error) => panic!("{at}: {error}"),
        }
        assert_eq!(problem(&library, 2), None, "{at}");
        library.sweep().expect("swept");
        let names = process.list(Path::new(ROOT)).expect("a library");
        let expected = if matches!(then, Command::Archive) { format!("{ID}.tar.zst") } else { ID.into() };
        assert_eq!(names, [expected.as_str()], "{at}");
    }
    assert!(folders + archives > 0, "some crashes left it in that state");
}

#[test]
fn a_crash_at_any_operation_loses_nothing_and_either_command_completes() {
    let first = process(Disk::default(), Vec::new());
    create(&on(&first));
    let folder = first.disk();
    let second = process(folder.clone(), Vec::new());
    execute(Command::Archive, &on(&second)).expect("archived");
    let archive = second.disk();
    for then in [Command::Archive, Command::Unarchive] {
        crashed(&folder, Command::Archive, then);
        crashed(&archive, Command::Unarchive, then);
    }
}

#[test]
fn a_failure_at_any_call_loses_nothing() {
    let first = process(Disk::default(), Vec::new());
    create(&on(&first));
    for command in [Command::Archive, Command::Unarchive] {
        let ready = process(first.disk(), Vec::new());
        if matches!(command, Command::Unarchive) {
            execute(Command::Archive, &on(&ready)).expect("archived");
        }
        let clean = process(ready.disk(), Vec::new());
        execute(command, &on(&clean)).expect("done");
        let mut failed = 0;
        for kind in [FaultKind::NoSpace, FaultKind::ReadOnly, FaultKind::Broken, FaultKind::Dead] {
            for call in 0..clean.calls() {
                let faulty = process(ready.disk(), vec![Fault { call, kind }]);
                failed += usize::from(execute(command, &on(&faulty)).is_err());
                for crash in [Crash::Killed, Crash::NothingSurvives, Crash::Drawn(call)] {
                    let after = process(faulty.disk().after(crash), Vec::new());
                    assert_eq!(problem(&on(&after), 2), None, "{command:?}, {kind:?} at {call}, {crash:?}");
                }
            }
        }
        assert!(failed > 60, "{failed}");
    }
}

#[test]
fn an_archive_is_read_like_the_directory_and_restored_to_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let run = create(&library);
    std::fs::write(run.dir.join("report.html"), "<html>").expect("a file");
    let contents = |run: &Run| {
        let names = run.file_names().expect("a list");
        let read =
            |name: &std::ffi::OsString| run.read_file(name.to_str().expect("text"), 1 << 20).expect("a file");
        names.iter().map(|name| (name.clone(), read(name))).collect::<Vec<_>>()
    };
    let before = contents(&run);
    let (digest, folder) = (run.load().expect("a journal").digest, run.dir.clone());
    let archived = library.find(ID).expect("a run").archive(fine).expect("archived");
    assert_eq!(archived.path, dir.path().join(format!("{ID}.tar.zst")));
    assert_eq!(archived.archive_bytes, std::fs::metadata(&archived.path).expect("a file").len());
    assert_eq!(archived.files_bytes, before.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    assert!(!folder.exists());
    let bytes = std::fs::read(&archived.path).expect("a file");
    for name in [ID, "abc", "latest", &format!("{ID}.tar.zst"), archived.path.to_str().expect("text")] {
        let run = library.find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(run.is_archived() && !run.is_in_progress().expect("known"), "{name}");
        assert_eq!(run.load().expect("a journal").digest, digest);
        assert_eq!(contents(&run), before);
        assert!(matches!(run.reopen(), Err(LibraryError::Archived { .. })));
    }
    assert!(library.create(run_file(ID)).is_err(), "the id is taken");
    assert!(matches!(
        library.find(ID).expect("a run").archive(fine),
        Err(LibraryError::AlreadyArchived { .. })
    ));
    let restored = library.find(ID).expect("a run").unarchive(fine).expect("restored");
    assert_eq!(restored.path, folder);
    assert!(!archived.path.exists());
    let run = library.find(ID).expect("a run");
    assert_eq!(contents(&run), before);
    assert!(matches!(run.clone().unarchive(fine), Err(LibraryError::NotArchived { .. })));
    // Archiving the same files always produces the same bytes.
    run.archive(fine).expect("archived");
    assert_eq!(std::fs::read(&archived.path).expect("a file"), bytes);
    library.find(ID).expect("a run").remove().expect("removed");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
}

#[test]
fn nothing_is_removed_before_everything_is_checked() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let (run, journal) = library.create_with(run_file(ID), MORE).expect("a run");
    assert!(matches!(run.clone().archive(fine), Err(LibraryError::InProgress { .. })));
    drop(journal);
    let refused = |run: Run| {
        run.archive(|checked| match checked.is_archived() {
            true => Err(LibraryError::Unnamed),
            false => Ok(()),
        })
    };
    assert!(matches!(refused(run.clone()), Err(LibraryError::Unnamed)));
    std::fs::create_dir(run.dir.join("folder")).expect("a folder");
    let error = run.clone().archive(fine).expect_err("a folder");
    assert!(
        matches!(&error, LibraryError::NotArchivable { path, .. } if path.ends_with("folder")),
        "{error}"
    );
    std::fs::remove_dir(run.dir.join("folder")).expect("removed");
    std::os::unix::fs::symlink("/etc/passwd", run.dir.join("link")).expect("a link");
    assert!(matches!(run.clone().archive(fine), Err(LibraryError::NotArchivable { .. })));
    std::fs::remove_file(run.dir.join("link")).expect("removed");
    let path = dir.path().join(format!("{ID}.tar.zst"));
    std::fs::write(&path, "something else").expect("a file");
    assert!(run.clone().archive(fine).is_err());
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1, "no left-overs");
    assert!(run.archive(fine).is_ok());
}

#[test]
fn a_directory_takes_precedence_over_an_earlier_archive_of_the_run_only() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let run = create(&library);
    let archive = run.clone().archive(fine).expect("archived").path;
    let bytes = std::fs::read(&archive).expect("a file");
    library.find(ID).expect("a run").unarchive(fine).expect("restored");
    // The process was killed between the two steps, and the run was then continued.
    std::fs::write(&archive, &bytes).expect("a file");
    let (mut journal, _) = run.reopen().expect("a journal");
    journal.append(Event::Closed).expect("appended");
    drop(journal);
    let found = library.find(ID).expect("a run");
    assert!(!found.is_archived());
    assert_eq!(library.list().expect("a list").0.len(), 1);
    found.archive(fine).expect("it contains the archive");
    assert_eq!(library.find(ID).expect("a run").load().expect("a journal").entries.len(), 3);
    // Removing a run also removes its archive.
    std::fs::create_dir(dir.path().join("kept")).expect("a folder");
    let both = Library::at(dir.path().join("kept"));
    let kept = create(&both);
    std::fs::write(both.root().join(format!("{ID}.tar.zst")), &bytes).expect("a file");
    kept.remove().expect("removed");
    assert!(both.find(ID).is_err());
    // An archive of a different run with the same id is not replaced.
    library.find(ID).expect("a run").unarchive(fine).expect("restored");
    std::fs::write(&archive, &bytes).expect("a file");
    std::fs::write(run.dir.join("run.json"), serde_json::to_vec(&run_file(ID)).expect("JSON"))
        .expect("a file");
    let run = library.find(ID).expect("a run");
    assert!(matches!(run.clone().archive(fine), Err(LibraryError::InTheWay { .. })));
    assert!(matches!(run.unarchive(fine), Err(LibraryError::InTheWay { .. })));
    assert_eq!(std::fs::read(&archive).expect("a file"), bytes);
}

#[test]
fn only_a_directory_with_files_of_a_run_takes_precedence_over_an_archive() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let folder = create(&library).dir;
    library.find(ID).expect("a run").archive(fine).expect("archived");
    let archive = dir.path().join(format!("{ID}.tar.zst"));
    let elsewhere = dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::fs::write(elsewhere.join("run.json"), "{}").expect("a file");
    let others: [&dyn Fn(); 4] = [
        &|| std::fs::create_dir(&folder).expect("a folder"),
        &|| std::fs::write(folder.join("notes.txt"), "mine").expect("a file"),
        &|| std::fs::write(&folder, "mine").expect("a file"),
        &|| std::os::unix::fs::symlink(&elsewhere, &folder).expect("a link"),
    ];
    for (number, put) in others.iter().enumerate() {
        if number >= 2 {
            let _ = std::fs::remove_dir_all(&folder).or_else(|_| std::fs::remove_file(&folder));
        }
        put();
        assert_eq!(library.path_of(ID), archive, "{number}");
        assert_eq!(library.entries().expect("a list").get(std::ffi::OsStr::new(ID)), Some(&archive));
        assert!(library.find(ID).expect("a run").is_archived(), "{number}");
        let (runs, unreadable) = library.list().expect("a list");
        assert_eq!(runs.iter().filter(|run| run.file.id == ID).count(), 1, "{number}: {unreadable:?}");
        assert!(library.create(run_file(ID)).is_err(), "the id is taken");
        // The object in the way may be needed, so it is not replaced.
        let refused = library.find(ID).expect("a run").unarchive(fine);
        assert!(matches!(refused, Err(LibraryError::InTheWay { path, .. }) if path == folder), "{number}");
        assert!(archive.exists() && std::fs::symlink_metadata(&folder).is_ok(), "{number}");
    }
    std::fs::remove_file(&folder).expect("removed");
    for name in ["run.json", "journal"] {
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join(name), "").expect("a file");
        assert_eq!(library.path_of(ID), folder, "{name}");
        assert_eq!(library.entries().expect("a list").get(std::ffi::OsStr::new(ID)), Some(&folder));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}

#[test]
fn the_journal_is_read_piece_by_piece_in_either_form() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let bytes = std::fs::read(create(&library).dir.join("journal")).expect("a journal");
    let read = || {
        let (mut reader, length) = library.find(ID).expect("a run").journal_reader().expect("a journal");
        let mut read = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut read).map(|_| (read, length))
    };
    assert_eq!(read().expect("intact"), (bytes.clone(), bytes.len() as u64));
    let path = library.find(ID).expect("a run").archive(fine).expect("archived").path;
    assert_eq!(read().expect("intact"), (bytes.clone(), bytes.len() as u64));
    // An archive ends with its checksum.
    let mut archive = std::fs::read(&path).expect("a file");
    *archive.last_mut().expect("bytes") ^= 1;
    std::fs::write(&path, &archive).expect("a file");
    // Just opening a small archive reads all of it.
    assert!(library.find(ID).is_err() || read().is_err());
}

#[test]
fn an_archive_is_as_private_as_the_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path());
    let mode = |path: &Path| std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    let set =
        |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
    for (folder, journal, archive, restored) in [
        (0o755, 0o644, 0o644, 0o755),
        (0o700, 0o644, 0o600, 0o700),
        (0o750, 0o644, 0o640, 0o750),
        (0o755, 0o600, 0o600, 0o700),
    ] {
        let run = create(&library);
        set(&run.dir, folder);
        set(&run.dir.join("journal"), journal);
        let path = run.clone().archive(fine).expect("archived").path;
        assert_eq!(mode(&path), archive, "{folder:o} {journal:o}");
        library.find(ID).expect("a run").unarchive(fine).expect("restored");
        assert_eq!(mode(&run.dir) & 0o077 & !restored, 0, "{folder:o} {journal:o}");
        assert_eq!(mode(&run.dir.join("journal")), archive);
        library.find(ID).expect("a run").remove().expect("removed");
    }
}

#[test]
fn a_damaged_archive_is_reported_and_a_link_is_not_followed() {
    let dir = tempfile::tempdir().expect("a folder");
    let library = Library::at(dir.path().join("runs"));
    let path = create(&library).archive(fine).expect("archived").path;
    let link = library.root().join("linked.tar.zst");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    assert_eq!(library.list().expect("a list").0.len(), 1);
    let mut bytes = std::fs::read(&path).expect("a file");
    bytes.truncate(bytes.len() - 1);
    std::fs::write(&path, &bytes).expect("a file");
    let run = library.find(ID);
    let loaded = run.and_then(|run| run.load());
    assert!(loaded.is_err(), "the last byte is missing");
    std::fs::write(&path, "text").expect("a file");
    let (runs, unreadable) = library.list().expect("a list");
    assert!(runs.is_empty() && unreadable.len() == 1, "{unreadable:?}");
    let error = library.find(ID).expect_err("not an archive").to_string();
    assert!(error.contains(&format!("{ID}.tar.zst")), "{error}");
    let error = library.find("abcd").expect_err("not an archive").to_string();
    assert!(error.contains(&format!("{ID}.tar.zst")), "{error}");
}
