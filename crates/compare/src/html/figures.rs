//! Figures of all runs: ranked bars and tables by test, the matrix of differences, statistics, and every figure.

use charts::markup::escape;

use super::parts::{difference_cell, labels, marks, remark, run_class, scroller, value_cell};
use crate::comparison::{Comparison, Line};
use crate::overlays::named;
use crate::sections;
use crate::selected::{Selected, groups, listed, ranked};
use crate::statistics;
use crate::wording::{decimals, difference, letter};

/// Width of the ranked bars.
const BARS: f64 = 470.0;
/// Maximum number of figures in a table of differences.
const IN_MATRIX: usize = 9;
const READING: &str = "Mean over the rounds of the measurement window, with the standard deviation over them. \
                       Differences are relative to the baseline, with the 95 % confidence interval in \
                       parentheses: Welch's interval for the logarithm of the ratio of the two means. If that \
                       interval contains zero, the difference is within noise. Whiskers of bars are 95 % confidence \
                       intervals of the mean; outlines and pale numbers are not valid results, \
                       nor are differences in italics: a test is not steady or not complete.";

/// Returns the index of a line in the comparison, which the script uses to find the figure.
fn key(comparison: &Comparison, line: &Line) -> usize {
    comparison.lines.iter().position(|known| known.key == line.key).unwrap_or_default()
}

/// Returns the selected figures by test, and the matrix of differences.
pub(super) fn selected(comparison: &Comparison) -> String {
    let groups = groups(comparison);
    let mut out = "<h2>Selected performance</h2>\n".to_owned();
    if groups.is_empty() {
        return out + "<p>None.</p>\n";
    }
    for group in &groups {
        let bars: String = group
            .lines
            .iter()
            .map(|line| {
                format!(
                    "<figure tabindex=\"0\">{}</figure>\n",
                    charts::ranked(&ranked(comparison, line), BARS)
                )
            })
            .collect();
        out.push_str(&format!(
            "<section><h3>{}</h3>\n<div class=\"bars\">\n{bars}</div>\n",
            escape(group.title)
        ));
        out.push_str(&by_run(comparison, group));
        out.push_str("</section>\n");
    }
    out.push_str(&remark(READING));
    let legend = crate::wording::marks(comparison.lines.iter().filter(|line| line.selected));
    out.extend(legend.iter().map(|text| remark(text)));
    out.extend(
        Some(sections::marks(&comparison.runs)).filter(|text| !text.is_empty()).map(|text| remark(&text)),
    );
    out.push_str(&labels(&comparison.runs));
    out + &matrix(comparison, &groups)
}

/// Returns a table with one row per run: each figure and its difference from the baseline.
fn by_run(comparison: &Comparison, group: &Selected<'_>) -> String {
    let head: String = group
        .lines
        .iter()
        .map(|line| {
            format!(
                "<th class=\"n\">{}<small>{}</small></th><th>vs. <span \
                 class=\"base\">A</span></th>",
                escape(&line.name),
                line.unit
            )
        })
        .collect();
    let (runs, others) = listed(comparison, group);
    let row = |run: usize| {
        let cells: String = group
            .lines
            .iter()
            .map(|line| {
                let (key, name) = (key(comparison, line), escape(&format!("{} ({})", line.name, line.unit)));
                let figure = line.figures[run].as_ref();
                let value = value_cell(&comparison.runs, (run, &name), key, figure, decimals(line));
                value + &difference_cell(comparison, line, (run, ""), key, false)
            })
            .collect();
        format!(
            "<tr class=\"{}\"><th scope=\"row\">{} {}</th>{cells}</tr>\n",
            run_class(run),
            escape(&named(&comparison.runs, run)),
            marks(&comparison.runs[run])
        )
    };
    format!(
        "{}<table class=\"cards figures\"><thead><tr><th>Run</th>{head}</tr></thead>\n<tbody>{}</tbody></table></div>\n{}",
        scroller(group.title),
        runs.into_iter().map(row).collect::<String>(),
        others.as_deref().map(remark).unwrap_or_default()
    )
}

/// Returns all differences of selected figures at a glance, in tables that fit on paper.
fn matrix(comparison: &Comparison, groups: &[Selected<'_>]) -> String {
    let lines: Vec<&Line> = groups.iter().flat_map(|group| group.lines.iter().copied()).collect();
    let tables: String = lines.chunks(IN_MATRIX).map(|lines| matrix_of(comparison, lines)).collect();
    format!(
        "<section><h2>Differences from <span class=\"base\">A</span></h2>\n{tables}\
         <p class=\"remark\">Green: better beyond noise. Red: worse beyond noise. Grey: within noise, or with unknown \
         spread. Italic: a test is not steady or not complete.</p>\n</section>\n"
    )
}

fn matrix_of(comparison: &Comparison, lines: &[&Line]) -> String {
    let head: String = lines.iter().map(|line| format!("<th>{}</th>", escape(&line.name))).collect();
    let row = |run: usize| {
        let cells: String = lines
            .iter()
            .map(|line| {
                let name = escape(&line.name);
                difference_cell(comparison, line, (run, &name), key(comparison, line), true)
            })
            .collect();
        format!(
            "<tr class=\"{}\"><th scope=\"row\">{}</th>{cells}</tr>\n",
            run_class(run),
            escape(&named(&comparison.runs, run))
        )
    };
    format!(
        "{}<table class=\"matrix\"><thead><tr><th>Run</th>{head}</tr></thead>\n<tbody>{}</tbody></table></div>\n",
        scroller("Differences from the baseline"),
        (0..comparison.runs.len()).map(row).collect::<String>()
    )
}

/// Returns statistics over groups of runs; empty if there are no groups.
pub(super) fn statistics(comparison: &Comparison) -> String {
    if comparison.groups.is_empty() {
        return String::new();
    }
    let head: String = statistics::HEAD.iter().map(|name| format!("<th>{name}</th>")).collect();
    let mut out = "<h2>Statistics over drives and runs</h2>\n".to_owned();
    for line in comparison.lines.iter().filter(|line| line.selected) {
        let mut rows = String::new();
        for (group, summary) in comparison.groups.iter().zip(comparison.summaries(line)) {
            let cells: String = statistics::HEAD
                .iter()
                .zip(statistics::cells(comparison, line, &summary))
                .map(|(name, text)| {
                    format!("<td class=\"n\" data-of=\"{name}\"><span>{}</span></td>", escape(&text))
                })
                .collect();
            let found = summary.difference.as_ref().map_or_else(|| "n/a".to_owned(), difference);
            rows.push_str(&format!(
                "<tr><th scope=\"row\">{}</th>{cells}<td data-of=\"vs. first\"><span>{found}</span></td></tr>\n",
                escape(&group.name)
            ));
        }
        out.push_str(&format!(
            "{}<table class=\"cards\"><caption><span>{} ({})</span></caption><thead><tr><th>Group</th>{head}<th>vs. \
             first</th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n",
            scroller(&line.name),
            escape(&line.name),
            line.unit
        ));
    }
    out + &remark(statistics::READING)
}

/// Returns the class of a table with one column per run; the class depends on how much the table must shrink to
/// fit on paper.
const fn crowd(runs: usize) -> &'static str {
    match runs {
        0..=5 => "",
        6..=8 => "many",
        9..=12 => "crowded",
        _ => "dense",
    }
}

/// Returns all figures that are not selected, with one column per run.
pub(super) fn every(comparison: &Comparison) -> String {
    let lines = || comparison.lines.iter().filter(|line| !line.selected);
    if lines().next().is_none() {
        return String::new();
    }
    let head: String = (0..comparison.runs.len())
        .map(|run| {
            format!(
                "<th class=\"n {}\">{} {}</th>",
                run_class(run),
                letter(run),
                marks(&comparison.runs[run])
            )
        })
        .collect();
    let row = |line: &Line| {
        let key = key(comparison, line);
        let cells: String = (0..comparison.runs.len())
            .map(|run| {
                let figure = line.figures[run].as_ref();
                value_cell(&comparison.runs, (run, &letter(run)), key, figure, decimals(line))
            })
            .collect();
        format!(
            "<tr><th scope=\"row\">{}<small>{}</small></th><td class=\"unit\">{}</td>{cells}</tr>\n",
            escape(&line.name),
            escape(&line.key),
            line.unit
        )
    };
    let legend = crate::wording::marks(lines());
    format!(
        "<section><h2>Every figure</h2>\n{}<table class=\"every {}\"><thead><tr><th>Figure</th><th>Unit</th>{head}</tr></thead>\n\
         <tbody>{}</tbody></table></div>\n{}{}</section>\n",
        scroller("Every figure"),
        crowd(comparison.runs.len()),
        lines().map(row).collect::<String>(),
        legend.iter().map(|text| remark(text)).collect::<String>(),
        labels(&comparison.runs)
    )
}
