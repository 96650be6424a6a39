//! `plateau serve` in a browser. Skipped if Chromium is not installed.

mod chromium;
mod followed;
mod operated;

use serde_json::json;

use crate::lab_server::Server;
use crate::support::Bench;
use crate::{Operator, simulated};
use chromium::{Browser, axe, is_missing};

#[test]
fn every_page_is_accessible_on_every_screen() {
    let Some(axe) = axe().filter(|_| !is_missing()) else { return };
    let bench = Bench::new();
    let run =
        ["run", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--profile=pts-e-1.0", "--tag=t", "--note=n"];
    let first = bench.json(&run)["run"].as_str().expect("an id").to_owned();
    bench.json(&["run", "iops", "sim:sata-mlc-2011", "--scale=1/1024", "--profile=pts-e-1.0"]);
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let plan = operator.plan(&simulated("1/1024"));
    let mut browser = Browser::open(&bench);
    browser.admit(&server, &operator.cookie);
    let base = format!("http://{}", server.address);
    let drive = "/drive?id=sim%3Asas-slc-2011+seed+1";
    let pages =
        ["/", "/drives", drive, "/start", "/account", "/api", "/login", &plan, &format!("/runs/{first}")];
    for (scheme, width) in [("light", 1400), ("dark", 1400), ("light", 800), ("light", 390), ("dark", 390)] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", &features);
        browser.resize(width);
        for page in pages {
            browser.go(&format!("{base}{page}"));
            let heading = browser.evaluate("document.querySelector('h1')?.textContent ?? ''");
            assert!(heading.as_str().is_some_and(|text| !text.starts_with("No such")), "{page}: {heading}");
            browser.check(&axe, &format!("{page}, {width} px, {scheme}"));
        }
    }
}

#[test]
fn a_run_is_started_with_the_keyboard_watched_tagged_and_found() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    let base = format!("http://{}", server.address);
    browser.go(&format!("{base}/start?target=sim:sas-slc-2011&scale=1/1024&profile=pts-e-1.0&tests=iops"));
    browser.enter("button.primary", "");
    browser.wait("/^\\/start\\/./.test(location.pathname) && document.readyState === 'complete'");
    browser.enter("input[name=identity]", "sim:sas-slc-2011");
    browser
        .wait("location.pathname.startsWith('/runs/') && document.querySelector('.badge.steady') !== null");
    browser.enter("input[name=tag]", "by-keyboard");
    browser.wait("document.querySelector('.tag')?.textContent === 'by-keyboard'");
    browser.go(&format!("{base}/?q=by-keyboard&state=steady"));
    assert_eq!(browser.evaluate("document.querySelectorAll('table.runs tbody tr').length"), 1);
    assert_eq!(bench.runs().len(), 1);
    assert_eq!(browser.complaints, Vec::<String>::new(), "no request is refused, and the policy is kept");
}
