//! The examples in `docs/reference/journal-format.md` are real: they can be parsed, their hashes form a
//! chain, and no event is missing.

use std::collections::BTreeSet;
use std::path::Path;

use record::{Digest, Entry, Event, Note, RunFile, read_journal};

/// Returns the contents of the document's code blocks.
fn blocks() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/journal-format.md");
    let text = std::fs::read_to_string(path).expect("the document is there");
    let fenced = text.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| Some(block.split_once('\n')?.1.trim_end().to_owned())).collect()
}

fn run_file() -> (RunFile, String) {
    let text = blocks().into_iter().find(|b| b.starts_with("{\n")).expect("run.json is shown");
    (serde_json::from_str(&text).expect("run.json parses"), text)
}

/// Returns the name of an event. Each of these names must have an example in the document; a new event causes a
/// compile error until it is listed here.
fn name_of(event: &Event) -> &'static str {
    match event {
        Event::Opened { .. } => "opened",
        Event::Estimated(_) => "estimated",
        Event::TestStarted { .. } => "test_started",
        Event::Purged(_) => "purged",
        Event::Preconditioned(_) => "preconditioned",
        Event::Measured(_) => "measured",
        Event::Cut(_) => "cut",
        Event::Idled { .. } => "idled",
        Event::Health { .. } => "health",
        Event::IdlePower { .. } => "idle_power",
        Event::WriteCache { .. } => "write_cache",
        Event::HostChecked { .. } => "host_checked",
        Event::Tuned { .. } => "tuned",
        Event::LbaFormat { .. } => "lba_format",
        Event::Imported(_) => "imported",
        Event::Noted(Note::RoundStarted { .. }) => "round_started",
        Event::Noted(Note::RoundsEnded) => "rounds_ended",
        Event::Noted(Note::Judged(_)) => "judged",
        Event::Noted(Note::Skipped { .. }) => "skipped",
        Event::Noted(Note::WindowRestarted { .. }) => "window_restarted",
        Event::Interrupted { .. } => "interrupted",
        Event::Resumed { .. } => "resumed",
        Event::Restarted { .. } => "restarted",
        Event::TestEnded { .. } => "test_ended",
        Event::Closed => "closed",
    }
}
const EVENTS: usize = 25;

#[test]
fn every_event_has_an_example_that_is_written_like_that() {
    let mut seen = BTreeSet::new();
    for line in blocks().iter().filter(|b| b.starts_with("{\"seq\"")) {
        let entry: Entry = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"));
        let again = serde_json::to_string(&entry).expect("can be written");
        assert_eq!(&again, line);
        seen.insert(name_of(&entry.event));
    }
    assert_eq!(seen.len(), EVENTS, "{seen:?}");
}

#[test]
fn run_json_is_written_as_shown() {
    let (file, text) = run_file();
    assert_eq!(serde_json::to_string_pretty(&file).expect("can be written"), text);
}

#[test]
fn the_example_journal_chains_up_and_belongs_to_the_example_run() {
    let journal = blocks().into_iter().find(|b| b.starts_with("plateau-journal")).expect("is shown");
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("journal");
    std::fs::write(&path, journal + "\n").expect("can be written");
    let loaded = read_journal(&path).expect("is a journal");
    assert_eq!((loaded.entries.len(), loaded.torn), (3, None));
    let (_, text) = run_file();
    let digest = Digest::of(text.as_bytes()).to_string();
    assert_eq!(loaded.entries[0].event, Event::Opened { run_sha256: digest });
}

/// Calls `each` with copies of `value`, each of which has an unknown field in a different object.
fn with_unknown_fields(value: &serde_json::Value, each: &mut impl FnMut(serde_json::Value, &str)) {
    fn objects(value: &serde_json::Value, path: String, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                fields.iter().for_each(|(name, inner)| objects(inner, format!("{path}/{name}"), found));
                found.push(path);
            }
            serde_json::Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, inner)| objects(inner, format!("{path}/{i}"), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    objects(value, String::new(), &mut found);
    for path in found {
        let mut changed = value.clone();
        let object = changed.pointer_mut(&path).and_then(|object| object.as_object_mut()).expect("an object");
        // In a map of values by name, the unknown field is refused because its value has the wrong type.
        object.insert("unknown".into(), serde_json::json!({ "x": [] }));
        each(changed, &path);
    }
}

#[test]
fn unknown_fields_are_refused_everywhere() {
    let blocks = blocks();
    let mut tried = 0;
    for line in blocks.iter().filter(|block| block.starts_with("{\"seq\"")) {
        let value = serde_json::from_str(line).expect("JSON");
        with_unknown_fields(&value, &mut |changed, path| {
            tried += 1;
            let read = serde_json::from_str::<Entry>(&changed.to_string());
            assert!(read.is_err(), "an unknown field at '{path}' is accepted in {line}");
        });
    }
    let value = serde_json::from_str(&run_file().1).expect("JSON");
    with_unknown_fields(&value, &mut |changed, path| {
        tried += 1;
        assert!(serde_json::from_str::<RunFile>(&changed.to_string()).is_err(), "run.json: '{path}'");
    });
    assert!(tried > 2 * EVENTS, "{tried}");
}

#[test]
fn the_example_journal_of_a_library_is_read() {
    let journal = blocks().into_iter().find(|b| b.starts_with("plateau-library-journal")).expect("is shown");
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::fs::write(folder.path().join(record::LIBRARY_JOURNAL), journal + "\n").expect("can be written");
    let annotations = record::Library::at(folder.path()).annotations().expect("is a journal");
    let (run, _) = run_file();
    assert_eq!(annotations.labels(&run.id, &run.labels).tags, ["fw-1.2"]);
}
