//! A plate: a chart with all the context that it needs outside its report. Above the chart are its subject,
//! device and date, followed by the caveats in boxes. Below it are a sentence about what the chart shows, and
//! its origin.

use crate::canvas::{Anchor, Canvas, Lettering, Stroke, text_width};
use crate::markup::shortened;
use crate::style::{GRID, SOFT_INK, Size};

const MARGIN: f64 = 20.0;
const TITLE: Lettering = Lettering::new(20.0, Anchor::Start).bold();
const DEVICE: Lettering = Lettering::new(14.0, Anchor::Start).bold();
const ABOUT: Lettering = Lettering::new(13.0, Anchor::Start).colour(SOFT_INK);
const MARK: Lettering = Lettering::new(13.0, Anchor::Start).bold().colour("#4c2d00");
const MARK_GROUND: &str = "#ffd98a";
const FINDING: Lettering = Lettering::new(13.0, Anchor::Start).bold();
const READING: Lettering = Lettering::new(12.0, Anchor::Start).colour(SOFT_INK);
const CREDIT: Lettering = Lettering::new(11.0, Anchor::Start).colour(SOFT_INK);
/// Height of a row of caveat labels, and of the box around each label.
const MARK_ROW: f64 = 26.0;
const MARK_BOX: f64 = 21.0;
/// Space between two boxes, and between a box and its text.
const GAP: f64 = 8.0;
/// Line height relative to the font size.
const LEADING: f64 = 1.35;

/// The context of a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plate {
    /// Title of the chart.
    pub title: String,
    /// Device with firmware.
    pub device: String,
    /// Test, demand and date.
    pub about: String,
    /// Caveats; each begins with a word in capitals.
    pub marks: Vec<String>,
    /// What the chart shows, in one sentence; empty if there is nothing to say.
    pub finding: String,
    /// How to read the chart; empty if it needs no explanation.
    pub reading: String,
    /// Program, run and journal.
    pub credit: String,
}

/// Puts `chart`, an SVG of `size`, on `plate`. Returns the picture and its size, which is as wide as the chart.
#[must_use]
pub fn plate(plate: &Plate, chart: &str, size: Size) -> (String, Size) {
    let room = size.width - 2.0 * MARGIN;
    let rows = rows_of_marks(&plate.marks, room);
    let (finding, reading) =
        (wrapped(&plate.finding, FINDING.size, room), wrapped(&plate.reading, READING.size, room));
    let head = 82.0 + MARK_ROW * rows.len() as f64 + 6.0;
    let height_of = |lines: &[String], lettering: &Lettering| lines.len() as f64 * lettering.size * LEADING;
    let foot = 14.0 + height_of(&finding, &FINDING) + height_of(&reading, &READING) + 26.0;
    let whole = Size { width: size.width, height: head + size.height + foot };
    let label = std::iter::once(&plate.title).chain(&plate.marks).cloned().collect::<Vec<_>>().join(" - ");
    let description = [&plate.device, &plate.about, &plate.finding, &plate.reading];
    let description =
        description.into_iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(". ");
    let mut canvas = Canvas::new(whole, &label, &description);
    let mut line = |y: f64, text: &str, lettering: Lettering| {
        let letters = (room / text_width("x", lettering.size)) as usize;
        canvas.text((MARGIN, y), &shortened(text, letters), lettering);
    };
    line(32.0, &plate.title, TITLE);
    line(54.0, &plate.device, DEVICE);
    line(74.0, &plate.about, ABOUT);
    for (index, row) in rows.iter().enumerate() {
        draw_marks(&mut canvas, row, 82.0 + MARK_ROW * index as f64);
    }
    canvas.inset(chart, (0.0, head), size.width);
    let mut y = head + size.height + 8.0;
    canvas.line((MARGIN, y), (size.width - MARGIN, y), Stroke::solid(GRID, 1.0));
    y += 4.0;
    for (lines, lettering) in [(finding, FINDING), (reading, READING)] {
        for text in lines {
            y += lettering.size * LEADING;
            canvas.text((MARGIN, y), &text, lettering);
        }
    }
    canvas.text((MARGIN, whole.height - 9.0), &plate.credit, CREDIT);
    (canvas.finish(), whole)
}

/// Distributes caveat labels over rows.
fn rows_of_marks(marks: &[String], room: f64) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut free = 0.0;
    let letters = ((room - 2.0 * GAP) / text_width("x", MARK.size)) as usize;
    for mark in marks {
        let mark = shortened(mark, letters);
        let width = mark_width(&mark) + GAP;
        match rows.last_mut() {
            Some(row) if width <= free => {
                free -= width;
                row.push(mark);
            }
            _ => {
                free = room - width;
                rows.push(vec![mark]);
            }
        }
    }
    rows
}

fn mark_width(mark: &str) -> f64 {
    text_width(mark, MARK.size) + 2.0 * GAP
}

fn draw_marks(canvas: &mut Canvas, marks: &[String], y: f64) {
    let mut x = MARGIN;
    for mark in marks {
        let width = mark_width(mark);
        canvas.rect((x, y), width, MARK_BOX, MARK_GROUND);
        let middle = Lettering { anchor: Anchor::Middle, ..MARK };
        canvas.text((x + width / 2.0, y + MARK_BOX * 0.7), mark, middle);
        x += width + GAP;
    }
}

/// Breaks `text` into lines that fit into `room`.
fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_between_words_and_loses_none() {
        let text = "Each line is one workload, round by round: where it is flat, the drive has settled.";
        let lines = wrapped(text, 12.0, 200.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| text_width(line, 12.0) <= 200.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert!(wrapped("", 12.0, 200.0).is_empty());
    }

    #[test]
    fn marks_use_as_many_rows_as_they_need() {
        let marks = ["SIMULATED", "NOT STEADY", "MODIFIED"].map(String::from);
        assert_eq!(rows_of_marks(&marks, 1000.0).len(), 1);
        assert_eq!(rows_of_marks(&marks, 150.0).concat(), marks);
        assert_eq!(rows_of_marks(&marks, 150.0).len(), 3);
    }
}
