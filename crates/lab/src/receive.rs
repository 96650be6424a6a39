//! Receives runs from other hosts (`plateau forward`, `plateau push`). Only complete and verified records are stored,
//! and a sender can continue only the runs that it has sent itself.

use serde::de::DeserializeOwned;
use transfer::protocol::{Begin, Kind, MOST_BEGIN_BYTES, MOST_RECORDS_BYTES, Problem, Reply};
use transfer::{Destination as _, Received, Receiver, SourceState, TransferError};

use crate::app::{Answer, App, Call, JSON, Reception};
use crate::receiving::NotRead;

/// Size limit of a source's state.
const MOST_STATE_BYTES: usize = 4 << 10;
/// Number of characters kept of a directory's path.
const MOST_DIRECTORY_CHARS: usize = 500;

/// How much of a run this server has.
pub const STATE: Reception = Reception { most_bytes: 0, answer: received };
/// Adds a run.
pub const BEGIN: Reception = Reception { most_bytes: MOST_BEGIN_BYTES, answer: begin };
/// Appends records.
pub const RECORDS: Reception = Reception { most_bytes: MOST_RECORDS_BYTES, answer: append };
/// Records that everything was sent.
pub const SETTLE: Reception = Reception { most_bytes: MOST_STATE_BYTES, answer: settle };

/// The response to a sender.
pub fn answer(result: Result<Option<Received>, TransferError>) -> Answer {
    match result {
        Ok(received) => Answer::of(JSON, document(&Reply { received })),
        Err(error) => problem(&Problem::of(&error)),
    }
}

/// The response to a sender whose request body was not read.
pub fn not_read(why: NotRead, most_bytes: usize) -> Answer {
    let (problem_kind, text) = match why {
        NotRead::TooLong => (Kind::Refused, format!("the request is longer than {most_bytes} bytes")),
        // The sender tries again; the connection may be faster by then.
        NotRead::TooSlow => (Kind::Unavailable, "the request did not arrive in time".into()),
    };
    problem(&Problem { problem: problem_kind, text, have_bytes: None })
}

fn problem(problem: &Problem) -> Answer {
    Answer { status: problem.problem.status(), ..Answer::of(JSON, document(problem)) }
}

fn document(value: &impl serde::Serialize) -> Vec<u8> {
    // This cannot fail, because the keys of these types are strings.
    serde_json::to_vec(value).unwrap_or_default()
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, TransferError> {
    serde_json::from_slice(body)
        .map_err(|error| TransferError::Refused { text: format!("the request: {error}") })
}

fn received(app: &App, call: &Call, _: &[u8]) -> Result<Option<Received>, TransferError> {
    app.receivers.of_sender(call.user(), |receiver| receiver.received(call.name()))
}

fn begin(app: &App, call: &Call, body: &[u8]) -> Result<Option<Received>, TransferError> {
    app.receivers.check_space(body.len())?;
    let begin: Begin = parsed(body)?;
    let (sender, id, state) = (call.user(), call.name(), begin.state);
    let directory: String = begin.directory.chars().take(MOST_DIRECTORY_CHARS).collect();
    let parts = begin.parts()?;
    app.receivers.of_sender(sender, |receiver| {
        let first = parts.first(id);
        Receiver::check(&first)?;
        if receiver.received(id)?.is_none() {
            let recorded = app.starts.audit().record(sender, "receive", id, "");
            recorded.map_err(|text| TransferError::Unreachable { text })?;
        }
        receiver.set_source(format!("{sender}:{directory}"));
        receiver.begin(&first, state).map(Some)
    })
}

fn append(app: &App, call: &Call, body: &[u8]) -> Result<Option<Received>, TransferError> {
    app.receivers.check_space(body.len())?;
    let at = call.query("at").and_then(|text| text.parse().ok());
    let at = at
        .ok_or_else(|| TransferError::Refused { text: "the offset `at` of the records is missing".into() })?;
    app.receivers.of_sender(call.user(), |receiver| receiver.append(call.name(), at, body).map(Some))
}

fn settle(app: &App, call: &Call, body: &[u8]) -> Result<Option<Received>, TransferError> {
    let state: SourceState = parsed(body)?;
    app.receivers.of_sender(call.user(), |receiver| receiver.settle(call.name(), state).map(|()| None))
}
