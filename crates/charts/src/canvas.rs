//! The few SVG elements that charts use.

use std::fmt::Write as _;

use crate::markup::escape;
use crate::style::{INK, Size};

/// A point in user units.
pub(crate) type Point = (f64, f64);

const FONT: &str = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif";

/// An SVG under construction.
pub(crate) struct Canvas {
    out: String,
}

/// Line style.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    pub colour: &'static str,
    pub width: f64,
    /// Dash pattern as in `stroke-dasharray`; empty for a solid line.
    pub dash: &'static str,
}

impl Stroke {
    pub const fn solid(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dash: "" }
    }

    fn attributes(self) -> String {
        let dash = match self.dash {
            "" => String::new(),
            dash => format!(r#" stroke-dasharray="{dash}""#),
        };
        format!(r#" stroke="{}" stroke-width="{}"{dash}"#, self.colour, number(self.width))
    }
}

/// Horizontal alignment of a text relative to its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Text style.
#[derive(Clone, Copy)]
pub(crate) struct Lettering {
    pub size: f64,
    pub anchor: Anchor,
    pub bold: bool,
    pub colour: &'static str,
    /// Rotation in degrees, clockwise about the point.
    pub turned: f64,
}

impl Lettering {
    pub const fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, anchor, bold: false, colour: INK, turned: 0.0 }
    }

    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub const fn colour(self, colour: &'static str) -> Self {
        Self { colour, ..self }
    }

    pub const fn turned(self, degrees: f64) -> Self {
        Self { turned: degrees, ..self }
    }
}

impl Canvas {
    /// Creates an empty picture with an accessible name (`label`) and `description`.
    pub fn new(size: Size, label: &str, description: &str) -> Self {
        Self::scaled(size, size, label, description, Some("#ffffff"))
    }

    /// Creates a picture of `size` whose coordinates extend to `layout`; transparent if `ground`, the
    /// background colour, is None.
    pub fn scaled(size: Size, layout: Size, label: &str, description: &str, ground: Option<&str>) -> Self {
        let (width, height) = (number(layout.width), number(layout.height));
        let mut out = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{}" height="{}" role="img" aria-label="{}" font-family="{FONT}" font-variant-numeric="tabular-nums">"#,
            number(size.width),
            number(size.height),
            escape(label)
        );
        let _ = write!(out, "\n<desc>{}</desc>", escape(description));
        if let Some(ground) = ground {
            let _ = write!(out, "\n<rect width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>");
        }
        Self { out }
    }

    /// Draws a finished picture at `corner`, scaled to `width`. A group is drawn faster than a nested `svg` element, which
    /// clips its content.
    pub fn inset(&mut self, svg: &str, corner: Point, width: f64) {
        let Some((head, rest)) = svg.split_once('>') else { return };
        let bounds = head.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once(' '));
        let Some(own_width) = bounds.and_then(|(width, _)| width.parse::<f64>().ok()) else { return };
        let _ = write!(
            self.out,
            "\n<g transform=\"translate({} {}) scale({:.5})\">{}</g>",
            number(corner.0),
            number(corner.1),
            width / own_width.max(1.0),
            rest.trim_end().trim_end_matches("</svg>")
        );
    }

    pub fn line(&mut self, a: Point, b: Point, stroke: Stroke) {
        let _ = write!(
            self.out,
            "\n<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>",
            number(a.0),
            number(a.1),
            number(b.0),
            number(b.1),
            stroke.attributes()
        );
    }

    /// Draws a line through the points; draws nothing for fewer than two points.
    pub fn polyline(&mut self, points: &[Point], stroke: Stroke) {
        if points.len() > 1 {
            let _ = write!(
                self.out,
                "\n<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{}/>",
                joined(points),
                stroke.attributes()
            );
        }
    }

    /// Draws several thin lines as one element, with coordinates in whole units, for background lines whose exact
    /// values do not matter. Among points with the same x, only the first, the last and the extremes are kept.
    pub fn coarse_polylines(&mut self, lines: &[Vec<Point>], stroke: Stroke) {
        let mut path = String::new();
        for line in lines.iter().filter(|line| line.len() > 1) {
            for (index, (x, y)) in coarse(line).into_iter().enumerate() {
                let _ = write!(path, "{}{x} {y}", if index == 0 { "M" } else { "L" });
            }
        }
        if !path.is_empty() {
            let _ = write!(self.out, "\n<path d=\"{path}\" fill=\"none\"{}/>", stroke.attributes());
        }
    }

    pub fn polygon(&mut self, points: &[Point], fill: &str, stroke: Stroke) {
        let _ = write!(
            self.out,
            "\n<polygon points=\"{}\" fill=\"{fill}\" stroke-linejoin=\"round\"{}/>",
            joined(points),
            stroke.attributes()
        );
    }

    pub fn rect(&mut self, corner: Point, width: f64, height: f64, fill: &str) {
        let _ = write!(
            self.out,
            "\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
            number(corner.0),
            number(corner.1),
            number(width.max(0.0)),
            number(height.max(0.0))
        );
    }

    /// Draws rectangles of one colour, given as corner, width and height, as one element.
    pub fn rects(&mut self, all: &[(Point, f64, f64)], fill: &str) {
        let mut path = String::new();
        for ((x, y), width, height) in all {
            let (width, height) = (number(width.max(0.0)), number(height.max(0.0)));
            let _ = write!(path, "M{} {}h{width}v{height}h-{width}z", number(*x), number(*y));
        }
        if !path.is_empty() {
            let _ = write!(self.out, "\n<path d=\"{path}\" fill=\"{fill}\"/>");
        }
    }

    /// Draws an invisible area that receives clicks for the surrounding group.
    pub fn touchable(&mut self, corner: Point, width: f64, height: f64) {
        let _ = write!(
            self.out,
            "\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" pointer-events=\"all\"/>",
            number(corner.0),
            number(corner.1),
            number(width.max(0.0)),
            number(height.max(0.0))
        );
    }

    pub fn circle(&mut self, centre: Point, radius: f64, fill: &str, stroke: Stroke) {
        let _ = write!(
            self.out,
            "\n<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\"{}/>",
            number(centre.0),
            number(centre.1),
            number(radius),
            stroke.attributes()
        );
    }

    pub fn text(&mut self, at: Point, content: &str, lettering: Lettering) {
        let (x, y) = (number(at.0), number(at.1));
        let anchor = match lettering.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if lettering.bold { r#" font-weight="600""# } else { "" };
        let turned = match lettering.turned {
            0.0 => String::new(),
            degrees => format!(r#" transform="rotate({} {x} {y})""#, number(degrees)),
        };
        let _ = write!(
            self.out,
            "\n<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{weight}{turned}>{}</text>",
            number(lettering.size),
            lettering.colour,
            escape(content)
        );
    }

    /// Draws a value and, after a gap that suits any font, its unit.
    pub fn text_with_unit(&mut self, at: Point, value: (&str, Lettering), unit: (&str, Lettering)) {
        self.text(at, value.0, value.1);
        if unit.0.is_empty() {
            return;
        }
        self.out.truncate(self.out.len() - "</text>".len());
        let (size, gap) = (number(unit.1.size), number(unit.1.size * 0.4));
        let _ = write!(
            self.out,
            "<tspan dx=\"{gap}\" font-size=\"{size}\" font-weight=\"400\" fill=\"{}\">{}</tspan></text>",
            unit.1.colour,
            escape(unit.0)
        );
    }

    /// Draws a group with `hint` as its tooltip.
    pub fn hinted(&mut self, hint: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.out, "\n<g><title>{}</title>", escape(hint));
        draw(self);
        self.out.push_str("</g>");
    }

    /// Draws the content that moves when a script changes the range of the axes that `attributes` describe.
    pub fn plot(&mut self, attributes: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.out, "\n<g class=\"plot\" {attributes}>");
        draw(self);
        self.out.push_str("</g>");
    }

    /// Draws a marker with `hint` as its tooltip; a script moves it without scaling it.
    pub fn dot(&mut self, at: Point, hint: &str, draw: impl FnOnce(&mut Self)) {
        let (x, y) = (number(at.0), number(at.1));
        let _ = write!(self.out, "\n<g class=\"dot\" data-at=\"{x} {y}\"><title>{}</title>", escape(hint));
        draw(self);
        self.out.push_str("</g>");
    }

    /// Draws a group that a script can find by class.
    pub fn grouped(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.out, "\n<g class=\"{class}\">");
        draw(self);
        self.out.push_str("</g>");
    }

    pub fn finish(mut self) -> String {
        self.out.push_str("\n</svg>\n");
        self.out
    }
}

/// Rounds `line` to whole units, and reduces each run of points with the same x to at most four.
fn coarse(line: &[Point]) -> Vec<(i64, i64)> {
    let rounded: Vec<(i64, i64)> = line.iter().map(|(x, y)| (x.round() as i64, y.round() as i64)).collect();
    let mut out = Vec::new();
    for column in rounded.chunk_by(|a, b| a.0 == b.0) {
        let heights = || column.iter().map(|point| point.1);
        let (Some(low), Some(high)) = (heights().min(), heights().max()) else { continue };
        let kept = [column[0].1, low, high, column[column.len() - 1].1];
        for y in kept {
            if out.last() != Some(&(column[0].0, y)) {
                out.push((column[0].0, y));
            }
        }
    }
    out
}

fn joined(points: &[Point]) -> String {
    let mut out = String::with_capacity(12 * points.len());
    for (index, (x, y)) in points.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        let _ = write!(out, "{space}{},{}", number(*x), number(*y));
    }
    out
}

/// Rounds a coordinate to a tenth of a unit: further digits would be invisible and would enlarge the golden files.
const fn number(value: f64) -> Tenths {
    Tenths(value)
}

/// A coordinate, displayed with at most one decimal.
struct Tenths(f64);

impl std::fmt::Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// A number of tenths far beyond any picture, but small enough to be exact.
        const MOST: f64 = 1e12;
        let tenths = (self.0 * 10.0).round();
        if tenths.is_nan() || tenths.abs() > MOST {
            return write!(f, "{}", tenths / 10.0);
        }
        // A report has hundreds of thousands of coordinates, so the digits are written directly. Negative zero becomes
        // zero.
        let (mut rest, tenth) = (tenths.abs() as u64 / 10, tenths.abs() as u64 % 10);
        let mut digits = [b'.'; 16];
        let mut first = digits.len();
        if tenth > 0 {
            first -= 2;
            digits[first + 1] = b'0' + tenth as u8;
        }
        while rest > 0 || first == digits.len() || digits[first] == b'.' {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        if tenths < 0.0 {
            first -= 1;
            digits[first] = b'-';
        }
        f.write_str(std::str::from_utf8(&digits[first..]).unwrap_or_default())
    }
}

/// Returns the estimated width of `text` in user units: accurate enough to reserve space, and identical on
/// every machine.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}

/// Returns the width of `text` in the widest of the usual fonts, in which capitals are wider than
/// [`text_width`] assumes.
pub(crate) fn widest_text(text: &str, size: f64) -> f64 {
    let share = |c: char| match c {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'i' | 'j' | 'l' | 'I' => 0.34,
        '-' | '(' | ')' | '/' | 'f' | 't' | 'r' => 0.42,
        'M' | 'W' | 'm' | 'w' | '%' | '…' | '@' => 1.0,
        'A'..='Z' => 0.75,
        _ => 0.64,
    };
    text.chars().map(share).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_rounded_to_tenths() {
        let small = (-40_000..40_000).map(|step| f64::from(step) * 0.037);
        let large = (0..400).map(|power| 1e-60 * 2f64.powi(power)).flat_map(|value| [value, -value]);
        let odd = [0.05, -0.05, -0.04, -0.0, 99_999_999_999.94, -100_000_000_000.0, f64::NAN, f64::INFINITY];
        for value in small.chain(large).chain(odd) {
            let rounded = (value * 10.0).round() / 10.0 + 0.0;
            assert_eq!(number(value).to_string(), rounded.to_string());
        }
    }
}
