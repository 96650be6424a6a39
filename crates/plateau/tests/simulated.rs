//! The whole program on simulated drives: the first commands that a new user runs, and the output that scripts
//! rely on.

mod support;

use std::io::Read as _;

use record::{Event, Until};
use support::{Bench, round, table, text};

const SMALL: [&str; 7] = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/1024", "--tc=1", "--qd=2"];

#[test]
fn demo_ends_in_steady_state_with_a_report() {
    let bench = Bench::new();
    let document = bench.json(&["demo"]);
    assert_eq!(document["verdict"], "steady state");
    let report = text(document["report"].as_str().expect("a path").as_ref());
    assert!(report.contains("SIMULATED") && report.contains("1/16"));
    let run = document["run"].as_str().expect("an id");
    assert!(bench.library().join(run).join("journal").exists());
    let cells = table(&document);
    assert_eq!((cells.len(), cells[0].len()), (8, 7));
    assert!(cells.iter().flatten().all(|cell| cell.is_some_and(|iops| iops > 0.0)));

    let shown = bench.ok(&["show", &run[..6]]);
    assert!(shown.contains("steady state in rounds") && shown.contains("Block Size"), "{shown}");
    assert!(bench.ok(&["runs"]).contains(run));
    let html = bench.path("out.html");
    bench.ok(&["report", run, "--html", html.to_str().unwrap()]);
    assert_eq!(text(&html), report, "the same journal gives the same report");
}

#[test]
fn both_clocks_of_a_scaled_run_are_named() {
    let bench = Bench::new();
    let args = ["run", "wsat", "sim:sata-mlc-2011", "--scale", "1/512", "--profile", "pts-e-1.0"];
    let run = bench.json(&args)["run"].as_str().expect("an id").to_owned();
    let shown = bench.ok(&["show", &run]);
    let line =
        |start: &str| shown.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{shown}"));
    assert!(line("took").ends_with("; simulated time, at scale 1/512"), "{shown}");
    let note = shown.lines().find(|line| line.contains("ended after")).unwrap_or_else(|| panic!("{shown}"));
    assert!(
        note.contains(" on the full-size drive (") && note.contains(" of simulated time at scale 1/512)"),
        "{note}"
    );
}

/// A cell is extended until 20 I/Os have completed for each outstanding I/O. The modification says how many cells
/// were extended, out of how many, and the largest factor, rounded up to tenths.
#[test]
fn extended_cells_are_a_modification() {
    const SCALE: u64 = 1024;
    let bench = Bench::new();
    let args = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/1024", "--max-rounds", "5"];
    let document = bench.json(&args);
    let entries = bench.journal().expect("a journal").entries;
    let cells = entries.iter().filter_map(|entry| match &entry.event {
        Event::Measured(segment) => match segment.workload.until {
            Until::DurationNs(ns) => Some((segment, ns / SCALE)),
            Until::AmountBytes(_) => None,
        },
        _ => None,
    });
    let (mut all, mut extended, mut largest) = (0, 0, 0);
    for (segment, requested_ns) in cells {
        all += 1;
        let taken_ns = segment.end_ns - segment.start_ns;
        if taken_ns > requested_ns {
            extended += 1;
            largest = largest.max((10 * taken_ns).div_ceil(requested_ns));
            let least = 20 * u64::from(segment.workload.threads) * u64::from(segment.workload.queue_depth);
            assert_eq!(segment.read.ios + segment.write.ios, least, "no longer than necessary");
        }
    }
    assert!(0 < extended && extended < all, "{extended} of {all}");
    let expected = format!(
        "IOPS: {extended} of {all} cells extended to 20 I/Os per outstanding I/O (up to {}.{} times)",
        largest / 10,
        largest % 10
    );
    let modified = document["modified"].as_array().expect("modifications");
    assert!(modified.iter().any(|text| *text == expected), "{expected}: {modified:?}");
}

#[test]
fn a_saturation_that_ends_before_its_fifth_sample_is_not_judged() {
    let bench = Bench::new();
    let args = ["run", "wsat", "sim:sata-eslc-2012", "--scale", "1/1024", "--wsat-hours", "1"];
    let run = bench.json(&[&args[..], &["--profile", "pts-e-2.0"]].concat())["run"].to_string();
    let run = run.trim_matches('"');
    assert!(bench.ok(&["show", run]).contains("complete; not judged"), "{}", bench.ok(&["show", run]));
    bench.ok(&["report", run, "--wsat-mark", "peak-drop=60"]);
    let said = bench.fails(2, &["report", run, "--wsat-mark", "peak-drop=61"]);
    assert!(said.contains("peak-drop=61 is after the last minute of the test"), "{said}");
}

#[test]
fn equal_seeds_yield_equal_runs_except_for_dates() {
    let (a, b) = (Bench::new(), Bench::new());
    let (first, second) = (a.json(&SMALL), b.json(&SMALL));
    assert_eq!(first["tests"], second["tests"]);
    let plain = |bench: &Bench, document: &serde_json::Value| {
        let html = text(document["report"].as_str().unwrap().as_ref());
        let journal = bench.journal().unwrap();
        without_dates(&html)
            .replace(document["run"].as_str().unwrap(), "RUN")
            .replace(&journal.digest.to_string(), "DIGEST")
            .replace(&journal.digest.to_string()[..16], "DIGEST")
    };
    assert_eq!(plain(&a, &first), plain(&b, &second));

    let other = Bench::new().json(&[&SMALL[..], &["--seed", "2"]].concat());
    assert_ne!(first["tests"], other["tests"], "another seed is another run");
}

/// Dates are printed as `2026-11-21 06:05 UTC`, and as `11/21/2026 06:05 AM UTC` in page headers of PTS 1.0.
fn without_dates(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find(" UTC") {
        let keep = at.saturating_sub(19);
        let keep = (keep..=at).find(|&i| rest.is_char_boundary(i)).unwrap();
        out.push_str(&rest[..keep]);
        rest = &rest[at + 4..];
    }
    out + rest
}

#[test]
fn profiles_give_their_pages() {
    for (profile, pages) in [("pts-c-1.0", 6), ("pts-e-2.0", 8)] {
        let bench = Bench::new();
        let document = bench.json(&[&SMALL[..], &["--profile", profile]].concat());
        let html = text(document["report"].as_str().unwrap().as_ref());
        assert!(html.contains(&format!("{pages} of {pages}")), "{profile} has {pages} pages");
    }
}

/// Acceptance check 10: WSAT, IOPS, TP and LAT of PTS-C 1.0 have 26 pages; the IOPS summary is page 7.
#[test]
fn the_four_tests_of_the_client_profile_are_26_pages() {
    let bench = Bench::new();
    // This drive has few special notes; notes that did not fit on page 1 would add a page.
    let tests = ["run", "wsat,iops,tp,lat", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-c-1.0"];
    let document = bench.json(&tests);
    let names: Vec<_> = document["tests"].as_array().unwrap().iter().map(|t| t["test"].clone()).collect();
    assert_eq!(names, ["wsat", "iops", "tp-1024", "lat"]);
    let html = text(document["report"].as_str().unwrap().as_ref());
    assert!(html.contains("26 of 26") && !html.contains("27 of"));
    let summary = html.find("Client IOPS (REQUIRED) - Summary Page").expect("a summary of the IOPS test");
    let (before, after) = html.split_at(summary);
    assert!(before.contains("6 of 26") && !before.contains("8 of 26"));
    assert!(after.contains("7 of 26"));
}

#[test]
fn a_campaign_continues_with_the_interrupted_test() {
    let bench = Bench::new();
    let mut child = bench.start(&[
        "run",
        "wsat,lat,iops",
        "sim:sas-slc-2011",
        "--scale",
        "1/64",
        "--profile",
        "pts-e-1.0",
    ]);
    let latency_ended = |e: &Event| matches!(e, Event::TestEnded { test, .. } if test == "lat");
    bench.wait_for("the IOPS test", |j| j.entries.iter().any(|e| latency_ended(&e.event)) && round(j) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let document = bench.json(&["resume", &id]);
    assert_eq!(document["verdict"], "steady state");
    assert_eq!(document["tests"].as_array().unwrap().len(), 3);
}

#[test]
fn every_deviation_is_labelled_as_modified() {
    let document =
        Bench::new().json(&[&SMALL[..], &["--cell-seconds", "30", "--precondition", "3"]].concat());
    let modified: Vec<_> =
        document["modified"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    assert!(modified.contains(&"cell time 30 s instead of 1 min 00 s"), "{modified:?}");
    assert!(modified.contains(&"preconditioning 3 x capacity instead of 2 x capacity"), "{modified:?}");
}

#[test]
fn wrong_command_lines_touch_nothing() {
    let bench = Bench::new();
    for (code, args, hint) in [
        (2, vec!["run", "iops", "sim:nonsense"], "plateau sim list"),
        (2, vec!["run", "nonsense", "sim:sas-slc-2011"], "no test or preset 'nonsense'"),
        (2, vec!["run", "iops", "sim:sas-slc-2011", "--profile", "pts-x"], "pts-e-2.0"),
        (2, vec!["run", "iops", "sim:sas-slc-2011", "--scale", "2/3"], "1/16"),
        (2, vec!["run", "iops", "sim:sas-slc-2011", "--tc", "0"], "1 to 256"),
        (2, vec!["run", "iops", "sim:sas-slc-2011", "--max-rounds", "4"], "5 to 25"),
        (2, vec!["frobnicate"], "Usage"),
        (6, vec!["show", "nothere"], "plateau runs"),
        (6, vec!["resume", "nothere"], "plateau runs"),
    ] {
        let message = bench.fails(code, &args);
        assert!(message.contains(hint), "{args:?}: {message}");
    }
    assert!(bench.runs().is_empty(), "no run was started");
    let json = bench.run(&["show", "nothere", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&json.stdout).expect("a JSON error");
    assert_eq!(document["exit_code"], 6);
}

#[test]
fn the_newest_runs_are_named_by_their_age() {
    let bench = Bench::new();
    assert!(bench.fails(6, &["show", "latest"]).contains("which contains 0;"));
    let ids = [1, 2].map(|_| bench.json(&SMALL)["run"].as_str().expect("an id").to_owned());
    for (name, id) in [("latest", &ids[1]), ("last", &ids[1]), ("latest~0", &ids[1]), ("latest~1", &ids[0])] {
        assert_eq!(bench.json(&["show", name])["run"], **id, "{name}");
    }
    assert!(bench.fails(6, &["show", "latest~2"]).contains("which contains 2;"));
    assert!(bench.fails(6, &["show", "latest~x"]).contains("no run 'latest~x'"));
}

#[test]
fn reports_are_written_in_the_format_of_their_names() {
    let bench = Bench::new();
    let (pdf, wrong) = (bench.path("out.pdf"), bench.path("out.docx"));
    let run = |path: &std::path::Path| {
        [&SMALL[..], &["--report", path.to_str().expect("a path")]].concat().join(" ")
    };
    let refused = bench.fails(2, &run(&wrong).split(' ').collect::<Vec<_>>());
    assert!(refused.contains(".pdf") && bench.runs().is_empty(), "{refused}");
    bench.ok(&run(&pdf).split(' ').collect::<Vec<_>>());
    assert!(std::fs::read(&pdf).expect("a report").starts_with(b"%PDF"));
    let json = bench.path("out.json");
    bench.ok(&["report", "latest", json.to_str().expect("a path")]);
    assert!(text(&json).starts_with('{'));
}

/// Hundreds of consecutive idle times are printed as one line per length.
#[test]
fn idle_times_are_reported_once_in_a_row() {
    let bench = Bench::new();
    let output = bench.run(&["run", "hir", "sim:sas-slc-2011", "--scale", "1/1024", "--tc=1", "--qd=4"]);
    let (out, err) = support::texts(&output);
    let idle: Vec<&str> = err.lines().filter(|line| line.starts_with("idle")).collect();
    assert_eq!(idle, [5, 10, 15, 25, 50].map(|seconds| format!("idle for {seconds} s")), "{err}");
    // Nothing follows the report's path.
    assert!(out.ends_with("report.html\n"), "{out}");
}

#[test]
fn words_are_understood_in_any_order_and_case() {
    let bench = Bench::new();
    let plan = bench.json(&["plan", "sim:NVME-QLC", "Latency", "--scale", "256", "--no-rehearsal"]);
    assert_eq!(plan["target"]["path"], "sim:nvme-qlc-2024", "{plan}");
    assert_eq!(plan["tests"][0]["test"], "lat", "{plan}");
    let both = bench.fails(2, &["plan", "iops", "sim:nvme-qlc", "sim:sas-slc-2011"]);
    assert!(both.contains("one target, not 2"), "{both}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let bench = Bench::new();
    let mut child = bench.start(&["completions", "bash"]);
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(status.success() && errors.is_empty(), "{status:?} {errors}");
}

#[test]
fn a_run_continues_if_its_progress_is_not_read() {
    let bench = Bench::new();
    let mut child = bench.start(&SMALL);
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
}

#[test]
fn models_are_listed_with_what_they_were_fitted_to() {
    let bench = Bench::new();
    let models = bench.json(&["sim", "list"]);
    let models = models.as_array().expect("an array");
    assert!(models.len() >= 6 && models.iter().all(|model| model["calibration"].is_object()));
    let shown = bench.ok(&["sim", "show", "sas-slc-2011"]);
    assert!(shown.contains("median error") && shown.contains("known to differ"), "{shown}");
    assert!(bench.fails(2, &["sim", "show", "nonsense"]).contains("`plateau sim list`"));

    let own = bench.path("own.toml");
    std::fs::write(&own, "name = \"own\"\nwings = 2\n").unwrap();
    let target = format!("sim:{}", own.display());
    let message = bench.fails(4, &["run", "lat", &target, "--scale", "1/64"]);
    assert!(message.contains("wings"), "the wrong key is named: {message}");
}

#[test]
fn completions_and_man_pages_come_from_the_command_line() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(bench.ok(&["completions", shell]).contains("PLATEAU_COMPLETE"), "{shell}");
    }
    let dir = bench.path("man");
    bench.ok(&["man", dir.to_str().unwrap()]);
    let page = text(&dir.join("plateau.1"));
    assert!(page.contains("EXIT STATUS") && page.contains("130"));
    assert!(dir.join("plateau-run.1").exists());
}

#[test]
fn an_interrupted_run_reports_its_distance_from_steady_state() {
    let bench = Bench::new();
    let document = bench.json(&["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/64"]);
    let run = document["run"].as_str().unwrap();
    let path = bench.library().join(run).join("journal");
    let whole = text(&path);
    let judged = whole.match_indices("\"judged\"").nth(2).expect("three rounds").0;
    let end = judged + whole[judged..].find('\n').unwrap() + 1;
    std::fs::write(&path, &whole[..end]).unwrap();
    let shown = bench.ok(&["show", run]);
    assert!(
        shown.contains("state     SEQ 128KiB W: ") && shown.contains("needs five uninterrupted rounds"),
        "{shown}"
    );
    let explained = &bench.json(&["show", run])["tests"][0]["explained"][0];
    assert_eq!(explained["variable"], "SEQ 128KiB W");
}

#[test]
fn a_damaged_journal_is_refused_and_a_torn_one_reported() {
    let bench = Bench::new();
    let document = bench.json(&SMALL);
    let run = document["run"].as_str().unwrap();
    let path = bench.library().join(run).join("journal");
    let whole = std::fs::read(&path).unwrap();

    let torn = &whole[..whole.len() - 10];
    std::fs::write(&path, torn).unwrap();
    assert!(bench.ok(&["show", run]).contains("the last record is incomplete"));

    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    assert!(bench.fails(6, &["show", run]).contains("damaged at record"));

    std::fs::write(&path, [b"plateau-journal 2\n", &whole[18..]].concat()).unwrap();
    assert!(bench.fails(6, &["show", run]).contains("newer"));
}

#[test]
fn names_that_are_not_utf_8_are_accepted() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    let library = bench.dir.path().join(std::ffi::OsStr::from_bytes(b"odd \xff name"));
    let said = |args: &[&str]| {
        let output = bench.command(args).arg("--json").env("PLATEAU_LIBRARY", &library).output().unwrap();
        let (out, err) = support::texts(&output);
        assert!(output.status.success(), "{args:?}: {err}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let typed = bench
        .command(&["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/1024", "--library"])
        .arg(&library)
        .output();
    let (_, err) = support::texts(&typed.unwrap());
    assert!(!err.contains("panicked"), "{err}");
    let runs = said(&["runs"]);
    let id = runs[0]["run"].as_str().unwrap();
    assert!(said(&["show", id])["path"].as_str().unwrap().contains("odd"));
    assert!(said(&["report", id])["report"].as_str().unwrap().ends_with("report.html"));
    said(&["verify", id]);
    said(&["resume", id]);
}
