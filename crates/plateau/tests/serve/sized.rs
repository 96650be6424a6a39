//! No page except a report is larger than 150 kB, whatever the plan; everything that does not fit is behind links.

use std::collections::BTreeSet;

use crate::lab_server::{Server, in_progress};
use crate::support::Bench;

const MOST_BYTES: usize = 150_000;
/// Twenty-one loads, each with a map of IOPS and a map of response times over nine demands.
const PLAN: &str = r#"
tests = ["iops", "maps"]
profile = "pts-e-1.0"
[test.maps]
title = "Maps"
purpose = "show many maps"
purge = true
rw = ["randread", "randwrite", "read"]
bs = ["4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB"]
tc = [1, 2, 4]
qd = [1, 2, 4]
"#;
const MAPS: usize = 42;

/// Returns the address in the first link with this text, without escapes.
fn link(page: &str, text: &str) -> Option<String> {
    let before = &page[..page.find(&format!(">{text}"))?];
    let address = before.rsplit_once("href=\"")?.1.split('"').next()?;
    Some(address.replace("&amp;", "&"))
}

#[test]
fn pages_are_small_and_lead_to_everything() {
    let bench = Bench::new();
    let plan = bench.path("plan.toml");
    std::fs::write(&plan, PLAN).expect("written");
    let plan = plan.to_str().expect("text");
    let run = bench.json(&["run", "--plan", plan, "sim:sas-slc-2011", "--scale=1/1024", "--cell-seconds=1"]);
    let run = run["run"].as_str().expect("an id").to_owned();
    let held = in_progress(&bench, &run);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let get = |path: &str| {
        let response = server.get(path, &cookie);
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        assert!(response.body.len() <= MOST_BYTES, "{path} has {} bytes", response.body.len());
        response.body
    };
    let page = get(&format!("/runs/{run}"));
    get(&format!("/runs/{run}/live"));
    let iops = format!("/runs/{run}/exhibits?test=iops");
    assert!(page.contains(&format!("{iops}&amp;from=0")), "a link to the other test");
    assert!(get(&iops).contains("class=\"narrow\""), "{iops}");
    // Each chart has a picture for wide and one for narrow windows.
    let (mut found, mut seen, mut shown) = (0, BTreeSet::new(), page);
    loop {
        found += shown.matches("class=\"narrow\"").count();
        let Some(next) = link(&shown, "Further exhibits") else { break };
        assert!(seen.insert(next.clone()), "{next} leads to itself");
        shown = get(&next);
    }
    assert!(found >= MAPS, "{found} pictures");
    assert!(seen.len() > 1, "{seen:?}");
    let whole = server.get(&format!("/runs/{run}/page"), &cookie).body;
    assert_eq!(whole.matches("class=\"narrow\"").count(), found + 1, "with the latest hour");
    for path in ["/", "/drives", "/fleet", "/start", "/account", "/api"] {
        get(path);
    }
    assert_eq!(server.get(&format!("/runs/{run}/exhibits?test=lat"), &cookie).status, 404);
    drop(held);
}
