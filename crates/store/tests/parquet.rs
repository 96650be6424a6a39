//! Parquet files, as read by the `parquet` library, have the same content as the index.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Duration;

use fixture::Scenario;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;
use store::{Access, Answer, ExportError, InProgress, Index, Kind, Limits, Part, StoreError, TABLES, Value};

/// A file as its reader sees it.
struct Read {
    columns: Vec<String>,
    rows: Vec<Vec<Field>>,
    row_groups: usize,
    notes: BTreeMap<String, String>,
}

fn read(bytes: Vec<u8>) -> Read {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&bytes).expect("written");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let footer = reader.metadata().file_metadata();
    let columns = footer.schema_descr().columns().iter().map(|column| column.name().to_owned()).collect();
    let notes = footer.key_value_metadata().into_iter().flatten();
    let notes = notes.map(|note| (note.key.clone(), note.value.clone().unwrap_or_default())).collect();
    let rows: Vec<Vec<Field>> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row").get_column_iter().map(|(_, field)| field.clone()).collect())
        .collect();
    assert_eq!(rows.len() as i64, footer.num_rows());
    Read { columns, rows, row_groups: reader.num_row_groups(), notes }
}

/// Returns an index value as it must be in a file.
fn expected(value: &Value, kind: Kind) -> Field {
    match (value, kind) {
        (Value::Null, _) => Field::Null,
        (Value::Integer(number), Kind::Integer) => Field::Long(*number),
        (Value::Integer(number @ (0 | 1)), Kind::Boolean) => Field::Bool(*number == 1),
        (Value::Real(number), Kind::Real) => Field::Double(*number),
        (Value::Text(text), Kind::Text) => Field::Str(text.clone()),
        (Value::Text(text), Kind::Time) => {
            Field::TimestampMicros(text.parse::<jiff::Timestamp>().expect("a time").as_microsecond())
        }
        _ => panic!("{value:?} in a column of {kind:?}"),
    }
}

fn bytes_of(index: &mut Index, part: &Part) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_part(part, &mut bytes).expect("written");
    bytes
}

/// Returns a library with all kinds of runs, and its index.
fn library() -> (tempfile::TempDir, Index) {
    let root = fixture::folder();
    let several = Scenario { id: "several", tests: &["iops", "lat", "tp-1024"], ..Scenario::default() };
    for scenario in fixture::scenarios().into_iter().chain([several]) {
        fixture::record(root.path(), &scenario);
    }
    let mut index = Index::open(root.path(), "this build", Access::Write).expect("an index");
    assert_eq!(index.update(InProgress::Included).expect("an update").unreadable, []);
    (root, index)
}

/// Returns all rows of a table in some of the files, each with the name of its test if the file's folder is
/// named after it.
fn exported(index: &mut Index, parts: &[Part], table: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for part in parts.iter().filter(|part| part.table() == table) {
        let path = part.path();
        let test = path.split('/').find_map(|folder| folder.strip_prefix("test="));
        let found = read(bytes_of(index, part));
        assert_eq!(found.notes["plateau.table"], table);
        for row in found.rows {
            let cells: BTreeMap<&str, String> = found
                .columns
                .iter()
                .map(|name| &**name)
                .zip(row.iter().map(|field| format!("{field:?}")))
                .chain(test.filter(|_| table == "figure").map(|test| match test {
                    "whole_run" => ("test", format!("{:?}", Field::Null)),
                    test => ("test", format!("{:?}", Field::Str(test.into()))),
                }))
                .collect();
            rows.push(format!("{cells:?}"));
        }
    }
    rows.sort();
    rows
}

#[test]
fn the_files_contain_every_row_of_the_index() {
    let (_root, mut index) = library();
    let runs = index.stored_runs().expect("runs");
    assert!(runs.len() > 5 && runs.iter().any(|run| run.is_simulated), "{runs:?}");
    let parts = index.parts(&runs).expect("parts");
    for table in TABLES {
        let answer = index.query(&format!("SELECT * FROM {}", table.name), &[]).expect("rows");
        let kind = |name: &str| {
            let column = table.columns.iter().find(|column| column.name == name);
            column.map_or(Kind::Text, |column| column.kind)
        };
        let row = |row: &Vec<Value>| {
            let cells = answer.columns.iter().zip(row);
            let cells = cells.map(|(name, value)| (&**name, format!("{:?}", expected(value, kind(name)))));
            format!("{:?}", cells.collect::<BTreeMap<&str, String>>())
        };
        let mut rows: Vec<String> = answer.rows.iter().map(row).collect();
        rows.sort();
        assert_eq!(exported(&mut index, &parts, table.name), rows, "{}", table.name);
    }
    let figures: Vec<String> =
        parts.iter().map(Part::path).filter(|path| path.starts_with("figure/")).collect();
    assert!(figures.contains(&"figure/test=iops/part-0.parquet".into()) && figures.len() > 2, "{figures:?}");
}

#[test]
fn files_contain_only_the_chosen_runs_and_count_the_simulated_ones() {
    let (_root, mut index) = library();
    let runs = index.stored_runs().expect("runs");
    for run in &runs {
        let parts = index.parts(std::slice::from_ref(run)).expect("parts");
        let part = parts.iter().find(|part| part.table() == "run").expect("the table");
        let found = read(bytes_of(&mut index, part));
        assert_eq!(found.rows.len(), 1);
        assert_eq!(found.rows[0][0], Field::Str(run.run_key.clone()));
        assert_eq!(found.notes["plateau.runs"], "1");
        assert_eq!(found.notes["plateau.simulated_runs"], u8::from(run.is_simulated).to_string());
    }
    let none = index.parts(&[]).expect("parts");
    let tables: Vec<&str> = none.iter().map(Part::table).collect();
    assert_eq!(tables, TABLES.iter().map(|table| table.name).collect::<Vec<_>>(), "each table has a file");
    assert!(none.iter().all(|part| read(bytes_of(&mut index, part)).rows.is_empty()));
}

#[test]
fn all_files_of_an_export_are_of_the_same_moment() {
    let (root, mut index) = library();
    let others = || Index::open(root.path(), "another build", Access::Write).expect("an index");
    let runs = index.stored_runs().expect("runs").len();
    index
        .reading(|index| {
            assert_eq!(index.stored_runs()?.len(), runs);
            let changed = others().rebuild();
            assert!(matches!(changed, Err(StoreError::Locked { .. })), "{changed:?}");
            assert_eq!(index.stored_runs()?.len(), runs);
            Ok::<(), StoreError>(())
        })
        .expect("read");
    assert_eq!(others().rebuild().expect("a rebuild").indexed, runs);
}

#[test]
fn long_tables_have_several_row_groups() {
    let rows: Vec<Vec<Value>> = (0..140_000_i64)
        .map(|number| {
            vec![Value::Integer(number), if number % 3 == 0 { Value::Null } else { Value::Real(0.5) }]
        })
        .collect();
    let answer = Answer { columns: vec!["number".into(), "half".into()], rows };
    let found = read(store::parquet(&answer).expect("a file"));
    assert_eq!((found.row_groups, found.rows.len()), (2, 140_000));
    for (number, row) in (0..).zip(&found.rows) {
        let half = if number % 3 == 0 { Field::Null } else { Field::Double(0.5) };
        assert_eq!(row[..], [Field::Long(number), half]);
    }
    // Large values also end a row group.
    let rows = vec![vec![Value::Text("x".repeat(20 << 20))]; 3];
    let found = read(store::parquet(&Answer { columns: vec!["text".into()], rows }).expect("a file"));
    assert_eq!((found.row_groups, found.rows.len()), (2, 3));
}

#[test]
fn the_columns_of_a_query_have_the_types_of_its_answer() {
    let (_root, index) = library();
    let query = "SELECT run_id, started_utc, archived_utc, threads, AVG(value) AS mean, NULL AS none \
                 FROM run JOIN figure ON figure.run_key = run.run_key GROUP BY run.run_key ORDER BY 1";
    let answer = index.ask(query, Limits::within(Duration::from_secs(60))).expect("an answer");
    let found = read(store::parquet(&answer).expect("a file"));
    assert_eq!(found.columns, ["run_id", "started_utc", "archived_utc", "threads", "mean", "none"]);
    for (row, values) in found.rows.iter().zip(&answer.rows) {
        let kinds = [Kind::Text, Kind::Time, Kind::Time, Kind::Integer, Kind::Real, Kind::Text];
        let expected: Vec<Field> =
            values.iter().zip(kinds).map(|(value, kind)| expected(value, kind)).collect();
        assert_eq!(*row, expected);
    }
    assert_eq!(found.rows.len(), answer.rows.len());
    let same = Answer { columns: ["value", "VALUE"].map(str::to_owned).to_vec(), rows: Vec::new() };
    let error = store::parquet(&same).expect_err("readers would confuse them");
    assert!(matches!(&error, ExportError::SameName(name) if name == "VALUE"), "{error}");
}

/// Returns values of one type, some of them null.
fn column(rows: usize) -> impl Strategy<Value = Vec<Value>> {
    let value = prop_oneof![
        Just(any::<i64>().prop_map(Value::Integer).boxed()),
        Just(any::<f64>().prop_map(Value::from).boxed()),
        Just(".*".prop_map(|text: String| Value::from(text)).boxed()),
    ];
    value.prop_flat_map(move |value| {
        prop::collection::vec(prop_oneof![2 => Just(Value::Null), 3 => value], rows)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_answer_can_be_read_back(columns in (0_usize..200).prop_flat_map(|rows| prop::collection::vec(column(rows), 1..5))) {
        let rows = columns[0].len();
        let answer = Answer {
            columns: (0..columns.len()).map(|place| format!("c{place}")).collect(),
            rows: (0..rows).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect(),
        };
        let found = read(store::parquet(&answer).expect("a file"));
        let field = |value: &Value| match value {
            Value::Null => Field::Null,
            Value::Integer(number) => Field::Long(*number),
            Value::Real(number) => Field::Double(*number),
            Value::Text(text) => Field::Str(text.clone()),
        };
        let expected: Vec<Vec<Field>> = answer.rows.iter().map(|row| row.iter().map(field).collect()).collect();
        prop_assert_eq!(found.rows, expected);
    }
}
