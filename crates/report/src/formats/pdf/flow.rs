//! Flows the blocks of annexes and comparisons over as many pages as they need.

use std::num::NonZeroU16;

use krilla::tagging::Tag;

use super::bands::bands;
use super::summary::{STRIP, banners};
use crate::document::contents::Document;
use crate::pages::banners::strips;
use print::fonts::{Fonts, Style, ink, soft};
use print::grid::{ColumnCell, TableCell, height_of, table};
use print::sheet::{ACCENT, Align, Area, BOTTOM, LINE, ROOM, SIDE, Sheet, TOP, leading};
use print::writer::PdfWriter;

const TEXT: Style = ink(10.5);
const ROW: f64 = 18.0;
const TITLE: f64 = 34.0;
const HEADING: f64 = 26.0;
/// Height of two pictures side by side, and of the names above them.
const BESIDE: f64 = 250.0;
const NAMES: f64 = 22.0;
/// Fraction of its size that a picture may lose to fit on the current page.
const SHRINKS_BY: f64 = 0.15;
/// Gap between a table and what follows.
const AFTER_TABLE: f64 = 8.0;
/// Height of a table slice: small, so that little space remains unused on a page.
const SLICE: f64 = 90.0;
/// Maximum height of the rows of a table that is never split, such as eight block sizes.
const SMALL_TABLE: f64 = 180.0;

/// Alignment of the text in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnAlign {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A block that flows over pages.
#[derive(Debug, Clone)]
pub enum Block {
    /// Starts a new page and creates a bookmark.
    Title(String),
    /// A heading with a bookmark below the last title.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Rows with column headings that repeat on each page.
    Table {
        /// Text above the table; may be empty.
        caption: String,
        /// Relative column widths.
        shares: Vec<f64>,
        /// Column headings; may be empty.
        head: Vec<String>,
        /// The first cell of each row is its heading.
        rows: Vec<Vec<String>>,
    },
    /// Like a table of text, but with numbers, which are right-aligned in all columns but the first.
    Numbers {
        /// Text above the table; may be empty.
        caption: String,
        /// Relative column widths.
        shares: Vec<f64>,
        /// Column headings; may be empty.
        head: Vec<String>,
        /// Rows of printed values.
        rows: Vec<Vec<String>>,
    },
    /// Columns that are never narrower than a word. Columns that do not fit on the page continue in another
    /// table with the same row headings.
    Columns {
        /// Text above the table; may be empty.
        caption: String,
        /// Alignment of all columns but the first.
        align: ColumnAlign,
        /// Number of neighbouring columns that are not separated.
        keep: usize,
        /// Column headings.
        head: Vec<String>,
        /// The first cell of each row is its heading.
        rows: Vec<Vec<ColumnCell>>,
    },
    /// Pictures with captions, two per row.
    Pictures(Vec<(String, String)>),
    /// A full-width picture that contains its own title.
    Picture {
        /// Alternative text.
        name: String,
        /// The picture.
        svg: String,
        /// Height in pixels, unless the page is smaller.
        height: f64,
    },
}

/// What surrounds the blocks on each page.
pub(super) struct PageFrame<'a> {
    pub footer: &'a str,
    /// Text before the page number: `Page`, `Annex page`.
    pub numbered: &'a str,
    /// Number of preceding pages in the document.
    pub first_page: usize,
    /// The report whose marks appear on every page.
    pub marks_of: Option<&'a Document>,
    /// A faint word across every page.
    pub watermark: Option<&'a str>,
}

impl PageFrame<'_> {
    /// Returns the height between banners and footer.
    fn room(&self) -> f64 {
        let count = self.marks_of.map_or(0, |document| strips(document, None).len());
        BOTTOM - TOP - 10.0 - count as f64 * STRIP
    }
}

/// A piece of a block; pieces are never split.
enum Piece {
    Title(String),
    Heading(String),
    Text(String),
    Caption(String),
    /// Rows of a table; the headings are drawn at the start of the table and again on each new page.
    Rows {
        widths: Vec<f64>,
        head: Vec<TableCell>,
        rows: Vec<Vec<TableCell>>,
        first: bool,
        /// Whether the table ends here, so that a gap follows.
        last: bool,
    },
    Pictures {
        pictures: Vec<(String, String)>,
        height: f64,
    },
    Picture {
        name: String,
        svg: String,
        height: f64,
    },
}

/// Draws all blocks.
pub(super) fn draw(writer: &mut PdfWriter, blocks: Vec<Block>, frame: &PageFrame<'_>) -> Result<(), String> {
    let pages = laid_out(&writer.fonts, blocks, frame.room());
    let total = pages.len();
    for (index, pieces) in pages.into_iter().enumerate() {
        for piece in &pieces {
            match piece {
                Piece::Title(text) => writer.bookmark(text.clone(), frame.first_page + index),
                Piece::Heading(text) => writer.inner_bookmark(text.clone(), frame.first_page + index),
                _ => {}
            }
        }
        let number = format!("{} {} of {total}", frame.numbered, index + 1);
        writer.page(|sheet| page(sheet, pieces, frame, &number))?;
    }
    Ok(())
}

/// Distributes the pieces over pages.
fn laid_out(fonts: &Fonts, blocks: Vec<Block>, room: f64) -> Vec<Vec<Piece>> {
    let mut pieces: Vec<Piece> = blocks.into_iter().flat_map(|block| pieces(fonts, block, room)).collect();
    let mut heights: Vec<f64> = pieces.iter().map(|piece| height(fonts, piece, false)).collect();
    let leads = leads(&pieces);
    // Text between a heading and a picture stays with the heading only, if all of them do not fit on an empty page.
    let alone: Vec<bool> = (0..).zip(&leads).map(|(i, lead)| *lead && !is_text(&pieces, i)).collect();
    let group_of = |leads: &[bool], i: usize| i..i + leads[i..].iter().take_while(|leads| **leads).count();
    let sizes = heights.clone();
    let group = |index: usize| {
        let whole = group_of(&leads, index);
        let first = (0..=index).rev().find(|first| alone[*first] || !leads[*first]).unwrap_or(index);
        let fits = sizes[first..(whole.end + 1).min(sizes.len())].iter().sum::<f64>() <= room;
        if fits { whole } else { group_of(&alone, index) }
    };
    let mut starts = vec![0];
    let mut left = room;
    for index in 0..pieces.len() {
        if matches!(pieces[index], Piece::Title(_)) && starts.last() != Some(&index) {
            starts.push(index);
            left = room;
        }
        let (group, whole) = (group(index), (group(index).end + 1).min(heights.len()));
        let lacking = heights[index..whole].iter().sum::<f64>() - left;
        // Sums of heights are not exact.
        let fits = lacking < 0.01 || shrunk(&mut pieces[group.clone()], &mut heights[group], lacking);
        if !fits && starts.last() != Some(&index) {
            starts.push(index);
            left = room;
        }
        let is_first = starts.last() == Some(&index);
        left -= if is_first { height(fonts, &pieces[index], true) } else { heights[index] };
    }
    let mut pages: Vec<Vec<Piece>> = starts.iter().rev().map(|start| pieces.split_off(*start)).collect();
    pages.reverse();
    pages
}

/// For each piece, whether it must stay on the page of the next piece: headings, notes between a heading and what it
/// announces, and pictures with all of their descriptions.
fn leads(pieces: &[Piece]) -> Vec<bool> {
    let mut leads = vec![false; pieces.len()];
    for (index, piece) in pieces.iter().enumerate() {
        leads[index] = match piece {
            Piece::Title(_) | Piece::Heading(_) | Piece::Caption(_) => true,
            // What follows describes the last of several pictures as well as the others.
            Piece::Picture { .. } => !matches!(pieces.get(index + 1), Some(Piece::Picture { .. })),
            Piece::Pictures { .. } => is_text(pieces, index + 1),
            Piece::Rows { .. } => false,
            Piece::Text(_) => {
                let announces = pieces[index + 1..].iter().find(|piece| !matches!(piece, Piece::Text(_)));
                let is_announced = index > 0
                    && leads[index - 1]
                    && matches!(pieces[index - 1], Piece::Title(_) | Piece::Heading(_) | Piece::Text(_));
                match pieces[..index].iter().rev().find(|piece| !matches!(piece, Piece::Text(_))) {
                    Some(Piece::Picture { .. } | Piece::Pictures { .. }) => is_text(pieces, index + 1),
                    _ => is_announced && announces.is_some_and(|piece| !matches!(piece, Piece::Title(_))),
                }
            }
        };
    }
    leads
}

fn is_text(pieces: &[Piece], index: usize) -> bool {
    matches!(pieces.get(index), Some(Piece::Text(_)))
}

/// Reduces the height of one picture, or of pictures side by side, among `pieces` by `by` if they remain legible.
fn shrunk(pieces: &mut [Piece], heights: &mut [f64], by: f64) -> bool {
    for (piece, known) in pieces.iter_mut().zip(heights) {
        let (Piece::Picture { height, .. } | Piece::Pictures { height, .. }) = piece else { continue };
        if by <= *height * SHRINKS_BY {
            *height -= by;
            *known -= by;
            return true;
        }
    }
    false
}

fn pieces(fonts: &Fonts, block: Block, room: f64) -> Vec<Piece> {
    match block {
        Block::Title(text) => vec![Piece::Title(text)],
        Block::Heading(text) => vec![Piece::Heading(text)],
        Block::Text(text) => vec![Piece::Text(text)],
        Block::Pictures(all) => {
            let row = |pair: &[(String, String)]| Piece::Pictures { pictures: pair.to_vec(), height: BESIDE };
            all.chunks(2).map(row).collect()
        }
        // Leaves space for a title and a heading on the same page.
        Block::Picture { name, svg, height } => {
            vec![Piece::Picture { name, svg, height: height.min(room - TITLE - HEADING) }]
        }
        Block::Table { caption, shares, head, rows } => {
            table_pieces(fonts, caption, &shares, (head, rows), Align::Left)
        }
        Block::Numbers { caption, shares, head, rows } => {
            table_pieces(fonts, caption, &shares, (head, rows), Align::Right)
        }
        Block::Columns { caption, align, keep, head, rows } => {
            let align = if align == ColumnAlign::Left { Align::Left } else { Align::Right };
            let mut all = Vec::new();
            for (index, band) in bands(fonts, (&head, &rows), keep, (TEXT, ROOM)).into_iter().enumerate() {
                if index > 0 || !caption.is_empty() {
                    all.push(Piece::Caption(caption.clone()));
                }
                all.extend(slices(fonts, &band.widths, &band.head, band.rows, align));
            }
            all
        }
    }
}

fn table_pieces(
    fonts: &Fonts,
    caption: String,
    shares: &[f64],
    (head, rows): (Vec<String>, Vec<Vec<String>>),
    align: Align,
) -> Vec<Piece> {
    let caption = (!caption.is_empty()).then_some(Piece::Caption(caption));
    let sum: f64 = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let widths: Vec<f64> = shares.iter().map(|share| share / sum * ROOM).collect();
    let rows = rows.into_iter().map(|row| row.into_iter().map(ColumnCell::from).collect()).collect();
    caption.into_iter().chain(slices(fonts, &widths, &head, rows, align)).collect()
}

/// Splits a table into slices.
fn slices(
    fonts: &Fonts,
    widths: &[f64],
    head: &[String],
    rows: Vec<Vec<ColumnCell>>,
    align: Align,
) -> Vec<Piece> {
    let heading = |(column, text): (usize, &String)| match column {
        0 => TableCell::heading(text),
        _ => TableCell::heading(text).align(align),
    };
    let heading: Vec<TableCell> = head.iter().enumerate().map(heading).collect();
    let cell = |(column, cell): (usize, ColumnCell)| match column {
        0 => TableCell::heading(cell.text),
        _ => TableCell { pale: cell.pale, ..TableCell::new(cell.text).align(align) },
    };
    let rows: Vec<Vec<TableCell>> =
        rows.into_iter().map(|row| row.into_iter().enumerate().map(cell).collect()).collect();
    let whole: f64 = rows.iter().map(|row| height_of(fonts, widths, row, (TEXT, ROW))).sum();
    let most = if whole <= SMALL_TABLE { SMALL_TABLE } else { SLICE };
    let mut all: Vec<Vec<Vec<TableCell>>> = Vec::new();
    let mut left = 0.0;
    for row in rows {
        let height = height_of(fonts, widths, &row, (TEXT, ROW));
        match all.last_mut().filter(|_| height <= left) {
            Some(slice) => slice.push(row),
            None => {
                all.push(vec![row]);
                left = most;
            }
        }
        left -= height;
    }
    let count = all.len();
    let piece = |(index, rows)| Piece::Rows {
        widths: widths.to_vec(),
        head: heading.clone(),
        rows,
        first: index == 0,
        last: index + 1 == count,
    };
    all.into_iter().enumerate().map(piece).collect()
}

/// Returns the height of a piece; a table includes its headings at its start and at the top of a page, and the gap
/// after its end.
fn height(fonts: &Fonts, piece: &Piece, on_top: bool) -> f64 {
    match piece {
        Piece::Title(_) => TITLE,
        Piece::Heading(_) => HEADING,
        Piece::Caption(_) => 20.0,
        Piece::Text(text) => fonts.wrap(text, TEXT, ROOM).len() as f64 * leading(TEXT) + 10.0,
        Piece::Rows { widths, head, rows, first, last } => {
            let shown = head_of(head, *first || on_top).into_iter().chain(rows);
            let height: f64 = shown.map(|row| height_of(fonts, widths, row, (TEXT, ROW))).sum();
            if *last { height + AFTER_TABLE } else { height }
        }
        Piece::Picture { height, .. } => *height,
        Piece::Pictures { height, .. } => *height + NAMES,
    }
}

fn head_of(head: &Vec<TableCell>, shown: bool) -> Option<&Vec<TableCell>> {
    (shown && !head.is_empty()).then_some(head)
}

fn page(
    sheet: &mut Sheet<'_>,
    pieces: Vec<Piece>,
    frame: &PageFrame<'_>,
    number: &str,
) -> Result<(), String> {
    let baseline = BOTTOM + 16.0;
    sheet.aside(|sheet| {
        sheet.line((SIDE, BOTTOM + 2.0), (SIDE + ROOM, BOTTOM + 2.0), LINE);
        sheet.text((SIDE, baseline), ROOM * 0.8, frame.footer, soft(9.5), Align::Left);
        sheet.text((SIDE + ROOM * 0.8, baseline), ROOM * 0.2, number, soft(9.5), Align::Right);
    });
    let mut y = frame.marks_of.map_or(TOP, |document| banners(sheet, document, None));
    for (index, piece) in pieces.into_iter().enumerate() {
        let on_top = index == 0;
        let height = height(sheet.fonts, &piece, on_top);
        match piece {
            Piece::Title(text) => headline(sheet, 1, y + 20.0, &text, ink(20.0).bold()),
            Piece::Heading(text) => headline(sheet, 2, y + 18.0, &text, ink(13.0).bold().colour(ACCENT)),
            Piece::Caption(text) => {
                sheet.text((SIDE, y + 14.0), ROOM, &text, TEXT.bold(), Align::Left);
            }
            Piece::Text(text) => {
                sheet.within(Tag::P, |sheet| sheet.paragraph((SIDE, y + 4.0), ROOM, &text, TEXT));
            }
            Piece::Rows { widths, head, rows, first, .. } => {
                let shown: Vec<Vec<TableCell>> =
                    head_of(&head, first || on_top).cloned().into_iter().chain(rows).collect();
                table(sheet, (SIDE, y), &widths, &shown, (TEXT, ROW));
            }
            Piece::Picture { name, svg, .. } => {
                sheet.picture(&svg, &name, Area::new(SIDE, y, ROOM, height), Align::Left)?;
            }
            Piece::Pictures { pictures, height } => pictures_beside(sheet, &pictures, y, height)?,
        }
        y += height;
    }
    if let Some(word) = frame.watermark {
        let colour = [0x5f, 0x6b, 0x7a];
        sheet.watermark(word, Area::new(SIDE, TOP, ROOM, BOTTOM - TOP), ink(110.0).bold().colour(colour));
    }
    Ok(())
}

fn headline(sheet: &mut Sheet<'_>, level: u16, baseline: f64, text: &str, style: Style) {
    let level = NonZeroU16::new(level).unwrap_or(NonZeroU16::MIN);
    sheet.within(Tag::Hn(level, None), |sheet| {
        sheet.text((SIDE, baseline), ROOM, text, style, Align::Left);
    });
}

fn pictures_beside(
    sheet: &mut Sheet<'_>,
    pictures: &[(String, String)],
    y: f64,
    height: f64,
) -> Result<(), String> {
    const GAP: f64 = 12.0;
    let count = pictures.len().max(1) as f64;
    let width = (ROOM - GAP * (count - 1.0)) / count;
    for (index, (name, svg)) in pictures.iter().enumerate() {
        let x = SIDE + (width + GAP) * index as f64;
        sheet.text((x, y + 13.0), width, name, TEXT.bold(), Align::Left);
        sheet.picture(svg, name, Area::new(x, y + 18.0, width, height), Align::Middle)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_follows_the_end_of_a_table() {
        let fonts = Fonts::load().unwrap();
        let rows: Vec<Vec<ColumnCell>> =
            (0..12).map(|row| vec!["A drive".into(), row.to_string().into()]).collect();
        let head = ["Run", "IOPS"].map(str::to_owned).into();
        let table = Block::Columns { caption: String::new(), align: ColumnAlign::Right, keep: 1, head, rows };
        let pieces = pieces(&fonts, table, 600.0);
        assert!(pieces.len() > 2, "{} slices", pieces.len());
        for (index, piece) in pieces.iter().enumerate() {
            let Piece::Rows { widths, head, rows, .. } = piece else { panic!("a table") };
            let drawn = rows.iter().chain((index == 0).then_some(head));
            let drawn: f64 = drawn.map(|row| height_of(&fonts, widths, row, (TEXT, ROW))).sum();
            let gap = height(&fonts, piece, false) - drawn;
            assert_eq!(gap > 1.0, index + 1 == pieces.len(), "slice {index}: {gap}");
        }
    }

    #[test]
    fn no_heading_is_alone_at_the_foot_of_a_page() {
        const ROOM: f64 = 600.0;
        let fonts = Fonts::load().unwrap();
        let line = height(&fonts, &Piece::Text("A note.".into()), false);
        let note = || Block::Text("A note.".into());
        let heading = || Block::Heading("IOPS".into());
        // Fits on a page with the note above and the note below, but not with the first heading.
        let height = ROOM - 1.5 * HEADING - 2.0 * line;
        let picture = Block::Picture { name: "IOPS".into(), svg: String::new(), height };
        let above = std::iter::repeat_with(note).take(((ROOM - 100.0) / line) as usize);
        let blocks = above.chain([heading(), note(), heading(), picture, note()]).collect();
        let pages = laid_out(&fonts, blocks, ROOM);
        assert!(matches!(pages[0].as_slice(), [.., Piece::Heading(_), Piece::Text(_)]));
        assert!(matches!(pages[1].as_slice(), [Piece::Heading(_), Piece::Picture { .. }, Piece::Text(_)]));
    }

    #[test]
    fn two_sections_of_one_row_of_charts_share_a_page() {
        let fonts = Fonts::load().unwrap();
        let section = || {
            let pictures = vec![("A".to_owned(), String::new()), ("B".to_owned(), String::new())];
            let text = |_| Block::Text("A sentence about the charts.".into());
            let texts = (0..2).map(text);
            [Block::Heading("IOPS".into()), text(0), Block::Pictures(pictures)].into_iter().chain(texts)
        };
        const ROOM: f64 = BOTTOM - TOP - 10.0;
        let sum: f64 = section()
            .flat_map(|block| pieces(&fonts, block, ROOM))
            .map(|piece| height(&fonts, &piece, false))
            .sum();
        assert!(2.0 * sum > ROOM, "{sum} of {ROOM}: the test needs sections that are too high");
        let pages = laid_out(&fonts, section().chain(section()).collect(), ROOM);
        assert_eq!(pages.len(), 1);
    }
}
