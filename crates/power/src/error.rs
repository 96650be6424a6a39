//! Why power cannot be measured.

use std::io;

/// Why a source cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum PowerError {
    /// No source has this name.
    #[error("'{given}' names no source of power; there are {known}")]
    Unknown {
        /// As given.
        given: String,
        /// The syntax of all sources.
        known: String,
    },
    /// The part after the colon is missing or superfluous.
    #[error("'{given}' is incomplete or has too much; use {syntax}")]
    Syntax {
        /// As given.
        given: String,
        /// The syntax of this source.
        syntax: String,
    },
    /// Nothing of that name reports power.
    #[error("{what}: {why}")]
    Absent {
        /// The source.
        what: String,
        /// The likely cause.
        why: String,
    },
    /// Reading or opening failed.
    #[error("{what}: {source}")]
    Io {
        /// The source.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// A meter sent something else than power.
    #[error("{what} sent '{line}', which is not a number of watts")]
    Line {
        /// The source.
        what: String,
        /// What it sent.
        line: String,
    },
    /// A meter stopped sending.
    #[error("{what} ended")]
    Ended {
        /// The source.
        what: String,
    },
    /// A meter sent no value.
    #[error("{what} sent no value within {seconds} s")]
    Silent {
        /// The source.
        what: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The thread that reads the source ended.
    #[error("the thread that reads the source of power ended")]
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
