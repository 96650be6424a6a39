//! `plateau verify`: a journal's contents, compared with the current code's results.

mod support;

use std::path::Path;

use record::{Event, Journal, Note, read_journal};
use support::Bench;

fn finished_run(bench: &Bench) -> String {
    let args = ["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    bench.json(&args)["run"].as_str().unwrap().to_owned()
}

/// Rewrites the journal record by record, so that its hash chain is valid.
fn rewrite(path: &Path, change: impl Fn(&mut Event)) {
    let loaded = read_journal(path).unwrap();
    std::fs::remove_file(path).unwrap();
    let mut journal = Journal::create(path).unwrap();
    for mut entry in loaded.entries {
        change(&mut entry.event);
        journal.append(entry.event).unwrap();
    }
}

#[test]
fn a_run_is_judged_as_before() {
    let bench = Bench::new();
    let id = finished_run(&bench);
    let document = bench.json(&["verify", &id]);
    assert_eq!(document["same"], true);
    assert_eq!(document["journal_sha256"], bench.journal().unwrap().digest.to_string());
    assert!(document["tests"][0]["judgements"].as_u64().unwrap() >= 5);
    let text = bench.ok(&["verify", &id]);
    assert!(text.contains("this version agrees") && text.contains("SHA-256"), "{text}");
}

#[test]
fn a_changed_verdict_in_an_intact_chain_is_found() {
    let bench = Bench::new();
    let id = finished_run(&bench);
    rewrite(&bench.library().join(&id).join("journal"), |event| {
        if let Event::TestEnded { converged, .. } = event {
            *converged = converged.map(|steady| !steady);
        }
    });
    let message = bench.fails(6, &["verify", &id]);
    assert!(message.contains("evaluated differently") && message.contains("in 1 place"), "{message}");
    let output = bench.run(&["verify", &id, "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!((document["same"].as_bool(), document["exit_code"].as_u64()), (Some(false), Some(6)));
    let text = document["tests"][0]["differences"][0]["text"].as_str().unwrap();
    assert!(text.contains("recorded verdict"), "{text}");
}

#[test]
fn a_changed_judgement_in_an_intact_chain_is_found() {
    let bench = Bench::new();
    let id = finished_run(&bench);
    rewrite(&bench.library().join(&id).join("journal"), |event| {
        if let Event::Noted(Note::Judged(judgement)) = event
            && judgement.round == 3
        {
            judgement.variables[0].value *= 1.001;
        }
    });
    let output = bench.run(&["verify", &id]);
    let (out, _) = support::texts(&output);
    assert_eq!(output.status.code(), Some(6));
    assert!(out.contains("DIFFERENT") && out.contains("round 3, SEQ 128KiB W: recorded"), "{out}");
}

#[test]
fn records_in_an_impossible_order_are_named_despite_valid_hashes() {
    let bench = Bench::new();
    let id = finished_run(&bench);
    let path = bench.library().join(&id).join("journal");
    let whole = std::fs::read(&path).unwrap();
    let reordered = |change: &dyn Fn(&mut Vec<Event>)| {
        std::fs::write(&path, &whole).unwrap();
        let mut events: Vec<Event> =
            read_journal(&path).unwrap().entries.into_iter().map(|entry| entry.event).collect();
        change(&mut events);
        std::fs::remove_file(&path).unwrap();
        let mut journal = Journal::create(&path).unwrap();
        for event in events {
            journal.append(event).unwrap();
        }
        bench.fails(6, &["verify", &id])
    };
    let error = reordered(&|events| {
        let closed = events.iter().position(|event| matches!(event, Event::Closed)).unwrap();
        let closed = events.remove(closed);
        events.insert(1, closed);
    });
    assert!(error.contains("record 1: the run is closed although test tp-128 is not complete"), "{error}");
    let error = reordered(&|events| events.push(events[4].clone()));
    assert!(error.contains("the run was closed before this record"), "{error}");
    // Verification replays the test, so it detects results in the wrong order.
    let error = reordered(&|events| {
        let measured = |event: &Event| matches!(event, Event::Measured(_));
        let first = events.iter().position(measured).unwrap();
        let second = first + 1 + events[first + 1..].iter().position(measured).unwrap();
        events.swap(first, second);
    });
    assert!(error.contains("evaluated differently"), "{error}");
}

#[test]
fn a_broken_chain_is_named() {
    let bench = Bench::new();
    let id = finished_run(&bench);
    let path = bench.library().join(&id).join("journal");
    let whole = support::text(&path);
    std::fs::write(&path, whole.replacen("\"steady\":false", "\"steady\":true", 1)).unwrap();
    let message = bench.fails(6, &["verify", &id]);
    assert!(message.contains("damaged at record") && message.contains("hash"), "{message}");
}

#[test]
fn a_journal_without_its_end_is_not_called_intact() {
    let bench = Bench::new();
    let id = finished_run(&bench);
    let path = bench.library().join(&id).join("journal");
    let whole = support::text(&path);
    assert!(bench.ok(&["verify", &id]).contains(" records, intact, SHA-256"));
    assert_eq!(bench.json(&["verify", &id])["closed"], true);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let cut = lines[..lines.len() / 2].concat();
    std::fs::write(&path, &cut).unwrap();
    let text = bench.ok(&["verify", &id]);
    assert!(text.contains("intact as far as it goes") && text.contains("no closing record"), "{text}");
    assert_eq!(bench.json(&["verify", &id])["closed"], false);
    // Overwrite part of the last record with zeros, as a power cut might.
    let last = lines[lines.len() / 2];
    let torn = format!("{cut}{}\0\0\0\n", &last[..last.len() - 4]);
    std::fs::write(&path, torn).unwrap();
    let text = bench.ok(&["verify", &id]);
    assert!(text.contains("3 of them zero") && text.contains("intact as far as it goes"), "{text}");
    // Zeros at the end are also reported if no result is missing.
    std::fs::write(&path, format!("{whole}\0\0")).unwrap();
    let text = bench.ok(&["verify", &id]);
    assert!(text.contains("2 of them zero") && text.contains(" records, intact, SHA-256"), "{text}");
}

#[test]
fn an_imported_run_without_its_end_is_not_called_intact_either() {
    let bench = Bench::new();
    bench.ok(&["examples", "--install", "mlc-a"]);
    let id = bench.json(&["runs"])[0]["run"].as_str().unwrap().to_owned();
    let path = bench.library().join(&id).join("journal");
    assert!(bench.ok(&["verify", &id]).contains(" records, intact, SHA-256"));
    let whole = support::text(&path);
    let without_end = whole.trim_end().rfind('\n').unwrap() + 1;
    std::fs::write(&path, &whole[..without_end]).unwrap();
    assert!(bench.ok(&["verify", &id]).contains("no closing record"));
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(bench.ok(&["verify", &id]).contains("the last record is incomplete"));
    assert_eq!(
        bench.json(&["verify", &id])["torn_bytes"].as_u64(),
        Some((whole.len() - without_end - 1) as u64)
    );
}
