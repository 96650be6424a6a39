//! Typical typing mistakes: the cause, what to type instead, and the documented exit code.

mod support;

use serde_json::Value;
use support::{Bench, finished, texts};

/// Of a key pair whose private key was discarded.
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
    MCowBQYDK2VwAyEAJ99F2vF0whFZDcdcSlEM7anS2lQx5s8sMz/Is4+WQnI=\n\
    -----END PUBLIC KEY-----\n";

#[test]
fn mistakes_are_answered_with_the_cause_and_what_to_type() {
    let bench = Bench::new();
    let file = bench.path("file");
    std::fs::write(&file, vec![0; 32 << 20]).expect("a file");
    let file = file.to_str().expect("text");
    let new = bench.path("new");
    let new = new.to_str().expect("text");
    let key = bench.path("key.pem");
    std::fs::write(&key, PUBLIC_KEY).expect("a file");
    let key = key.to_str().expect("text");
    bench.ok(&["examples", "--install", "slc-a"]);
    for (words, code, part) in [
        (&["run", "quik", new][..], 2, "did you mean 'quick'?"),
        (&["run", "iops", new, "--yes"], 2, "--erase IDENTITY. `plateau info TARGET` shows it"),
        (&["run", "iops", new, "--force"], 2, "--erase IDENTITY"),
        (&["show", ""], 2, "no run is given"),
        (&["rm", "--yes", ""], 2, "no run is given"),
        (&["load", &format!("--filename={new}"), "--rw=read"], 4, "give its size with --size"),
        (&["run", "iops", new, "--size", "1"], 2, "--size 1 is too small; the smallest target has 16 MiB"),
        (&["run", "iops", new, "--size", "1GiB", "--qd", "99999"], 2, "use 1 to 1024"),
        (&["run", "iops", new, "--size", "1GiB", "--qd", "2000"], 2, "nearest: 1024"),
        (&["run", "iops", new, "--qd", "abc"], 2, "use a whole number from 1 to 1024"),
        (&["run", "iops", new, "--cell-seconds", "1m"], 2, "use a number of seconds"),
        (&["run", "iops", new, "--seed=-1"], 2, "it cannot be negative"),
        (
            &["run", "iops", new, "--size", "64MiB", "--lbaf", "1"],
            2,
            "only NVMe namespaces have a choice of LBA formats",
        ),
        (
            &["load", &format!("--filename={file}"), "--rw=read", "--offset=1g", "--runtime=1"],
            2,
            "the offset lies beyond the end of the target, which has 33554432 B",
        ),
        (
            &["compare", "example-slc-a", "example-slc-a", "--fail-if", "iops.* < -5"],
            2,
            "did you mean 'iops.* < -5%'?",
        ),
        (&["sim", "fit", "example-slc-a"], 2, "is imported, so it has no measured rounds"),
        (
            &["verify", "example-slc-a", "--verify-key", key],
            6,
            "create one with `plateau report RUN --sign KEY`",
        ),
        (&["run", "iops", "sim:sas-slc-2011", "--scale", "0"], 2, "sim:sas-slc-2011"),
        (&["run", "iops", "sim:sas-slc-2011", "--sim-fault", "odd"], 2, "sim:sas-slc-2011"),
        (&["run", "iops", "sim:sas-slc-2011", "--size", "1GiB"], 2, "--size means nothing"),
        (&["run", "iops", "sim:sas-slc-2011", "--tune"], 2, "--tune means nothing"),
        (&["run", "iops", "sim:sas-slc-2011", "--ioengine", "libaio"], 2, "--ioengine means nothing"),
        (&["run", "iops", "sim:sas-slc-2011", "--cpus_allowed", "0"], 2, "--cpus_allowed means nothing"),
        (&["run", "iops", "sim:sas-slc-2011", "--lbaf", "1"], 2, "--lba-format means nothing"),
        (&["run", "iops", "sim:sas-slc-2011", "--erase", "x"], 2, "--erase means nothing"),
        (&["plan", "iops", "sim:sas-slc-2011", "--hipri"], 2, "--hipri means nothing"),
        (&["frobnicate"], 2, "frobnicate"),
        (&["show"], 2, "RUN is an id, the beginning of one, the name of a run, or `latest`"),
        (&["compare", "example-slc-a"], 2, "a comparison needs 2 to 8 runs"),
        (&["sim"], 2, "Usage: plateau sim"),
        (&[], 2, "Usage: plateau"),
    ] {
        let error = bench.fails(code, words);
        assert!(error.contains(part), "{words:?}: {error}");
        // If the command is missing, the help is the only message.
        let is_help = part.starts_with("Usage: ");
        assert!(is_help != error.starts_with("plateau: "), "one prefix: {words:?}: {error}");
        assert!(!error.contains("error: "), "{words:?}: {error}");
        assert!(!std::path::Path::new(new).exists(), "{words:?} touched the target");
    }
}

#[test]
fn a_run_without_figures_is_not_compared() {
    let bench = Bench::new();
    let mut child = bench.start(&["run", "iops", "sim:sata-mlc-2011"]);
    bench.wait_for("a cell", |journal| finished(journal) > 1);
    child.kill().and_then(|()| child.wait()).expect("killed");
    let error = bench.fails(2, &["compare", "latest", "latest"]);
    assert!(error.contains("no round of it is complete") && error.contains("`plateau resume "), "{error}");
}

#[test]
fn with_json_every_error_is_a_document_on_standard_output() {
    let bench = Bench::new();
    for (words, code) in [
        (&["--json", "frobnicate"][..], 2),
        (&["run", "--json", "--qd", "x"], 2),
        (&["run", "iops", "sim:sas-slc-2011", "--json", "--size", "1"], 2),
        (&["show", "", "--json"], 2),
        (&["show", "nothing", "--json"], 6),
    ] {
        let output = bench.run(words);
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{words:?}: {e}:\n{out}"));
        assert_eq!(document["exit_code"], code, "{words:?}");
        let text = document["error"].as_str().expect("a text");
        assert!(!text.is_empty() && !text.starts_with("error"), "{text}");
        assert!(err.starts_with("plateau: "), "{words:?}: {err}");
    }
    // Words after `--` are not options.
    let (out, _) = texts(&bench.run(&["frobnicate", "--", "--json"]));
    assert_eq!(out, "");
}

/// The default library is that of whoever runs this test, so it may hold runs, or none.
#[test]
fn an_empty_library_variable_counts_as_unset() {
    let bench = Bench::new();
    let listed = |variable: Option<&str>| {
        let mut command = bench.command(&["runs"]);
        command.env("XDG_DATA_HOME", bench.path("home")).env_remove("PLATEAU_LIBRARY");
        command.envs(variable.map(|value| ("PLATEAU_LIBRARY", value)));
        let output = command.output().expect("plateau starts");
        (output.status.code(), texts(&output))
    };
    let empty = listed(Some(""));
    assert_eq!(empty, listed(None));
    // A library that exists has nothing in common with it.
    let own = bench.library();
    std::fs::create_dir_all(&own).expect("a library");
    assert_ne!(empty, listed(Some(&own.to_string_lossy())));
}
