//! Headline figures of a saturation curve. The PTS names them without defining them, so these algorithms are our
//! own. They use only the IOPS of each minute.

use crate::method::timeline::mean;

/// Number of minutes during which a drive counts as fresh.
pub const FRESH_MINUTES: usize = 60;
/// Number of final minutes that are averaged if the drive is not steady.
pub const LAST_MINUTES: usize = 30;
/// A drop counts if at least N of the M minutes after it are also low: (N, M).
const DROP_STAYS: (usize, usize) = (5, 6);
/// Length of the moving average, and its maximum relative distance from the level.
const AVERAGE_MINUTES: usize = 10;
const SETTLED_WITHIN: f64 = 0.10;

/// The four headline figures; minutes start at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Fresh out of the box: the best minute of the first hour.
    pub fresh: Option<f64>,
    /// Level at the end of the curve: the mean of the five steady samples or, without them, of the last 30
    /// minutes (or all, if there are fewer).
    pub level: Option<f64>,
    /// First minute of the drop from fresh IOPS to the level; None if fresh IOPS are within 10 % of the level or
    /// below it.
    pub drop_minute: Option<usize>,
    /// First minute, not before the drop, from which the moving average stays near the level.
    pub settled_minute: Option<usize>,
}

impl Figures {
    /// Computes the figures from the IOPS of each minute; `window` is the mean of the steady-state window, if there is
    /// one.
    pub fn of(iops: &[f64], window: Option<f64>) -> Self {
        let fresh = iops.iter().take(FRESH_MINUTES).copied().max_by(f64::total_cmp);
        let last = &iops[iops.len().saturating_sub(LAST_MINUTES)..];
        let level = window.or_else(|| mean(last.iter().copied()));
        let falls = |(fresh, level): &(f64, f64)| *fresh > (1.0 + SETTLED_WITHIN) * level;
        let drop_minute =
            fresh.zip(level).filter(falls).and_then(|(fresh, level)| peak_drop(iops, fresh, level));
        let settled_minute = level.and_then(|level| settled(iops, level, drop_minute.unwrap_or(1)));
        Self { fresh, level, drop_minute, settled_minute }
    }
}

/// Returns the first minute below the midpoint of `fresh` and `level` that is followed by enough other
/// minutes below it.
fn peak_drop(iops: &[f64], fresh: f64, level: f64) -> Option<usize> {
    let middle = fresh - 0.5 * (fresh - level);
    let (stays, of) = DROP_STAYS;
    let dropped = |index: &usize| {
        let following = iops[index + 1..].iter().take(of).filter(|value| **value < middle).count();
        iops[*index] < middle && following >= stays
    };
    (0..iops.len()).find(dropped).map(|index| index + 1)
}

/// Returns the first minute, not before `earliest`, from which the ten-minute average stays within 10 % of `level`
/// until the end. Without `earliest`, a drive could count as settled before it drops, because an average that
/// includes the last fresh minute can be in this range.
fn settled(iops: &[f64], level: f64, earliest: usize) -> Option<usize> {
    let is_near = |minutes: &[f64]| {
        mean(minutes.iter().copied()).is_some_and(|m| (m - level).abs() <= SETTLED_WITHIN * level + 1e-9)
    };
    let restless = iops.windows(AVERAGE_MINUTES).rposition(|minutes| !is_near(minutes));
    let first = restless.map_or(0, |index| index + 1).max(earliest - 1);
    (first + AVERAGE_MINUTES <= iops.len()).then_some(first + 1)
}

/// Bytes written, in user capacities.
pub fn drive_fills(written_bytes: u64, capacity_bytes: u64) -> f64 {
    written_bytes as f64 / capacity_bytes.max(1) as f64
}

/// Returns FOB IOPS, level and minutes of a curve measured by another tool, whose samples take `minutes` each.
pub(crate) fn saturation_figures(iops: &[f64], minutes: f64) -> (Option<f64>, Option<f64>, usize) {
    // The figures are defined by the minute, so shorter samples are averaged.
    let group = if minutes > 0.0 { (1.0 / minutes).round().max(1.0) as usize } else { 1 };
    let by_minute: Vec<f64> =
        iops.chunks(group).map(|some| some.iter().sum::<f64>() / some.len() as f64).collect();
    let figures = Figures::of(&by_minute, None);
    (figures.fresh, figures.level, by_minute.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve that is fast for `fresh` minutes and then slow.
    fn cliff(fresh: usize, total: usize) -> Vec<f64> {
        (0..total).map(|minute| if minute < fresh { 50_000.0 } else { 2_000.0 }).collect()
    }

    #[test]
    fn drive_fills_of_the_published_examples() {
        assert_eq!(drive_fills(200_000_000_000, 100_000_000_000), 2.0);
        assert_eq!(format!("{:.2}", drive_fills(38_000_000_000, 160_000_000_000)), "0.24");
        assert_eq!(drive_fills(600_000_000_000, 100_000_000_000), 6.0);
    }

    #[test]
    fn a_cliff_drops_and_settles_at_its_foot() {
        let figures = Figures::of(&cliff(30, 200), None);
        assert_eq!((figures.fresh, figures.level), (Some(50_000.0), Some(2_000.0)));
        assert_eq!((figures.drop_minute, figures.settled_minute), (Some(31), Some(31)));
    }

    #[test]
    fn a_steady_window_is_the_level() {
        assert_eq!(Figures::of(&cliff(30, 200), Some(2_100.0)).level, Some(2_100.0));
    }

    #[test]
    fn a_short_dip_is_not_a_drop() {
        let mut iops = cliff(60, 120);
        iops[20..24].fill(1_000.0);
        assert_eq!(Figures::of(&iops, None).drop_minute, Some(61));
        iops[20..26].fill(1_000.0);
        assert_eq!(Figures::of(&iops, None).drop_minute, Some(21), "six minutes are a drop");
    }

    #[test]
    fn a_drive_that_never_drops_is_steady_from_the_start() {
        let figures = Figures::of(&[900.0; 40], None);
        assert_eq!((figures.drop_minute, figures.settled_minute), (None, Some(1)));
        // Noise of 4 % around a level, without a cliff.
        let noisy: Vec<f64> = (0..155).map(|minute| 1_000.0 - 10.0 * f64::from(minute * 7 % 5)).collect();
        let figures = Figures::of(&noisy, None);
        assert_eq!((figures.drop_minute, figures.settled_minute), (None, Some(1)));
    }

    #[test]
    fn a_drive_that_becomes_faster_does_not_drop() {
        let rising: Vec<f64> = (0..155).map(|minute| if minute < 60 { 1_000.0 } else { 2_000.0 }).collect();
        let figures = Figures::of(&rising, None);
        assert_eq!((figures.drop_minute, figures.settled_minute), (None, Some(59)));
    }

    #[test]
    fn a_drive_does_not_settle_before_it_drops() {
        // The average of one fresh and nine slow minutes is within 10 % of the level.
        let iops: Vec<f64> = (0..120).map(|minute| if minute < 30 { 3_600.0 } else { 2_000.0 }).collect();
        let figures = Figures::of(&iops, Some(2_000.0));
        assert_eq!((figures.drop_minute, figures.settled_minute), (Some(31), Some(31)));
    }

    #[test]
    fn the_fresh_hour_ends() {
        let mut iops = vec![1_000.0; 100];
        iops[70] = 9_000.0;
        assert_eq!(Figures::of(&iops, None).fresh, Some(1_000.0));
    }

    #[test]
    fn too_little_was_measured() {
        assert_eq!(
            Figures::of(&[], None),
            Figures { fresh: None, level: None, drop_minute: None, settled_minute: None }
        );
        assert_eq!(Figures::of(&[5.0; 9], None).settled_minute, None);
        let falling: Vec<f64> = (0..60).map(|m| 60_000.0 - 1_000.0 * f64::from(m)).collect();
        assert_eq!(Figures::of(&falling, None).settled_minute, None, "the end is far from the mean");
    }
}
