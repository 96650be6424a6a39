//! The report in a browser. Skipped if Chromium is not installed.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Bench;

const BROWSER: &str = "chromium";
/// Script that uses a report as a reader would.
const PROBE: &str = include_str!("browser/probe.js");
/// Script that finds content that is invisible or unreadable.
const LAYOUT: &str = include_str!("browser/layout.js");
/// Script that finds invisible or unreadable content in comparisons, and also checks their colours.
const COMPARED: &str = include_str!("browser/compared.js");
/// Script that runs axe-core, an accessibility checker.
const AXE: &str = include_str!("browser/axe.js");
/// Options that disable the browser's own network traffic, which would look like requests by the page.
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

/// Time limit for the browser: on a busy machine, checking the accessibility of a long page takes more than a
/// minute.
const LONGEST_SECONDS: &str = "300";

/// Returns a page's document as rendered by the browser, and the browser's error messages.
fn open(bench: &Bench, page: &Path, more: &[&str]) -> (String, String) {
    let output = Command::new("timeout")
        .args([LONGEST_SECONDS, BROWSER])
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
        skips::without(BROWSER);
    }
    missing
}

/// Runs the probe on a page, with or without the page's scripts. Returns the result.
fn probed(bench: &Bench, report: &Path) -> (Value, String) {
    let source = format!("src=\"file://{}\"", report.display());
    let frames = format!(
        "<iframe id=\"on\" width=\"1300\" height=\"900\" {source}></iframe>\n\
         <iframe id=\"off\" sandbox=\"allow-same-origin\" {source}></iframe>"
    );
    framed(bench, &frames, PROBE, &[])
}

/// Runs a script on frames and returns its result.
fn framed(bench: &Bench, frames: &str, script: &str, more: &[&str]) -> (Value, String) {
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>probe</title><pre id=\"result\"></pre>\n{frames}\n<script>{script}</script>\n"
    );
    let path = bench.path("probe.html");
    std::fs::write(&path, page).unwrap();
    let (dom, complaints) = open(bench, &path, &[&["--allow-file-access-from-files"], more].concat());
    let result = dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    // The browser reports that the second frame may not run scripts; that is intended.
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
    assert_eq!(complaints, "", "the page forbids all requests, so the browser would report one");

    let canary = bench.path("canary.html");
    let request = "<img src=\"http://127.0.0.1:9/canary.png\" alt=\"\"></body>";
    std::fs::write(&canary, support::text(report).replacen("</body>", request, 1)).unwrap();
    assert!(open(&bench, &canary, &[]).1.contains("canary.png"), "a request is noticed");
}

#[test]
fn pages_work_with_and_without_scripts() {
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
    assert_eq!(checks.len(), 21, "{found}");
    for (name, came) in checks {
        assert_eq!(came, &Value::Bool(true), "{name}: {found}");
    }

    // The probe must reject a page whose script does nothing.
    let dumb = bench.path("dumb.html");
    let text = support::text(report);
    let (before, rest) = text.split_once("<script>").unwrap();
    std::fs::write(&dumb, format!("{before}{}", rest.split_once("</script>").unwrap().1)).unwrap();
    let (found, _) = probed(&bench, &dumb);
    assert!(found["error"].is_string(), "{found}");
}

#[test]
fn nothing_is_hidden_squashed_or_overlapping_at_any_width() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    // This run has as many strips above each page as possible without an interruption.
    let fault = "throttle:after=30min,for=60min,rate=20MB";
    for profile in ["pts-e-1.0", "pts-e-2.0"] {
        let tests = ["run", "iops,lat,wsat", "sim:sas-slc-2011", "--scale", "1/64", "--max-rounds", "5"];
        let document = bench.json(&[&tests[..], &["--profile", profile, "--sim-fault", fault]].concat());
        let source = format!("file://{}", document["report"].as_str().unwrap());
        let frame =
            |width: u32| format!("<iframe width=\"{width}\" height=\"900\" src=\"{source}\"></iframe>");
        let frames = [1500, 1400, 800, 390].map(frame).concat();
        let (found, complaints) = framed(&bench, &frames, LAYOUT, &[]);
        assert_eq!(complaints, "");
        assert_eq!(found.as_object().map(serde_json::Map::len), Some(4), "{found}");
        for (width, result) in found.as_object().unwrap() {
            assert!(
                result["charts"].as_u64().is_some_and(|charts| charts > 12),
                "{profile} at {width}: {result}"
            );
            assert_eq!(result["faults"], serde_json::json!([]), "{profile} at {width}: {found}");
        }
    }
}

#[test]
fn comparisons_are_legible_at_any_width_in_light_and_dark() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    bench.ok(&["examples", "--install"]);
    let page = bench.path("compared.html");
    bench.ok(&["compare", "example-slc-a", "example-slc-b", "--html", page.to_str().unwrap()]);
    let source = format!("file://{}", page.display());
    let frame = |width: u32| format!("<iframe width=\"{width}\" height=\"900\" src=\"{source}\"></iframe>");
    let frames = [1280, 700, 400].map(frame).concat();
    for (scheme, turned, around) in
        [("1", "none", "rgb(233, 237, 241)"), ("0", "invert(0.92) hue-rotate(180deg)", "rgb(16, 21, 27)")]
    {
        let prefers = format!("--blink-settings=preferredColorScheme={scheme}");
        let (found, complaints) = framed(&bench, &frames, COMPARED, &[&prefers]);
        assert_eq!(complaints, "");
        assert_eq!(found.as_object().map(serde_json::Map::len), Some(3), "{found}");
        for (width, result) in found.as_object().unwrap() {
            let many = |what: &str, least: u64| result[what].as_u64().is_some_and(|count| count >= least);
            assert!(many("charts", 4) && many("differences", 8), "{width}: {result}");
            assert_eq!(result["faults"], serde_json::json!([]), "{width}: {found}");
            assert_eq!((result["turned"].as_str(), result["around"].as_str()), (Some(turned), Some(around)));
        }
    }
}

/// Returns the path of axe-core, if it is installed as a global npm package.
fn axe() -> Option<String> {
    let root = Command::new("npm").args(["root", "--global"]).output().ok();
    let root = root.filter(|output| output.status.success()).map(|output| support::texts(&output).0);
    let path = root.map(|root| Path::new(root.trim()).join("axe-core/axe.min.js"));
    let source = path.and_then(|path| std::fs::read_to_string(path).ok());
    if source.is_none() {
        skips::without("axe-core");
    }
    source
}

#[test]
fn a_checker_of_accessibility_finds_nothing_serious() {
    let Some(axe) = axe().filter(|_| !is_missing()) else { return };
    let bench = Bench::new();
    let tests = ["run", "iops,lat,wsat", "sim:sas-slc-2011", "--scale", "1/64", "--max-rounds", "5"];
    let document = bench.json(&[&tests[..], &["--profile", "pts-e-2.0"]].concat());
    let text = support::text(Path::new(document["report"].as_str().unwrap()));
    // The page's content security policy blocks all scripts except its own.
    let (before, rest) = text.split_once("<meta http-equiv").unwrap();
    let rest = rest.split_once('>').unwrap().1;
    let page = bench.path("checked.html");
    std::fs::write(
        &page,
        format!("{before}{rest}").replacen("</body>", &format!("<script>{axe}</script></body>"), 1),
    )
    .unwrap();
    let source = format!("file://{}", page.display());
    let frame = |width: u32| format!("<iframe width=\"{width}\" height=\"900\" src=\"{source}\"></iframe>");
    // Check one width at a time, because the browser has a time limit.
    for width in [1500, 800, 390] {
        let (found, _) = framed(&bench, &frame(width), AXE, &["--virtual-time-budget=120000"]);
        let at_width = &found[width.to_string()];
        assert!(at_width["passes"].as_u64().is_some_and(|passes| passes > 15), "{width}: {found}");
        assert_eq!(at_width["violations"], serde_json::json!([]), "{width}");
    }
}

#[test]
fn every_page_that_a_browser_prints_has_the_marks() {
    if is_missing() {
        return;
    }
    let bench = Bench::new();
    let tests = ["run", "iops,wsat", "sim:sas-slc-2011", "--scale", "1/64", "--max-rounds", "5"];
    let document = bench.json(&[&tests[..], &["--profile", "pts-e-2.0"]].concat());
    let printed = bench.path("printed.pdf");
    let output = Command::new("timeout")
        .args([LONGEST_SECONDS, BROWSER])
        .args(QUIET)
        .arg(format!("--user-data-dir={}", bench.path("profile").display()))
        .args(["--no-pdf-header-footer", &format!("--print-to-pdf={}", printed.display())])
        .arg(format!("file://{}", document["report"].as_str().unwrap()))
        .output()
        .expect("a browser");
    assert!(output.status.success(), "{}", support::texts(&output).1);
    let Ok(output) = Command::new("pdftotext").arg(&printed).arg("-").output() else {
        return skips::without("pdftotext");
    };
    let text = support::texts(&output).0;
    let pages: Vec<&str> = text.split_terminator('\u{c}').collect();
    // Each annex takes several pages.
    assert!(pages.len() > 20, "{} pages", pages.len());
    for (number, page) in (1..).zip(&pages) {
        assert!(page.contains("SIMULATED") && page.contains("not a real device"), "page {number}:\n{page}");
    }
}
