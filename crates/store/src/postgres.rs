//! PostgreSQL: a store that several libraries share.
//!
//! The tables are in a schema of their own, and nothing else is searched for their names, so that nobody who may create
//! tables elsewhere in the database can put one in their place.

mod address;
mod failure;
mod password;
mod tls;
mod types;

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, TryStreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Connection, Error, NoTls, Row, Socket};

pub use self::address::Address;
use self::failure::{Attempt, described, failure};
use self::tls::Tls;
use crate::engine::{Access, Engine, Limits};
use crate::error::StoreError;
use crate::schema;
use crate::value::{Answer, Value};

/// The schema with the tables.
const SCHEMA: &str = "plateau";
/// Time limits for a statement and for waiting for a lock: for lists, which fall back to the journals, and for
/// writers.
const READ: Duration = Duration::from_secs(10);
const WRITE: Duration = Duration::from_secs(120);
/// Time that the server has to report that a limit was exceeded.
const GRACE: Duration = Duration::from_secs(2);
/// No parameters.
const NONE: [&(dyn ToSql + Sync); 0] = [];
/// Time limit for closing a connection properly.
const FAREWELL: Duration = Duration::from_millis(200);

/// A connection to a database.
pub struct Postgres {
    address: Address,
    runtime: Runtime,
    client: Option<Client>,
    connection: Option<JoinHandle<()>>,
    limit: Duration,
}

impl Postgres {
    /// Connects to a store. For writing, the schema that contains its tables is created if it is missing.
    ///
    /// # Errors
    /// Returns an error if the store cannot be reached, or refuses the connection.
    pub fn open(address: &Address, access: Access) -> Result<Self, StoreError> {
        let failed =
            |source: std::io::Error| StoreError::Database { action: "connect to", source: source.into() };
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
        let tls = match address.is_encrypted() {
            true => Some(Tls::trusting(address.authorities.as_deref())?),
            false => None,
        };
        let limit = if access == Access::Write { WRITE } else { READ };
        let connected = runtime.block_on(async { timeout(READ, connect(address, tls)).await });
        let Ok(connected) = connected else {
            // A search for the address may still be in progress, and dropping the runtime would wait for it.
            runtime.shutdown_background();
            return Err(no_answer(address, READ));
        };
        let (client, encoding, connection) =
            connected.map_err(|error| failure(address, Attempt::Connect, error))?;
        if encoding != "UTF8" {
            return Err(StoreError::Encoding { store: address.to_string(), found: encoding });
        }
        let mut opened = Self {
            address: address.clone(),
            runtime,
            client: Some(client),
            connection: Some(connection),
            limit,
        };
        opened.prepare(access)?;
        Ok(opened)
    }

    fn prepare(&mut self, access: Access) -> Result<(), StoreError> {
        let limit = self.limit.as_millis();
        self.batch(
            "read",
            &format!(
                "SET search_path = {SCHEMA}; SET lock_timeout = {limit}; SET statement_timeout = {limit}; \
                 SET idle_in_transaction_session_timeout = {}",
                limit * 4
            ),
        )?;
        if self.has_schema()? {
            return self.check_usage();
        }
        if access == Access::Read {
            return Ok(());
        }
        self.begin(schema::LOCK)?;
        let created = match self.has_schema() {
            // Another process created it in the meantime.
            Ok(true) => Ok(()),
            Ok(false) => self.batch("create", &format!("CREATE SCHEMA {SCHEMA}")),
            Err(error) => Err(error),
        };
        created.and_then(|()| self.commit()).inspect_err(|_| self.rollback())
    }

    fn has_schema(&mut self) -> Result<bool, StoreError> {
        self.is_true("SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1)")
    }

    /// Checks that the role may use the schema. Otherwise, the server would report that its tables do not exist.
    fn check_usage(&mut self) -> Result<(), StoreError> {
        let usable = "SELECT pg_catalog.has_schema_privilege(oid, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname = $1";
        if self.is_true(usable)? {
            return Ok(());
        }
        let source = format!("the role has no USAGE on the schema {SCHEMA}").into();
        Err(StoreError::Denied { action: "read", store: self.place(), source })
    }

    /// Returns whether a query about the schema returns true.
    fn is_true(&mut self, query: &str) -> Result<bool, StoreError> {
        let answer = self.query(query, &[SCHEMA.into()])?;
        Ok(answer.rows.first().and_then(|row| row.first()) == Some(&Value::Integer(1)))
    }

    /// Waits for a statement.
    fn wait<T>(
        &self,
        action: &'static str,
        limit: Duration,
        statement: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let Some(client) = &self.client else { return Err(no_answer(&self.address, limit)) };
        match self.runtime.block_on(async { timeout(limit + GRACE, statement(client)).await }) {
            Ok(done) => done.map_err(|error| failure(&self.address, Attempt::Statement(action), error)),
            Err(_) => Err(no_answer(&self.address, limit)),
        }
    }

    fn batch(&self, action: &'static str, statements: &str) -> Result<(), StoreError> {
        self.wait(action, self.limit, async |client| client.batch_execute(statements).await)
    }
}

/// Returns a connection, the encoding of the database, and the task that transfers messages.
async fn connect(address: &Address, tls: Option<Tls>) -> Result<(Client, String, JoinHandle<()>), Error> {
    match tls {
        Some(tls) => address.config.connect(tls).await.map(carried),
        None => address.config.connect(NoTls).await.map(carried),
    }
}

fn carried<T>((client, connection): (Client, Connection<Socket, T>)) -> (Client, String, JoinHandle<()>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let encoding = connection.parameter("server_encoding").unwrap_or_default().to_owned();
    // A connection error is also reported by each statement.
    (client, encoding, tokio::spawn(async { drop(connection.await) }))
}

fn no_answer(address: &Address, limit: Duration) -> StoreError {
    let source = format!("no answer within {} s", limit.as_secs()).into();
    StoreError::Unreachable { store: address.to_string(), source }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The server logs connections that end without notice.
        drop(self.client.take());
        if let Some(connection) = self.connection.take() {
            let _ = self.runtime.block_on(async { timeout(FAREWELL, connection).await });
        }
    }
}

/// Returns the parameters of a statement with their types; without the types, the client would first have to
/// ask the server for them.
fn typed(values: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let kind = |value: &Value| match value {
        Value::Integer(_) => Type::INT8,
        Value::Real(_) => Type::FLOAT8,
        Value::Text(_) | Value::Null => Type::TEXT,
    };
    values.iter().map(|value| (value as &(dyn ToSql + Sync), kind(value))).collect()
}

fn values_of(row: &Row) -> Result<Vec<Value>, Error> {
    (0..row.len()).map(|place| row.try_get(place)).collect()
}

impl Engine for Postgres {
    fn place(&self) -> String {
        self.address.to_string()
    }

    fn has_table(&mut self, name: &str) -> Result<bool, StoreError> {
        // A query, because `to_regclass` answers from a cached catalogue that another process may have changed.
        let found =
            "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = $2)";
        let answer = self.query(found, &[SCHEMA.into(), name.into()])?;
        Ok(answer.rows.first().and_then(|row| row.first()) == Some(&Value::Integer(1)))
    }

    fn begin(&mut self, name: &str) -> Result<(), StoreError> {
        self.batch("write to", "BEGIN")?;
        // The schema does not change while any library is being written, and transactions that write to the same
        // library run one after another.
        let statement = match name {
            schema::LOCK => "SELECT pg_advisory_xact_lock(hashtextextended('plateau ' || $1, 0))".to_owned(),
            _ => format!(
                "SELECT pg_advisory_xact_lock_shared(hashtextextended('plateau {}', 0)), \
                 pg_advisory_xact_lock(hashtextextended('plateau library ' || $1, 0))",
                schema::LOCK
            ),
        };
        self.execute(&statement, &[name.into()]).inspect_err(|_| self.rollback())
    }

    fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.batch("read", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.batch("write to", "COMMIT")
    }

    fn rollback(&mut self) {
        // If the connection is lost, the server rolls back the transaction.
        let _ = self.batch("write to", "ROLLBACK");
    }

    fn define(&mut self, statements: &str) -> Result<(), StoreError> {
        // Text is compared byte by byte, regardless of the server's locale.
        let statements = statements.replace("{text}", "TEXT COLLATE \"C\"").replace("{clustered}", "");
        self.batch("write to", &statements)
    }

    fn execute(&mut self, statement: &str, values: &[Value]) -> Result<(), StoreError> {
        self.wait("write to", self.limit, async |client| {
            client.execute_typed(statement, &typed(values)).await.map(drop)
        })
    }

    fn insert(&mut self, table: &str, columns: &[&str], rows: &[Vec<Value>]) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let columns: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let statement = format!("COPY \"{table}\" ({}) FROM STDIN", columns.join(", "));
        let mut text = String::new();
        rows.iter().for_each(|row| types::add_row(&mut text, row));
        self.wait("write to", self.limit, async |client| {
            let mut sink = pin!(client.copy_in::<_, Bytes>(&*statement).await?);
            sink.send(text.into()).await?;
            sink.finish().await.map(drop)
        })
    }

    fn query(&mut self, query: &str, values: &[Value]) -> Result<Answer, StoreError> {
        self.wait("read", self.limit, async |client| {
            let mut rows = pin!(client.query_typed_raw(query, typed(values)).await?);
            let mut answer = Answer::default();
            while let Some(row) = rows.try_next().await? {
                if answer.columns.is_empty() {
                    answer.columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
                }
                answer.rows.push(values_of(&row)?);
            }
            Ok(answer)
        })
    }

    fn ask(self: Box<Self>, query: &str, limits: Limits) -> Result<Answer, StoreError> {
        let Some(client) = &self.client else { return Err(no_answer(&self.address, limits.time)) };
        let answer = self.runtime.block_on(async {
            timeout(limits.time.saturating_add(GRACE), answer(client, query, limits)).await
        });
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Unanswered::Refused(error))) => Err(error),
            Ok(Err(Unanswered::Failed(error))) => Err(self.wrong(error, limits)),
            Err(_) => Err(StoreError::TooSlow { limit: limits.time }),
        }
    }
}

/// Why a user's query has no answer.
enum Unanswered {
    Refused(StoreError),
    Failed(Error),
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

async fn answer(client: &Client, query: &str, limits: Limits) -> Result<Answer, Unanswered> {
    let refused = |why: String| Unanswered::Refused(StoreError::Query(why));
    let milliseconds = limits.time.as_millis().clamp(1, i32::MAX.cast_unsigned().into());
    let begin = format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {milliseconds}; \
         SET LOCAL lock_timeout = {milliseconds}"
    );
    client.batch_execute(&begin).await?;
    let statement = client.prepare(query).await?;
    if statement.columns().is_empty() {
        return Err(refused("it is not a query: begin with SELECT".into()));
    }
    if !statement.params().is_empty() {
        return Err(refused("it has parameters such as $1, for which there are no values".into()));
    }
    if let Some(column) = statement.columns().iter().find(|column| !types::is_readable(column.type_())) {
        let (name, kind) = (column.name(), column.type_().name());
        return Err(refused(format!(
            "column '{name}' has the type {kind}; convert it with CAST({name} AS text)"
        )));
    }
    let columns = statement.columns().iter().map(|column| column.name().to_owned()).collect();
    let mut answer = Answer { columns, rows: Vec::new() };
    let mut bytes = 0_usize;
    let mut rows = pin!(client.query_raw(&statement, NONE.iter().copied()).await?);
    while let Some(row) = rows.try_next().await? {
        if answer.rows.len() == limits.rows {
            return Err(Unanswered::Refused(StoreError::TooManyRows { limit: limits.rows }));
        }
        let cells = values_of(&row)?;
        bytes = bytes.saturating_add(crate::value::size_of(&cells));
        if bytes > limits.bytes {
            return Err(Unanswered::Refused(StoreError::TooLarge { limit_bytes: limits.bytes }));
        }
        answer.rows.push(cells);
    }
    Ok(answer)
}

impl Postgres {
    /// Converts the error of a user's query.
    fn wrong(&self, error: Error, limits: Limits) -> StoreError {
        let Some(found) = error.as_db_error() else {
            return failure(&self.address, Attempt::Statement("query"), error);
        };
        let code = found.code();
        if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE {
            return StoreError::TooSlow { limit: limits.time };
        }
        if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            return StoreError::Query("only queries are allowed; begin with SELECT".into());
        }
        // Errors in the query: types and values, syntax and names, unsupported features.
        if ["0A", "21", "22", "25", "42", "54", "P0"].iter().any(|class| code.code().starts_with(class)) {
            return StoreError::Query(described(&error));
        }
        failure(&self.address, Attempt::Statement("query"), error)
    }
}
