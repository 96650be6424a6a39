//! `plateau import` and `plateau examples`: results from other tools, labelled as imported everywhere.

mod support;

use support::{Bench, table};

#[test]
fn examples_are_ordinary_runs_labelled_as_imported_everywhere() {
    let bench = Bench::new();
    assert!(bench.ok(&["examples"]).contains("not measured by Plateau"));
    let installed = bench.json(&["examples", "--install"]);
    assert_eq!(installed.as_array().map(Vec::len), Some(6));
    assert_eq!(
        bench.json(&["examples", "--install", "mlc-a"])[0]["installed"],
        false,
        "it was already installed"
    );
    let runs = bench.ok(&["runs"]);
    assert_eq!(runs.matches("IMPORTED from").count(), 6, "{runs}");
    let shown = bench.ok(&["show", "example-slc-b"]);
    assert!(
        shown.contains("IMPORTED from Calypso")
            && shown.contains("steady state in rounds 2-6, according to the source"),
        "{shown}"
    );
    let (html, pdf) = (bench.path("a.html"), bench.path("a.pdf"));
    let (html_name, pdf_name) = (html.to_str().unwrap(), pdf.to_str().unwrap());
    bench.ok(&["report", "example-slc-b", "--html", html_name, "--pdf", pdf_name]);
    let page = support::text(&html);
    let sheets: Vec<&str> = page.split("<section ").skip(1).collect();
    assert!(
        sheets.len() > 10 && sheets.iter().all(|sheet| sheet.contains("<b>IMPORTED</b>")),
        "every page has the mark"
    );
    assert!(!page.contains("SNIA SSS TWG") && !page.contains("conformance statement"), "nothing of the PTS");
    assert!(std::fs::read(&pdf).unwrap().starts_with(b"%PDF"));
    assert!(bench.ok(&["verify", "example-slc-b"]).contains("its file is unchanged"));
    assert!(bench.fails(2, &["resume", "example-slc-b"]).contains("imported"));
    let json = bench.path("a.json");
    bench.fails(6, &["report", "example-slc-b", "--fio-json", json.to_str().unwrap()]);
}

#[test]
fn a_badge_says_once_that_a_run_is_imported() {
    let bench = Bench::new();
    bench.ok(&["examples", "--install", "slc-b"]);
    let folder = bench.path("cards");
    bench.ok(&["report", "example-slc-b", "--card", folder.to_str().unwrap()]);
    let badge = support::text(&folder.join("badge.svg"));
    let halves: Vec<&str> = badge.split("<text").skip(1).collect();
    assert_eq!(halves.len(), 2, "{badge}");
    assert!(halves[0].contains(">imported from Calypso"), "{badge}");
    assert!(halves[1].contains(">not a PTS run<"), "{badge}");
}

#[test]
fn comparing_the_examples_prints_the_right_figures() {
    let bench = Bench::new();
    bench.ok(&["examples", "--install"]);
    let page = bench.path("compared.pdf");
    let args = ["compare", "example-mlc-a", "example-mlc-b", "--all", "--pdf", page.to_str().unwrap()];
    let text = bench.ok(&args);
    let row = |name: &str| {
        text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert!(row("IOPS RND 4KiB 65/35").contains("3,779.3") && row("IOPS RND 4KiB 65/35").contains("425.5"));
    assert!(row("WSAT RND 4KiB W, FOB").contains("56,896.0"));
    assert!(text.contains("\n  IMPORTED\n") && text.contains("\n  TC and QD differ\n"), "{text}");
    assert!(std::fs::read(&page).unwrap().starts_with(b"%PDF"));
    let text = bench.ok(&["compare", "example-slc-a", "example-slc-b", "--all"]);
    assert!(text.contains("28,018.6") && text.contains("29,827.0") && text.contains("612.7"), "{text}");
}

#[test]
fn a_run_exported_for_tkperf_is_imported_with_its_table() {
    let bench = Bench::new();
    let run = bench.json(&["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"]);
    let id = run["run"].as_str().unwrap();
    let file = bench.path("result.xml");
    bench.ok(&["report", id, "--tkperf-xml", file.to_str().unwrap()]);
    let back = bench.json(&["import", file.to_str().unwrap()]);
    let (own, imported) = (bench.json(&["show", id]), back);
    assert!(imported["origin"]["tool"].as_str().unwrap().starts_with("Plateau "), "{}", imported["origin"]);
    for (own, imported) in table(&own).iter().flatten().zip(table(&imported).iter().flatten()) {
        let (own, imported) = (own.unwrap(), imported.unwrap());
        assert!((own - imported).abs() <= 0.5, "{own} and {imported}: TKperf has whole IOPS");
    }
    assert_eq!(imported["tests"][0]["window"][0]["first_round"], own["tests"][0]["window"][0]["first_round"]);
}

#[test]
fn a_file_without_results_is_refused_before_anything_is_created() {
    let bench = Bench::new();
    let file = bench.path("bad.xml");
    std::fs::write(&file, "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>").unwrap();
    let error = bench.fails(2, &["import", file.to_str().unwrap()]);
    assert!(error.contains("not a usable TKperf XML file"), "{error}");
    assert!(bench.fails(2, &["import", bench.path("none").to_str().unwrap()]).contains("cannot read"));
    assert_eq!(bench.runs(), Vec::<std::path::PathBuf>::new());
}
