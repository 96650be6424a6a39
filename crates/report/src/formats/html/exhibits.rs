//! The report pages, each with the PTS page header followed by the test's exhibits.

use pts::Outcome;
use pts::exhibit::{Axis, Cell, Exhibit, Facts, Lines, Page, Scale, Table};
use pts::profile::Edition;

use super::frame::{SCROLLER, banners, facts, folded, sheet};
use crate::document::contents::Document;
use crate::pages::cells::{is_of_maps, is_of_tables, row_texts};
use crate::pages::header::{self, Column};
use crate::pages::list::PageNumber;
use crate::pages::remarks::remarks;
use crate::pages::test_summary::has_valid_results;
use crate::pages::titles;
use crate::pages::values::{Fact, or_na};
use charts::Size;
use charts::markup::{escape, escape_running};

/// Tables with more than this many columns use less padding.
const WIDE_COLUMNS: usize = 10;
/// Rows with names of more bytes need a minimum width, so that a narrow screen does not show one word per line.
const LONG_NAME: usize = 14;

/// Height of the caption under a chart.
const READING_PIXELS: f64 = 34.0;

/// Renders page `index` of `outcome`.
pub(super) fn page(document: &Document, outcome: &Outcome, index: usize, number: PageNumber) -> String {
    let page = &outcome.pages[index];
    let size = room(document, outcome, page);
    let exhibits: String = page.exhibits.iter().map(|e| exhibit(e, page, size)).collect();
    let remarks: String = remarks(outcome, page)
        .iter()
        .map(|r| format!("<p class=\"remark\">{}</p>\n", escape_running(r)))
        .collect();
    let body = format!(
        "{}<h2 class=\"plot-title\">{}</h2>\n<div class=\"exhibits{}{}\">{exhibits}{remarks}</div>\n",
        header(document, outcome, index),
        escape(&page.title),
        match page {
            page if is_of_tables(page) && page.exhibits.iter().any(is_dense) => " tables dense",
            page if is_of_tables(page) => " tables",
            page if is_of_maps(page) => " maps",
            _ => "",
        },
        if has_valid_results(outcome) { "" } else { " doubtful" }
    );
    sheet(document, number, "plot", &banners(document, Some(outcome)), &body)
}

/// Returns whether a table needs less padding to fit beside another one.
fn is_dense(exhibit: &Exhibit) -> bool {
    matches!(exhibit, Exhibit::Table(table) if table.columns.len() > 4 || table.rows.len() > 3)
}

/// Returns the space for a chart in sheet pixels, so that its lettering matches the surrounding text. An
/// estimate suffices, because charts that are too large are scaled down.
fn room(document: &Document, outcome: &Outcome, page: &Page) -> Size {
    let is_chart = |e: &&Exhibit| !matches!(e, Exhibit::Table(_) | Exhibit::Facts(_));
    let boxes = page.exhibits.iter().map(|exhibit| match exhibit {
        Exhibit::Facts(facts) => 40.0 + 34.0 * facts.items.len().div_ceil(4) as f64,
        Exhibit::Table(table) => 80.0 + 33.0 * table.rows.len() as f64,
        _ => 0.0,
    });
    let marks = document.marks(Some(outcome)).len() as f64 * 27.0;
    let remarks = remarks(outcome, page).len() as f64 * 26.0;
    let left_over = Size::DEFAULT.height - marks - remarks - boxes.sum::<f64>();
    let charts = page.exhibits.iter().filter(is_chart).count().max(1);
    let columns = if is_of_maps(page) { 2 } else { 1 };
    let height = left_over / charts.div_ceil(columns) as f64 - READING_PIXELS;
    Size { height: height.max(225.0), width: Size::DEFAULT.width / columns as f64 }
}

fn exhibit(exhibit: &Exhibit, page: &Page, size: Size) -> String {
    match exhibit {
        Exhibit::Table(table) => numbers(table),
        Exhibit::Facts(facts) => determination(facts),
        chart => {
            let svg = charts::picture_of_page(chart, &page.exhibits, &page.title, size).unwrap_or_default();
            let narrow = narrow(charts::narrow_picture(chart, &page.title));
            figure(&(svg + &narrow + &other_scale(chart, page, size)), chart)
        }
    }
}

/// Returns the same chart with the other scale, for the page's script. Empty if there is no alternative.
fn other_scale(exhibit: &Exhibit, page: &Page, size: Size) -> String {
    let Exhibit::Lines(lines) = exhibit else { return String::new() };
    let (scale, name) = match lines.y.scale {
        Scale::LinearFromZero => (Scale::Log10, "logarithmic"),
        Scale::Log10 => (Scale::LinearFromZero, "linear"),
        _ => return String::new(),
    };
    if !lines.guides.is_empty() {
        return String::new();
    }
    let y = Axis { scale, ..lines.y.clone() };
    let other = Exhibit::Lines(Lines { y, ..lines.clone() });
    let svg = charts::picture_of_page(&other, &page.exhibits, &page.title, size).unwrap_or_default();
    format!("<template data-scale=\"{name}\">{svg}</template>")
}

/// Returns the picture that narrow screens show instead of the first picture.
pub(super) fn narrow(svg: Option<String>) -> String {
    svg.map(|svg| svg.replacen("<svg ", "<svg class=\"narrow\" ", 1)).unwrap_or_default()
}

/// Returns a chart with a caption that contains the finding and explains how to read the chart.
pub(super) fn figure(svg: &str, exhibit: &Exhibit) -> String {
    let finding =
        charts::finding(exhibit).map(|text| format!("<strong>{}.</strong> ", escape_running(&text)));
    let caption = exhibit.reading().map(|reading| {
        format!(
            "<figcaption>{}{}</figcaption>",
            finding.unwrap_or_default(),
            escape_running(charts::sentence(reading))
        )
    });
    format!("<figure>{svg}{}</figure>\n", caption.unwrap_or_default())
}

pub(super) fn numbers(table: &Table) -> String {
    let columns: String =
        table.columns.iter().map(|c| format!("<th scope=\"col\">{}</th>", escape(c))).collect();
    let cell = |(cell, text): (&Cell, String)| {
        let class = if matches!(cell, Cell::Absent(_)) { " class=\"absent\"" } else { "" };
        format!("<td{class}>{}</td>", escape(&text))
    };
    let row = |(index, row): (usize, &pts::exhibit::Row)| {
        let cells: String = row.cells.iter().zip(row_texts(table, index)).map(cell).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(&row.name))
    };
    let (names, values) = (escape(&table.row_heading), escape(&table.column_heading));
    let head = match table.columns.len() {
        // Assistive programs announce headings, and this one would have no text.
        _ if values.is_empty() => format!("<tr><th>{names}</th>{columns}</tr>"),
        count => format!(
            "<tr><th rowspan=\"2\">{names}</th><th colspan=\"{}\"><span>{values}</span></th></tr>\n<tr>{columns}</tr>",
            count.max(1)
        ),
    };
    format!(
        "{SCROLLER}<table class=\"numbers{}{}\"><caption><span>{}</span></caption><thead>{head}</thead>\n<tbody>{}</tbody></table></div>\n",
        if table.columns.len() > WIDE_COLUMNS { " wide" } else { "" },
        if table.rows.iter().any(|row| row.name.len() > LONG_NAME) { " named" } else { "" },
        escape(&table.heading),
        table.rows.iter().enumerate().map(row).collect::<String>()
    )
}

pub(super) fn determination(facts: &Facts) -> String {
    let item = |(label, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(label), escape_running(&or_na(Some(value))))
    };
    format!(
        "<div class=\"determination\"><h3>{}</h3><dl>{}</dl></div>\n",
        escape(&facts.heading),
        facts.items.iter().map(item).collect::<String>()
    )
}

/// Returns the page header, in the style of the edition.
fn header(document: &Document, outcome: &Outcome, index: usize) -> String {
    let header = header::header(document, outcome, index);
    let labelled =
        |(label, value): &Fact| format!("<span>{}: <b>{}</b></span>", escape(label), escape(value));
    let column = |column: &Column| {
        let group = |(heading, items): &(Option<&str>, Vec<Fact>)| {
            let heading = heading.map(|text| format!("<h4>{}</h4>", escape(text))).unwrap_or_default();
            heading + &facts("block", items)
        };
        let groups: String = column.groups.iter().map(group).collect();
        format!("<div><h3>{}</h3>{groups}</div>\n", column.heading)
    };
    let style = if document.profile.edition == Edition::V1_0 { "pts" } else { "pts four" };
    format!(
        "<header class=\"{style}\"><div class=\"dates\">{}</div>\n<div class=\"title\">{}</div>\n\
         <div class=\"bar\"><span>{}</span><span>{}</span><span>{}</span></div>\n\
         <div class=\"dut\"><span>Device Under Test (DUT)</span>{}</div>\n{}</header>\n",
        header.dates.iter().map(labelled).collect::<String>(),
        escape(&header.title),
        titles::specification(document),
        titles::revision(document),
        header.page,
        header.device.iter().map(labelled).collect::<String>(),
        folded(&format!(
            "<div class=\"columns\">{}</div>\n",
            header.columns.iter().map(column).collect::<String>()
        ))
    )
}
