//! The library's index: `index`, `query` and `drives`; damage to the index never affects a result.

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use support::{Bench, texts};

const INDEX: &str = "index.sqlite";

fn library() -> Bench {
    let bench = Bench::new();
    for words in [
        "lat sim:sas-slc-2011 --name shelf --tag fw1 --note dusty",
        "tp-128,lat sim:sata-mlc-2011 --profile pts-e-1.1 --tag fw2",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        bench.ok(&[&["run", "--scale", "1/256", "--max-rounds", "5"], &words[..]].concat());
    }
    bench.ok(&["examples", "--install", "slc-a"]);
    bench
}

fn index(bench: &Bench) -> PathBuf {
    bench.library().join(INDEX)
}

/// The complete output of `runs`.
fn answers(bench: &Bench) -> String {
    let every_column =
        "run,created,tests,profile,target,verdict,path,state,name,tags,notes,serial,identities,models";
    let asked: [&[&str]; 8] = [
        &["runs"],
        &["runs", "--json"],
        &["runs", "fw1"],
        &["runs", "--state", "steady", "--sort", "oldest"],
        &["runs", "-n", "2", "--json"],
        &["runs", "--serial", "sas-slc"],
        &["runs", "--columns", every_column],
        &["runs", "-n", "1", "--page", "2", "--json", "--columns", every_column],
    ];
    asked.iter().map(|words| bench.ok(words)).collect()
}

/// Returns whether `runs --verbose` reports that the index is not used.
fn does_without(bench: &Bench) -> bool {
    let (_, err) = texts(&bench.run(&["runs", "--verbose"]));
    err.contains("the index is not used")
}

#[test]
fn answers_are_the_same_with_and_without_an_index() {
    let bench = library();
    let path = index(&bench);
    // A directory in place of the index.
    std::fs::create_dir(&path).expect("a folder");
    let from_journals = answers(&bench);
    assert!(does_without(&bench));
    std::fs::remove_dir(&path).expect("removed");
    assert_eq!(answers(&bench), from_journals);
    assert!(path.exists() && !does_without(&bench));
    assert_eq!(answers(&bench), from_journals);
    assert!(bench.ok(&["index"]).contains("3 runs in the index: no journal had to be read"));
    assert!(bench.ok(&["index", "--rebuild"]).contains("3 runs in the index: 3 runs read"));
    assert_eq!(answers(&bench), from_journals);
}

#[test]
fn a_damaged_truncated_or_newer_index_changes_no_answer() {
    let bench = library();
    let path = index(&bench);
    let expected = answers(&bench);
    let good = std::fs::read(&path).expect("an index");
    let mut zeros = good.clone();
    zeros[4096..].fill(0);
    for bad in [b"no database".repeat(100), good[..good.len() / 2].to_vec(), Vec::new(), zeros] {
        std::fs::write(&path, &bad).expect("damage");
        assert_eq!(answers(&bench), expected, "{} bytes", bad.len());
    }
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(answers(&bench), expected);
    let connection = rusqlite::Connection::open(&path).expect("SQLite");
    connection.execute_batch("UPDATE schema_version SET version = 99").expect("an update");
    drop(connection);
    assert_eq!(answers(&bench), expected);
    assert!(does_without(&bench));
    let error = bench.fails(6, &["index"]);
    assert!(error.contains("schema version 99"), "{error}");
    assert_eq!(bench.json(&["drives"]).as_array().expect("drives").len(), 3, "from memory");
}

#[test]
fn a_locked_index_changes_no_answer() {
    let bench = library();
    let expected = answers(&bench);
    let connection = rusqlite::Connection::open(index(&bench)).expect("SQLite");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    assert_eq!(bench.ok(&["runs"]), expected[..bench.ok(&["runs"]).len()]);
    assert!(does_without(&bench));
    let error = bench.fails(6, &["index"]);
    assert!(error.contains("holds the lock"), "{error}");
    // A run neither waits for the index nor fails.
    bench.ok(&["run", "--scale", "1/256", "--max-rounds", "5", "lat", "sim:sas-slc-2011"]);
    connection.execute_batch("COMMIT").expect("no lock");
    assert!(bench.ok(&["index"]).contains("4 runs in the index: 1 run read"));
}

#[test]
fn an_index_that_others_can_write_to_is_not_used() {
    let bench = library();
    let expected = answers(&bench);
    for shared in [bench.library(), index(&bench)] {
        let mode = std::fs::metadata(&shared).expect("it exists").permissions().mode();
        std::fs::set_permissions(&shared, PermissionsExt::from_mode(mode | 0o022)).expect("a mode");
        assert!(does_without(&bench), "{shared:?}");
        assert_eq!(answers(&bench), expected);
        bench.fails(6, &["index"]);
        std::fs::set_permissions(&shared, PermissionsExt::from_mode(mode)).expect("a mode");
    }
    // A link to another file is not followed.
    let elsewhere = bench.path("elsewhere");
    std::fs::rename(index(&bench), &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, index(&bench)).expect("a link");
    assert!(does_without(&bench));
    assert_eq!(answers(&bench), expected);
}

#[test]
fn a_full_disk_changes_no_answer() {
    if !support::is_root() {
        skips::skip!("root is needed to mount a small file system");
        return;
    }
    let bench = library();
    let expected = answers(&bench);
    let mounted = Mounted::on(&bench.path("small"), 12);
    let copied = std::process::Command::new("cp").arg("-a").arg(bench.library()).arg(&mounted.0).status();
    assert!(copied.expect("cp").success());
    let copy = mounted.0.join("runs");
    std::fs::remove_file(copy.join(INDEX)).expect("removed");
    let filler = mounted.0.join("filler");
    // Fill the file system until nothing more fits.
    let _ = std::fs::write(&filler, vec![1_u8; 32 << 20]);
    let output = bench.command(&["runs"]).env("PLATEAU_LIBRARY", &copy).output().expect("plateau");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(expected.starts_with(&out), "{out}");
    let drives =
        bench.command(&["drives", "--json"]).env("PLATEAU_LIBRARY", &copy).output().expect("plateau");
    assert!(drives.status.success() && texts(&drives).0.contains("sas-slc-2011"));
    std::fs::remove_file(&filler).expect("space");
    let output = bench.command(&["index"]).env("PLATEAU_LIBRARY", &copy).output().expect("plateau");
    assert!(texts(&output).0.contains("3 runs in the index"), "it catches up");
}

/// A small file system in memory.
struct Mounted(PathBuf);

impl Mounted {
    fn on(path: &std::path::Path, megabytes: u32) -> Self {
        std::fs::create_dir(path).expect("a folder");
        let size = format!("size={megabytes}m");
        let status = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(path)
            .status();
        assert!(status.expect("mount").success());
        Self(path.into())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).stderr(Stdio::null()).status();
    }
}

#[test]
fn an_interrupted_or_running_run_is_read_live() {
    let bench = library();
    answers(&bench);
    let mut child =
        bench.start(&["run", "--scale", "1/16", "--quiet", "wsat", "sim:sas-slc-2011", "--name", "busy"]);
    let listed = || bench.json(&["runs", "busy"]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while listed().as_array().is_none_or(Vec::is_empty) && std::time::Instant::now() < deadline {
        std::thread::yield_now();
    }
    let states = [listed()[0]["state"].clone(), listed()[0]["state"].clone()];
    child.kill().expect("killed");
    child.wait().expect("ended");
    // The run may have been complete before its process was killed.
    assert!(states.iter().all(|state| *state == "running" || *state == "complete"), "{states:?}");
    let after = listed()[0]["state"].clone();
    assert!(after == "incomplete" || after == "complete", "{after}");
    assert_eq!(listed()[0]["state"], after, "from the index");
    if after == "incomplete" {
        bench.ok(&["resume", "busy", "--quiet"]);
        assert_eq!(listed()[0]["state"], "complete");
    }
}

/// Returns the rows of each run in the index as text; empty if there is no index yet.
fn rows(path: &Path) -> BTreeMap<String, Vec<String>> {
    let mut rows = BTreeMap::<String, Vec<String>>::new();
    if !path.exists() {
        return rows;
    }
    let connection = rusqlite::Connection::open(path).expect("SQLite");
    for table in
        ["run", "drive", "host", "test", "figure", "figure_round", "health", "deviation", "tag", "note"]
    {
        // The process was killed before it had created the tables.
        let Ok(mut statement) = connection.prepare(&format!("SELECT * FROM {table}")) else { continue };
        let columns = statement.column_count();
        let mut found = statement.query([]).expect("an answer");
        while let Some(row) = found.next().expect("a row") {
            let values: Vec<rusqlite::types::Value> =
                (0..columns).map(|at| row.get(at).expect("a value")).collect();
            let key = row.get(0).expect("the run");
            rows.entry(key).or_default().push(format!("{table} {values:?}"));
        }
    }
    rows.values_mut().for_each(|of_run| of_run.sort());
    rows
}

#[test]
fn a_kill_at_any_write_leaves_no_wrong_row() {
    if !Path::new("/usr/bin/strace").exists() {
        return skips::without("strace");
    }
    let bench = library();
    let path = index(&bench);
    let expected = answers(&bench);
    let all = rows(&path);
    assert_eq!(all.len(), 3);
    let is_killed = |words: &[&str], calls: &str, when: u32| {
        let plateau = bench.command(words);
        let mut strace = std::process::Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e"]);
        strace.arg(format!("inject={calls}:signal=KILL:when={when}"));
        strace.arg(plateau.get_program()).args(plateau.get_args());
        strace.env("PLATEAU_LIBRARY", bench.library()).env("PLATEAU_STATE", bench.state.path());
        !strace.output().expect("strace").status.success()
    };
    for (words, is_new) in [(&["index"][..], true), (&["index", "--rebuild"][..], false)] {
        for calls in ["pwrite64", "fsync,fdatasync"] {
            let mut kills = 0;
            let mut when = 1;
            loop {
                if is_new {
                    std::fs::remove_file(&path).expect("removed");
                }
                if !is_killed(words, calls, when) {
                    break;
                }
                kills += 1;
                for (run, rows) in rows(&path) {
                    assert_eq!(Some(&rows), all.get(&run), "{words:?} {calls} {when}: {run}");
                }
                bench.ok(&["index"]);
                assert_eq!(rows(&path), all, "{words:?} {calls} {when}");
                when += when / 2 + 1;
            }
            assert!(kills > 1, "{words:?} {calls}");
            assert_eq!(answers(&bench), expected);
        }
    }
}

#[test]
fn eight_processes_index_and_read_at_once() {
    let bench = library();
    let expected = answers(&bench);
    std::fs::remove_file(index(&bench)).expect("removed");
    let children: Vec<_> = (0..8)
        .map(
            |number| {
                if number % 2 == 0 { bench.start(&["index", "--rebuild"]) } else { bench.start(&["runs"]) }
            },
        )
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("ended");
        let (_, err) = texts(&output);
        // A process that waits too long for the lock reports this.
        assert!(output.status.success() || err.contains("holds the lock"), "{err}");
    }
    bench.ok(&["index"]);
    assert_eq!(answers(&bench), expected);
    assert_eq!(bench.json(&["query", "SELECT COUNT(*) FROM run"])["rows"][0][0], 3);
}

#[test]
fn queries_and_drives_answer_from_all_runs() {
    let bench = library();
    let drives = bench.json(&["drives"]);
    let models: Vec<&Value> =
        drives.as_array().expect("drives").iter().map(|drive| &drive["model"]).collect();
    assert_eq!(models.len(), 3);
    let text = bench.ok(&["drives"]);
    assert!(text.contains("SIMULATED ") && text.contains("IMPORTED "), "{text}");
    let shown = bench.json(&["show", "shelf"]);
    let printed = &shown["tests"][0]["key_figures"];
    let query = "SELECT value, unit FROM figure JOIN run ON run.run_key = figure.run_key \
                 WHERE run.name = 'shelf' AND key_figure = 1 ORDER BY number";
    let rows = bench.json(&["query", query])["rows"].clone();
    let rows = rows.as_array().expect("rows");
    assert!(!rows.is_empty());
    for (row, figure) in rows.iter().zip(printed.as_array().expect("figures")) {
        assert_eq!(row[0], figure["value"], "{figure}");
    }
    let csv =
        bench.ok(&["query", "SELECT run_id AS id, name, 1.5 AS x FROM run ORDER BY name DESC", "--csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((lines[0], lines.len()), ("id,name,x", 4));
    assert!(lines.iter().any(|line| line.ends_with(",shelf,1.5")), "{csv}");
    assert!(bench.ok(&["query", "SELECT COUNT(*) AS n FROM tag"]).starts_with("n\n2"));
    for bad in ["DELETE FROM run", "SELECT", "SELECT 1; SELECT 2", "ATTACH 'x' AS y"] {
        bench.fails(2, &["query", bad]);
    }
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    let count = format!("{endless} SELECT COUNT(*) FROM n");
    // The second query is a single step of the database that takes hours; the process must still end.
    let step = "SELECT instr(hex(zeroblob(30000000)), hex(zeroblob(15000000)) || '1')";
    for slow in [count.as_str(), step] {
        let errors = bench.fails(2, &["query", "--time-limit", "1", slow]);
        assert!(errors.contains("interrupted after 1 s") && errors.contains("--time-limit"), "{errors}");
    }
    for large in
        ["SELECT hex(zeroblob(900000000))", &format!("{endless} SELECT hex(zeroblob(4000000)) FROM n")]
    {
        let errors = bench.fails(2, &["query", large]);
        assert!(errors.contains("needs more than 256 MiB"), "{large}: {errors}");
    }
    assert_eq!(bench.json(&["query", "SELECT COUNT(*) FROM run"])["rows"][0][0], 3);
    bench.ok(&["examples", "--install", "mlc-a", "mlc-b"]);
    let after = bench.json(&["drives"]).as_array().expect("drives").len();
    assert_eq!(after, models.len() + 2, "imported drives of two models are two drives");
}

#[test]
fn labels_that_are_added_later_are_found_shown_and_indexed() {
    let bench = library();
    answers(&bench);
    let words = |sql: &str| bench.ok(&["query", sql, "--csv"]);
    assert!(
        bench.ok(&["tag", "shelf", "rack-4", "fw1"]).ends_with("name 'shelf'; tags fw1, rack-4; 1 note\n")
    );
    bench.ok(&["note", "shelf", "cleaned"]);
    assert_eq!(bench.json(&["runs", "rack-4"]).as_array().map(Vec::len), Some(1));
    assert_eq!(words("SELECT tag FROM tag WHERE added_by IS NOT NULL"), "tag\nrack-4\n");
    assert_eq!(words("SELECT text FROM note ORDER BY number"), "text\ndusty\ncleaned\n");
    assert_eq!(bench.json(&["tag", "--remove", "shelf", "fw1"])["tags"], serde_json::json!(["rack-4"]));
    assert_eq!(bench.json(&["runs", "fw1"]).as_array().map(Vec::len), Some(0));
    bench.ok(&["name", "shelf", "attic"]);
    assert_eq!(bench.json(&["show", "attic"])["notes"], serde_json::json!(["dusty", "cleaned"]));
    bench.fails(6, &["show", "shelf"]);
    let rebuilt = |bench: &Bench| {
        let everything =
            || ["run", "tag", "note"].map(|table| words(&format!("SELECT * FROM {table} ORDER BY 1, 2")));
        let before = everything();
        bench.ok(&["index", "--rebuild"]);
        std::fs::remove_file(index(bench)).expect("removed");
        assert_eq!(everything(), before);
    };
    rebuilt(&bench);
    // The same results, read from the journals.
    let from_index = answers(&bench);
    std::fs::remove_file(index(&bench)).expect("removed");
    std::fs::create_dir(index(&bench)).expect("a folder");
    assert_eq!(answers(&bench), from_index);
    // Invalid commands change nothing.
    let journal = bench.library().join(record::LIBRARY_JOURNAL);
    let before = std::fs::read(&journal).expect("a journal");
    bench.fails(2, &["tag", "--remove", "attic", "nothing"]);
    bench.fails(2, &["name", "latest", "attic"]);
    bench.fails(2, &["tag", "attic", "two words"]);
    bench.fails(2, &["note", "attic", ""]);
    bench.fails(6, &["tag", "missing", "x"]);
    assert_eq!(std::fs::read(&journal).expect("a journal"), before);
    bench.ok(&["name", "--remove", "attic"]);
    bench.fails(6, &["show", "attic"]);
}

#[test]
fn a_trend_has_the_figures_of_the_runs_of_one_drive_or_model() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.ok(&["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5"]);
    }
    let other = ["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5", "--seed", "2"];
    bench.ok(&other);
    bench.ok(&["run", "lat", "sim:sata-mlc-2011", "--scale", "1/256", "--max-rounds", "5"]);
    let keys = bench.json(&[
        "query",
        "SELECT figure_key FROM figure WHERE key_figure = 1 AND rounds > 1 ORDER BY 1 LIMIT 1",
    ]);
    let key = keys["rows"][0][0].as_str().expect("a key").to_owned();
    let trend = bench.json(&["trend", "sas-slc-2011", "--figure", &key]);
    let runs = trend["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 4, "{trend}");
    let listed = bench.json(&["runs", "--model", "sas-slc", "--sort", "oldest"]);
    for (run, listed) in runs.iter().zip(listed.as_array().expect("runs")) {
        assert_eq!((&run["run"], &run["created"]), (&listed["run"], &listed["created"]));
    }
    // A simulated drive's seed distinguishes it from others in all commands.
    let drives = |runs: &[Value]| runs.iter().map(|run| run["drive"].clone()).collect::<Vec<_>>();
    let first = Value::from("sim:sas-slc-2011 seed 1");
    assert_eq!(drives(runs), [first.clone(), first.clone(), first, "sim:sas-slc-2011 seed 2".into()]);
    let known = bench.json(&["drives"]);
    let known = drives(known.as_array().expect("drives"));
    assert_eq!(known, ["sim:sata-mlc-2011 seed 1", "sim:sas-slc-2011 seed 2", "sim:sas-slc-2011 seed 1"]);
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["run"].as_str()).collect();
    let compared = bench.ok(&[&["compare", "--group-by", "drive"], &ids[..]].concat());
    for drive in &known[1..] {
        assert!(compared.contains(drive.as_str().expect("text")), "{drive}: {compared}");
    }
    let one = bench.json(&["trend", "sim:sas-slc-2011 seed 2", "--figure", &key]);
    assert_eq!(one["runs"].as_array().map(Vec::len), Some(1), "{one}");
    for run in runs {
        let id = run["run"].as_str().expect("an id");
        let query = format!(
            "SELECT value FROM figure JOIN run ON run.run_key = figure.run_key WHERE run_id = '{id}' AND figure_key = '{key}'"
        );
        assert_eq!(bench.json(&["query", &query])["rows"][0][0], run["value"]);
    }
    assert!(trend["drift"]["percent"].is_number(), "{trend}");
    let text = bench.ok(&["trend", "slc", "--figure", &key]);
    assert!(text.contains("SIMULATED sas-slc-2011") && text.contains("over 4 runs of 2 drives"), "{text}");
    assert_eq!(bench.ok(&["trend", "slc", "--figure", &key, "--csv"]).lines().count(), 5);
    let page = bench.path("trend.html");
    bench.ok(&["trend", "slc", "--figure", &key, "--html", page.to_str().expect("text")]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("<svg") && page.contains("SIMULATED sas-slc-2011"));
    bench.fails(2, &["trend", "", "--figure", &key]);
    assert!(bench.fails(2, &["trend", "2011", "--figure", &key]).contains("several models"));
    assert!(bench.fails(2, &["trend", "nothing", "--figure", &key]).contains("plateau drives"));
    assert!(bench.fails(2, &["trend", "slc", "--figure", &format!("{key}x")]).contains(&key));
}

#[test]
fn a_damaged_journal_of_the_library_is_reported_and_runs_are_still_listed() {
    let bench = library();
    bench.ok(&["tag", "shelf", "rack-4"]);
    let journal = bench.library().join(record::LIBRARY_JOURNAL);
    let good = std::fs::read_to_string(&journal).expect("text");
    std::fs::write(&journal, good.replace("rack-4", "rack-5")).expect("damage");
    let output = bench.run(&["runs"]);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(6));
    assert!(out.contains("shelf") && err.contains("damaged at record 0"), "{out}{err}");
    assert!(bench.fails(6, &["tag", "shelf", "x"]).contains("damaged at record 0"));
    bench.ok(&["show", "shelf"]);
    bench.ok(&["run", "--scale", "1/256", "--max-rounds", "5", "lat", "sim:sas-slc-2011"]);
    std::fs::write(&journal, good).expect("restored");
    assert_eq!(bench.json(&["show", "shelf"])["tags"], serde_json::json!(["fw1", "rack-4"]));
}

#[test]
fn a_library_without_runs_has_an_empty_index() {
    let bench = Bench::new();
    for args in [&["index"][..], &["index", "--rebuild"]] {
        let document = bench.json(args);
        assert_eq!((&document["runs"], &document["indexed"]), (&0.into(), &0.into()), "{document}");
        assert!(bench.ok(args).contains("0 runs in the index"));
    }
    assert!(!bench.library().exists(), "the library is created with its first run");
    std::fs::create_dir(bench.library()).expect("an empty library");
    assert_eq!(bench.json(&["index"])["runs"], 0);
}
