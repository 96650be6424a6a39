//! The script of the pages: it changes a page in place, so that it disturbs neither the keyboard nor a selection, and
//! it returns to a server that failed.

use std::fs::File;
use std::io::Write as _;

use super::chromium::{Browser, is_missing};
use crate::Operator;
use crate::lab_server::{Server, demo};
use crate::support::{Bench, text};

/// A run whose records are appended while it is watched.
struct Growing {
    run: String,
    /// The locked journal: the run is in progress.
    journal: File,
    /// The records that have not yet been appended, in order.
    rest: Vec<String>,
    /// Number of the last record in the journal.
    last: usize,
}

impl Growing {
    /// Returns a run of which the last `rest` records are missing.
    fn of(bench: &Bench, rest: usize) -> Self {
        let run = demo(bench);
        let path = bench.library().join(&run).join("journal");
        let text = text(&path);
        let mut lines: Vec<String> = text.split_inclusive('\n').map(ToOwned::to_owned).collect();
        let rest = lines.split_off(lines.len() - rest);
        std::fs::write(&path, lines.concat()).expect("writable");
        let journal = File::options().append(true).open(&path).expect("a journal");
        journal.lock().expect("a lock");
        // The first line is the header, and the first record has the number 0.
        Self { run, journal, rest, last: lines.len() - 2 }
    }

    /// Appends the next records.
    fn append(&mut self, count: usize) {
        let next: Vec<String> = self.rest.drain(..count).collect();
        self.journal.write_all(next.concat().as_bytes()).expect("writable");
        self.last += count;
    }

    /// A script that returns whether the page shows the last record.
    fn is_shown(&self) -> String {
        format!("document.getElementById('live').innerText.includes('journal record {},')", self.last)
    }
}

#[test]
fn the_page_of_a_run_changes_without_taking_focus_and_selection() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let mut growing = Growing::of(&bench, 30);
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    browser.resize(390);
    browser.go(&format!("http://{}/runs/{}", server.address, growing.run));
    browser.wait(&growing.is_shown());
    browser.tab_to("document.activeElement.getAttribute('aria-label')?.startsWith('Cells of the')");
    browser.evaluate("document.activeElement.scrollLeft = 40; window.focused = document.activeElement");
    growing.append(10);
    browser.wait(&growing.is_shown());
    assert_eq!(browser.evaluate("document.activeElement === focused && focused.isConnected"), true);
    assert_eq!(browser.evaluate("focused.scrollLeft"), 40);

    browser.evaluate("getSelection().selectAllChildren(document.querySelector('#live pre.command'))");
    let selected = browser.evaluate("getSelection().toString()");
    assert!(selected.as_str().is_some_and(|text| text.contains("plateau run iops")), "{selected}");
    growing.append(10);
    browser.wait(&growing.is_shown());
    assert_eq!(browser.evaluate("getSelection().toString()"), selected);

    growing.append(10);
    drop(growing);
    browser.wait("document.querySelector('.badge').textContent === 'steady'");
    browser.wait("document.body.dataset.follows === undefined");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Browsers open at most six connections to a server, and an event stream needs one as long as its page is visible.
#[test]
fn seven_tabs_follow_a_run() {
    const TABS: usize = 7;
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let mut growing = Growing::of(&bench, 20);
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    for tab in 0..TABS {
        if tab > 0 {
            browser.open_tab();
        }
        browser.go(&format!("http://{}/runs/{}", server.address, growing.run));
    }
    for tab in 0..TABS {
        browser.use_tab(tab);
        assert_eq!(browser.evaluate("document.hidden"), false, "tab {tab} is visible");
    }
    for _ in 0..2 {
        for tab in 0..TABS {
            browser.use_tab(tab);
            browser.wait(&growing.is_shown());
        }
        if growing.rest.len() > 10 {
            growing.append(10);
        }
    }
    growing.append(growing.rest.len());
    drop(growing);
    for tab in 0..TABS {
        browser.use_tab(tab);
        browser.wait("document.querySelector('.badge').textContent === 'steady'");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_stream_that_was_refused_is_opened_again() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let mut growing = Growing::of(&bench, 20);
    let server = Server::start(&bench);
    let mut browser = Browser::open(&bench);
    browser.go(&server.link);
    browser.refuse(Some("*/events*"));
    browser.go(&format!("http://{}/runs/{}", server.address, growing.run));
    browser.wait("document.body.classList.contains('stale')");
    // The part of the page can still be loaded, but the page does not claim to be up to date.
    growing.append(10);
    browser.wait(&growing.is_shown());
    assert_eq!(browser.evaluate("document.body.classList.contains('stale')"), true);
    browser.refuse(None);
    browser.wait("!document.body.classList.contains('stale')");
    growing.append(10);
    drop(growing);
    browser.wait("document.body.dataset.follows === undefined");
    assert_eq!(browser.evaluate("document.querySelector('.badge').textContent"), "steady");
}

#[test]
fn a_waiting_run_is_withdrawn_with_the_keyboard() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let target = bench.path("target.bin");
    let plan = "tests = [\"lat\"]\n[settings]\nsize = \"16MiB\"\ncell-seconds = 60\nmax-rounds = 5\n";
    let form = [("file", target.to_str().expect("text")), ("kind", "text"), ("plan", plan)];
    let (first, second) = (operator.plan(&form), operator.plan(&form));
    assert_eq!(operator.post(&first, &[("identity", "target.bin")]).status, 303);
    let run = operator.run(&first);
    assert_eq!(operator.post(&second, &[("identity", "target.bin")]).status, 303);
    let mut browser = Browser::open(&bench);
    browser.admit(&server, &operator.cookie);
    browser.go(&format!("http://{}{second}", server.address));
    browser.tab_to("document.activeElement.textContent === 'Withdraw'");
    browser.evaluate("window.focused = document.activeElement");
    // The script looks for changes several times.
    let looks = format!(
        "performance.getEntriesByType('resource').filter(({{ name }}) => name.endsWith('{second}')).length"
    );
    browser.wait(&format!("{looks} >= 3"));
    browser.wait(&format!("document.getElementById('state').innerText.includes('{run}')"));
    assert_eq!(browser.evaluate("document.activeElement === window.focused && focused.isConnected"), true);
    // The script notices that the run no longer waits before the browser has the answer to the form.
    browser.hold("*/withdraw");
    browser.enter_focused();
    let before = browser.requests.iter().filter(|url| url.ends_with(&second)).count();
    browser.wait_for_requests(&second, before + 2);
    browser.pass();
    browser.wait("location.pathname === '/start' && document.readyState === 'complete'");
    let entries = operator.json("/api/starts");
    let waiting =
        entries.as_array().expect("a list").iter().filter(|entry| entry["stage"] == "waiting").count();
    assert_eq!(waiting, 0, "{entries}");
    assert_eq!(operator.post(&format!("/runs/{run}/stop"), &[]).status, 303);
    assert_eq!(operator.ended(&run), "incomplete");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
