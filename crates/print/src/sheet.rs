//! Drawing operations for a page.

use krilla::Data;
use krilla::geom::{Path, PathBuilder, Point, Rect, Size};
use krilla::image::Image;
use krilla::tagging::TagKind;

use crate::drawn::{Line, Operation};
use crate::fonts::{Fonts, Style};
use crate::raster;

pub use crate::drawn::Colour;

/// Width of a page in pixels: A4 landscape.
pub const WIDTH: f64 = 297.0 / 25.4 * 96.0;
/// Height of a page in pixels.
pub const HEIGHT: f64 = 210.0 / 25.4 * 96.0;

/// Colour of headings and highlights.
pub const ACCENT: Colour = [0x1f, 0x5d, 0x9b];
/// Colour of lines.
pub const LINE: Colour = [0xd5, 0xdb, 0xe2];
/// Background of table headings.
pub const PALE: Colour = [0xf4, 0xf6, 0xf9];
/// White.
pub const WHITE: Colour = [255, 255, 255];

/// Left and right margins in pixels.
pub const SIDE: f64 = 38.0;
/// Top margin in pixels.
pub const TOP: f64 = 28.0;
/// Bottom edge of the content in pixels.
pub const BOTTOM: f64 = HEIGHT - 46.0;
/// Width between the margins.
pub const ROOM: f64 = WIDTH - 2.0 * SIDE;

/// A rectangle on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge in pixels.
    pub x: f64,
    /// Top edge in pixels.
    pub y: f64,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
}

impl Area {
    /// Creates a rectangle from its left and top edges and its size.
    pub const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }
}

/// Alignment of a line of text or of a chart between two edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At the left edge.
    Left,
    /// Centred.
    Middle,
    /// At the right edge.
    Right,
}

impl Align {
    /// Returns the distance from the left edge if `spare` pixels are not used.
    const fn shift(self, spare: f64) -> f64 {
        match self {
            Self::Left => 0.0,
            Self::Middle => spare / 2.0,
            Self::Right => spare,
        }
    }
}

/// A page being drawn.
pub struct Sheet<'s> {
    /// Fonts of the text.
    pub fonts: &'s Fonts,
    operations: Vec<Operation>,
    /// True while drawing decoration such as a footer or a watermark.
    aside: bool,
}

impl<'s> Sheet<'s> {
    /// An empty page.
    pub fn new(fonts: &'s Fonts) -> Self {
        Self { fonts, operations: Vec::new(), aside: false }
    }

    /// The whole page.
    pub(crate) fn operations(self) -> Vec<Operation> {
        self.operations
    }

    /// Draws an element whose parts share a tag.
    pub fn within<T>(&mut self, tag: impl Into<TagKind>, draw: impl FnOnce(&mut Self) -> T) -> T {
        self.operations.push(Operation::Begin(tag.into()));
        let drawn = draw(self);
        self.operations.push(Operation::End);
        drawn
    }

    /// Draws decoration, which is not part of the content.
    pub fn aside<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.aside, true);
        let drawn = draw(self);
        self.aside = before;
        drawn
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, area: Area, colour: Colour) {
        self.operations.extend(rectangle(area).map(|path| Operation::Fill(path, colour)));
    }

    /// Draws the outline of a rectangle.
    pub fn frame(&mut self, area: Area, colour: Colour) {
        self.operations.extend(rectangle(area).map(|path| Operation::Stroke(path, colour)));
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        let mut builder = PathBuilder::new();
        builder.move_to(from.0 as f32, from.1 as f32);
        builder.line_to(to.0 as f32, to.1 as f32);
        self.operations.extend(builder.finish().map(|path| Operation::Stroke(path, colour)));
    }

    /// Draws one line of text with its baseline at `y`, between `x` and `x + width`; shrinks or truncates it if it is
    /// too long.
    pub fn text(&mut self, (x, y): (f64, f64), width: f64, text: &str, style: Style, align: Align) {
        let (text, style) = self.fonts.fitted(text, style, width);
        if text.is_empty() {
            return;
        }
        let shift = align.shift(width - self.fonts.width(&text, style));
        let line = self.shaped(((x + shift) as f32, y as f32), text, style);
        self.operations.push(Operation::Text { line, is_aside: self.aside });
    }

    fn shaped(&self, (x, y): (f32, f32), text: String, style: Style) -> Line {
        Line {
            at: Point::from_xy(x, y),
            glyphs: self.fonts.glyphs(&text, style),
            text,
            font: self.fonts.font(style),
            size: style.size as f32,
            colour: style.colour,
        }
    }

    /// Draws `text` on as many lines as needed, with the upper edge at `y`; returns the height.
    pub fn paragraph(&mut self, (x, y): (f64, f64), width: f64, text: &str, style: Style) -> f64 {
        let lines = self.fonts.wrap(text, style, width);
        for (index, line) in lines.iter().enumerate() {
            let baseline = y + index as f64 * leading(style) + style.size;
            self.text((x, baseline), width, line, style, Align::Left);
        }
        lines.len() as f64 * leading(style)
    }

    /// Draws a chart as large as `area` allows, with `alt` as alternative text. `align` places a chart that is narrower
    /// than the area.
    pub fn picture(&mut self, svg: &str, alt: &str, area: Area, align: Align) -> Result<(), String> {
        let tree = Box::new(raster::tree(svg)?);
        let (width, height) = (f64::from(tree.size().width()), f64::from(tree.size().height()));
        let scale = (area.width / width).min(area.height / height);
        let (width, height) = (width * scale, height * scale);
        let x = area.x + align.shift(area.width - width);
        let y = area.y + (area.height - height) / 2.0;
        let size = Size::from_wh(width as f32, height as f32).ok_or("a chart has no room")?;
        let at = Point::from_xy(x as f32, y as f32);
        self.operations.push(Operation::Picture { tree, alt: alt.to_owned(), at, size });
        Ok(())
    }

    /// Draws a logo, a PNG or JPEG file, as large as `area` allows; draws nothing if the file is damaged.
    pub fn logo(&mut self, bytes: &[u8], is_png: bool, area: Area) {
        let data: Data = bytes.to_vec().into();
        let image = if is_png { Image::from_png(data, true) } else { Image::from_jpeg(data, true) };
        let Ok(image) = image else { return };
        let (width, height) = image.size();
        let (width, height) = (f64::from(width.max(1)), f64::from(height.max(1)));
        let scale = (area.width / width).min(area.height / height);
        let Some(size) = Size::from_wh((width * scale) as f32, (height * scale) as f32) else { return };
        let y = area.y + (area.height - height * scale) / 2.0;
        let at = Point::from_xy(area.x as f32, y as f32);
        self.operations.push(Operation::Logo { image, at, size });
    }

    /// Draws a faint, slanted word across `area`.
    pub fn watermark(&mut self, word: &str, area: Area, style: Style) {
        let width = self.fonts.width(word, style);
        let (x, y) = (area.x + area.width / 2.0, area.y + area.height / 2.0);
        let at = ((-width / 2.0) as f32, (style.size * 0.35) as f32);
        let line = self.shaped(at, word.to_owned(), style);
        let centre = Point::from_xy(x as f32, y as f32);
        self.operations.push(Operation::Watermark { line, centre });
    }
}

/// Line spacing.
pub fn leading(style: Style) -> f64 {
    style.size * 1.32
}

fn rectangle(area: Area) -> Option<Path> {
    let rect = Rect::from_xywh(area.x as f32, area.y as f32, area.width as f32, area.height as f32)?;
    let mut builder = PathBuilder::new();
    builder.push_rect(rect);
    builder.finish()
}
