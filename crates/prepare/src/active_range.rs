//! A run's active range on its target.

use std::collections::BTreeSet;

use pts::Context;
use record::RunFile;
use stdx::units::amount_base2;

/// Checks that the requested AR amount fits into the test range of this device. A profile's amount may be larger; the
/// whole range is then used, and the header shows this.
///
/// # Errors
/// Returns an error that shows the available range and a valid amount.
pub fn check(run: &RunFile, given: &BTreeSet<&'static str>) -> Result<(), String> {
    let is_requested = given.contains("ar-amount") || given.contains("ar-segments");
    let context = Context::of(run)?;
    let Some(amount) = context.settings.active_range_amount_bytes.filter(|_| is_requested) else {
        return Ok(());
    };
    if context.test_range() != context.whole_test_range() {
        return Ok(());
    }
    let scale = match run.scale_divisor() {
        1 => String::new(),
        divisor => format!(" at scale 1/{divisor}"),
    };
    Err(format!(
        "an AR amount of {} in {} segments does not fit{scale} into the Test AR of {}, because segments \
         start at multiples of 1 MiB; use a smaller amount, or --ar-amount all",
        amount_base2(amount),
        context.settings.active_range_segments,
        amount_base2(context.whole_test_range().segment_bytes)
    ))
}
