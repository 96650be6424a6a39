//! Journals: any bytes yield entries or an error. The same is true of these records with a valid hash chain, as
//! in a forged journal. Entries are unchanged after being written and read again.

use std::path::Path;

use record::{Digest, Entry, JOURNAL_MAGIC, JOURNAL_VERSION, Loaded};

pub fn check(bytes: &[u8]) {
    if let Ok(loaded) = record::parse_journal(bytes, Path::new("journal")) {
        assert!(loaded.entries.len() < bytes.len(), "more entries than bytes");
    }
    let lines = bytes.split(|byte| *byte == b'\n').skip(1).filter_map(|line| std::str::from_utf8(line).ok());
    let records = lines.map(|line| line.split_at_checked(65).map_or(line, |(_, json)| json));
    let Some(read) = loaded(records) else { return };
    let written = |entry: &Entry| serde_json::to_string(entry).expect("an entry is JSON");
    let written: Vec<String> = read.entries.iter().map(written).collect();
    let again = loaded(written.iter().map(String::as_str)).expect("written data is read back unchanged");
    assert_eq!(again.entries, read.entries);
    assert!(again.torn.is_none());
}

/// Reads a journal of these JSON records, with matching hashes.
pub fn loaded<'a>(records: impl Iterator<Item = &'a str>) -> Option<Loaded> {
    let mut journal = format!("{JOURNAL_MAGIC}{JOURNAL_VERSION}\n");
    let mut chain = Digest::of(journal.as_bytes());
    for json in records {
        chain = Digest::of(format!("{chain}{json}").as_bytes());
        journal.push_str(&format!("{chain} {json}\n"));
    }
    record::parse_journal(journal.as_bytes(), Path::new("journal")).ok()
}
