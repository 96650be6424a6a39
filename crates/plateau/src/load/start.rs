//! A load that starts at a requested time, and its jobs' wall-clock times.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fio::result::{ClockState, Host, Origin, Reading};
use jiff::{SignedDuration, Timestamp};

use super::plan::usage;
use crate::failure::{Done, Exit, Failure};
use crate::output::{places, printer};

/// A start that is further ahead than this is probably a mistyped date.
const FURTHEST: SignedDuration = SignedDuration::from_hours(24);
/// Interval between readings of the wall clock, which may be adjusted while the load waits for its start.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The clocks of all targets at the same moment, by target.
pub type Readings = BTreeMap<String, Reading>;

/// How far in the future a requested start is.
#[derive(Debug, PartialEq, Eq)]
enum Ahead {
    Wait(Duration),
    TooFar,
    Late(SignedDuration),
}

impl Ahead {
    fn of(requested: Timestamp, now: Timestamp) -> Self {
        let ahead = requested.duration_since(now);
        match Duration::try_from(ahead) {
            Ok(_) if ahead > FURTHEST => Self::TooFar,
            Ok(ahead) => Self::Wait(ahead),
            Err(_) => Self::Late(ahead.abs()),
        }
    }
}

/// Checks a requested start before anything is touched.
pub fn check(requested: Option<Timestamp>) -> Done {
    requested.map_or(Ok(()), |requested| time_until(requested).map(drop))
}

fn time_until(requested: Timestamp) -> Done<Duration> {
    match Ahead::of(requested, record::wall_now()) {
        Ahead::Wait(ahead) => Ok(ahead),
        Ahead::TooFar => {
            Err(usage(format!("--start-at {requested} is more than {} hours ahead", FURTHEST.as_hours())))
        }
        Ahead::Late(late) => Err(Failure::text(
            Exit::Busy,
            format!(
                "the load was not ready until {:.1} s after --start-at {requested}, and nothing was measured; start it \
                 earlier, or specify a later time for all hosts",
                late.as_secs_f64()
            ),
        )),
    }
}

/// Waits for the requested start.
///
/// # Errors
/// Returns an error if the time has already passed, or if the load is interrupted.
pub fn wait(requested: Timestamp, interrupted: &AtomicBool) -> Done {
    let ahead = time_until(requested)?;
    printer::print_line(&format!("starting at {requested}, in {:.0} s", ahead.as_secs_f64()));
    while let Ahead::Wait(ahead) = Ahead::of(requested, record::wall_now()) {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::text(
                Exit::Interrupted,
                "interrupted before the load started; nothing was measured",
            ));
        }
        std::thread::sleep(ahead.min(LOOK_EVERY).max(Duration::from_nanos(1)));
    }
    Ok(())
}

/// Returns the facts about the load's time origin that are known immediately before the load starts.
pub fn origin(requested: Option<Timestamp>, is_real: bool) -> Origin {
    let host = Host { name: stdx::host_name(), boot_id: places::boot_id() };
    let clock = if is_real { engine::wall_clock().ok().map(ClockState::from) } else { None };
    Origin { host, requested, clock }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_waited_for_late_or_too_far_ahead() {
        let at = |text: &str| -> Timestamp { text.parse().expect("a time") };
        let now = at("2026-01-31T12:00:00Z");
        assert_eq!(Ahead::of(at("2026-01-31T12:00:00.25Z"), now), Ahead::Wait(Duration::from_millis(250)));
        assert_eq!(Ahead::of(at("2026-02-01T12:00:00Z"), now), Ahead::Wait(Duration::from_hours(24)));
        assert_eq!(Ahead::of(at("2026-02-01T12:00:01Z"), now), Ahead::TooFar);
        assert_eq!(Ahead::of(at("2026-01-31T11:59:59Z"), now), Ahead::Late(SignedDuration::from_secs(1)));
    }

    #[test]
    fn a_late_start_is_an_error_and_an_interruption_ends_the_wait() {
        let second = SignedDuration::from_secs(1);
        let late = wait(Timestamp::now() - second, &AtomicBool::new(false)).expect_err("it is late");
        assert_eq!(late.exit, Exit::Busy);
        let stopped =
            wait(Timestamp::now() + second * 3600, &AtomicBool::new(true)).expect_err("interrupted");
        assert_eq!(stopped.exit, Exit::Interrupted);
        let distant = check(Some(Timestamp::now() + second * 3600 * 25)).expect_err("too far ahead");
        assert_eq!(distant.exit, Exit::Usage);
    }
}
