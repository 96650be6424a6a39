//! What the store requires of a database. Statements are the same for all engines: parameters are written `$1`, `$2`
//! and so on, and types are 64-bit integers, double precision and text.

use std::time::Duration;

use crate::error::StoreError;
use crate::value::{Answer, Cell, Value};

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading; the store must exist.
    Read,
    /// For writing; the store is created if it is missing.
    Write,
}

/// Limits on a user's query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Limit on the rows in the answer.
    pub rows: usize,
    /// Limit on the size of the answer and on the memory used to compute it.
    pub bytes: usize,
    /// Limit on the execution time.
    pub time: Duration,
}

impl Limits {
    /// Returns the limits for a query that may take up to `time`.
    #[must_use]
    pub const fn within(time: Duration) -> Self {
        Self { rows: 1_000_000, bytes: 256 << 20, time }
    }
}

/// A database.
pub trait Engine {
    /// Returns where the database is, for messages.
    fn place(&self) -> String;

    /// Returns whether a table exists.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    fn has_table(&mut self, name: &str) -> Result<bool, StoreError>;

    /// Begins a write transaction. Returns once no other transaction with this name is in progress.
    ///
    /// # Errors
    /// Returns an error if the database fails or remains locked.
    fn begin(&mut self, name: &str) -> Result<(), StoreError>;

    /// Begins a read transaction: all its queries see the same state.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    fn begin_reading(&mut self) -> Result<(), StoreError>;

    /// Commits the transaction.
    ///
    /// # Errors
    /// Returns an error if the database fails. In that case, the transaction has no effect.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Rolls back the transaction.
    fn rollback(&mut self);

    /// Executes statements that define tables; `{text}` stands for the text type, and `{clustered}` after a table for
    /// rows that are stored in the order of their primary key, if the engine can do that.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    fn define(&mut self, statements: &str) -> Result<(), StoreError>;

    /// Executes a statement.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    fn execute(&mut self, statement: &str, values: &[Value]) -> Result<(), StoreError>;

    /// Inserts rows.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    fn insert(&mut self, table: &str, columns: &[&str], rows: &[Vec<Value>]) -> Result<(), StoreError>;

    /// Executes one of this program's queries. An answer without rows may lack column names.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    fn query(&mut self, query: &str, values: &[Value]) -> Result<Answer, StoreError>;

    /// Same as [`query`](Self::query), but passes the rows to `take` one by one, so that an engine need not keep all of them
    /// in memory.
    ///
    /// # Errors
    /// Returns an error if the database fails; some rows may have been passed before.
    fn each(
        &mut self,
        query: &str,
        values: &[Value],
        take: &mut dyn FnMut(&[Cell<'_>]),
    ) -> Result<(), StoreError> {
        let answer = self.query(query, values)?;
        answer.rows.iter().for_each(|row| take(&row.iter().map(Cell::from).collect::<Vec<_>>()));
        Ok(())
    }

    /// Executes one query entered by a user. The query cannot change anything, and can only read the store. Consumes
    /// the connection, because a query that exceeds the time limit may keep using it.
    ///
    /// # Errors
    /// Returns an error if `query` is not a query or exceeds a limit, or if the database fails.
    fn ask(self: Box<Self>, query: &str, limits: Limits) -> Result<Answer, StoreError>;
}
