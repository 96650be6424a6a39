//! The report as a browser sees it. Skipped where there is no Chromium.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Bench;

const BROWSER: &str = "chromium";
/// Uses a report as a reader would.
const PROBE: &str = include_str!("browser/probe.js");
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
fn open(bench: &Bench, page: &Path, more: &[&str]) -> (String, String) {
    let output = Command::new("timeout")
        .args(["60", BROWSER])
        .args(QUIET)
        .args(more)
        .arg(format!("--user-data-dir={}", bench.path("profile").display()))
        .args(["--dump-dom", &format!("file://{}", page.display())])
        .output()
        .expect("a browser");
    let (dom, errors) = support::texts(&output);
    assert!(output.status.success(), "{errors}");
    let complaints = errors.lines().filter(|line| line.contains("CONSOLE"));
    (dom, complaints.collect::<Vec<_>>().join("\n"))
}

fn is_missing() -> bool {
    let version = Command::new(BROWSER).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let missing = !version.is_ok_and(|status| status.success());
    if missing {
        eprintln!("skipped: there is no {BROWSER}");
    }
    missing
}

/// What the probe found on a page, with its scripts and without.
fn probed(bench: &Bench, report: &Path) -> (Value, String) {
    let source = format!("src=\"file://{}\"", report.display());
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>probe</title><pre id=\"result\"></pre>\n\
         <iframe id=\"on\" width=\"1300\" height=\"900\" {source}></iframe>\n\
         <iframe id=\"off\" sandbox=\"allow-same-origin\" {source}></iframe>\n<script>{PROBE}</script>\n"
    );
    let path = bench.path("probe.html");
    std::fs::write(&path, page).unwrap();
    let (dom, complaints) = open(bench, &path, &["--allow-file-access-from-files"]);
    let result = dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    // What was asked for: the second frame has no scripts.
    let complaints =
        complaints.lines().filter(|line| !line.contains("'allow-scripts' permission is not set"));
    (serde_json::from_str(result.unwrap_or_default()).unwrap(), complaints.collect::<Vec<_>>().join("\n"))
}

#[test]
fn shows_every_page_without_a_complaint_or_a_request() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let document =
        bench.json(&["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"]);
    let report = Path::new(document["report"].as_str().unwrap());
    let (dom, complaints) = open(&bench, report, &[]);
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
    assert!(open(&bench, &canary, &[]).1.contains("canary.png"), "a request is noticed");
}

#[test]
fn pointer_keys_and_buttons_do_what_is_promised_and_without_scripts_no_word_is_missing() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let arguments =
        ["run", "iops", "sim:nvme-tlc-enterprise-2024", "--scale", "1/1024", "--profile", "pts-c-1.0"];
    let document = bench.json(&arguments);
    let report = Path::new(document["report"].as_str().unwrap());
    let (found, complaints) = probed(&bench, report);
    assert_eq!(complaints, "");
    assert!(found["words"].as_u64().is_some_and(|words| words > 1000), "{found}");
    let checks: Vec<_> = found.as_object().unwrap().iter().filter(|(name, _)| *name != "words").collect();
    assert_eq!(checks.len(), 18, "{found}");
    for (name, came) in checks {
        assert_eq!(came, &Value::Bool(true), "{name}: {found}");
    }

    // A page whose script does nothing is not taken for a good one.
    let dumb = bench.path("dumb.html");
    let text = support::text(report);
    let (before, rest) = text.split_once("<script>").unwrap();
    std::fs::write(&dumb, format!("{before}{}", rest.split_once("</script>").unwrap().1)).unwrap();
    let (found, _) = probed(&bench, &dumb);
    assert!(found["error"].is_string(), "{found}");
}
