//! The store: an index of a library that provides lists, trends and the answers to queries.
//!
//! Journals remain authoritative. A run's rows are a pure function of its two files and of the library's own journal
//! ([`fold()`]); they can be dropped and rebuilt at any time, and errors in the store never affect a run.
#![forbid(unsafe_code)]

pub mod engine;
pub mod schema;

mod chosen;
mod columns;
mod compared;
mod drives;
mod error;
mod export;
mod figures;
mod fold;
mod index;
mod library_id;
mod listing;
mod packed;
mod parquet;
mod postgres;
mod shared;
mod sources;
mod sqlite;
mod state;
mod summary;
mod tables;
mod update;
mod value;

pub use chosen::{StoreName, chosen};
pub use columns::{Page, RUN_COLUMNS, RunColumn, RunColumns, RunRow};
pub use drives::Drive;
pub use engine::{Access, Limits};
pub use error::StoreError;
pub use export::{ExportError, Part, StoredRun, emptied, parquet, tables_by_test};
pub use figures::FigureOfRun;
pub use fold::{Rows, fold, run_key};
pub use index::{InProgress, Index, Seen};
pub use library_id::LIBRARY_ID;
pub use listing::ListedRun;
pub use packed::{PackedRun, Shown};
pub use postgres::{Address, Postgres};
pub use sqlite::{INDEX, Sqlite};
pub use summary::{Place, Updated};
pub use tables::{Column, Folded, Kind, TABLES, Table};
pub use value::{Answer, Value, csv};
