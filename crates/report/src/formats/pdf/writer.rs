//! The PDF file under construction: pages, bookmarks and structure tags.

use std::num::NonZeroU32;

use krilla::configure::{Configuration, ConfigurationBuilder, PdfVersion};
use krilla::destination::XyzDestination;
use krilla::geom::{Point, Transform};
use krilla::metadata::Metadata;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::{NumberingStyle, PageLabel, PageSettings};
use krilla::tagging::TagTree;
use krilla::{Document as Pdf, SerializeSettings};

use super::fonts::Fonts;
use super::sheet::{HEIGHT, Sheet, WIDTH};

const POINTS_PER_PIXEL: f32 = 0.75;

/// A PDF file to which pages are added.
pub(super) struct PdfWriter {
    pub fonts: Fonts,
    pdf: Pdf,
    tags: TagTree,
    bookmarks: Vec<Bookmark>,
    /// Label of the next page: prefix, and number if it is numbered.
    label: (String, Option<NonZeroU32>),
}

/// A bookmark, with those below it.
struct Bookmark {
    title: String,
    /// Index of the page to which the bookmark leads.
    page: usize,
    inner: Vec<(String, usize)>,
}

/// PDF 1.5 has everything that the pages need. Files of later versions contain a key that makes Poppler print
/// a warning.
fn configuration() -> Result<Configuration, String> {
    let built = ConfigurationBuilder::new().with_version(PdfVersion::Pdf15).finish();
    built.map_err(|_| "PDF 1.5 is not supported".to_owned())
}

impl PdfWriter {
    pub fn new() -> Result<Self, String> {
        let tags = TagTree::new().with_lang(Some("en".into()));
        Ok(Self {
            fonts: Fonts::load()?,
            pdf: Pdf::new_with(SerializeSettings { configuration: configuration()?, ..Default::default() }),
            tags,
            bookmarks: Vec::new(),
            label: (String::new(), Some(NonZeroU32::MIN)),
        })
    }

    /// Labels the following pages as viewers show them: with `prefix`, and numbered from 1 if `is_numbered`.
    pub fn label(&mut self, prefix: &str, is_numbered: bool) {
        self.label = (prefix.to_owned(), is_numbered.then_some(NonZeroU32::MIN));
    }

    /// Adds a bookmark to the page of this index.
    pub fn bookmark(&mut self, title: String, page: usize) {
        self.bookmarks.push(Bookmark { title, page, inner: Vec::new() });
    }

    /// Adds a bookmark under the last bookmark.
    pub fn inner_bookmark(&mut self, title: String, page: usize) {
        match self.bookmarks.last_mut() {
            Some(outer) => outer.inner.push((title, page)),
            None => self.bookmark(title, page),
        }
    }

    /// Adds one page, drawn by the callback, with its structure tags.
    pub fn page(
        &mut self,
        draw: impl FnOnce(&mut Sheet<'_, '_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let size = |pixels: f64| pixels as f32 * POINTS_PER_PIXEL;
        let settings = PageSettings::from_wh(size(WIDTH), size(HEIGHT)).ok_or("a page has no size")?;
        let (prefix, number) = &mut self.label;
        let style = number.map(|_| NumberingStyle::Arabic);
        let label = PageLabel::new(style, (!prefix.is_empty()).then(|| prefix.clone()), *number);
        *number = number.and_then(|number| number.checked_add(1));
        let settings = settings.with_page_label(label);
        let mut page = self.pdf.start_page_with(settings);
        let mut surface = page.surface();
        surface.push_transform(&Transform::from_scale(POINTS_PER_PIXEL, POINTS_PER_PIXEL));
        let mut sheet = Sheet::new(&mut surface, &self.fonts);
        draw(&mut sheet)?;
        self.tags.push(sheet.tags());
        surface.pop();
        surface.finish();
        page.finish();
        Ok(())
    }

    /// Completes the file.
    pub fn finish(mut self, metadata: Metadata) -> Result<Vec<u8>, String> {
        self.pdf.set_tag_tree(self.tags);
        self.pdf.set_outline(outline(self.bookmarks));
        self.pdf.set_metadata(metadata);
        self.pdf.finish().map_err(|error| format!("the PDF cannot be written: {error:?}"))
    }
}

fn outline(bookmarks: Vec<Bookmark>) -> Outline {
    let target = |page: usize| XyzDestination::new(page, Point::from_xy(0.0, 0.0));
    let mut outline = Outline::new();
    for Bookmark { title, page, inner } in bookmarks {
        let mut node = OutlineNode::new(title, target(page));
        for (title, page) in inner {
            node.push_child(OutlineNode::new(title, target(page)));
        }
        outline.push_child(node);
    }
    outline
}
