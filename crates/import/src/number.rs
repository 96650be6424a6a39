//! Validates the numbers of a foreign file: they must be finite, non-negative and physically possible.

/// Upper limit of a possible measurement: 10^15 in any unit.
const LARGEST: f64 = 1e15;
/// Upper limit of a figure, which may be a product of measurements.
const LARGEST_FIGURE: f64 = 1e18;

/// Returns `value` if it is a possible measurement.
///
/// # Errors
/// Returns an error that names `what` if it is not possible.
pub(crate) fn possible(value: f64, what: &str) -> Result<f64, String> {
    if value.is_finite() && (0.0..=LARGEST).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{what} is {value}, which is impossible for a drive"))
    }
}

/// Returns `value` as a small count.
pub(crate) fn count(value: u64, what: &str) -> Result<u16, String> {
    u16::try_from(value).map_err(|_| format!("{what} is {value}; the maximum is 65535"))
}

/// Returns `value` if it can be printed. Unlike a measurement, a slope or a difference may be negative.
///
/// # Errors
/// Returns an error that names `what` if it cannot be printed.
pub(crate) fn bounded(value: f64, what: &str) -> Result<f64, String> {
    if value.is_finite() && value.abs() <= LARGEST_FIGURE {
        Ok(value)
    } else {
        Err(format!("{what} is {value}, which is out of range"))
    }
}
