//! SQLite: the index in a file in the library.
//!
//! The index uses a rollback journal. Unlike a write-ahead log, it also works on network file systems and for readers
//! that cannot write to the folder.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use stdx::files::OwnedFolder;

use crate::engine::{Access, Engine, Limits};
use crate::error::StoreError;
use crate::value::{Answer, Cell, Value};

/// Name of the index in a library.
pub const INDEX: &str = "index.sqlite";
/// A transaction takes milliseconds; a process that has waited longer than this reads the journals instead.
const PATIENCE: Duration = Duration::from_secs(2);

/// Number of statements kept in compiled form: those of an update, two per table.
const STATEMENTS: usize = 64;
/// Limit on the columns of a query whose rows are passed one by one.
const MOST_COLUMNS: usize = 16;
/// Statement that gives a write transaction enough memory for all pages that it changes; otherwise, pages are written
/// several times. The size is in KiB.
const MEMORY_TO_WRITE: &str = "PRAGMA cache_size = -16384";
/// Number of SQLite VM instructions between two clock readings (about a millisecond).
const STEPS: i32 = 10_000;
/// How long a query that has reached its time limit may take to stop by itself.
const GRACE: Duration = Duration::from_millis(500);

/// A database in a file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
}

impl Sqlite {
    /// Opens the index in a library's folder.
    ///
    /// # Errors
    /// Returns an error if others can write to the folder or the file, or if the database cannot be opened.
    pub fn open(library: &Path, access: Access) -> Result<Self, StoreError> {
        let missing = || StoreError::Missing { store: library.join(INDEX).display().to_string() };
        let folder = OwnedFolder::open(library)?.ok_or_else(missing)?;
        let exists = match access {
            Access::Read => folder.file_to_read(INDEX)?.is_some(),
            Access::Write => folder.file(INDEX)?.is_some(),
        };
        if !exists && access == Access::Read {
            return Err(missing());
        }
        // The path contains no symbolic links, and no other user can replace the file.
        let path = folder.path().join(INDEX);
        let mode = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let flags = mode | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| failure(&path, "open", error);
        let connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // The index can be rebuilt at any time, so a power cut may damage its last transaction.
        connection
            .execute_batch(
                "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL;",
            )
            .map_err(failed)?;
        Ok(Self { connection, path })
    }

    /// Creates an empty database in memory.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from(":memory:");
        let connection = Connection::open_in_memory().map_err(|error| failure(&path, "open", error))?;
        Ok(Self { connection, path })
    }

    /// Removes the index of a library, which can be rebuilt.
    ///
    /// # Errors
    /// Returns an error if others can write to the folder, or if the file cannot be removed.
    pub fn remove(library: &Path) -> Result<(), StoreError> {
        let Some(folder) = OwnedFolder::open(library)? else { return Ok(()) };
        [INDEX.to_owned(), format!("{INDEX}-journal")]
            .iter()
            .try_for_each(|name| folder.remove(name).map_err(StoreError::from))
    }

    fn failed(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + use<'_> {
        move |error| failure(&self.path, action, error)
    }
}

fn failure(path: &Path, action: &'static str, error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error_code();
    let source = without_repetition(error);
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Damaged { store: path.display().to_string(), source }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Locked { store: path.display().to_string() }
        }
        _ => StoreError::Database { action, source },
    }
}

/// Removes the cause of the error of a full disk, which only repeats its text.
fn without_repetition(error: rusqlite::Error) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        rusqlite::Error::SqliteFailure(cause, Some(text)) if cause.code == ErrorCode::DiskFull => text.into(),
        other => other.into(),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn value(found: ValueRef<'_>) -> Value {
    match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn cell(found: ValueRef<'_>) -> Cell<'_> {
    match found {
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Text(bytes) => str::from_utf8(bytes).map_or(Cell::Other, Cell::Text),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Cell::Other,
    }
}

/// Why the rows of a statement cannot be read.
enum Unread {
    TooManyRows,
    TooLarge,
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Unread {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads all rows of a statement.
fn rows_of(
    statement: &mut rusqlite::Statement<'_>,
    values: &[Value],
    most_rows: usize,
    most_bytes: usize,
) -> Result<Answer, Unread> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let mut answer = Answer { columns, rows: Vec::new() };
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let mut bytes = 0_usize;
    while let Some(row) = rows.next()? {
        if answer.rows.len() == most_rows {
            return Err(Unread::TooManyRows);
        }
        let cells = (0..width).map(|column| row.get_ref(column).map(value));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        bytes = bytes.saturating_add(crate::value::size_of(&cells));
        if bytes > most_bytes {
            return Err(Unread::TooLarge);
        }
        answer.rows.push(cells);
    }
    Ok(answer)
}

impl Engine for Sqlite {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn has_table(&mut self, name: &str) -> Result<bool, StoreError> {
        // Not `table_exists`, which uses a cached schema: another process may have changed the schema since.
        let found = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)";
        self.connection.query_row(found, [name], |row| row.get(0)).map_err(self.failed("read"))
    }

    fn begin(&mut self, _: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(MEMORY_TO_WRITE).map_err(self.failed("write to"))?;
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(self.failed("write to"))
    }

    fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN").map_err(self.failed("read"))
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.connection.execute_batch("COMMIT").map_err(self.failed("write to"))
    }

    fn rollback(&mut self) {
        // After some errors, the transaction no longer exists.
        let _ = self.connection.execute_batch("ROLLBACK");
    }

    fn define(&mut self, statements: &str) -> Result<(), StoreError> {
        let statements = statements.replace("{text}", "TEXT").replace("{clustered}", " WITHOUT ROWID");
        self.connection.execute_batch(&statements).map_err(self.failed("write to"))
    }

    fn execute(&mut self, statement: &str, values: &[Value]) -> Result<(), StoreError> {
        let mut prepared = self.connection.prepare_cached(statement).map_err(self.failed("write to"))?;
        prepared.execute(rusqlite::params_from_iter(values)).map(drop).map_err(self.failed("write to"))
    }

    fn insert(&mut self, table: &str, columns: &[&str], rows: &[Vec<Value>]) -> Result<(), StoreError> {
        let places: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
        let statement =
            format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        if rows.is_empty() {
            return Ok(());
        }
        let mut prepared = self.connection.prepare_cached(&statement).map_err(self.failed("write to"))?;
        let inserted =
            rows.iter().try_for_each(|row| prepared.execute(rusqlite::params_from_iter(row)).map(drop));
        inserted.map_err(self.failed("write to"))
    }

    fn query(&mut self, query: &str, values: &[Value]) -> Result<Answer, StoreError> {
        let mut prepared = self.connection.prepare_cached(query).map_err(self.failed("read"))?;
        rows_of(&mut prepared, values, usize::MAX, usize::MAX).map_err(|error| match error {
            Unread::Failed(error) => failure(&self.path, "read", error),
            Unread::TooManyRows | Unread::TooLarge => StoreError::TooManyRows { limit: usize::MAX },
        })
    }

    fn each(
        &mut self,
        query: &str,
        values: &[Value],
        take: &mut dyn FnMut(&[Cell<'_>]),
    ) -> Result<(), StoreError> {
        let mut prepared = self.connection.prepare_cached(query).map_err(self.failed("read"))?;
        let width = prepared.column_count();
        let mut read = || -> rusqlite::Result<()> {
            let mut rows = prepared.query(rusqlite::params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                // Allocating memory for each row would take as long as reading it.
                let mut cells = [Cell::Other; MOST_COLUMNS];
                let Some(cells) = cells.get_mut(..width) else { return Err(rusqlite::Error::InvalidQuery) };
                for (column, one) in cells.iter_mut().enumerate() {
                    *one = cell(row.get_ref(column)?);
                }
                take(cells);
            }
            Ok(())
        };
        read().map_err(self.failed("read"))
    }

    fn ask(self: Box<Self>, query: &str, limits: Limits) -> Result<Answer, StoreError> {
        let failed = |source| StoreError::Database { action: "query", source };
        let (sender, receiver) = channel();
        let query = query.to_owned();
        let mut connection = self;
        let thread = Builder::new().name("query".into()).spawn(move || {
            // Sending fails if the caller has stopped waiting by the time the answer arrives.
            drop(sender.send(connection.answer(&query, limits)));
        });
        let thread = thread.map_err(|error| failed(error.into()))?;
        // The database checks the time between two steps, but one step can take hours, such as `instr` on two texts of
        // 100 MB each. Nothing can interrupt a step, so its thread is abandoned, and ends with this process.
        match receiver.recv_timeout(limits.time.saturating_add(GRACE)) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(StoreError::TooSlow { limit: limits.time }),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => Err(failed("no answer".into())),
            },
        }
    }
}

impl Sqlite {
    /// Executes a query entered by a user. The limits stay in effect.
    fn answer(&mut self, query: &str, limits: Limits) -> Result<Answer, StoreError> {
        let too_large = || StoreError::TooLarge { limit_bytes: limits.bytes };
        let wrong = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => StoreError::TooSlow { limit: limits.time },
            Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => too_large(),
            Some(ErrorCode::AuthorizationForStatementDenied) => {
                StoreError::Query("only queries are allowed; begin with SELECT".into())
            }
            None if matches!(error, rusqlite::Error::MultipleStatement) => StoreError::Query(
                "only one statement is allowed; combine several queries with UNION ALL".into(),
            ),
            Some(ErrorCode::Unknown) | None => StoreError::Query(error.to_string()),
            Some(_) => failure(&self.path, "query", error),
        };
        // Limits the memory of the whole process; a limit can only be lowered. Functions can create values of any size.
        let heap = format!("PRAGMA hard_heap_limit = {}", limits.bytes);
        self.connection.query_row(&heap, [], |_| Ok(())).map_err(wrong)?;
        let most_bytes = i32::try_from(limits.bytes).unwrap_or(i32::MAX);
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, most_bytes).map_err(wrong)?;
        let begun = Instant::now();
        let is_late = move || begun.elapsed() >= limits.time;
        self.connection.progress_handler(STEPS, Some(is_late)).map_err(wrong)?;
        self.connection.authorizer(Some(authorized)).map_err(wrong)?;
        let mut statement = self.connection.prepare(query).map_err(wrong)?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(StoreError::Query("it is not a query".into()));
        }
        rows_of(&mut statement, &[], limits.rows, limits.bytes).map_err(|error| match error {
            Unread::Failed(error) => wrong(error),
            Unread::TooManyRows => StoreError::TooManyRows { limit: limits.rows },
            Unread::TooLarge => too_large(),
        })
    }
}

/// Allows only reading: no other files, settings or extensions.
fn authorized(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        _ => Authorization::Deny,
    }
}
