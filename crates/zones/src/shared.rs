//! The zones of a target, shared by all threads and workloads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::table::Table;

/// The zones of a target, shared by all threads and workloads.
#[derive(Debug)]
pub struct Zones(Mutex<Table>);

impl Zones {
    /// Shares a table.
    #[must_use]
    pub const fn new(table: Table) -> Self {
        Self(Mutex::new(table))
    }

    /// Returns the table, which no other thread uses meanwhile.
    pub fn table(&self) -> MutexGuard<'_, Table> {
        // A panicking thread leaves the table consistent, because nothing in it can panic between two related changes.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
