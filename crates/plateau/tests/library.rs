//! Commands that manage runs: `runs`, `status`, `open`, `export`, `rm`, and the commands for a run's labels.

mod support;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use support::{Bench, finished};

fn run(bench: &Bench, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let document = bench.json(&[&["run", "--scale", "1/256", "--max-rounds", "5"], &words[..]].concat());
    document["run"].as_str().expect("an id").to_owned()
}

fn ids(bench: &Bench, words: &[&str]) -> Vec<String> {
    let listed = bench.json(&[&["runs"], words].concat());
    let id = |run: &Value| run["run"].as_str().expect("an id").to_owned();
    listed.as_array().expect("a list").iter().map(id).collect()
}

#[test]
fn runs_are_filtered_sorted_and_limited() {
    let bench = Bench::new();
    let slc = run(
        &bench,
        "lat sim:sas-slc-2011 --profile pts-e-1.0 --name shelf --tag fw1 --tag rack --note dusty",
    );
    let mlc = run(&bench, "tp-128,lat sim:sata-mlc-2011 --profile pts-e-1.1 --tag fw2");
    bench.ok(&["examples", "--install", "slc-a"]);
    let example = "example-slc-a".to_owned();
    let all = [&example, &mlc, &slc];
    for (words, expected) in [
        (&[][..], &all[..]),
        (&["--sort", "oldest"], &[&slc, &mlc, &example]),
        (&["--sort", "profile"], &[&example, &slc, &mlc]),
        (&["--sort", "target", "-n", "1"], &[&example]),
        (&["-n", "2"], &[&example, &mlc]),
        (&["fw1"], &[&slc]),
        (&["--tag", "fw1"], &[&slc]),
        (&["--tag", "#rack", "--tag", "fw1"], &[&slc]),
        (&["--tag", "fw1", "--tag", "fw2"], &[]),
        (&["--tag", "fw"], &[]),
        (&["SHELF", "dusty"], &[&slc]),
        (&["shelf", "fw2"], &[]),
        (&["--model", "sata-mlc"], &[&mlc]),
        (&["--model", "SLC-A"], &[&example]),
        (&["--serial", "sas-slc"], &[&slc]),
        (&["--test", "tp"], &[&example, &mlc]),
        (&["--test", "tp-128", "--profile", "pts"], &[&mlc]),
        (&["--profile", "pts-e-1.0"], &[&slc]),
        (&["--since", "1h"], &all[..]),
        (&["--since", "2100-01-01"], &[]),
        (&["--state", "running"], &[]),
        (&["--state", "steady", "--state", "unsteady", "--model", "2011"], &[&mlc, &slc]),
        (&["--state", "steady", "--state", "not-steady", "--model", "2011"], &[&mlc, &slc]),
    ] {
        assert_eq!(
            ids(&bench, words),
            expected.iter().map(|id| (*id).clone()).collect::<Vec<_>>(),
            "{words:?}"
        );
    }
    let text = bench.ok(&["runs", "fw1"]);
    assert!(text.contains("shelf") && text.contains("#fw1  #rack") && text.lines().count() == 2, "{text}");
    // Each column is aligned with its heading.
    let text = bench.ok(&["runs"]);
    let lines: Vec<&str> = text.lines().collect();
    let heading = lines[0].find("started (UTC)").expect("a heading");
    assert!(lines.len() == 4 && lines[1..].iter().all(|line| line[heading..].starts_with("20")), "{text}");
    assert!(bench.ok(&["runs", "nonsense"]).contains("none of the 3 runs"));
    for bad in [&["--since", "soon"][..], &["--state", "odd"], &["--sort", "odd"], &["-n", "-1"]] {
        bench.fails(2, &[&["runs"], bad].concat());
    }
    for (mistyped, meant) in [
        (["--profile", "pts-e1.0"], "did you mean 'pts-e-1.0'?"),
        (["--profile", "nonsense"], "profiles: pts-"),
        (["--test", "iosp"], "did you mean 'iops'?"),
        (["--model", "sata-mcl-2011"], "did you mean 'sata-mlc-2011'?"),
        (["--model", "sata-mcl"], "did you mean 'sata-mlc'?"),
        (["--state", "stedy"], "steady"),
    ] {
        let error = bench.fails(2, &["runs", mistyped[0], mistyped[1]]);
        assert!(error.contains(mistyped[0]) && error.contains(meant), "{error}");
    }
    assert_eq!(ids(&bench, &["--model", "SAMSUNG MZ"]), [""; 0], "a drive may have no run yet");
    assert_eq!(ids(&bench, &["--profile", "PTS-E-1.0"]), [slc.as_str()]);
}

#[test]
fn runs_are_shown_in_the_chosen_columns_and_in_pages() {
    let bench = Bench::new();
    let oldest = run(&bench, "lat sim:sas-slc-2011 --name shelf --tag fw1 --note dusty");
    let newer = run(&bench, "lat sim:sata-mlc-2011 --tag fw2");
    let newest = run(&bench, "lat sim:sata-mlc-2011 --tag fw3");
    let text = bench.ok(&["runs", "--columns", "tags,run", "--sort", "oldest"]);
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words, ["tags", "run", "fw1", &oldest, "fw2", &newer, "fw3", &newest]);
    let all = bench.json(&["runs", "shelf"]);
    let chosen = bench.ok(&["runs", "shelf", "--json", "--columns", "tags,verdict,run,models"]);
    let position = |key: &str| chosen.find(&format!("\"{key}\"")).expect("a key");
    assert!(position("tags") < position("verdict") && position("verdict") < position("run"), "{chosen}");
    let chosen: Value = serde_json::from_str(&chosen).expect("JSON");
    assert_eq!(chosen[0].as_object().map(serde_json::Map::len), Some(4));
    for key in ["tags", "verdict", "run"] {
        assert_eq!(chosen[0][key], all[0][key], "{key}");
    }
    assert_eq!(chosen[0]["models"], serde_json::json!(["sas-slc-2011"]));
    // Lists can be paged with every sort order and filter, whether or not it requires reading journals.
    for order in
        [&["--sort", "newest"][..], &["--sort", "oldest"], &["--state", "steady", "--state", "unsteady"]]
    {
        let everything = ids(&bench, order);
        let mut seen = Vec::new();
        for (number, (count, more)) in [("1", (2, 1)), ("2", (1, 0)), ("3", (0, 0))] {
            let page = bench.json(&[&["runs", "-n", "2", "--page", number], order].concat());
            let listed = page["runs"].as_array().expect("runs");
            assert_eq!((listed.len(), &page["more"], &page["matching"]), (count, &more.into(), &3.into()));
            seen.extend(listed.iter().map(|run| run["run"].as_str().expect("an id").to_owned()));
        }
        assert_eq!(seen, everything, "{order:?}");
    }
    let (out, err) = support::texts(&bench.run(&["runs", "-n", "2"]));
    assert!(out.lines().count() == 3 && err == "1 more of 3 runs; add --page 2\n", "{out}{err}");
    let (out, err) = support::texts(&bench.run(&["runs", "-n", "2", "--page", "2"]));
    assert!(out.contains(&oldest) && out.lines().count() == 2 && err.is_empty(), "{out}{err}");
    let (out, _) = support::texts(&bench.run(&["runs", "-n", "2", "--page", "3"]));
    assert_eq!(out.trim_end(), "page 3 is empty: 3 of 3 runs match; the last page is 2");
    for (bad, hint) in [
        (&["--columns", "run,tgas"][..], "did you mean 'tags'?"),
        (&["--columns", "run,run"], "named twice"),
        (&["--columns", ""], "columns: run, created"),
        (&["--page", "2"], "--limit <N>"),
        (&["-n", "2", "--page", "0"], "use 1 or more"),
    ] {
        let error = bench.fails(2, &[&["runs"], bad].concat());
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn a_run_is_found_by_its_name() {
    let bench = Bench::new();
    let first = run(&bench, "lat sim:sas-slc-2011 --name shelf --note first");
    let shown = bench.json(&["show", "shelf"]);
    assert_eq!((&shown["run"], &shown["name"]), (&Value::from(first.as_str()), &Value::from("shelf")));
    assert!(bench.ok(&["show", "shelf"]).contains("\nname      shelf\nnote      first\n"));
    let again = bench.fails(2, &["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--name", "shelf"]);
    assert!(again.contains(&format!("--name: 'shelf' is already the name of {first};")), "{again}");
    assert_eq!(ids(&bench, &["shelf"]), [first.as_str()], "no run was started");
    let both = bench.json(
        &"run lat sim:sas-slc-2011 sim:sata-mlc-2011 --scale 1/256 --name pair"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    let both: Vec<&str> =
        both["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let error = bench.fails(6, &["show", "pair"]);
    assert!(error.contains("the name of several runs; use one of their ids"), "{error}");
    assert!(both.len() == 2 && both.iter().all(|id| error.contains(id)), "{error}");
    for bad in ["latest", "a/b", ""] {
        bench.fails(2, &["run", "lat", "sim:sas-slc-2011", "--name", bad]);
    }
}

#[test]
fn a_run_in_progress_is_shown_with_its_phase_and_cannot_be_removed() {
    let bench = Bench::new();
    assert_eq!(bench.ok(&["status"]), "");
    let mut child = bench.start(&["run", "iops", "sim:sata-mlc-2011", "--name", "long"]);
    bench.wait_for("a measured cell", |journal| finished(journal) > 4);
    let status = bench.run(&["status", "--json"]);
    assert_eq!(status.status.code(), Some(8));
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let (id, phase) =
        (status[0]["run"].as_str().expect("an id"), status[0]["phase"].as_str().expect("a phase"));
    assert!(phase.starts_with("iops: round "), "{phase}");
    assert!(status[0]["elapsed_ns"].as_u64() > Some(0) && status[1].is_null());
    let line = bench.run(&["status"]);
    let line = support::texts(&line);
    assert!(
        line.0.starts_with(id) && line.0.contains("  long  iops: round ") && line.1.is_empty(),
        "{line:?}"
    );
    let listed = bench.ok(&["runs", "--state", "running"]);
    assert!(listed.contains("running for ") && listed.contains("; iops: round "), "{listed}");
    let shown = bench.ok(&["show", "latest"]);
    assert!(shown.contains("\nstate     running for ") && shown.contains("none yet: "), "{shown}");
    assert!(!shown.contains("was interrupted"), "{shown}");
    assert_eq!(bench.json(&["show", "latest"])["state"], "running");
    assert!(bench.fails(6, &["rm", "--yes", "latest"]).contains("is in progress"));
    child.kill().and_then(|()| child.wait()).expect("killed");
    assert_eq!(bench.ok(&["status"]), "");
    assert_eq!(ids(&bench, &["--state", "incomplete"]).len(), 1);
    assert!(bench.ok(&["show", "latest"]).contains("not complete"));
    bench.ok(&["rm", "--yes", "long"]);
    assert!(bench.runs().is_empty());
}

#[test]
fn removal_asks_and_removes_all_named_runs_or_none() {
    let bench = Bench::new();
    let [first, second, third] = [(); 3].map(|()| run(&bench, "lat sim:sas-slc-2011"));
    assert!(bench.fails(2, &["rm", &first]).contains("--yes"), "standard input is not a terminal");
    assert!(bench.fails(6, &["rm", "--yes", &first, "nonsense"]).contains("no run 'nonsense'"));
    assert_eq!(bench.runs().len(), 3);
    // `latest` is resolved once.
    let removed = bench.json(&["rm", "--yes", "latest", &third, "latest~1"]);
    assert_eq!(removed["removed"], serde_json::json!([third, second]));
    assert_eq!(ids(&bench, &[]), [first]);
}

#[test]
fn an_interrupted_removal_does_not_prevent_another() {
    let bench = Bench::new();
    let [first, second] = [(); 2].map(|()| run(&bench, "lat sim:sas-slc-2011"));
    std::fs::create_dir_all(bench.library().join(format!(".new-removed-{first}/folder"))).expect("a folder");
    bench.ok(&["rm", "--yes", &first]);
    let dir = bench.library().join(&second);
    let output = bench.command(&["rm", "--yes", "."]).current_dir(&dir).output().expect("plateau runs");
    assert!(output.status.success() && !dir.exists(), "{:?}", support::texts(&output));
}

#[test]
fn a_complete_run_is_not_written_to_by_resume() {
    let bench = Bench::new();
    let id = run(&bench, "lat sim:sas-slc-2011");
    let journal = bench.library().join(&id).join("journal");
    let mut bytes = std::fs::read(&journal).expect("a journal");
    bytes.extend(b"torn");
    std::fs::write(&journal, &bytes).expect("written");
    bench.ok(&["resume", &id]);
    assert!(std::fs::read(&journal).expect("a journal") == bytes, "nothing was appended or cut off");
}

#[test]
fn a_report_is_opened_in_the_browser() {
    let bench = Bench::new();
    let id = run(&bench, "lat sim:sas-slc-2011");
    let (browser, seen) = (bench.path("browser"), bench.path("seen"));
    let script = format!("#!/bin/sh\necho \"$1\" > {}\n", seen.display());
    std::fs::write(&browser, script).expect("a script");
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let printed = bench.ok(&["open", "--browser", browser.to_str().expect("text")]);
    let report = bench.library().join(&id).join("report.html");
    assert_eq!(printed.trim_end(), report.to_str().expect("text"));
    assert_eq!(support::text(&seen), printed);
    assert!(support::text(&report).contains("</html>"));
    let listed =
        bench.command(&["open", &id]).env("BROWSER", format!("{}:other", browser.display())).output();
    assert!(listed.expect("plateau starts").status.success());
    assert!(bench.fails(6, &["open", "--browser", "/nonexistent"]).contains("open that file"));
    assert!(bench.fails(6, &["open", "--browser", "false"]).contains("exit status: 1"));
}

#[test]
fn runs_are_exported_one_by_one_or_all_at_once() {
    let bench = Bench::new();
    let [first, second] = [(); 2].map(|()| run(&bench, "lat sim:sas-slc-2011"));
    let folder = bench.path("out");
    let out = folder.to_str().expect("text");
    let document: Value =
        serde_json::from_str(&bench.ok(&["export", &first, "--json-file", "-"])).expect("JSON");
    assert!(document.is_object());
    bench.ok(&["export", "--all", "--csv", out, "--json-file", out]);
    for id in [&first, &second] {
        assert!(folder.join(id).is_dir() && folder.join(format!("{id}.json")).is_file(), "{id}");
    }
    let one = bench.path("one.json");
    let exported = bench.json(&["export", "latest", "--json-file", one.to_str().expect("text")]);
    assert_eq!(exported[0]["run"], second.as_str());
    assert!(one.is_file());
    assert!(bench.fails(2, &["export", "latest"]).contains("specify a format and a path"));
    assert!(bench.fails(2, &["export", &first, &second, "--json-file", "-"]).contains("several files"));
    bench.fails(2, &["export", "--csv", out]);
}

/// Returns bash's completions after these words, the last of which is incomplete.
fn offered(bench: &Bench, words: &[&str]) -> Vec<String> {
    let mut command = bench.command(&[]);
    command.args(["--", "plateau"]).args(words).env("PLATEAU_COMPLETE", "bash");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_IFS", "\n");
    let output = command.current_dir(bench.dir.path()).output().expect("plateau starts");
    assert!(output.status.success(), "{words:?}");
    support::texts(&output).0.lines().map(str::to_owned).collect()
}

#[test]
fn shells_complete_runs_models_presets_targets_and_tests() {
    let bench = Bench::new();
    let id = run(&bench, "lat sim:sas-slc-2011 --name shelf");
    std::fs::write(bench.path("image.bin"), "").expect("a file");
    for (words, expected) in [
        (&["show", &id[..3]][..], &[&*id][..]),
        (&["show", "sh"], &["shelf"]),
        (&["rm", "lat"], &["latest"]),
        (&["compare", "shelf", "sh"], &["shelf"]),
        (&["demo", "--model", "sata-mlc-2"], &["sata-mlc-2011"]),
        (&["run", "qui"], &["quick"]),
        (&["run", "iops,wsa"], &["iops,wsat"]),
        (&["run", "iops", "sim:nvme-q"], &["sim:nvme-qlc-2024"]),
        (&["plan", "iops", "imag"], &["image.bin"]),
        (&["info", "sim:sata-mlc-2"], &["sim:sata-mlc-2011"]),
        (&["runs", "--state", "stea"], &["steady"]),
        (&["run", "--profile", "pts-c-2"], &["pts-c-2.0"]),
    ] {
        assert_eq!(offered(&bench, words), expected, "{words:?}");
    }
    let device = std::fs::read_dir("/sys/block").expect("a folder").flatten().next();
    let device = device.map(|entry| format!("/dev/{}", entry.file_name().to_string_lossy()));
    match &device {
        Some(device) => assert!(offered(&bench, &["run", "iops", "/dev/"]).contains(device), "{device}"),
        None => skips::skip!("completion of devices: this host has no block device"),
    }
    let script = bench.ok(&["completions", "bash"]);
    assert!(script.contains("PLATEAU_COMPLETE"), "{script}");
}

#[test]
fn a_dry_run_is_a_plan() {
    let bench = Bench::new();
    let file = bench.path("file");
    let words = ["lat", file.to_str().expect("text"), "--size", "64MiB"];
    let dry = bench.ok(&[&["run", "--dry-run"], &words[..]].concat());
    assert_eq!(dry, bench.ok(&[&["plan"], &words[..]].concat()));
    assert!(bench.runs().is_empty() && !file.exists());
}

#[test]
fn a_quiet_run_prints_its_result_only() {
    let bench = Bench::new();
    let words = ["run", "lat", "sim:sas-slc-2011", "--scale", "1/256"];
    let (out, err) = support::texts(&bench.run(&[&words[..], &["-q"]].concat()));
    assert!(err.is_empty() && out.contains("\nverdict   "), "{out}{err}");
    bench.fails(2, &[&words[..], &["-q", "--progress", "plain"]].concat());
}

#[test]
fn a_verbose_run_prints_what_it_changes() {
    let bench = Bench::new();
    let file = bench.path("target").display().to_string();
    let words = ["tp-128", &file, "--size", "16MiB", "--cell-seconds", "0.02", "--max-rounds", "5", "-q"];
    let verbose = [&["run"], &words[..8], &["-v"]].concat();
    let (out, err) = support::texts(&bench.run(&verbose));
    for line in [
        "target: not in use and without a known signature; opening it for writing\n",
        "record 0 on disk: opened, ",
        "\nload SEQ 128KiB W through ",
        " on disk: measured, ",
        " on disk: closed, ",
    ] {
        assert!(err.contains(line), "{line}: {err}");
    }
    assert!(!out.contains("on disk"), "{out}");
    bench.fails(2, &[&["run"], &words[..], &["-v"]].concat());
}

#[test]
fn runs_are_listed_with_the_words_that_select_them() {
    let bench = Bench::new();
    let id = run(&bench, "lat sim:sas-slc-2011");
    let all = bench.ok(&["runs"]);
    let words = ["steady", "unsteady", "complete", "incomplete"];
    let line = all.lines().find(|line| line.starts_with(&id)).expect("a line");
    let state = line.split("  ").map(str::trim).find(|cell| words.contains(cell)).expect("a state");
    assert_eq!(bench.ok(&["runs", "--state", state]), all);
    let other = words.iter().find(|word| **word != state).expect("another state");
    assert!(bench.ok(&["runs", "--state", other]).starts_with("none of the 1 runs"));
}
