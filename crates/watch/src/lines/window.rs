//! The steady-state window as it fills.

use follow::live::{Live, Variable};
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use ratatui::text::{Line, Span};
use stdx::units::grouped;

use crate::paint::Paint;

/// Width from which values are on the line of their variable.
const WIDE: usize = 100;

pub(super) fn lines(live: &Live<'_>, paint: Paint, width: usize) -> Vec<Line<'static>> {
    if live.variables.is_empty() {
        return Vec::new();
    }
    let rounds = live.variables.iter().map(|variable| variable.window().len()).min().unwrap_or(0);
    let limits = format!(
        "  steady: range \u{2264} {:.0} %, slope \u{2264} {:.0} %",
        RANGE_LIMIT * 100.0,
        SLOPE_LIMIT * 100.0
    );
    let title = format!("window      {rounds} of {WINDOW_ROUNDS} rounds");
    let mut lines = vec![Line::from(vec![paint.bold(&title), paint.soft(&limits)])];
    let name =
        live.variables.iter().map(|variable| Span::raw(variable.name.as_str()).width()).max().unwrap_or(0);
    for variable in &live.variables {
        lines.extend(of_variable(variable, name, paint, width));
    }
    lines
}

fn of_variable(variable: &Variable, name: usize, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let padding = " ".repeat(name.saturating_sub(Span::raw(variable.name.as_str()).width()));
    let mut first = vec![paint.plain(&format!("  {}{padding}", variable.name))];
    match variable.shares {
        Some((range, slope)) => {
            first.extend([Span::raw("  "), share("range", range, RANGE_LIMIT, paint)]);
            first.extend([Span::raw("  "), share("slope", slope, SLOPE_LIMIT, paint)]);
        }
        None => first.push(paint.soft("  range and slope after five rounds")),
    }
    let status =
        if variable.steady { paint.good("  steady") } else { paint.plain(&format!("  {}", variable.text)) };
    let values = paint.soft(&values(variable));
    if width >= WIDE {
        return vec![Line::from([first, vec![Span::raw("  "), values, status]].concat())];
    }
    first.push(status);
    vec![Line::from(first), Line::from(vec![Span::raw("    "), values])]
}

fn share(name: &str, share: f64, limit: f64, paint: Paint) -> Span<'static> {
    let text = format!("{name} {:>5} %", grouped(share * 100.0, 1));
    if share <= limit { paint.good(&text) } else { paint.bad(&(text + " !")) }
}

fn values(variable: &Variable) -> String {
    let decimals = |value: f64| match value {
        value if value < 10.0 => 3,
        value if value < 1000.0 => 1,
        _ => 0,
    };
    let texts = variable.window().iter().map(|(_, value)| grouped(*value, decimals(*value)));
    texts.collect::<Vec<String>>().join("  ")
}
