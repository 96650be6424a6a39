//! Tests of journals that are longer than the part held in memory.

use super::*;
use crate::storage::Real;

const LINES: [&str; 4] = ["header\n", "one\n", "two\n", "three\n"];

/// Returns a file with all lines, and the state of its writer, which keeps up to `limit_bytes` of the content
/// in memory.
fn written(limit_bytes: usize) -> (tempfile::TempDir, Box<dyn Stored>, Held) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("run")).unwrap();
    let mut file = Real.create(&dir.path().join("run/journal")).unwrap();
    let mut held = Held::within(limit_bytes, Vec::new());
    for line in LINES {
        file.append(line.as_bytes()).unwrap();
        held.add(line.as_bytes());
    }
    // The header is not a record.
    held.records -= 1;
    (dir, file, held)
}

#[test]
fn a_long_journal_is_held_up_to_a_whole_record() {
    for (limit, expected) in
        [(100, "header\none\ntwo\nthree\n"), (20, "header\none\ntwo\n"), (14, "header\none\n")]
    {
        let (_dir, mut file, held) = written(limit);
        assert_eq!(held.bytes, expected.as_bytes(), "{limit}");
        assert_eq!(held.change_of_content(&mut *file), None, "the rest is known by its hash");
        let again = Held::within(limit, LINES.concat().into_bytes());
        assert_eq!((&again.bytes, again.length, again.records), (&held.bytes, held.length, held.records));
    }
}

#[test]
fn a_short_record_after_one_that_is_not_held_is_not_held_either() {
    let mut held = Held::within(10, b"header\n".to_vec());
    held.add(b"a long record\n");
    held.add(b"b\n");
    assert_eq!(held.bytes, b"header\n");
}

#[test]
fn records_not_in_memory_are_rescued_from_the_file() {
    let (dir, mut file, held) = written(14);
    let path = dir.path().join("run/journal");
    let notes = held.rescue(&Real, &mut *file, &path, &[]);
    assert!(notes.starts_with("all its records are in"), "{notes}");
    assert_eq!(std::fs::read_to_string(dir.path().join("run/journal.rescued")).unwrap(), LINES.concat());
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    let notes = held.rescue(&Real, &mut *file, &path, &[]);
    assert!(notes.contains("the first 1 of its 3 records are in") && notes.contains("are lost"), "{notes}");
    assert_eq!(std::fs::read_to_string(dir.path().join("run/journal.rescued-2")).unwrap(), "header\none\n");
}

#[test]
fn a_copy_is_written_to_the_first_writable_folder() {
    let (dir, mut file, held) = written(100);
    let (run, refuge) = (dir.path().join("run"), dir.path().join("refuge"));
    let rescue =
        |file: &mut dyn Stored| held.rescue(&Real, file, &run.join("journal"), std::slice::from_ref(&refuge));
    // Not even root can create a file in a removed directory.
    std::fs::remove_file(run.join("journal")).unwrap();
    std::fs::remove_dir(&run).unwrap();
    let rescued = dir.path().join("run.journal.rescued");
    assert!(rescue(&mut *file).contains(rescued.to_str().unwrap()));
    assert_eq!(std::fs::read_to_string(&rescued).unwrap(), LINES.concat());
    // The library no longer exists either.
    let gone = dir.path().join("gone");
    let lost = |file: &mut dyn Stored| {
        held.rescue(&Real, file, &gone.join("run/journal"), std::slice::from_ref(&refuge))
    };
    let notes = lost(&mut *file);
    assert!(
        notes.contains("cannot be copied") && notes.contains("gone") && notes.contains("refuge"),
        "{notes}"
    );
    std::fs::create_dir(&refuge).unwrap();
    assert!(lost(&mut *file).contains(refuge.join("run.journal.rescued").to_str().unwrap()));
    assert!(lost(&mut *file).contains(refuge.join("run.journal.rescued-2").to_str().unwrap()));
}
