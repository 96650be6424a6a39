//! The report pages: the PTS header, then the exhibits of the test.

use std::num::NonZeroU16;

use krilla::tagging::Tag;
use pts::Outcome;
use pts::exhibit::{Exhibit, Facts, Page, Table};
use pts::profile::Edition;

use super::summary::{bar, surround, watermark};
use crate::document::contents::Document;
use crate::pages::cells::{is_of_maps, is_of_tables, row_texts};
use crate::pages::header::{self, Column};
use crate::pages::list::PageNumber;
use crate::pages::remarks::remarks;
use crate::pages::test_summary::has_valid_results;
use crate::pages::titles;
use crate::pages::values::or_na;
use charts::Size;
use charts::markup::bound;
use print::fonts::{Fonts, Style, ink, soft};
use print::grid::{PAD, TableCell, facts, label_width, table};
use print::sheet::{ACCENT, Align, Area, BOTTOM, LINE, PALE, ROOM, SIDE, Sheet, leading};

/// Minimum legible height of a chart.
const LEAST_CHART: f64 = 170.0;
/// Minimum height of a response-time chart, which needs space for labels above and axes below the plot.
const LEAST_RESPONSE_TIMES: f64 = 230.0;
/// Relative widths of the header columns. The platform and test columns contain the longest texts.
const COLUMN_SHARES_1_0: [f64; 4] = [0.25; 4];
const COLUMN_SHARES_2_0: [f64; 4] = [0.2875, 0.23, 0.23, 0.2525];
const GAP: f64 = 8.0;
/// Distance between two rows of tables, and between the last one and the remarks.
const TABLE_GAP: f64 = 10.0;
/// Height of a row of numbers if the page has room.
const NATURAL_ROW: f64 = 30.0;
const LINE_OF_REMARK: f64 = 17.0;
/// Usual height of the caption under a chart, which contains the finding and explains how to read the chart.
const CAPTION: f64 = 29.0;
const LINE_OF_CAPTION: f64 = 14.5;
/// Minimum legible font size.
const SMALLEST: f64 = 6.0;

/// Draws page `index` of `outcome`.
pub(super) fn page(
    sheet: &mut Sheet<'_>,
    document: &Document,
    outcome: &Outcome,
    index: usize,
    number: PageNumber,
) -> Result<(), String> {
    let y = surround(sheet, document, Some(outcome), number);
    let y = header(sheet, document, outcome, index, y) + 4.0;
    let page = &outcome.pages[index];
    sheet.within(Tag::Hn(NonZeroU16::MIN.saturating_add(1), None), |sheet| {
        sheet.text((SIDE, y + 15.0), ROOM, &page.title, ink(15.0).bold(), Align::Middle);
    });
    let remarks = remarks(outcome, page);
    let lines: Vec<String> =
        remarks.iter().flat_map(|remark| sheet.fonts.wrap(&bound(remark), soft(11.0), ROOM)).collect();
    let room = BOTTOM - 4.0 - LINE_OF_REMARK * lines.len() as f64 - y - 22.0;
    // Remarks are at the foot of a page with charts, which fill it, and directly below tables.
    let height = natural_height_of_page(page).map_or(room, |height| height.min(room));
    let area = Area::new(SIDE, y + 22.0, ROOM, height);
    exhibits(sheet, page, has_valid_results(outcome), area)?;
    watermark(sheet, document, Area { height: room, ..area });
    for (index, line) in lines.iter().enumerate() {
        let baseline = area.y + height + 12.0 + LINE_OF_REMARK * index as f64;
        sheet.text((SIDE, baseline), ROOM, line, soft(11.0), Align::Middle);
    }
    Ok(())
}

/// Returns the height of a page without charts; None if a chart fills the page.
fn natural_height_of_page(page: &Page) -> Option<f64> {
    let heights = page.exhibits.iter().map(|exhibit| match exhibit {
        Exhibit::Table(_) | Exhibit::Facts(_) => Some(natural_height(exhibit)),
        _ => None,
    });
    let heights: Vec<f64> = heights.collect::<Option<_>>()?;
    let all = if is_of_tables(page) {
        let rows = heights.chunks(2).map(|pair| pair.iter().copied().fold(0.0, f64::max));
        // All rows are equally high.
        rows.clone().fold(0.0, f64::max) * rows.len() as f64
    } else {
        heights.iter().sum()
    };
    Some(all + TABLE_GAP * heights.len() as f64)
}

fn header(sheet: &mut Sheet<'_>, document: &Document, outcome: &Outcome, index: usize, y: f64) -> f64 {
    let header = header::header(document, outcome, index);
    let style = ink(11.0);
    let [(from, begun), (to, ended)] = &header.dates;
    sheet.text((SIDE + 10.0, y + 13.0), ROOM / 2.0, &format!("{from}: {begun}"), style, Align::Left);
    let (left, width) = (SIDE + ROOM / 2.0, ROOM / 2.0 - 10.0);
    sheet.text((left, y + 13.0), width, &format!("{to}: {ended}"), style, Align::Right);
    sheet.within(Tag::Hn(NonZeroU16::MIN, None), |sheet| {
        sheet.text((SIDE, y + 32.0), ROOM, &header.title, ink(16.0).bold(), Align::Middle);
    });
    let name = titles::specification(document);
    let after = bar(sheet, y + 39.0, [name, &titles::revision(document), &header.page]);
    let (width, bold) = (ROOM / 4.0, style.bold());
    sheet.text((SIDE + 10.0, after + 14.0), width - 20.0, "Device Under Test (DUT)", style, Align::Left);
    let mut height = leading(bold);
    for (index, (label, value)) in header.device.iter().enumerate() {
        let x = SIDE + width * (index + 1) as f64;
        let text = sheet.fonts.shortened(&format!("{label}: {value}"), bold, width - 10.0, 2);
        height = height.max(sheet.paragraph((x, after + 3.0), width - 10.0, &text, bold));
    }
    let edition_1_0 = document.profile.edition == Edition::V1_0;
    let shares = if edition_1_0 { COLUMN_SHARES_1_0 } else { COLUMN_SHARES_2_0 };
    let lowest = columns(sheet, &header.columns, shares, after + 5.5 + height);
    sheet.frame(Area::new(SIDE, y, ROOM, lowest - y), LINE);
    lowest
}

/// Draws the header columns; returns their lower edge.
fn columns(sheet: &mut Sheet<'_>, all: &[Column], shares: [f64; 4], top: f64) -> f64 {
    let mut lowest = top;
    let mut edges = Vec::new();
    let mut x = SIDE;
    for (column, share) in all.iter().zip(shares) {
        let width = ROOM * share;
        edges.push((x, width));
        sheet.fill(Area::new(x, top, width, 17.0), PALE);
        sheet.text((x + 10.0, top + 12.5), width - 20.0, column.heading, ink(10.5).bold(), Align::Left);
        let mut at = top + 20.0;
        for (heading, items) in &column.groups {
            if let Some(heading) = heading {
                let style = ink(9.5).bold().colour(ACCENT);
                sheet.text((x + 10.0, at + 9.5), width - 20.0, heading, style, Align::Left);
                at += 13.0;
            }
            let label = label_width(sheet, items, 10.0, width * 0.52);
            at += facts(sheet, (x + 10.0, at), width - 20.0, label, items, 10.0);
        }
        lowest = lowest.max(at + 4.0);
        x += width;
    }
    for (x, width) in edges {
        sheet.frame(Area::new(x, top, width, lowest - top), LINE);
    }
    lowest
}

fn exhibits(sheet: &mut Sheet<'_>, page: &Page, is_valid: bool, area: Area) -> Result<(), String> {
    let all = &page.exhibits;
    let tables: Vec<&Table> = all
        .iter()
        .filter_map(|exhibit| match exhibit {
            Exhibit::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    if is_of_tables(page) {
        side_by_side(sheet, &tables, is_valid, area);
        return Ok(());
    }
    if is_of_maps(page) {
        return maps(sheet, page, area);
    }
    let is_chart = |e: &&Exhibit| !matches!(e, Exhibit::Table(_) | Exhibit::Facts(_));
    let charts = all.iter().filter(is_chart).count();
    let least =
        |e: &Exhibit| if matches!(e, Exhibit::ResponseTimes(_)) { LEAST_RESPONSE_TIMES } else { LEAST_CHART };
    let gaps = GAP * all.len().saturating_sub(1) as f64;
    let fixed: f64 = all.iter().map(natural_height).sum();
    // Tables shrink if charts would otherwise become too small.
    let squeeze: f64 = all.iter().filter(is_chart).map(least).sum();
    let scale = ((area.height - gaps - squeeze) / fixed.max(1.0)).clamp(0.3, 1.0);
    let chart_height = (area.height - gaps - fixed * scale) / charts.max(1) as f64;
    let mut y = area.y;
    for exhibit in all {
        let height = match exhibit {
            Exhibit::Table(_) | Exhibit::Facts(_) => natural_height(exhibit) * scale,
            _ => chart_height,
        };
        let room = Area::new(area.x, y, area.width, height);
        match exhibit {
            Exhibit::Table(table) => numbers(sheet, table, is_valid, room),
            Exhibit::Facts(facts) => determination(sheet, facts, room),
            chart => captioned(sheet, chart, page, room)?,
        }
        y += height + GAP;
    }
    Ok(())
}

/// Draws maps in pairs, because a map is about as high as it is wide.
fn maps(sheet: &mut Sheet<'_>, page: &Page, area: Area) -> Result<(), String> {
    let rows = page.exhibits.len().div_ceil(2) as f64;
    let (width, height) = ((area.width - 2.0 * GAP) / 2.0, (area.height - GAP * (rows - 1.0)) / rows);
    for (index, chart) in page.exhibits.iter().enumerate() {
        let x = area.x + (width + 2.0 * GAP) * (index % 2) as f64;
        let y = area.y + (height + GAP) * (index / 2) as f64;
        captioned(sheet, chart, page, Area::new(x, y, width, height))?;
    }
    Ok(())
}

/// Draws a chart above its caption.
fn captioned(sheet: &mut Sheet<'_>, chart: &Exhibit, page: &Page, area: Area) -> Result<(), String> {
    let caption = caption(sheet.fonts, chart, area.width);
    let room = Area { height: area.height - CAPTION.max(LINE_OF_CAPTION * caption.len() as f64), ..area };
    let size = Size { width: area.width / ROOM * Size::DEFAULT.width, height: room.height.max(120.0) };
    if let Some(svg) = charts::picture_of_page(chart, &page.exhibits, &page.title, size) {
        sheet.picture(&svg, &page.title, room, Align::Middle)?;
    }
    let top = area.y + room.height + 11.0;
    for (index, (line, style)) in caption.iter().enumerate() {
        let baseline = top + LINE_OF_CAPTION * index as f64;
        sheet.text((area.x, baseline), area.width, line, *style, Align::Middle);
    }
    Ok(())
}

/// Returns the lines of a chart's caption.
fn caption(fonts: &Fonts, chart: &Exhibit, width: f64) -> Vec<(String, Style)> {
    let finding = charts::finding(chart).map(|finding| (format!("{finding}."), ink(10.5).bold()));
    let sentence = chart.reading().map(|reading| (charts::sentence(reading).to_owned(), soft(10.5)));
    let texts = finding.into_iter().chain(sentence);
    texts
        .flat_map(|(text, style)| {
            fonts.wrap(&bound(&text), style, width).into_iter().map(move |line| (line, style))
        })
        .collect()
}

fn natural_height(exhibit: &Exhibit) -> f64 {
    match exhibit {
        Exhibit::Table(table) => 24.0 + NATURAL_ROW * (table.rows.len() + 2) as f64,
        Exhibit::Facts(facts) => 26.0 + 34.0 * facts.items.len().div_ceil(4) as f64,
        _ => 0.0,
    }
}

fn side_by_side(sheet: &mut Sheet<'_>, tables: &[&Table], is_valid: bool, area: Area) {
    let rows = tables.len().div_ceil(2);
    let (width, height) =
        ((area.width - 14.0) / 2.0, (area.height - TABLE_GAP * (rows - 1) as f64) / rows as f64);
    for (index, table) in tables.iter().enumerate() {
        let x = area.x + (width + 14.0) * (index % 2) as f64;
        let y = area.y + (height + TABLE_GAP) * (index / 2) as f64;
        numbers(sheet, table, is_valid, Area::new(x, y, width, height));
    }
}

/// Returns the largest font size up to `size` at which no number or column heading wraps, because there is no
/// space for a second line.
fn unbroken(sheet: &Sheet<'_>, data: &Table, size: f64, column_width: f64) -> f64 {
    let cells = (0..data.rows.len()).flat_map(|row| row_texts(data, row));
    let texts = cells.chain(data.columns.iter().cloned());
    let widest = texts.map(|text| sheet.fonts.width(&text, ink(size).bold())).fold(1.0, f64::max);
    (size * ((column_width - 2.0 * PAD.0) / widest).min(1.0)).max(SMALLEST)
}

/// Draws a table that fills the available height, up to its natural height. Numbers that are not valid results are
/// pale.
fn numbers(sheet: &mut Sheet<'_>, data: &Table, is_valid: bool, area: Area) {
    let lines = (data.rows.len() + 2) as f64;
    let row = ((area.height - 24.0) / lines).min(32.0);
    let columns = data.columns.len().max(1);
    let size = unbroken(sheet, data, (row * 0.48).clamp(6.0, 14.0), area.width / (columns + 2) as f64);
    let spare = area.height - 24.0 - row * lines;
    let y = area.y + spare / 2.0;
    sheet.text((area.x, y + 15.0), area.width, &data.heading, ink(14.0).bold(), Align::Middle);
    let names = data.rows.iter().map(|r| sheet.fonts.width(&r.name, ink(size).bold()));
    let heading = sheet.fonts.width(&data.row_heading, ink(size).bold());
    let first = names.fold(heading, f64::max) + 24.0;
    let first = first.min(area.width * 0.3).max(area.width / (columns + 2) as f64 * 0.8);
    let mut widths = vec![first];
    widths.extend(std::iter::repeat_n((area.width - first) / columns as f64, columns));
    let head = |text: &str| TableCell::heading(text).align(Align::Middle);
    let mut rows = vec![
        vec![head(""), head(&data.column_heading).over(columns)],
        std::iter::once(head(&data.row_heading)).chain(data.columns.iter().map(|c| head(c))).collect(),
    ];
    for (index, line) in data.rows.iter().enumerate() {
        let cells = row_texts(data, index).into_iter().map(|text| TableCell::new(text).align(Align::Right));
        rows.push(std::iter::once(head(&line.name)).chain(cells).collect());
    }
    let style = if is_valid { ink(size) } else { soft(size) };
    table(sheet, (area.x, y + 22.0), &widths, &rows, (style, row));
}

fn determination(sheet: &mut Sheet<'_>, facts: &Facts, area: Area) {
    sheet.frame(area, LINE);
    sheet.fill(Area { height: 18.0, ..area }, PALE);
    let inner = area.width - 20.0;
    sheet.text((area.x + 10.0, area.y + 13.0), inner, &facts.heading, ink(10.5).bold(), Align::Left);
    let width = inner / 4.0;
    for (index, (label, value)) in facts.items.iter().enumerate() {
        let x = area.x + 10.0 + width * (index % 4) as f64;
        let y = area.y + 22.0 + 34.0 * (index / 4) as f64;
        sheet.text((x, y + 10.0), width - 10.0, label, soft(10.0), Align::Left);
        sheet.text((x, y + 25.0), width - 10.0, &or_na(Some(value)), ink(13.0).bold(), Align::Left);
    }
}
