//! A run's `live` file, written once a second by a separate thread, so that a slow or full library does not delay the
//! thread that follows the load.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use live::{Live, LiveFile};
use record::Run;

use super::facts::Facts;
use super::view::{Left, View};

const EVERY: Duration = Duration::from_secs(1);

/// Writes the `live` file. Dropping this value removes the file.
#[derive(Debug)]
pub struct LiveThread {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl LiveThread {
    /// Starts a thread that writes what `state` returns. Returns `None` if the thread cannot be started; the run does
    /// not depend on it.
    pub fn begin(run: &Run, state: impl Fn() -> Live + Send + 'static) -> Option<Self> {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let (run, until) = (run.clone(), Arc::clone(&over));
        let write = move || {
            let file = match LiveFile::create(&run) {
                Ok(file) => file,
                Err(error) => return log::debug!("could not create the `live` file: {error}"),
            };
            write_until(&until, || {
                if let Err(error) = file.write(&state()) {
                    log::debug!("could not write the `live` file: {error}");
                }
            });
        };
        let thread = std::thread::Builder::new().name("live".into()).spawn(write).ok()?;
        Some(Self { over, thread: Some(thread) })
    }
}

impl Drop for LiveThread {
    fn drop(&mut self) {
        *self.over.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread returns no result.
            drop(thread.join());
        }
    }
}

fn write_until((over, changed): &(Mutex<bool>, Condvar), write: impl Fn()) {
    loop {
        write();
        let is_over = over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(is_over, EVERY, |is_over| !*is_over);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
    }
}

/// Returns the content of the file at the given time since the facts were first displayed.
pub fn state(run: &str, facts: &Facts, now: Duration, time: Timestamp) -> Live {
    let view = facts.view(now);
    let view = view.as_ref();
    let seconds = |time: Duration| time.as_secs_f64();
    let test_left = view.and_then(|view| view.test_left);
    Live {
        run: run.to_owned(),
        time,
        test: view.and_then(|view| view.test.clone()),
        phase: view.map(|view| view.phase),
        step: view.map(|view| view.what.clone()).filter(|what| !what.is_empty()),
        round: view.and_then(|view| view.round).map(|(round, _)| round),
        max_rounds: view.and_then(|view| view.round).map(|(_, rounds)| rounds),
        cell: view.and_then(|view| view.cell).map(|(cell, _)| cell),
        cells: view.and_then(|view| view.cell).and_then(|(_, cells)| cells),
        share_done: view.and_then(|view| view.share_done),
        elapsed_seconds: view.map(|view| seconds(view.elapsed)),
        inactive_seconds: facts.inactive(now).map(seconds),
        left_seconds: view.and_then(View::left_of_part).map(seconds),
        left_is_estimate: view
            .is_some_and(|view| matches!(view.left, Some(Left::Expected(_) | Left::Overdue))),
        test_left_min_seconds: test_left.map(|(from, _)| seconds(from)),
        test_left_max_seconds: test_left.map(|(_, to)| seconds(to)),
        temperature_celsius: view.and_then(|view| view.temperature_celsius),
        host_limited: view.is_some_and(|view| view.host_limited),
        load_written_bytes: facts.load_written_bytes(),
        seconds: facts.seconds().iter().copied().collect(),
    }
}
