//! The comparison as a self-contained HTML file. It is complete without its script, which only lets readers
//! choose the runs and the baseline, and highlights a run throughout the page.

mod figures;
mod pages;
mod parts;

use charts::markup::{escape, escape_breakable};
use report::Around;
use report::parts::Shell;

use crate::authored::Authored;
use crate::candidate::Candidate;
use crate::comparison::Comparison;
use crate::devices;
use crate::noise::QUANTILES;
use crate::overlays::named;
use crate::sections;
use crate::wording::letters;
use parts::{marks, run_class};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Returns the whole comparison as an HTML file.
#[must_use]
pub fn html(comparison: &Comparison, authored: &Authored) -> String {
    html_within(comparison, authored, Around::default())
}

/// Returns the whole comparison with the additions of a server.
#[must_use]
pub fn html_within(comparison: &Comparison, authored: &Authored, around: Around<'_>) -> String {
    let title = title(comparison);
    let Around { style, before, after } = around;
    let quantiles: Vec<String> = QUANTILES.iter().map(f64::to_string).collect();
    let watermark = authored.watermark.as_deref().map_or_else(String::new, |word| {
        format!("<div class=\"watermark\" aria-hidden=\"true\">{}</div>\n", escape(word))
    });
    let content = format!(
        "{before}{watermark}<main data-quantiles=\"{}\">\n{}<h1>{}</h1>\n{}{}{}{}{}{}{}{}{}</main>\n{after}",
        quantiles.join(" "),
        printed_marks(comparison),
        escape(&title),
        points("Key points", &authored.key_points),
        runs(comparison, authored),
        figures::selected(comparison),
        warnings(comparison),
        figures::statistics(comparison),
        pages::sweeps(&comparison.runs) + &pages::pages(&comparison.runs),
        figures::every(comparison),
        headers(comparison),
        points("Notes", &authored.notes),
    );
    let style = format!("{STYLE}{style}");
    Shell { title: &title, style: &style, class: "", content: &content, script: Some(SCRIPT) }.html()
}

/// Returns the marks of all runs, for the top of every printed page; empty if no run has any. On a screen, each run's
/// marks are next to it.
fn printed_marks(comparison: &Comparison) -> String {
    match sections::marks(&comparison.runs) {
        marks if marks.is_empty() => marks,
        marks => format!("<p class=\"caveats\">{}</p>\n", escape(&marks)),
    }
}

/// Returns the title: the names of up to four runs, or the number of runs.
pub(crate) fn title(comparison: &Comparison) -> String {
    let names: Vec<&str> = comparison.names().collect();
    match names.len() {
        0..=4 => format!("Comparison: {}", names.join(", ")),
        count => format!("Comparison of {count} runs"),
    }
}

/// Texts written by the author.
fn points(heading: &str, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let items: String = texts.iter().map(|text| format!("<li>{}</li>\n", escape(text))).collect();
    format!("<section class=\"authored\"><h2>{heading}</h2>\n<ul>{items}</ul></section>\n")
}

/// Returns one row per run, with the controls of the script.
fn runs(comparison: &Comparison, authored: &Authored) -> String {
    let head: String = devices::BRIEF.iter().map(|(name, _)| format!("<th>{name}</th>")).collect();
    let row = |(index, run): (usize, &Candidate)| {
        let name = escape(&named(&comparison.runs, index));
        let cells: String = devices::BRIEF
            .iter()
            .map(|(name, of)| format!("<td data-of=\"{name}\"><span>{}</span></td>", escape(&of(run))))
            .collect();
        let id = escape(&run.document.run.id);
        let report = match authored.links.get(index).and_then(Option::as_ref) {
            Some(link) => format!("<a href=\"{}\">{id}</a>", escape(link)),
            None => id,
        };
        let checked = if index == 0 { " checked" } else { "" };
        format!(
            "<tr class=\"{}\"><td class=\"control\"><input type=\"checkbox\" name=\"run\" value=\"{index}\" checked \
             aria-label=\"Show {name}\"></td><td class=\"control\"><input type=\"radio\" name=\"baseline\" \
             value=\"{index}\"{checked} aria-label=\"{name} is the baseline\"></td><th scope=\"row\">{name} {}</th>{cells}\
             <td data-of=\"Report\"><span>{report}</span></td></tr>\n",
            run_class(index),
            marks(run),
        )
    };
    format!(
        "<table class=\"cards runs\"><thead><tr><th class=\"control\">Show</th><th class=\"control\">Baseline</th>\
         <th>Run</th>{head}<th>Report</th></tr></thead>\n<tbody>{}</tbody></table>\n",
        comparison.runs.iter().enumerate().map(row).collect::<String>()
    )
}

/// Returns warnings to read before comparing numbers, one row per value.
fn warnings(comparison: &Comparison) -> String {
    if comparison.warnings.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for warning in &comparison.warnings {
        for (index, (runs, text)) in warning.values.iter().enumerate() {
            let subject = if index > 0 {
                String::new()
            } else {
                format!(
                    "<th scope=\"row\" rowspan=\"{}\">{}</th>",
                    warning.values.len(),
                    escape(&warning.subject)
                )
            };
            rows.push_str(&format!(
                "<tr>{subject}<td class=\"letters\">{}</td><td>{}</td></tr>\n",
                letters(runs),
                escape_breakable(text)
            ));
        }
    }
    format!(
        "<section class=\"warnings\"><h2>Before you compare</h2>\n<table><thead><tr><th>Mark or \
         difference</th><th>Runs</th><th>Value</th></tr></thead>\n<tbody>{rows}</tbody></table></section>\n"
    )
}

/// Returns the full header of every device.
fn headers(comparison: &Comparison) -> String {
    let device = |(index, run): (usize, &Candidate)| {
        let rows: String = devices::HEADER
            .iter()
            .map(|(name, of)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escape_breakable(&of(run))))
            .collect();
        format!(
            "<details class=\"{}\" open><summary>{} {}</summary><dl>{rows}</dl></details>\n",
            run_class(index),
            escape(&named(&comparison.runs, index)),
            marks(run)
        )
    };
    let all: String = comparison.runs.iter().enumerate().map(device).collect();
    let labels = parts::labels(&comparison.runs);
    format!("<section class=\"headers\"><h2>The devices</h2>\n<div>{all}</div>\n{labels}</section>\n")
}
