//! Recovery time of sequential writes after random writes.

use crate::method::timeline::mean;

/// Plateau's own reference: a fraction of the mean throughput over the last hour of the first group.
const LAST_MINUTES: f64 = 60.0;
const RECOVERED_SHARE: f64 = 0.90;

/// Returns the index of the first sample of `again` that reaches the mean of `before`, which includes writes to the
/// fresh drive.
pub fn recovery(before: &[f64], again: &[f64]) -> Option<usize> {
    reached(again, mean(before.iter().copied())?)
}

/// Returns the index of the first sample in `again` that reaches 90 % of the mean over the last hour of `before`.
/// `before` lasts `minutes`. The mean over the whole group would include the time when the drive was fresh and
/// faster than it will ever be again.
pub fn recovery_of_last_hour(before: &[f64], minutes: f64, again: &[f64]) -> Option<usize> {
    // With short cells, there are fewer samples than minutes.
    let hour = (LAST_MINUTES * before.len() as f64 / minutes).round().max(1.0) as usize;
    let last = &before[before.len().saturating_sub(hour)..];
    reached(again, RECOVERED_SHARE * mean(last.iter().copied())?)
}

fn reached(again: &[f64], reference: f64) -> Option<usize> {
    again.iter().position(|value| *value >= reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_has_two_references() {
        // 500 in the first hour, while the drive is fresh, then 300. The overall mean is 400, but the mean over
        // the last hour is 300.
        let before: Vec<f64> = (0..120).map(|minute| if minute < 60 { 500.0 } else { 300.0 }).collect();
        let again: Vec<f64> =
            (0..120).map(|minute| f64::from(minute).mul_add(10.0, 100.0).min(310.0)).collect();
        assert_eq!(recovery(&before, &again), None, "not yet");
        assert_eq!(recovery_of_last_hour(&before, 120.0, &again), Some(17), "270 MB/s");
        // The same curve in samples of four minutes.
        let coarse = |all: &[f64]| all.chunks(4).map(|some| some[3]).collect::<Vec<_>>();
        assert_eq!(recovery_of_last_hour(&coarse(&before), 120.0, &coarse(&again)), Some(4));
    }

    #[test]
    fn nothing_to_compare_with() {
        assert_eq!(recovery(&[], &[1.0]), None);
        assert_eq!(recovery_of_last_hour(&[1.0], 60.0, &[]), None);
    }
}
