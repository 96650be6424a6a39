//! The embedded fonts: text widths, line breaks and glyphs.

use std::cell::RefCell;
use std::collections::HashMap;

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::ttf_parser;
use rustybuzz::{Direction, Script, ShapePlan, UnicodeBuffer};

use crate::raster::{BOLD, REGULAR};
use charts::markup::plain;

/// Text style.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Size in pixels.
    pub size: f64,
    /// Whether the bold face is used.
    pub bold: bool,
    /// Red, green and blue.
    pub colour: [u8; 3],
}

/// Black text of `size`.
pub const fn ink(size: f64) -> Style {
    Style { size, bold: false, colour: [0x1c, 0x24, 0x30] }
}

/// Grey text of `size`.
pub const fn soft(size: f64) -> Style {
    Style { size, bold: false, colour: [0x55, 0x60, 0x6e] }
}

impl Style {
    /// The same style in bold.
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same style in another colour.
    pub const fn colour(self, colour: [u8; 3]) -> Self {
        Self { colour, ..self }
    }
}

struct Face {
    font: Font,
    metrics: rustybuzz::Face<'static>,
    /// Widths of the ASCII characters in font units; `None` for those that the font lacks.
    ascii: [Option<u16>; 128],
    /// Shaping plans by script, cached because creating a plan takes longer than shaping a word.
    plans: RefCell<HashMap<Script, ShapePlan>>,
}

/// The regular and the bold face.
pub struct Fonts {
    regular: Face,
    bold: Face,
}

impl Face {
    fn load(bytes: &'static [u8]) -> Result<Self, String> {
        let unreadable = "an embedded font cannot be read";
        let font = Font::new(bytes.to_vec().into(), 0).ok_or(unreadable)?;
        let metrics = rustybuzz::Face::from_slice(bytes, 0).ok_or(unreadable)?;
        let ascii = std::array::from_fn(|code| advance(&metrics, char::from(code as u8)));
        Ok(Self { font, metrics, ascii, plans: RefCell::default() })
    }

    /// Width of a character in font units; `None` if the font lacks the character.
    fn advance(&self, c: char) -> Option<u16> {
        self.ascii.get(c as usize).copied().unwrap_or_else(|| advance(&self.metrics, c))
    }

    /// Width of `text` in font units.
    fn units(&self, text: &str) -> u32 {
        let missing = || self.metrics.glyph_hor_advance(ttf_parser::GlyphId(0)).unwrap_or(0);
        text.chars().map(|c| u32::from(self.advance(c).unwrap_or_else(missing))).sum()
    }

    fn pixels(&self, units: u32, size: f64) -> f64 {
        f64::from(units) * size / f64::from(self.metrics.units_per_em())
    }

    /// Returns the glyphs of a line of text.
    fn shape(&self, text: &str) -> Vec<KrillaGlyph> {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        buffer.set_direction(Direction::LeftToRight);
        let mut plans = self.plans.borrow_mut();
        let script = buffer.script();
        let plan = plans.entry(script).or_insert_with(|| {
            let known = (script != rustybuzz::script::UNKNOWN).then_some(script);
            ShapePlan::new(&self.metrics, Direction::LeftToRight, known, None, &[])
        });
        let shaped = rustybuzz::shape_with_plan(&self.metrics, plan, buffer);
        let em = self.metrics.units_per_em() as f32;
        let mut glyphs = Vec::with_capacity(shaped.len());
        let infos = shaped.glyph_infos();
        for (index, (info, position)) in infos.iter().zip(shaped.glyph_positions()).enumerate() {
            let next = infos[index..].iter().map(|next| next.cluster).find(|next| *next != info.cluster);
            let range = info.cluster as usize..next.map_or(text.len(), |next| next as usize);
            let [x_advance, x, y, y_advance] =
                [position.x_advance, position.x_offset, position.y_offset, position.y_advance]
                    .map(|units| units as f32 / em);
            glyphs.push(KrillaGlyph::new(
                GlyphId::new(info.glyph_id),
                x_advance,
                x,
                y,
                y_advance,
                range,
                None,
            ));
        }
        glyphs
    }
}

fn advance(metrics: &ttf_parser::Face<'_>, c: char) -> Option<u16> {
    let glyph = metrics.glyph_index(c)?;
    Some(metrics.glyph_hor_advance(glyph).unwrap_or(0))
}

impl Fonts {
    /// Loads the embedded fonts.
    ///
    /// # Errors
    /// Returns an error if an embedded font is damaged.
    pub fn load() -> Result<Self, String> {
        Ok(Self { regular: Face::load(REGULAR)?, bold: Face::load(BOLD)? })
    }

    fn face(&self, style: Style) -> &Face {
        if style.bold { &self.bold } else { &self.regular }
    }

    /// The font of a style.
    pub fn font(&self, style: Style) -> Font {
        self.face(style).font.clone()
    }

    /// Returns the glyphs of a line of printable text.
    pub fn glyphs(&self, text: &str, style: Style) -> Vec<KrillaGlyph> {
        self.face(style).shape(text)
    }

    /// Makes `text` printable: replaces control characters, and characters that the font lacks.
    pub fn printable(&self, text: &str, style: Style) -> String {
        let face = self.face(style);
        let known = |c: char| if face.advance(c).is_some() { c } else { '\u{fffd}' };
        plain(text).chars().map(known).collect()
    }

    /// Width of `text` in pixels.
    pub fn width(&self, text: &str, style: Style) -> f64 {
        let face = self.face(style);
        face.pixels(face.units(text), style.size)
    }

    /// Breaks `text` into lines of at most `width` pixels, at spaces that are not no-break spaces, or inside words that
    /// are wider than a line.
    pub fn wrap(&self, text: &str, style: Style, width: f64) -> Vec<String> {
        let text = self.printable(text, style);
        let face = self.face(style);
        let fits = |units: u32| face.pixels(units, style.size) <= width;
        let space = face.units(" ");
        let mut lines = Vec::new();
        let (mut line, mut taken) = (String::new(), 0);
        // Bound words are parted after all if they are wider than a line.
        let parted = |words: &str| if fits(face.units(words)) { '\0' } else { '\u{a0}' };
        let words = text.split(' ').flat_map(|words| words.split(parted(words)));
        for word in words.filter(|word| !word.is_empty()) {
            let units = face.units(word);
            let before = if line.is_empty() { 0 } else { taken + space };
            if fits(before + units) {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
                taken = before + units;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                taken = 0;
            }
            for c in word.chars() {
                let units = face.units(c.encode_utf8(&mut [0; 4]));
                if !line.is_empty() && !fits(taken + units) {
                    lines.push(std::mem::take(&mut line));
                    taken = 0;
                }
                line.push(c);
                taken += units;
            }
        }
        lines.push(line);
        // Bound words are on one line now; readers who search or copy the text expect a plain space.
        lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
    }

    /// Shortens `text` in its middle if it takes more than `most` lines of at most `width` pixels: names of devices
    /// also differ at their ends.
    pub fn shortened(&self, text: &str, style: Style, width: f64, most: usize) -> String {
        let fits = |text: &str| self.wrap(text, style, width).len() <= most;
        if fits(text) {
            return text.to_owned();
        }
        let characters: Vec<char> = text.chars().collect();
        let without_middle = |kept: usize| {
            let (first, last) = (kept.div_ceil(2), characters.len() - kept / 2);
            let first: String = characters[..first].iter().collect();
            let last: String = characters[last..].iter().collect();
            format!("{}…{}", first.trim_end(), last.trim_start())
        };
        let counts: Vec<usize> = (1..characters.len()).collect();
        without_middle(counts.partition_point(|kept| fits(&without_middle(*kept))))
    }

    /// Fits `text` on one line: reduces the font size to no less than 70 %, then truncates with an ellipsis.
    pub fn fitted(&self, text: &str, style: Style, width: f64) -> (String, Style) {
        // As in `wrap`, readers who search or copy the text expect a plain space.
        let text = self.printable(text, style).replace('\u{a0}', " ");
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
    fn a_name_that_is_too_long_keeps_its_beginning_and_its_end() {
        let fonts = Fonts::load().unwrap();
        let name = format!("/dev/disk/by-id/{}-serial-0815", "a-long-name-".repeat(40));
        for most in [1, 2] {
            let text = fonts.shortened(&name, ink(11.0), 200.0, most);
            assert!(text.starts_with("/dev/d") && text.ends_with("0815") && text.contains('…'), "{text}");
            assert_eq!(fonts.wrap(&text, ink(11.0), 200.0).len(), most, "{text}");
        }
        assert_eq!(fonts.shortened("a drive", ink(11.0), 200.0, 1), "a drive");
        assert_eq!(fonts.shortened("a drive", ink(11.0), 1.0, 1), "…");
    }

    #[test]
    fn every_letter_of_a_line_belongs_to_one_glyph_and_pairs_are_kerned() {
        let fonts = Fonts::load().unwrap();
        for text in ["AVATAR 4 KiB", "1024", "äöü µs – Ω λ", "efficient", ""] {
            let glyphs = fonts.glyphs(text, ink(10.0));
            let covered: String = glyphs.iter().map(|glyph| &text[glyph.text_range.clone()]).collect();
            assert_eq!(covered, text);
            let advance: f32 = glyphs.iter().map(|glyph| glyph.x_advance).sum();
            let width = fonts.width(text, ink(1.0));
            assert!(f64::from(advance) <= width + 1e-4, "{text}: {advance} of {width}");
            assert_eq!(
                f64::from(advance) < width - 0.05,
                text.starts_with("AV"),
                "{text}: {advance} of {width}"
            );
        }
    }

    #[test]
    fn missing_glyphs_are_replaced() {
        let fonts = Fonts::load().unwrap();
        assert_eq!(fonts.printable("a\u{4e2d}\n", ink(10.0)), "a\u{fffd} ");
    }
}
