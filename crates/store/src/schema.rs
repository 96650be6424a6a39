//! Versions of the schema. Each version is one file in `migrations` and one line in `MIGRATIONS`; the files
//! of released versions do not change.

use crate::engine::Engine;
use crate::error::StoreError;
use crate::value::Value;

/// The statements that lead to each version, beginning with version 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/001-runs.sql"),
    include_str!("../migrations/002-annotations.sql"),
    include_str!("../migrations/003-drive.sql"),
    include_str!("../migrations/004-run-id.sql"),
    include_str!("../migrations/005-listed.sql"),
];

/// Name of the transaction that changes the schema.
pub const LOCK: &str = "schema";

/// The newest version that this build knows.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// Returns the version of a store; 0 if it is empty.
///
/// # Errors
/// Returns an error if the database fails.
pub fn version(engine: &mut dyn Engine) -> Result<i64, StoreError> {
    if !engine.has_table("schema_version")? {
        return Ok(0);
    }
    let answer = engine.query("SELECT version FROM schema_version", &[])?;
    Ok(answer.rows.first().and_then(|row| row.first()?.integer()).unwrap_or(0))
}

/// Returns the version of a store, unless its schema is newer than this build knows.
///
/// # Errors
/// Returns an error if the schema is newer, or the database fails.
pub fn check(engine: &mut dyn Engine) -> Result<i64, StoreError> {
    let found = version(engine)?;
    if found > VERSION { Err(StoreError::Newer { found, known: VERSION }) } else { Ok(found) }
}

/// Refuses a store whose schema is not the one that this build knows.
///
/// # Errors
/// Returns an error if the schema is newer, older or missing, or the database fails.
pub fn require(engine: &mut dyn Engine) -> Result<(), StoreError> {
    match check(engine)? {
        VERSION => Ok(()),
        0 => Err(StoreError::Empty { store: engine.place() }),
        found => Err(StoreError::Older { store: engine.place(), found, known: VERSION }),
    }
}

/// Brings the schema up to date, in one transaction.
///
/// # Errors
/// Returns an error if the schema is newer than this build knows, or if the database fails.
pub fn migrate(engine: &mut dyn Engine) -> Result<(), StoreError> {
    if check(engine)? == VERSION {
        return Ok(());
    }
    engine.begin(LOCK)?;
    // Another process may have migrated it since the check.
    let migrated = check(engine).and_then(|found| {
        let done = usize::try_from(found).unwrap_or(0);
        MIGRATIONS.iter().skip(done).try_for_each(|statements| engine.define(statements))?;
        if found == 0 {
            engine.define("CREATE TABLE schema_version (version BIGINT NOT NULL)")?;
            engine.execute("INSERT INTO schema_version (version) VALUES ($1)", &[Value::Integer(VERSION)])
        } else {
            engine.execute("UPDATE schema_version SET version = $1", &[Value::Integer(VERSION)])
        }
    });
    match migrated {
        Ok(()) => engine.commit(),
        Err(error) => {
            engine.rollback();
            Err(error)
        }
    }
}
