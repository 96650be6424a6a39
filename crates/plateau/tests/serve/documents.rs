//! The pages' content as JSON: comparisons, devices, changes and statistics.

use serde_json::{Value, json};

use crate::lab_server::Server;
use crate::support::Bench;

fn run(bench: &Bench, seed: &str) -> String {
    let arguments = [
        "run",
        "iops",
        "sim:sas-slc-2011",
        "--scale=1/64",
        "--profile=pts-e-1.0",
        "--tag=first",
        "--seed",
        seed,
    ];
    bench.json(&arguments)["run"].as_str().expect("an id").to_owned()
}

#[test]
fn comparisons_and_statistics_are_those_of_the_command_line() {
    let bench = Bench::new();
    let (first, second) = (run(&bench, "1"), run(&bench, "1"));
    let server = Server::start(&bench);
    let cookie = server.enter();
    let get = |path: &str| -> Value {
        let response = server.get(path, &cookie);
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        serde_json::from_str(&response.body).expect("JSON")
    };
    let compared = get(&format!("/api/compare?run={first}&run={second}"));
    let printed = bench.json(&["compare", &first, &second]);
    for key in ["runs", "figures"] {
        assert!(compared[key].as_array().is_some_and(|all| !all.is_empty()), "{key}: {compared}");
        assert_eq!(compared[key], printed[key], "{key}");
    }
    assert_eq!(server.get(&format!("/api/compare?run={first}"), &cookie).status, 422, "a run alone");

    let drives = get("/api/drives");
    let figure = &drives[0]["figures"][0];
    let values: Vec<f64> = figure["values"]
        .as_array()
        .expect("values")
        .iter()
        .filter_map(|value| value["value"].as_f64())
        .collect();
    assert_eq!(values.len(), 2, "{figure}");
    assert_eq!(figure["mean"], json!((values[0] + values[1]) / 2.0));
    assert_eq!(figure["drift"], Value::Null, "two runs have no drift");
    let page = server.get("/drive?id=sim%3Asas-slc-2011+seed+1", &cookie).body;
    assert!(page.contains("over 2 runs of 1 drive") && page.contains("drift unknown"), "{page}");
}

#[test]
fn changes_are_listed_in_order_and_devices_with_their_refusals() {
    let bench = Bench::new();
    let run = run(&bench, "1");
    let server = Server::start(&bench);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    let changes =
        || -> Value { serde_json::from_str(&server.get("/api/changes", &cookie).body).expect("JSON") };
    assert_eq!(changes(), json!([]), "an initial tag is no change");
    let post = |what: &str, form: &[(&str, &str)]| {
        let form = [&[("csrf", csrf.as_str())], form].concat();
        assert_eq!(server.post(&format!("/runs/{run}/{what}"), &cookie, &form).status, 303, "{what}");
    };
    post("tag", &[("tag", "good")]);
    post("tag", &[("tag", "bad")]);
    post("note", &[("note", "<b>")]);
    post("untag", &[("tag", "bad")]);
    post("archive", &[]);
    let all = changes();
    let all = all.as_array().expect("a list");
    let found: Vec<Value> =
        all.iter().map(|change| json!([change["run"], change["kind"], change["text"]])).collect();
    let expected = [("tag", json!("good")), ("tag", json!("bad")), ("note", json!("<b>"))];
    let expected = expected.into_iter().chain([("untag", json!("bad")), ("archive", Value::Null)]);
    assert_eq!(found, expected.map(|(kind, text)| json!([run, kind, text])).collect::<Vec<_>>());
    assert!(all.iter().all(|change| change["who"].as_str().is_some_and(|who| !who.is_empty())), "{all:?}");
    let times: Vec<&str> = all.iter().filter_map(|change| change["wall"].as_str()).collect();
    assert!(times.len() == 5 && times.is_sorted(), "{times:?}");

    let devices = server.get("/api/devices", &cookie).body;
    let devices: Value = serde_json::from_str(&devices).expect("JSON");
    let page = server.get("/drives", &cookie).body;
    for device in devices.as_array().expect("a list") {
        let path = device["path"].as_str().expect("a path");
        assert!(path.starts_with("/dev/") && device["refusals"].is_array(), "{device}");
        assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
    }
}
