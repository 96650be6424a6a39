//! Response times: I/Os per bin on a logarithmic axis, the confidence level on a second one.

use pts::exhibit::{ResponseTimes, Scale};
use stdx::units::grouped;

use super::canvas::{Anchor, Canvas, Lettering, Point, Stroke};
use super::ruler::Ruler;
use super::{FAINT_GRID, FIT, FRAME, GRID, INK, PALETTE, SOFT_INK, Size, marker};
use crate::markup::shortened;

const TICK: Lettering = Lettering::new(12.0, Anchor::Middle).colour(SOFT_INK);
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
/// Room for one name above the plot; names of neighbours are on rows of their own.
const NAME_ROW: f64 = 15.0;
/// What a bin of one I/O stands on, so that it can be seen.
const BELOW_ONE: f64 = 0.5;

/// The room for data: pixels of the edges and the three axes.
struct Plot {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    time: Ruler,
    ios: Ruler,
    share: Ruler,
}

impl Plot {
    fn new(times: &ResponseTimes, size: Size) -> Self {
        let top = 30.0 + NAME_ROW * times.markers.len() as f64;
        let (left, right, bottom) = (86.0, size.width - 74.0, (size.height - 52.0).max(top + 40.0));
        let end = if times.to_ms.is_finite() && times.to_ms > 0.0 { times.to_ms } else { 1.0 };
        let counts = times.bins.iter().map(|bin| bin.ios as f64);
        Self {
            left,
            top,
            right,
            bottom,
            time: Ruler::of(Scale::LinearFromZero, [end].into_iter(), ((right - left) / 80.0) as usize),
            ios: Ruler::of(Scale::Log10, counts.chain([BELOW_ONE]), ((bottom - top) / 40.0) as usize),
            share: Ruler::of(Scale::LinearFromZero, [100.0].into_iter(), 5),
        }
    }

    /// None where it lies outside the picture.
    fn at_time(&self, ms: f64) -> Option<f64> {
        let place = self.time.place(ms).filter(|place| (0.0..=1.000_001).contains(place))?;
        Some(self.left + place * (self.right - self.left))
    }

    fn height(&self, ruler: &Ruler, value: f64) -> Option<f64> {
        Some(self.bottom - ruler.place(value)? * (self.bottom - self.top))
    }
}

/// `times` as an SVG; `title` is what assistive technology calls it.
#[must_use]
pub fn response_times(times: &ResponseTimes, title: &str, size: Size) -> String {
    let plot = Plot::new(times, size);
    let mut canvas = Canvas::new(size, title, &format!("{}. {}.", title, times.caption));
    let caption = shortened(&times.caption, (size.width / (TITLE.size * 0.6)) as usize);
    canvas.text((size.width / 2.0, 16.0), &caption, TITLE);
    draw_axes(&mut canvas, &plot);
    let outside = draw_bins(&mut canvas, times, &plot);
    draw_confidence(&mut canvas, times, &plot);
    draw_markers(&mut canvas, times, &plot);
    if times.bins.is_empty() {
        let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
        canvas.text(middle, "No values", Lettering::new(16.0, Anchor::Middle).colour(SOFT_INK));
    } else if outside > 0 {
        let text = format!("{} I/Os took longer and lie outside", grouped(outside as f64, 0));
        let lettering = Lettering::new(11.0, Anchor::End).colour(SOFT_INK);
        canvas.text((plot.right, plot.bottom + 43.0), &text, lettering);
    }
    canvas.finish()
}

fn draw_axes(canvas: &mut Canvas, plot: &Plot) {
    for value in &plot.ios.minor {
        if let Some(y) = plot.height(&plot.ios, *value) {
            canvas.line((plot.left, y), (plot.right, y), Stroke::solid(FAINT_GRID, 1.0));
        }
    }
    for tick in &plot.ios.ticks {
        // Below one there is no I/O, only the foot of the bins.
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
    canvas.text((middle.0, plot.bottom + 43.0), "Response time (ms)", TITLE);
    canvas.text((18.0, middle.1), "I/Os per bin", TITLE.turned(-90.0));
    canvas.text((plot.right + 58.0, middle.1), "Confidence level (%)", TITLE.turned(90.0));
}

/// Says how many I/Os lie outside the picture.
fn draw_bins(canvas: &mut Canvas, times: &ResponseTimes, plot: &Plot) -> u64 {
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

fn draw_confidence(canvas: &mut Canvas, times: &ResponseTimes, plot: &Plot) {
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
        canvas.hinted(hint, |canvas| marker::draw(canvas, 1, *at, 3.2));
    }
}

fn draw_markers(canvas: &mut Canvas, times: &ResponseTimes, plot: &Plot) {
    for (row, (name, value)) in times.markers.iter().enumerate() {
        let y = 36.0 + NAME_ROW * row as f64;
        let name = shortened(name, 20);
        let value = value.filter(|ms| ms.is_finite());
        let Some((ms, x)) = value.and_then(|ms| Some((ms, plot.at_time(ms)?))) else {
            let text = value.map_or_else(|| "n/a".into(), |ms| format!("{} ms, outside", grouped(ms, 3)));
            let lettering = Lettering::new(12.0, Anchor::End).colour(SOFT_INK);
            canvas.text((plot.right, y), &format!("{name}: {text}"), lettering);
            continue;
        };
        canvas.line((x, y + 3.0), (x, plot.bottom), Stroke { colour: FIT, width: 1.2, dash: "5 4" });
        // Left of its line where there is no room on the right.
        let (anchor, shift) = if x > plot.right - 160.0 { (Anchor::End, -5.0) } else { (Anchor::Start, 5.0) };
        let text = format!("{name}: {} ms", grouped(ms, 3));
        canvas.text((x + shift, y), &text, Lettering::new(12.0, anchor).colour(INK));
    }
}
