//! Labels that must accompany every number of a comparison: host-limited results, simulated drives, and power.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::process::Command;

use compare::{Authored, Candidate, Comparison};
use fixture::Scenario;
use pts::host_limit::LEGEND;
use record::PowerSubject;
use serde_json::Value;

const LABEL: &str = "SIMULATED sas-slc-2011 v3 1/64 seed 7";

fn busy(id: &'static str) -> Scenario {
    Scenario { id, profile: "pts-e-2.0", busy: true, ..Scenario::default() }
}

fn simulated() -> Scenario {
    Scenario { id: "simulated", simulated: true, ..Scenario::default() }
}

fn comparison(scenarios: &[Scenario]) -> Comparison {
    let candidate = |scenario: &Scenario| {
        let root = fixture::folder();
        let (run, loaded) = fixture::record(root.path(), scenario);
        Candidate::of(&run.file, &loaded).unwrap()
    };
    Comparison::of(scenarios.iter().map(candidate).collect()).unwrap()
}

fn page(comparison: &Comparison) -> String {
    compare::html(comparison, &Authored::default())
}

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / expected - 1.0).abs() < 2e-3)
}

#[test]
fn a_comparison_warns_of_host_limited_runs() {
    let comparison = comparison(&[Scenario { busy: false, ..busy("idle") }, busy("busy")]);
    let warning = comparison.warning_texts().find(|warning| warning.contains("host-limited")).unwrap();
    assert!(warning.contains("(1): none; ") && warning.ends_with("(2): IOPS RND 4KiB R"), "{warning}");
    let line = comparison.line("iops.rnd4k.r").unwrap();
    let marks: Vec<bool> = line.figures.iter().flatten().map(|figure| figure.host_limited).collect();
    assert!(line.selected && marks == [false, true], "{marks:?}");

    let printed = compare::text(&comparison, true);
    let line = printed.lines().find(|line| line.starts_with("IOPS RND 4KiB R ")).unwrap();
    assert_eq!(line.matches('*').count(), 1, "{line}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&printed).contains(&words(&format!("* {LEGEND}."))), "{printed}");
    assert_eq!(compare::json(&comparison)["figures"][1]["runs"][1]["host_limited"], true);
    let table = compare::csv(&comparison);
    assert_eq!(table.lines().filter(|line| line.ends_with(",true,,")).count(), 1, "{table}");

    let html = page(&comparison);
    let selected = html.split("<h2>").find(|part| part.starts_with("Selected performance")).unwrap();
    assert!(selected.contains('*') && selected.contains(LEGEND), "{selected}");
    for section in html.split("<section><h2>Comparing").skip(1) {
        assert_eq!(section.contains("*</td>"), section.contains(LEGEND), "{section}");
        let drawn = section.split("</section>").next().unwrap().contains("<svg");
        assert!(!drawn || section.contains("B: HOST-LIMITED: 7 of 392 cells"), "{section}");
    }
    if let Some(pages) = fixture::pages(&compare::pdf(&comparison, &Authored::default()).unwrap()) {
        let marked: Vec<&String> = pages.iter().filter(|page| page.contains(LEGEND)).collect();
        assert!(marked.len() >= 2, "{pages:?}");
    }
    // Busy hosts cause warnings; idle hosts do not.
    let both = self::comparison(&[busy("a"), busy("b")]);
    assert!(
        both.warnings.iter().any(|warning| warning.values == [(vec![0, 1], "IOPS RND 4KiB R".to_owned())]),
        "{:?}",
        both.warnings
    );
    let idle = self::comparison(&[Scenario::default(), Scenario { id: "b", ..Scenario::default() }]);
    assert!(!compare::text(&idle, true).contains('*') && !page(&idle).contains("host-limited"));
}

#[test]
fn every_page_of_a_comparison_labels_simulated_runs() {
    let comparison = comparison(&[Scenario::default(), simulated()]);
    let label = format!("B {LABEL}");
    let html = page(&comparison);
    let sections: Vec<&str> = html.split("<section><h2>Comparing").skip(1).collect();
    assert!(sections.len() > 2 && sections.iter().all(|section| section.contains(&label)), "{sections:?}");
    assert!(html.split("<h2>Selected").nth(1).unwrap().split("<h2>").next().unwrap().contains(&label));
    assert!(compare::csv(&comparison).lines().skip(1).any(|line| line.ends_with(LABEL)));
    assert_eq!(compare::json(&comparison)["runs"][1]["simulated"], LABEL);
    assert!(compare::json(&comparison)["runs"][0]["simulated"].is_null());
    let twins = self::comparison(&[simulated(), Scenario { id: "again", ..simulated() }]);
    assert!(page(&twins).contains(&format!(">A, B {LABEL}<")), "each label once");
    let Some(pages) = fixture::pages(&compare::pdf(&comparison, &Authored::default()).unwrap()) else {
        return;
    };
    assert!(pages.len() > 3 && pages.iter().all(|page| page.contains(&label)), "{pages:?}");
}

#[test]
fn comparisons_have_figures_per_watt() {
    // 1,000 IOPS in every cell.
    let scenario = |id, watts| {
        let power = Some((PowerSubject::Drive, watts));
        Scenario { id, power, settled_at: Some([[1000.0; 7]; 8]), ..Scenario::default() }
    };
    let comparison = comparison(&[scenario("a", 5.0), scenario("b", 4.0)]);
    let printed = compare::text(&comparison, true);
    assert!(printed.contains("RND 4KiB W per watt") && printed.contains("200.0 ± 2.4"), "{printed}");
    assert!(printed.contains("Idle power"), "{printed}");
    let line = comparison.line("iops.rnd4k.w.per-watt").expect("a line");
    let mean = |index: usize| line.figures[index].as_ref().and_then(|figure| figure.mean()).expect("a mean");
    assert!((mean(1) / mean(0) - 1.25).abs() < 1e-3);
    assert!(compare::csv(&comparison).lines().next().expect("a heading").contains(",uncertainty,"));
    let document = compare::json(&comparison);
    let figures = document["figures"].as_array().expect("figures");
    let idle = figures.iter().find(|figure| figure["key"] == "power.idle").expect("idle power");
    assert!(close(&idle["runs"][0]["uncertainty"], 0.04), "{idle}");
}

/// A browser prints the marks of all runs on every page.
#[test]
fn every_printed_page_has_the_marks() {
    let marked = comparison(&[simulated(), Scenario { id: "real", ..Scenario::default() }]);
    let page = page(&marked);
    assert_eq!(page.matches("<p class=\"caveats\">SIMULATED: A").count(), 1);
    let plain = comparison(&[Scenario::default(), Scenario { id: "real", ..Scenario::default() }]);
    assert!(!self::page(&plain).contains("<p class=\"caveats\">"), "no run has marks");

    let folder = tempfile::tempdir().expect("a folder");
    let (html, pdf) = (folder.path().join("it.html"), folder.path().join("it.pdf"));
    std::fs::write(&html, page).expect("written");
    let printed = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", html.display()))
        .output();
    if printed.is_err() || !pdf.exists() {
        return skips::without("chromium");
    }
    let Ok(texts) = Command::new("pdftotext").arg(&pdf).arg("-").output() else {
        return skips::without("pdftotext");
    };
    let texts = String::from_utf8_lossy(&texts.stdout).into_owned();
    let pages: Vec<&str> = texts.trim_end_matches('\u{c}').split('\u{c}').collect();
    assert!(pages.len() > 2, "{} pages", pages.len());
    for (index, text) in pages.iter().enumerate() {
        assert!(text.contains("SIMULATED: A"), "page {}: {text}", index + 1);
    }
}

/// Returns the number of values that are shown as invalid.
fn doubtful_cells(page: &str) -> usize {
    page.matches("<td class=\"n doubtful").count()
}

/// The second test of run B stops in its first round, after the seven rounds of the first test, whose figures are valid.
#[test]
fn a_figure_is_as_valid_as_its_own_test() {
    let both = Scenario { profile: "pts-e-2.0", tests: &["iops", "lat"], ..Scenario::default() };
    let cut = Scenario { id: "cut", cut_after_cells: Some(7 * 56 + 3), ..both.clone() };
    let unsteady = Scenario { id: "unsteady", restless: true, max_rounds: Some(5), ..both.clone() };
    let partly = comparison(&[both.clone(), cut]);
    assert!(compare::text(&partly, false).contains("NOT COMPLETE"), "{}", compare::text(&partly, false));
    let html = page(&partly);
    assert_eq!(doubtful_cells(&html), 0, "all compared figures belong to the complete test");
    let bars = html.split("<svg").find(|svg| svg.contains("IOPS RND 4KiB W (IOPS)")).expect("bars");
    assert!(!bars.contains("stroke-dasharray"), "{bars}");
    let partly = comparison(&[both, unsteady]);
    let of_iops = partly.lines.iter().filter(|line| line.key.starts_with("iops.")).count();
    assert!((1..partly.lines.len()).contains(&of_iops));
    assert_eq!(doubtful_cells(&page(&partly)), of_iops, "only the first test of run B is not steady");
}

/// Lines of runs without a valid result look different in charts of all runs, large or small.
#[test]
fn lines_of_runs_without_a_valid_result_are_dashed_in_charts_of_all_runs() {
    let valid = |id| Scenario { id, ..Scenario::default() };
    let unsteady = Scenario { id: "unsteady", restless: true, ..Scenario::default() };
    let ids = ["b", "c", "d", "e", "f", "g", "h", "i"];
    for count in [5, 9] {
        let others = ids[..count - 1].iter().map(|id| valid(id));
        let comparison = comparison(&std::iter::once(unsteady.clone()).chain(others).collect::<Vec<_>>());
        let html = page(&comparison);
        let section = html.split("<section><h2>Comparing").nth(1).expect("charts of all runs");
        let section = section.split("</section>").next().expect("a section");
        assert!(section.contains("Dashed lines: the test is not steady"), "{section}");
        let drawn: Vec<&str> =
            section.split("<polyline ").skip(1).filter_map(|line| line.split("/>").next()).collect();
        let dashed = drawn.iter().filter(|line| line.contains("stroke-dasharray")).count();
        assert!(dashed > 0 && dashed * count == drawn.len(), "{dashed} of {}", drawn.len());
        assert!(section.contains("NOT STEADY</text>"), "{section}");
        if let Some(pages) = fixture::pages(&compare::pdf(&comparison, &Authored::default()).unwrap()) {
            let charts: Vec<&String> = pages.iter().filter(|page| page.contains("Dashed lines: ")).collect();
            assert!(!charts.is_empty() && charts.iter().all(|page| page.contains("NOT STEADY")), "{pages:?}");
        }
    }
}

/// In the PDF, as in HTML, the values of a test without a valid result are greyed out.
#[test]
fn values_that_are_not_valid_are_pale_in_the_pdf() {
    const PALE: &str = "#55606e";
    let unsteady = Scenario { id: "unsteady", restless: true, ..Scenario::default() };
    let comparison = comparison(&[Scenario::default(), unsteady]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.pdf");
    std::fs::write(&path, compare::pdf(&comparison, &Authored::default()).unwrap()).expect("written");
    let Ok(output) = Command::new("pdftohtml").args(["-xml", "-i", "-stdout"]).arg(&path).output() else {
        return skips::without("pdftohtml");
    };
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    let fonts = document.split("<fontspec ").skip(1).filter(|font| font.contains(PALE));
    let pale: Vec<&str> = fonts.filter_map(|font| font.split("id=\"").nth(1)?.split('"').next()).collect();
    let values = |run: usize| -> Vec<bool> {
        let mean = |line: &compare::Line| line.figures[run].as_ref()?.mean();
        let all: Vec<String> =
            comparison.lines.iter().filter_map(mean).map(|mean| stdx::units::grouped(mean, 1)).collect();
        let texts = document.split("<text ").skip(1).filter(|text| {
            let shown = text.split_once('>').map_or("", |(_, shown)| shown);
            all.iter().any(|value| shown.starts_with(value.as_str()) && shown.contains('±'))
        });
        let is_pale = |text: &str| pale.iter().any(|id| text.contains(&format!("font=\"{id}\"")));
        texts.map(is_pale).collect()
    };
    let (valid, doubtful) = (values(0), values(1));
    assert!(valid.len() >= 50 && valid.iter().all(|is_pale| !is_pale), "{valid:?}");
    assert!(doubtful.len() >= 50 && doubtful.iter().all(|is_pale| *is_pale), "{doubtful:?}: {pale:?}");
}
