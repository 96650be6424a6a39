//! The index contains what reports print, is the same after a rebuild, and is updated when its library changes.

#[path = "support/figures.rs"]
mod figures;
#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::path::Path;
use std::time::{Duration, Instant};

use figures::rows;
use fixture::Scenario;
use store::engine::Engine as _;
use store::{Access, InProgress, Index, Kind, Limits, Seen, Sqlite, StoreError, TABLES, Updated, Value};

const BUILD: &str = "this build";
const LIMITS: Limits = Limits::within(Duration::from_secs(60));

fn open(root: &Path) -> Index {
    Index::open(root, BUILD, Access::Write).expect("an index")
}

fn updated(root: &Path) -> Updated {
    let updated = Index::with(root, BUILD, |index| index.update(InProgress::Included));
    updated.expect("an update").1
}

#[test]
fn no_run_from_elsewhere_can_take_the_place_of_the_index() {
    assert!(record::is_reserved_run_id(store::INDEX));
    assert!(record::is_reserved_run_id(store::LIBRARY_ID));
}

#[test]
fn every_figure_is_the_one_that_the_report_prints() {
    figures::are_those_of_reports(open);
}

#[test]
fn a_figure_is_the_mean_of_its_rounds_and_has_their_spread() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario { id: "one", ..Scenario::default() });
    let mut index = open(root.path());
    index.update(InProgress::Included).expect("an update");
    let figures = rows(&mut index, "SELECT * FROM figure WHERE rounds > 1", &[]);
    assert!(figures.len() > 50, "{}", figures.len());
    for figure in figures {
        let number = Value::Integer(figure["number"].as_i64().unwrap());
        let values = rows(&mut index, "SELECT value FROM figure_round WHERE figure_number = $1", &[number]);
        let values: Vec<f64> = values.iter().map(|row| row["value"].as_f64().unwrap()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - figure["value"].as_f64().unwrap()).abs() <= 1e-9 * mean, "{figure:?}");
        assert!(figure["spread_share"].as_f64().is_some(), "{figure:?}");
    }
}

#[test]
fn the_columns_of_the_tables_are_those_of_the_schema() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    let mut index = open(root.path());
    for table in TABLES {
        let query = "SELECT name, type FROM pragma_table_info($1) ORDER BY cid";
        let found: Vec<(String, String)> = rows(&mut index, query, &[table.name.into()])
            .iter()
            .map(|row| (row["name"].as_str().unwrap().to_owned(), row["type"].as_str().unwrap().to_owned()))
            .collect();
        let word = |kind| match kind {
            Kind::Integer | Kind::Boolean => "BIGINT",
            Kind::Real => "DOUBLE PRECISION",
            Kind::Text | Kind::Time => "TEXT",
        };
        let own = table.columns.iter().map(|column| (column.name.to_owned(), word(column.kind).to_owned()));
        let key = ("run_key".to_owned(), "TEXT".to_owned());
        assert_eq!(found, std::iter::once(key).chain(own).collect::<Vec<_>>(), "{}", table.name);
    }
}

#[test]
fn a_rebuilt_index_has_the_same_rows() {
    let root = fixture::folder();
    for scenario in fixture::scenarios() {
        fixture::record(root.path(), &scenario);
        updated(root.path());
    }
    let count = fixture::scenarios().len();
    let mut index = open(root.path());
    let dump = index.dump().expect("a dump");
    assert!(dump.lines().filter(|line| line.starts_with("run: ")).count() == count, "{dump}");
    assert_eq!(index.rebuild().expect("a rebuild").indexed, count);
    assert!(index.dump().expect("a dump") == dump);
    drop(index);
    std::fs::remove_file(root.path().join(store::INDEX)).expect("removed");
    assert_eq!(updated(root.path()).indexed, count);
    assert!(open(root.path()).dump().expect("a dump") == dump);
}

#[test]
fn only_runs_that_changed_are_read_again() {
    let root = fixture::folder();
    for id in ["a", "b"] {
        fixture::record(root.path(), &Scenario { id, ..Scenario::default() });
    }
    assert_eq!(updated(root.path()).indexed, 2);
    assert_eq!(updated(root.path()), Updated { runs: 2, ..Updated::default() });
    // A new record makes the rows stale.
    let run = record::Library::at(root.path()).find("a").expect("a run");
    let (mut journal, _) = run.reopen().expect("a journal");
    journal.append(record::Event::Interrupted { reason: "a test".into() }).expect("a record");
    drop(journal);
    let seen = open(root.path()).survey().expect("a survey");
    assert!(matches!(seen["a"], Seen::Stale) && matches!(seen["b"], Seen::Current(..)), "{seen:?}");
    assert_eq!(updated(root.path()).indexed, 1);
    // The rows of a removed run are removed.
    record::Library::at(root.path()).find("b").expect("a run").remove().expect("removed");
    let caught_up = updated(root.path());
    assert_eq!((caught_up.indexed, caught_up.removed, caught_up.runs), (0, 1, 1));
    // Another build may have evaluated the run differently.
    let mut other = Index::open(root.path(), "another build", Access::Write).expect("an index");
    assert!(matches!(other.survey().expect("a survey")["a"], Seen::Stale));
    assert_eq!(other.update(InProgress::Included).expect("an update").indexed, 1);
}

#[test]
fn a_run_that_cannot_be_read_has_no_rows() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario { id: "bad", ..Scenario::default() });
    assert_eq!(updated(root.path()).runs, 1);
    let journal = root.path().join("bad/journal");
    let mut bytes = std::fs::read(&journal).expect("a journal");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bytes.push(b'\n');
    std::fs::write(&journal, bytes).expect("a damaged journal");
    let caught_up = updated(root.path());
    assert_eq!((caught_up.runs, caught_up.unreadable.len()), (0, 1), "{caught_up:?}");
    assert!(matches!(open(root.path()).survey().expect("a survey")["bad"], Seen::Stale));
}

#[test]
fn a_run_in_progress_is_left_out_on_request() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario { id: "busy", ..Scenario::default() });
    let run = record::Library::at(root.path()).find("busy").expect("a run");
    let (journal, _) = run.reopen().expect("a journal");
    let mut index = open(root.path());
    assert_eq!(index.update(InProgress::LeftOut).expect("an update").indexed, 0);
    drop(journal);
    assert_eq!(index.update(InProgress::LeftOut).expect("an update").indexed, 1);
}

#[test]
fn a_newer_schema_is_refused_and_kept() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    updated(root.path());
    let path = root.path().join(store::INDEX);
    let connection = rusqlite::Connection::open(&path).expect("SQLite");
    connection.execute_batch("UPDATE schema_version SET version = 99").expect("an update");
    drop(connection);
    for access in [Access::Read, Access::Write] {
        let error = Index::open(root.path(), BUILD, access).err().expect("a refusal");
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    }
    assert!(path.exists());
}

#[test]
fn a_damaged_index_is_replaced() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    updated(root.path());
    let path = root.path().join(store::INDEX);
    let good = std::fs::read(&path).expect("an index");
    let dump = open(root.path()).dump().expect("a dump");
    let mut zeros = good.clone();
    zeros[4096..].fill(0);
    let text = b"this is not a database, but a text of some length".repeat(100);
    for bad in [text, good[..good.len() / 2].to_vec(), zeros] {
        std::fs::write(&path, bad).expect("damage");
        let read = Index::open(root.path(), BUILD, Access::Read).and_then(|mut index| index.dump());
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
        assert_eq!(updated(root.path()).indexed, 1);
        assert!(open(root.path()).dump().expect("a dump") == dump);
    }
}

#[test]
fn queries_read_the_store_and_nothing_else() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    updated(root.path());
    let ask = |query: &str| open(root.path()).ask(query, LIMITS);
    let answer = ask("SELECT figure_key, MAX(value) AS most FROM figure WHERE unit = 'IOPS' GROUP BY 1");
    let answer = answer.expect("an answer");
    assert_eq!(answer.columns, ["figure_key", "most"]);
    assert!(answer.rows.len() > 50);
    for bad in [
        "DELETE FROM run",
        "UPDATE run SET state = 'steady'",
        "DROP TABLE run",
        "CREATE TABLE more (x)",
        "ATTACH '/etc/passwd' AS other",
        "PRAGMA writable_schema = ON",
        "BEGIN",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT 1; DELETE FROM run",
        "SELECT FROM",
        "SELECT * FROM nothing",
        "",
    ] {
        let error = ask(bad).err().unwrap_or_else(|| panic!("accepted: {bad}"));
        assert!(matches!(error, StoreError::Query(_)), "{bad}: {error:?}");
    }
    assert_eq!(ask("SELECT COUNT(*) FROM run").expect("an answer").rows, [[Value::Integer(1)]]);
    // Later updates are still possible.
    assert_eq!(open(root.path()).rebuild().expect("a rebuild").indexed, 1);
}

/// The second query is a single database step that takes minutes.
#[test]
fn a_query_ends_at_its_time_limit_even_within_a_step() {
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    updated(root.path());
    let begun = Instant::now();
    for query in [
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n",
        "SELECT instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1')",
    ] {
        let limits = Limits::within(Duration::from_millis(200));
        let answer = open(root.path()).ask(query, limits);
        assert!(matches!(answer, Err(StoreError::TooSlow { .. })), "{query}: {answer:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn a_full_disk_is_reported_once() {
    let mut store = Sqlite::in_memory().expect("a database");
    store.define("PRAGMA max_page_count = 1").expect("a limit");
    let full = store.define("CREATE TABLE a (b)").expect_err("one page has no room for a table");
    let text = stdx::text::with_causes(&full);
    assert_eq!(text, "cannot write to the store: database or disk is full");
}
