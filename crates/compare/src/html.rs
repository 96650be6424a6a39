//! The comparison as a self-contained HTML file.

use pts::exhibit::{Exhibit, Facts, Table};

use crate::candidate::Candidate;
use crate::comparison::{Comparison, Line};
use crate::noise::Difference;
use crate::sections;
use crate::sweeps;
use crate::wording::{difference, letter, marks, mean};
use charts::Size;
use charts::markup::escape;
use report::parts::{Figure, Shell, cell_text};
use stdx::text::slug;

const STYLE: &str = include_str!("style.css");
const CHART: Size = Size { width: 720.0, height: 400.0 };
/// Size of a chart that contains all runs.
const WIDE_CHART: Size = Size { width: 1100.0, height: 420.0 };

/// The whole comparison.
#[must_use]
pub fn html(comparison: &Comparison) -> String {
    let names: Vec<&str> = comparison.names().collect();
    let title = format!("Comparison: {}", names.join(", "));
    let content = format!(
        "<main>\n<h1>{}</h1>\n{}{}<h2>Selected performance</h2>\n{}{}<h2>Every figure</h2>\n{}</main>\n",
        escape(&title),
        devices(&comparison.runs),
        warnings(comparison),
        figures(comparison, |line| line.selected),
        sweeps(&comparison.runs) + &pages(&comparison.runs),
        figures(comparison, |line| !line.selected),
    );
    Shell { title: &title, style: STYLE, class: "", content: &content, script: None }.html()
}

/// A table cell labelled with its run, because narrow windows show rows as cards without a header row.
fn cell(of: &str, class: &str, content: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<td{class} data-of=\"{of}\"><span>{content}</span></td>")
}

fn devices(runs: &[Candidate]) -> String {
    let head: String = runs
        .iter()
        .enumerate()
        .map(|(i, run)| format!("<th>{} {}</th>", letter(i), escape(&run.name)))
        .collect();
    let body: String = sections::devices(runs)
        .iter()
        .map(|(name, cells)| {
            let cells: String =
                cells.iter().enumerate().map(|(i, text)| cell(&letter(i), "", &escape(text))).collect();
            format!("<tr><th>{name}</th>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<table class=\"cards devices\"><thead><tr><th></th>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"
    )
}

fn warnings(comparison: &Comparison) -> String {
    let items: String =
        comparison.warnings.iter().map(|text| format!("<li>{}</li>\n", escape(text))).collect();
    if items.is_empty() {
        return String::new();
    }
    format!("<section class=\"warnings\"><h2>Before you compare</h2>\n<ul>{items}</ul></section>\n")
}

fn figures(comparison: &Comparison, shown: impl Fn(&Line) -> bool) -> String {
    let runs = comparison.runs.len();
    let head: String = (0..runs)
        .map(|i| format!("<th class=\"n\">{}</th>", letter(i)))
        .chain((1..runs).map(|i| format!("<th>{} vs. A</th>", letter(i))))
        .collect();
    let lines = || comparison.lines.iter().filter(|line| shown(line));
    let body: String = lines().map(figure_row).collect();
    if body.is_empty() {
        return "<p>None.</p>\n".into();
    }
    format!(
        "<table \
         class=\"cards\"><thead><tr><th>Figure</th><th>Unit</th>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n<p \
         class=\"remark\">Mean over the rounds of the measurement window, with the standard deviation over \
         them. Differences are relative to A, with the 95 % confidence interval in parentheses. If that \
         interval contains zero, the difference is within noise.</p>\n{}",
        marks(lines())
            .into_iter()
            .chain(sections::labels(&comparison.runs))
            .map(|text| remark(&text))
            .collect::<String>()
    )
}

fn figure_row(line: &Line) -> String {
    let figure = |(i, figure): (usize, &Option<Figure>)| {
        let text = figure.as_ref().and_then(|figure| {
            let spread =
                figure.spread_share().map(|share| format!("<small>&plusmn; {:.1} %</small>", share * 100.0));
            Some(format!("{}{}", mean(figure)?, spread.unwrap_or_default()))
        });
        cell(&letter(i), "n", &text.unwrap_or_else(|| "n/a".into()))
    };
    let against = |(i, found): (usize, &Option<Difference>)| {
        let of = format!("{} vs. A", letter(i));
        match found {
            None => cell(&of, "", "n/a"),
            Some(found) => cell(&of, &slug(found.finding.word()), &difference(found)),
        }
    };
    let figures = line.figures.iter().enumerate().map(figure);
    let cells: String = figures.chain(line.differences.iter().enumerate().skip(1).map(against)).collect();
    format!(
        "<tr><th>{}<span class=\"phone\">, {unit}</span><small>{}</small></th><td class=\"unit\">{unit}</td>{cells}</tr>\n",
        escape(&line.name),
        escape(&line.key),
        unit = line.unit
    )
}

/// One chart per workload that several runs swept over outstanding I/Os, with all runs in it.
fn sweeps(runs: &[Candidate]) -> String {
    let of = |section: &sweeps::SweepSection| {
        let notes: String = section.notes.iter().map(|note| remark(note)).collect();
        format!(
            "<section><h2>{}</h2>\n<figure>{}</figure>\n{notes}{}</section>\n",
            escape(&section.title),
            section.picture(WIDE_CHART),
            table(&section.table)
        )
    };
    sweeps::sections(runs).iter().map(of).collect()
}

/// The report pages that at least two runs have in common, drawn with shared axes.
fn pages(runs: &[Candidate]) -> String {
    let mut out = String::new();
    for section in sections::sections(runs) {
        out.push_str(&format!("<section><h2>{}</h2>\n", escape(&section.title)));
        for row in &section.rows {
            let wide = row.each.iter().any(|(_, exhibit)| is_wide(exhibit));
            out.push_str(if wide { "<div class=\"beside wide\">\n" } else { "<div class=\"beside\">\n" });
            for (name, exhibit) in &row.each {
                let picture = sections::picture(exhibit, row, name, CHART);
                let drawn = picture.unwrap_or_else(|| match exhibit {
                    Exhibit::Table(data) => table(data),
                    Exhibit::Facts(facts) => list(facts),
                    _ => String::new(),
                });
                out.push_str(&format!(
                    "<figure><figcaption>{}</figcaption>\n{drawn}</figure>\n",
                    escape(name)
                ));
            }
            out.push_str("</div>\n");
            out.extend(row.reading().into_iter().chain(row.rescaled.as_deref()).map(remark));
        }
        out.extend(section.notes.iter().map(|note| remark(note)));
        out.push_str("</section>\n");
    }
    out
}

fn remark(text: &str) -> String {
    format!("<p class=\"remark\">{}</p>\n", escape(text))
}

/// Whether two such tables are too wide to fit side by side.
fn is_wide(exhibit: &Exhibit) -> bool {
    matches!(exhibit, Exhibit::Table(table) if table.columns.len() > 4)
}

fn list(facts: &Facts) -> String {
    let row = |(label, value): &(String, String)| {
        format!("<tr><th>{}</th><td class=\"n\">{}</td></tr>\n", escape(label), escape(value))
    };
    let rows: String = facts.items.iter().map(row).collect();
    format!("<table><caption>{}</caption><tbody>{rows}</tbody></table>\n", escape(&facts.heading))
}

fn table(table: &Table) -> String {
    let head: String =
        table.columns.iter().map(|name| format!("<th class=\"n\">{}</th>", escape(name))).collect();
    let row = |row: &pts::exhibit::Row| {
        let cells: String = row
            .cells
            .iter()
            .map(|cell| format!("<td class=\"n\">{}</td>", escape(&cell_text(cell, table.decimals))))
            .collect();
        format!("<tr><th>{}</th>{cells}</tr>\n", escape(&row.name))
    };
    format!(
        "<table><caption>{}, {}</caption><thead><tr><th>{}</th>{head}</tr></thead>\n<tbody>{}</tbody></table>\n",
        escape(&table.heading),
        escape(&table.column_heading),
        escape(&table.row_heading),
        table.rows.iter().map(row).collect::<String>()
    )
}
