//! The documents that commands print with `--json` match the published schema, which covers every command.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use support::Bench;

const SCHEMA: &str = "docs/reference/schemas/output-v1.json";
/// Address by which the validator identifies the schema; nothing is fetched.
const URL: &str = "https://plateau.invalid/output-v1.json";
/// Commands that print no JSON document.
const WITHOUT: [&str; 6] = ["completions", "help", "launcher", "man", "metrics", "watch"];
const SHORT: [&str; 5] = ["iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--name=first"];

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SCHEMA);
    let mut schema = serde_json::from_str(&support::text(&path)).expect("JSON");
    close(&mut schema);
    schema
}

/// Rejects keys that the schema lacks, so that the schema does not lag behind the program.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".into(), false.into());
            }
            object.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns the reasons why a document does not match a command's schema.
fn problems(schema: &Value, name: &str, document: &Value) -> Vec<String> {
    assert!(schema["$defs"][name].is_object(), "{name} has no schema");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource(URL, schema.clone()).expect("a schema");
    let of_command = compiler.compile(&format!("{URL}#/$defs/{name}"), &mut schemas).expect("a schema");
    schemas.validate(document, of_command).err().map(|error| format!("{error:#}")).into_iter().collect()
}

#[track_caller]
fn check(bench: &Bench, schema: &Value, args: &[&str]) -> Value {
    let document = bench.json(args);
    let found = problems(schema, args[0], &document);
    assert!(found.is_empty(), "{args:?}: {found:#?}");
    document
}

#[test]
fn what_commands_print_matches_the_schema() {
    let (bench, schema) = (Bench::new(), schema());
    let path = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let check = |args: &[&str]| check(&bench, &schema, args);
    check(&[&["run"], &SHORT[..]].concat());
    check(&["run", "lat,tp-128", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--seed=2"]);
    let campaign =
        check(&["run", "iops", "sim:sas-slc-2011", "sim:sata-mlc-2011", "--scale=1/1024", "--max-rounds=5"]);
    assert_eq!(campaign["runs"].as_array().map(Vec::len), Some(2), "one document for several targets");
    let (html, other, csv) = (path("r.html"), path("other"), path("csv"));
    let (rules, site, tables) = (path("rules.toml"), path("site"), path("tables"));
    std::fs::write(&rules, "require = [\"complete\"]\n").expect("written");
    let notices = path("notify.toml");
    std::fs::write(&notices, "[[program]]\nname = \"none\"\nrun = [\"/bin/true\"]\n").expect("written");
    let example = ["examples", "--install", "slc-a", "mlc-a"];
    for args in [
        &["job", "job-1", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5"][..],
        &["resume", "job-1"],
        &["examples"],
        &example,
        &example,
        &["runs"],
        &["runs", "-n", "1", "--page", "1"],
        &["runs", "--columns", "run,serial,identities,models"],
        &["drives"],
        &["trend", "sas-slc-2011", "--figure", "iops.rnd4k.w"],
        &["query", "SELECT run_id, threads, value, NULL FROM run JOIN figure USING (run_key)"],
        &["index", "--rebuild"],
        &["notify", "--once", "--config", &notices],
        &["notify", "--test", "none", "--config", &notices],
        &["status"],
        &["show", "first"],
        &["show", "example-slc-a"],
        &["verify", "first"],
        &["verify", "example-slc-a"],
        &["report", "first", &html],
        &["open", "first", "--browser", "true"],
        &["export", "--all", "--csv", &csv],
        &["export", "--parquet", &tables],
        &["publish", &site],
        &["tag", "first", "x"],
        &["note", "first", "a note"],
        &["compare", "first", "job-1"],
        &["compare", "example-slc-a", "example-mlc-a", "first", "--group-by", "drive"],
        &["gate", "first", "--rules", &rules],
        &["copy", "first", "job-1", &other],
        &["doctor"],
        &["name", "first", "kept"],
        &["archive", "kept"],
        &["show", "kept"],
        &["unarchive", "kept"],
        &["rm", "--yes", "kept"],
    ] {
        check(args);
    }
    let output = bench.run(&["--json", "show", "nonsense"]);
    let (text, _) = support::texts(&output);
    let document: Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(problems(&schema, "error", &document), [""; 0]);
}

#[test]
fn what_commands_without_a_run_print_matches_the_schema() {
    let (bench, schema) = (Bench::new(), schema());
    let path = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let (trace, plan, model) = (path("t.trace"), path("p.toml"), path("anonymous.trace"));
    let (target, other) = (path("target"), path("other"));
    std::fs::create_dir(&other).expect("a folder");
    std::fs::File::create(&target).and_then(|file| file.set_len(64 << 20)).expect("a file");
    for args in [
        &["plan", "iops", "sim:sas-slc-2011", "--scale=1/1024"][..],
        &["plan", "--list"],
        &["list"],
        &["info", "sim:sas-slc-2011"],
        &["info", &target],
        &["purge", "sim:sas-slc-2011"],
        &["sim", "list"],
        &["sim", "show", "sas-slc-2011"],
        &["load", "sim:sas-slc-2011", "--scale=1/64", "--rw=randread", "--bs=4k", "--runtime=1"],
        &["trace", "sample", "-o", &trace],
        &["trace", "show", &trace],
        &["trace", "show", &trace, &trace],
        &["trace", "plan", &trace, "-o", &plan],
        &["trace", "anonymise", &trace, "-o", &model],
        &["plan", "--check", &plan],
        &["replay", &trace, "sim:sas-slc-2011"],
        &["fleet", "inventory", "--dir", &other],
        &["fleet", "check", "sim:sas-slc-2011"],
        &["user", "list"],
        &["sender", "list"],
        &["sender", "add", "rack7"],
        &["demo"],
    ] {
        check(&bench, &schema, args);
    }
    let checked = bench.run(&["check", &target, "--json"]);
    let mut document: Value = serde_json::from_str(&support::texts(&checked).0).expect("one document");
    // Depending on the host, the findings are a failure, whose document contains these keys as well.
    for key in ["error", "exit_code", "run"] {
        document.as_object_mut().expect("an object").remove(key);
    }
    assert_eq!(problems(&schema, "check", &document), [""; 0]);
    let results = [path("a.json"), path("b.json")];
    for result in &results {
        let document = check(&bench, &schema, &["load", &target, "--rw=randread", "--size=1M"]);
        std::fs::write(result, document.to_string()).expect("written");
    }
    check(&bench, &schema, &["load", "--skew-limit=1h", "--merge", &results[0], &results[1]]);
}

#[test]
fn what_is_made_from_a_run_matches_the_schema() {
    let (bench, schema) = (Bench::new(), schema());
    let path = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let (exported, fitted) = (path("exported.json"), path("fitted.toml"));
    bench.ok(&[&["run"], &SHORT[..]].concat());
    bench.ok(&["report", "first", &exported]);
    check(&bench, &schema, &["import", &exported]);
    let fit = ["sim", "fit", "first", "--from", "sas-slc-2011", "--steps=1", "--scale=1/1024"];
    check(&bench, &schema, &[&fit[..], &["--output", &fitted]].concat());
}

#[test]
fn what_a_server_and_its_clients_print_matches_the_schema() {
    let (bench, schema) = (Bench::new(), schema());
    bench.ok(&[&["run"], &SHORT[..]].concat());
    let mut server = bench.start(&["serve", "--listen=127.0.0.1:0", "--json"]);
    let mut documents =
        serde_json::Deserializer::from_reader(server.stdout.take().expect("a pipe")).into_iter::<Value>();
    let document = documents.next().expect("a document").expect("JSON");
    support::send_signal(server.id(), "TERM");
    server.wait().expect("ended");
    assert_eq!(problems(&schema, "serve", &document), [""; 0]);
}

#[test]
fn every_command_has_a_schema() {
    let (bench, schema) = (Bench::new(), schema());
    let help = bench.ok(&["--help"]);
    let listed =
        help.split("Commands:").nth(1).and_then(|rest| rest.split("Options:").next()).expect("a list");
    let names =
        listed.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names: BTreeSet<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        let has_schema = schema["$defs"][name].is_object();
        assert_eq!(has_schema, !WITHOUT.contains(&name), "{name}");
    }
}

#[test]
fn another_document_does_not_match() {
    let (bench, schema) = (Bench::new(), schema());
    let labels = json!({ "run": "a", "name": null, "tags": [], "notes": [] });
    assert_eq!(problems(&schema, "tag", &labels), [""; 0]);
    for (key, value) in [("run", json!(1)), ("tags", json!([1])), ("new", json!(1))] {
        let mut other = labels.clone();
        other[key] = value;
        assert_ne!(problems(&schema, "tag", &other), [""; 0], "{key}");
    }
    assert_ne!(problems(&schema, "runs", &bench.json(&["sim", "list"])), [""; 0]);
}
