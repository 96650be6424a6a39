//! The cover: verdicts, key figures, charts and settings on one screen.

use charts::Size;
use charts::card::{CardFigure, Tone};
use charts::markup::{escape, escape_running};

use super::exhibits::narrow;
use super::frame::{banners, facts};
use crate::document::contents::Document;
use crate::pages::cover::{Cover, Headline, SETTINGS, TestRow, cover};
use crate::pages::titles;

/// Size of the charts: their text remains legible when two of them share a row.
const PICTURE: Size = Size { width: 620.0, height: 330.0 };
/// Size of a chart that has a row for itself.
const WIDE_PICTURE: Size = Size { width: 1047.0, height: 260.0 };

/// Address of the cover within the report.
pub(super) const ADDRESS: &str = "cover";

/// Returns the cover of `document`.
pub(super) fn page(document: &Document) -> String {
    let cover = cover(document);
    let headlines: String = cover.headlines.iter().map(|headline| pill(headline, "p")).collect();
    let figures: String = cover.figures.iter().map(figure).collect();
    let doubts: String =
        cover.doubts.iter().map(|doubt| format!("<li>{}</li>", escape_running(doubt))).collect();
    let doubts = if doubts.is_empty() { doubts } else { format!("<ul class=\"doubts\">{doubts}</ul>\n") };
    format!(
        "<article class=\"sheet cover\" id=\"{ADDRESS}\">\n{}<header><h1>{}</h1><div class=\"pills\">{headlines}</div></header>\n\
         <p class=\"sentence\">{}</p>\n{doubts}<div class=\"figures\">{figures}</div>\n{}{}{}\
         <footer><span>{}</span><span>Cover</span></footer>\n</article>\n",
        banners(document, None),
        escape(&cover.device),
        escape_running(&cover.sentence),
        pictures(&cover),
        tests(&cover.tests),
        facts("device", &cover.facts),
        escape(&titles::footer(document))
    )
}

const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Doubtful => "mod",
        Tone::Bad => "bad",
        Tone::Open => "open",
    }
}

fn pill(Headline { tone, text }: &Headline, tag: &str) -> String {
    format!("<{tag} class=\"pill {}\">{}</{tag}>", class(*tone), escape(text))
}

fn figure(CardFigure { name, value, unit, note, is_valid }: &CardFigure) -> String {
    let class = if *is_valid { "" } else { " class=\"doubtful\"" };
    format!(
        "<div{class}><span>{}</span><strong>{}</strong><span>{}</span><small>{}</small></div>\n",
        escape_running(name),
        escape(value),
        escape(unit),
        escape(note)
    )
}

fn pictures(cover: &Cover<'_>) -> String {
    let size = if cover.pictures.len() == 1 { WIDE_PICTURE } else { PICTURE };
    let figure = |(exhibit, title): &(&_, String)| {
        let svg = charts::picture(exhibit, title, size)?;
        let narrow = narrow(charts::narrow_picture(exhibit, title));
        Some(format!("<figure><figcaption>{}</figcaption>{svg}{narrow}</figure>", escape(title)))
    };
    let all: String = cover.pictures.iter().filter_map(figure).collect();
    if all.is_empty() { all } else { format!("<div class=\"exhibits\">{all}</div>\n") }
}

fn tests(rows: &[TestRow]) -> String {
    if rows.is_empty() {
        return "<p class=\"remark\">No test was started.</p>\n".into();
    }
    let head: String = SETTINGS.iter().map(|heading| format!("<th>{heading}</th>")).collect();
    let row = |TestRow { title, headline, settings }: &TestRow| {
        let settings: String = SETTINGS
            .iter()
            .zip(settings)
            .map(|(heading, setting)| format!("<td data-label=\"{heading}\">{}</td>", escape(setting)))
            .collect();
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td>{settings}</tr>\n",
            escape(title),
            pill(headline, "span")
        )
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<table class=\"tests\"><thead><tr><th>Test</th><th>Verdict</th>{head}</tr></thead>\n<tbody>{rows}</tbody></table>\n"
    )
}
