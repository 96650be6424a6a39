//! Names chosen by other users cannot send control sequences to the terminal.

mod support;

use std::process::Output;

use support::{Bench, text, texts};

/// Clears the screen with 7-bit and 8-bit sequences, reverses the writing direction, and ends the line.
const EVIL: &str = "evil\x1b[2J\u{9b}2J\u{202e}\nplateau: all is well";

/// Checks that neither stream contains a control character, and that text after a newline is not on a separate
/// line.
fn assert_harmless(output: &Output) {
    let (out, err) = texts(output);
    for stream in [&out, &err] {
        let acts = stream.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(acts, None, "{stream:?}");
        assert!(!stream.lines().any(|line| line.starts_with("plateau: all is well")), "{stream:?}");
    }
    // An import drops control characters in names; the rest of this name is printed.
    let escaped = ["\\u{1b}[2J", "\\u{9b}2J", "\\u009b2J", "\\u{202e}"];
    assert!(escaped.iter().any(|part| out.contains(part) || err.contains(part)), "{out}{err}");
}

#[test]
fn names_of_targets_are_escaped() {
    let bench = Bench::new();
    let path = bench.path(EVIL);
    std::fs::File::create(&path).and_then(|file| file.set_len(16 << 20)).expect("a file");
    let target = path.to_str().expect("text");
    let missing = bench.path(&format!("{EVIL}/gone.toml"));
    let missing = missing.to_str().expect("text");
    let commands: [&[&str]; 8] = [
        &["info", target],
        &["info", target, "--json"],
        &["check", missing],
        &["run", "iops", target, "--erase", "another"],
        &["plan", "iops", target],
        &["plan", "--check", missing],
        &["show", EVIL],
        &["run", "iops", target, &format!("--{EVIL}")],
    ];
    for command in commands {
        assert_harmless(&bench.run(command));
    }
    let document = bench.json(&["info", target]);
    assert_eq!(document["target"]["path"], target, "a program gets the name as it is");
    let short = ["--profile", "pts-e-1.0", "--cell-seconds", "0.02", "--max-rounds", "5"];
    let output = bench.run(&[&["run", "tp-128", target][..], &short[..]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_harmless(&output);
}

#[test]
fn names_in_imports_and_in_runs_of_others_are_escaped() {
    let bench = Bench::new();
    let job = serde_json::json!({
        "jobname": EVIL, "job options": { "rw": "randread", "bs": "4k", "iodepth": "1" },
        "read": {
            "iops": 1000.0, "bw_bytes": 4096000, "total_ios": 1000, "runtime": 1000,
            "lat_ns": { "min": 1, "max": 9, "mean": 5.0 },
        },
    });
    let document = serde_json::json!({ "fio version": "fio-3.33", "jobs": [job] });
    let path = bench.path("evil\x1b[2J.json");
    std::fs::write(&path, document.to_string()).expect("a file");
    let output = bench.run(&["import", path.to_str().expect("text")]);
    assert!(output.status.success(), "{output:?}");
    assert_harmless(&output);
    let run = bench.runs()[0].clone();
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id").to_owned();
    assert_harmless(&bench.run(&["show", &id]));
    assert_harmless(&bench.run(&["verify", &id]));
    // A name that was entered by hand, so no import made it safe to print.
    let file = text(&run.join("run.json"));
    let evil = serde_json::to_string(EVIL).expect("text");
    let tool = file.lines().find(|line| line.contains("\"tool\"")).expect("a tool");
    std::fs::write(run.join("run.json"), file.replace(tool, &format!("\"tool\": {evil},"))).expect("ours");
    assert_harmless(&bench.run(&["runs"]));
}
