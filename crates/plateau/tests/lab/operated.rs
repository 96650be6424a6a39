//! Runs are operated and read in a browser: stopped, resumed, reported, compared and sorted.

use serde_json::{Value, json};

use super::chromium::{Browser, axe, is_missing};
use crate::lab_server::{Server, in_progress};
use crate::support::Bench;

const MODEL: &str = "sim:sas-slc-2011";

/// Makes a complete run; returns its id.
fn complete(bench: &Bench, seed: &str) -> String {
    let arguments = ["run", "iops", MODEL, "--scale=1/1024", "--profile=pts-e-1.0", "--seed", seed];
    bench.json(&arguments)["run"].as_str().expect("an id").to_owned()
}

#[test]
fn a_run_is_stopped_resumed_reported_and_compared() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let (first, second) = (complete(&bench, "1"), complete(&bench, "2"));
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    let base = format!("http://{}", server.address);
    // Four tests take long enough that the run is still in progress when it is stopped.
    let tests = "tests=iops&tests=tp&tests=lat&tests=wsat";
    browser.go(&format!("{base}/start?target={MODEL}&scale=1/4&profile=pts-e-1.0&{tests}"));
    browser.click("button.primary");
    browser.wait("/^\\/start\\/./.test(location.pathname) && document.readyState === 'complete'");
    browser.enter("input[name=identity]", MODEL);
    let is_running = "location.pathname.startsWith('/runs/') && document.querySelector('form[action$=\"/stop\"]') !== null";
    browser.wait(is_running);
    let run = browser.evaluate("location.pathname.slice('/runs/'.length)");
    let run = run.as_str().expect("an id").to_owned();

    // The page itself shows that the run has ended.
    browser.enter("form[action$='/stop'] button", "");
    browser.wait("document.querySelector('form[action$=\"/resume\"]') !== null");
    assert_eq!(browser.evaluate("document.querySelector('.badge').textContent"), "incomplete");
    browser.enter("form[action$='/resume'] button", "");
    browser.wait(is_running);
    assert_eq!(browser.evaluate("location.pathname"), format!("/runs/{run}"));
    browser.enter("form[action$='/stop'] button", "");
    browser.wait("document.querySelector('form[action$=\"/resume\"]') !== null");

    browser.click(&format!("a[href='/runs/{run}/report']"));
    browser.wait("location.pathname.endsWith('/report') && document.readyState === 'complete'");
    let report = browser.evaluate("document.body.innerText");
    let report = report.as_str().expect("a text");
    assert!(report.contains("SIMULATED") && report.contains("NOT COMPLETE"), "{report}");

    browser.go(&format!("{base}/?sort=oldest"));
    for id in [&first, &second] {
        browser.click(&format!("input[name=run][value='{id}']"));
    }
    assert_eq!(browser.evaluate("document.querySelectorAll('input[name=run]:checked').length"), 2);
    browser.click("form[action='/compare'] button");
    browser.wait("location.pathname === '/compare' && document.readyState === 'complete'");
    assert_eq!(browser.evaluate("location.search"), format!("?run={first}&run={second}"));
    let compared = browser.evaluate("document.body.innerText");
    assert!(
        compared.as_str().is_some_and(|text| text.contains(&first) && text.contains(&second)),
        "{compared}"
    );
    assert_eq!(browser.evaluate("document.querySelector('header a[href=\"/drives\"]') !== null"), true);
    assert_eq!(bench.runs().len(), 3);

    let own = format!("{base}/");
    let foreign: Vec<&String> =
        browser.requests.iter().filter(|url| !url.starts_with(&own) && !url.starts_with("data:")).collect();
    assert!(browser.requests.len() > 20 && foreign.is_empty(), "{foreign:?} of {:?}", browser.requests);
    assert_eq!(browser.complaints, Vec::<String>::new(), "no request is refused, and the policy is kept");
    // A request to another origin would be noticed.
    browser.go(&own);
    browser.evaluate("fetch('http://127.0.0.1:9/canary').catch(() => { document.title = 'refused'; }); 0");
    browser.wait("document.title === 'refused'");
    assert!(browser.complaints.iter().any(|text| text.contains("canary")), "{:?}", browser.complaints);
}

#[test]
fn the_keyboard_reaches_every_control() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let (first, second) = (complete(&bench, "1"), complete(&bench, "2"));
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    let base = format!("http://{}", server.address);
    let compared = format!("/compare?run={first}&run={second}");
    let pages = [(1400, "/"), (390, "/"), (1400, "/start"), (390, "/drives"), (390, compared.as_str())];
    for (width, path) in pages {
        browser.resize(width);
        browser.go(&format!("{base}{path}"));
        assert_eq!(browser.unreached(), "[]", "{path}, {width} px");
    }
    // Only the fields of the chosen plan are shown.
    browser.go(&format!("{base}/start"));
    let is_shown = |of: &str| format!("document.querySelector('[name={of}]').checkVisibility()");
    browser.tab_to("document.activeElement.value === 'tests'");
    let shown = ["profile", "preset", "plan"].map(|of| browser.evaluate(&is_shown(of)));
    assert_eq!(shown, [true, false, false]);
    browser.press("ArrowDown", 40);
    browser.tab_to("document.activeElement.name === 'preset'");
    let shown = ["profile", "preset", "plan"].map(|of| browser.evaluate(&is_shown(of)));
    assert_eq!(shown, [false, true, false]);
    browser.go(&format!("{base}{compared}"));
    browser.tab_to("document.activeElement.name === 'baseline'");
    browser.press("ArrowDown", 40);
    assert_eq!(browser.evaluate("document.querySelector('h2 .base').textContent"), "B");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn the_page_of_a_run_in_progress_is_accessible() {
    let Some(axe) = axe().filter(|_| !is_missing()) else { return };
    let bench = Bench::new();
    let run = complete(&bench, "1");
    let _lock = in_progress(&bench, &run);
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    for width in [1400, 800, 390] {
        browser.resize(width);
        browser.go(&format!("http://{}/runs/{run}", server.address));
        assert_eq!(browser.evaluate("document.querySelector('.badge').textContent"), "running");
        browser.check(&axe, &format!("a run in progress, {width} px"));
    }
}

#[test]
fn comparisons_are_accessible() {
    let Some(axe) = axe().filter(|_| !is_missing()) else { return };
    let bench = Bench::new();
    let (first, second) = (complete(&bench, "1"), complete(&bench, "2"));
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    for (scheme, width) in [("light", 1400), ("dark", 1400), ("light", 800), ("light", 390), ("dark", 390)] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", &features);
        browser.resize(width);
        browser.go(&format!("http://{}/compare?run={first}&run={second}", server.address));
        let heading = browser.evaluate("document.querySelector('h1').textContent");
        assert!(heading.as_str().is_some_and(|text| !text.contains("cannot be compared")), "{heading}");
        browser.check(&axe, &format!("a comparison, {width} px, {scheme}"));
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn the_headings_of_the_list_sort_it_and_every_view_is_a_link() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let runs = ["1", "2", "3"].map(|seed| complete(&bench, seed));
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    // On narrower screens, the list has no headings.
    browser.resize(1400);
    browser.go(&server.link);
    let base = format!("http://{}", server.address);
    let listed =
        "JSON.stringify([...document.querySelectorAll('input[name=run]')].map((tick) => tick.value))";
    let ids = |browser: &mut Browser| -> Vec<String> {
        serde_json::from_str(browser.evaluate(listed).as_str().expect("a list")).expect("JSON")
    };
    browser.go(&format!("{base}/?state=steady"));
    let newest = ids(&mut browser);
    assert_eq!(newest, runs.iter().rev().cloned().collect::<Vec<_>>());
    // The heading of the sorted column leads to the other direction, and keeps the filter.
    browser.click("th[aria-sort=descending] a");
    browser.wait("location.search === '?state=steady&sort=oldest' && document.readyState === 'complete'");
    assert_eq!(ids(&mut browser), runs);
    assert_eq!(browser.evaluate("document.querySelectorAll('th[aria-sort=ascending]').length"), 1);
    let address = browser.evaluate("location.href");
    browser.go(&format!("{base}/drives"));
    browser.go(address.as_str().expect("an address"));
    assert_eq!(ids(&mut browser), runs, "the view is a link");
}

#[test]
fn pages_can_be_read_without_scripts() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let (first, second) = (complete(&bench, "1"), complete(&bench, "2"));
    let _lock = in_progress(&bench, &second);
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    browser.ask("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    let base = format!("http://{}", server.address);
    let read = |browser: &mut Browser, path: &str, words: &[&str]| {
        browser.go(&format!("{base}{path}"));
        let text = browser.evaluate("document.body.innerText");
        let text = text.as_str().expect("a text");
        for word in words {
            assert!(text.contains(word), "{path} lacks {word}: {text}");
        }
    };
    let of_run = ["Steady-state window", "The last hour", "Equivalent command line", "Tags and notes"];
    read(&mut browser, "/", &[&first, &second, "running", "steady", "Key figures"]);
    let of_report = ["steady", "Page 1 of", "Annex A", "Files", "Equivalent command line", "Tags and notes"];
    read(&mut browser, &format!("/runs/{first}"), &of_report);
    read(
        &mut browser,
        &format!("/runs/{second}"),
        &[&of_run[..], &["running", "running for", "Stop"]].concat(),
    );
    read(&mut browser, &format!("/runs/{first}/report"), &["Page 1 of", "Annex A", "SIMULATED"]);
    read(&mut browser, "/drives", &[MODEL]);
    read(&mut browser, "/start", &["Drive", "Plan", "Estimate"]);
    // Only the script requests the parts of a page that change.
    let dynamic =
        |url: &&String| url.contains("/live?") || url.ends_with("/second") || url.contains("/events");
    assert_eq!(browser.requests.iter().find(dynamic), None, "scripts are disabled");
    // Forms need no script either.
    browser.go(&base);
    browser.enter("input[name=q]", &first);
    browser.wait(&format!("location.search.includes('q={first}') && document.readyState === 'complete'"));
    assert_eq!(browser.evaluate("document.querySelectorAll('table.runs tbody tr').length"), Value::from(1));
    assert_eq!(browser.complaints, Vec::<String>::new());
}
