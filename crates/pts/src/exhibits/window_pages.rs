//! The steady-state pages of every round-based test: history, and window with determination box.

use stdx::units::{grouped, places};

use crate::Profile;
use crate::exhibits::exhibit::{Axis, Exhibit, Facts, Guide, GuideRole, Lines, Page, Scale, Series};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::method::steady::{RANGE_LIMIT, SLOPE_LIMIT, WindowStats};
use crate::quality::host_limit::marked;

/// A line chart over rounds that shows convergence to steady state.
pub fn convergence(title: &str, label: &str, series: Vec<Series>) -> Page {
    let lines = Lines {
        reading: ReadingHint::Convergence,
        x: Axis { label: "Round".into(), scale: Scale::Rounds },
        y: Axis { label: label.into(), scale: Scale::LinearFromZero },
        series,
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    };
    approach(title.into(), vec![Exhibit::Lines(lines)], Vec::new())
}

/// The tracking variable over all rounds, with the window highlighted.
pub fn history(name: &str, unit: Unit, points: Vec<(f64, f64)>, window: Option<&WindowStats>) -> Page {
    let lines = Lines {
        reading: ReadingHint::Window,
        x: Axis { label: "Round".into(), scale: Scale::Rounds },
        y: Axis { label: unit.symbol().into(), scale: Scale::LinearFromZero },
        series: vec![Series { name: name.into(), points }],
        guides: window.map(guides_of).unwrap_or_default(),
        marked: window
            .map(|w| (f64::from(w.first_round), f64::from(w.last_round), "Measurement window".into())),
        bands: Vec::new(),
    };
    let title = "Steady State Measurement Window".into();
    approach(title, vec![Exhibit::Lines(lines)], no_window(window))
}

/// An enlarged view of the five rounds of the window, and the determination box.
pub fn determination(
    short_name: &str,
    unit: Unit,
    points: Vec<(f64, f64)>,
    window: Option<&WindowStats>,
    profile: &Profile,
) -> Page {
    let inside = |w: &WindowStats, x: f64| x >= f64::from(w.first_round) && x <= f64::from(w.last_round);
    let points = points.into_iter().filter(|p| window.is_none_or(|w| inside(w, p.0))).collect();
    let lines = Lines {
        reading: ReadingHint::Determination,
        x: Axis { label: "Round".into(), scale: Scale::Rounds },
        y: Axis { label: unit.symbol().into(), scale: Scale::LinearZoomed },
        series: vec![Series { name: short_name.into(), points }],
        guides: window.map(guides_of).unwrap_or_default(),
        marked: None,
        bands: Vec::new(),
    };
    let mut exhibits = vec![Exhibit::Lines(lines)];
    exhibits.extend(window.map(|w| Exhibit::Facts(determination_box(w, unit, profile))));
    let title = format!("Steady State Measurement Window - {short_name}");
    approach(title, exhibits, no_window(window))
}

/// A page on the approach to steady state.
fn approach(title: String, exhibits: Vec<Exhibit>, remarks: Vec<String>) -> Page {
    Page { key: None, title, names_test: false, exhibits, remarks }
}

fn no_window(window: Option<&WindowStats>) -> Vec<String> {
    match window {
        Some(_) => Vec::new(),
        None => vec!["Fewer than five uninterrupted rounds are complete, so there is no window yet.".into()],
    }
}

fn guides_of(window: &WindowStats) -> Vec<Guide> {
    let (first, last) = (f64::from(window.first_round), f64::from(window.last_round));
    let flat = |name: &str, y: f64, role| Guide { name: name.into(), from: (first, y), to: (last, y), role };
    let mean = window.mean;
    let (data, slope) = (RANGE_LIMIT / 2.0 * mean, SLOPE_LIMIT / 2.0 * mean);
    vec![
        flat("Average", mean, GuideRole::Mean),
        flat("110% x Average", mean + data, GuideRole::DataBound),
        flat("90% x Average", mean - data, GuideRole::DataBound),
        flat("105% x Average", mean + slope, GuideRole::SlopeBound),
        flat("95% x Average", mean - slope, GuideRole::SlopeBound),
        Guide {
            name: "Least squares fit".into(),
            from: (first, window.fit_at(first)),
            to: (last, window.fit_at(last)),
            role: GuideRole::Fit,
        },
    ]
}

fn determination_box(window: &WindowStats, unit: Unit, profile: &Profile) -> Facts {
    let amount = |value: f64| format!("{} {unit}", grouped(value, places(value, unit.decimals())));
    let mut items = vec![
        ("Average".to_owned(), marked(amount(window.mean), window.host_limited)),
        ("Allowed Maximum Data Excursion".to_owned(), amount(window.range_allowed)),
        ("Measured Maximum Data Excursion".to_owned(), amount(window.range)),
        ("Allowed Maximum Slope Excursion".to_owned(), amount(window.slope_allowed)),
        ("Measured Maximum Slope Excursion".to_owned(), amount(window.slope_excursion)),
        ("Least Squares Linear Fit Formula".to_owned(), window.formula()),
    ];
    if profile.reports_correlation {
        let text = window.correlation.map_or_else(|| "n/a".into(), |r| format!("{r:.3}"));
        items.push(("Correlation Coefficient".to_owned(), text));
    }
    items.push(("Steady State".to_owned(), if window.steady { "YES" } else { "NO" }.to_owned()));
    Facts { heading: "Steady State Determination Data".into(), items, host_limited: window.host_limited }
}
