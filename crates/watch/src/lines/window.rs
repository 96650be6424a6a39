//! The steady-state window as it fills.

use follow::live::{Live, Variable};
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use ratatui::text::{Line, Span};
use stdx::units::grouped;

use super::wrap::wrapped;
use crate::paint::Paint;

/// Indentation of text that does not fit on the line of its variable.
const INDENTATION: &str = "    ";

pub(super) fn lines(live: &Live<'_>, paint: Paint, width: usize) -> Vec<Line<'static>> {
    if live.variables.is_empty() {
        return Vec::new();
    }
    let rounds = live.variables.iter().map(|variable| variable.window().len()).min().unwrap_or(0);
    let limits = format!(
        "  steady if range \u{2264} {:.0} %, slope \u{2264} {:.0} %",
        RANGE_LIMIT * 100.0,
        SLOPE_LIMIT * 100.0
    );
    let title = format!("window      {rounds} of {WINDOW_ROUNDS} rounds");
    let mut lines = vec![Line::from(vec![paint.bold(&title), paint.soft(&limits)])];
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(columns).max().unwrap_or(0);
    let name = widest(&mut live.variables.iter().map(|variable| variable.name.as_str()));
    let values: Vec<Vec<String>> = live.variables.iter().map(values).collect();
    let value = widest(&mut values.iter().flatten().map(String::as_str));
    for (variable, values) in live.variables.iter().zip(&values) {
        let values: Vec<String> = values.iter().map(|text| format!("{text:>value$}")).collect();
        lines.extend(of_variable(variable, name, &values.join("  "), paint, width));
    }
    lines
}

fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

/// Returns a variable's name and what is known about it, on as few lines of `width` columns as possible.
fn of_variable(
    variable: &Variable,
    name: usize,
    values: &str,
    paint: Paint,
    width: usize,
) -> Vec<Line<'static>> {
    let padding = " ".repeat(name.saturating_sub(columns(&variable.name)));
    let mut parts: Vec<Vec<Span<'static>>> = Vec::new();
    if let Some((range, slope)) = variable.shares {
        let slope = share("slope", slope, SLOPE_LIMIT, paint);
        parts.push(vec![share("range", range, RANGE_LIMIT, paint), Span::raw("  "), slope]);
    }
    parts.push(vec![paint.soft(values)]);
    if variable.steady {
        parts.push(vec![paint.good("steady")]);
    } else if !variable.text.is_empty() {
        let text = wrapped(&paint.text(&variable.text), width.saturating_sub(INDENTATION.len()));
        parts.extend(text.iter().map(|text| vec![paint.plain(text)]));
    }
    let mut lines = vec![vec![paint.plain(&format!("  {}{padding}", variable.name))]];
    for part in parts {
        let taken = |spans: &[Span<'_>]| spans.iter().map(Span::width).sum::<usize>();
        let last = lines.last_mut().expect("there is a line");
        if taken(last) + 2 + taken(&part) <= width {
            last.push(Span::raw("  "));
            last.extend(part);
        } else {
            lines.push([vec![Span::raw(INDENTATION)], part].concat());
        }
    }
    lines.into_iter().map(Line::from).collect()
}

fn share(name: &str, share: f64, limit: f64, paint: Paint) -> Span<'static> {
    let text = format!("{name} {:>5} %", grouped(share * 100.0, 1));
    if share <= limit { paint.good(&text) } else { paint.bad(&(text + " !")) }
}

fn values(variable: &Variable) -> Vec<String> {
    let decimals = |value: f64| match value {
        value if value < 10.0 => 3,
        value if value < 1000.0 => 1,
        _ => 0,
    };
    variable.window().iter().map(|(_, value)| grouped(*value, decimals(*value))).collect()
}
