//! Describes what a chart shows in one sentence, derived only from its values. Other crates decide whether a drive is
//! steady or a result is valid.

mod amounts;
mod columns;
mod course;
mod lines;

use chartdata::exhibit::{Exhibit, ResponseTimes};

use amounts::amount;

/// Describes `exhibit` in one sentence without a full stop; None if it is not a chart, or has too few values.
#[must_use]
pub fn finding(exhibit: &Exhibit) -> Option<String> {
    match exhibit {
        Exhibit::Lines(data) => lines::finding(data),
        Exhibit::Columns3d(data) | Exhibit::HeatMap(data) => columns::finding(data),
        Exhibit::Bars(data) => columns::of_bars(data),
        Exhibit::ResponseTimes(data) => of_times(data),
        Exhibit::Table(_) | Exhibit::Facts(_) => None,
    }
}

/// Gives the median and the highest known percentiles.
fn of_times(times: &ResponseTimes) -> Option<String> {
    let known: Vec<(f64, f64)> =
        times.confidence.iter().copied().filter(|(ms, _)| ms.is_finite() && *ms > 0.0).collect();
    let median = known.iter().find(|(_, share)| *share >= 50.0)?;
    let tail = known.last().filter(|(_, share)| *share > median.1)?;
    let (half, most) = (amount(median.0), amount(tail.0));
    if half == most {
        return Some(format!("{} % and even {} % of the I/Os complete within {half} ms", median.1, tail.1));
    }
    Some(format!(
        "{} % of the I/Os complete within {half} ms, {} % within {most} ms{}",
        median.1,
        tail.1,
        amounts::change(median.0, tail.0)
    ))
}
