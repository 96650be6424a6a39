//! Numbers of a foreign file: finite, not negative, possible.

/// Above this nothing that a drive does can be: 10^15 of any unit.
const LARGEST: f64 = 1e15;

/// `value` if it can be a measurement.
///
/// # Errors
/// Names what is not.
pub(crate) fn possible(value: f64, what: &str) -> Result<f64, String> {
    if value.is_finite() && (0.0..=LARGEST).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{what} is {value}, which is impossible for a drive"))
    }
}

/// `value` as a small count.
pub(crate) fn count(value: u64, what: &str) -> Result<u16, String> {
    u16::try_from(value).map_err(|_| format!("{what} is {value}, more than 65535"))
}
