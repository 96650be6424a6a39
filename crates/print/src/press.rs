//! Adds drawn pages to a PDF file, with bookmarks and structure tags.

use krilla::color::rgb;
use krilla::configure::{Configuration, ConfigurationBuilder, PdfVersion};
use krilla::destination::XyzDestination;
use krilla::geom::{Path, Point, Transform};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, Stroke};
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, SpanTag, Tag, TagGroup, TagTree};
use krilla::{Document as Pdf, SerializeSettings};
use krilla_svg::{SurfaceExt as _, SvgSettings};

use crate::drawn::{Colour, DrawnPage, Line, Operation};
use crate::sheet::{HEIGHT, WIDTH};

const POINTS_PER_PIXEL: f32 = 0.75;

/// A bookmark, with the bookmarks below it.
pub(crate) struct Bookmark {
    pub title: String,
    /// Index of the page to which the bookmark leads.
    pub page: usize,
    pub inner: Vec<(String, usize)>,
}

/// The PDF file under construction.
pub(crate) struct Press {
    pdf: Pdf,
    tags: TagTree,
}

/// PDF 1.5 has everything that the pages need. In later versions, files contain a key about which Poppler prints
/// a warning.
fn configuration() -> Result<Configuration, String> {
    let built = ConfigurationBuilder::new().with_version(PdfVersion::Pdf15).finish();
    built.map_err(|_| "PDF 1.5 is not supported".to_owned())
}

impl Press {
    pub fn new() -> Result<Self, String> {
        let settings = SerializeSettings { configuration: configuration()?, ..Default::default() };
        Ok(Self { pdf: Pdf::new_with(settings), tags: TagTree::new().with_lang(Some("en".into())) })
    }

    /// Adds a page, with its structure tags.
    pub fn page(&mut self, page: &DrawnPage) -> Result<(), String> {
        let size = |pixels: f64| pixels as f32 * POINTS_PER_PIXEL;
        let settings = PageSettings::from_wh(size(WIDTH), size(HEIGHT)).ok_or("a page has no size")?;
        let mut added = self.pdf.start_page_with(settings.with_page_label(page.label.clone()));
        let mut surface = added.surface();
        surface.push_transform(&Transform::from_scale(POINTS_PER_PIXEL, POINTS_PER_PIXEL));
        let mut print = Print { surface: &mut surface, open: vec![TagGroup::new(Tag::Section)] };
        page.operations.iter().try_for_each(|operation| print.operation(operation))?;
        self.tags.push(print.open.swap_remove(0));
        surface.pop();
        surface.finish();
        added.finish();
        Ok(())
    }

    /// Completes the file.
    pub fn finish(mut self, metadata: Metadata, bookmarks: Vec<Bookmark>) -> Result<Vec<u8>, String> {
        self.pdf.set_tag_tree(self.tags);
        self.pdf.set_outline(outline(bookmarks));
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

/// A page being added.
struct Print<'s, 'd> {
    surface: &'s mut Surface<'d>,
    /// Open structure tags in reading order: the page, then the elements being drawn inside it.
    open: Vec<TagGroup>,
}

impl Print<'_, '_> {
    fn operation(&mut self, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Begin(tag) => self.open.push(TagGroup::new(tag.clone())),
            Operation::End => self.end(),
            Operation::Fill(path, colour) => self.ornament(|surface| {
                surface.set_stroke(None);
                surface.set_fill(Some(filled(*colour)));
                surface.draw_path(path);
            }),
            Operation::Stroke(path, colour) => self.stroke(path, *colour),
            Operation::Text { line, is_aside } => self.text(line, *is_aside),
            Operation::Picture { tree, alt, at, size } => {
                let content = self.surface.start_tagged(ContentTag::Other);
                self.surface.push_transform(&Transform::from_translate(at.x, at.y));
                let drawn = self.surface.draw_svg(tree, *size, SvgSettings::default());
                self.surface.pop();
                self.surface.end_tagged();
                if let Some(around) = self.open.last_mut() {
                    around
                        .push(TagGroup::with_children(Tag::Figure(Some(alt.clone())), vec![content.into()]));
                }
                return drawn.ok_or_else(|| "a chart cannot be drawn".to_owned());
            }
            Operation::Logo { image, at, size } => self.ornament(|surface| {
                surface.push_transform(&Transform::from_translate(at.x, at.y));
                surface.draw_image(image.clone(), *size);
                surface.pop();
            }),
            Operation::Watermark { line, centre } => self.watermark(line, *centre),
        }
        Ok(())
    }

    fn end(&mut self) {
        if let Some(group) = self.open.pop()
            && !group.children.is_empty()
            && let Some(around) = self.open.last_mut()
        {
            around.push(group);
        }
    }

    /// Draws lines and backgrounds, tagged as artifacts.
    fn ornament(&mut self, draw: impl FnOnce(&mut Surface<'_>)) {
        self.surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)));
        draw(self.surface);
        self.surface.end_tagged();
    }

    fn stroke(&mut self, path: &Path, [r, g, b]: Colour) {
        let stroke = Stroke { paint: rgb::Color::new(r, g, b).into(), width: 1.0, ..Stroke::default() };
        self.ornament(|surface| {
            surface.set_fill(None);
            surface.set_stroke(Some(stroke));
            surface.draw_path(path);
            surface.set_stroke(None);
        });
    }

    fn text(&mut self, line: &Line, is_aside: bool) {
        if is_aside {
            let artifact = Artifact::with_kind(ArtifactType::PaginationOther);
            self.surface.start_tagged(ContentTag::Artifact(artifact));
            self.glyphs(line);
            self.surface.end_tagged();
            return;
        }
        let content = self.surface.start_tagged(ContentTag::Span(SpanTag::empty()));
        self.glyphs(line);
        self.surface.end_tagged();
        let alone = self.open.len() == 1;
        let Some(around) = self.open.last_mut() else { return };
        if alone {
            around.push(TagGroup::with_children(Tag::P, vec![content.into()]));
        } else {
            around.push(content);
        }
    }

    fn glyphs(&mut self, line: &Line) {
        self.surface.set_stroke(None);
        self.surface.set_fill(Some(filled(line.colour)));
        self.surface.draw_glyphs(line.at, &line.glyphs, line.font.clone(), &line.text, line.size, false);
    }

    fn watermark(&mut self, line: &Line, centre: Point) {
        self.surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Watermark)));
        self.surface.push_opacity(NormalizedF32::new(0.09).unwrap_or(NormalizedF32::ONE));
        self.surface.push_transform(&Transform::from_translate(centre.x, centre.y));
        self.surface.push_transform(&Transform::from_rotate(-14.0));
        self.glyphs(line);
        (0..3).for_each(|_| self.surface.pop());
        self.surface.end_tagged();
    }
}

fn filled([r, g, b]: Colour) -> Fill {
    Fill { paint: rgb::Color::new(r, g, b).into(), ..Fill::default() }
}
