//! A PostgreSQL store on the command line: answers with and without the store, killed processes, eight concurrent
//! processes, and passwords.

#[path = "../../store/tests/postgres/mod.rs"]
mod postgres;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use postgres::{READER, Server, WRITER};
use support::{Bench, send_signal, texts};

const SHORT: [&str; 5] = ["sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5"];

fn record(bench: &Bench, name: &str) {
    bench.ok(&[&["run", "lat", "--name", name, "--tag", "fw1"], &SHORT[..]].concat());
}

fn library() -> Bench {
    let bench = Bench::new();
    record(&bench, "shelf");
    bench.ok(&["examples", "--install", "slc-a"]);
    bench.ok(&["note", "shelf", "dusty"]);
    bench
}

/// The complete output of commands that use the index.
fn answers(bench: &Bench, store: &str) -> String {
    let asked: [&[&str]; 6] = [
        &["runs", "--json"],
        &["runs", "fw1", "--sort", "oldest"],
        &["runs", "--columns", "run,state,tags,notes,serial,identities,models"],
        &["drives", "--json"],
        &[
            "query",
            "--csv",
            "SELECT run_id, figure_key, value FROM figure JOIN run USING (run_key) ORDER BY 1, figure.number",
        ],
        &["trend", "sas-slc-2011", "--figure", "lat.rnd4k.w", "--csv"],
    ];
    asked.iter().map(|words| bench.ok(&[words, &["--store", store][..]].concat())).collect()
}

/// Returns what `runs --verbose` prints about the store.
fn verbose(bench: &Bench, store: &str) -> String {
    let (out, err) = texts(&bench.run(&["runs", "--verbose", "--store", store]));
    assert!(out.contains("shelf"), "{out}{err}");
    err
}

#[test]
fn answers_are_the_same_with_and_without_a_store() {
    let Some(server) = postgres::shared() else { return };
    let bench = library();
    let database = server.database();
    let (writer, reader) = (server.url(WRITER, &database), server.url(READER, &database));
    let expected = answers(&bench, "sqlite");
    // An empty store cannot answer queries, and does not change any list.
    assert!(bench.fails(6, &["query", "SELECT 1", "--store", &reader]).contains("plateau index --store"));
    assert!(verbose(&bench, &reader).contains("the store is not used"));
    let indexed = bench.json(&["index", "--store", &writer]);
    assert_eq!((&indexed["runs"], &indexed["indexed"]), (&2.into(), &2.into()), "{indexed}");
    let id = fs::read_to_string(bench.library().join("library.id")).expect("a name");
    assert_eq!(indexed["library"], id.trim());
    for store in [&writer, &reader] {
        assert_eq!(answers(&bench, store), expected);
        assert!(!verbose(&bench, store).contains("the store is not used"));
    }
    let text = bench.ok(&["index", "--store", &writer]);
    assert!(text.contains(&format!("as library {}: no journal had to be read", id.trim())), "{text}");
    assert!(bench.ok(&["index", "--rebuild", "--store", &writer]).contains(": 2 runs read"));
    // A library that is gone is removed by name; nothing happens by mistake.
    let id = id.trim();
    let refused = |library, store| bench.fails(2, &["index", "--forget", library, "--store", store]);
    assert!(refused("other", &writer).contains(id));
    assert!(refused(id, "sqlite").contains("--store postgres://"));
    let removed = bench.ok(&["index", "--forget", id, "--store", &writer]);
    assert!(removed.starts_with("2 runs of library"), "{removed}");
    assert!(refused(id, &writer).contains("its libraries are: none"));
    assert_eq!(bench.json(&["index", "--store", &writer])["indexed"], 2);
    // A role that can only read cannot index.
    let denied = bench.fails(6, &["index", "--rebuild", "--store", &reader]);
    assert!(denied.contains("no permission") && denied.contains("GRANT"), "{denied}");
    // A run that the store does not contain yet is listed, but is missing from other answers, which a notice
    // says.
    record(&bench, "later");
    let listed = bench.ok(&["runs", "--store", &reader]);
    assert_eq!(listed, bench.ok(&["runs"]));
    assert!(listed.contains("later"), "{listed}");
    let output = bench.run(&["query", "--csv", "SELECT COUNT(*) AS n FROM run", "--store", &reader]);
    let (out, err) = texts(&output);
    assert!(out == "n\n2\n" && err.contains("1 run of") && err.contains("plateau index"), "{out}{err}");
    // The variable has the same effect as the option, which takes precedence.
    let with = |args: &[&str], store: &str| {
        bench.command(args).env("PLATEAU_STORE", store).output().expect("plateau")
    };
    assert!(texts(&with(&["index"], &writer)).0.contains("3 runs in the store"));
    assert!(texts(&with(&["index", "--store", "sqlite"], &writer)).0.contains("3 runs in the index"));
    assert_eq!(texts(&with(&["query", "--csv", "SELECT COUNT(*) AS n FROM run"], &reader)).0, "n\n3\n");
}

#[test]
fn a_store_that_cannot_be_used_changes_no_list_and_no_run() {
    let Some(server) = postgres::shared() else { return };
    let bench = library();
    let expected = bench.ok(&["runs", "--json"]);
    let nowhere = format!(
        "postgres://{WRITER}@{}/plateau",
        bench.path("nothing").display().to_string().replace('/', "%2F")
    );
    let database = server.database();
    let damaged = server.url(WRITER, &database);
    bench.ok(&["index", "--store", &damaged]);
    server.psql(&database, "DROP TABLE plateau.run, plateau.source");
    let newer = server.database();
    let newer_url = server.url(WRITER, &newer);
    bench.ok(&["index", "--store", &newer_url]);
    server.psql(&newer, "UPDATE plateau.schema_version SET version = 99");
    let missing = server.url(WRITER, "nothing");
    let stranger = server.url("stranger", &database);
    for (store, code, why) in [
        (&nowhere, 75, "cannot be reached"),
        (&damaged, 6, "were altered"),
        (&newer_url, 6, "schema version 99"),
        (&missing, 6, "does not exist"),
        (&stranger, 6, "does not exist"),
    ] {
        assert_eq!(bench.ok(&["runs", "--json", "--store", store]), expected, "{store}");
        assert!(verbose(&bench, store).contains(why), "{store}");
        for args in [&["index", "--rebuild"][..], &["query", "SELECT 1"]] {
            // A query that needs no missing table succeeds.
            if args[0] == "query" && store == &damaged {
                continue;
            }
            let error = bench.fails(code, &[args, &["--store", store]].concat());
            assert!(error.contains(why), "{args:?} {store}: {error}");
        }
        let (out, err) = texts(&bench.run(&["drives", "--store", store]));
        assert!(out.contains("sas-slc-2011") && err.contains("only runs of this library"), "{out}{err}");
    }
    // A run does not use the store.
    let run = [&["run", "lat", "--name", "unharmed"], &SHORT[..]].concat();
    let output = bench.command(&run).env("PLATEAU_STORE", &nowhere).output().expect("plateau");
    assert!(output.status.success(), "{}", texts(&output).1);
    // Every command rejects an invalid address.
    for command in [&["runs"][..], &["index"], &["query", "SELECT 1"], &["drives"]] {
        let error = bench.fails(2, &[command, &["--store", "mysql://u:s3cret@h/db"]].concat());
        assert!(error.contains("postgres://") && !error.contains("s3cret"), "{error}");
    }
    bench.fails(2, &["run", "lat", "sim:sas-slc-2011", "--store", &damaged]);
}

/// Makes every transaction that writes figures wait until the session ends or lets it continue.
fn hold(server: &Server, database: &str) -> postgres::Session {
    server.psql(
        database,
        "CREATE FUNCTION plateau.wait() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END $$; \
         GRANT EXECUTE ON FUNCTION plateau.wait() TO PUBLIC; \
         CREATE TRIGGER wait BEFORE INSERT ON plateau.figure_round EXECUTE FUNCTION plateau.wait();",
    );
    let mut session = server.session(database);
    session.ask("SELECT pg_advisory_lock(42)");
    session
}

const IS_WAITING: &str =
    "EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted)";

#[test]
fn a_kill_of_the_server_or_of_the_client_leaves_no_wrong_row() {
    // The other tests need the shared server.
    let Some(server) = Server::start() else { return };
    let bench = library();
    let database = server.database();
    let url = server.url(WRITER, &database);
    let dump = || {
        let tables = ["run", "drive", "test", "figure", "figure_round", "note", "tag", "source"];
        let all =
            |table: &&str| server.psql(&database, &format!("SELECT * FROM plateau.{table} ORDER BY 1, 2, 3"));
        tables.iter().map(all).collect::<String>()
    };
    bench.ok(&["index", "--store", &url]);
    let before = dump();
    record(&bench, "later");
    let index = || bench.start(&["index", "--store", &url]);

    let mut session = hold(&server, &database);
    let client = index();
    session.wait_until(IS_WAITING);
    send_signal(client.id(), "KILL");
    client.wait_with_output().expect("ended");
    drop(session);
    assert_eq!(dump(), before);

    let mut session = server.session(&database);
    session.wait_until(&format!("NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE usename = '{WRITER}')"));
    session.ask("SELECT pg_advisory_lock(42)");
    let client = index();
    session.wait_until(IS_WAITING);
    server.kill();
    let output = client.wait_with_output().expect("ended");
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(75), "{err}");
    assert!(err.contains("cannot be reached") && err.contains("runs and lists do not need it"), "{err}");
    drop(session);
    let listed = bench.ok(&["runs", "--json"]);
    assert_eq!(bench.ok(&["runs", "--json", "--store", &url]), listed);
    server.boot("-c listen_addresses=");
    assert_eq!(dump(), before);
    assert!(bench.ok(&["index", "--store", &url]).contains("3 runs in the store"));
    assert_eq!(answers(&bench, &url), answers(&bench, "sqlite"));
}

#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    // Its disk is removed before its other files.
    let Some(server) = Server::start() else { return };
    let Some((database, disk)) = server.database_on_full_disk() else { return };
    let bench = library();
    let url = server.url(WRITER, &database);
    assert!(bench.ok(&["index", "--store", &url]).contains("2 runs in the store"));
    let before = answers(&bench, &url);
    record(&bench, "later");
    let listed = bench.ok(&["runs", "--json"]);
    // Remove the free space inside the table files, which would be enough for a few rows.
    server.psql(&database, "VACUUM FULL");
    // The next connection writes a cache of the server.
    server.psql(&database, "SELECT 1");
    disk.fill();
    let error = bench.fails(6, &["index", "--rebuild", "--store", &url]);
    assert!(error.contains("no space left"), "{error}");
    assert_eq!(bench.ok(&["runs", "--json", "--store", &url]), listed);
    disk.empty();
    let count = "SELECT COUNT(*) AS runs FROM run";
    assert_eq!(bench.ok(&["query", "--csv", count, "--store", &url]), "runs\n2\n");
    assert!(bench.ok(&["index", "--store", &url]).contains("3 runs in the store"));
    assert_eq!(answers(&bench, &url), answers(&bench, "sqlite"));
    assert_ne!(answers(&bench, &url), before);
}

#[test]
fn a_writer_that_waits_delays_other_writers_but_no_reader() {
    let Some(server) = postgres::shared() else { return };
    let bench = library();
    let database = server.database();
    let (writer, reader) = (server.url(WRITER, &database), server.url(READER, &database));
    bench.ok(&["index", "--store", &writer]);
    record(&bench, "later");
    let listed = bench.ok(&["runs", "--json"]);
    let session = hold(&server, &database);
    let writers = [bench.start(&["index", "--store", &writer]), bench.start(&["index", "--store", &writer])];
    let mut watcher = server.session(&database);
    // One waits for this test, within its transaction, and the other one for the first.
    watcher.wait_until(
        "2 = (SELECT COUNT(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database \
         WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted)",
    );
    assert_eq!(bench.ok(&["runs", "--json", "--store", &reader]), listed);
    let count = ["query", "--csv", "SELECT COUNT(*) AS runs FROM run", "--store"];
    assert_eq!(bench.ok(&[&count[..], &[&reader]].concat()), "runs\n2\n");
    drop(session);
    for writer in writers {
        let output = writer.wait_with_output().expect("ended");
        assert!(output.status.success(), "{}", texts(&output).1);
    }
    assert_eq!(bench.ok(&[&count[..], &[&reader]].concat()), "runs\n3\n");
}

#[test]
fn eight_processes_index_and_read_at_once() {
    let Some(server) = postgres::shared() else { return };
    let bench = library();
    let database = server.database();
    let (writer, reader) = (server.url(WRITER, &database), server.url(READER, &database));
    let expected = bench.ok(&["runs", "--json"]);
    let children: Vec<_> = (0..8)
        .map(|number| match number % 2 {
            0 => bench.start(&["index", "--rebuild", "--store", &writer]),
            _ => bench.start(&["runs", "--json", "--store", &reader]),
        })
        .collect();
    for (number, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().expect("ended");
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{number}: {err}");
        assert!(number % 2 == 0 || out == expected, "{out}");
    }
    assert!(bench.ok(&["index", "--store", &writer]).contains("2 runs in the store"));
    assert_eq!(answers(&bench, &reader), answers(&bench, "sqlite"));
}

/// Returns whether a file below a folder contains the text.
fn is_below(dir: &Path, text: &str) -> bool {
    fs::read_dir(dir).expect("a folder").flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => is_below(&entry.path(), text),
        _ => String::from_utf8_lossy(&fs::read(entry.path()).unwrap_or_default()).contains(text),
    })
}

#[test]
fn passwords_are_used_and_never_shown() {
    let Some(server) = Server::start() else { return };
    server.psql(
        "plateau",
        &format!("ALTER ROLE {WRITER} PASSWORD 's3cret'; ALTER ROLE {READER} PASSWORD 's3cret'"),
    );
    server.require_passwords();
    let bench = library();
    let plain = server.url(WRITER, "plateau");
    let with = |password: &str| plain.replacen('@', &format!(":{password}@"), 1);
    let own = |args: &[&str], variables: &[(&str, &str)]| -> Output {
        let mut command: Command = bench.command(&[args, &["--verbose"]].concat());
        command.env_remove("PGPASSFILE").env("HOME", bench.dir.path()).envs(variables.iter().copied());
        command.stderr(Stdio::piped()).output().expect("plateau")
    };
    let mut seen = String::new();
    let mut expect = |output: Output, code: i32, word: &str| {
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{out}{err}");
        assert!(format!("{out}{err}").contains(word), "{word}: {out}{err}");
        seen.push_str(&(out + &err));
    };
    // In the address.
    expect(own(&["index", "--store", &with("s3cret")], &[]), 0, "2 runs in the store");
    expect(own(&["index"], &[("PLATEAU_STORE", &with("s3cret"))]), 0, "2 runs in the store");
    expect(
        own(&["query", "SELECT 1", "--store", &with("wr0ng-s3cret")], &[]),
        6,
        "password authentication failed",
    );
    expect(own(&["runs", "--store", &with("wr0ng-s3cret")], &[]), 0, "shelf");
    expect(own(&["run", "lat", "x", "--store", &with("s3cret")], &[]), 2, "--store");
    expect(own(&["runs", "--stor", &with("s3cret")], &[]), 2, "--stor");
    // In a file.
    let file = bench.path("passwords");
    fs::write(&file, "*:*:*:*:s3cret\n").expect("a file");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("a mode");
    let name = file.to_str().expect("text");
    expect(own(&["index", "--store", &plain], &[("PGPASSFILE", name)]), 0, "2 runs in the store");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("a mode");
    expect(own(&["index", "--store", &plain], &[("PGPASSFILE", name)]), 6, "others can read it");
    expect(own(&["index", "--store", &plain], &[]), 6, ".pgpass");
    // Nor is a password stored with a run.
    let run = [&["run", "lat", "--name", "quiet"], &SHORT[..]].concat();
    expect(own(&run, &[("PLATEAU_STORE", &with("s3cret"))]), 0, "");
    assert!(!seen.contains("s3cret"), "{seen}");
    assert!(!is_below(&bench.library(), "s3cret"));
}

/// Reads one figure from the index of a library and from a shared store.
const FIGURES: &str = r#"
import sys, plateau
with plateau.Index(sys.argv[1]) as index, plateau.Store(sys.argv[2]) as store:
    assert len(index.figures("lat.rnd4k.w")) == 2
    assert index.figures("lat.rnd4k.w") == store.figures("lat.rnd4k.w")
    assert store.query("SELECT COUNT(*) AS runs FROM run WHERE run_id <> %s", ("x",)) == [{"runs": 2}]
    for statement in ["DELETE FROM plateau.run", "CREATE TABLE plateau.x (x int)"]:
        try:
            store.query(statement)
        except Exception as error:
            assert "read-only" in str(error), error
            store._connection.rollback()
        else:
            raise SystemExit("the store was changed")
for mode in ["prefer", "allow"]:
    try:
        plateau.Store("postgres://u@127.0.0.1/d?sslmode=" + mode)
    except ValueError:
        continue
    raise SystemExit(mode)
"#;

#[test]
fn the_python_package_reads_the_store_as_it_reads_the_index() {
    let Some(server) = postgres::shared() else { return };
    let python = std::env::var("PLATEAU_PYTHON").unwrap_or_else(|_| "python3".into());
    let can_import = |module: &str| {
        let mut probe = Command::new(&python);
        probe.args(["-c", &format!("import {module}")]).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    };
    if !can_import("psycopg") {
        skips::without("psycopg");
        return;
    }
    let bench = library();
    let url = server.url(WRITER, &server.database());
    bench.ok(&["index"]);
    bench.ok(&["index", "--store", &url]);
    let output = Command::new(&python)
        .args(["-c", FIGURES])
        .arg(bench.library())
        .arg(&url)
        .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{out}{err}");
}
