//! The report as a PDF: vector graphics, searchable text, bookmarks, embedded fonts. Each module draws one
//! kind of page, on a sheet that measures and places text.
//!
//! Pages match the pages of the HTML report in order and numbering, and contain the same charts. Lengths are
//! in CSS pixels, 96 per inch.

mod annex;
mod bands;
mod body;
mod cover;
pub(crate) mod flow;
mod summary;

use krilla::metadata::{DateTime, Metadata};

use super::format::{Format, Make};
use crate::document::contents::Document;
use crate::pages::list::{PageKind, PageNumber, pages};
use crate::pages::notes::NoteRow;
use crate::pages::{cover as cover_text, titles};
use flow::{Block, PageFrame};
use print::sheet::Sheet;
use print::writer::PdfWriter;

/// The PDF format.
pub(super) const FORMAT: Format = Format {
    name: "pdf",
    about: "the same pages as a PDF: vector graphics, searchable text, bookmarks",
    extensions: &["pdf"],
    make: Make::File(|source| pdf(source.document)),
};

/// Returns the whole report.
///
/// # Errors
/// Returns an error if the PDF library rejects a picture or a page; the message says which.
pub fn pdf(document: &Document) -> Result<Vec<u8>, String> {
    let mut writer = PdfWriter::new()?;
    writer.bookmark(cover_text::TITLE.into(), 0);
    writer.label("Cover", false);
    writer.page(|sheet| cover::page(sheet, document))?;
    writer.label("", true);
    let pages = pages(document);
    let mut further = Vec::new();
    for (index, kind) in pages.iter().enumerate() {
        let number = PageNumber { current: index + 1, total: pages.len() };
        // The cover precedes page 1.
        bookmark(&mut writer, kind, number.current);
        writer.page(|sheet| draw(sheet, document, kind, number, &mut further))?;
    }
    annex::draw(&mut writer, document, further)?;
    writer.finish(metadata(document))
}

/// Creates a separate document with several blocks, on as many pages as they need.
///
/// # Errors
/// Returns an error if the PDF library rejects a picture or a page; the message says which.
pub fn of_blocks(
    title: &str,
    footer: &str,
    watermark: Option<&str>,
    blocks: Vec<Block>,
) -> Result<Vec<u8>, String> {
    let mut writer = PdfWriter::new()?;
    let frame = PageFrame { footer, numbered: "Page", first_page: 0, marks_of: None, watermark };
    flow::draw(&mut writer, blocks, &frame)?;
    writer.finish(Metadata::new().title(title.into()).creator("Plateau".into()).language("en".into()))
}

/// Draws a page. The summary page stores the notes that do not fit on it in `further`.
fn draw(
    sheet: &mut Sheet<'_>,
    document: &Document,
    kind: &PageKind<'_>,
    number: PageNumber,
    further: &mut Vec<NoteRow>,
) -> Result<(), String> {
    match kind {
        // The HTML page has to estimate how many notes fit; here the number is known.
        PageKind::Summary { .. } => *further = summary::first(sheet, document, number),
        PageKind::TestSummary(outcome) => summary::of_test(sheet, document, outcome, number),
        PageKind::Exhibits(outcome, index) => return body::page(sheet, document, outcome, *index, number),
    }
    Ok(())
}

fn bookmark(writer: &mut PdfWriter, kind: &PageKind<'_>, page: usize) {
    match kind {
        PageKind::Summary { .. } => writer.bookmark(titles::ALL_TESTS.into(), page),
        PageKind::TestSummary(outcome) => writer.bookmark(titles::numbered(outcome), page),
        PageKind::Exhibits(outcome, index) => {
            writer.inner_bookmark(outcome.pages[*index].title.clone(), page);
        }
    }
}

/// Dates come from the journal, so that the same journal yields the same bytes.
fn metadata(document: &Document) -> Metadata {
    let metadata = Metadata::new()
        .title(titles::document_title(document))
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
