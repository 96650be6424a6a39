//! Labels that must accompany every number wherever it is printed: host-limited results and simulated drives.

mod fixture;

use std::collections::BTreeMap;
use std::io::Read as _;

use fixture::Scenario;
use pts::host_limit::LEGEND;
use record::{Loaded, Run};
use report::formats::{FORMATS, Files, Make, Source};
use serde_json::Value;

const LABEL: &str = "SIMULATED sas-slc-2011 v3 1/64 seed 7";

fn busy(id: &'static str) -> Scenario {
    Scenario { id, profile: "pts-e-2.0", busy: true, ..Scenario::default() }
}

fn simulated() -> Scenario {
    Scenario { id: "simulated", simulated: true, ..Scenario::default() }
}

fn recorded(scenario: &Scenario) -> (Run, Loaded) {
    let root = fixture::folder();
    fixture::record(root.path(), scenario)
}

fn export((run, loaded): &(Run, Loaded), name: &str) -> Files {
    let document = report::fold(&run.file, loaded).unwrap();
    let source = Source { document: &document, entries: &loaded.entries };
    match FORMATS.iter().find(|format| format.name == name).unwrap().make {
        Make::File(make) => vec![(String::new(), make(source).unwrap())],
        Make::Folder(make) => make(source).unwrap(),
    }
}

fn file(run: &(Run, Loaded), name: &str) -> String {
    String::from_utf8(export(run, name).swap_remove(0).1).unwrap()
}

fn json(run: &(Run, Loaded), name: &str) -> Value {
    serde_json::from_str(&file(run, name)).unwrap()
}

type Table = Vec<BTreeMap<String, String>>;

fn csv(run: &(Run, Loaded)) -> BTreeMap<String, Table> {
    let rows =
        |content: Vec<u8>| csv::Reader::from_reader(&content[..]).deserialize().map(Result::unwrap).collect();
    export(run, "csv").into_iter().map(|(name, content)| (name, rows(content))).collect()
}

/// Returns the text of each part of a spreadsheet, by part name.
fn parts(book: Vec<u8>) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book)).unwrap();
    let mut parts = BTreeMap::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let (name, mut text) = (part.name().unwrap().to_string(), String::new());
        if name.ends_with(".xml") {
            part.read_to_string(&mut text).unwrap();
            parts.insert(name, text);
        }
    }
    parts
}

#[test]
fn host_limited_cells_are_flagged_in_every_data_format() {
    let run = recorded(&busy("busy"));
    let tables = csv(&run);
    for row in &tables["cells.csv"] {
        let is_busy = (row["block_bytes"].as_str(), row["read_percent"].as_str()) == ("4096", "100");
        assert_eq!(row["host_limited"], is_busy.to_string(), "{row:?}");
        let share: f64 = row["host_share"].parse().unwrap();
        assert!((share - if is_busy { 0.9 } else { 0.2 }).abs() < 1e-6, "{row:?}");
        let ns = |key: &str| row[key].parse::<f64>().unwrap();
        assert!((ns("user_ns") / ns("system_ns") - 1.0 / 3.0).abs() < 1e-6, "{row:?}");
        assert_eq!((row["voluntary_switches"].as_str(), row["involuntary_switches"].as_str()), ("7", "3"));
    }
    let marked: Vec<&str> = tables["figures.csv"]
        .iter()
        .filter(|row| row["host_limited"] == "true")
        .map(|row| row["figure"].as_str())
        .collect();
    assert_eq!(marked, ["RND 4KiB R"]);

    let test = &json(&run, "json-file")["tests"][0];
    let limited =
        |of: &Value| of.as_array().unwrap().iter().filter(|one| one["host_limited"] == true).count();
    assert_eq!(limited(&test["figures"]), 1);
    assert_eq!(
        limited(&test["cells"]),
        tables["cells.csv"].iter().filter(|r| r["host_limited"] == "true").count()
    );
    assert!(test["cells"][0]["system_ns"].is_u64() && test["cells"][0]["host_share"].is_f64());

    let jobs = json(&run, "fio-json")["jobs"].as_array().unwrap().clone();
    let of_busy = jobs.iter().find(|job| job["plateau"]["host_limited"] == true).unwrap();
    assert!(of_busy["jobname"].as_str().unwrap().ends_with("RND 4KiB R"), "{of_busy}");
    assert_eq!(of_busy["ctx"], 10);
    // The expected value is 90 % of one processor, divided among the two threads.
    let cpu = of_busy["usr_cpu"].as_f64().unwrap() + of_busy["sys_cpu"].as_f64().unwrap();
    assert!(
        (cpu * of_busy["job options"]["numjobs"].as_str().unwrap().parse::<f64>().unwrap() - 90.0).abs()
            < 1e-6
    );

    let metrics = file(&run, "openmetrics");
    let of =
        |figure: &str| metrics.lines().find(|l| l.starts_with("plateau_host_limited{") && l.contains(figure));
    assert!(
        of("RND 4KiB R").unwrap().ends_with("} 1") && of("RND 4KiB W").unwrap().ends_with("} 0"),
        "{metrics}"
    );
    assert!(file(&run, "tkperf-xml").contains("HOST-LIMITED: 7 of 392 cells of IOPS"));
}

#[test]
fn host_limited_numbers_have_a_mark_and_its_meaning_on_every_page_and_sheet() {
    let run = recorded(&busy("busy"));
    let document = report::fold(&run.0.file, &run.1).unwrap();
    let html = report::html(&document).replace('\u{a0}', " ");
    let pdf = fixture::pages(&report::pdf(&document).unwrap());
    let sheets: Vec<String> =
        html.split("<section ").skip(1).map(|sheet| sheet.replace("&lt;", "<")).collect();
    let mut marked = 0;
    for sheet in sheets.iter().filter(|sheet| sheet.contains("*</td>") || sheet.contains("*</strong>")) {
        assert!(sheet.contains(LEGEND), "a mark without its explanation: {sheet}");
        marked += 1;
    }
    assert_eq!(marked, 2, "the key figures and the table");
    let cover =
        html.split_once("<article").unwrap().1.split_once("</article>").unwrap().0.replace("&lt;", "<");
    assert!(cover.contains("*</strong>") && cover.contains(LEGEND), "{cover}");
    let is_chart = |sheet: &&String| sheet.starts_with("class=\"sheet plot\"") && sheet.contains("<figure>");
    let charts: Vec<&String> = sheets.iter().filter(is_chart).collect();
    assert!(charts.len() > 3 && charts.iter().all(|sheet| sheet.contains("HOST-LIMITED: 7 of 392 cells")));
    let annex = charts.len() + 1;
    assert_eq!(
        html.matches("HOST-LIMITED: 7 of 392 cells of this test").count(),
        annex,
        "and the picture of Annex B"
    );
    if let Some(pdf) = pdf {
        // The cover precedes page 1, which is about the whole run; page 2 is the summary of the test.
        for page in [0, 2] {
            assert!(pdf[page].contains(LEGEND) && pdf[page].contains('*'), "{}", pdf[page]);
        }
        assert_eq!(pdf.iter().filter(|page| page.contains(LEGEND)).count(), 3);
    }
    for (name, svg) in export(&run, "svg") {
        assert!(String::from_utf8_lossy(&svg).contains(">HOST-LIMITED: 7 of 392 cells</text>"), "{name}");
    }

    let parts = parts(export(&run, "xlsx").swap_remove(0).1);
    assert!(parts["xl/styles.xml"].contains("#,##0&quot;*&quot;"), "{}", parts["xl/styles.xml"]);
    assert_eq!(parts["xl/sharedStrings.xml"].matches(LEGEND).count(), 1, "one string shared by both sheets");
    let marked: Vec<&str> = parts["xl/styles.xml"]
        .split("<numFmt ")
        .filter(|format| format.contains("&quot;*&quot;"))
        .filter_map(|format| format.split("numFmtId=\"").nth(1)?.split('"').next())
        .collect();
    let cells = parts["xl/styles.xml"].split("<cellXfs").nth(1).expect("formats of cells");
    let is_marked = |xf: &&str| marked.iter().any(|id| xf.contains(&format!("numFmtId=\"{id}\"")));
    let styles: Vec<&str> = cells.split("<xf ").skip(1).collect();
    let styles =
        styles.iter().enumerate().filter(|(_, xf)| is_marked(xf)).map(|(style, _)| format!(" s=\"{style}\""));
    let styled = parts.iter().filter(|(name, _)| name.contains("worksheets/sheet"));
    let styles: Vec<String> = styles.collect();
    assert!(styled.filter(|(_, text)| styles.iter().any(|style| text.contains(style))).count() >= 2);
    assert!(parts["xl/sharedStrings.xml"].contains("involuntary_switches"));
    let flagged_columns =
        parts.iter().filter(|(name, _)| name.contains("sheet")).flat_map(|(_, text)| flags(text));
    assert!(flagged_columns.into_iter().any(|(_, flags)| flags == 7), "one in each round");
}

/// Counts the true values in each column of a sheet.
fn flags(sheet: &str) -> BTreeMap<String, usize> {
    let mut columns = BTreeMap::new();
    for cell in sheet
        .split("<c r=\"")
        .skip(1)
        .filter(|cell| cell.split_once("</c>").is_some_and(|(cell, _)| cell.contains("t=\"b\"><v>1</v>")))
    {
        let column = cell.chars().take_while(char::is_ascii_alphabetic).collect();
        *columns.entry(column).or_default() += 1;
    }
    columns
}

#[test]
fn every_file_of_a_simulated_run_is_labelled() {
    let run = recorded(&simulated());
    for (name, table) in csv(&run) {
        assert!(table.iter().all(|row| row["simulated"] == LABEL), "{name}");
    }
    for (name, svg) in export(&run, "svg") {
        assert!(String::from_utf8_lossy(&svg).contains(&format!(">{LABEL}</text>")), "{name}");
    }
    let samples = file(&run, "openmetrics");
    let samples: Vec<&str> = samples.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(samples.iter().all(|line| line.contains(&format!("simulated=\"{LABEL}\""))), "{samples:?}");
    assert_eq!(json(&run, "fio-json")["plateau"]["simulated"], LABEL);
    assert_eq!(json(&run, "json-file")["device"]["simulated"]["label"], LABEL);
    assert!(file(&run, "tkperf-xml").contains(&format!("{LABEL}: not a real device")));
    let parts = parts(export(&run, "xlsx").swap_remove(0).1);
    assert!(parts["xl/sharedStrings.xml"].contains(LABEL));
    let text = parts.iter().filter(|(name, _)| name.starts_with("xl/worksheets/")).count();
    assert_eq!(text, 4, "summary, test, charts, cells");

    let real = recorded(&Scenario::default());
    for (name, table) in csv(&real) {
        assert!(table.iter().all(|row| row["simulated"].is_empty()), "{name}");
    }
    assert!(json(&real, "fio-json")["plateau"]["simulated"].is_null());
    assert!(
        !file(&real, "openmetrics").contains("simulated") && !file(&real, "tkperf-xml").contains("SIMULATED")
    );
}
