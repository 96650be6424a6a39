use super::*;
use crate::Labels;

type Outcome = Result<Annotations, LibraryJournalError>;

fn tagged(tag: &str) -> Change {
    Change::Tagged { run: "run-1".into(), tag: tag.into() }
}

fn add(path: &Path, changes: &[Change]) -> Outcome {
    append(&storage::Real, path, "alice", |_| Ok(changes.to_vec()))
}

fn tags(annotations: &Annotations) -> Vec<String> {
    annotations.labels("run-1", &Labels::default()).tags
}

#[test]
fn added_records_are_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(LIBRARY_JOURNAL);
    assert_eq!(read(&storage::Real, &path).expect("empty"), Annotations::default());
    let own = Labels { name: Some("old".into()), tags: vec!["a".into()], notes: vec!["first".into()] };
    let run = || "run-1".to_owned();
    let changes = [
        tagged("b"),
        Change::Untagged { run: run(), tag: "a".into() },
        Change::Noted { run: run(), text: "dusty".into() },
        Change::Named { run: run(), name: Some("new".into()) },
        Change::Archived { run: run() },
        Change::BaselineSet { baseline: "fw1".into(), run: run() },
    ];
    let written = add(&path, &changes).expect("written");
    let found = read(&storage::Real, &path).expect("a journal");
    assert_eq!(found, written);
    let labels = found.labels("run-1", &own);
    assert_eq!(labels.name.as_deref(), Some("new"));
    assert_eq!(
        (&labels.tags[..], &labels.notes[..]),
        (&["b".to_owned()][..], &["first".into(), "dusty".into()][..])
    );
    assert_eq!(found.tags("run-1", &own)[0].1.map(|stamp| &*stamp.who), Some("alice"));
    assert!(found.notes("run-1", &own)[0].1.is_none(), "it was started with this note");
    assert!(found.archived("run-1").is_some() && found.archived("run-2").is_none());
    assert_eq!(found.baseline("fw1").map(|baseline| &*baseline.run), Some("run-1"));
    assert_eq!(found.labels("run-2", &own), own);
    let back = [
        Change::Named { run: run(), name: None },
        Change::Unarchived { run: run() },
        Change::BaselineRemoved { baseline: "fw1".into() },
        tagged("a"),
    ];
    let found = add(&path, &back).expect("written");
    assert_eq!(found.labels("run-1", &own).name, None);
    assert_eq!(found.labels("run-1", &own).tags, ["a", "b"]);
    assert!(found.archived("run-1").is_none() && found.baselines().count() == 0);
}

#[test]
fn the_digest_of_a_run_changes_only_with_its_own_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(LIBRARY_JOURNAL);
    let set = |run: &str| Change::BaselineSet { baseline: "base".into(), run: run.into() };
    let first = add(&path, &[tagged("a")]).expect("written");
    assert!(first.digest("run-1").is_some() && first.digest("run-2").is_none());
    let second = add(&path, &[set("run-2")]).expect("written");
    assert_eq!(second.digest("run-1"), first.digest("run-1"));
    let moved = add(&path, &[set("run-3")]).expect("written");
    assert_ne!(moved.digest("run-2"), second.digest("run-2"), "it is no longer the baseline");
    assert_eq!(moved.digest("run-1"), first.digest("run-1"));
}

#[test]
fn a_writer_killed_at_any_byte_loses_only_its_own_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(LIBRARY_JOURNAL);
    add(&path, &[tagged("first")]).expect("written");
    let complete = std::fs::metadata(&path).expect("a file").len();
    add(&path, &[tagged("second")]).expect("written");
    let whole = std::fs::read(&path).expect("a journal");
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).expect("cut");
        let before = tags(&read(&storage::Real, &path).expect("readable"));
        let expected: &[&str] = if (length as u64) < complete { &[] } else { &["first"] };
        assert_eq!(before, expected, "{length}");
        // After a power cut, the rest may be zeros.
        let mut zeros = whole[..length].to_vec();
        zeros.resize(whole.len(), 0);
        std::fs::write(&path, &zeros).expect("cut");
        assert_eq!(tags(&read(&storage::Real, &path).expect("readable")), expected, "{length}, then zeros");
        std::fs::write(&path, &whole[..length]).expect("cut");
        let ends = [0, header().len() as u64, complete];
        let end = ends.into_iter().rfind(|end| *end <= length as u64).expect("an end");
        let (_, torn_bytes) = read_with_end(&storage::Real, &path).expect("readable");
        assert_eq!(torn_bytes, length as u64 - end, "{length}");
        assert_eq!(tags(&add(&path, &[tagged("third")]).expect("written")), [expected, &["third"]].concat());
        assert_eq!(tags(&read(&storage::Real, &path).expect("readable")), [expected, &["third"]].concat());
    }
    // A power cut may leave zeros in place of the last record.
    let mut zeros = whole.clone();
    let from = usize::try_from(complete).expect("small") + 70;
    let to = zeros.len() - 1;
    zeros[from..to].fill(0);
    std::fs::write(&path, zeros).expect("zeros");
    assert_eq!(tags(&add(&path, &[tagged("third")]).expect("written")), ["first", "third"]);
}

#[test]
fn a_changed_record_is_refused_and_nothing_is_appended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(LIBRARY_JOURNAL);
    add(&path, &[tagged("first"), tagged("second")]).expect("written");
    let good = std::fs::read_to_string(&path).expect("text");
    let changed = good.replace("first", "fjrst");
    let newer = good.replace("journal 1", "journal 2");
    for (bad, is_damage) in [(changed, true), (newer, false), ("plateau-journal 1\n".into(), false)] {
        std::fs::write(&path, &bad).expect("written");
        let error = add(&path, &[tagged("third")]).expect_err("refused");
        let damaged = matches!(error, LibraryJournalError::Journal(JournalError::Damaged { seq: 0, .. }));
        assert_eq!(damaged, is_damage, "{error}");
        assert!(read(&storage::Real, &path).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("text"), bad);
    }
}

#[test]
fn only_a_regular_file_with_texts_that_are_safe_to_print_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(LIBRARY_JOURNAL);
    for bad in ["", "a\nb", "\u{1b}[2J", &"x".repeat(5000)] {
        assert!(matches!(add(&path, &[tagged(bad)]), Err(LibraryJournalError::BadText { .. })), "{bad:?}");
    }
    let change = r#"{"seq":0,"wall":"2026-11-25T00:00:00Z","who":"x\u001b[2J","change":{"tagged":{"run":"run-1","tag":"a\nb"}}}"#;
    let (line, _) = line_of(change, Digest::of(header().as_bytes()));
    std::fs::write(&path, header() + &line).expect("forged");
    let forged = read(&storage::Real, &path).expect("readable");
    assert!(!tags(&forged)[0].chars().any(char::is_control), "{forged:?}");
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
    let before = std::fs::read(&elsewhere).expect("a file");
    assert!(read(&storage::Real, &path).is_err() && add(&path, &[tagged("a")]).is_err());
    assert_eq!(std::fs::read(&elsewhere).expect("a file"), before);
}

#[test]
fn concurrent_writers_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(LIBRARY_JOURNAL);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let path = &path;
            scope.spawn(move || add(path, &[tagged(&format!("tag{number}"))]).expect("written"));
        }
    });
    assert_eq!(tags(&read(&storage::Real, &path).expect("a journal")).len(), 8);
}
