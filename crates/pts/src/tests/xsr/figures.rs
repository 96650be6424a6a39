//! Recovery time of sequential writes after random writes.

use crate::method::timeline::mean;

/// Plateau's own reference: a fraction of the throughput at the end of the first group.
const LAST_MINUTES: usize = 60;
const RECOVERED_SHARE: f64 = 0.90;

/// First minute of `again`, starting at 1, that reaches the mean of `before`, which includes the fresh drive.
pub fn recovery_minute(before: &[f64], again: &[f64]) -> Option<usize> {
    reached(again, mean(before.iter().copied())?)
}

/// First minute of `again` that reaches 90 % of the mean of the last hour of `before`. The mean of the whole
/// group includes the time in which the drive was fresh, whose speed never returns.
pub fn recovery_minute_of_last_hour(before: &[f64], again: &[f64]) -> Option<usize> {
    let last = &before[before.len().saturating_sub(LAST_MINUTES)..];
    reached(again, RECOVERED_SHARE * mean(last.iter().copied())?)
}

fn reached(again: &[f64], reference: f64) -> Option<usize> {
    again.iter().position(|value| *value >= reference).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_has_two_references() {
        // 500 while fresh for an hour, then 300: the mean is 400, that of the last hour 300.
        let before: Vec<f64> = (0..120).map(|minute| if minute < 60 { 500.0 } else { 300.0 }).collect();
        let again: Vec<f64> =
            (0..120).map(|minute| f64::from(minute).mul_add(10.0, 100.0).min(310.0)).collect();
        assert_eq!(recovery_minute(&before, &again), None, "not yet");
        assert_eq!(recovery_minute_of_last_hour(&before, &again), Some(18), "270 MB/s");
    }

    #[test]
    fn nothing_to_compare_with() {
        assert_eq!(recovery_minute(&[], &[1.0]), None);
        assert_eq!(recovery_minute_of_last_hour(&[1.0], &[]), None);
    }
}
