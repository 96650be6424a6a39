//! Markup that is common to all parts of a comparison.

use charts::markup::escape;
use pts::exhibit::{Facts, Table};
use report::parts::{Better, Figure, row_texts};
use stdx::text::slug;

use crate::candidate::Candidate;
use crate::comparison::{Comparison, Line};
use crate::noise::Sample;
use crate::sections;
use crate::wording::{caption, mean_and_spread, parts};

/// Classes of all elements that belong to a run; the script finds them by class.
pub(super) fn run_class(index: usize) -> String {
    format!("run r{index}")
}

/// Returns the marks of a run as badges.
pub(super) fn marks(run: &Candidate) -> String {
    run.marks().iter().map(|mark| format!("<b class=\"badge {}\">{mark}</b> ", slug(mark))).collect()
}

pub(super) fn remark(text: &str) -> String {
    format!("<p class=\"remark\">{}</p>\n", escape(text))
}

/// Returns one sentence with the labels of all runs that are not Plateau measurements of a drive; empty if there are
/// none.
pub(super) fn labels(runs: &[Candidate]) -> String {
    match sections::labels(runs).join("; ") {
        none if none.is_empty() => none,
        labels => remark(&labels),
    }
}

/// Returns a figure of a run; `key` identifies the figure for the script. A figure that is not a valid result
/// is pale.
pub(super) fn value_cell(
    runs: &[Candidate],
    (run, of): (usize, &str),
    key: usize,
    figure: Option<&Figure>,
    decimals: usize,
) -> String {
    let doubtful = if figure.is_none_or(|figure| runs[run].is_valid(figure)) { "" } else { " doubtful" };
    let sample = figure.and_then(|figure| Sample::of(&figure.values)).map_or_else(String::new, |sample| {
        let variance = sample.variance.map_or_else(String::new, |variance| variance.to_string());
        format!(" data-sample=\"{} {} {variance}\"", sample.count, sample.mean)
    });
    let better = match figure.map(|figure| figure.better) {
        Some(Better::Less) => " data-better=\"less\"",
        _ => "",
    };
    format!(
        "<td class=\"n{doubtful} {}\" data-of=\"{of}\" data-figure=\"{key}\"{better}{sample}><span>{}</span></td>",
        run_class(run),
        escape(&mean_and_spread(figure, decimals))
    )
}

/// Returns the difference between a run and the baseline; only the percentage if `is_short`.
pub(super) fn difference_cell(
    comparison: &Comparison,
    line: &Line,
    (run, of): (usize, &str),
    key: usize,
    is_short: bool,
) -> String {
    let doubtful = if comparison.is_doubtful(line, run) { " doubtful" } else { "" };
    let (class, parts) = match line.differences[run].as_ref() {
        None if run == 0 => ("baseline".to_owned(), vec!["baseline".to_owned()]),
        None => ("none".to_owned(), vec!["n/a".to_owned()]),
        Some(found) => (slug(found.finding.word()), parts(found)),
    };
    let shown = if is_short { vec![parts[0].trim_end_matches(':').to_owned()] } else { parts };
    let parts: Vec<String> = shown.iter().map(|part| format!("<span>{part}</span>")).collect();
    let short = if is_short { " data-short" } else { "" };
    format!(
        "<td class=\"difference {class}{doubtful} {}\" data-of=\"{of}\" data-run=\"{run}\" data-of-figure=\"{key}\"{short}>{}</td>",
        run_class(run),
        parts.join(" ")
    )
}

/// Opens the element in which a wide table scrolls, so that the page does not. The element can be focused, so that the
/// arrow keys scroll it, and has a name for assistive programs.
pub(super) fn scroller(name: &str) -> String {
    format!("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">", escape(name))
}

pub(super) fn list(facts: &Facts) -> String {
    let row = |(label, value): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td></tr>\n", escape(label), escape(value))
    };
    let rows: String = facts.items.iter().map(row).collect();
    format!("<table><caption>{}</caption><tbody>{rows}</tbody></table>\n", escape(&facts.heading))
}

pub(super) fn table(table: &Table) -> String {
    let head: String =
        table.columns.iter().map(|name| format!("<th class=\"n\">{}</th>", escape(name))).collect();
    let row = |(index, row): (usize, &pts::exhibit::Row)| {
        let cells = row_texts(table, index);
        let cells: String =
            cells.iter().map(|text| format!("<td class=\"n\">{}</td>", escape(text))).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(&row.name))
    };
    format!(
        "{}<table><caption><span>{}</span></caption><thead><tr><th>{}</th>{head}</tr></thead>\n<tbody>{}</tbody></table></div>\n",
        scroller(&table.heading),
        escape(&caption(table)),
        escape(&table.row_heading),
        table.rows.iter().enumerate().map(row).collect::<String>()
    )
}
