//! Figures of the index compared with those that reports print.

use std::collections::BTreeMap;
use std::path::Path;

use pts::{PROFILES, TESTS};
use record::{Annotations, Detail, Loaded, Run};
use report::formats::{FORMATS, Make, Source};
use serde_json::Value as Json;
use store::{InProgress, Index, Value};

use crate::fixture::{self, Scenario};

fn report_of(run: &Run, loaded: &Loaded) -> Json {
    let document = report::fold(&run.file, loaded).expect("a report");
    let source = Source { document: &document, entries: &loaded.entries };
    let format = FORMATS.iter().find(|format| format.name == "json-file").expect("the JSON export");
    let Make::File(make) = format.make else { panic!("it is one file") };
    serde_json::from_slice(&make(source).expect("a document")).expect("JSON")
}

/// Returns rows as objects by column.
pub fn rows(index: &mut Index, query: &str, values: &[Value]) -> Vec<BTreeMap<String, Json>> {
    let answer = index.query(query, values).expect("an answer");
    let json = |value: &Value| match value {
        Value::Null => Json::Null,
        Value::Integer(number) => Json::from(*number),
        Value::Real(number) => Json::from(*number),
        Value::Text(text) => Json::from(&**text),
    };
    let object = |row: &Vec<Value>| answer.columns.iter().cloned().zip(row.iter().map(json)).collect();
    answer.rows.iter().map(object).collect()
}

/// Checks the figures of each test of each profile in the index that `open` opens.
pub fn are_those_of_reports(open: impl Fn(&Path) -> Index) {
    let root = fixture::folder();
    let mut reports = Vec::new();
    for profile in PROFILES {
        for test in TESTS {
            let id = format!("{}-{}", profile.name, test.name).leak();
            let tests = vec![test.name].leak();
            let scenario = Scenario { id, profile: profile.name, tests, ..Scenario::default() };
            let (run, loaded) = fixture::record(root.path(), &scenario);
            reports.push((&*id, report_of(&run, &loaded)));
            // The index leaves out what only charts show.
            let conclusions = run.load_detail(Detail::Conclusions).expect("a journal");
            let fold = |loaded| store::fold("", id, &run.file, loaded, &Annotations::default());
            assert_eq!(fold(&conclusions), fold(&loaded), "{id}");
        }
    }
    let mut index = open(root.path());
    let caught_up = index.update(InProgress::Included).expect("an update");
    assert_eq!((caught_up.indexed, &caught_up.unreadable[..]), (reports.len(), &[][..]));
    let figures: usize = reports.iter().map(|(id, report)| compared(&mut index, id, report)).sum();
    assert!(figures > 100, "{figures}");
}

/// Compares the rows of a run with its report; returns the number of figures.
fn compared(index: &mut Index, id: &str, report: &Json) -> usize {
    let mut figures = 0;
    let mut rows = |table: &str, condition: &str| {
        let query = format!(
            "SELECT {table}.* FROM {table} JOIN run ON run.run_key = {table}.run_key WHERE run.folder = $1 {condition}"
        );
        rows(index, &query, &[Value::from(id)])
    };
    let printed = report["tests"].as_array().expect("tests");
    let stored = rows("figure", "AND key_figure = 1 ORDER BY number");
    let expected: Vec<&Json> = printed.iter().flat_map(|test| test["figures"].as_array().unwrap()).collect();
    assert_eq!(stored.len(), expected.len(), "{id}");
    for (stored, printed) in stored.iter().zip(expected) {
        assert_eq!(stored["value"], printed["value"], "{id} {stored:?}");
        assert_eq!(stored["unit"], printed["unit"], "{id} {stored:?}");
        let is_limited = stored["host_limited"] == 1;
        assert_eq!(Json::from(is_limited), printed["host_limited"], "{id} {stored:?}");
        figures += 1;
    }
    let windows = rows("steady_state", "ORDER BY number");
    let expected: Vec<&Json> =
        printed.iter().flat_map(|test| test["steady_state"].as_array().unwrap()).collect();
    assert_eq!(windows.len(), expected.len(), "{id}");
    for (stored, printed) in windows.iter().zip(expected) {
        for column in ["variable", "first_round", "last_round", "mean", "data_excursion", "slope_per_round"] {
            assert_eq!(stored[column], printed[column], "{id} {column}");
        }
    }
    let tests = rows("test", "");
    for (stored, printed) in tests.iter().zip(printed) {
        for column in ["test", "title", "purge", "rounds", "io_errors"] {
            assert_eq!(stored[column], printed[column], "{id} {column}");
        }
        assert_eq!(stored["stopped"], printed["stopped"], "{id}");
    }
    let deviations = rows("deviation", "ORDER BY number");
    let texts: Vec<&Json> = deviations.iter().map(|row| &row["text"]).collect();
    assert_eq!(texts, report["modified"].as_array().expect("a list").iter().collect::<Vec<_>>(), "{id}");
    figures
}
