//! The list of runs is sorted like `plateau runs`, with the same keys.

use serde_json::Value;

use crate::lab_server::Server;
use crate::support::Bench;

#[test]
fn lists_are_sorted_like_those_of_the_command_line() {
    let bench = Bench::new();
    let of = |test: &str, model: &str, profile: &str| {
        let run = ["run", test, model, "--scale=1/1024", "--max-rounds=5", "--profile", profile];
        // Some of these do not reach steady state (exit code 4).
        bench.run(&run);
    };
    of("lat", "sim:sas-slc-2011", "pts-e-1.0");
    of("iops", "sim:sata-mlc-2011", "pts-e-2.0");
    of("iops", "sim:sas-slc-2011", "pts-c-1.0");
    of("tp", "sim:sata-mlc-2011", "pts-e-1.0");
    assert_eq!(bench.runs().len(), 4);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let runs = |list: &Value| -> Vec<String> {
        let all = list.as_array().expect("a list").iter();
        all.map(|run| run["run"].as_str().expect("an id").to_owned()).collect()
    };
    let usage = bench.fails(2, &["runs", "--sort", "?"]);
    let keys = usage.split_once("possible values: ").and_then(|(_, rest)| rest.split_once(']'));
    let keys: Vec<&str> = keys.expect("the keys").0.split(", ").collect();
    assert!(keys.contains(&"newest") && keys.len() > 4, "{keys:?}");
    let page = server.get("/", &cookie).body;
    let mut orders = std::collections::BTreeSet::new();
    for key in &keys {
        let listed = runs(&bench.json(&["runs", "--sort", key]));
        let response = server.get(&format!("/api/runs?sort={key}"), &cookie);
        assert_eq!(runs(&serde_json::from_str(&response.body).expect("JSON")), listed, "{key}");
        assert!(page.contains(&format!("<option value=\"{key}\"")), "{key} can be chosen");
        // The rows of the page have the same order.
        let shown = server.get(&format!("/?sort={key}"), &cookie).body;
        let places: Vec<Option<usize>> =
            listed.iter().map(|run| shown.find(&format!("name=\"run\" value=\"{run}\""))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{key}: {places:?}");
        orders.insert(listed);
    }
    assert!(orders.len() > 3, "the keys differ in their effect: {orders:?}");
}
