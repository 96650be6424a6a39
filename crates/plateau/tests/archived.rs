//! `plateau archive`: every command reads an archived run just as it reads the run's directory.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::Value;
use support::Bench;

fn library() -> (Bench, String) {
    let bench = Bench::new();
    let args = ["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5", "--name", "shelf"];
    let run = bench.json(&args)["run"].as_str().expect("an id").to_owned();
    bench.ok(&["examples", "--install", "slc-a"]);
    (bench, run)
}

/// Returns the words in a table; its column widths depend on the run's path, so they cannot be compared.
fn words(text: String) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the commands print about both runs, without paths and write times.
fn answers(bench: &Bench, run: &str) -> Vec<String> {
    let text = |path: &str| path.replace(".tar.zst", "").replace("/report.html", "");
    let path = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let (json, html, csv) = (path("r.json"), path("c.html"), path("csv"));
    let query =
        "SELECT run_id, figure_key, value, spread_share FROM run JOIN figure USING (run_key) ORDER BY 1, 2";
    let asked: [&[&str]; 14] = [
        &["runs"],
        &["runs", "shelf", "--json"],
        &["runs", "--state", "steady", "--columns", "run,path,models"],
        &["show", run],
        &["show", "shelf", "--json"],
        &["show", "latest"],
        &["verify", run],
        &["verify", "example-slc-a"],
        &["report", run, "--json-file", &json],
        &["compare", run, "example-slc-a", "--html", &html],
        &["export", "--all", "--csv", &csv],
        &["index"],
        &["query", query],
        &["drives"],
    ];
    let mut answers: Vec<String> = asked.iter().map(|args| words(text(&bench.ok(args)))).collect();
    answers[11].clear();
    let data: Value = serde_json::from_str(&support::text(json.as_ref())).expect("JSON");
    answers.push(data["tests"].to_string());
    answers.push(support::text(&bench.path("csv").join(run).join("cells.csv")));
    answers
}

#[test]
fn every_command_reads_an_archived_run_like_its_directory() {
    let (bench, run) = library();
    bench.ok(&["report", &run]);
    let before = answers(&bench, &run);
    let document = bench.json(&["archive", &run, "example-slc-a"]);
    let archived = document["archived"].as_array().expect("a list");
    assert_eq!(archived.len(), 2, "{document}");
    for each in archived {
        let path = each["path"].as_str().expect("a path");
        assert_eq!(each["archive_bytes"].as_u64(), fs::metadata(path).ok().map(|found| found.len()));
        assert!(each["archive_bytes"].as_u64() < each["files_bytes"].as_u64(), "{each}");
    }
    assert!(bench.library().join(format!("{run}.tar.zst")).is_file() && !bench.library().join(&run).exists());
    assert_eq!(answers(&bench, &run), before);
    // There is no index, because a folder is in its place.
    fs::remove_file(bench.library().join("index.sqlite")).expect("removed");
    fs::create_dir(bench.library().join("index.sqlite")).expect("in the way");
    assert_eq!(words(bench.ok(&["runs"])), before[0]);
    fs::remove_dir(bench.library().join("index.sqlite")).expect("removed");
    bench.ok(&["tag", &run, "cold"]);
    assert!(bench.ok(&["runs", "cold"]).contains(&run));
    bench.ok(&["tag", "--remove", &run, "cold"]);
    bench.ok(&["index"]);
    let document = bench.json(&["doctor"]);
    assert_eq!((&document["runs"], &document["verified"]), (&2.into(), &2.into()), "{document:#}");

    let dest = bench.path("other");
    bench.ok(&["copy", &run, "example-slc-a", dest.to_str().expect("text")]);
    bench.ok(&["verify", &run, "--library", dest.to_str().expect("text")]);
    let journal = fs::read(dest.join(&run).join("journal")).expect("a journal");
    let text = bench.ok(&["unarchive", "shelf", "example-slc-a"]);
    assert!(text.contains(&format!("unarchived {run}")), "{text}");
    assert_eq!(fs::read(bench.library().join(&run).join("journal")).expect("a journal"), journal);
    assert_eq!(answers(&bench, &run), before);
}

/// Removes a run's last record, which marks the run as complete.
fn make_incomplete(bench: &Bench, run: &str) {
    let journal = bench.library().join(run).join("journal");
    let text = support::text(&journal);
    let (before, last) = text.trim_end().rsplit_once('\n').expect("records");
    assert!(last.contains("\"closed\""), "{last}");
    fs::write(&journal, format!("{before}\n")).expect("written");
}

#[test]
fn what_would_change_an_archived_run_is_refused() {
    let (bench, run) = library();
    make_incomplete(&bench, &run);
    bench.ok(&["archive", &run]);
    let path = bench.library().join(format!("{run}.tar.zst"));
    let bytes = fs::read(&path).expect("a file");
    // A copy elsewhere is not a valid target, whatever its name.
    let copy = bench.path("renamed.bin");
    fs::write(&copy, [&bytes[..], &[0; 16 << 20]].concat()).expect("a file");
    let target = copy.to_str().expect("text");
    let error =
        bench.fails(3, &["run", "lat", target, "--erase", target, "--cell-seconds=0.05", "--max-rounds=5"]);
    assert!(error.contains("may be an archived run"), "{error}");
    assert!(fs::read(&copy).expect("a file").starts_with(&bytes), "nothing was written");
    let key = bench.path("key.pem");
    fs::write(&key, "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END PRIVATE KEY-----\n")
        .expect("a key");
    let (key, archive) = (key.to_str().expect("text"), path.to_str().expect("text"));
    let html = bench.path("r.html");
    for args in
        [&["resume", &run][..], &["report", &run, "--sign", key, "--html", html.to_str().expect("text")]]
    {
        let error = bench.fails(6, args);
        assert!(error.contains(&format!("plateau unarchive {run}")), "{error}");
    }
    assert!(bench.fails(6, &["archive", &run]).contains("already archived"));
    assert!(bench.fails(6, &["unarchive", "example-slc-a"]).contains("is not archived"));
    assert!(bench.fails(2, &["report", "example-slc-a", "--html", archive]).contains("never overwritten"));
    assert_eq!(fs::read(&path).expect("a file"), bytes);
    // The report goes to the working directory.
    let output = bench.command(&["report", &run]).current_dir(bench.path("")).output().expect("plateau runs");
    assert!(output.status.success(), "{output:?}");
    assert!(bench.path(&format!("{run}.html")).is_file());
    bench.ok(&["rm", "--yes", &run]);
    assert!(!path.exists() && bench.fails(6, &["show", &run]).contains("no run"));
}

#[test]
fn a_run_that_fails_verification_is_not_archived() {
    let (bench, run) = library();
    let journal = bench.library().join(&run).join("journal");
    let text = support::text(&journal);
    fs::write(&journal, text.replacen("\"seq\":1", "\"seq\":2", 1)).expect("damaged");
    assert_ne!(support::text(&journal), text);
    let error = bench.fails(6, &["archive", "example-slc-a", &run]);
    assert!(error.contains("damaged"), "{error}");
    assert!(bench.library().join(&run).is_dir());
    let names: Vec<_> =
        fs::read_dir(bench.library()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with('.')), "{names:?}");
    // The run before this one was archived, and the JSON document says so.
    let output = bench.run(&["--json", "archive", &run]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["run"], run.as_str(), "{document}");
    assert!(bench.library().join("example-slc-a.tar.zst").is_file());
}

#[test]
fn doctor_finds_interrupted_and_damaged_archives() {
    let (bench, run) = library();
    let (folder, path) = (bench.library().join(&run), bench.library().join(format!("{run}.tar.zst")));
    bench.ok(&["archive", &run]);
    let bytes = fs::read(&path).expect("a file");
    bench.ok(&["unarchive", &run]);
    fs::write(&path, &bytes).expect("as after a kill");
    fs::write(bench.library().join(".new-x.tar.zst"), &bytes[..100]).expect("as after a kill");
    let kinds = |document: &Value| {
        let findings = document["findings"].as_array().expect("findings").clone();
        let kind = |finding: &Value| finding["kind"].as_str().expect("a kind").to_owned();
        let mut kinds: Vec<String> = findings.iter().map(kind).collect();
        kinds.retain(|kind| !["little_space", "stale_index"].contains(&&**kind));
        kinds.sort();
        kinds
    };
    let document = bench.json(&["doctor"]);
    assert_eq!(kinds(&document), ["half_archived", "left_over_run"], "{document:#}");
    let advice = document["findings"].to_string();
    assert!(advice.contains("plateau archive ") && advice.contains("plateau unarchive "), "{advice}");
    bench.ok(&["archive", folder.to_str().expect("text")]);
    assert!(!folder.exists());
    fs::remove_file(bench.library().join(".new-x.tar.zst")).expect("removed");
    fs::write(&path, &bytes[..bytes.len() - 4]).expect("truncated");
    let output = bench.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(kinds(&serde_json::from_slice(&output.stdout).expect("JSON")), ["unreadable"]);
    bench.fails(6, &["verify", &run]);
    bench.fails(6, &["unarchive", &run]);
    assert!(path.exists() && !folder.exists());
}

#[test]
fn a_repeated_job_reports_that_its_archived_run_is_complete() {
    let bench = Bench::new();
    let job = ["job", "j1", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5"];
    bench.ok(&job);
    bench.ok(&["archive", "j1"]);
    let path = bench.library().join("j1.tar.zst");
    let bytes = fs::read(&path).expect("a file");
    for args in [&job[..], &["resume", "j1"]] {
        let output = bench.command(args).current_dir(bench.path("")).output().expect("plateau runs");
        let (out, err) = support::texts(&output);
        assert!(output.status.success() && err.contains("run j1 is already complete"), "{out}{err}");
        assert!(out.contains("j1.tar.zst") && !bench.path("j1.html").exists(), "{out}");
    }
    let document = bench.json(&job);
    assert_eq!((&document["run"], &document["report"]), (&"j1".into(), &Value::Null), "{document}");
    assert_eq!(fs::read(&path).expect("a file"), bytes);
    // An incomplete run has to be unarchived first.
    bench.ok(&["unarchive", "j1"]);
    make_incomplete(&bench, "j1");
    bench.ok(&["archive", "j1"]);
    let error = bench.fails(6, &job);
    assert!(error.contains("plateau unarchive j1") && !error.contains("continuing"), "{error}");
    bench.ok(&["unarchive", "j1"]);
    bench.ok(&job);
}

#[test]
fn a_run_that_is_archived_at_the_destination_is_not_copied_again() {
    let (bench, run) = library();
    let dest = bench.path("other");
    let dest = dest.to_str().expect("text");
    bench.ok(&["copy", &run, dest]);
    bench.ok(&["--library", dest, "archive", &run]);
    let text = bench.ok(&["copy", &run, dest]);
    assert!(text.contains("nothing new; the destination has the whole run, archived"), "{text}");
    assert_eq!(bench.json(&["copy", &run, dest])["copied"][0]["new_bytes"], 0);
    assert!(!bench.path("other").join(&run).exists());
}

#[test]
fn the_advice_of_doctor_for_a_renamed_archive_keeps_it_an_archive() {
    let (bench, run) = library();
    bench.ok(&["archive", &run]);
    let (path, renamed) =
        (bench.library().join(format!("{run}.tar.zst")), bench.library().join("o'ther.tar.zst"));
    fs::rename(&path, &renamed).expect("renamed");
    let document = bench.json(&["doctor"]);
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|found| found["kind"] == "renamed").expect("it is found");
    assert!(found["text"].as_str().expect("text").contains("o'ther.tar.zst"), "{found}");
    let (_, command) = found["advice"].as_str().expect("advice").split_once(": ").expect("a command");
    let status = std::process::Command::new("sh").args(["-c", command]).status().expect("sh");
    assert!(status.success() && path.is_file() && !renamed.exists(), "{command}");
    bench.ok(&["verify", &run]);
    let document = bench.json(&["doctor"]);
    assert!(!document.to_string().contains("renamed"), "{document:#}");
}

#[test]
fn owner_and_group_are_kept() {
    if !support::is_root() {
        skips::skip!("root is needed to change the owner of files");
        return;
    }
    let (bench, run) = library();
    let folder = bench.library().join(&run);
    let (user, group) = (12_345, 54_321);
    let own = |path: &std::path::Path| {
        std::os::unix::fs::chown(path, Some(user), Some(group)).expect("changed");
    };
    let of = |path: &std::path::Path| {
        let found = fs::symlink_metadata(path).expect("it exists");
        (found.uid(), found.gid(), found.mode() & 0o777)
    };
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    let files = || fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    files().for_each(|path| own(&path));
    own(&folder);
    mode(&folder, 0o750);
    mode(&folder.join("journal"), 0o640);
    bench.ok(&["archive", &run]);
    assert_eq!(of(&bench.library().join(format!("{run}.tar.zst"))), (user, group, 0o640));
    bench.ok(&["unarchive", &run]);
    assert_eq!(of(&folder), (user, group, 0o750));
    assert!(files().count() > 2);
    files().for_each(|path| assert_eq!(of(&path), (user, group, 0o640), "{}", path.display()));
    // A journal in another user's directory, which only that user can enter.
    std::os::unix::fs::chown(&folder, Some(0), Some(0)).expect("changed");
    bench.ok(&["archive", &run]);
    let (user, _, mode) = of(&bench.library().join(format!("{run}.tar.zst")));
    assert_eq!((user, mode), (0, 0o600), "nobody who could not read the run can read the archive");
}
