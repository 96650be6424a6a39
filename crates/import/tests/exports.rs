//! Every data format that Plateau writes and reads, with all of its keys: a run is exported, imported and exported
//! again, and each difference must be on a list of values that the format does not contain.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::collections::BTreeMap;
use std::io::Read as _;

use fixture::Scenario;
use record::{Entry, Library, PowerSubject};
use report::Document;
use report::formats::{FORMATS, Make, Source};
use report::parts::Figure;
use serde_json::Value;

/// The journal and the report of a run.
struct Reported {
    entries: Vec<Entry>,
    document: Document,
}

fn reported(run: &record::Run, loaded: record::Loaded) -> Reported {
    let document = report::fold(&run.file, &loaded).expect("a report");
    Reported { entries: loaded.entries, document }
}

fn measured(scenario: &Scenario) -> Reported {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    reported(&run, loaded)
}

/// Imports a file into a library, as the program does.
fn imported(bytes: &[u8]) -> Reported {
    let (format, found) = import::read(bytes, None).expect("an export");
    let source = import::Source {
        file: "exported",
        bytes,
        id: "imported".into(),
        created: jiff::Timestamp::UNIX_EPOCH,
        version: "0",
        commit: None,
        command: Vec::new(),
    };
    let (file, events) = import::run(found, format, source);
    let root = fixture::folder();
    let (run, mut journal) = Library::at(root.path()).create(file).expect("a new run");
    for event in events {
        journal.append(event).expect("a writable journal");
    }
    drop(journal);
    let loaded = run.load().expect("a sound journal");
    reported(&run, loaded)
}

impl Reported {
    /// Returns the files in a format, by name.
    fn files(&self, format: &str) -> BTreeMap<String, Vec<u8>> {
        let source = Source { document: &self.document, entries: &self.entries };
        match FORMATS.iter().find(|known| known.name == format).expect("a format").make {
            Make::File(make) => [(String::new(), make(source).expect("a file"))].into(),
            Make::Folder(make) => make(source).expect("files").into_iter().collect(),
        }
    }

    fn bytes(&self, format: &str) -> Vec<u8> {
        self.files(format).remove("").expect("a file")
    }

    fn text(&self, format: &str) -> String {
        String::from_utf8(self.bytes(format)).expect("text")
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes("json-file")).expect("JSON")
    }

    fn figures(&self) -> Vec<Figure> {
        self.document.comparable_figures(&self.entries)
    }
}

/// Values that an import drops, because they describe the exported run, its journal or a verdict (see
/// docs/guide/import.md).
const NOT_TAKEN_OVER: [&str; 14] = [
    "/run",
    "/plateau_version",
    "/judged_by_version",
    "/journal_sha256",
    "/created",
    "/command",
    "/origin",
    "/profile",
    "/marks",
    "/conformance",
    "/device/identity",
    "/device/simulated",
    "/tests/*/clause",
    "/tests/*/requirement",
];

/// Collects the places where two documents differ, with `*` for the index of a test.
fn differences(at: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let (a, b) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                differences(&format!("{at}/{key}"), a, b, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                let index = if at == "/tests" { "*".to_owned() } else { index.to_string() };
                differences(&format!("{at}/{index}"), a, b, found);
            }
        }
        _ if one == other => {}
        _ => found.push(at.to_owned()),
    }
}

/// Charts and tables of several pages may alternate, but an imported page has its charts first. The `record` of a
/// workload is its position in the journal, which differs.
fn comparable(mut document: Value) -> Value {
    for test in document["tests"].as_array_mut().expect("tests") {
        for list in ["tables", "charts"] {
            test[list].as_array_mut().expect("a list").sort_by_key(Value::to_string);
        }
        for cell in test["cells"].as_array_mut().expect("cells") {
            cell.as_object_mut().expect("a cell").remove("record");
        }
    }
    document
}

fn assert_same(one: &Value, other: &Value, ignored: &[&str], what: &str) {
    let problem = differs(one, other, ignored, what);
    assert_eq!(problem, None);
}

/// Describes how two documents differ; `None` if they do not.
fn differs(one: &Value, other: &Value, ignored: &[&str], what: &str) -> Option<String> {
    let mut found = Vec::new();
    differences("", one, other, &mut found);
    found.retain(|place| {
        !ignored.iter().any(|known| place == known || place.starts_with(&format!("{known}/")))
    });
    let shown: Vec<String> = found
        .iter()
        .take(5)
        .map(|place| {
            // The pointer of the first test is good enough for a message.
            let pointer = place.replace('*', "0");
            format!("{place}: {:?} became {:?}", one.pointer(&pointer), other.pointer(&pointer))
        })
        .collect();
    (!found.is_empty()).then(|| format!("{what}: {} differences, such as {shown:#?}", found.len()))
}

/// Covers all tests of all profiles, and runs with power, on a file, modified, simulated, interrupted and
/// incomplete.
fn scenarios() -> Vec<Scenario> {
    let powered = |subject| Scenario { power: Some((subject, 5.0)), ..Scenario::default() };
    let mut all = fixture::scenarios();
    // No drive is that fast, so the import refuses the value.
    all.retain(|scenario| scenario.id != "huge");
    all.extend([
        Scenario { id: "drive", tests: &["iops", "tp-1024"], ..powered(PowerSubject::Drive) },
        Scenario { id: "host", ..powered(PowerSubject::Host) },
        Scenario { id: "bound", ..powered(PowerSubject::UpperBound) },
        Scenario { id: "on-file", tests: &["lat", "iops"], on_file: true, ..powered(PowerSubject::Drive) },
        Scenario { id: "busy", busy: true, profile: "pts-e-2.0", ..Scenario::default() },
        Scenario { id: "failing", fails_in_cell: Some(70), ..Scenario::default() },
        Scenario {
            id: "not-begun",
            tests: &["iops", "wsat"],
            cut_after_cells: Some(80),
            ..Scenario::default()
        },
        Scenario {
            id: "wsat",
            tests: &["wsat"],
            power: Some((PowerSubject::Drive, 5.0)),
            ..Scenario::default()
        },
        Scenario { id: "early", early: true, ..Scenario::default() },
    ]);
    for (at, profile) in pts::PROFILES.iter().enumerate() {
        // The tests in a family differ only in block size.
        let of_family =
            |family: &str| pts::TESTS.iter().find(|test| test.family == family).map(|test| test.name);
        let tests: Vec<&'static str> =
            profile.tests.iter().filter_map(|listed| of_family(listed.family)).collect();
        let simulated = at % 2 == 0;
        all.push(Scenario {
            id: profile.name,
            profile: profile.name,
            tests: tests.leak(),
            simulated,
            ..Scenario::default()
        });
    }
    all
}

#[test]
fn a_json_document_keeps_every_value_through_an_import() {
    let mut problems = Vec::new();
    for scenario in scenarios() {
        let own = measured(&scenario);
        let again = imported(&own.bytes("json-file"));
        let (first, second) = (comparable(own.json()), comparable(again.json()));
        let mut not_taken_over = NOT_TAKEN_OVER.to_vec();
        if scenario.id == "cut-at-once" {
            // An incomplete test omits empty tables; an imported one lists the cells that were measured.
            not_taken_over.push("/tests/*/tables");
        }
        problems.extend(differs(&first, &second, &not_taken_over, scenario.id));
        // A second import adds its own mark and changes nothing else.
        let third = comparable(imported(&again.bytes("json-file")).json());
        let ignored = ["/run", "/journal_sha256", "/origin", "/marks"];
        problems.extend(differs(&second, &third, &ignored, &format!("{} again", scenario.id)));
        let marks = |document: &Value| -> Vec<String> {
            let all = document["marks"].as_array().expect("marks").iter();
            all.filter_map(|mark| mark["mark"].as_str().map(str::to_owned))
                .filter(|mark| mark != "imported")
                .collect()
        };
        assert_eq!(marks(&first), marks(&second), "{}", scenario.id);
        assert_eq!(marks(&second), marks(&third), "{}", scenario.id);
        assert!(second["marks"].to_string().contains("imported"), "{}", scenario.id);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A table's rows, by column, without the columns about the run.
fn rows(table: &[u8], without: &[&str]) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(table);
    let head = reader.headers().expect("a heading").clone();
    let row = |record: csv::StringRecord| {
        let fields = head.iter().zip(&record).map(|(name, value)| (name.to_owned(), value.to_owned()));
        fields.filter(|(name, _)| !without.contains(&name.as_str())).collect()
    };
    reader.records().map(|record| row(record.expect("a row"))).collect()
}

#[test]
fn a_table_keeps_every_column_through_an_import() {
    const OF_RUN: [&str; 4] = ["run", "imported", "marks", "record"];
    let mut problems = Vec::new();
    for scenario in scenarios() {
        let own = measured(&scenario).files("csv");
        // Values that a file does not contain, such as those in rows of other tables, are not filled in.
        for name in ["cells.csv", "figures.csv", "steady_state.csv", "tables.csv"] {
            let table = &own[name];
            if rows(table, &[]).is_empty() {
                continue;
            }
            let again = imported(table).files("csv");
            let (first, second) = (rows(table, &OF_RUN), rows(&again[name], &OF_RUN));
            assert_eq!(first.len(), second.len(), "{}: {name}", scenario.id);
            let differ = |(one, other): (&BTreeMap<String, String>, &BTreeMap<String, String>)| {
                let fields = one.iter().filter(|(key, value)| other.get(*key) != Some(value));
                let shown: Vec<_> = fields
                    .map(|(key, value)| (key.clone(), value.clone(), other.get(key).cloned()))
                    .collect();
                (!shown.is_empty()).then_some(shown)
            };
            let found = first.iter().zip(&second).find_map(differ);
            problems.extend(found.map(|fields| format!("{}: {name}: {fields:?}", scenario.id)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the samples in a metrics file, without the labels about the run.
fn samples(text: &str) -> Vec<(String, f64)> {
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        let (metric, labels) = name.split_once('{').expect("labels");
        let labels: Vec<&str> =
            labels.trim_end_matches('}').split("\",").filter(|label| !label.starts_with("run=")).collect();
        let labels: Vec<&str> = labels.into_iter().filter(|label| !label.starts_with("imported=")).collect();
        (format!("{metric}{{{}", labels.join(",").trim_end_matches('"')), value.parse().expect("a number"))
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter(|line| !line.starts_with("plateau_mark{")).map(sample).collect()
}

#[test]
fn metrics_keep_every_sample_through_an_import() {
    for scenario in scenarios() {
        let own = measured(&scenario).text("openmetrics");
        if !own.contains("plateau_figure") {
            continue;
        }
        let again = imported(own.as_bytes()).text("openmetrics");
        let (mut first, mut second) = (samples(&own), samples(&again));
        // An import records which figures are not host-limited only if at least one figure is host-limited.
        if !again.contains("plateau_host_limited{") {
            first.retain(|(name, value)| !name.starts_with("plateau_host_limited") || *value > 0.0);
        }
        first.sort_by(|a, b| a.0.cmp(&b.0));
        second.sort_by(|a, b| a.0.cmp(&b.0));
        let names = |all: &[(String, f64)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&first), names(&second), "{}", scenario.id);
        for ((name, one), (_, other)) in first.iter().zip(&second) {
            assert!((one - other).abs() <= 1e-12 * one.abs(), "{}: {name}: {one} and {other}", scenario.id);
        }
    }
}

/// Jobs in fio JSON and rounds in TKperf XML do not contain all facts about a cell. The facts that they do contain
/// stay the same, as do the marks of the run.
#[test]
fn files_of_other_tools_keep_their_cells_through_an_import() {
    for scenario in scenarios() {
        let own = measured(&scenario);
        let document = own.json();
        let tests = document["tests"].as_array().expect("tests");
        let all = tests.iter().flat_map(|test| test["cells"].as_array().expect("cells"));
        // fio reports no jobs without I/Os.
        let cells: Vec<&Value> = all.filter(|cell| cell["ios"] != 0).collect();
        let file = own.bytes("fio-json");
        if cells.is_empty() {
            assert!(import::read(&file, None).is_err(), "{}: it contains no results", scenario.id);
            continue;
        }
        let (_, found) = import::read(&file, None).expect("fio JSON");
        let readings: Vec<_> = found.tests.iter().flat_map(|test| &test.readings).collect();
        assert_eq!(readings.len(), cells.len(), "{}", scenario.id);
        for (reading, cell) in readings.into_iter().zip(cells) {
            let same = serde_json::json!({
                "access": reading.access, "block_bytes": reading.block_bytes, "read_percent": reading.read_percent,
                "threads": reading.threads, "queue_depth": reading.queue_depth, "round": reading.round,
                "phase": reading.phase, "in_window": reading.in_window, "host_limited": reading.host_limited,
                "ios": reading.ios,
            });
            for (way, direction) in [("read", &reading.read), ("write", &reading.write)] {
                let direction = direction.as_ref().expect("amounts");
                let stated = [&cell[way]["ios"], &cell[way]["bytes"]].map(Value::as_u64);
                assert_eq!(
                    stated,
                    [Some(direction.ios), Some(direction.bytes)],
                    "{}: {way} of {cell}",
                    scenario.id
                );
            }
            for (key, value) in same.as_object().expect("an object") {
                assert_eq!(value, &cell[key], "{}: {key} of {cell}", scenario.id);
            }
            let iops = cell["iops"].as_f64().expect("IOPS");
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
            assert!(reading.iops.is_some_and(|own| close(own, iops)), "{}: {cell}", scenario.id);
        }
        let marks = |marks: &[record::StatedMark]| -> Vec<&'static str> {
            marks.iter().map(|mark| mark.mark.key()).collect()
        };
        let expected: Vec<&str> = document["marks"]
            .as_array()
            .expect("marks")
            .iter()
            .filter_map(|mark| mark["mark"].as_str())
            .collect();
        assert_eq!(marks(&found.exported.marks), expected, "{}", scenario.id);
        assert_eq!(found.exported.simulated.is_some(), scenario.simulated, "{}", scenario.id);
    }
}

/// Results from other tools contain neither power nor host limits, and an export must not fill them in.
#[test]
fn results_of_other_tools_keep_every_value_through_a_json_document() {
    let mut files = vec![(
        "fio",
        r#"{"fio version":"fio-3.36","global options":{"group_reporting":"1"},"jobs":[{"jobname":"a",
        "job options":{"rw":"randrw","bs":"4k","numjobs":"4","iodepth":"8","rwmixread":"70"},
        "read":{"total_ios":700,"io_bytes":2867200,"bw_bytes":2867200,"iops":700.0,"lat_ns":{"max":9000,"mean":5000.5,"N":700}},
        "write":{"total_ios":300,"io_bytes":1228800,"bw_bytes":1228800,"iops":300.0,"lat_ns":{"max":8000,"mean":4000.25,"N":300}}}]}"#
            .as_bytes()
            .to_vec(),
    )];
    files.push(("tkperf", include_bytes!("data/tkperf-2.2-loop.xml").to_vec()));
    files.extend(
        import::examples::EXAMPLES.iter().map(|example| (example.name, example.text.as_bytes().to_vec())),
    );
    for (name, file) in files {
        let own = imported(&file);
        let again = imported(&own.bytes("json-file"));
        let (first, second) = (comparable(own.json()), comparable(again.json()));
        assert_same(&first, &second, &["/run", "/journal_sha256", "/origin", "/marks"], name);
        let origin = |document: &Value, key: &str| document["origin"][key].clone();
        for key in ["tool", "date", "transcribed", "remarks"] {
            assert_eq!(origin(&first, key), origin(&second, key), "{name}: {key}");
        }
        if name == "fio" {
            assert_eq!(
                (&first["tests"][0]["cells"][0]["threads"], &first["tests"][0]["cells"][0]["queue_depth"]),
                (&4.into(), &8.into())
            );
            assert_eq!(first["tests"][0]["cells"][0]["power"], Value::Null);
            let amounts = |document: &Value| -> Vec<Value> {
                let cell = &document["tests"][0]["cells"][0];
                ["read", "write"]
                    .iter()
                    .flat_map(|way| [cell[way]["ios"].clone(), cell[way]["bytes"].clone()])
                    .collect()
            };
            assert_eq!(amounts(&first), [700, 2_867_200, 300, 1_228_800].map(Value::from));
            let table = rows(&own.files("csv")["cells.csv"], &[]).remove(0);
            let columns =
                ["read_ios", "read_bytes", "write_ios", "write_bytes"].map(|name| table[name].as_str());
            assert_eq!(columns, ["700", "2867200", "300", "1228800"]);
            let metrics = own.text("openmetrics");
            assert!(metrics.contains("plateau_written_bytes{"), "{metrics}");
            assert!(
                metrics
                    .lines()
                    .any(|line| line.starts_with("plateau_written_bytes{") && line.ends_with(" 1228800"))
            );
            assert!(imported(metrics.as_bytes()).text("openmetrics").contains("} 1228800"));
        }
    }
}

/// What a publication says about preconditioning, active range and dates is in the document, and on the pages of the
/// run imported from it.
#[test]
fn what_a_publication_says_about_a_test_survives_a_json_document() {
    let file = include_str!("../examples-data/mlc-a.toml");
    let own = imported(file.as_bytes());
    let document = own.json();
    let test = &document["tests"][0];
    let stated: toml::Table = file.parse().expect("TOML");
    let published = &stated["test"][0];
    for key in ["date", "preconditioning"] {
        assert_eq!(test[key].as_str(), published[key].as_str(), "{key}");
        assert!(test[key].is_string(), "{key}");
    }
    let range = &test["active_range"];
    for (key, at) in [("precondition", 0), ("test", 1), ("amount", 2), ("segments", 3)] {
        assert_eq!(range[key].as_str(), published["active_range"][at].as_str(), "{key}");
    }
    let again = imported(&own.bytes("json-file"));
    let page = again.text("html");
    for text in [published["date"].as_str(), published["preconditioning"].as_str(), range["amount"].as_str()]
    {
        assert!(page.contains(text.expect("text")), "{text:?}");
    }
    // If a file does not contain them, they are not filled in.
    let bare = imported(include_bytes!("data/tkperf-2.2-loop.xml")).json();
    assert_eq!(bare["tests"][0]["active_range"], Value::Null);
    assert_eq!(bare["tests"][0]["date"], Value::Null);
}

/// Comparisons use the values of a workload as figures of its run: keys and means survive an import.
#[test]
fn comparisons_use_the_same_figures_of_an_imported_run() {
    let mut problems = Vec::new();
    for scenario in scenarios() {
        let own = measured(&scenario);
        let again = imported(&own.bytes("json-file"));
        let figures = |run: &Reported| -> BTreeMap<String, (Vec<f64>, Option<f64>)> {
            let powered = run
                .figures()
                .into_iter()
                .filter(|figure| figure.key.ends_with(".per-watt") || figure.key == "power.idle");
            powered.map(|figure| (figure.key, (figure.values, figure.uncertainty))).collect()
        };
        assert_eq!(figures(&own), figures(&again), "{}", scenario.id);
        // Both have the same keys, each with the values of the same rounds.
        let known = |run: &Reported| -> BTreeMap<String, Vec<f64>> {
            run.figures().into_iter().map(|figure| (figure.key, figure.values)).collect()
        };
        let (known, found) = (known(&own), known(&again));
        let keys = |all: &BTreeMap<String, Vec<f64>>| all.keys().cloned().collect::<Vec<_>>();
        let only =
            |a: &[String], b: &[String]| a.iter().filter(|key| !b.contains(key)).cloned().collect::<Vec<_>>();
        let (mine, theirs) = (keys(&known), keys(&found));
        if mine != theirs {
            problems.push(format!(
                "{}: {:?} became {:?}",
                scenario.id,
                only(&mine, &theirs),
                only(&theirs, &mine)
            ));
        }
        for (key, values) in &found {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
            let is_same = known
                .get(key)
                .is_none_or(|own| own.len() == values.len() && own.iter().zip(values).all(close));
            if !is_same {
                problems.push(format!("{}: {key}: {values:?}", scenario.id));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let own = measured(&Scenario { power: Some((PowerSubject::Drive, 5.0)), ..Scenario::default() });
    let again = imported(&own.bytes("json-file")).figures();
    assert!(again.iter().any(|figure| figure.key == "iops.rnd4k.w.per-watt" && figure.uncertainty.is_some()));
}

/// Returns the numbers on one sheet of a spreadsheet.
fn numbers(book: &[u8], sheet: &str) -> Vec<f64> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book)).expect("an archive");
    let mut part = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).expect(name).read_to_string(&mut text).expect("text");
        text
    };
    let names = part("xl/workbook.xml");
    let named = format!("name=\"{sheet}\"");
    let place = names.split("<sheet ").skip(1).position(|one| one.contains(&named)).expect(sheet);
    let content = part(&format!("xl/worksheets/sheet{}.xml", place + 1));
    // Cells with text have a type.
    let cells = content.split("<c ").skip(1).filter(|cell| !cell.contains("t=\"s\""));
    cells.filter_map(|cell| cell.split("<v>").nth(1)?.split("</v>").next()?.parse().ok()).collect()
}

#[test]
fn pages_and_spreadsheets_of_an_imported_run_have_power_and_the_share_of_the_file_system() {
    let scenario = Scenario { power: Some((PowerSubject::Drive, 5.0)), on_file: true, ..Scenario::default() };
    let own = measured(&scenario);
    let page = own.text("html");
    let again = imported(&own.bytes("json-file"));
    let imported_page = again.text("html");
    let cells = |page: &str, head: &str| -> Vec<String> {
        let table = page.split("<table").find(|table| table.contains(head)).expect(head);
        let body = table.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next());
        body.expect("rows").lines().map(str::to_owned).collect()
    };
    for head in [">IOPS/W<", ">Bytes written / byte<"] {
        assert_eq!(cells(&page, head), cells(&imported_page, head));
        assert!(!cells(&page, head).is_empty());
    }
    for text in [
        "Power: sensor nvme (hwmon2) (hwmon:nvme). Idle: 2.000 ± 0.040 W, measured before the first test.",
        "File system: ext4 on sda1 (sda: PM883), blocks of 4KiB, mounted rw,relatime.",
        "Annex B: beyond the standard",
        "<a href=\"#page-b\">",
        "file on ext4 on sda1",
    ] {
        assert!(imported_page.contains(text), "{text}");
    }
    let annex = imported_page.split("id=\"page-b\"").nth(1).expect("annex B");
    assert!(annex.contains("IMPORTED"), "the annex is marked");
    if let Some(pages) = fixture::pages(&again.bytes("pdf")) {
        let annex = pages.iter().find(|page| page.contains("Annex B: beyond the standard")).expect("annex B");
        assert!(annex.contains("IMPORTED") && annex.contains("IOPS/W"), "{annex}");
    }
    for name in ["Power", "File system"] {
        let [first, second] = [&own, &again].map(|run| numbers(&run.bytes("xlsx"), name));
        assert!(first.len() > 10, "{name}: {first:?}");
        // In an imported run, cells refer to the record of their test.
        assert!(first.iter().all(|number| number.fract() == 0.0 || second.contains(number)), "{name}");
        assert_eq!(first.len(), second.len(), "{name}");
    }
    // Values missing from the file are not on the page.
    let other = imported(&measured(&Scenario::default()).bytes("json-file")).text("html");
    assert!(!other.contains("Annex B") && !other.contains("IOPS/W"));
}

#[test]
fn a_file_with_an_impossible_power_is_refused() {
    let own =
        measured(&Scenario { power: Some((PowerSubject::Drive, 5.0)), on_file: true, ..Scenario::default() });
    let text = own.text("json-file");
    let broken = |key: &str, value: &str| {
        let mut document = own.json();
        let place = document.pointer_mut(key).expect(key);
        *place = serde_json::from_str(value).expect("JSON");
        import::read(&serde_json::to_vec(&document).expect("JSON"), None).map(drop)
    };
    assert!(import::read(text.as_bytes(), None).is_ok());
    for (key, value) in [
        ("/power/idle_watts/value", "-1.0"),
        ("/power/subject", "\"someone\""),
        ("/tests/0/efficiency/0/mean/watts/value", "-0.5"),
        ("/tests/0/cells/0/power/mean_watts", "1e20"),
        ("/tests/0/cells/0/start_ns", "18446744073709551615"),
        ("/file_system/share/writes_per_write", "-1.0"),
        ("/tests/0/file_share/0/share/reads_per_read", "1e300"),
    ] {
        assert!(broken(key, value).is_err(), "{key} = {value}");
    }
    let metrics = own.text("openmetrics");
    let without: Vec<&str> =
        metrics.lines().filter(|line| !line.starts_with("plateau_efficiency_bytes_per_joule{")).collect();
    let error = import::read((without.join("\n") + "\n").as_bytes(), None).expect_err("incomplete");
    assert!(error.to_string().contains("lacks the power or the efficiency"), "{error}");
    let foreign = metrics.replace("subject=\"drive\"", "subject=\"other\"");
    assert!(import::read(foreign.as_bytes(), None).is_err());
}
