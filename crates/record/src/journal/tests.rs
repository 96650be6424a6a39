//! Tests that write, truncate, damage and remove journals.

use super::line::{MOST_RECORD_BYTES, MOST_RECORD_VALUES};
use super::*;
use crate::Note;
use proptest::prelude::*;

fn note(round: u32) -> Event {
    Event::Noted(Note::RoundStarted { round, cells: 56 })
}

fn journal_of(rounds: u32) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let mut journal = Journal::create(&path).unwrap();
    (1..=rounds).for_each(|r| drop(journal.append(note(r)).unwrap()));
    (dir, path)
}

#[test]
fn reads_back_appended_records() {
    let (_dir, path) = journal_of(3);
    let loaded = read_journal(&path).unwrap();
    let events: Vec<_> = loaded.entries.iter().map(|e| e.event.clone()).collect();
    assert_eq!(events, [note(1), note(2), note(3)]);
    assert_eq!(loaded.torn, None);
}

#[test]
fn an_event_is_named_as_it_is_stored() {
    for (event, name) in [(note(1), "noted"), (Event::Closed, "closed")] {
        let entry = Entry { seq: 1, wall: jiff::Timestamp::UNIX_EPOCH, event };
        assert_eq!(name_in(&serde_json::to_string(&entry).unwrap()), name);
    }
}

#[test]
fn a_cut_at_any_byte_loses_at_most_the_last_record() {
    let (_dir, path) = journal_of(3);
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] == b'\n').map(|i| i + 1).collect();
    for cut in ends[0]..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let finished = ends.iter().filter(|&&end| end <= cut).count() - 1;
        let (mut journal, loaded) = Journal::reopen(&path).unwrap();
        assert_eq!(loaded.entries.len(), finished, "cut at {cut}");
        assert_eq!(loaded.torn.is_some(), !ends.contains(&cut), "cut at {cut}");
        journal.append(note(9)).unwrap();
        drop(journal);
        assert_eq!(read_journal(&path).unwrap().entries.len(), finished + 1);
    }
}

#[test]
fn newer_versions_are_refused_by_number() {
    let (_dir, path) = journal_of(0);
    std::fs::write(&path, "plateau-journal 2\n").unwrap();
    let error = read_journal(&path).unwrap_err().to_string();
    assert!(error.contains("version 2") && error.contains("reads up to version 1"), "{error}");
}

#[test]
fn other_files_are_refused() {
    let (_dir, path) = journal_of(0);
    for content in ["", "plateau-journal x\n", "hello\n", "plateau-journal 1"] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(read_journal(&path), Err(JournalError::NotAJournal { .. })), "{content:?}");
    }
}

#[test]
fn one_writer_at_a_time() {
    let (_dir, path) = journal_of(1);
    let (_open, _) = Journal::reopen(&path).unwrap();
    assert!(matches!(Journal::reopen(&path), Err(JournalError::Busy { .. })));
    assert!(read_journal(&path).is_ok(), "readers are not locked out");
}

#[test]
fn a_removed_journal_is_closed_and_copied() {
    type Take = fn(&Path);
    let takes: [(&str, Take); 3] = [
        ("removed", |path| std::fs::remove_file(path).unwrap()),
        ("renamed", |path| std::fs::rename(path, path.with_file_name("elsewhere")).unwrap()),
        ("replaced", |path| {
            let other = path.with_file_name("other");
            std::fs::copy(path, &other).unwrap();
            std::fs::rename(other, path).unwrap();
        }),
    ];
    for (how, take) in takes {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::create(&path).unwrap();
        journal.append(note(1)).unwrap();
        journal.check_in_place().expect(how);
        take(&path);
        assert!(journal.check_in_place().is_err(), "{how}");
        let copy = dir.path().join("journal.rescued");
        assert_eq!(read_journal(&copy).unwrap().entries.len(), 1, "{how}");
        assert!(journal.append(note(2)).is_err(), "{how}");
    }
}

#[test]
fn a_journal_changed_by_another_process_is_closed_and_copied() {
    type Change = fn(&Path, &[u8]);
    let changes: [(&str, &str, Change); 4] = [
        ("emptied", "it has 0 B", |path, _| drop(std::fs::File::create(path).unwrap())),
        ("cut", "it has 30 B", |path, _| set_len(path, 30)),
        ("continued", "changed it while the run was writing to it: it has", |path, bytes| {
            std::fs::write(path, [bytes, b"more\n"].concat()).unwrap();
        }),
        ("overwritten", "its content differs from the written data", |path, bytes| {
            let mut bytes = bytes.to_vec();
            bytes[80] ^= 1;
            std::fs::write(path, bytes).unwrap();
            // The new modification time differs from the writer's by more than any file system's timestamp
            // resolution.
            set_modified(path);
        }),
    ];
    for (how, reason, change) in changes {
        for at_the_end in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("journal");
            let mut journal = Journal::create(&path).unwrap();
            (1..=3).for_each(|r| drop(journal.append(note(r)).unwrap()));
            let before = std::fs::read(&path).unwrap();
            change(&path, &before);
            let failed =
                if at_the_end { journal.check_in_place() } else { journal.append(note(4)).map(drop) };
            let JournalError::Io { source, .. } = failed.expect_err(how) else { panic!("{how}") };
            let text = source.to_string();
            assert!(text.contains("another program changed it") && text.contains(reason), "{how}: {text}");
            assert!(text.contains("journal.rescued"), "{how}: {text}");
            assert_eq!(std::fs::read(dir.path().join("journal.rescued")).unwrap(), before, "{how}");
            assert!(journal.append(note(5)).is_err() && journal.check_in_place().is_err(), "{how}");
            assert!(!dir.path().join("journal.rescued-2").exists(), "{how}: rescued once");
        }
    }
}

fn set_len(path: &Path, bytes: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

fn set_modified(path: &Path) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
}

#[test]
fn a_reopened_journal_is_watched_too() {
    let (dir, path) = journal_of(3);
    let before = std::fs::read(&path).unwrap();
    let (mut journal, _) = Journal::reopen(&path).unwrap();
    set_len(&path, 0);
    journal.append(note(4)).unwrap_err();
    assert_eq!(std::fs::read(dir.path().join("journal.rescued")).unwrap(), before);
}

#[test]
fn a_journal_with_only_a_new_timestamp_continues() {
    let (_dir, path) = journal_of(1);
    let (mut journal, _) = Journal::reopen(&path).unwrap();
    for round in 2..4 {
        set_modified(&path);
        journal.append(note(round)).unwrap();
    }
    journal.check_in_place().unwrap();
}

#[test]
fn an_earlier_rescue_is_kept() {
    let (dir, path) = journal_of(2);
    std::fs::write(dir.path().join("journal.rescued"), "of an earlier run").unwrap();
    let (mut journal, _) = Journal::reopen(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = journal.check_in_place().unwrap_err();
    let text = std::error::Error::source(&error).unwrap().to_string();
    assert!(text.contains("journal.rescued-2"), "{text}");
    assert_eq!(read_journal(&dir.path().join("journal.rescued-2")).unwrap().entries.len(), 2);
    assert_eq!(std::fs::read_to_string(dir.path().join("journal.rescued")).unwrap(), "of an earlier run");
}

/// Returns a journal with a single record: this JSON, with a matching hash.
fn forged(json: &str) -> Vec<u8> {
    let header = format!("{MAGIC}{VERSION}\n");
    let hash = Digest::of(header.as_bytes()).next(json);
    format!("{header}{hash} {json}\n").into_bytes()
}

#[test]
fn a_version_that_never_existed_is_refused_with_its_number() {
    for (version, message) in [
        ("0", "version 0, which no version of Plateau has ever written"),
        ("9", "version 9; this version of Plateau reads up to version 1"),
    ] {
        let bytes = format!("{MAGIC}{version}\n");
        let error = parse_journal(bytes.as_bytes(), Path::new("journal")).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

fn problem_of(json: &str) -> String {
    match parse_journal(&forged(json), Path::new("journal")) {
        Err(JournalError::Damaged { seq: 0, problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_record_of_more_than_any_run_writes_is_refused_before_it_takes_memory() {
    let long = format!("[{}0]", " ".repeat(MOST_RECORD_BYTES));
    assert!(problem_of(&long).contains("no run writes a record of more than"), "{}", problem_of(&long));
    let many = format!("[{}0]", "0,".repeat(MOST_RECORD_VALUES));
    assert!(problem_of(&many).contains("values; no run writes more than"), "{}", problem_of(&many));
    // Records with escapes are parsed by the code that makes strings safe to print; the limit applies there,
    // too.
    let escaped = format!("[{}\"\\n\"]", "0,".repeat(MOST_RECORD_VALUES));
    assert!(problem_of(&escaped).contains("values; no run writes more than"));
}

#[test]
fn an_unfinished_record_of_any_length_is_a_torn_one() {
    let mut bytes = forged(&format!("[{}0]", " ".repeat(MOST_RECORD_BYTES)));
    bytes.pop();
    assert!(parse_journal(&bytes, Path::new("journal")).unwrap().torn.is_some());
}

#[test]
fn no_record_is_written_that_would_be_refused() {
    let (_dir, path) = journal_of(1);
    let (mut journal, _) = Journal::reopen(&path).unwrap();
    let reason = " ".repeat(MOST_RECORD_BYTES);
    assert!(journal.append(Event::Interrupted { reason }).is_err());
    journal.append(note(2)).unwrap();
    drop(journal);
    assert_eq!(read_journal(&path).unwrap().entries.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_changed_byte_is_noticed(place in 0usize..10_000, flip in 1u8..=255) {
        let (_dir, path) = journal_of(4);
        let mut bytes = std::fs::read(&path).unwrap();
            // Any byte may change, including bytes in the header.
    let place = place % bytes.len();
        bytes[place] ^= flip;
        std::fs::write(&path, &bytes).unwrap();
        let noticed = match read_journal(&path) {
            Err(_) => true,
            Ok(loaded) => loaded.torn.is_some() && loaded.entries.len() < 4,
        };
        prop_assert!(noticed);
    }
}
