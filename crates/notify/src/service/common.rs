//! Items shared by the parts of the service.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stdx::text::with_causes;

use crate::channel::Channel;
use crate::memory::{Memory, MemoryError};
use crate::notice::Notice;

/// Maximum time between two checks for a request to end this process.
pub const STEP: Duration = Duration::from_millis(100);

/// Maximum number of notices waiting for one channel. If it is exceeded, the oldest notices are abandoned.
pub const MOST_WAITING: usize = 1_000;

/// Prints a line about what the service does.
pub type Report<'a> = &'a (dyn Fn(&str) + Sync);

pub fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports that a delivery could not be recorded, and so will be repeated after a restart.
pub fn note(recorded: Result<(), MemoryError>, report: Report<'_>) {
    if let Err(error) = recorded {
        report(&with_causes(&error));
    }
}

/// Records that a notice will not be delivered through a channel.
pub fn abandon(memory: &Mutex<Memory>, channel: &Channel, id: &str, why: &str, report: Report<'_>) {
    let name = channel.name();
    note(lock(memory).abandoned(id, name), report);
    report(&format!("gave up delivering notice {id} to '{name}': {why}"));
}

/// Returns the notices waiting for a channel, oldest first.
pub fn waiting_for(memory: &Mutex<Memory>, channel: &Channel) -> Vec<Notice> {
    let memory = lock(memory);
    let its = memory.outstanding().filter(|outstanding| outstanding.channels.contains(channel.name()));
    its.map(|outstanding| outstanding.notice.clone()).collect()
}
