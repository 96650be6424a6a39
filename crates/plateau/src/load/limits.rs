//! The start delays of jobs, and the limits that end a load.

use std::time::{Duration, Instant};

use fio::Limits;

use crate::failure::{Done, Exit, Failure};

/// Maximum time between two checks of whether a delayed job is still to be started.
const STEP: Duration = Duration::from_millis(50);

/// Returns an error if a job did not meet a limit.
pub fn check(limits: Limits) -> Done {
    limits.first_missed().map_or(Ok(()), |(job, missed)| {
        let hint = "the load ended without results; omit the option to measure how slow the target is";
        Err(Failure::text(Exit::Regressed, format!("job {job}: {missed}; {hint}")))
    })
}

/// Waits for the start of a delayed job; returns false if `is_over` returns true first.
pub fn wait(delay_ns: u64, is_over: &dyn Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_nanos(delay_ns);
    loop {
        match until.saturating_duration_since(Instant::now()) {
            _ if is_over() => return false,
            Duration::ZERO => return true,
            left => std::thread::sleep(left.min(STEP)),
        }
    }
}
