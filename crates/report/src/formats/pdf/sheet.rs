//! Drawing operations for a page.

use krilla::Data;
use krilla::color::rgb;
use krilla::geom::{Path, PathBuilder, Point, Rect, Size, Transform};
use krilla::image::Image;
use krilla::num::NormalizedF32;
use krilla::paint::{Fill, Stroke};
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, SpanTag, Tag, TagGroup, TagKind};
use krilla_svg::{SurfaceExt as _, SvgSettings};

use super::fonts::{Fonts, Style};
use crate::document::publication::Logo;
use crate::formats::raster;

/// A4 landscape.
pub(super) const WIDTH: f64 = 297.0 / 25.4 * 96.0;
pub(super) const HEIGHT: f64 = 210.0 / 25.4 * 96.0;

/// A colour in RGB.
pub(super) type Colour = [u8; 3];

pub(super) const ACCENT: Colour = [0x1f, 0x5d, 0x9b];
pub(super) const LINE: Colour = [0xd5, 0xdb, 0xe2];
pub(super) const PALE: Colour = [0xf4, 0xf6, 0xf9];
pub(super) const WHITE: Colour = [255, 255, 255];

/// Margins: left and right, top, bottom.
pub(super) const SIDE: f64 = 38.0;
pub(super) const TOP: f64 = 28.0;
pub(super) const BOTTOM: f64 = HEIGHT - 46.0;
/// Width between the margins.
pub(super) const ROOM: f64 = WIDTH - 2.0 * SIDE;

/// A rectangle on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }
}

/// Alignment of a line of text between two edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Middle,
    Right,
}

/// A page being drawn.
pub(super) struct Sheet<'s, 'd> {
    surface: &'s mut Surface<'d>,
    pub fonts: &'s Fonts,
    /// Open structure tags in reading order: the page, then the elements being drawn inside it.
    open: Vec<TagGroup>,
    /// True while drawing decoration such as a footer or a watermark.
    aside: bool,
}

impl<'s, 'd> Sheet<'s, 'd> {
    pub fn new(surface: &'s mut Surface<'d>, fonts: &'s Fonts) -> Self {
        Self { surface, fonts, open: vec![TagGroup::new(Tag::Section)], aside: false }
    }

    /// The structure tags of the whole page.
    pub fn tags(mut self) -> TagGroup {
        self.open.swap_remove(0)
    }

    /// Draws an element whose parts share a tag.
    pub fn within<T>(&mut self, tag: impl Into<TagKind>, draw: impl FnOnce(&mut Self) -> T) -> T {
        self.open.push(TagGroup::new(tag));
        let drawn = draw(self);
        if let Some(group) = self.open.pop()
            && !group.children.is_empty()
            && let Some(around) = self.open.last_mut()
        {
            around.push(group);
        }
        drawn
    }

    /// Draws decoration, which is not part of the content.
    pub fn aside<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.aside, true);
        let drawn = draw(self);
        self.aside = before;
        drawn
    }

    /// Draws lines and backgrounds, tagged as artifacts.
    fn ornament(&mut self, draw: impl FnOnce(&mut Surface<'d>)) {
        self.surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)));
        draw(self.surface);
        self.surface.end_tagged();
    }

    pub fn fill(&mut self, area: Area, colour: Colour) {
        let Some(path) = rectangle(area) else { return };
        self.ornament(|surface| {
            surface.set_stroke(None);
            surface.set_fill(Some(filled(colour)));
            surface.draw_path(&path);
        });
    }

    pub fn frame(&mut self, area: Area, colour: Colour) {
        let Some(path) = rectangle(area) else { return };
        self.stroke(&path, colour, 1.0);
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        let mut builder = PathBuilder::new();
        builder.move_to(from.0 as f32, from.1 as f32);
        builder.line_to(to.0 as f32, to.1 as f32);
        if let Some(path) = builder.finish() {
            self.stroke(&path, colour, 1.0);
        }
    }

    fn stroke(&mut self, path: &Path, colour: Colour, width: f32) {
        let [r, g, b] = colour;
        let stroke = Stroke { paint: rgb::Color::new(r, g, b).into(), width, ..Stroke::default() };
        self.ornament(|surface| {
            surface.set_fill(None);
            surface.set_stroke(Some(stroke));
            surface.draw_path(path);
            surface.set_stroke(None);
        });
    }

    /// Draws one line of text with its baseline at `y`, between `x` and `x + width`; shrinks or truncates it if it is
    /// too long.
    pub fn text(&mut self, (x, y): (f64, f64), width: f64, text: &str, style: Style, align: Align) {
        let (text, style) = self.fonts.fitted(text, style, width);
        if text.is_empty() {
            return;
        }
        let spare = width - self.fonts.width(&text, style);
        let shift = match align {
            Align::Left => 0.0,
            Align::Middle => spare / 2.0,
            Align::Right => spare,
        };
        let at = Point::from_xy((x + shift) as f32, y as f32);
        if self.aside {
            self.surface
                .start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::PaginationOther)));
            self.glyphs((at, &text), style);
            self.surface.end_tagged();
            return;
        }
        let content = self.surface.start_tagged(ContentTag::Span(SpanTag::empty()));
        self.glyphs((at, &text), style);
        self.surface.end_tagged();
        let alone = self.open.len() == 1;
        let Some(around) = self.open.last_mut() else { return };
        if alone {
            around.push(TagGroup::with_children(Tag::P, vec![content.into()]));
        } else {
            around.push(content);
        }
    }

    fn glyphs(&mut self, (at, text): (Point, &str), style: Style) {
        self.surface.set_stroke(None);
        self.surface.set_fill(Some(filled(style.colour)));
        let glyphs = self.fonts.glyphs(text, style);
        self.surface.draw_glyphs(at, &glyphs, self.fonts.font(style), text, style.size as f32, false);
    }

    /// Draws `text` in as many lines as needed, starting at upper edge `y`; returns the height.
    pub fn paragraph(&mut self, (x, y): (f64, f64), width: f64, text: &str, style: Style) -> f64 {
        let lines = self.fonts.wrap(text, style, width);
        for (index, line) in lines.iter().enumerate() {
            let baseline = y + index as f64 * leading(style) + style.size;
            self.text((x, baseline), width, line, style, Align::Left);
        }
        lines.len() as f64 * leading(style)
    }

    /// Draws a chart as large as `area` allows, with `alt` as alternative text.
    pub fn picture(&mut self, svg: &str, alt: &str, area: Area) -> Result<(), String> {
        let tree = raster::tree(svg)?;
        let (width, height) = (f64::from(tree.size().width()), f64::from(tree.size().height()));
        let scale = (area.width / width).min(area.height / height);
        let (width, height) = (width * scale, height * scale);
        let x = area.x + (area.width - width) / 2.0;
        let y = area.y + (area.height - height) / 2.0;
        let size = Size::from_wh(width as f32, height as f32).ok_or("a chart has no room")?;
        let content = self.surface.start_tagged(ContentTag::Other);
        self.surface.push_transform(&Transform::from_translate(x as f32, y as f32));
        let drawn = self.surface.draw_svg(&tree, size, SvgSettings::default());
        self.surface.pop();
        self.surface.end_tagged();
        if let Some(around) = self.open.last_mut() {
            around.push(TagGroup::with_children(Tag::Figure(Some(alt.to_owned())), vec![content.into()]));
        }
        drawn.ok_or_else(|| "a chart cannot be drawn".to_owned())
    }

    /// Draws a logo as large as `area` allows; draws nothing if the file is damaged.
    pub fn logo(&mut self, logo: &Logo, area: Area) {
        let data: Data = logo.bytes().to_vec().into();
        let image = if logo.is_png() { Image::from_png(data, true) } else { Image::from_jpeg(data, true) };
        let Ok(image) = image else { return };
        let (width, height) = image.size();
        let (width, height) = (f64::from(width.max(1)), f64::from(height.max(1)));
        let scale = (area.width / width).min(area.height / height);
        let Some(size) = Size::from_wh((width * scale) as f32, (height * scale) as f32) else { return };
        let y = area.y + (area.height - height * scale) / 2.0;
        self.ornament(|surface| {
            surface.push_transform(&Transform::from_translate(area.x as f32, y as f32));
            surface.draw_image(image, size);
            surface.pop();
        });
    }

    /// Draws a faint, slanted word across `area`.
    pub fn watermark(&mut self, word: &str, area: Area, style: Style) {
        let width = self.fonts.width(word, style);
        let (x, y) = (area.x + area.width / 2.0, area.y + area.height / 2.0);
        self.surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Watermark)));
        self.surface.push_opacity(NormalizedF32::new(0.09).unwrap_or(NormalizedF32::ONE));
        self.surface.push_transform(&Transform::from_translate(x as f32, y as f32));
        self.surface.push_transform(&Transform::from_rotate(-14.0));
        let at = Point::from_xy((-width / 2.0) as f32, (style.size * 0.35) as f32);
        self.glyphs((at, word), style);
        (0..3).for_each(|_| self.surface.pop());
        self.surface.end_tagged();
    }
}

/// Line spacing.
pub(super) fn leading(style: Style) -> f64 {
    style.size * 1.32
}

fn filled([r, g, b]: Colour) -> Fill {
    Fill { paint: rgb::Color::new(r, g, b).into(), ..Fill::default() }
}

fn rectangle(area: Area) -> Option<Path> {
    let rect = Rect::from_xywh(area.x as f32, area.y as f32, area.width as f32, area.height as f32)?;
    let mut builder = PathBuilder::new();
    builder.push_rect(rect);
    builder.finish()
}
