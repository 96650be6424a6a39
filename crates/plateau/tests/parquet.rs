//! `plateau export --parquet` and `plateau query --parquet`: files that pandas and DuckDB read.

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Bench;

const PAGE: &str = "docs/reference/store.md";
const SHORT: [&str; 3] = ["sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5"];

/// A library with a latency run and a throughput run.
fn library() -> Bench {
    let bench = Bench::new();
    bench.ok(&[&["run", "lat", "--name", "a", "--tag", "x"], &SHORT[..]].concat());
    bench.ok(&[&["run", "tp-128", "--name", "b"], &SHORT[..]].concat());
    bench
}

/// Exports to the `tables` folder; returns each file's rows.
fn exported(bench: &Bench, filter: &[&str]) -> BTreeMap<String, u64> {
    let dir = bench.path("tables");
    let document = bench.json(&[&["export", "--parquet", dir.to_str().unwrap()], filter].concat());
    let dir = dir.canonicalize().unwrap();
    let file = |file: &Value| {
        let path = Path::new(file["path"].as_str().unwrap());
        assert_eq!(std::fs::read(path).unwrap()[..4], *b"PAR1");
        let path = path.canonicalize().unwrap();
        (path.strip_prefix(&dir).unwrap().to_str().unwrap().to_owned(), file["rows"].as_u64().unwrap())
    };
    document["files"].as_array().unwrap().iter().map(file).collect()
}

#[test]
fn an_export_has_the_tables_of_the_chosen_runs() {
    let bench = library();
    let all = exported(&bench, &[]);
    assert_eq!(all["run/part-0.parquet"], 2);
    assert_eq!((all["tag/part-0.parquet"], all["note/part-0.parquet"]), (1, 0));
    let answer = bench.json(&["query", "SELECT test, COUNT(*) FROM figure GROUP BY test ORDER BY test"]);
    let counts: Vec<(String, u64)> = all
        .iter()
        .filter_map(|(path, rows)| {
            Some((path.strip_prefix("figure/test=")?.split('/').next()?.to_owned(), *rows))
        })
        .collect();
    let rows = answer["rows"].as_array().unwrap();
    let expected: Vec<(String, u64)> =
        rows.iter().map(|row| (row[0].as_str().unwrap().to_owned(), row[1].as_u64().unwrap())).collect();
    assert_eq!(counts, expected);
    assert!(counts.len() == 2 && counts.iter().all(|(_, rows)| *rows > 0), "{counts:?}");
    // A second export replaces all rows from the first.
    for filter in
        [&["a"][..], &["--test", "lat"], &["--tag", "x", "--state", "steady", "--state", "unsteady"]]
    {
        let one = exported(&bench, filter);
        assert_eq!(one["run/part-0.parquet"], 1, "{filter:?}");
        assert_eq!(one.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>(), "{filter:?}");
        assert_eq!(one["figure/test=tp-128/part-0.parquet"], 0, "{filter:?}");
        assert_eq!(
            one["figure/test=lat/part-0.parquet"], all["figure/test=lat/part-0.parquet"],
            "{filter:?}"
        );
    }
    let text = bench.ok(&["export", "--parquet", bench.path("tables").to_str().unwrap(), "--all"]);
    assert!(text.starts_with("2 runs (2 simulated) in "), "{text}");
}

#[test]
fn selections_apply_to_other_formats_as_well() {
    let bench = library();
    let csv = bench.path("csv");
    let document = bench.json(&["export", "--all", "--test", "tp-128", "--csv", csv.to_str().unwrap()]);
    assert_eq!(document.as_array().unwrap().len(), 1, "{document}");
    assert_eq!(std::fs::read_dir(csv).unwrap().count(), 1);
}

#[test]
fn exports_that_would_mislead_or_harm_are_refused() {
    let bench = library();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    std::fs::write(bench.path("file"), "mine").unwrap();
    std::fs::create_dir_all(bench.path("linked")).unwrap();
    std::fs::create_dir_all(bench.path("elsewhere")).unwrap();
    symlink(bench.path("elsewhere"), bench.path("linked/run")).unwrap();
    let inside = bench.library().join("tables").to_str().unwrap().to_owned();
    for (args, code, part) in [
        (&["export", "--parquet", &path("file")][..], 2, "is a file"),
        (&["export", "--parquet", &path("x.csv")], 2, "specify a folder"),
        (&["export", "--parquet", &path("no/tables")], 2, "no such folder"),
        (&["export", "--parquet", "-"], 2, "specify a directory"),
        (&["export", "--parquet", &inside], 2, "is in the library"),
        (&["export", "--parquet", &path("linked")], 2, "symbolic link"),
        (&["export", "--parquet", &path("t"), "--csv", &path("c")], 2, "use a second command"),
        (&["export", "--parquet", &path("t"), "a", "--test", "lat"], 2, "cannot be combined"),
        (&["export", "--parquet", &path("t"), "--test", "wsat"], 6, "none of the 2 runs"),
        (&["export", "--parquet", &path("t"), "--test", "wast"], 2, "did you mean"),
        (&["query", "SELECT 1", "--parquet", &path("q.csv")], 2, "ends in .csv"),
        (&["query", "SELECT 1 AS a, 2 AS A", "--parquet", &path("q.parquet")], 2, "rename one with AS"),
    ] {
        let output = bench.run(args);
        let (out, err) = support::texts(&output);
        assert!(output.status.code() == Some(code) && err.contains(part), "{args:?}: {out}{err}");
    }
    assert_eq!(std::fs::read_dir(bench.path("elsewhere")).unwrap().count(), 0);
    assert_eq!(support::text(&bench.path("file")), "mine");
    for name in ["t", "c", "q.csv", "q.parquet"] {
        assert!(!bench.path(name).exists(), "{name}");
    }
}

#[test]
fn a_run_that_cannot_be_evaluated_is_not_left_out_silently() {
    let bench = library();
    let runs = bench.json(&["runs", "--columns", "name,path,run"]);
    let of = |name: &str, key: &str| {
        let run = runs.as_array().unwrap().iter().find(|run| run["name"] == name).unwrap();
        run[key].as_str().unwrap().to_owned()
    };
    let journal = Path::new(&of("b", "path")).join("journal");
    let text = support::text(&journal).replacen("_ns\":1", "_ns\":2", 1);
    assert_ne!(text, support::text(&journal));
    std::fs::write(&journal, text).unwrap();
    let dir = bench.path("tables");
    let export = ["export", "--parquet", dir.to_str().unwrap()];
    for filter in [&[][..], &["b"], &["--serial", "s"]] {
        let output = bench.run(&[&export, filter].concat());
        let (_, err) = support::texts(&output);
        assert!(output.status.code() == Some(6), "{filter:?}: {err}");
        assert!(err.contains(&of("b", "run")) && err.contains("plateau doctor"), "{filter:?}: {err}");
        assert!(!dir.exists(), "{filter:?}");
    }
    assert_eq!(exported(&bench, &["a"])["run/part-0.parquet"], 1);
}

/// Returns the documentation page's code blocks in `language`.
fn blocks(language: &str) -> Vec<String> {
    let text = support::text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE));
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Returns the output of a Python program; `None` if it lacks a module.
fn python(bench: &Bench, modules: &str, program: &str) -> Option<String> {
    let python = std::env::var("PLATEAU_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut probe = Command::new(&python);
    probe.args(["-c", &format!("import {modules}")]).stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        skips::without(modules);
        return None;
    }
    let output = Command::new(&python).args(["-c", program]).current_dir(bench.dir.path()).output();
    let output = output.expect("python");
    let (text, errors) = support::texts(&output);
    assert!(output.status.success(), "{program}\n{errors}");
    Some(text)
}

/// The cells in the table of mean IOPS that the demo prints, by block size in KiB and percentage of reads.
fn table(text: &str) -> BTreeMap<(String, String), String> {
    let reads = ["0", "5", "35", "50", "65", "95", "100"];
    let lines = text.lines().skip_while(|line| !line.starts_with("----")).skip(1);
    let row = |line: &str| {
        let cells: Vec<String> = line.split_whitespace().map(|cell| cell.replace(',', "")).collect();
        let (size, values) = cells.split_first().unwrap();
        let size = size.parse::<f64>().unwrap().to_string();
        values
            .iter()
            .zip(reads)
            .map(|(value, read)| ((size.clone(), read.into()), value.clone()))
            .collect::<Vec<_>>()
    };
    lines.take_while(|line| !line.trim().is_empty()).flat_map(row).collect()
}

#[test]
fn pandas_and_duckdb_reproduce_the_table_of_the_demo() {
    let bench = Bench::new();
    let expected = table(&bench.ok(&["demo"]));
    assert_eq!((expected.len(), &*expected[&("4".into(), "0".into())]), (56, "21468.9"), "{expected:?}");
    exported(&bench, &[]);
    let recipes = blocks("python");
    assert_eq!(recipes.len(), 2, "{PAGE}");
    for (modules, recipe) in ["pandas, pyarrow", "duckdb, pandas"].iter().zip(&recipes) {
        let Some(text) = python(&bench, modules, recipe) else { continue };
        let mut lines = text.lines().filter(|line| !line.is_empty());
        assert_eq!(lines.next(), Some("run_id,block_kib,read_percent,iops"), "{text}");
        let cell = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let size = fields[1].parse::<f64>().unwrap().to_string();
            ((size, fields[2].to_owned()), fields[3].to_owned())
        };
        assert_eq!(lines.map(cell).collect::<BTreeMap<_, _>>(), expected, "{modules}");
    }
}

/// Prints the column types of all tables in the `tables` folder and of the `answer.parquet` file.
const TYPES: &str = r#"
import glob, os, duckdb, pandas
for name in sorted(os.listdir("tables")):
    rows = len(pandas.read_parquet(f"tables/{name}"))
    of_table = duckdb.sql(f"SELECT * FROM read_parquet('tables/{name}/**/*.parquet')")
    assert len(of_table.fetchall()) == rows, name
    print(name, rows, ",".join(f"{column} {kind}" for column, kind in zip(of_table.columns, of_table.types)))
answer = pandas.read_parquet("answer.parquet")
print("answer", len(answer), answer.started_utc.dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")[0], answer.threads[0], answer.name.isna()[0])
"#;

#[test]
fn times_booleans_and_nulls_keep_their_types() {
    let bench = library();
    exported(&bench, &[]);
    let file = bench.path("answer.parquet");
    let query = "SELECT started_utc, threads, NULL AS name FROM run ORDER BY started_utc LIMIT 1";
    assert_eq!(
        bench.ok(&["query", query, "--parquet", file.to_str().unwrap()]).trim(),
        file.to_str().unwrap()
    );
    let answer = bench.json(&["query", query]);
    let Some(text) = python(&bench, "duckdb, pandas, pyarrow", TYPES) else { return };
    let line =
        |name: &str| text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap().to_owned();
    assert!(line("run").contains("started_utc TIMESTAMP WITH TIME ZONE"), "{text}");
    assert!(line("run").contains("threads BIGINT") && line("run").starts_with("run 2 "), "{text}");
    assert!(
        line("figure").contains("host_limited BOOLEAN") && line("figure").contains("test VARCHAR"),
        "{text}"
    );
    assert!(line("figure_round").contains("value DOUBLE"), "{text}");
    assert!(line("note").starts_with("note 0 "), "{text}");
    let row = &answer["rows"][0];
    let (time, threads) = (row[0].as_str().unwrap(), &row[1]);
    // The timestamps have microsecond resolution; the last three digits of the nanoseconds are dropped.
    assert_eq!(line("answer"), format!("answer 1 {}Z {threads} True", &time[..time.len() - 4]), "{text}");
}
