//! The embedded fonts: text widths and line breaks.

use krilla::text::Font;

use crate::formats::raster::{BOLD, REGULAR};
use charts::markup::plain;

/// Text style.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Style {
    pub size: f64,
    pub bold: bool,
    pub colour: [u8; 3],
}

/// Black text of `size`.
pub(super) const fn ink(size: f64) -> Style {
    Style { size, bold: false, colour: [0x1c, 0x24, 0x30] }
}

/// Grey text of `size`.
pub(super) const fn soft(size: f64) -> Style {
    Style { size, bold: false, colour: [0x55, 0x60, 0x6e] }
}

impl Style {
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub const fn colour(self, colour: [u8; 3]) -> Self {
        Self { colour, ..self }
    }
}

struct Face {
    font: Font,
    metrics: ttf_parser::Face<'static>,
}

/// The regular and the bold face.
pub(super) struct Fonts {
    regular: Face,
    bold: Face,
}

impl Fonts {
    pub fn load() -> Result<Self, String> {
        let face = |bytes: &'static [u8]| {
            let font = Font::new(bytes.to_vec().into(), 0).ok_or("an embedded font cannot be read")?;
            let metrics = ttf_parser::Face::parse(bytes, 0).map_err(|error| error.to_string())?;
            Ok::<_, String>(Face { font, metrics })
        };
        Ok(Self { regular: face(REGULAR)?, bold: face(BOLD)? })
    }

    fn face(&self, style: Style) -> &Face {
        if style.bold { &self.bold } else { &self.regular }
    }

    pub fn font(&self, style: Style) -> Font {
        self.face(style).font.clone()
    }

    /// Makes `text` printable: replaces control characters, and characters that the font lacks.
    pub fn printable(&self, text: &str, style: Style) -> String {
        let metrics = &self.face(style).metrics;
        let known = |c: char| if metrics.glyph_index(c).is_some() { c } else { '\u{fffd}' };
        plain(text).chars().map(known).collect()
    }

    /// Width of `text` in pixels.
    pub fn width(&self, text: &str, style: Style) -> f64 {
        let metrics = &self.face(style).metrics;
        let advance = |c: char| {
            let glyph = metrics.glyph_index(c).unwrap_or(ttf_parser::GlyphId(0));
            f64::from(metrics.glyph_hor_advance(glyph).unwrap_or(0))
        };
        text.chars().map(advance).sum::<f64>() * style.size / f64::from(metrics.units_per_em())
    }

    /// Breaks `text` into lines of at most `width` pixels, at spaces or inside words that are wider.
    pub fn wrap(&self, text: &str, style: Style, width: f64) -> Vec<String> {
        let text = self.printable(text, style);
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let joined = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.width(&joined, style) <= width {
                line = joined;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for c in word.chars() {
                if !line.is_empty() && self.width(&line, style) + self.width(&c.to_string(), style) > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(c);
            }
        }
        lines.push(line);
        lines
    }

    /// Fits `text` on one line: reduces the font size to at least 70 %, then truncates with an ellipsis.
    pub fn fitted(&self, text: &str, style: Style, width: f64) -> (String, Style) {
        let text = self.printable(text, style);
        let natural = self.width(&text, style);
        if natural <= width {
            return (text, style);
        }
        let style = Style { size: style.size * (width / natural).max(0.7), ..style };
        if self.width(&text, style) <= width * 1.001 {
            return (text, style);
        }
        let mut cut = text;
        while !cut.is_empty() && self.width(&format!("{cut}…"), style) > width {
            cut.pop();
        }
        (format!("{cut}…"), style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_too_wide_and_no_letter_is_lost() {
        let fonts = Fonts::load().unwrap();
        let text = "Plateau writes averylongwordthatfitsnowhere and short ones, too: äöü 4KiB";
        for width in [30.0, 80.0, 300.0] {
            let lines = fonts.wrap(text, ink(12.0), width);
            assert!(lines.iter().all(|line| fonts.width(line, ink(12.0)) <= width), "{lines:?}");
            let without_spaces = |text: &str| text.replace(' ', "");
            assert_eq!(without_spaces(&lines.concat()), without_spaces(text));
        }
    }

    #[test]
    fn a_line_shrinks_first_and_is_truncated_then() {
        let fonts = Fonts::load().unwrap();
        let (text, style) = fonts.fitted("a rather long name of a drive", ink(12.0), 130.0);
        assert!(text.ends_with("drive") && style.size < 12.0);
        let (text, style) = fonts.fitted("a rather long name of a drive", ink(12.0), 60.0);
        assert!(text.ends_with('…') && fonts.width(&text, style) <= 60.0);
    }

    #[test]
    fn missing_glyphs_are_replaced() {
        let fonts = Fonts::load().unwrap();
        assert_eq!(fonts.printable("a\u{4e2d}\n", ink(10.0)), "a\u{fffd} ");
    }
}
