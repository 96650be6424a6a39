//! A trend as a self-contained page: the findings, a chart, and a table of its values.

use charts::Size;
use charts::markup::escape;
use pts::ReadingHint;
use pts::exhibit::{Band, Exhibit, Guide, GuideRole, Lines, Scale, Series};
use report::parts::Shell;

use crate::trend::{Point, Trend};

const STYLE: &str = "\
    main { max-width: 1180px; margin: 0 auto; padding: 24px 20px 48px; font-size: 15px; background: #fff; }\n\
    h1 { font-size: 24px; overflow-wrap: anywhere; }\n\
    figure { margin: 14px 0; }\n\
    figure svg { width: 100%; height: auto; display: block; }\n\
    figure svg.narrow { display: none; }\n\
    figcaption { font-size: 13px; }\n\
    .scroller { overflow-x: auto; }\n\
    table { border-collapse: collapse; width: 100%; font-size: 13.5px; }\n\
    th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid #d5dbe3; white-space: nowrap; }\n\
    th:nth-child(n+5), td:nth-child(n+5) { text-align: right; }\n\
    @media screen and (max-width: 760px) {\n\
      main { padding: 14px 12px 40px; }\n\
      h1 { font-size: 20px; }\n\
      figure svg:has(~ svg.narrow) { display: none; }\n\
      figure svg.narrow { display: block; }\n\
    }\n";

/// Returns the trend as a complete HTML file.
#[must_use]
pub fn trend_html(trend: &Trend) -> String {
    let title = format!("{} of {}", trend.name, trend.subject);
    let findings: String =
        trend.findings().iter().map(|finding| format!("<li>{}</li>\n", escape(finding))).collect();
    let remarks: String =
        trend.remarks().iter().map(|remark| format!("<p>{}</p>\n", escape(remark))).collect();
    let content = format!(
        "<main>\n<h1>{}</h1>\n<ul>\n{findings}</ul>\n{remarks}{}{}</main>\n",
        escape(&title),
        figure(trend, &title),
        table(trend),
    );
    Shell { title: &title, style: STYLE, class: "", content: &content, script: None }.html()
}

fn figure(trend: &Trend, title: &str) -> String {
    let Some(chart) = chart(trend) else { return String::new() };
    let wide = charts::picture(&chart, title, Size::DEFAULT).unwrap_or_default();
    let narrow = charts::narrow_picture(&chart, title).unwrap_or_default();
    let narrow = narrow.replacen("<svg ", "<svg class=\"narrow\" ", 1);
    let caption = escape(charts::sentence(ReadingHint::Trend));
    format!("<figure tabindex=\"0\">{wide}{narrow}<figcaption>{caption}</figcaption></figure>\n")
}

fn table(trend: &Trend) -> String {
    let row = |name: &str, cells: &[String; 6]| -> String {
        let cells: String = cells.iter().map(|cell| format!("<{name}>{}</{name}>", escape(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let cells = trend.cells();
    let head = cells.first().map(|head| row("th", head)).unwrap_or_default();
    let body: String = cells.iter().skip(1).map(|cells| row("td", cells)).collect();
    format!("<div class=\"scroller\"><table>\n<thead>{head}</thead>\n<tbody>{body}</tbody>\n</table></div>\n")
}

/// Returns the values over time: one line per drive, or per firmware revision if there is one drive.
fn chart(trend: &Trend) -> Option<Exhibit> {
    let first = trend.points.first()?.created;
    let (unit, per_day) = time_unit(trend.days().last().copied().unwrap_or(0.0));
    let times: Vec<f64> = trend.days().iter().map(|day| day * per_day).collect();
    let is_one_drive = trend.drives().len() == 1;
    let name = |point: &Point| match (is_one_drive, &point.firmware) {
        (true, Some(firmware)) => format!("firmware {firmware}"),
        (true, None) => "firmware not known".into(),
        (false, _) => point.drive.clone(),
    };
    let mut series: Vec<Series> = Vec::new();
    for (point, time) in trend.points.iter().zip(&times) {
        let name = name(point);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push((*time, point.value)),
            None => series.push(Series { name, points: vec![(*time, point.value)] }),
        }
    }
    let x = format!("{unit} since {} (UTC)", first.strftime("%Y-%m-%d %H:%M"));
    let (x, y) = ((&*x, Scale::LinearFromZero), (&*trend.unit, Scale::LinearZoomed));
    let mut lines = Lines::plain(ReadingHint::Trend, x, y, series);
    let last = times.last().copied().unwrap_or(0.0);
    if let Some(drift) = trend.drift() {
        let (from, to) = ((0.0, drift.ends.0), (last, drift.ends.1));
        lines.guides.push(Guide { name: "Drift".into(), from, to, role: GuideRole::Fit });
    }
    if let Some(control) = trend.control() {
        for (name, limit) in
            [("Upper control limit", control.limits.1), ("Lower control limit", control.limits.0)]
        {
            let (from, to) = ((0.0, limit), (last, limit));
            lines.guides.push(Guide { name: name.into(), from, to, role: GuideRole::DataBound });
        }
    }
    if is_one_drive {
        lines.bands = bands(trend, &times);
    }
    Some(Exhibit::Lines(lines))
}

/// Returns a unit in which a time of some days is a readable number, and how many of it are a day.
fn time_unit(days: f64) -> (&'static str, f64) {
    match days {
        ..0.125 => ("Minutes", 1440.0),
        ..3.0 => ("Hours", 24.0),
        _ => ("Days", 1.0),
    }
}

/// Returns the intervals of each firmware revision of a single drive; empty if the firmware never changed.
fn bands(trend: &Trend, times: &[f64]) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for (point, time) in trend.points.iter().zip(times) {
        let name = point.firmware.clone().unwrap_or_else(|| "not known".into());
        match bands.last_mut() {
            Some(band) if band.name == name => band.to = *time,
            Some(band) => {
                band.to = *time;
                bands.push(Band { from: *time, to: *time, name });
            }
            None => bands.push(Band { from: *time, to: *time, name }),
        }
    }
    if bands.len() > 1 { bands } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_are_not_fractions_of_days() {
        let units = [0.0, 0.1, 0.125, 2.9, 3.0, 400.0].map(|days| time_unit(days).0);
        assert_eq!(units, ["Minutes", "Minutes", "Hours", "Hours", "Days", "Days"]);
    }
}
