//! Writing, truncating, damaging and removing journals.

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
fn gives_back_what_was_appended() {
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
    assert!(error.contains("version 2") && error.contains("reads up to 1"), "{error}");
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
fn a_journal_that_was_taken_away_takes_no_more_records_and_is_copied() {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_changed_byte_is_noticed(place in 0usize..10_000, flip in 1u8..=255) {
        let (_dir, path) = journal_of(4);
        let mut bytes = std::fs::read(&path).unwrap();
            // Any byte, including those of the header.
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
