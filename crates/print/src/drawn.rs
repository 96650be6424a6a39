//! A page as a list of operations, which can be passed to another thread.

use krilla::geom::{Path, Point, Size};
use krilla::image::Image;
use krilla::page::PageLabel;
use krilla::tagging::TagKind;
use krilla::text::{Font, KrillaGlyph};
use resvg::usvg::Tree;

/// A colour in RGB.
pub type Colour = [u8; 3];

/// A page before it is added to the PDF.
pub(crate) struct DrawnPage {
    pub label: PageLabel,
    pub operations: Vec<Operation>,
}

/// A drawing operation; positions are in page pixels.
pub(crate) enum Operation {
    /// Begins an element whose parts share a tag.
    Begin(TagKind),
    /// Ends the innermost open element; an element without content is omitted.
    End,
    Fill(Path, Colour),
    Stroke(Path, Colour),
    /// A line of text; `is_aside` is set if it is not part of the content.
    Text {
        line: Line,
        is_aside: bool,
    },
    /// A chart with its alternative text.
    Picture {
        tree: Box<Tree>,
        alt: String,
        at: Point,
        size: Size,
    },
    Logo {
        image: Image,
        at: Point,
        size: Size,
    },
    /// A faint, slanted word; the position of its line is relative to `centre`.
    Watermark {
        line: Line,
        centre: Point,
    },
}

/// A line of text in one font.
pub(crate) struct Line {
    pub at: Point,
    pub text: String,
    pub glyphs: Vec<KrillaGlyph>,
    pub font: Font,
    pub size: f32,
    pub colour: Colour,
}
