//! The interface that a sender requires of its destination.

use record::Digest;
use serde::{Deserialize, Serialize};

use crate::TransferError;

/// The verified records that a destination has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Length in bytes.
    pub bytes: u64,
    /// Hash of the last record, in hexadecimal.
    pub digest: String,
}

impl Received {
    pub(crate) fn of(bytes: u64, digest: Option<Digest>) -> Self {
        Self { bytes, digest: digest.map(|digest| digest.to_string()).unwrap_or_default() }
    }
}

/// The beginning of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct First<'a> {
    /// Id of the run.
    pub id: &'a str,
    /// The `run.json`, byte for byte.
    pub run_json: &'a [u8],
    /// The first complete records, at least one.
    pub journal: &'a [u8],
    /// Further files of the run, as (name, content).
    pub files: &'a [(&'static str, Vec<u8>)],
}

/// The state of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceState {
    /// Length of the complete records in bytes.
    pub bytes: u64,
    /// Whether a process is working on the run.
    pub is_in_progress: bool,
}

/// A library that receives runs, here or on another host. Every call may be repeated.
pub trait Destination {
    /// Returns how much of a run the destination has; `None` if it does not have the run.
    ///
    /// # Errors
    /// Returns an error if the destination cannot be read or reached.
    fn received(&mut self, id: &str) -> Result<Option<Received>, TransferError>;

    /// Adds a run that the destination does not have.
    ///
    /// # Errors
    /// Returns an error if the destination already has the run, does not accept it, or cannot be written or
    /// reached.
    fn begin(&mut self, first: &First<'_>, state: SourceState) -> Result<Received, TransferError>;

    /// Appends complete records that begin at the offset `at`. Records that the destination already has are compared.
    ///
    /// # Errors
    /// Returns an error if records are missing before `at`, differ from the records at the destination or do
    /// not verify, or if the destination cannot be written or reached.
    fn append(&mut self, id: &str, at: u64, records: &[u8]) -> Result<Received, TransferError>;

    /// Informs the destination that it has all bytes of a source in this state.
    ///
    /// # Errors
    /// Returns an error if the destination cannot be written or reached.
    fn settle(&mut self, id: &str, state: SourceState) -> Result<(), TransferError>;
}
