//! The documents that commands print with `--json` match the published schema, which covers every command.

#[path = "support/lab_server/mod.rs"]
mod lab_server;
#[path = "support/schemas/mod.rs"]
mod schemas;
mod support;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

use lab_server::Server;
use launch::TargetProblem;
use schemas::{assert_failure_matches, assert_matches, problems, schema};
use serde_json::{Value, json};
use support::Bench;

/// Commands that print no JSON document.
const WITHOUT: [&str; 6] = ["completions", "help", "launcher", "man", "metrics", "watch"];
const SHORT: [&str; 7] =
    ["iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--tc=1", "--qd=2", "--name=first"];

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
    let campaign = check(&[
        "run",
        "iops",
        "sim:sas-slc-2011",
        "sim:sata-mlc-2011",
        "--scale=1/1024",
        "--max-rounds=5",
        "--tc=1",
        "--qd=2",
    ]);
    assert_eq!(campaign["runs"].as_array().map(Vec::len), Some(2), "one document for several targets");
    let (html, other, csv) = (path("r.html"), path("other"), path("csv"));
    let (rules, site, tables) = (path("rules.toml"), path("site"), path("tables"));
    std::fs::write(&rules, "require = [\"complete\"]\n").expect("written");
    let notices = path("notify.toml");
    std::fs::write(&notices, "[[program]]\nname = \"none\"\nrun = [\"/bin/true\"]\n").expect("written");
    let example = ["examples", "--install", "slc-a", "mlc-a"];
    for args in [
        &["job", "job-1", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--tc=1", "--qd=2"]
            [..],
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

/// Other programs, such as the server, have no options that the text could name.
#[test]
fn what_is_wrong_with_a_target_is_a_fact_of_the_document() {
    let (bench, schema) = (Bench::new(), schema());
    let path = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let (new, empty) = (path("new"), path("empty"));
    std::fs::write(&empty, "").expect("an empty file");
    for (words, expected) in [
        (&["--size=2", new.as_str()][..], TargetProblem::SizeTooSmall { bytes: 2, least_bytes: 16 << 20 }),
        (&[new.as_str()], TargetProblem::NoFile),
        (&[empty.as_str()], TargetProblem::EmptyFile),
        (&["/dev/no-such-device"], TargetProblem::NoDevice),
    ] {
        let output = bench.run(&[&["--json", "plan", "iops"], words].concat());
        let document: Value = serde_json::from_str(&support::texts(&output).0).expect("one document");
        assert_eq!(problems(&schema, "error", &document), [""; 0]);
        assert_eq!(TargetProblem::of(&document), Some(expected), "{document}");
    }
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

/// Returns the first document that a process prints, and ends it.
fn first_document(bench: &Bench, args: &[&str]) -> Value {
    let mut process = bench.start(args);
    let mut documents =
        serde_json::Deserializer::from_reader(process.stdout.take().expect("a pipe")).into_iter::<Value>();
    let document = documents.next().expect("a document").expect("JSON");
    support::send_signal(process.id(), "TERM");
    process.wait().expect("ended");
    document
}

/// Returns the document of a command that must fail.
fn failing(bench: &Bench, args: &[&str]) -> Value {
    let output = bench.run(&[args, &["--json"]].concat());
    let (text, errors) = support::texts(&output);
    assert!(!output.status.success(), "{args:?}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}{errors}"))
}

#[test]
fn what_a_server_and_its_senders_print_matches_the_schema() {
    let (host, lab, schema) = (Bench::new(), Bench::new(), schema());
    host.ok(&[&["run"], &SHORT[..]].concat());
    let serve = first_document(&lab, &["serve", "--listen=127.0.0.1:0", "--json"]);
    assert_eq!(problems(&schema, "serve", &serve), [""; 0]);
    if !std::path::Path::new("/usr/bin/curl").exists() {
        return skips::without("curl");
    }
    let sender = check(&lab, &schema, &["sender", "add", "rack7"]);
    let token = host.path("token");
    std::fs::write(&token, sender["token"].as_str().expect("a token")).expect("written");
    std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("our own");
    let token = token.to_str().expect("text");
    let server = Server::start(&lab);
    let (url, nowhere) = (format!("http://{}", server.address), "http://127.0.0.1:1");
    for (command, options) in
        [("push", &["first", &url][..]), ("push", &["--all", &url]), ("forward", &["--once", "--to", &url])]
    {
        check(&host, &schema, &[&[command], options, &["--token-file", token]].concat());
    }
    for metrics in [&[][..], &["--listen", "127.0.0.1:0"]] {
        let options = ["forward", "--json", "--to", &url, "--token-file", token];
        assert_matches("forward", &first_document(&host, &[&options[..], metrics].concat()));
    }
    let copies = host.path("copies");
    let copies = copies.to_str().expect("text");
    host.ok(&["copy", "first", copies]);
    // Half a journal is not what the server has, and a damaged copy cannot be continued.
    let journal = host.runs()[0].join("journal");
    let whole = std::fs::read(&journal).expect("a journal");
    std::fs::write(&journal, &whole[..whole.len() / 2]).expect("written");
    let id = host.runs()[0].file_name().and_then(|name| name.to_str()).expect("an id").to_owned();
    let mut damaged = whole;
    damaged[100] ^= 1;
    std::fs::write(host.path("copies").join(&id).join("journal"), damaged).expect("written");
    for (command, options) in [
        ("push", &["--all", nowhere, "--token-file", token][..]),
        ("forward", &["--once", "--to", &url, "--token-file", token]),
        ("copy", &["--all", copies]),
    ] {
        assert_failure_matches(command, failing(&host, &[&[command], options].concat()));
    }
}

#[test]
fn what_is_printed_about_users_matches_the_schema() {
    let (bench, schema) = (Bench::new(), schema());
    for role in ["viewer", "operator"] {
        let mut command = bench.command(&["user", "add", role, "--role", role, "--json"]);
        let mut adding = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let mut input = adding.stdin.take().expect("a pipe");
        input.write_all(b"a long secret 4711\n").expect("written");
        drop(input);
        let output = adding.wait_with_output().expect("ended");
        let document = serde_json::from_slice(&output.stdout);
        assert_matches("user", &document.unwrap_or_else(|error| panic!("{error}: {output:?}")));
    }
    let listed = check(&bench, &schema, &["user", "list"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
}

/// Slurm itself is in the tests of campaigns; these commands do without it.
#[test]
fn what_is_printed_about_a_campaign_matches_the_schema() {
    let (bench, schema) = (Bench::new(), schema());
    let text = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let write = |name: &str, content: &str| {
        std::fs::write(bench.path(name), content).expect("written");
        text(name)
    };
    let drive = |identity: &str, refusals: Value| {
        json!({
            "path": "sim:sas-slc-2011", "kind": "simulated", "identity": identity, "model": "sas-slc-2011",
            "capacity_bytes": 1_000_000_000, "refusals": refusals, "enclosure": { "id": "0x5003" },
            "slot": "Slot 01"
        })
    };
    let list = json!([drive("D1", json!([])), drive("D2", json!([])), drive("D3", json!(["it is mounted"]))]);
    let from = format!("n1={}", write("n1.json", &list.to_string()));
    let (dir, scripts) = (text("inventory"), text("scripts"));
    std::fs::create_dir(&dir).expect("a folder");
    check(&bench, &schema, &["fleet", "inventory", "--from", &from, "--dir", &dir]);
    let campaign = write(
        "c.toml",
        "name = \"c\"\nunchecked = true\n[[drives]]\nidentities = [\"D1\", \"D2\"]\n[[plans]]\nname = \"iops\"\n\
         tests = \"iops\"\noptions = [\"--scale\", \"1/1024\"]\n",
    );
    let inventory = format!("{dir}/inventory.json");
    let submit = ["fleet", "submit", &campaign, "--inventory", &inventory];
    check(&bench, &schema, &[&submit[..], &["--dry-run"]].concat());
    let written = check(&bench, &schema, &[&submit[..], &["--scripts", &scripts]].concat());
    assert_eq!(written["submitted"].as_array().map(Vec::len), Some(2), "{written}");
    let status = check(&bench, &schema, &["fleet", "status", &campaign, "--inventory", &inventory]);
    assert_eq!(status.as_array().map(Vec::len), Some(2), "{status}");
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
