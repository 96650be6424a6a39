//! Settings changed by the operator. Impossible values are refused with the reason and the nearest valid choice,
//! before the target is touched.

use std::fmt::Display;

use pts::Context;
use pts::limits::{self, Limit};
use record::{RunFile, Settings};
use stdx::units::{MIB, SECOND_NS, amount_base2, parse_size};

use crate::cli::Changes;

/// Maximum number of rounds with `--keep-going`.
const HARD_LIMIT_ROUNDS: u32 = 100;

/// Returns `settings` with the operator's changes.
///
/// # Errors
/// Names the first impossible value, the reason, and the nearest valid value.
pub fn changed(mut settings: Settings, changes: &Changes) -> Result<Settings, String> {
    settings.composite_fits_sectors |= changes.composite_fits_sectors;
    if let Some(tc) = changes.tc {
        settings.threads = within("--tc", tc, &limits::TC)?;
    }
    if let Some(qd) = changes.qd {
        settings.queue_depth = within("--qd", qd, &limits::QD)?;
    }
    if let Some(rounds) = changes.max_rounds {
        settings.max_rounds = within("--max-rounds", rounds, &limits::ROUNDS)?;
    }
    if changes.keep_going {
        settings.max_rounds = HARD_LIMIT_ROUNDS;
    }
    if let Some(capacities) = changes.precondition {
        settings.precondition_capacities = within("--precondition", capacities, &limits::CAPACITIES)?;
    }
    if let Some(seconds) = changes.cell_seconds {
        let seconds = within("--cell-seconds", seconds, &limits::CELL_SECONDS)?;
        settings.cell_ns = (seconds * SECOND_NS as f64) as u64;
    }
    if let Some(percent) = changes.pc_ar {
        settings.precondition_range_percent = within("--pc-ar", percent, &limits::PC_AR)?;
    }
    if let Some(percent) = changes.test_ar {
        settings.test_range_percent = within("--test-ar", percent, &limits::TEST_AR)?;
    }
    match changes.ar_amount.as_deref() {
        None => {}
        Some("all") => settings.active_range_amount_bytes = None,
        Some(text) => {
            let bytes = parse_size(text).map_err(|why| format!("--ar-amount: {why}, or all"))?;
            settings.active_range_amount_bytes = Some(bytes);
        }
    }
    if let Some(segments) = changes.ar_segments {
        let amount = settings
            .active_range_amount_bytes
            .ok_or_else(|| format!("--ar-segments {segments} requires --ar-amount, such as 16GiB"))?;
        let most = u32::try_from(amount / MIB).unwrap_or(u32::MAX).max(1);
        let limit = Limit { range: 1..=most, why: "each segment contains at least one block of 1 MiB" };
        settings.active_range_segments = within("--ar-segments", segments, &limit)?;
    }
    Ok(settings)
}

/// Checks that the requested AR amount fits into the test range of this device. The amount of a profile may be
/// larger: the whole range is then used, and the header reports that.
///
/// # Errors
/// Reports the available range and a valid amount.
pub fn check_range(run: &RunFile, changes: &Changes) -> Result<(), String> {
    let asked = changes.ar_amount.is_some() || changes.ar_segments.is_some();
    let Some(amount) = run.settings.active_range_amount_bytes.filter(|_| asked) else { return Ok(()) };
    let context = Context::of(run)?;
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
        run.settings.active_range_segments,
        amount_base2(context.whole_test_range().segment_bytes)
    ))
}

fn within<T: PartialOrd + Display + Copy>(name: &str, value: T, limit: &Limit<T>) -> Result<T, String> {
    limit.check(value).map_err(|text| format!("{name} {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(changes: Changes) -> Result<Settings, String> {
        changed(pts::PROFILES[0].settings(1), &changes)
    }

    #[test]
    fn impossible_settings_name_the_nearest_possible_one() {
        let standard = Changes::default;
        for (changes, hint) in [
            (Changes { tc: Some(0), ..standard() }, "use 1 to 256 (nearest: 1)"),
            (Changes { tc: Some(257), ..standard() }, "nearest: 256"),
            (Changes { qd: Some(0), ..standard() }, "nearest: 1"),
            (Changes { qd: Some(1025), ..standard() }, "nearest: 1024"),
            (Changes { max_rounds: Some(4), ..standard() }, "use 5 to 25 (nearest: 5)"),
            (Changes { max_rounds: Some(26), ..standard() }, "nearest: 25"),
            (Changes { precondition: Some(0), ..standard() }, "nearest: 1"),
            (Changes { cell_seconds: Some(f64::NAN), ..standard() }, "nearest: 0.01"),
            (Changes { cell_seconds: Some(1e9), ..standard() }, "nearest: 86400"),
            (Changes { test_ar: Some(101), ..standard() }, "nearest: 100"),
            (Changes { pc_ar: Some(0), ..standard() }, "nearest: 1"),
            (Changes { ar_amount: Some("much".into()), ..standard() }, "or all"),
            (Changes { ar_segments: Some(20_000), ..standard() }, "nearest: 16384"),
            (
                Changes { ar_amount: Some("all".into()), ar_segments: Some(8), ..standard() },
                "requires --ar-amount",
            ),
        ] {
            let message = of(changes).expect_err(hint);
            assert!(message.contains(hint), "{message}");
        }
    }

    #[test]
    fn possible_settings_are_taken() {
        let taken = of(Changes { cell_seconds: Some(0.5), keep_going: true, ..Changes::default() }).unwrap();
        assert_eq!((taken.cell_ns, taken.max_rounds), (500_000_000, 100));
        let range = Changes { ar_amount: Some("8GiB".into()), test_ar: Some(75), ..Changes::default() };
        let range = of(range).unwrap();
        assert_eq!((range.active_range_amount_bytes, range.test_range_percent), (Some(8 << 30), 75));
        let whole = of(Changes { ar_amount: Some("all".into()), ..Changes::default() }).unwrap();
        assert_eq!(whole.active_range_amount_bytes, None);
    }
}
