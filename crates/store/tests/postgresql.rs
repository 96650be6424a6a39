//! PostgreSQL: the same rows and answers as SQLite, several libraries in one store, and least privilege.

#[path = "support/figures.rs"]
mod figures;
#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;
mod postgres;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fixture::Scenario;
use postgres::{READER, Server, WRITER};
use record::{Change, Library, LibraryJournalError};
use store::engine::Engine;
use store::{
    Access, Address, Answer, InProgress, Index, Limits, Postgres, Seen, StoreError, TABLES, Updated, Value,
};

const BUILD: &str = "this build";
const LIMITS: Limits = Limits::within(Duration::from_secs(60));

fn address(server: &Server, role: &str, database: &str) -> Address {
    Address::parse(&server.url(role, database)).expect("an address")
}

fn own(root: &Path) -> Index {
    Index::open(root, BUILD, Access::Write).expect("an index")
}

fn shared(address: &Address, root: &Path) -> Index {
    Index::shared(address, root, BUILD, Access::Write).expect("a store")
}

fn reading(address: &Address, root: &Path) -> Index {
    Index::shared(address, root, BUILD, Access::Read).expect("a store")
}

fn update(mut index: Index) -> Updated {
    index.update(InProgress::Included).expect("an update")
}

fn refused(opened: Result<Index, StoreError>) -> StoreError {
    opened.err().expect("a refusal")
}

/// Tags, notes, names and a baseline, with characters that are special in some format.
fn annotate(root: &Path) {
    let run = || "enterprise".to_owned();
    let changes = vec![
        Change::Tagged { run: run(), tag: "rack-4".into() },
        Change::Noted { run: run(), text: "back\\slash, \\N, 'quote', \"double\" and é 漢 🦀".into() },
        Change::Named { run: run(), name: Some("shelf".into()) },
        Change::BaselineSet { baseline: "golden".into(), run: "client".into() },
        Change::Archived { run: "tiny".into() },
    ];
    let done = Library::at(root).annotate("someone", |_| Ok::<_, LibraryJournalError>(changes));
    done.expect("annotations");
}

/// Returns the answers to everything that Plateau asks of a store, as text.
fn answers(index: &mut Index) -> String {
    let mut out = format!("{:?}\n{:?}\n", index.survey().expect("a survey"), index.drives().expect("drives"));
    let keys = index.figure_keys().expect("keys");
    for key in &keys {
        out.push_str(&format!("{key} {:?}\n", index.figures(key).expect("figures")));
    }
    let runs = index.stored_runs().expect("runs");
    let ids: Vec<_> = runs.iter().map(|run| (&run.run_id, run.is_simulated)).collect();
    out.push_str(&format!("{ids:?}\n"));
    let parts = index.reading(|index| {
        let parts = index.parts(&runs)?;
        let mut written = Vec::new();
        for part in parts {
            let rows = index.write_part(&part, std::io::sink()).expect("rows");
            written.push((part.path(), rows));
        }
        Ok::<_, StoreError>(written)
    });
    out.push_str(&format!("{:?}\n", parts.expect("parts")));
    out
}

/// Queries in the SQL that both engines understand.
const QUERIES: &[&str] = &[
    "SELECT run_id, name, started_utc, scale_divisor FROM run ORDER BY run_id",
    "SELECT run.run_id, figure.figure_key, value, unit, host_limited FROM figure JOIN run USING (run_key) \
     WHERE key_figure = 1 ORDER BY run.run_id, number",
    "SELECT model, COUNT(*) AS runs, SUM(capacity_bytes / 1000000000) AS gigabytes FROM drive \
     GROUP BY model ORDER BY model NULLS FIRST",
    "SELECT run.run_id, \"text\", added_by FROM note JOIN run USING (run_key) ORDER BY run.run_id, number",
    "SELECT baseline, run_id FROM baseline JOIN run USING (run_key)",
    "SELECT drive.array FROM drive WHERE drive.array IS NOT NULL ORDER BY 1",
    "SELECT MAX(value) AS most, MIN(value) AS least, COUNT(DISTINCT figure_key) AS keys FROM figure",
    "WITH steady AS (SELECT test, COUNT(*) AS n FROM steady_state WHERE steady = 1 GROUP BY test) \
     SELECT test, n, CASE WHEN n > 1 THEN 'many' ELSE 'one' END AS word FROM steady ORDER BY test",
    "SELECT figure_key, value, RANK() OVER (PARTITION BY figure_key ORDER BY value DESC, figure.run_key) AS place \
     FROM figure WHERE key_figure = 1 AND value IS NOT NULL ORDER BY figure_key, place",
    "SELECT tag FROM tag UNION ALL SELECT 'none' ORDER BY 1",
    "SELECT NULL AS missing, 1.5e0 * 2 AS three, 'a' || 'b' AS ab, LENGTH('é') AS letters",
];

#[test]
fn both_engines_have_the_same_rows_and_give_the_same_answers() {
    let Some(server) = postgres::shared() else { return };
    let root = fixture::folder();
    let (scenarios, late) = (fixture::scenarios(), Scenario { id: "late", ..Scenario::default() });
    for scenario in &scenarios {
        fixture::record(root.path(), scenario);
    }
    annotate(root.path());
    let (writer, reader) = {
        let database = server.database();
        (address(&server, WRITER, &database), address(&server, READER, &database))
    };
    let count = scenarios.len();
    assert_eq!(update(own(root.path())).indexed, count);
    assert_eq!(update(shared(&writer, root.path())).indexed, count);
    let same = |count: usize| {
        let dump = own(root.path()).dump().expect("a dump");
        assert_eq!(dump.lines().filter(|line| line.starts_with("run: ")).count(), count, "{dump}");
        for part in ["rack-4", "back\\\\slash", "golden", "shelf"] {
            assert!(dump.contains(part), "{part}");
        }
        assert!(reading(&reader, root.path()).dump().expect("a dump") == dump);
        dump
    };
    let dump = same(count);
    assert_eq!(answers(&mut reading(&reader, root.path())), answers(&mut own(root.path())));
    for query in QUERIES {
        let expected = own(root.path()).ask(query, LIMITS).expect(query);
        let found = reading(&reader, root.path()).ask(query, LIMITS).expect(query);
        assert_eq!(found, expected, "{query}");
        assert!(!found.rows.is_empty(), "{query}");
    }
    // Only what changed is re-read.
    let late_files = fixture::record(root.path(), &late);
    assert_eq!(update(shared(&writer, root.path())), Updated { runs: count + 1, ..update(own(root.path())) });
    same(count + 1);
    late_files.0.remove().expect("removed");
    let caught_up = update(shared(&writer, root.path()));
    assert_eq!((caught_up.indexed, caught_up.removed, caught_up.runs), (0, 1, count));
    assert_eq!(update(own(root.path())).removed, 1);
    assert!(same(count) == dump);
    // A store that was rebuilt, and one that was deleted.
    assert_eq!(shared(&writer, root.path()).rebuild().expect("a rebuild").indexed, count);
    assert!(same(count) == dump);
    let again = server.database();
    assert_eq!(update(shared(&address(&server, WRITER, &again), root.path())).indexed, count);
    assert!(reading(&address(&server, READER, &again), root.path()).dump().expect("a dump") == dump);
}

#[test]
fn every_figure_is_the_one_that_the_report_prints() {
    let Some(server) = postgres::shared() else { return };
    let address = address(&server, WRITER, &server.database());
    figures::are_those_of_reports(|root| shared(&address, root));
}

#[test]
fn libraries_share_a_store_without_touching_the_runs_of_others() {
    let Some(server) = postgres::shared() else { return };
    let database = server.database();
    let (writer, reader) = (address(&server, WRITER, &database), address(&server, READER, &database));
    let roots = [fixture::folder(), fixture::folder()];
    for (root, own) in roots.iter().zip(["only-here", "only-there"]) {
        fixture::record(root.path(), &Scenario { id: "same-id", ..Scenario::default() });
        fixture::record(root.path(), &Scenario { id: own, ..Scenario::default() });
        assert_eq!(update(shared(&writer, root.path())).runs, 2);
    }
    let dumps = || roots.each_ref().map(|root| reading(&reader, root.path()).dump().expect("a dump"));
    let before = dumps();
    assert!(before[0].contains("only-here") && !before[0].contains("only-there"));
    assert_eq!(shared(&writer, roots[0].path()).rebuild().expect("a rebuild").indexed, 2);
    assert!(dumps() == before);
    Library::at(roots[0].path()).find("same-id").expect("a run").remove().expect("removed");
    assert_eq!(update(shared(&writer, roots[0].path())).removed, 1);
    assert!(dumps()[1] == before[1]);
    // A run in both libraries counts once.
    fixture::record(roots[0].path(), &Scenario { id: "same-id", ..Scenario::default() });
    assert_eq!(update(shared(&writer, roots[0].path())).runs, 2);
    let mut all = reading(&reader, roots[0].path());
    assert_eq!(all.drives().expect("drives").iter().map(|drive| drive.runs).sum::<u64>(), 3);
    let key = all.figure_keys().expect("keys").remove(0);
    let ids: Vec<_> = all.figures(&key).expect("figures").into_iter().map(|figure| figure.run).collect();
    assert_eq!(ids, ["only-here", "only-there", "same-id"]);
    Library::at(roots[0].path()).find("same-id").expect("a run").remove().expect("removed");
    assert_eq!(update(shared(&writer, roots[0].path())).removed, 1);
    let count = "SELECT COUNT(*), COUNT(DISTINCT library) FROM run";
    let rows = reading(&reader, roots[1].path()).ask(count, LIMITS).expect("an answer").rows;
    assert_eq!(rows, [[Value::Integer(3), Value::Integer(2)]]);
    // A host without a library can also query the store; it has no runs of its own.
    let nowhere = fixture::folder();
    let mut index = reading(&reader, nowhere.path());
    assert!(index.survey().expect("a survey").is_empty());
    assert_eq!(index.drives().expect("drives").len(), 1);
    assert!(!nowhere.path().join(store::LIBRARY_ID).exists());
    // In a library that was never indexed, every run must be read.
    fixture::record(nowhere.path(), &Scenario { id: "unknown", ..Scenario::default() });
    assert_eq!(reading(&reader, nowhere.path()).survey().expect("a survey")["unknown"], Seen::Stale);
    // A library that no longer exists is removed by its name, and no other one.
    let before = dumps();
    let retired = reading(&reader, roots[1].path()).place().library;
    assert!(matches!(Index::forget(&reader, &retired), Err(StoreError::Denied { .. })));
    assert!(dumps() == before);
    assert_eq!(Index::forget(&writer, &retired).expect("removed").0.removed, 2);
    assert_eq!(dumps(), [before[0].clone(), String::new()]);
    let Err(StoreError::NoLibrary { known, .. }) = Index::forget(&writer, &retired) else {
        panic!("refused")
    };
    assert_eq!(known, [reading(&reader, roots[0].path()).place().library]);
}

#[test]
fn a_reader_can_ask_and_nothing_else() {
    let Some(server) = postgres::shared() else { return };
    let database = server.database();
    let (writer, reader) = (address(&server, WRITER, &database), address(&server, READER, &database));
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    let empty = refused(Index::shared(&reader, root.path(), BUILD, Access::Read));
    assert!(matches!(empty, StoreError::Empty { .. }), "{empty}");
    update(shared(&writer, root.path()));
    server.psql(&database, "CREATE ROLE guest LOGIN");
    let guest = address(&server, "guest", &database);
    let denied = refused(Index::shared(&guest, root.path(), BUILD, Access::Read));
    assert!(matches!(denied, StoreError::Denied { .. }), "{denied}");
    let denied = reading(&reader, root.path()).rebuild().expect_err("a refusal");
    assert!(matches!(denied, StoreError::Denied { .. }), "{denied}");
    fixture::record(root.path(), &Scenario { id: "more", ..Scenario::default() });
    let denied = reading(&reader, root.path()).update(InProgress::Included).expect_err("a refusal");
    assert!(matches!(denied, StoreError::Denied { .. }), "{denied}");
    for role in [&reader, &writer] {
        let ask = |query: &str| reading(role, root.path()).ask(query, LIMITS);
        for bad in [
            "DELETE FROM run",
            "UPDATE run SET state = 'steady' RETURNING state",
            "WITH gone AS (DELETE FROM run RETURNING run_key) SELECT * FROM gone",
            "DROP TABLE run",
            "CREATE TABLE more (x INT)",
            "SELECT * INTO more FROM run",
            "COPY run TO PROGRAM 'cat'",
            "COMMIT",
            "SET statement_timeout = 0",
            "SELECT set_config('transaction_read_only', 'off', false)",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT 1; DELETE FROM run",
            "SELECT FROM",
            "SELECT * FROM nothing",
            "SELECT $1",
            "SELECT ARRAY[1]",
            "SELECT 1 / 0",
            "",
        ] {
            let error = ask(bad).err().unwrap_or_else(|| panic!("accepted: {bad}"));
            assert!(matches!(error, StoreError::Query(_)), "{bad}: {error:?}");
        }
        assert_eq!(ask("SELECT COUNT(*) FROM run").expect("an answer").rows, [[Value::Integer(1)]]);
    }
    let kinds = "SELECT true, 1::smallint, 1.5::real, 12.50::numeric, SUM(2::bigint), DATE '2026-03-02', \
                 TIMESTAMPTZ '2026-03-02 08:15:30.25+01', 'x'::varchar, INTERVAL '1 day'::text, 'NaN'::float8";
    let text = |text: &str| Value::Text(text.into());
    let expected = vec![
        Value::Integer(1),
        Value::Integer(1),
        Value::Real(1.5),
        Value::Real(12.5),
        Value::Integer(2),
        text("2026-03-02"),
        text("2026-03-02T07:15:30.250000000Z"),
        text("x"),
        text("1 day"),
        Value::Null,
    ];
    let Answer { rows, .. } = reading(&reader, root.path()).ask(kinds, LIMITS).expect("an answer");
    assert_eq!(rows, [expected]);
}

#[test]
fn a_query_ends_at_its_limits() {
    let Some(server) = postgres::shared() else { return };
    let database = server.database();
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    update(shared(&address(&server, WRITER, &database), root.path()));
    let reader = address(&server, READER, &database);
    let ask = |query: &str, limits| reading(&reader, root.path()).ask(query, limits).expect_err("a limit");
    let numbers = "SELECT * FROM generate_series(1, 100000)";
    let slow = ask("SELECT pg_sleep(600)", Limits::within(Duration::from_millis(50)));
    assert!(matches!(slow, StoreError::TooSlow { .. }), "{slow}");
    let long = ask(numbers, Limits { rows: 1000, ..LIMITS });
    assert!(matches!(long, StoreError::TooManyRows { limit: 1000 }), "{long}");
    let large = ask(numbers, Limits { bytes: 100_000, ..LIMITS });
    assert!(matches!(large, StoreError::TooLarge { .. }), "{large}");
}

#[test]
fn an_older_schema_is_migrated_and_a_newer_or_damaged_one_is_refused() {
    let Some(server) = postgres::shared() else { return };
    let database = server.database();
    let (writer, reader) = (address(&server, WRITER, &database), address(&server, READER, &database));
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    let mut engine = Postgres::open(&writer, Access::Write).expect("a store");
    engine.define(include_str!("../migrations/001-runs.sql")).expect("version 1");
    engine.define("CREATE TABLE schema_version (version BIGINT NOT NULL)").expect("a table");
    engine.execute("INSERT INTO schema_version (version) VALUES (1)", &[]).expect("a row");
    drop(engine);
    let old = refused(Index::shared(&reader, root.path(), BUILD, Access::Read));
    assert!(matches!(old, StoreError::Older { found: 1, .. }), "{old}");
    assert_eq!(update(shared(&writer, root.path())).indexed, 1);
    update(own(root.path()));
    assert!(
        reading(&reader, root.path()).dump().expect("a dump") == own(root.path()).dump().expect("a dump")
    );
    // A writer that opened the store before it was migrated changes nothing.
    let mut earlier = shared(&writer, root.path());
    server.psql(&database, "UPDATE plateau.schema_version SET version = 99");
    let newer = earlier.rebuild().expect_err("a refusal");
    assert!(matches!(newer, StoreError::Newer { found: 99, .. }), "{newer}");
    for (role, access) in [(&reader, Access::Read), (&writer, Access::Write)] {
        let newer = refused(Index::shared(role, root.path(), BUILD, access));
        assert!(matches!(newer, StoreError::Newer { found: 99, .. }), "{newer}");
    }
    let rows = server.psql(&database, "SELECT COUNT(*) FROM plateau.run");
    assert_eq!(rows.trim(), "1");
    let known = store::schema::VERSION;
    server.psql(
        &database,
        &format!("UPDATE plateau.schema_version SET version = {known}; DROP TABLE plateau.source"),
    );
    let damaged = reading(&reader, root.path()).survey().expect_err("a table is missing");
    assert!(matches!(damaged, StoreError::Altered { .. }), "{damaged}");
    let damaged = shared(&writer, root.path()).rebuild().expect_err("a table is missing");
    assert!(matches!(damaged, StoreError::Altered { .. }), "{damaged}");
}

#[test]
fn the_columns_of_the_tables_are_those_of_the_schema() {
    let Some(server) = postgres::shared() else { return };
    let root = fixture::folder();
    fixture::record(root.path(), &Scenario::default());
    let mut index = shared(&address(&server, WRITER, &server.database()), root.path());
    for table in TABLES {
        let query = "SELECT column_name, data_type, COALESCE(collation_name, '') AS collation \
                     FROM information_schema.columns WHERE table_schema = 'plateau' AND table_name = $1";
        let mut found: Vec<[String; 3]> = figures::rows(&mut index, query, &[table.name.into()])
            .iter()
            .map(|row| {
                ["column_name", "data_type", "collation"].map(|name| row[name].as_str().unwrap().to_owned())
            })
            .collect();
        let words = |kind| match kind {
            store::Kind::Integer | store::Kind::Boolean => ["bigint", ""],
            store::Kind::Real => ["double precision", ""],
            store::Kind::Text | store::Kind::Time => ["text", "C"],
        };
        let own = table.columns.iter().map(|column| (column.name, words(column.kind)));
        let key = std::iter::once(("run_key", ["text", "C"]));
        let mut expected: Vec<[String; 3]> = key
            .chain(own)
            .map(|(name, [kind, collation])| [name, kind, collation].map(str::to_owned))
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{}", table.name);
    }
}

/// Creates an authority and a certificate for `localhost`.
fn issue(dir: &Path) {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
         -days 30 -subj /CN=authority -addext basicConstraints=critical,CA:TRUE && \
         openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out request.pem -subj /CN=localhost && \
         printf 'subjectAltName=DNS:localhost' > names && \
         openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out cert.pem";
    let made = Command::new("sh").args(["-ec", script]).current_dir(dir).output().expect("sh");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn connections_are_encrypted_and_the_server_is_verified() {
    let version = Command::new("openssl").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        skips::without("openssl");
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    issue(dir.path());
    let file = |name: &str| dir.path().join(name);
    let Some(server) = Server::start_secure(&file("cert.pem"), &file("key.pem")) else { return };
    let port = server.port.expect("a port");
    server.psql("plateau", &format!("ALTER ROLE {WRITER} PASSWORD 's3cret'"));
    let root = fixture::folder();
    let open = |place: &str, authorities: &str| {
        let url = format!(
            "postgres://{WRITER}{place}:{port}/plateau?hostaddr=127.0.0.1&sslrootcert={}",
            file(authorities).display()
        );
        Index::shared(&Address::parse(&url).expect("an address"), root.path(), BUILD, Access::Write)
    };
    let mut index = open(":s3cret@localhost", "ca.pem").expect("a store");
    let query = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let rows = index.query(query, &[]).expect("an answer").rows;
    assert!(
        matches!(&rows[..], [row] if matches!(&row[..], [Value::Text(tls)] if tls.starts_with("TLSv1."))),
        "{rows:?}"
    );
    // Another name, another authority, another password, no password, no encryption.
    for (place, authorities, expected) in [
        (":s3cret@127.0.0.1", "ca.pem", "certificate"),
        (":s3cret@localhost", "cert.pem", "certificate"),
        (":wr0ng@localhost", "ca.pem", "password authentication failed"),
        ("@localhost", "ca.pem", "password"),
    ] {
        let error = refused(open(place, authorities));
        let text = stdx::text::with_causes(&error);
        assert!(matches!(error, StoreError::Refused { .. }) && text.contains(expected), "{text}");
        assert!(!text.contains("s3cret") && !text.contains("wr0ng"), "{text}");
    }
    let bare =
        format!("postgres://{WRITER}:s3cret@localhost:{port}/plateau?hostaddr=127.0.0.1&sslmode=disable");
    let error =
        refused(Index::shared(&Address::parse(&bare).expect("an address"), root.path(), BUILD, Access::Read));
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    let missing = refused(open(":s3cret@localhost", "nothing.pem"));
    assert!(matches!(missing, StoreError::Authorities { .. }), "{missing}");
}
