//! A receiver refuses what `plateau verify` refuses, in the first request and in every later one.

use record::run_files::SIGNATURE;
use record::{Digest, Event, Journal, Judgement, Library, Note, RunFile};
use serde_json::{Value, json};
use transfer::{Destination as _, First, Receiver, SourceState, TransferError};

const STATE: SourceState = SourceState { bytes: 1, is_in_progress: false };

fn run_json(with: &Value) -> Vec<u8> {
    let mut run = json!({
        "version": 1, "id": "a", "created": "2026-11-25T08:00:00Z", "plateau_version": "0", "command": ["plateau"],
        "tests": ["iops"], "profile": "pts-e-2.0", "settings": null, "host": {},
        "target": {
            "kind": "simulated", "path": "sim:x", "identity": "x", "capacity_bytes": 4096,
            "logical_block_bytes": 512, "physical_block_bytes": 4096
        }
    });
    for (name, value) in with.as_object().into_iter().flatten() {
        run[name] = value.clone();
    }
    serde_json::to_vec(&run).expect("JSON")
}

/// A journal with valid hashes, as anyone can write it, in lines.
fn journal(run_json: &[u8], events: &[Event]) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("journal");
    let mut journal = Journal::create(&path).expect("a journal");
    let opened = Event::Opened { run_sha256: Digest::of(run_json).to_string() };
    for event in std::iter::once(&opened).chain(events) {
        journal.append(event.clone()).expect("appended");
    }
    let bytes = std::fs::read(&path).expect("readable");
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn begun(
    receiver: &mut Receiver,
    run_json: &[u8],
    lines: &[Vec<u8>],
    files: &[(&'static str, Vec<u8>)],
) -> Result<u64, TransferError> {
    let first = First { id: "a", run_json, journal: &lines.concat(), files };
    Receiver::check(&first)?;
    receiver.begin(&first, STATE).map(|received| received.bytes)
}

fn started(test: &str) -> Event {
    Event::TestStarted { test: test.into() }
}

fn round(round: u32, cells: u32) -> Event {
    Event::Noted(Note::RoundStarted { round, cells })
}

#[test]
fn records_that_no_run_writes_are_refused_whenever_they_arrive() {
    let judged = |round| Event::Noted(Note::Judged(Judgement { round, steady: true, variables: Vec::new() }));
    let run_json = run_json(&json!({}));
    for (events, problem) in [
        (vec![started("iops"), round(0, 56)], "round 0 starts after 0 rounds"),
        (vec![started("iops"), round(1, 0)], "round 1 has no cells"),
        (vec![started("iops"), round(1, 56), judged(0)], "evaluates round 0"),
        (vec![started("iops"), round(1, 56), judged(7)], "evaluates round 7"),
        (vec![started("iops"), Event::Noted(Note::WindowRestarted { first_round: 0 })], "round 0"),
        (vec![Event::Idled { length_ns: 1 }], "none is in progress"),
        (vec![started("lat")], "not the next test"),
        (vec![started("iops"), Event::Closed], "test iops is not complete"),
    ] {
        let lines = journal(&run_json, &events);
        let loaded_by_verify = record::check_order(&["iops".into()], &entries(&lines));
        assert!(loaded_by_verify.is_err(), "verify refuses it: {problem}");
        // All records up to the last one are in the first request.
        for in_first in 2..=lines.len() {
            let folder = tempfile::tempdir().expect("a folder");
            let mut receiver = Receiver::of(Library::at(folder.path()), "host");
            let sent = begun(&mut receiver, &run_json, &lines[..in_first], &[]);
            let refused = match sent {
                Err(error) => error,
                Ok(at) => {
                    // A receiver that was started since then knows nothing about the run.
                    let mut other = Receiver::of(Library::at(folder.path()), "host");
                    let rest = lines[in_first..].concat();
                    let error = other.append("a", at, &rest).expect_err(problem);
                    let again = receiver.append("a", at, &rest).expect_err(problem);
                    assert_eq!(error_text(&error), error_text(&again));
                    error
                }
            };
            let text = error_text(&refused);
            assert!(text.contains(problem), "{in_first} of {}: {text}", lines.len());
            let stored = std::fs::read(folder.path().join("a/journal")).unwrap_or_default();
            let accepted = if in_first == lines.len() { 0 } else { lines[..in_first].concat().len() };
            assert_eq!(stored.len(), accepted, "{problem}: only what was accepted is stored");
        }
    }
}

fn error_text(error: &TransferError) -> String {
    match error {
        TransferError::Unverified { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

fn entries(lines: &[Vec<u8>]) -> Vec<record::Entry> {
    let entry = |line: &Vec<u8>| serde_json::from_slice(&line[65..]).expect("a record");
    lines[1..].iter().map(entry).collect()
}

#[test]
fn a_run_without_its_unchanged_logo_and_imported_file_is_refused() {
    let file = b"<xml/>".to_vec();
    let sha256 = Digest::of(&file).to_string();
    let origin = json!({
        "format": "TKperf XML", "tool": "TKperf 2.2", "file": "a.xml", "sha256": sha256, "date": null,
        "transcribed": false, "remarks": []
    });
    for (name, with) in [
        ("imported-file", json!({ "origin": origin })),
        ("logo", json!({ "plan": { "name": "a", "title": "A", "logo": "logo.png", "logo_sha256": sha256 } })),
    ] {
        let run_json = run_json(&with);
        serde_json::from_slice::<RunFile>(&run_json).expect("a run file");
        let lines = journal(&run_json, &[]);
        let attempt = |files: &[(&'static str, Vec<u8>)]| {
            let folder = tempfile::tempdir().expect("a folder");
            let mut receiver = Receiver::of(Library::at(folder.path().join("runs")), "host");
            let sent = begun(&mut receiver, &run_json, &lines, files);
            let refused = sent.map_err(|error| error.to_string());
            assert_eq!(folder.path().join("runs").exists(), refused.is_ok(), "nothing else is stored");
            refused
        };
        attempt(&[(name, file.clone())]).expect("unchanged");
        let missing = attempt(&[]).expect_err(name);
        assert!(missing.contains(&format!("`{name}` is missing")), "{missing}");
        let changed = attempt(&[(name, b"<xml></xml>".to_vec())]).expect_err(name);
        assert!(changed.contains(&format!("`{name}` was changed")), "{changed}");
        let repeated = attempt(&[(name, file.clone()), (name, file.clone())]).expect_err(name);
        assert!(repeated.contains("is not a run file that can be received"), "{repeated}");
        let other = if name == "logo" { "imported-file" } else { "logo" };
        let unnamed = attempt(&[(name, file.clone()), (other, file.clone())]).expect_err(name);
        assert!(unnamed.contains(&format!("`{other}` is not named in its run.json")), "{unnamed}");
        let signature = |run: &str, more: usize| {
            (SIGNATURE, format!("{{\"run\": \"{run}\"}}{}", " ".repeat(more)).into_bytes())
        };
        attempt(&[(name, file.clone()), signature("a", 0)]).expect("a signature");
        for (run, more) in [("other", 0), ("a", 1 << 16)] {
            let refused = attempt(&[(name, file.clone()), signature(run, more)]).expect_err(run);
            assert!(refused.contains("is not a signature of it"), "{refused}");
        }
    }
}
