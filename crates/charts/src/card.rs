//! A card shows the result of a run as one picture to share, together with all its caveats.

use crate::canvas::{Anchor, Canvas, Lettering, Stroke, text_width, widest_text};
use crate::markup::shortened;
use crate::style::Size;

/// Colours of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on white.
    Light,
    /// Light text on a dark background.
    Dark,
    /// Dark text without a background.
    Transparent,
}

/// Colour of a statement, from best to worst; the statement's text says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The result is good.
    Good,
    /// The result is neither good nor bad, because it was not evaluated.
    Open,
    /// The result is valid with reservations.
    Doubtful,
    /// The result is not valid.
    Bad,
}

/// A figure on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFigure {
    /// What was measured.
    pub name: String,
    /// The value as printed.
    pub value: String,
    /// Unit of the value; empty if there is no value.
    pub unit: String,
    /// Spread of the value, or why the value is not valid.
    pub note: String,
    /// Whether the value is a valid result; other values are drawn differently.
    pub is_valid: bool,
}

/// The content of a card.
#[derive(Debug, Clone)]
pub struct Card {
    /// Name of the device.
    pub device: String,
    /// Properties of the device, on one line.
    pub about: String,
    /// Caveats that apply to every figure, in capitals.
    pub marks: Vec<String>,
    /// Verdicts.
    pub headlines: Vec<(Tone, String)>,
    /// Up to six figures.
    pub figures: Vec<CardFigure>,
    /// A chart: its title, its SVG and its size.
    pub picture: Option<(String, String, Size)>,
    /// Origin: program, run, date.
    pub credit: String,
}

/// Colours of a theme.
struct Colours {
    ground: Option<&'static str>,
    ink: &'static str,
    soft: &'static str,
    line: &'static str,
    /// Colours in the order of [`Tone`].
    tones: [&'static str; 4],
}

const MARK_INK: &str = "#4c2d00";
const MARK_GROUND: &str = "#ffd98a";
const PANEL: &str = "#ffffff";

impl Theme {
    const fn colours(self) -> Colours {
        match self {
            Self::Dark => Colours {
                ground: Some("#12181f"),
                ink: "#eef2f6",
                soft: "#a9b4c0",
                line: "#3a4552",
                tones: ["#63c592", "#a9b4c0", "#e8b45a", "#ff8a8f"],
            },
            Self::Light | Self::Transparent => Colours {
                ground: if matches!(self, Self::Light) { Some("#ffffff") } else { None },
                ink: "#1c2430",
                soft: "#55606e",
                line: "#d5dbe2",
                tones: ["#1d6b41", "#55606e", "#7a5200", "#a31722"],
            },
        }
    }
}

impl Colours {
    const fn tone(&self, tone: Tone) -> &'static str {
        self.tones[tone as usize]
    }
}

/// Height of the layout; a larger card is the same layout, magnified.
const HEIGHT: f64 = 630.0;
const MARGIN: f64 = 44.0;

/// Draws `card` in `size`.
#[must_use]
pub fn card(card: &Card, size: Size, theme: Theme) -> String {
    let colours = theme.colours();
    let layout = Size { width: size.width * HEIGHT / size.height, height: HEIGHT };
    let description = card
        .figures
        .iter()
        .map(|figure| format!("{} {} {}", figure.name, figure.value, figure.unit))
        .collect::<Vec<_>>()
        .join("; ");
    let label = [std::slice::from_ref(&card.device), &card.marks].concat().join(" - ");
    let mut canvas = Canvas::scaled(size, layout, &label, &description, colours.ground);
    let top = marks(&mut canvas, &card.marks, layout.width);
    let text = |size: f64| Lettering::new(size, Anchor::Start).colour(colours.ink);
    let room = layout.width - 2.0 * MARGIN;
    let device = shortened(&card.device, 60);
    // A long name is not truncated but set in a smaller font.
    let letters = 44.0_f64.min(room / text_width(&device, 1.0));
    canvas.text((MARGIN, top + 52.0), &device, text(letters).bold());
    canvas.text((MARGIN, top + 84.0), &fitted(&card.about, 20.0, room), text(20.0).colour(colours.soft));
    let y = headlines(&mut canvas, card, &colours, top + 104.0, room);
    let below = HEIGHT - MARGIN - 18.0;
    let split = if card.picture.is_some() { room * 0.52 } else { room };
    figures(&mut canvas, &card.figures, &colours, (MARGIN, y), (split, below - y));
    if let Some((title, svg, picture)) = &card.picture {
        let (x, width) = (MARGIN + split + 24.0, room - split - 24.0);
        let scale = (width / picture.width).min((below - y - 30.0) / picture.height);
        let (width, height) = (picture.width * scale, picture.height * scale);
        let (title, letters) = one_line(title, 17.0, width);
        canvas.text((x, y + 17.0), &title, text(letters).bold());
        canvas.rect((x, y + 28.0), width, height, PANEL);
        canvas.inset(svg, (x, y + 28.0), width);
    }
    let credit = fitted(&card.credit, 16.0, room);
    canvas.text((MARGIN, HEIGHT - 24.0), &credit, text(16.0).colour(colours.soft));
    canvas.finish()
}

/// Shortens `text` to fit into `width`.
fn fitted(text: &str, size: f64, width: f64) -> String {
    shortened(text, (width / text_width("x", size)).max(1.0) as usize)
}

/// Fits `text` into `width`: in smaller letters than `size` if necessary, and shortened if these are still too wide.
/// Returns the text and the size of its letters.
fn one_line(text: &str, size: f64, width: f64) -> (String, f64) {
    let letters = size.min(0.99 * width / text_width(text, 1.0)).max(0.75 * size);
    (fitted(text, letters, width), letters)
}

/// Breaks `text` into at most two lines of `width`, in smaller letters than `size` if it would have to be shortened.
/// Returns the lines and the size of their letters.
fn two_lines(text: &str, size: f64, width: f64) -> (Vec<String>, f64) {
    let is_whole = |lines: &[String]| lines.join(" ").chars().count() == text.chars().count();
    let usual = lines(text, size, width);
    if is_whole(&usual) { (usual, size) } else { (lines(text, 0.87 * size, width), 0.87 * size) }
}

/// Breaks `text` into at most two lines of `width`.
fn lines(text: &str, size: f64, width: f64) -> Vec<String> {
    // The estimate of the width is too large for running text.
    let most = (width / text_width("x", size * 0.88)).max(1.0) as usize;
    if text.chars().count() <= most {
        return vec![text.to_owned()];
    }
    let mut first = String::new();
    let mut rest = text.split(' ').peekable();
    while let Some(word) = rest.peek() {
        if !first.is_empty() && first.chars().count() + 1 + word.chars().count() > most {
            break;
        }
        first = format!("{first} {word}").trim_start().to_owned();
        rest.next();
    }
    let second = rest.collect::<Vec<_>>().join(" ");
    [first, second].iter().filter(|line| !line.is_empty()).map(|line| shortened(line, most)).collect()
}

/// Draws the marks in a band across the card; returns the upper edge of the area below.
fn marks(canvas: &mut Canvas, marks: &[String], width: f64) -> f64 {
    const BAND: f64 = 46.0;
    const LETTERS: f64 = 24.0;
    /// Below this size, the marks are set in two lines.
    const SMALLEST: f64 = 19.0;
    /// Marks are capitals, which are wider than other letters.
    const CAPITALS: f64 = 1.08;
    if marks.is_empty() {
        return 16.0;
    }
    let room = width - 2.0 * MARGIN;
    let all = marks.join("  ·  ");
    let size = LETTERS.min(room / (text_width(&all, 1.0) * CAPITALS));
    let (size, rows) =
        if size < SMALLEST { (SMALLEST, lines(&all, SMALLEST * CAPITALS, room)) } else { (size, vec![all]) };
    let band = BAND + 24.0 * (rows.len() - 1) as f64;
    canvas.rect((0.0, 0.0), width, band, MARK_GROUND);
    for (row, text) in (0..).zip(&rows) {
        let lettering = Lettering::new(size, Anchor::Start).bold().colour(MARK_INK);
        canvas.text((MARGIN, 32.0 + 24.0 * f64::from(row)), text, lettering);
    }
    band + 8.0
}

/// Draws the verdicts side by side, on as many lines as they need; returns the upper edge of the next element.
fn headlines(canvas: &mut Canvas, card: &Card, colours: &Colours, top: f64, room: f64) -> f64 {
    const SIZE: f64 = 20.0;
    const ROW: f64 = 34.0;
    let (mut x, mut y) = (MARGIN, top);
    for (tone, text) in &card.headlines {
        let text = fitted(text, SIZE, room - 28.0);
        let width = text_width(&text, SIZE) + 28.0;
        if x > MARGIN && x + width > MARGIN + room {
            (x, y) = (MARGIN, y + ROW + 6.0);
        }
        let colour = colours.tone(*tone);
        let corners = [(x, y), (x + width, y), (x + width, y + ROW), (x, y + ROW)];
        canvas.polygon(&corners, "none", Stroke::solid(colour, 1.5));
        let lettering = Lettering::new(SIZE, Anchor::Middle).bold().colour(colour);
        canvas.text((x + width / 2.0, y + 24.0), &text, lettering);
        x += width + 12.0;
    }
    y + ROW + 22.0
}

fn figures(
    canvas: &mut Canvas,
    figures: &[CardFigure],
    colours: &Colours,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
) {
    const GAP: f64 = 14.0;
    /// Height of a capital letter as a share of the font size.
    const CAPITAL: f64 = 0.73;
    let columns = if width > 800.0 { 3 } else { 2 };
    let rows = figures.len().div_ceil(columns).max(1);
    let cell = (width - GAP * (columns - 1) as f64) / columns as f64;
    let tall = ((height - GAP * (rows - 1) as f64) / rows as f64).min(130.0);
    for (index, figure) in figures.iter().enumerate() {
        let x = left + (cell + GAP) * (index % columns) as f64;
        let y = top + (tall + GAP) * (index / columns) as f64;
        let corners = [(x, y), (x + cell, y), (x + cell, y + tall), (x, y + tall)];
        let frame = Stroke::solid(colours.line, 1.5);
        let frame = if figure.is_valid { frame } else { Stroke { dash: "6 4", ..frame } };
        canvas.polygon(&corners, "none", frame);
        let soft = |size| Lettering::new(size, Anchor::Start).colour(colours.soft);
        let room = cell - 24.0;
        let (names, letters) = two_lines(&figure.name, 15.0, room);
        for (line, name) in (0..).zip(&names) {
            canvas.text((x + 12.0, y + 22.0 + 17.0 * f64::from(line)), name, soft(letters));
        }
        let share = if names.len() > 1 { 0.7 } else { 0.62 };
        // The value stays below the name even if the frame is low.
        let below = (tall * share - 11.0 - 17.0 * names.len() as f64) / CAPITAL;
        let fits = room / (text_width(&figure.value, 1.0) + text_width(&figure.unit, 0.5));
        let letters = 38.0_f64.min(fits).min(below).max(14.0);
        let strong = Lettering::new(letters, Anchor::Start);
        let strong =
            if figure.is_valid { strong.bold().colour(colours.ink) } else { strong.colour(colours.soft) };
        let baseline = y + tall * share;
        canvas.text_with_unit(
            (x + 12.0, baseline),
            (&figure.value, strong),
            (&figure.unit, soft(letters * 0.48)),
        );
        let (note, letters) = one_line(&figure.note, 15.0, room);
        canvas.text((x + 12.0, y + tall - 12.0), &note, soft(letters));
    }
}

/// Draws a badge: `left` on grey, `right` on the colour of `tone`.
#[must_use]
pub fn badge(left: &str, right: &str, tone: Tone) -> String {
    const LETTERS: f64 = 11.0;
    const TALL: f64 = 20.0;
    /// Bold letters are wider than others.
    const BOLD: f64 = 1.08;
    // The font is unknown, and no letter may touch the edge of the badge.
    let wide = |text: &str| widest_text(text, LETTERS) + 14.0;
    let (a, b) = (wide(left), widest_text(right, LETTERS) * BOLD + 14.0);
    let size = Size { width: a + b, height: TALL };
    let label = format!("{left}: {right}");
    let mut canvas = Canvas::scaled(size, size, &label, &label, None);
    canvas.rect((0.0, 0.0), a, TALL, "#44505c");
    canvas.rect((a, 0.0), b, TALL, Theme::Light.colours().tone(tone));
    let white = Lettering::new(LETTERS, Anchor::Middle).colour("#ffffff");
    canvas.text((a / 2.0, 14.0), left, white);
    canvas.text((a + b / 2.0, 14.0), right, white.bold());
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three rows of figures below two rows of verdicts leave little height for each.
    #[test]
    fn values_do_not_touch_names_of_two_lines() {
        let figure = CardFigure {
            name: "A: WSAT RND 4KiB W, mean of the last 30 minutes, not judged".into(),
            value: "32,185.7".into(),
            unit: "IOPS".into(),
            note: "others: -96.7 to +12,491.5 %".into(),
            is_valid: true,
        };
        let wide = "a verdict of many words, in a frame of its own".to_owned();
        let content = Card {
            device: "Device".into(),
            about: "About".into(),
            marks: vec!["SIMULATED".into()],
            headlines: vec![(Tone::Open, wide.clone()), (Tone::Open, wide)],
            figures: vec![figure; 6],
            picture: Some((
                "Picture".into(),
                "<svg viewBox=\"0 0 1 1\"></svg>".into(),
                Size { width: 1.0, height: 1.0 },
            )),
            credit: "Credit".into(),
        };
        let svg = card(&content, Size { width: 1600.0, height: 900.0 }, Theme::Light);
        let number = |tag: &str, name: &str| -> f64 {
            let value = tag.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.and_then(|value| value.parse().ok()).expect("a number")
        };
        let places = |text: &str| -> Vec<(f64, f64)> {
            let tags = svg.split("<text").skip(1).filter(|tag| tag.contains(text));
            tags.map(|tag| (number(tag, "y"), number(tag, "font-size"))).collect()
        };
        let (names, values) = (places("minutes, not judg"), places(">32,185.7<"));
        assert_eq!((names.len(), values.len()), (6, 6), "{svg}");
        assert_eq!(places("not judged<").len(), 6, "smaller letters instead of an ellipsis: {svg}");
        assert_eq!(places(">others: -96.7 to +12,491.5 %<").len(), 6, "{svg}");
        for ((name, _), (value, size)) in names.iter().zip(&values) {
            assert!(value - size * 0.73 >= name + 4.0, "{names:?} {values:?}");
        }
    }

    #[test]
    fn long_texts_stay_within_the_card() {
        let long = "x".repeat(300);
        let figure = CardFigure {
            name: long.clone(),
            value: "123,456,789.0".into(),
            unit: "MB/s".into(),
            note: long.clone(),
            is_valid: true,
        };
        let content = Card {
            device: long.clone(),
            about: long.clone(),
            marks: vec![long.clone()],
            headlines: vec![(Tone::Bad, long.clone()), (Tone::Good, long.clone())],
            figures: vec![figure; 6],
            picture: None,
            credit: long,
        };
        let svg = card(&content, Size { width: 1200.0, height: 630.0 }, Theme::Dark);
        let longest =
            svg.split('>').filter_map(|part| part.strip_suffix("</text")).map(|t| t.chars().count()).max();
        assert!(longest.is_some_and(|count| count < 130), "{longest:?}");
        assert!(svg.contains('…'));
    }
}
