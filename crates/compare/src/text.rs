//! The comparison for terminals, at most 80 columns wide unless a word is longer.

use charts::markup::shortened;

use crate::comparison::{Comparison, Line};
use crate::selected::ranking;
use crate::statistics;
use crate::wording::{decimals, difference, letter, letters, marks, mean};

const WIDTH: usize = 80;
/// If there are more runs, each figure has one line per run.
const IN_COLUMNS: usize = 2;
/// Maximum number of characters of a name beside a figure, and the width of the letter and of all spaces beside it.
const NAME_CHARACTERS: usize = 24;
const BESIDE_NAME: usize = 9;

const INTERVAL_LEGEND: &str = "In parentheses: 95 % confidence interval from the rounds of the measurement windows, by Welch's \
     method for the logarithm of the ratio of the two means.";
/// Follows a difference that rests on a figure which is not a valid result.
const NOT_VALID: &str = " !";
const NOT_VALID_LEGEND: &str = "!: not a valid result, because a test is not steady or not complete\n";

/// Returns the comparison as text: the selected figures, or all of them, then the warnings.
#[must_use]
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    out.extend((0..comparison.runs.len()).map(|index| run(comparison, index)));
    out.push('\n');
    let shown: Vec<&Line> = comparison.lines.iter().filter(|line| all || line.selected).collect();
    if comparison.runs.len() > IN_COLUMNS {
        shown.iter().for_each(|line| out.push_str(&block(comparison, line)));
    } else {
        out.push_str(&columns(comparison, &shown));
        out.push('\n');
    }
    let differences = || shown.iter().flat_map(|line| line.differences.iter().flatten());
    if differences().any(|difference| difference.interval_percent.is_some()) {
        out.push_str(&format!("{}\n", wrapped(INTERVAL_LEGEND, 0, WIDTH)));
    }
    let is_doubtful = |line: &&&Line| (1..comparison.runs.len()).any(|run| comparison.is_doubtful(line, run));
    out.extend(shown.iter().find(is_doubtful).map(|_| NOT_VALID_LEGEND));
    out.extend(marks(shown.into_iter()).map(|text| wrapped(&text, 0, WIDTH) + "\n"));
    out.push_str(&statistics::text(comparison, all));
    if !comparison.warnings.is_empty() {
        out.push_str("\nBefore you compare:\n");
    }
    for warning in &comparison.warnings {
        out.push_str(&format!("  {}\n", wrapped(&warning.subject, 2, WIDTH)));
        for (runs, value) in &warning.values {
            out.push_str(&format!("    {}\n", wrapped(&format!("{}: {value}", letters(runs)), 6, WIDTH)));
        }
    }
    out
}

/// Returns a run's letter, name, id and marks, on further lines if they are too long for one.
fn run(comparison: &Comparison, index: usize) -> String {
    let run = &comparison.runs[index];
    let mut out = format!("{:<2} {}", letter(index), run.name);
    let mut used = out.chars().count();
    let role = if index == 0 { "(baseline)" } else { "" };
    let parts = [&*run.document.run.id, role, &run.marks().join(", ")].map(str::to_owned);
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let length = part.chars().count();
        let (between, begin) = if used + 2 + length > WIDTH { ("\n   ", 3) } else { ("  ", used + 2) };
        out.push_str(&format!("{between}{part}"));
        used = begin + length;
    }
    out + "\n"
}

/// Breaks `text` at spaces into lines of `width`; further lines are indented.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut used = indent;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > indent && used + 1 + length > width {
            out.push_str(&format!("\n{:indent$}", ""));
            used = indent;
        } else if !out.is_empty() {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out
}

/// Formats a figure with one line per run that has it, best first. Names are shortened if a line would be too long.
fn block(comparison: &Comparison, line: &Line) -> String {
    let mut out = format!("{} ({})\n", line.name, line.unit);
    let decimals = decimals(line);
    let row = |run: usize| {
        let value = line.figures[run].as_ref().and_then(|figure| mean(figure, decimals))?;
        let found = match (&line.differences[run], run) {
            (_, 0) => "baseline".to_owned(),
            (Some(found), _) => difference(found),
            (None, _) => "n/a".to_owned(),
        };
        let doubtful = if comparison.is_doubtful(line, run) { NOT_VALID } else { "" };
        Some((run, value, found + doubtful))
    };
    let rows: Vec<(usize, String, String)> = ranking(line).into_iter().filter_map(row).collect();
    let (values, found) = (widest(rows.iter().map(|row| &row.1)), widest(rows.iter().map(|row| &row.2)));
    let room = WIDTH.saturating_sub(BESIDE_NAME + values + found).clamp(NAME_CHARACTERS / 2, NAME_CHARACTERS);
    let names: Vec<String> = rows.iter().map(|row| shortened(&comparison.runs[row.0].name, room)).collect();
    let width = widest(names.iter());
    for ((run, value, found), name) in rows.iter().zip(&names) {
        out.push_str(&format!("  {:<2} {name:<width$}  {value:>values$}  {found}\n", letter(*run)));
    }
    let is_missing = |run: &usize| rows.iter().all(|row| row.0 != *run);
    let missing: Vec<usize> = (0..comparison.runs.len()).filter(is_missing).collect();
    if !missing.is_empty() {
        out.push_str(&format!("  {}\n", wrapped(&format!("n/a: {}", letters(&missing)), 2, WIDTH)));
    }
    out.push('\n');
    out
}

fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Formats a figure per line: its name, its unit, the values and the difference. If one of these lines would be too
/// long, each difference is on a line of its own, and long names take several lines.
fn columns(comparison: &Comparison, shown: &[&Line]) -> String {
    let rows: Vec<Vec<String>> = shown.iter().map(|line| row(comparison, line)).collect();
    let head: Vec<String> = ["figure".to_owned(), "unit".into()]
        .into_iter()
        .chain((0..comparison.runs.len()).map(letter))
        .chain((1..comparison.runs.len()).map(|i| format!("{} vs. A", letter(i))))
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|i| rows.iter().chain([&head]).map(|row| row[i].chars().count()).max().unwrap_or(0))
        .collect();
    let differences = 2 + comparison.runs.len();
    let is_long = widths.iter().map(|width| width + 2).sum::<usize>() - 2 > WIDTH;
    let beside_name: usize = widths[1..differences].iter().map(|width| width + 2).sum();
    let names = if is_long { widths[0].min(WIDTH.saturating_sub(beside_name)) } else { widths[0] };
    let line = |row: &[String]| {
        let name = wrapped(&row[0], 0, names);
        let mut names_of_row = name.lines();
        let first = names_of_row.next().unwrap_or_default();
        let mut line = format!("{first:<names$}  {:<1$}", row[1], widths[1]);
        line.extend((2..differences).map(|i| format!("  {:>1$}", row[i], widths[i])));
        if !is_long {
            line.extend(row[differences..].iter().map(|cell| format!("  {cell}")));
            return line + "\n";
        }
        line.extend(names_of_row.map(|name| format!("\n  {name}")));
        let found = row[differences..].iter().zip(&head[differences..]);
        line.extend(found.map(|(cell, head)| format!("\n  {head}: {cell}")));
        line + "\n"
    };
    let shown_head = if is_long { &head[..differences] } else { &head[..] };
    std::iter::once(line(shown_head)).chain(rows.iter().map(|row| line(row))).collect()
}

fn row(comparison: &Comparison, line: &Line) -> Vec<String> {
    let decimals = decimals(line);
    let value = |figure: &Option<_>| figure.as_ref().and_then(|f| mean(f, decimals));
    let figures = line.figures.iter().map(|figure| value(figure).unwrap_or_else(|| "n/a".to_owned()));
    let differences = line.differences.iter().enumerate().skip(1).map(|(run, found)| {
        let doubtful = if comparison.is_doubtful(line, run) { NOT_VALID } else { "" };
        found.as_ref().map_or_else(|| "n/a".into(), difference) + doubtful
    });
    [line.name.clone(), line.unit.to_string()].into_iter().chain(figures).chain(differences).collect()
}
