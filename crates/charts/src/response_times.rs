//! Draws response times: I/Os per bin on a logarithmic axis, and the confidence level on a second axis.

use chartdata::ReadingHint;
use chartdata::exhibit::{ResponseTimes, Scale};
use stdx::units::grouped;

use crate::canvas::{Anchor, Canvas, Lettering, Point, Stroke};
use crate::marker;
use crate::markup::shortened;
use crate::reading::sentence;
use crate::ruler::Ruler;
use crate::style::{FAINT_GRID, FIT, FRAME, GRID, INK, PALETTE, SOFT_INK, Size};

const TICK: Lettering = Lettering::new(12.0, Anchor::Middle).colour(SOFT_INK);
const SMALLEST_CAPTION: f64 = 9.0;
/// Below this font size, the caption is set on two lines.
const SMALLER_CAPTION: f64 = 11.0;
const CAPTION_ROW: f64 = 16.0;
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
/// Baseline of the first row of names below a caption of one line.
const FIRST_NAME: f64 = 36.0;
/// Height of one row of names above the plot; overlapping names are placed in separate rows.
const NAME_ROW: f64 = 15.0;
const NAME: Lettering = Lettering::new(12.0, Anchor::Start).colour(INK);
/// Estimated width of a letter in a name, rounded up.
const LETTER: f64 = NAME.size * 0.62;
/// Space after a name.
const NAME_GAP: f64 = 14.0;
/// Lower end of the I/O axis, chosen so that a bin of one I/O is visible.
const BELOW_ONE: f64 = 0.5;

/// The plot area: pixels of its edges, and the three axes.
struct HistogramPlot {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    time: Ruler,
    ios: Ruler,
    share: Ruler,
    names: Vec<Name>,
    /// Baseline of the first row of names.
    names_from: f64,
}

/// Label of a marker above the plot.
struct Name {
    text: String,
    /// Horizontal position of the text, and of the marker line if there is one.
    at: f64,
    anchor: Anchor,
    line: Option<f64>,
    row: usize,
}

impl HistogramPlot {
    fn new(times: &ResponseTimes, size: Size) -> Self {
        let (left, right) = (86.0, size.width - 74.0);
        let end = if times.to_ms.is_finite() && times.to_ms > 0.0 { times.to_ms } else { 1.0 };
        let time = Ruler::of(Scale::LinearFromZero, [end].into_iter(), ((right - left) / 80.0) as usize);
        let names = names(times, &time, left, right);
        let rows = names.iter().map(|name| name.row + 1).max().unwrap_or(0);
        let captions = CAPTION_ROW * (caption_lines(times, size).len() - 1) as f64;
        let top = 30.0 + captions + NAME_ROW * rows as f64;
        let bottom = (size.height - 46.0).max(top + 40.0);
        let counts = times.bins.iter().map(|bin| bin.ios as f64);
        Self {
            left,
            top,
            right,
            bottom,
            time,
            ios: Ruler::of(Scale::Log10, counts.chain([BELOW_ONE]), ((bottom - top) / 40.0) as usize),
            share: Ruler::of(Scale::LinearFromZero, [100.0].into_iter(), 5),
            names,
            names_from: FIRST_NAME + captions,
        }
    }

    /// None if the time is outside the plot.
    fn at_time(&self, ms: f64) -> Option<f64> {
        along(&self.time, ms, self.left, self.right)
    }

    fn height(&self, ruler: &Ruler, value: f64) -> Option<f64> {
        Some(self.bottom - ruler.place(value)? * (self.bottom - self.top))
    }
}

/// Renders `times` as SVG with `title` as the accessible name.
#[must_use]
pub fn response_times(times: &ResponseTimes, title: &str, size: Size) -> String {
    let plot = HistogramPlot::new(times, size);
    let description = format!("{title}. {}. {}", times.caption, sentence(ReadingHint::ResponseTimes));
    let mut canvas = Canvas::new(size, title, &description);
    for (row, line) in caption_lines(times, size).into_iter().enumerate() {
        // A caption that is too long is set in smaller letters before it is shortened.
        let title = Lettering { size: letters(line, size).clamp(SMALLEST_CAPTION, TITLE.size), ..TITLE };
        let caption = shortened(line, (size.width / (title.size * 0.6) + 0.01) as usize);
        canvas.text((size.width / 2.0, 16.0 + CAPTION_ROW * row as f64), &caption, title);
    }
    draw_axes(&mut canvas, &plot);
    let outside = draw_bins(&mut canvas, times, &plot);
    draw_confidence(&mut canvas, times, &plot);
    draw_markers(&mut canvas, &plot);
    if times.bins.is_empty() {
        let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
        canvas.text(middle, "No values", Lettering::new(16.0, Anchor::Middle).colour(SOFT_INK));
    } else if outside > 0 {
        let text = format!("{} slower I/Os are outside the chart", grouped(outside as f64, 0));
        let lettering = Lettering::new(11.0, Anchor::End).colour(SOFT_INK);
        canvas.text((plot.right, plot.bottom + 38.0), &text, lettering);
    }
    canvas.finish()
}

/// Returns the font size at which `line` is as wide as the picture.
fn letters(line: &str, size: Size) -> f64 {
    size.width / (0.6 * line.chars().count().max(1) as f64)
}

/// Returns the caption; on two lines, the workload and its results, if it would be hard to read on one.
fn caption_lines(times: &ResponseTimes, size: Size) -> Vec<&str> {
    let caption = times.caption.as_str();
    match caption.split_once(": ").filter(|_| letters(caption, size) < SMALLER_CAPTION) {
        Some((workload, results)) => vec![workload, results],
        None => vec![caption],
    }
}

fn draw_axes(canvas: &mut Canvas, plot: &HistogramPlot) {
    for value in &plot.ios.minor {
        if let Some(y) = plot.height(&plot.ios, *value) {
            canvas.line((plot.left, y), (plot.right, y), Stroke::solid(FAINT_GRID, 1.0));
        }
    }
    for tick in &plot.ios.ticks {
        // Ticks below one I/O are not drawn: the axis extends below one only to give the bins a base.
        let Some(y) = plot.height(&plot.ios, tick.value).filter(|_| tick.value > 0.9) else { continue };
        canvas.line((plot.left, y), (plot.right, y), Stroke::solid(GRID, 1.0));
        canvas.text((plot.left - 8.0, y + 4.2), &tick.label, Lettering { anchor: Anchor::End, ..TICK });
    }
    for tick in &plot.share.ticks {
        let Some(y) = plot.height(&plot.share, tick.value) else { continue };
        canvas.line((plot.right, y), (plot.right + 5.0, y), Stroke::solid(FRAME, 0.8));
        canvas.text((plot.right + 9.0, y + 4.2), &tick.label, Lettering { anchor: Anchor::Start, ..TICK });
    }
    for tick in &plot.time.ticks {
        let Some(x) = plot.at_time(tick.value) else { continue };
        canvas.line((x, plot.bottom), (x, plot.bottom + 5.0), Stroke::solid(FRAME, 0.8));
        canvas.text((x, plot.bottom + 19.0), &tick.label, TICK);
    }
    let frame = Stroke::solid(FRAME, 1.2);
    let corners = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
    canvas.polyline(&[corners[0], corners[1], corners[2], (plot.right, plot.top)], frame);
    let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
    canvas.text((middle.0, plot.bottom + 38.0), "Response time (ms)", TITLE);
    canvas.text((18.0, middle.1), "I/Os per bin", TITLE.turned(-90.0));
    canvas.text((plot.right + 58.0, middle.1), "Confidence level (%)", TITLE.turned(90.0));
}

/// Returns the number of I/Os outside the plot.
fn draw_bins(canvas: &mut Canvas, times: &ResponseTimes, plot: &HistogramPlot) -> u64 {
    let mut outside = 0u64;
    for bin in &times.bins {
        let (Some(left), Some(top)) = (plot.at_time(bin.from_ms), plot.height(&plot.ios, bin.ios as f64))
        else {
            outside = bin.ios.saturating_add(outside);
            continue;
        };
        let right = plot.at_time(bin.to_ms).unwrap_or(plot.right);
        let hint = format!(
            "{} to {} ms: {} I/Os",
            grouped(bin.from_ms, 3),
            grouped(bin.to_ms, 3),
            grouped(bin.ios as f64, 0)
        );
        canvas.hinted(&hint, |canvas| {
            canvas.rect((left, top), (right - left).max(0.8), plot.bottom - top, PALETTE[0]);
        });
    }
    outside
}

fn draw_confidence(canvas: &mut Canvas, times: &ResponseTimes, plot: &HistogramPlot) {
    let points: Vec<(Point, String)> = times
        .confidence
        .iter()
        .filter_map(|(ms, share)| {
            let at = (plot.at_time(*ms)?, plot.height(&plot.share, *share)?);
            Some((at, format!("{share} % of the I/Os take at most {} ms", grouped(*ms, 3))))
        })
        .collect();
    let path: Vec<Point> = points.iter().map(|(at, _)| *at).collect();
    canvas.polyline(&path, Stroke::solid(PALETTE[1], 2.0));
    for (at, hint) in &points {
        canvas.hinted(hint, |canvas| marker::draw(canvas, 1, PALETTE[1], *at, 3.2));
    }
}

fn draw_markers(canvas: &mut Canvas, plot: &HistogramPlot) {
    for name in &plot.names {
        let y = plot.names_from + NAME_ROW * name.row as f64;
        if let Some(x) = name.line {
            canvas.line((x, y + 3.0), (x, plot.bottom), Stroke { colour: FIT, width: 1.2, dash: "5 4" });
        }
        let colour = if name.line.is_some() { INK } else { SOFT_INK };
        canvas.text((name.at, y), &name.text, Lettering { anchor: name.anchor, ..NAME }.colour(colour));
    }
}

/// Returns the position of `ms` between `left` and `right`; None if outside.
fn along(time: &Ruler, ms: f64, left: f64, right: f64) -> Option<f64> {
    let place = time.place(ms).filter(|place| (0.0..=1.000_001).contains(place))?;
    Some(left + place * (right - left))
}

/// Places each marker label in the first row where it overlaps neither another label nor the line that leads
/// down from a label above.
fn names(times: &ResponseTimes, time: &Ruler, left: f64, right: f64) -> Vec<Name> {
    let mut waiting: Vec<(Name, (f64, f64))> =
        times.markers.iter().map(|marker| name(marker, time, left, right)).collect();
    // Works from the outside inwards on both sides, so that the lines, which lead downwards, avoid the labels
    // below them.
    let order = |(name, _): &(Name, (f64, f64))| match (name.line, &name.anchor) {
        (Some(x), Anchor::Start) => (0, x),
        (Some(x), _) => (1, -x),
        (None, _) => (2, 0.0),
    };
    waiting.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    let mut placed: Vec<(Name, (f64, f64))> = Vec::new();
    for (mut name, span) in waiting {
        let rows = placed.iter().map(|(other, _)| other.row + 1).max().unwrap_or(0);
        let meets = |row: usize| {
            placed.iter().any(|(other, (from, to))| {
                let named = other.row == row && span.0 < to + NAME_GAP && *from < span.1 + NAME_GAP;
                let crossed = other.row < row && other.line.is_some_and(|x| span.0 < x && x < span.1);
                named || crossed
            })
        };
        name.row = (0..rows).find(|row| !meets(*row)).unwrap_or(rows);
        placed.push((name, span));
    }
    placed.into_iter().map(|(name, _)| name).collect()
}

/// Returns a marker label not yet assigned to a row, and its horizontal extent including the marker line.
fn name((name, value): &(String, Option<f64>), time: &Ruler, left: f64, right: f64) -> (Name, (f64, f64)) {
    let value = value.filter(|ms| ms.is_finite());
    let line = value.and_then(|ms| along(time, ms, left, right));
    let printed = match (value, line) {
        (Some(ms), Some(_)) => format!("{} ms", grouped(ms, 3)),
        (Some(ms), None) => format!("{} ms, outside", grouped(ms, 3)),
        (None, _) => "n/a".into(),
    };
    let text = format!("{}: {printed}", shortened(name, 20));
    let width = text.chars().count() as f64 * LETTER;
    // The label is to the left of its line if there is no space on the right.
    let (anchor, at, from) = match line {
        Some(x) if x + 5.0 + width <= right => (Anchor::Start, x + 5.0, x),
        Some(x) => (Anchor::End, x - 5.0, x - 5.0 - width),
        None => (Anchor::End, right, right - width),
    };
    let to = line.unwrap_or(right).max(if matches!(anchor, Anchor::Start) { at + width } else { at });
    (Name { text, at, anchor, line, row: 0 }, (from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_below_every_line_of_the_caption() {
        let caption = |text: &str| ResponseTimes {
            caption: text.into(),
            bins: Vec::new(),
            confidence: Vec::new(),
            markers: vec![("ART".into(), Some(0.5))],
            to_ms: 1.0,
        };
        let size = Size { width: 460.0, height: 300.0 };
        let results = "719,835.3 IOPS, 2,948.4 MB/s, MRT n/a (scaled)";
        for (text, lines) in [("short", 1.0), (&*format!("RND 4KiB W, TC 2 QD 16: {results}"), 2.0)] {
            let times = caption(text);
            assert_eq!(caption_lines(&times, size).len() as f64, lines, "{text}");
            let plot = HistogramPlot::new(&times, size);
            let last = 16.0 + CAPTION_ROW * (lines - 1.0);
            assert!(plot.names_from - NAME.size > last && plot.top > plot.names_from - NAME.size, "{text}");
        }
    }
}
