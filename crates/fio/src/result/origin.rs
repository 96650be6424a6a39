//! Which host generated a load, and when, according to its wall clock.

use engine::WallClock;
use jiff::{SignedDuration, Timestamp};
use record::Segment;
use serde::{Deserialize, Serialize};
use stdx::units::grouped;

/// The host that generated a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Name of the host; empty if unknown.
    pub name: String,
    /// The kernel's id of this boot. Results with the same id were timed by the same clock.
    pub boot_id: Option<String>,
}

/// The state of the host's wall clock at the start of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockState {
    /// Whether a time service keeps the clock synchronized.
    pub synchronized: bool,
    /// Largest possible error in ns, according to the time service.
    pub max_error_ns: u64,
    /// Error in ns that the time service estimates.
    pub estimated_error_ns: u64,
}

impl From<WallClock> for ClockState {
    fn from(clock: WallClock) -> Self {
        let WallClock { is_synchronized: synchronized, max_error_ns, estimated_error_ns } = clock;
        Self { synchronized, max_error_ns, estimated_error_ns }
    }
}

/// What is known about the origin of a load before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The host.
    pub host: Host,
    /// The requested start; `None` if the load was to start at once.
    pub requested: Option<Timestamp>,
    /// The state of the wall clock; `None` if unknown, or if all targets are simulated.
    pub clock: Option<ClockState>,
}

/// When a load was to start, and when it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The requested start; `None` if the load was to start at once.
    pub requested: Option<Timestamp>,
    /// Time of the first I/O, which may belong to a ramp; `None` if all targets are simulated.
    pub actual: Option<Timestamp>,
    /// The state of the wall clock at the start; `None` if unknown, or if all targets are simulated.
    pub clock: Option<ClockState>,
}

impl Start {
    /// Returns the start of a load whose jobs ran during `spans`.
    #[must_use]
    pub fn of(origin: &Origin, spans: impl IntoIterator<Item = Span>) -> Self {
        let actual = spans.into_iter().map(|span| span.started).min();
        Self { requested: origin.requested, actual, clock: origin.clock }
    }

    /// Formats a requested start and how precisely it was kept; empty if none was requested.
    #[must_use]
    pub fn text(&self) -> String {
        let (Some(requested), Some(actual)) = (self.requested, self.actual) else { return String::new() };
        let late = milliseconds(actual.duration_since(requested));
        let clock = match self.clock {
            Some(clock) if clock.synchronized => {
                let within = grouped(clock.max_error_ns as f64 / 1e6, 3);
                format!("clock synchronized to within {within} ms")
            }
            Some(_) => "clock not synchronized".to_owned(),
            None => "state of the clock unknown".to_owned(),
        };
        format!("start  requested {requested}, {late} later; {clock}\n")
    }
}

/// A target's clock, read shortly before a stage begins. The clocks of all targets must be read at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// What the target's clock showed; its zero is when the target was opened, so that it differs between targets.
    pub target_ns: u64,
    /// What the host's wall clock showed; `None` for a simulated target.
    pub wall: Option<Timestamp>,
}

/// When a job ran, according to the host's wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Start of the load, including its ramp.
    pub started: Timestamp,
    /// Start of the measurement.
    pub began: Timestamp,
    /// End of the measurement.
    pub ended: Timestamp,
}

impl Span {
    /// Returns when a segment ran, given that its times are on the target's clock; `None` for a simulated target, or if
    /// the result is out of range.
    #[must_use]
    pub fn of(segment: &Segment, Reading { target_ns, wall }: Reading) -> Option<Self> {
        let wall = wall?;
        let at = |ns: u64| {
            let distance = i64::try_from(i128::from(ns) - i128::from(target_ns)).ok()?;
            wall.checked_add(SignedDuration::from_nanos(distance)).ok()
        };
        let started = at(segment.start_ns.saturating_sub(segment.workload.regime.ramp_ns))?;
        Some(Self { started, began: at(segment.start_ns)?, ended: at(segment.end_ns)? })
    }

    /// Returns the span from the earlier start to the later end.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            started: self.started.min(other.started),
            began: self.began.min(other.began),
            ended: self.ended.max(other.ended),
        }
    }
}

/// Formats a time difference in milliseconds.
pub fn milliseconds(time: SignedDuration) -> String {
    format!("{} ms", grouped(time.as_secs_f64() * 1e3, 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::part;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn the_times_of_a_segment_follow_from_one_reading_of_both_clocks() {
        let reading = |target_ns, wall| Reading { target_ns, wall: Some(wall) };
        let mut segment = part(1, None, false).segments.remove(0);
        (segment.start_ns, segment.end_ns) = (5_000_000_000, 7_500_000_000);
        segment.workload.regime.ramp_ns = 2_000_000_000;
        let span = Span::of(&segment, reading(4_000_000_000, at("2026-01-01T00:00:04Z"))).expect("in range");
        let [started, began, ended] = ["03", "05", "07.5"].map(|s| at(&format!("2026-01-01T00:00:{s}Z")));
        assert_eq!(span, Span { started, began, ended });
        assert_eq!(Span::of(&segment, reading(0, Timestamp::MAX)), None);
        let other = Span { started: began, began: ended, ended: at("2026-01-01T00:00:09Z") };
        assert_eq!(span.joined(other), Span { ended: other.ended, ..span });
    }

    #[test]
    fn a_requested_start_is_compared_with_the_actual_one() {
        let host = Host { name: "a".into(), boot_id: None };
        let clock = ClockState { synchronized: true, max_error_ns: 2_345_678, estimated_error_ns: 0 };
        let requested = at("2026-01-01T00:00:00Z");
        let origin = Origin { host, requested: Some(requested), clock: Some(clock) };
        let span = |started: &str| Span { started: at(started), began: requested, ended: requested };
        let spans = ["2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.0004Z"].map(span);
        let text = |origin: &Origin| Start::of(origin, spans).text();
        assert_eq!(
            text(&origin),
            "start  requested 2026-01-01T00:00:00Z, 0.400 ms later; clock synchronized to within 2.346 ms\n"
        );
        let free = ClockState { synchronized: false, ..clock };
        assert!(text(&Origin { clock: Some(free), ..origin.clone() }).ends_with("clock not synchronized\n"));
        assert!(text(&Origin { clock: None, ..origin.clone() }).ends_with("state of the clock unknown\n"));
        assert_eq!(text(&Origin { requested: None, ..origin }), "");
    }
}
