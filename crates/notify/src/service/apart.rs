//! Runs work that may take a long time, and that the process does not wait for when it is asked to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;

use stdx::text::panic_message;

use super::common::STEP;
use super::error::ServiceError;

/// Runs a function in its own thread and returns the result.
///
/// # Errors
/// Returns an error if the function panics, or if `stop` is set first; the thread is then abandoned and ends with
/// this process.
pub fn unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServiceError> {
    let (sender, receiver) = channel();
    // If nobody is waiting for the result any longer, it is not needed.
    let send = move || drop(sender.send(body()));
    let thread = Builder::new().name("look".into()).spawn(send).map_err(ServiceError::Thread)?;
    loop {
        match receiver.recv_timeout(STEP) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                return Err(ServiceError::Stopped);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().err();
                let text = panic.as_deref().map_or("no result", panic_message);
                return Err(ServiceError::Panicked(text.into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_does_not_wait_and_a_panic_is_an_error() {
        let go = AtomicBool::new(false);
        assert_eq!(unless_stopped(&go, || 7).expect("a result"), 7);
        let what = "mistake";
        let error = unless_stopped(&go, move || -> u8 { panic!("a {what}") }).expect_err("a panic");
        assert_eq!(error.to_string(), "internal error while reading the library: a mistake");
        let (_sender, receiver) = channel::<()>();
        let stopped = unless_stopped(&AtomicBool::new(true), move || {
            let _ = receiver.recv();
        });
        assert!(matches!(stopped, Err(ServiceError::Stopped)), "it would wait for ever");
    }
}
