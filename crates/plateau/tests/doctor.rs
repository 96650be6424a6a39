//! `plateau doctor`: every problem is found, and nothing is changed.

mod support;

use std::fs;
use std::path::Path;

use support::Bench;

fn run_of(bench: &Bench, seed: &str) -> String {
    let args = ["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/256", "--seed", seed];
    bench.json(&args)["run"].as_str().expect("an id").to_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for name in ["run.json", "journal"] {
        fs::copy(from.join(name), to.join(name)).expect("a copy");
    }
}

/// Returns the kind and the file name of each finding.
fn found(document: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let name = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    let findings = document["findings"].as_array().expect("findings");
    let mut all: Vec<_> =
        findings.iter().map(|each| (text(&each["kind"]), name(text(&each["path"])))).collect();
    all.sort();
    all
}

#[test]
fn a_library_without_problems_has_no_findings() {
    let bench = Bench::new();
    assert!(bench.ok(&["doctor"]).contains("0 runs, 0 verified"), "a library that does not exist");
    let run = run_of(&bench, "1");
    bench.ok(&["tag", &run, "rack-4"]);
    bench.ok(&["index"]);
    let document = bench.json(&["doctor"]);
    // The host's disk may be almost full.
    let found: Vec<_> = found(&document).into_iter().filter(|(kind, _)| kind != "little_space").collect();
    assert_eq!(found, [], "{document:#}");
    assert_eq!((&document["runs"], &document["verified"]), (&1.into(), &1.into()));
}

#[test]
fn a_damaged_journal_of_the_library_is_one_error() {
    let bench = Bench::new();
    let run = run_of(&bench, "1");
    bench.ok(&["tag", &run, "rack-4"]);
    let journal = bench.library().join("library.journal");
    let good = fs::read_to_string(&journal).expect("the journal");
    fs::write(&journal, good.replace("rack-4", "rack-5")).expect("a damaged journal");
    let output = bench.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let document = serde_json::from_slice(&output.stdout).expect("JSON");
    let found: Vec<_> = found(&document).into_iter().filter(|(kind, _)| kind != "little_space").collect();
    // The index is not reported as a cause.
    assert_eq!(found, [("library_journal_unreadable".to_owned(), "library.journal".to_owned())]);
}

#[test]
fn every_problem_is_found_and_nothing_is_changed() {
    let bench = Bench::new();
    let run = run_of(&bench, "1");
    let (library, own) = (bench.library(), bench.library().join(&run));
    bench.ok(&["index"]);
    copy(&own, &library.join("a-copy"));
    let removed = run_of(&bench, "4");
    bench.ok(&["tag", &removed, "rack-4"]);
    bench.ok(&["rm", "--yes", &removed]);
    let torn = run_of(&bench, "2");
    let journal = library.join(&torn).join("journal");
    let bytes = fs::read(&journal).expect("the journal");
    fs::write(&journal, &bytes[..bytes.len() - 5]).expect("a torn journal");
    let damaged = run_of(&bench, "3");
    let journal = library.join(&damaged).join("journal");
    let mut bytes = fs::read(&journal).expect("the journal");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&journal, &bytes).expect("a damaged journal");
    for (folder, file) in [("half", "run.json"), ("other-half", "journal")] {
        fs::create_dir(library.join(folder)).expect("a folder");
        fs::copy(own.join(file), library.join(folder).join(file)).expect("a copy");
    }
    fs::create_dir(library.join(".new-x")).expect("a folder");
    fs::write(own.join(".plateau-00.tmp"), "x").expect("a file");
    fs::write(own.join("journal.rescued"), "x").expect("a file");
    std::os::unix::fs::symlink(&own, library.join("link")).expect("a link");
    fs::create_dir(library.join("unrelated")).expect("a folder");
    fs::write(bench.state.path().join(".tuning-S1.json"), "{}").expect("a record");

    let listing = || {
        let output =
            std::process::Command::new("find").arg(&library).args(["-printf", "%p %s %T@\\n"]).output();
        let text = String::from_utf8(output.expect("find").stdout).expect("text");
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.contains("index")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let before = listing();
    let output = bench.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let document = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(listing(), before, "doctor changed something");
    let given = library.to_str().expect("text");
    let output = bench.run(&["doctor", "--library", given]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("plateau resume {torn} --library {given}\n")), "{text}");
    let library_name = library.file_name().expect("a name").to_string_lossy().into_owned();
    let expected = [
        ("duplicate_id", library_name.as_str()),
        ("left_over_file", ".plateau-00.tmp"),
        ("left_over_run", ".new-x"),
        ("library_journal_no_such_runs", "library.journal"),
        ("link", "link"),
        ("no_journal", "half"),
        ("no_run_file", "other-half"),
        ("renamed", "a-copy"),
        ("rescued_records", "journal.rescued"),
        ("stale_index", library_name.as_str()),
        ("stale_settings", ".tuning-S1.json"),
        ("torn", torn.as_str()),
        ("unreadable", damaged.as_str()),
    ];
    let mut expected: Vec<_> = expected.map(|(kind, name)| (kind.to_owned(), name.to_owned())).to_vec();
    expected.sort();
    let found: Vec<_> = found(&document).into_iter().filter(|(kind, _)| kind != "little_space").collect();
    assert_eq!(found, expected, "{document:#}");
    let text = String::from_utf8_lossy(&bench.run(&["doctor"]).stdout).into_owned();
    assert!(text.starts_with("ERROR ") && text.contains("-> plateau index\n"), "{text}");
}
