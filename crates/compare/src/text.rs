//! The comparison as plain text for terminals.

use crate::comparison::{Comparison, Line};
use crate::wording::{difference, letter, marks, mean};

/// The comparison as text: warnings, then one line for each selected figure, or for all figures.
#[must_use]
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    for (index, run) in comparison.runs.iter().enumerate() {
        let role = if index == 0 { "  (baseline)" } else { "" };
        out.push_str(&format!("{:<2} {}  {}{role}\n", letter(index), run.name, run.document.run.id));
    }
    out.push('\n');
    for warning in &comparison.warnings {
        out.push_str(&format!("warning: {warning}\n"));
    }
    let shown: Vec<&Line> = comparison.lines.iter().filter(|line| all || line.selected).collect();
    let rows: Vec<Vec<String>> = shown.iter().map(|line| row(line)).collect();
    let head: Vec<String> = ["figure".to_owned(), "unit".into()]
        .into_iter()
        .chain((0..comparison.runs.len()).map(letter))
        .chain((1..comparison.runs.len()).map(|i| format!("{} vs. A", letter(i))))
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|i| rows.iter().chain([&head]).map(|row| row[i].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &[String]| {
        let mut line = format!("{:<1$}  {2:<3$}", row[0], widths[0], row[1], widths[1]);
        for (i, cell) in row.iter().enumerate().skip(2) {
            let right = i < 2 + comparison.runs.len();
            line +=
                &if right { format!("  {cell:>0$}", widths[i]) } else { format!("  {cell:<0$}", widths[i]) };
        }
        line.trim_end().to_owned() + "\n"
    };
    if !comparison.warnings.is_empty() {
        out.push('\n');
    }
    out.push_str(&line(&head));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out.push_str("\nIn parentheses: 95 % confidence interval from the rounds of the measurement windows.\n");
    out.extend(marks(shown.into_iter()).map(|text| text + "\n"));
    out
}

fn row(line: &Line) -> Vec<String> {
    let figures =
        line.figures.iter().map(|figure| figure.as_ref().and_then(mean).unwrap_or_else(|| "n/a".to_owned()));
    let differences =
        line.differences.iter().skip(1).map(|d| d.as_ref().map_or_else(|| "n/a".into(), difference));
    [line.name.clone(), line.unit.to_string()].into_iter().chain(figures).chain(differences).collect()
}
