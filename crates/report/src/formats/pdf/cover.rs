//! The cover: verdicts, key figures, charts and settings on one page.

use std::num::NonZeroU16;

use charts::Size;
use charts::card::{CardFigure, Tone};
use krilla::tagging::Tag;

use super::summary::{banners, watermark};
use crate::document::contents::Document;
use crate::pages::cover::{Cover, Headline, SETTINGS, TestRow, cover};
use crate::pages::titles;
use print::fonts::{Style, ink, soft};
use print::grid::{TableCell, facts, height_of, label_width, table};
use print::sheet::{ACCENT, Align, Area, BOTTOM, Colour, LINE, ROOM, SIDE, Sheet, leading};

/// Size of a chart in its own units.
const PICTURE: Size = Size { width: 620.0, height: 330.0 };
/// Width of a chart that has the page for itself.
const WIDE: f64 = 1047.0;
const GAP: f64 = 10.0;

/// Draws the cover of `document`.
pub(super) fn page(sheet: &mut Sheet<'_>, document: &Document) -> Result<(), String> {
    let cover = cover(document);
    sheet.aside(|sheet| {
        sheet.line((SIDE, BOTTOM + 2.0), (SIDE + ROOM, BOTTOM + 2.0), LINE);
        let footer = titles::footer(document);
        sheet.text((SIDE, BOTTOM + 16.0), ROOM * 0.85, &footer, soft(9.5), Align::Left);
        sheet.text((SIDE + ROOM * 0.85, BOTTOM + 16.0), ROOM * 0.15, "Cover", soft(9.5), Align::Right);
    });
    let y = banners(sheet, document, None);
    let y = title(sheet, &cover, y);
    let y = y + sheet.paragraph((SIDE, y), ROOM, &cover.sentence, ink(14.0)) + 4.0;
    let y = cover.doubts.iter().fold(y, |y, doubt| {
        y + sheet.paragraph((SIDE, y), ROOM, doubt, ink(11.0).bold().colour(colour(Tone::Doubtful)))
    });
    let y = figures(sheet, &cover.figures, y + 4.0);
    let details = details_height(sheet, &cover);
    if cover.pictures.is_empty() {
        details_at(sheet, &cover, y + GAP);
        let below = y + details + 2.0 * GAP;
        if BOTTOM - below > 60.0 {
            watermark(sheet, document, Area::new(SIDE, below, ROOM, BOTTOM - below));
        }
        return Ok(());
    }
    // The page is laid out from the bottom up, so that the charts get the remaining space.
    let space = BOTTOM - details - y - 2.0 * GAP;
    if space > 60.0 {
        let area = Area::new(SIDE, y + GAP, ROOM, space);
        pictures(sheet, &cover, area)?;
        watermark(sheet, document, area);
    }
    details_at(sheet, &cover, (BOTTOM - details).max(y));
    Ok(())
}

const fn colour(tone: Tone) -> Colour {
    match tone {
        Tone::Good => [0x1d, 0x6b, 0x41],
        Tone::Doubtful => [0x7a, 0x52, 0x00],
        Tone::Bad => [0xa3, 0x17, 0x22],
        Tone::Open => [0x55, 0x60, 0x6e],
    }
}

fn title(sheet: &mut Sheet<'_>, cover: &Cover<'_>, y: f64) -> f64 {
    sheet.within(Tag::Hn(NonZeroU16::MIN, None), |sheet| {
        sheet.text((SIDE, y + 24.0), ROOM * 0.45, &cover.device, ink(24.0).bold(), Align::Left);
    });
    let mut right = SIDE + ROOM;
    let natural = |sheet: &Sheet<'_>, text: &str| sheet.fonts.width(text, ink(12.0).bold()) + 18.0;
    let all: f64 = cover.headlines.iter().map(|headline| natural(sheet, &headline.text)).sum();
    let shrunk = (ROOM * 0.52 / all.max(1.0)).min(1.0);
    for Headline { tone, text } in cover.headlines.iter().rev() {
        let style = ink(12.0).bold().colour(colour(*tone));
        let width = natural(sheet, text) * shrunk;
        let area = Area::new(right - width, y + 6.0, width, 22.0);
        sheet.frame(area, colour(*tone));
        sheet.text((area.x + 9.0, area.y + 15.5), width - 18.0, text, style, Align::Left);
        right -= width + GAP;
    }
    y + 38.0
}

fn figures(sheet: &mut Sheet<'_>, figures: &[CardFigure], y: f64) -> f64 {
    const HEIGHT: f64 = 76.0;
    if figures.is_empty() {
        return y;
    }
    // There is space for six figures; fewer figures are not made wider.
    let width = (ROOM - 5.0 * GAP) / 6.0;
    for (index, CardFigure { name, value, unit, note, is_valid }) in figures.iter().enumerate() {
        let area = Area::new(SIDE + (width + GAP) * index as f64, y, width, HEIGHT);
        sheet.frame(area, LINE);
        if *is_valid {
            sheet.fill(Area { height: 3.0, ..area }, ACCENT);
        }
        let (x, room) = (area.x + 8.0, width - 16.0);
        let style: Style = if *is_valid { ink(22.0).bold() } else { soft(22.0) };
        let names = sheet.fonts.wrap(name, soft(9.5), room);
        let below = if names.len() > 1 { 5.0 } else { 0.0 };
        for (line, name) in (0..2).zip(&names) {
            sheet.text((x, y + 16.0 + 12.0 * f64::from(line)), room, name, soft(9.5), Align::Left);
        }
        let unit_width = sheet.fonts.width(unit, soft(11.0)) + 5.0;
        let value_width = sheet.fonts.width(value, style).min(room - unit_width);
        sheet.text((x, y + 45.0 + below), value_width + 1.0, value, style, Align::Left);
        sheet.text((x + value_width + 5.0, y + 45.0 + below), unit_width, unit, soft(11.0), Align::Left);
        sheet.text((x, y + 66.0), room, note, soft(10.0), Align::Left);
    }
    y + HEIGHT
}

fn pictures(sheet: &mut Sheet<'_>, cover: &Cover<'_>, area: Area) -> Result<(), String> {
    let count = cover.pictures.len().max(1) as f64;
    let width = (area.width - GAP * (count - 1.0)) / count;
    for (index, (exhibit, title)) in cover.pictures.iter().enumerate() {
        let size = if cover.pictures.len() == 1 { Size { width: WIDE, ..PICTURE } } else { PICTURE };
        let Some(svg) = charts::picture(exhibit, title, size) else { continue };
        let x = area.x + (width + GAP) * index as f64;
        sheet.text((x, area.y + 11.0), width, title, ink(11.0).bold(), Align::Middle);
        sheet.picture(&svg, title, Area::new(x, area.y + 16.0, width, area.height - 16.0), Align::Middle)?;
    }
    Ok(())
}

const WIDTHS: [f64; 7] =
    [ROOM * 0.2, ROOM * 0.25, ROOM * 0.15, ROOM * 0.11, ROOM * 0.12, ROOM * 0.08, ROOM * 0.09];
const TABLE: (Style, f64) = (ink(10.5), 18.0);
const FACT_SIZE: f64 = 10.5;

fn rows(cover: &Cover<'_>) -> Vec<Vec<TableCell>> {
    let head = ["Test", "Verdict"].into_iter().chain(SETTINGS).map(TableCell::heading).collect();
    let row = |TestRow { title, headline, settings }: &TestRow| {
        let verdict = TableCell { bold: headline.tone == Tone::Bad, ..TableCell::new(headline.text.clone()) };
        [TableCell { bold: true, ..TableCell::new(title.clone()) }, verdict]
            .into_iter()
            .chain(settings.iter().map(|setting| TableCell::new(setting.clone())))
            .collect()
    };
    std::iter::once(head).chain(cover.tests.iter().map(row)).collect()
}

fn details_height(sheet: &Sheet<'_>, cover: &Cover<'_>) -> f64 {
    let rows = rows(cover);
    let table: f64 = rows.iter().map(|row| height_of(sheet.fonts, &WIDTHS, row, TABLE)).sum();
    // Facts are in two columns. A fact that is too long for one line continues on a second line.
    table + GAP + (cover.facts.len().div_ceil(2) as f64 + 1.0) * leading(ink(FACT_SIZE))
}

fn details_at(sheet: &mut Sheet<'_>, cover: &Cover<'_>, y: f64) {
    let y = y + table(sheet, (SIDE, y), &WIDTHS, &rows(cover), TABLE) + GAP;
    let (left, right) = cover.facts.split_at(cover.facts.len().div_ceil(2));
    for (x, items) in [(SIDE, left), (SIDE + ROOM / 2.0, right)] {
        let label = label_width(sheet, items, FACT_SIZE, ROOM * 0.2);
        facts(sheet, (x, y), ROOM / 2.0 - GAP, label, items, FACT_SIZE);
    }
}
