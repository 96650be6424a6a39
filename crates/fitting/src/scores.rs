//! Describes how well a model agrees with the run to which it was fitted.

use nandsim::fit::Score;

/// Largest acceptable ratio of the held-out mixes' error to the fitted mixes' error.
pub const HELD_OUT_LIMIT: f64 = 1.5;

/// Formats the error of the held-out mixes.
#[must_use]
pub fn held_out(score: &Score) -> String {
    format!(
        "hold-out: the error of the held-out mixes is {:.2} times that of the fitted mixes (at most \
         {HELD_OUT_LIMIT}: {})",
        score.held_out_ratio(),
        verdict(score.held_out_ratio() <= HELD_OUT_LIMIT)
    )
}

/// Returns whether a limit is met, as text.
#[must_use]
pub fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// Formats a table of scores.
#[must_use]
pub fn scores(scores: &[Score]) -> String {
    let mut out = format!(
        "  {:>6} {:>14} {:>15} {:>10} {:>12} {:>13} {:>13}\n",
        "scale", "fitted mixes", "held-out mixes", "all cells", "9 of 10", "within 15 %", "within 30 %"
    );
    for score in scores {
        let percent = |value: f64| format!("{value:.1} %");
        let of = |cells: u32| format!("{cells} of {}", score.cells);
        out.push_str(&format!(
            "  {:>6} {:>14} {:>15} {:>10} {:>12} {:>13} {:>13}\n",
            format!("1/{}", score.scale_divisor),
            percent(score.fitted_percent),
            percent(score.held_out_percent),
            percent(score.median_percent),
            percent(score.p90_percent),
            of(score.within_15),
            of(score.within_30)
        ));
    }
    out
}
