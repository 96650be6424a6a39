//! Sends a run: compares the part that the destination has, then sends the rest.

use std::ops::ControlFlow;

use record::MOST_JOURNAL_BYTES;

use crate::destination::{Destination, First, Received};
use crate::error::TransferError;
use crate::source::Source;

/// Outcome of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Bytes of the journal that were sent.
    pub new_bytes: u64,
    /// Bytes of the journal at the destination.
    pub bytes: u64,
    /// Whether a process was working on the run when its last byte was read.
    pub was_in_progress: bool,
    /// Whether everything was sent; false if `on_progress` stopped the transfer.
    pub has_all: bool,
}

/// Sends the part of a run that the destination does not have. Calls `on_progress` with the number of bytes at the
/// destination after each piece; a transfer that it stops is continued by the next call.
///
/// # Errors
/// Returns an error if the run is damaged or its journal too large, the destination has another run with its id, or the source or the
/// destination fails.
pub fn send(
    source: &mut Source,
    destination: &mut dyn Destination,
    on_progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Sent, TransferError> {
    let id = source.id().to_owned();
    let bytes = source.length()?;
    if bytes > MOST_JOURNAL_BYTES {
        // The destination would refuse its end.
        return Err(TransferError::TooLarge { id, bytes, limit_bytes: MOST_JOURNAL_BYTES });
    }
    let (mut at, mut new_bytes) = match destination.received(&id)? {
        Some(there) => {
            check_length(source, &there)?;
            if source.digest_at(there.bytes)?.as_deref() != Some(&there.digest) {
                return Err(TransferError::OtherRun { id });
            }
            (there.bytes, 0)
        }
        None => {
            source.sync_entries()?;
            let (run_json, files, journal) = (source.run_json()?, source.files()?, source.lines_from(0)?);
            let first = First { id: &id, run_json: &run_json, journal: &journal, files: &files };
            let length = source.length()?;
            let state = source.state(length)?;
            let begun = destination.begin(&first, state)?;
            check_length(source, &begun)?;
            (begun.bytes, begun.bytes)
        }
    };
    loop {
        let mut sent = Sent { new_bytes, bytes: at, was_in_progress: false, has_all: false };
        if on_progress(at).is_break() {
            return Ok(sent);
        }
        // Query the state before reading: a run that ends in the meantime counts as in progress, and its end is sent
        // next time.
        let mut state = source.state(at)?;
        let lines = source.lines_from(at)?;
        if lines.is_empty() {
            state.bytes = at;
            destination.settle(&id, state)?;
            sent.was_in_progress = state.is_in_progress;
            sent.has_all = true;
            return Ok(sent);
        }
        let there = destination.append(&id, at, &lines)?;
        if there.bytes <= at {
            let text = format!("the destination accepted nothing of run {id} from byte {at} on");
            return Err(TransferError::Unreachable { text });
        }
        check_length(source, &there)?;
        new_bytes += there.bytes - at;
        at = there.bytes;
    }
}

/// Refuses a destination that has more than the source, so that nothing counts as sent that was not. The destination
/// may have a later state of the same run; in either case, there is nothing to send.
fn check_length(source: &mut Source, there: &Received) -> Result<(), TransferError> {
    if there.bytes > source.length()? {
        return Err(TransferError::OtherRun { id: source.id().to_owned() });
    }
    Ok(())
}
