//! The PDF as seen by independent readers: `pdfinfo` and `pdftotext`, if installed.

mod fixture;

use std::process::Command;

use fixture::Scenario;
use pts::exhibit::{Cell, Exhibit};

/// Returns the output of `program` for `pdf`; None if it is not installed.
fn read_by(program: &str, arguments: &[&str], pdf: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, pdf).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).arg(&path);
    if program == "pdftotext" {
        command.arg("-");
    }
    let Ok(output) = command.output() else {
        skips::without(program);
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{program}: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn bundle(scenario: &Scenario) -> (Vec<u8>, Vec<pts::Outcome>) {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    let outcomes = pts::replay(&run.file, &loaded.entries).unwrap().outcomes;
    (report::pdf(&report::fold(&run.file, &loaded).unwrap()).unwrap(), outcomes)
}

/// Returns the number of annex pages.
fn annex_pages(pdf: &[u8]) -> usize {
    let text = read_by("pdftotext", &[], pdf).unwrap_or_default();
    let number = |line: &str| line.strip_prefix("Annex page 1 of ")?.trim().parse().ok();
    text.lines().find_map(number).unwrap_or(0)
}

#[test]
fn the_client_bundle_has_26_pages_with_the_iops_summary_on_page_7_and_every_number() {
    let tests = &["wsat", "iops", "tp-1024", "lat"];
    let (pdf, outcomes) =
        bundle(&Scenario { id: "bundle", profile: "pts-c-1.0", tests, ..Scenario::default() });
    assert!(pdf.len() < 2 << 20, "{} bytes", pdf.len());
    let Some(facts) = read_by("pdfinfo", &[], &pdf) else { return };
    let line =
        |name: &str| facts.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    let annexes = annex_pages(&pdf);
    assert!(annexes > 4, "{annexes}");
    // The cover is not numbered.
    assert_eq!(line("Pages:"), (1 + 26 + annexes).to_string());
    assert_eq!(line("Tagged:"), "yes");
    let last = read_by("pdftotext", &["-f", "27", "-l", "28"], &pdf).unwrap();
    assert!(last.contains("Page 26 of 26") && last.contains("Annex A: conformance statement"), "{last}");
    let structure = read_by("pdfinfo", &["-struct"], &pdf).unwrap();
    for tag in ["Document", "Sect", "H1", "H2", "Table", "TR", "TH", "TD", "Figure"] {
        assert!(structure.contains(tag), "no {tag}: {}", structure.get(..2000).unwrap_or(&structure));
    }
    assert!(line("Page size:").contains("A4"), "{facts}");
    let page_7 = read_by("pdftotext", &["-f", "8", "-l", "8"], &pdf).unwrap();
    assert!(page_7.contains("Client IOPS (REQUIRED) - Summary Page"), "{page_7}");
    let text = read_by("pdftotext", &["-layout"], &pdf).unwrap();
    let mut numbers = 0;
    for exhibit in outcomes.iter().flat_map(|o| &o.pages).flat_map(|page| &page.exhibits) {
        let Exhibit::Table(table) = exhibit else { continue };
        for cell in table.rows.iter().flat_map(|row| &row.cells) {
            let Cell::Value(value) = cell else { continue };
            let printed = stdx::units::grouped(*value, table.decimals);
            assert!(text.contains(&printed), "{printed} is not in the text");
            numbers += 1;
        }
    }
    assert!(numbers > 60, "{numbers}");
}

#[test]
fn fonts_are_embedded() {
    let (pdf, _) = bundle(&Scenario::default());
    let Some(fonts) = read_by("pdffonts", &[], &pdf) else { return };
    let rows: Vec<&str> = fonts.lines().skip(2).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.contains("DejaVuSansCondensed")), "{fonts}");
    assert!(rows.iter().all(|row| row.contains(" yes yes yes ")), "embedded, subset, with text: {fonts}");
}

#[test]
fn every_unusual_run_yields_a_pdf() {
    for scenario in fixture::scenarios() {
        let html_pages = {
            let root = fixture::folder();
            let (run, loaded) = fixture::record(root.path(), &scenario);
            report::html(&report::fold(&run.file, &loaded).unwrap()).matches("<section ").count()
        };
        let (pdf, _) = bundle(&scenario);
        let Some(facts) = read_by("pdfinfo", &[], &pdf) else { return };
        let all = 1 + html_pages + annex_pages(&pdf);
        assert!(facts.contains(&format!(" {all}\n")), "{}: {html_pages} pages in {facts}", scenario.id);
        read_by("qpdf", &["--check"], &pdf);
    }
}

#[test]
fn a_long_name_of_a_device_keeps_its_end_at_the_top_of_every_page() {
    let model =
        "ACME UltraFast Enterprise NVMe Solid State Drive 15.36 TB PM-XYZ-0123456789 rev B".to_owned();
    let (pdf, _) = bundle(&Scenario { model: Some(model), ..Scenario::default() });
    let Some(pages) = fixture::pages(&pdf) else { return };
    let tops: Vec<&String> =
        pages.iter().filter(|page| page.contains("Summary Page") || page.contains("Report Page")).collect();
    assert!(tops.len() > 2 && tops.iter().all(|page| page.contains("rev B")), "{tops:#?}");
}

#[test]
fn many_maps_and_tables_are_spread_over_pages() {
    let mapped = &[0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100];
    let tests = &["map"];
    let (pdf, outcomes) = bundle(&Scenario { id: "maps", tests, mapped, ..Scenario::default() });
    let pages = || outcomes.iter().flat_map(|outcome| &outcome.pages);
    let maps = pages().flat_map(|page| &page.exhibits).filter(|e| matches!(e, Exhibit::HeatMap(_))).count();
    assert_eq!(maps, 2 * mapped.len());
    assert!(pages().all(|page| page.exhibits.len() <= 4), "at most four exhibits are legible on a page");
    let keys: Vec<_> = pages().filter_map(|page| page.key.as_ref()).collect();
    assert!((1..keys.len()).all(|at| !keys[..at].contains(&keys[at])), "{keys:?}");
    let Some(text) = read_by("pdftotext", &["-layout"], &pdf) else { return };
    for title in
        ["IOPS - Tabular Data (1 of 11)", "IOPS - TC x QD Map (11 of 11)", "Demand Intensity - Knee (3 of 3)"]
    {
        assert!(text.contains(title), "{title}: {text}");
    }
}
