//! The report as a PDF: vector graphics, searchable text, bookmarks, embedded fonts.
//!
//! Pages match those of the HTML report in order and numbering, and contain the same charts. Lengths are in CSS pixels,
//! 96 per inch.

mod annex;
mod body;
mod flow;
mod grid;
mod letters;
mod sheet;
mod summary;

use krilla::Document as Pdf;
use krilla::destination::XyzDestination;
use krilla::geom::{Point, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::tagging::TagTree;

use crate::Document;
use crate::content;
use crate::notes::NoteRow;
use crate::pages::{PageKind, Place, pages};
pub(crate) use flow::Block;
use letters::Letters;
use sheet::Sheet;

/// Title, page, and subordinate bookmarks.
type Bookmark = (String, usize, Vec<(String, usize)>);

/// A4 landscape.
const WIDTH: f64 = 297.0 / 25.4 * 96.0;
const HEIGHT: f64 = 210.0 / 25.4 * 96.0;
const POINTS_PER_PIXEL: f32 = 0.75;

/// The whole report.
///
/// # Errors
/// If the PDF library rejects a picture or a page; the message names it.
pub fn pdf(document: &Document) -> Result<Vec<u8>, String> {
    let letters = Letters::load()?;
    let mut pdf = Pdf::new();
    let mut bookmarks: Vec<Bookmark> = Vec::new();
    let mut meaning = TagTree::new().with_lang(Some("en".into()));
    let pages = pages(document);
    let mut further = Vec::new();
    for (index, kind) in pages.iter().enumerate() {
        let place = Place { number: index + 1, total: pages.len() };
        bookmark(&mut bookmarks, kind, index);
        on_page(&mut pdf, &letters, &mut meaning, |sheet| draw(sheet, document, kind, place, &mut further))?;
    }
    annex::draw(&mut pdf, document, further, &letters, &mut meaning, &mut bookmarks)?;
    pdf.set_tag_tree(meaning);
    pdf.set_outline(outline(bookmarks));
    pdf.set_metadata(metadata(document));
    pdf.finish().map_err(|error| format!("the PDF cannot be written: {error:?}"))
}

/// Lays out several blocks on as many pages as they need, as a separate document.
pub(crate) fn of_blocks(title: &str, footer: &str, blocks: Vec<Block>) -> Result<Vec<u8>, String> {
    let letters = Letters::load()?;
    let mut pdf = Pdf::new();
    let (mut meaning, mut bookmarks) = (TagTree::new().with_lang(Some("en".into())), Vec::new());
    let around = flow::Around { footer, numbered: "Page", first_page: 0, marks_of: None };
    flow::draw(&mut pdf, &letters, &mut meaning, &mut bookmarks, blocks, &around)?;
    pdf.set_tag_tree(meaning);
    pdf.set_outline(outline(bookmarks));
    let metadata = Metadata::new().title(title.into()).creator("Plateau".into()).language("en".into());
    pdf.set_metadata(metadata);
    pdf.finish().map_err(|error| format!("the PDF cannot be written: {error:?}"))
}

/// Adds one page, drawn by the callback, together with its structure tags.
fn on_page(
    pdf: &mut Pdf,
    letters: &Letters,
    meaning: &mut TagTree,
    draw: impl FnOnce(&mut Sheet<'_, '_>) -> Result<(), String>,
) -> Result<(), String> {
    let size = |pixels: f64| pixels as f32 * POINTS_PER_PIXEL;
    let settings = PageSettings::from_wh(size(WIDTH), size(HEIGHT)).ok_or("a page has no size")?;
    let mut page = pdf.start_page_with(settings);
    let mut surface = page.surface();
    surface.push_transform(&Transform::from_scale(POINTS_PER_PIXEL, POINTS_PER_PIXEL));
    let mut sheet = Sheet::new(&mut surface, letters);
    draw(&mut sheet)?;
    meaning.push(sheet.meaning());
    surface.pop();
    surface.finish();
    page.finish();
    Ok(())
}

/// Draws a page; the summary moves notes that do not fit to `further`.
fn draw(
    sheet: &mut Sheet<'_, '_>,
    document: &Document,
    kind: &PageKind<'_>,
    place: Place,
    further: &mut Vec<NoteRow>,
) -> Result<(), String> {
    match kind {
        // The HTML page estimates how many notes fit; here that is known.
        PageKind::Summary { .. } => *further = summary::first(sheet, document, place),
        PageKind::TestSummary(outcome) => summary::of_test(sheet, document, outcome, place),
        PageKind::Exhibits(outcome, index) => return body::page(sheet, document, outcome, *index, place),
    }
    Ok(())
}

fn bookmark(all: &mut Vec<Bookmark>, kind: &PageKind<'_>, page: usize) {
    match kind {
        PageKind::Summary { .. } => all.push(("Summary of all tests".into(), page, Vec::new())),
        PageKind::TestSummary(outcome) => {
            all.push((content::numbered(outcome), page, Vec::new()));
        }
        PageKind::Exhibits(outcome, index) => {
            if let Some((_, _, inner)) = all.last_mut() {
                inner.push((outcome.pages[*index].title.clone(), page));
            }
        }
    }
}

fn outline(bookmarks: Vec<Bookmark>) -> Outline {
    let target = |page: usize| XyzDestination::new(page, Point::from_xy(0.0, 0.0));
    let mut outline = Outline::new();
    for (title, page, inner) in bookmarks {
        let mut node = OutlineNode::new(title, target(page));
        for (title, page) in inner {
            node.push_child(OutlineNode::new(title, target(page)));
        }
        outline.push_child(node);
    }
    outline
}

/// Dates come from the journal, so that the same journal yields the same bytes.
fn metadata(document: &Document) -> Metadata {
    let metadata = Metadata::new()
        .title(content::document_title(document))
        .creator("Plateau".into())
        .language("en".into())
        .description(format!("run {}, journal SHA-256 {}", document.run.id, document.digest));
    let Some(at) = document.report_run_date else { return metadata };
    let at = at.to_zoned(jiff::tz::TimeZone::UTC);
    let date = DateTime::new(at.year().unsigned_abs())
        .month(at.month().unsigned_abs())
        .day(at.day().unsigned_abs())
        .hour(at.hour().unsigned_abs())
        .minute(at.minute().unsigned_abs())
        .second(at.second().unsigned_abs())
        .utc_offset_hour(0)
        .utc_offset_minute(0);
    metadata.creation_date(date)
}
