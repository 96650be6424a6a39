//! The report as a browser sees it. Skipped where there is no Chromium.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use support::Bench;

const BROWSER: &str = "chromium";
/// Nothing but the page itself: the browser's own errands would look like requests of the page.
const QUIET: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
];

/// What the browser makes of a page: its document, and what it complained about.
fn open(bench: &Bench, page: &Path) -> (String, String) {
    let output = Command::new("timeout")
        .args(["60", BROWSER])
        .args(QUIET)
        .arg(format!("--user-data-dir={}", bench.path("profile").display()))
        .args(["--dump-dom", &format!("file://{}", page.display())])
        .output()
        .expect("a browser");
    let (dom, errors) = support::texts(&output);
    assert!(output.status.success(), "{errors}");
    let complaints = errors.lines().filter(|line| line.contains("CONSOLE"));
    (dom, complaints.collect::<Vec<_>>().join("\n"))
}

#[test]
fn shows_every_page_without_a_complaint_or_a_request() {
    if !Command::new(BROWSER)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        return eprintln!("skipped: there is no {BROWSER}");
    }
    let bench = Bench::new();
    let document =
        bench.json(&["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"]);
    let report = Path::new(document["report"].as_str().unwrap());
    let (dom, complaints) = open(&bench, report);
    for page in 1..=6 {
        assert!(dom.contains(&format!("Page {page} of 6")), "page {page} of the IOPS test");
    }
    assert!(dom.contains("Page 8 of 8") && dom.matches("<svg").count() >= 5);
    assert!(dom.contains("Light / dark</button>") && dom.contains("data-tip="), "the script ran");
    assert!(dom.contains("class=\"scale\""), "a curve can be shown on the other scale");
    assert!(dom.contains("Annex A: conformance statement") && dom.contains("Annex B: beyond the standard"));
    assert_eq!(complaints, "", "the page forbids itself every request: one would be complained about");

    let canary = bench.path("canary.html");
    let request = "<img src=\"http://127.0.0.1:9/canary.png\" alt=\"\"></body>";
    std::fs::write(&canary, support::text(report).replacen("</body>", request, 1)).unwrap();
    assert!(open(&bench, &canary).1.contains("canary.png"), "a request is noticed");
}
