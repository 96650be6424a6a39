//! Converts a target's clock to minutes of the full-size drive, as on the tests' pages: a cell that the simulator
//! extended counts as if it had the requested length.

use record::{Entry, Event};

const MINUTE_NS: f64 = 60e9;

/// Converts a target's times. Times of drives that are not simulated remain unchanged.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScaledClock {
    scale: f64,
    /// Extended workloads in order: start, end, and the total excess time up to the end of each.
    extended: Vec<(u64, u64, u64)>,
}

impl ScaledClock {
    /// Returns the clock of a run.
    pub fn of(entries: &[Entry], scale_divisor: u32) -> Self {
        let mut excess_ns = 0_u64;
        let mut extended = Vec::new();
        for entry in entries {
            let (Event::Measured(segment) | Event::Preconditioned(segment)) = &entry.event else { continue };
            let Some(requested_ns) = segment.requested_ns(scale_divisor) else { continue };
            if segment.extended_by(scale_divisor).is_some() {
                let too_long_ns = segment.end_ns - segment.start_ns - requested_ns;
                excess_ns = too_long_ns.saturating_add(excess_ns);
                extended.push((segment.start_ns, segment.end_ns, excess_ns));
            }
        }
        Self { scale: f64::from(scale_divisor.max(1)), extended }
    }

    /// Converts a time of the target to minutes of the full-size drive.
    pub fn minutes(&self, at_ns: u64) -> f64 {
        let before = self.extended.partition_point(|(start_ns, ..)| *start_ns < at_ns);
        let Some(last) = before.checked_sub(1) else { return at_ns as f64 / MINUTE_NS * self.scale };
        let (start_ns, end_ns, excess_ns) = self.extended[last];
        let earlier_ns = last.checked_sub(1).map_or(0, |index| self.extended[index].2);
        // Within a workload, the excess is spread evenly.
        let share = at_ns.min(end_ns).saturating_sub(start_ns) as f64 / (end_ns - start_ns) as f64;
        let too_long = earlier_ns as f64 + (excess_ns - earlier_ns) as f64 * share;
        (at_ns as f64 - too_long) / MINUTE_NS * self.scale
    }

    /// Returns whether the simulator extended any cell.
    pub fn is_stretched(&self) -> bool {
        !self.extended.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::samples::{MINUTE_NS as MINUTE, entries, segment};
    use record::{IoEngine, Segment};

    /// Returns a one-minute workload on a simulated drive, which took `seconds` at scale 1/10.
    fn cell(start_seconds: u64, seconds: u64) -> Event {
        let start_ns = start_seconds * MINUTE / 60;
        let io_path = IoEngine::Simulated.into();
        Event::Measured(Segment { start_ns, end_ns: start_ns + seconds * MINUTE / 60, io_path, ..segment(0) })
    }

    #[test]
    fn an_extended_cell_takes_the_requested_minute() {
        let entries = entries(vec![cell(60, 6), cell(66, 18), cell(84, 6), cell(90, 60), cell(150, 6)]);
        let clock = ScaledClock::of(&entries, 10);
        let minutes = |seconds: u64| clock.minutes(seconds * MINUTE / 60);
        let ends = [60, 66, 84, 90, 150, 156].map(minutes);
        assert_eq!(ends, [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
        assert_eq!((minutes(75), minutes(120), minutes(0)), (11.5, 13.5, 0.0));
        assert!(clock.is_stretched());
    }

    #[test]
    fn other_clocks_are_only_scaled() {
        let entries = entries(vec![Event::Measured(segment(1)), Event::Measured(segment(3))]);
        let clock = ScaledClock::of(&entries, 1);
        assert_eq!((clock.minutes(3 * MINUTE), clock.is_stretched()), (3.0, false));
    }
}
