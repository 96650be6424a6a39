//! The requests that a sender makes to the library of a server. The version is part of every path. Each request
//! corresponds to a method of [`Destination`](crate::Destination), and may be repeated.
//!
//! | request | body | method |
//! |---|---|---|
//! | `GET /receive/v1/runs/ID` | none | `received` |
//! | `POST /receive/v1/runs/ID` | [`Begin`] as JSON | `begin` |
//! | `POST /receive/v1/runs/ID/records?at=N` | complete records, byte for byte | `append` |
//! | `POST /receive/v1/runs/ID/state` | [`SourceState`] as JSON | `settle` |
//!
//! A request that succeeds returns status 200 and a [`Reply`]; any other returns a [`Problem`].

use std::fmt;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::prelude::BASE64_STANDARD;
use record::{MOST_LINE_BYTES, MOST_RUN_FILE_BYTES};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::destination::{First, Received, SourceState};
use crate::error::TransferError;
use crate::source::{CHUNK_BYTES, EXTRA_FILES, MOST_EXTRA_BYTES};

/// The beginning of every path.
pub const ROOT: &str = "/receive/v1/runs";

/// Size limit of the records in one request: one long record, or a chunk of shorter records.
pub const MOST_RECORDS_BYTES: usize =
    if MOST_LINE_BYTES > CHUNK_BYTES { MOST_LINE_BYTES } else { CHUNK_BYTES };
/// Size limit of the beginning of a run, whose parts are encoded in base64.
pub const MOST_BEGIN_BYTES: usize =
    (MOST_RUN_FILE_BYTES as usize + MOST_RECORDS_BYTES + EXTRA_FILES.len() * MOST_EXTRA_BYTES as usize) / 3
        * 4
        + 4096;

/// The beginning of a run, with the parts of [`First`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// Directory of the run on its host, which is shown to people as part of the copy's origin.
    pub directory: String,
    /// The `run.json`.
    run_json: Encoded,
    /// The first complete records.
    journal: Encoded,
    /// Further files, as (name, content).
    files: Vec<(String, Encoded)>,
    /// State of the source.
    pub state: SourceState,
}

impl Begin {
    /// Returns the beginning of a run.
    #[must_use]
    pub fn of(first: &First<'_>, state: SourceState, directory: &str) -> Self {
        let files = first.files.iter().map(|(name, bytes)| ((*name).to_owned(), Encoded(bytes.clone())));
        Self {
            directory: directory.into(),
            run_json: Encoded(first.run_json.into()),
            journal: Encoded(first.journal.into()),
            files: files.collect(),
            state,
        }
    }

    /// Returns the parts.
    ///
    /// # Errors
    /// Returns an error if one of them is not a file that a run can contain.
    pub fn parts(self) -> Result<Parts, TransferError> {
        let mut files = Vec::new();
        for (name, Encoded(bytes)) in self.files {
            let known = EXTRA_FILES.iter().find(|known| **known == name);
            let known = known.ok_or_else(|| TransferError::Refused {
                text: format!("{} is not a file of a run that can be received", stdx::text::short(&name)),
            })?;
            files.push((*known, bytes));
        }
        Ok(Parts { run_json: self.run_json.0, journal: self.journal.0, files })
    }
}

/// Bytes that are encoded in base64 in JSON. They are encoded and decoded without a copy of the text, which may be
/// long.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Encoded(Vec<u8>);

impl Serialize for Encoded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(&self.0, &BASE64_STANDARD))
    }
}

impl<'de> Deserialize<'de> for Encoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Encoded;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("base64")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Encoded, E> {
                BASE64_STANDARD.decode(text).map(Encoded).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The decoded parts of a [`Begin`].
#[derive(Debug)]
pub struct Parts {
    run_json: Vec<u8>,
    journal: Vec<u8>,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Parts {
    /// Returns the parts as the beginning of run `id`.
    #[must_use]
    pub fn first<'a>(&'a self, id: &'a str) -> First<'a> {
        First { id, run_json: &self.run_json, journal: &self.journal, files: &self.files }
    }
}

/// The response to a request that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What the destination has; null if it does not have the run.
    pub received: Option<Received>,
}

/// The response to a request that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The kind of problem.
    pub problem: Kind,
    /// Description for people.
    pub text: String,
    /// For [`Kind::Gap`], the number of bytes at the destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub have_bytes: Option<u64>,
}

/// The kinds of problems that a sender distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Records do not verify, or the request is not acceptable. Repeating it does not help.
    Refused,
    /// The destination has another run with this id.
    OtherRun,
    /// The destination has the original run.
    Original,
    /// The run is archived at the destination, with fewer records.
    Archived,
    /// The destination lacks records that precede those sent.
    Gap,
    /// The destination does not have the run.
    Unknown,
    /// Another process is working on the run at the destination.
    Busy,
    /// The destination cannot store records at the moment.
    Unavailable,
}

impl Kind {
    /// Returns the status code of the response.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Refused => 422,
            Self::OtherRun | Self::Original | Self::Archived | Self::Gap => 409,
            Self::Unknown => 404,
            Self::Busy | Self::Unavailable => 503,
        }
    }
}

impl Problem {
    /// Returns the problem that the server reports for `error`. Errors in the server's storage are described without
    /// paths.
    #[must_use]
    pub fn of(error: &TransferError) -> Self {
        let (problem, have_bytes) = match error {
            TransferError::Unverified { .. }
            | TransferError::OtherRunFile { .. }
            | TransferError::TooLarge { .. }
            | TransferError::Refused { .. } => (Kind::Refused, None),
            TransferError::OtherRun { .. } => (Kind::OtherRun, None),
            TransferError::Original { .. } => (Kind::Original, None),
            TransferError::Archived { .. } => (Kind::Archived, None),
            TransferError::Gap { have_bytes, .. } => (Kind::Gap, Some(*have_bytes)),
            TransferError::Unknown { .. } => (Kind::Unknown, None),
            TransferError::Busy { .. } => (Kind::Busy, None),
            TransferError::Io { .. }
            | TransferError::Library(_)
            | TransferError::Unreachable { .. }
            | TransferError::NotAdmitted { .. } => (Kind::Unavailable, None),
        };
        let text = match problem {
            Kind::Unavailable => {
                "the server cannot store the run; its operator can find the cause in the server's log".into()
            }
            _ => stdx::text::with_causes(error),
        };
        Self { problem, text, have_bytes }
    }

    /// Converts the problem to the error of a transfer that sent records of run `id`, starting at `at`.
    #[must_use]
    pub fn error(self, id: &str, at: u64) -> TransferError {
        let id = id.to_owned();
        let text = stdx::text::short(&self.text);
        match self.problem {
            Kind::Refused => TransferError::Refused { text },
            Kind::OtherRun => TransferError::OtherRun { id },
            Kind::Original => TransferError::Original { id },
            Kind::Archived => TransferError::Archived { id },
            Kind::Gap => TransferError::Gap { id, have_bytes: self.have_bytes.unwrap_or(0), at },
            Kind::Unknown => TransferError::Unknown { id },
            Kind::Busy => TransferError::Busy { id },
            Kind::Unavailable => TransferError::Unreachable { text },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_run_is_encoded_without_loss() {
        let files = [("logo", vec![0, 255, b'\n'])];
        let first = First { id: "r", run_json: b"{}", journal: b"\0\xff\n", files: &files };
        let state = SourceState { bytes: 3, is_in_progress: true };
        let text = serde_json::to_string(&Begin::of(&first, state, "/d")).expect("JSON");
        let begin: Begin = serde_json::from_str(&text).expect("a beginning");
        assert_eq!((begin.state, begin.directory.as_str()), (state, "/d"));
        let parts = begin.parts().expect("its parts");
        let read = parts.first("r");
        assert_eq!((read.run_json, read.journal, read.files), (first.run_json, first.journal, first.files));
        for name in ["../x", "journal"] {
            let begin: Begin = serde_json::from_str(&text.replace("logo", name)).expect("a beginning");
            assert!(matches!(begin.parts(), Err(TransferError::Refused { .. })), "{name}");
        }
        let content = BASE64_STANDARD.encode(&files[0].1);
        assert!(text.contains(&content), "{text}");
        assert!(serde_json::from_str::<Begin>(&text.replace(&content, "!")).is_err());
    }

    #[test]
    fn problems_reach_the_sender_as_the_errors_that_they_were() {
        let id = || "r".to_owned();
        for error in [
            TransferError::OtherRun { id: id() },
            TransferError::Original { id: id() },
            TransferError::Archived { id: id() },
            TransferError::Gap { id: id(), have_bytes: 7, at: 9 },
            TransferError::Unknown { id: id() },
            TransferError::Busy { id: id() },
        ] {
            let text = serde_json::to_string(&Problem::of(&error)).expect("JSON");
            let problem: Problem = serde_json::from_str(&text).expect("a problem");
            assert_eq!(problem.error("r", 9).to_string(), error.to_string());
        }
        let full = TransferError::Io {
            action: "write",
            path: "/secret/path".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        };
        let problem = Problem::of(&full);
        assert!(problem.problem == Kind::Unavailable && !problem.text.contains("secret"), "{problem:?}");
    }
}
