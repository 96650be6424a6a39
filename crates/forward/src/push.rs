//! Sends runs once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use record::Run;
use transfer::{Sent, Source, TransferError, send};

use crate::client::Client;

/// Sends the part of a run that the server does not have, until `stop` is set.
///
/// # Errors
/// Returns an error if the run cannot be read, if the server refuses it or cannot be reached, or if `stop` was
/// set.
pub fn push(run: Run, client: &mut Client, stop: &AtomicBool) -> Result<Sent, TransferError> {
    client.set_directory(run.dir.display().to_string());
    let go_on = &mut |_| match stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    send(&mut Source::of(run), client, go_on).and_then(|sent| match sent.has_all {
        true => Ok(sent),
        false => Err(TransferError::Unreachable { text: "stopped".into() }),
    })
}

/// Returns whether to stop trying other runs after this error, because the server does not admit the sender or has
/// failed for two runs in succession. A single failure may be specific to the run.
#[must_use]
pub const fn ends_push(error: &TransferError, has_failed_before: bool) -> bool {
    match error {
        TransferError::NotAdmitted { .. } => true,
        TransferError::Unreachable { .. } => has_failed_before,
        _ => false,
    }
}
