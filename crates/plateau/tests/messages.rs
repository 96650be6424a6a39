//! Common typos: the cause, the correct input, and the documented exit code.

mod support;

use serde_json::Value;
use support::{Bench, finished, texts};

/// The public key from a pair whose private key was discarded.
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
    MCowBQYDK2VwAyEAJ99F2vF0whFZDcdcSlEM7anS2lQx5s8sMz/Is4+WQnI=\n\
    -----END PUBLIC KEY-----\n";

/// Checks the exit code and message for a wrong command line.
fn is_answered(bench: &Bench, words: &[&str], code: i32, part: &str) {
    let error = bench.fails(code, words);
    assert!(error.contains(part), "{words:?}: {error}");
    // If the command is missing, only the help is printed.
    let is_help = part.starts_with("Usage: ");
    assert!(is_help != error.starts_with("plateau: "), "one prefix: {words:?}: {error}");
    assert!(!error.contains("error: "), "{words:?}: {error}");
}

#[test]
fn mistakes_are_explained_with_the_next_step() {
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
        (&["run", "iops", new, "--yes"], 2, "--erase IDENTITY. `plateau info TARGET` shows the identity"),
        (&["run", "iops", new, "--force"], 2, "--erase IDENTITY"),
        (&["show", ""], 2, "no run is given"),
        (&["rm", "--yes", ""], 2, "no run is given"),
        (&["load", &format!("--filename={new}"), "--rw=read"], 4, "specify its size with --size"),
        (&["run", "iops", new, "--size", "1"], 2, "--size 1 is too small; the smallest target has 16 MiB"),
        (&["run", "iops", new, "--size", "1GiB", "--qd", "99999"], 2, "use 1 to 1024 (nearest: 1024)"),
        (&["run", "iops", new, "--size", "1GiB", "--qd", "2000"], 2, "use 1 to 1024 (nearest: 1024)"),
        (&["run", "iops", new, "--size", "1GiB", "--qd", "0"], 2, "use 1 to 1024 (nearest: 1)"),
        (&["run", "iops", new, "--size", "1GiB", "--qd", "-1"], 2, "use 1 to 1024 (nearest: 1)"),
        (&["run", "iops", new, "--size", "1GiB", "--cell-seconds", "-1"], 2, "nearest: 0.01"),
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
        (&["run", "sim"], 2, "a simulated drive is sim:MODEL"),
        (&["notify", "--config", new], 2, "docs/guide/notify.md shows an example"),
        (&["show", "latets"], 6, "did you mean `latest`?"),
        (&["load", file, "--rw", "read", "--qd", "4"], 2, "--iodepth N sets the queue depth"),
        (&["show"], 2, "RUN is an id, a prefix of one, the name of a run, or `latest`"),
        (&["compare", "example-slc-a"], 2, "a comparison needs at least 2 runs"),
        (&["check", new], 4, "no such file or device; `plateau list` lists the block devices"),
        (&["run", "iops", key], 4, "the file has 113 bytes; the smallest target has 16 MiB"),
        (
            &["purge", file, "--erase", "file", "--method", "secure-erase"],
            2,
            "a file is purged by punching a hole in it",
        ),
        (
            &["run", "--plan", "nosuch.toml", new],
            2,
            "cannot read the plan nosuch.toml: No such file or directory\n",
        ),
    ] {
        is_answered(&bench, words, code, part);
        assert!(!std::path::Path::new(new).exists(), "{words:?} touched the target");
    }
}

#[test]
fn commands_that_do_not_exist_or_lack_a_word_show_the_usage() {
    let bench = Bench::new();
    for (words, part) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["tests"], "`plateau help run` lists the tests"),
        (&["sim"], "Usage: plateau sim"),
        (&[], "Usage: plateau"),
    ] {
        is_answered(&bench, words, 2, part);
    }
}

#[test]
fn options_without_meaning_for_simulated_drives_are_refused() {
    let bench = Bench::new();
    for (words, part) in [
        (&["run", "iops", "sim:sas-slc-2011", "--scale", "0"][..], "sim:sas-slc-2011"),
        (&["run", "iops", "sim:sas-slc-2011", "--sim-fault", "odd"], "sim:sas-slc-2011"),
        (&["run", "iops", "sim:sas-slc-2011", "--size", "1GiB"], "--size does not apply to"),
        (&["run", "iops", "sim:sas-slc-2011", "--tune"], "--tune does not apply to"),
        (&["run", "iops", "sim:sas-slc-2011", "--ioengine", "libaio"], "--ioengine does not apply to"),
        (&["run", "iops", "sim:sas-slc-2011", "--cpus_allowed", "0"], "--cpus_allowed does not apply to"),
        (&["run", "iops", "sim:sas-slc-2011", "--lbaf", "1"], "--lba-format does not apply to"),
        (&["run", "iops", "sim:sas-slc-2011", "--erase", "x"], "--erase does not apply to"),
        (&["run", "iops", "sim:sas-slc-2011", "--dry-run", "--tune"], "--tune does not apply to"),
        (&["plan", "iops", "sim:sas-slc-2011", "--hipri"], "--hipri does not apply to"),
    ] {
        is_answered(&bench, words, 2, part);
    }
}

#[test]
fn options_of_other_programs_suggest_the_equivalent() {
    let bench = Bench::new();
    let new = bench.path("new");
    let new = new.to_str().expect("text");
    for (words, part) in [
        (&["runs", "--test", "iosp"][..], "did you mean 'iops'?"),
        (&["runs", "-n", "0"], "use 1 or more"),
        (&["runs", "-n", "-1"], "it cannot be negative"),
        (&["run", "map,quick", new], "'map' is a preset, which cannot be part of a list of tests"),
        (&["run", "lat", ""], "one of the words is empty"),
        (&["info", ""], "the target is empty"),
        (&["run", "iops", new, "--rw=write"], "--rw is a fio option, which `plateau load` accepts"),
        (&["plan", "iops", new, "--iodepth", "4"], "Its queue depth is set by --qd."),
        (&["run", "iops", "sas-slc-2011"], "did you mean sim:sas-slc-2011?"),
        (&["run", "lat", "sim:sas-slc-2011", "--sim-fault", "media:at=25"], "it has no unit; write 25%"),
        (&["run", "lat", new, "--size", "64"], "add the unit: --size 64MiB"),
        (&["run", "lat", "sim"], "a simulated drive is sim:MODEL"),
        (&["run", "pts-e", new, "--size", "64MiB"], "a profile is selected with --profile pts-e"),
        (&["run", "PTS-E-2.0", new, "--size", "64MiB"], "a profile is selected with --profile pts-e-2.0"),
        (&["run", "lat", new, "--threads", "4"], "--tc N sets the number of threads"),
        (&["run", "lat", new, "-o", "x.pdf"], "--report FILE writes a report"),
        (&["help", "runn"], "Did you mean `run`?"),
        (&["IOPS", new], "`plateau run iops TARGET` runs it"),
        (&["RUNS"], "`plateau runs`"),
        (&["latest"], "`plateau show latest`"),
        (&["version"], "`plateau --version`"),
        (&["benchmark", new], "`plateau run TESTS TARGET`"),
        (&["report", "latest", "-o", "x.pdf"], "`plateau report RUN out.pdf`"),
        (&["report", "x.pdf"], "`plateau report latest x.pdf`"),
        (&["report", "x.pdf", "latest"], "RUN comes first: `plateau report latest x.pdf`"),
        (&["report", "latest", "-f", "pdf"], "`plateau report RUN out.pdf`"),
        (&["fleet", "submit", "c.toml", "--yes"], "--erase IDENTITY"),
        (&["report", "latest", "--open"], "`plateau open RUN`"),
        (&["rm", "-f", "latest"], "Confirm with --yes"),
        (&["plan", new], "such as `plateau plan iops"),
        (&["plan", "iops"], "such as `plateau plan iops /dev/nvme0n1`"),
        (&["run", "iops", "quick", "sim:sas-slc-2011"], "`plateau run iops sim:sas-slc-2011` runs the test"),
        (
            &["plan", "iops", "sim:sas-slc-2011", "--preset", "quick"],
            "`plateau plan quick sim:sas-slc-2011` the preset",
        ),
        (&["compare", "x.pdf", "y.pdf"], "such as --pdf x.pdf"),
        (&["plan", "lat", "sim:sas-slc-2011", "--assume-write", "fast"], "'fast' is not a size"),
        (&["export", "latest", "x.xlsx"], "`plateau report RUN x.xlsx`"),
        (&["load", new, "randread"], "--rw=randread"),
        (&["load", new, "--rw=read", "--threads", "4"], "--numjobs N sets the number of threads"),
        (&["list", new], "`plateau info TARGET` shows one target"),
        (&["info"], "`plateau list` lists the devices"),
        (&["ls"], "`plateau runs` lists runs"),
        (&["delete", "latest"], "`plateau rm RUN` removes a run"),
        (&["remove"], "`plateau rm RUN` removes a run"),
        (&["diff"], "`plateau compare RUN RUN`"),
        (&["html"], "`plateau report RUN`"),
        (&["start"], "`plateau run TESTS TARGET`"),
        (&["examples", "MLC-A"], "`plateau examples --install mlc-a`"),
        (&["examples", "nothing"], "adds one to the library: mlc-a"),
        (&["demo", "sim:sas-slc-2011"], "--model sas-slc-2011"),
        (&["show", "a", "b"], "`plateau compare RUN RUN`"),
        (&["run", "lat", "sim:sas-slc-2011", "--purge-method", "trim"], "did you mean discard?"),
        (
            &["run", "lat", "sim:sas-slc-2011", "--purge-method", "scsi-sanitise-block"],
            "did you mean scsi-sanitize-block?",
        ),
        (
            &["run", "lat", "sim:sas-slc-2011", "--purge-method", "magnet"],
            "`plateau info TARGET` lists the methods",
        ),
    ] {
        is_answered(&bench, words, 2, part);
    }
    assert!(!std::path::Path::new(new).exists(), "the target was touched");
}

#[test]
fn outputs_are_refused_before_anything_is_run() {
    let bench = Bench::new();
    let missing = bench.path("missing/report.pdf");
    let missing = missing.to_str().expect("text");
    let folder = missing.trim_end_matches(".pdf");
    bench.ok(&["examples", "--install", "slc-a"]);
    for (words, part) in [
        (
            &["run", "lat", "sim:sas-slc-2011", "--report", missing][..],
            "no such folder; create it with `mkdir -p",
        ),
        (&["report", "example-slc-a", "--pdf", missing], "no such folder; create it with `mkdir -p"),
        (&["report", "example-slc-a", "--csv", folder], "no such folder; create it with `mkdir -p"),
        (&["report", "example-slc-a", "--pdf", "x.html"], "did you mean --html x.html"),
        (&["export", "example-slc-a", "--csv", "d1", "--json-file", "./d1"], "choose two files"),
        (&["report", "example-slc-a", "--csv", "x.csv"], "specify a folder, not a file"),
        (&["export", "example-slc-a", "--fio-json", "x.pdf"], "did you mean --pdf x.pdf"),
        (&["compare", "latest", "latest", "--csv", "x.pdf"], "did you mean --pdf x.pdf"),
    ] {
        is_answered(&bench, words, 2, part);
    }
    assert_eq!(bench.runs().len(), 1, "only the example");
    assert!(!bench.path("missing").exists(), "no folder is created");
}

#[test]
fn words_in_one_pair_of_quotes_and_the_newest_run_in_capitals_are_understood() {
    let bench = Bench::new();
    let planned = bench.json(&["plan", "tp-128 lat", "sim:sas-slc-2011", "--scale", "1/256"]);
    assert_eq!(planned["tests"].as_array().map(Vec::len), Some(2), "{planned}");
    bench.ok(&["examples", "--install", "slc-a"]);
    assert_eq!(bench.json(&["show", "LATEST"])["run"], "example-slc-a");
    assert!(bench.ok(&["runs", "latest"]).contains("`plateau show latest` shows that run"));
}

/// Every command accepts the same model names, and rejects all others with the same exit code.
#[test]
fn models_have_the_same_names_in_all_commands() {
    let bench = Bench::new();
    let file = bench.path("file");
    std::fs::write(&file, vec![0; 32 << 20]).expect("a file");
    let file = file.to_str().expect("text");
    let read = ["--rw=read", "--runtime=1"];
    for typed in ["SIM:NVME-QLC-2024", "sim:nvme-qlc"] {
        let shown = bench.json(&["info", typed]);
        assert_eq!(shown["target"]["path"], "sim:nvme-qlc-2024", "{typed}");
        bench.ok(&[&["load", typed][..], &read].concat());
        assert!(bench.ok(&["purge", typed]).starts_with("purged by"), "{typed}");
        assert_eq!(bench.json(&["sim", "show", typed])["name"], "nvme-qlc-2024", "{typed}");
        let planned = bench.json(&["plan", "tp-128", file, "--rehearse", typed]);
        assert_eq!(planned["rehearsal"]["model"], "nvme-qlc-2024", "{typed}");
    }
    for (typed, code, part) in [
        ("sim:zzz", 2, "sim:zzz: no such model"),
        ("sim:./zzz.txt", 2, "must end in .toml"),
        ("sim:./zzz.toml", 4, "cannot read the model"),
    ] {
        for words in [
            &["run", "lat", typed][..],
            &["plan", "lat", typed],
            &["info", typed],
            &["check", typed],
            &["purge", typed],
            &["load", typed, "--rw=read", "--runtime=1"],
            &["sim", "show", typed],
            &["demo", "--model", typed],
            &["plan", "lat", file, "--rehearse", typed],
        ] {
            let error = bench.fails(code, words);
            assert!(error.contains(part), "{words:?}: {error}");
        }
    }
}

/// A media fault is still present after `resume`, so suggesting `resume` would never lead to a complete run.
#[test]
fn a_run_that_cannot_be_completed_does_not_suggest_to_resume_it() {
    let bench = Bench::new();
    let run = ["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--sim-fault"];
    for words in [&[&run[..], &["media:at=25%"]].concat()[..], &["resume", "latest"]] {
        let error = bench.fails(5, words);
        assert!(
            error.contains("cannot be completed: the media fault") && !error.contains("`plateau resume"),
            "{error}"
        );
    }
    let error = bench.fails(5, &[&run[..], &["removal:after=1min"]].concat());
    assert!(error.contains("`plateau resume "), "{error}");
}

#[test]
fn a_run_without_figures_is_not_compared() {
    let bench = Bench::new();
    let mut child = bench.start(&["run", "iops", "sim:sata-mlc-2011"]);
    bench.wait_for("a cell", |journal| finished(journal) > 1);
    child.kill().and_then(|()| child.wait()).expect("killed");
    let error = bench.fails(2, &["compare", "latest", "latest"]);
    assert!(error.contains("it has no complete round") && error.contains("`plateau resume "), "{error}");
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

/// The default library belongs to the user who runs this test, so it may or may not contain runs.
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
    // An explicitly specified library is independent of the default library.
    let own = bench.library();
    std::fs::create_dir_all(&own).expect("a library");
    assert_ne!(empty, listed(Some(&own.to_string_lossy())));
}

#[test]
fn the_help_names_every_documented_exit_code() {
    let page = include_str!("../../../docs/reference/exit-codes.md");
    let codes: Vec<u8> =
        page.lines().filter_map(|line| line.split('|').nth(1)?.trim().parse().ok()).collect();
    assert!(codes.contains(&0) && codes.contains(&130), "{codes:?}");
    let help = Bench::new().ok(&["--help"]);
    let (_, listed) = help.split_once("Exit codes:").expect("a list");
    let listed = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    for code in codes {
        let is_named = listed.split(';').any(|part| part.trim().starts_with(&format!("{code} ")));
        assert!(is_named, "{code}: {listed}");
    }
}
