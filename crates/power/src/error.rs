//! The reasons why power cannot be measured.

use std::io;

/// The reason why a source cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum PowerError {
    /// There is no source with this name.
    #[error("'{given}' is not a power source; available sources: {known}")]
    Unknown {
        /// The source, as the user specified it.
        given: String,
        /// The syntax of all sources.
        known: String,
    },
    /// The part after the colon is missing or unexpected.
    #[error("'{given}' does not have the expected form; use {syntax}")]
    Syntax {
        /// The source, as the user specified it.
        given: String,
        /// The syntax of this source.
        syntax: String,
    },
    /// The named sensor does not report power.
    #[error("{what}: {why}")]
    Absent {
        /// The source.
        what: String,
        /// The likely cause.
        why: String,
    },
    /// The source could not be opened or read.
    #[error("{what}: {source}")]
    Io {
        /// The source.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// A meter sent something other than a power value.
    #[error("{what} sent '{line}', which is not a number of watts")]
    Line {
        /// The source.
        what: String,
        /// What the meter sent.
        line: String,
    },
    /// A meter stopped sending.
    #[error("{what} ended")]
    Ended {
        /// The line that it sent.
        what: String,
    },
    /// A meter sent no value.
    #[error("{what} sent no value within {seconds} s")]
    Silent {
        /// The source.
        what: String,
        /// Time that Plateau waited, in seconds.
        seconds: u64,
    },
    /// The thread that reads the source ended.
    #[error("the thread that reads the power source ended")]
    Thread,
}

impl PowerError {
    pub(crate) fn io(what: &str, source: impl Into<io::Error>) -> Self {
        Self::Io { what: what.to_owned(), source: source.into() }
    }

    pub(crate) fn absent(what: &str, why: impl Into<String>) -> Self {
        Self::Absent { what: what.to_owned(), why: why.into() }
    }
}
