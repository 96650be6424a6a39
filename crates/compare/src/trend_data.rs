//! The trend for other programs: CSV and JSON.

use serde_json::{Value, json};

use crate::data::quoted;
use crate::trend::{Point, Trend};

/// Returns the trend as CSV, with one row per run.
#[must_use]
pub fn trend_csv(trend: &Trend) -> String {
    let mut out = String::from(
        "run,created,drive,firmware,state,settings,simulated,figure,unit,value,interval_low,interval_high,\
         host_limited\n",
    );
    let row = |point: &Point| {
        let (low, high) = point.interval().unzip();
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        [
            quoted(&point.run),
            point.created.to_string(),
            quoted(&point.drive),
            quoted(point.firmware.as_deref().unwrap_or_default()),
            quoted(&point.state),
            quoted(&point.settings),
            quoted(point.simulated.as_deref().unwrap_or_default()),
            quoted(&trend.figure),
            quoted(&trend.unit),
            number(Some(point.value)),
            number(low),
            number(high),
            i32::from(point.host_limited).to_string(),
        ]
        .join(",")
    };
    for point in &trend.points {
        out.push_str(&row(point));
        out.push('\n');
    }
    out
}

/// Returns the trend as a JSON document.
#[must_use]
pub fn trend_json(trend: &Trend) -> Value {
    let runs = trend.points.iter().map(|point| {
        json!({
            "run": point.run, "created": point.created.to_string(), "drive": point.drive,
            "firmware": point.firmware, "state": point.state, "settings": point.settings,
            "simulated": point.simulated, "value": point.value, "interval": point.interval(),
            "host_limited": point.host_limited,
        })
    });
    let changes = trend.firmware_changes().into_iter().map(|change| {
        json!({
            "drive": change.drive, "run": change.run, "from": change.revisions.0, "to": change.revisions.1,
            "difference_percent": change.difference.map(|difference| difference.percent),
            "finding": change.difference.map(|difference| difference.finding.word()),
        })
    });
    let mean = trend.mean();
    json!({
        "subject": trend.subject, "figure": trend.figure, "name": trend.name, "unit": trend.unit,
        "runs": runs.collect::<Vec<_>>(),
        "mean": mean.map(|(mean, _)| mean),
        "standard_deviation_percent": mean.and_then(|(_, spread)| spread),
        "drift": trend.drift().map(|drift| json!({
            "change": drift.change, "interval": drift.interval,
            "percent": drift.percent, "interval_percent": drift.interval_percent,
            "beyond_noise": drift.is_beyond_noise(),
        })),
        "control": trend.control().map(|control| json!({
            "limits": control.limits, "outside": control.outside, "newest_outside": control.is_newest_outside,
        })),
        "firmware_changes": changes.collect::<Vec<_>>(),
        "remarks": trend.remarks(),
    })
}
