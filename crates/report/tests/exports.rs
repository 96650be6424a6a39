//! Exports are complete, use base units, and yield the same bytes for the same journal.

mod fixture;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::OnceLock;

use fixture::Scenario;
use pts::exhibit::{Cell, Exhibit};
use record::{Event, Loaded, Note, Run};
use report::Document;
use report::formats::{FORMATS, Files, Make, Source};
use serde_json::Value;

struct Bundle {
    run: Run,
    loaded: Loaded,
    document: Document,
    outcomes: Vec<pts::Outcome>,
}

/// Returns a run with four tests from the client profile 1.0.
fn bundle() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let tests = &["wsat", "iops", "tp-1024", "lat"];
        of(&Scenario { id: "bundle", profile: "pts-c-1.0", tests, ..Scenario::default() })
    })
}

fn of(scenario: &Scenario) -> Bundle {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    let document = report::fold(&run.file, &loaded).unwrap();
    let outcomes = pts::replay(&run.file, &loaded.entries).unwrap().outcomes;
    Bundle { run, loaded, document, outcomes }
}

impl Bundle {
    fn export(&self, name: &str) -> Result<Files, String> {
        let source = Source { document: &self.document, entries: &self.loaded.entries };
        match FORMATS.iter().find(|format| format.name == name).unwrap().make {
            Make::File(make) => Ok(vec![(String::new(), make(source)?)]),
            Make::Folder(make) => make(source),
        }
    }

    fn file(&self, name: &str) -> String {
        String::from_utf8(self.export(name).unwrap().swap_remove(0).1).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.file(name)).unwrap()
    }

    fn measured(&self) -> usize {
        let is_answer = |e: &&record::Entry| matches!(e.event, Event::Measured(_) | Event::Preconditioned(_));
        self.loaded.entries.iter().filter(is_answer).count()
    }
}

fn rows(csv: &[u8]) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv).deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn the_same_journal_gives_the_same_bytes_in_every_format() {
    let again = report::fold(&bundle().run.file, &bundle().loaded).unwrap();
    let source = Source { document: &again, entries: &bundle().loaded.entries };
    for format in FORMATS {
        let files = match format.make {
            Make::File(make) => vec![(String::new(), make(source).unwrap())],
            Make::Folder(make) => make(source).unwrap(),
        };
        assert!(!files.is_empty(), "{}", format.name);
        assert!(files.iter().all(|(_, content)| !content.is_empty()), "{}", format.name);
        assert!(bundle().export(format.name).unwrap() == files, "{}", format.name);
    }
}

#[test]
fn csv_has_a_row_for_every_cell_and_round_and_their_mean_is_the_table() {
    let files = bundle().export("csv").unwrap();
    let file = |name: &str| rows(&files.iter().find(|(file, _)| file == name).unwrap().1);
    let cells = file("cells.csv");
    assert_eq!(cells.len(), bundle().measured());
    for (name, content) in &files {
        let head = String::from_utf8_lossy(content).lines().next().unwrap_or_default().to_owned();
        let columns: std::collections::BTreeSet<&str> = head.split(',').collect();
        assert_eq!(columns.len(), head.split(',').count(), "{name}: a column name occurs twice: {head}");
        let all = rows(content);
        assert!(!all.is_empty() || ["seconds.csv", "response_times.csv"].contains(&name.as_str()), "{name}");
        for row in all {
            assert_eq!(row["run"], "bundle", "{name}");
            assert!(row.contains_key("unit") && row["simulated"].is_empty() && row["imported"].is_empty());
        }
    }
    let tables = file("tables.csv");
    let units = |test: &str| {
        let of_test = tables.iter().filter(|row| row["test"] == test);
        of_test.map(|row| row["unit"].clone()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(units("iops"), ["IOPS".to_owned()].into());
    assert_eq!(units("tp-1024"), ["MB/s".to_owned()].into());
    assert_eq!(units("lat"), ["ms".to_owned()].into());
    let run = &file("run.csv")[0];
    assert_eq!((run["firmware"].as_str(), run["conformance"].as_str()), ("E3000-120", "conforms"), "{run:?}");
    assert_eq!(file("tests.csv").len(), 4);
    let table = tables.iter().filter(|row| row["test"] == "iops" && row["table"] == "IOPS");
    let mut compared = 0;
    for row in table {
        let kib: f64 = row["row"].parse().unwrap();
        let read = row["column"].split('/').next().unwrap();
        let window: Vec<f64> = cells
            .iter()
            .filter(|c| c["test"] == "iops" && c["phase"] == "measure" && c["in_window"] == "true")
            .filter(|c| c["block_bytes"].parse::<f64>().unwrap() == kib * 1024.0 && c["read_percent"] == read)
            .map(|c| c["iops"].parse().unwrap())
            .collect();
        assert_eq!(window.len(), 5, "{row:?}");
        let mean = window.iter().sum::<f64>() / 5.0;
        let printed: f64 = row["value"].parse().unwrap();
        assert!((mean - printed).abs() <= 1e-9 * printed, "{mean} {printed}");
        compared += 1;
    }
    assert_eq!(compared, 56);
    assert_eq!(file("steady_state.csv").len(), 3);
}

#[test]
fn json_follows_its_published_schema() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/report-schema.json");
    let schema = report::formats::schema();
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == schema,
        "docs/reference/report-schema.json is outdated; PLATEAU_BLESS=1 rewrites it"
    );
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let document = bundle().json("json-file");
    assert_eq!(document["schema_version"], report::formats::SCHEMA_VERSION);
    follows(&document, &schema, &schema, "report");
    assert_eq!(document["tests"].as_array().unwrap().len(), 4);
    let iops = &document["tests"][1];
    assert_eq!(iops["cells"].as_array().unwrap().len() % 56, 1, "one preconditioning, then whole rounds");
    assert_eq!(iops["tables"][0]["rows"][1]["values"][0], iops["steady_state"][0]["mean"]);
}

/// Validates types, required keys and known keys, the only features that this schema uses.
#[track_caller]
fn follows(value: &Value, schema: &Value, root: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let definition = &root["$defs"][name.rsplit('/').next().unwrap()];
        return follows(value, definition, root, place);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let matching = any.iter().find(|s| value.is_null() == (s["type"] == "null")).unwrap();
        return follows(value, matching, root, place);
    }
    if let Some(one_of) = schema["oneOf"].as_array() {
        assert!(one_of.iter().any(|s| s["const"] == *value), "{place}: {value}");
        return;
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        many => many.as_array().unwrap().iter().filter_map(Value::as_str).collect(),
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) if types.contains(&"number") => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(types.contains(&found), "{place}: {found} instead of {types:?}");
    if let Value::Object(object) = value {
        for key in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(key.as_str().unwrap()), "{place} lacks {key}");
        }
        for (key, inner) in object {
            let known = &schema["properties"][key];
            assert!(!known.is_null(), "{place}.{key} is not in the schema");
            follows(inner, known, root, &format!("{place}.{key}"));
        }
    }
    for inner in value.as_array().into_iter().flatten().filter(|_| schema["items"].is_object()) {
        follows(inner, &schema["items"], root, place);
    }
}

/// Returns the parts of a spreadsheet.
fn parts(bundle: &Bundle) -> BTreeMap<String, String> {
    let book = bundle.export("xlsx").unwrap().swap_remove(0).1;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book)).unwrap();
    let mut parts = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        parts.insert(file.name().unwrap().to_string(), text);
    }
    parts
}

fn of_kind<'p>(parts: &'p BTreeMap<String, String>, prefix: &str) -> Vec<&'p str> {
    parts.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, text)| text.as_str()).collect()
}

#[test]
fn spreadsheets_hold_numbers_with_formats_and_charts_that_refer_to_them() {
    let parts = parts(bundle());
    let sheets = of_kind(&parts, "xl/worksheets/sheet").concat();
    let mut numbers = 0;
    let exhibits = || bundle().outcomes.iter().flat_map(|o| &o.pages).flat_map(|page| &page.exhibits);
    for exhibit in exhibits() {
        let Exhibit::Table(table) = exhibit else { continue };
        for cell in table.rows.iter().flat_map(|row| &row.cells) {
            let Cell::Value(value) = cell else { continue };
            assert!(sheets.contains(&format!("<v>{value}</v>")), "{value}");
            numbers += 1;
        }
    }
    assert!(numbers > 60, "{numbers}");
    assert!(parts["xl/styles.xml"].contains("#,##0.000") && parts["xl/styles.xml"].contains("0.0%"));
    let charts = of_kind(&parts, "xl/charts/chart");
    let beyond = bundle().outcomes.iter().flat_map(|o| &o.beyond).flat_map(|page| &page.exhibits);
    let drawn = exhibits().chain(beyond).filter(|e| charts::picture(e, "", charts::Size::DEFAULT).is_some());
    assert_eq!(charts.len(), drawn.count());
    assert!(charts.iter().all(|chart| chart.contains("'Chart data'!") && chart.contains("<c:ser>")));
    assert!(!parts.keys().any(|name| name.starts_with("xl/media/")));
    assert!(parts["xl/sharedStrings.xml"].contains("Queue depth (QD)"));
}

#[test]
fn no_sheet_of_a_spreadsheet_is_empty() {
    let cut = of(&Scenario { cut_after_cells: Some(0), ..Scenario::default() });
    for parts in [parts(bundle()), parts(&cut)] {
        for sheet in of_kind(&parts, "xl/worksheets/sheet") {
            assert!(sheet.contains("<c r="), "{sheet}");
        }
    }
}

#[test]
fn every_chart_is_a_picture_of_its_own() {
    let (vectors, pixels) = (bundle().export("svg").unwrap(), bundle().export("png").unwrap());
    // Charts on the pages of the specification, plus charts on additional pages.
    const CHARTS: usize = 18 + 6;
    assert_eq!(vectors.iter().filter(|(name, _)| !name.ends_with("-whole-test.svg")).count(), CHARTS);
    assert_eq!(vectors.len(), CHARTS + bundle().outcomes.len());
    assert_eq!(pixels.len(), vectors.len());
    for ((vector, svg), (pixel, png)) in vectors.iter().zip(&pixels) {
        assert_eq!(vector.trim_end_matches(".svg"), pixel.trim_end_matches(".png"));
        assert!(svg.starts_with(b"<svg ") && png.starts_with(b"\x89PNG"), "{vector}");
    }
    let simulated = of(&Scenario { simulated: true, ..Scenario::default() }).export("svg").unwrap();
    assert!(simulated.iter().all(|(_, svg)| {
        String::from_utf8_lossy(svg).contains(">SIMULATED sas-slc-2011 v3 1/64 seed 7</text>")
    }));
}

#[test]
fn openmetrics_text_is_well_formed() {
    let text = bundle().file("openmetrics");
    assert!(text.ends_with("# EOF\n"));
    let mut family = "";
    let mut samples = 0;
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap();
        } else if !line.starts_with('#') {
            let (name, rest) = line.split_once('{').unwrap();
            assert_eq!(name, family);
            let (_, value) = rest.rsplit_once("} ").unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let digits = value.trim_start_matches(['0', '.']).replace('.', "");
            assert!(digits.len() <= 15, "more digits than are known: {line}");
            samples += 1;
        }
    }
    assert!(samples > 12, "{samples}");
    assert!(
        text.contains("plateau_steady_state{run=\"bundle\",model=\"MACH16 M16ISD2-100UCP\",test=\"iops\"} 1")
    );
}

#[test]
fn fio_jobs_are_the_workloads_of_the_journal() {
    let document = bundle().json("fio-json");
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), bundle().measured());
    let total: u64 = jobs.iter().map(|job| job["write"]["io_bytes"].as_u64().unwrap()).sum();
    let written: u64 = bundle()
        .loaded
        .entries
        .iter()
        .filter_map(|e| match &e.event {
            Event::Measured(s) | Event::Preconditioned(s) => Some(s.write.bytes),
            _ => None,
        })
        .sum();
    assert_eq!(total, written);
    let mixed = jobs.iter().find(|job| job["job options"]["rwmixread"] == "65").unwrap();
    assert_eq!(mixed["job options"]["rw"], "randrw");
}

#[test]
fn a_tkperf_file_has_complete_rounds_in_the_order_of_tkperf() {
    let text = bundle().file("tkperf-xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let element = |test: &str, name: &str| -> Value {
        let test = document.root_element().children().find(|n| n.has_tag_name(test)).unwrap();
        serde_json::from_str(test.children().find(|n| n.has_tag_name(name)).unwrap().text().unwrap()).unwrap()
    };
    let rounds = element("iops", "roundmat");
    let last = rounds.as_array().unwrap().last().unwrap();
    assert_eq!((last.as_array().unwrap().len(), last[0].as_array().unwrap().len()), (7, 8));
    let (reads, writes) = (last[0][6].as_f64().unwrap(), last[6][6].as_f64().unwrap());
    assert!((93_707.0 / reads - 1.0).abs() < 0.05, "4 KiB reads: {reads}");
    assert!((16_563.0 / writes - 1.0).abs() < 0.05, "4 KiB writes: {writes}");
    assert_eq!(element("iops", "stdyvalues").as_array().unwrap().len(), 5);
    assert_eq!(element("iops", "reachstdystate"), true);
    assert_eq!(element("lat", "roundmat")[0][0][0].as_array().unwrap().len(), 3);
    let nothing =
        of(&Scenario { cut_after_cells: Some(3), ..Scenario::default() }).export("tkperf-xml").unwrap_err();
    assert!(nothing.contains("no completed round"), "{nothing}");
}

#[test]
fn maxima_of_a_scaled_simulated_drive_are_in_no_file() {
    let scaled =
        of(&Scenario { id: "scaled", simulated: true, tests: &["wsat", "lat"], ..Scenario::default() });
    for (name, file) in scaled.export("csv").unwrap() {
        for row in rows(&file) {
            assert_eq!(row.get("latency_max_ns").map_or("", String::as_str), "", "{name}");
        }
    }
    for job in scaled.json("fio-json")["jobs"].as_array().unwrap() {
        assert!(job["write"]["lat_ns"]["max"].is_null() && job["write"]["lat_ns"]["min"].is_u64(), "{job}");
    }
    let text = scaled.file("tkperf-xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let matrix = document.descendants().rfind(|n| n.has_tag_name("roundmat")).unwrap();
    let matrix: Value = serde_json::from_str(matrix.text().unwrap()).unwrap();
    assert!(text.contains("null") && matrix.as_array().is_some_and(|rounds| !rounds.is_empty()), "{text}");
}

/// In PTS 2.0, a 20-minute workload for a histogram follows the rounds; it is named like a cell but is not one.
#[test]
fn the_load_for_a_histogram_belongs_to_no_round() {
    for early in [false, true] {
        let tests = &["wsat", "lat", "dirth"];
        let bundle =
            of(&Scenario { id: "after-rounds", profile: "pts-e-2.0", tests, early, ..Scenario::default() });
        let noted =
            bundle.loaded.entries.iter().filter(|e| e.event == Event::Noted(Note::RoundsEnded)).count();
        // The preconditioning of DIRTH has its own rounds.
        assert_eq!(noted, if early { 0 } else { 4 });
        belongs_to_no_round(&bundle);
    }
}

fn belongs_to_no_round(bundle: &Bundle) {
    let cells =
        rows(&bundle.export("csv").unwrap().into_iter().find(|(name, _)| name == "cells.csv").unwrap().1);
    let of = |test: &str| {
        cells.iter().filter(|row| row["test"] == test && row["phase"] == "measure").collect::<Vec<_>>()
    };
    let writes = |row: &&BTreeMap<String, String>| row["block_bytes"] == "4096" && row["read_percent"] == "0";
    let latency: Vec<_> = of("lat").into_iter().filter(writes).collect();
    assert_eq!(latency.iter().filter(|row| row["in_window"] == "true").count(), 5);
    for (test, after_rounds) in [("wsat", 1), ("lat", 1), ("dirth", 3)] {
        let measured = of(test);
        let outside: Vec<_> = measured.iter().filter(|row| row["round"].is_empty()).collect();
        assert_eq!(outside.len(), after_rounds, "{test}");
        assert!(
            measured[..measured.len() - after_rounds].iter().all(|row| !row["round"].is_empty()),
            "{test}"
        );
    }

    let text = bundle.file("tkperf-xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let element = |test: &str, name: &str| -> Value {
        let test = document.root_element().children().find(|node| node.has_tag_name(test)).unwrap();
        serde_json::from_str(test.children().find(|node| node.has_tag_name(name)).unwrap().text().unwrap())
            .unwrap()
    };
    assert_eq!(element("lat", "stdyvalues").as_array().unwrap().len(), 5);
    let minutes = element("writesat", "roundmat")[0].as_array().unwrap().len();
    assert_eq!(minutes, of("wsat").len() - 1, "minutes of the write saturation alone");
    assert_eq!(element("writesat", "rndnr"), minutes - 1);
}
