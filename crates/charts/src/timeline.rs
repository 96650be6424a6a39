//! Stacked panels over a common time axis: simultaneous events are on the same vertical line.

use chartdata::exhibit::Scale;

use crate::canvas::{Anchor, Canvas, Lettering, Point, Stroke, widest_text};
use crate::heat_map::{self, HeatColumn};
use crate::marker;
use crate::markup::shortened;
use crate::panel_area::{LEFT, PanelArea};
use crate::ruler::Ruler;
use crate::style::{FIT, FRAME, GRID, SOFT_INK, Size, colour, hinted};

const TICK: Lettering = Lettering::new(11.0, Anchor::Middle).colour(SOFT_INK);
const TITLE: Lettering = Lettering::new(12.0, Anchor::Start).bold();
/// Width of the legend on the right.
const KEYS: f64 = 150.0;
const KEY_CHARACTERS: usize = 17;
const KEY_ROW: f64 = 15.0;
/// Height of a legend entry above a panel on a narrow screen, large enough for a finger.
const NARROW_KEY_ROW: f64 = 22.0;
/// Right margin of a picture for a narrow screen, for half of the last tick's label.
const NARROW_RIGHT: f64 = 14.0;
const TITLE_ROW: f64 = 18.0;
const GAP: f64 = 7.0;
const FOOT: f64 = 40.0;
/// Height of low panels, and maximum height of tall panels.
const LOW: f64 = 44.0;
const HIGH: f64 = 190.0;
/// Maximum total height, which fits on a landscape sheet with some banners at the top.
const MOST: f64 = 540.0;
/// Minimum distance between the markers of a curve; closer markers would obscure the line.
const MARKERS_APART: f64 = 14.0;

/// Below this length, ticks in minutes would be fractions, so the axis is in seconds.
const SHORT_MINUTES: f64 = 3.0;

/// Unit of the time axis.
#[derive(Clone, Copy)]
struct TimeUnit {
    one: &'static str,
    many: &'static str,
    per_minute: f64,
}

const MINUTES: TimeUnit = TimeUnit { one: "minute", many: "minutes", per_minute: 1.0 };
const SECONDS: TimeUnit = TimeUnit { one: "second", many: "seconds", per_minute: 60.0 };

impl TimeUnit {
    const fn of(line: &TimeLine) -> Self {
        if line.to_minutes > 0.0 && line.to_minutes < SHORT_MINUTES { SECONDS } else { MINUTES }
    }

    /// Returns a time in words, such as `minute 12.5`.
    fn moment(self, minute: f64) -> String {
        format!("{} {}", self.one, hinted(minute * self.per_minute))
    }
}

/// The data of a timeline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeLine {
    /// Right end of the axis in minutes; the left end is 0.
    pub to_minutes: f64,
    /// Minutes at which the run was interrupted.
    pub interruptions: Vec<f64>,
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
}

/// One quantity over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Name with unit.
    pub title: String,
    /// Values to draw.
    pub content: Content,
}

/// Contents of a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Values over time, in a tall panel.
    Course(Curves),
    /// Values over time, in a low panel.
    Strip(Curves),
    /// A heat map of response times in ms.
    Heat(Vec<HeatColumn>),
}

/// Curves that share a vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// Scale of the vertical axis.
    pub scale: Scale,
    /// Values that the axis includes even if they do not occur.
    pub room_for: Vec<f64>,
    /// One entry per curve.
    pub strands: Vec<Strand>,
}

/// A curve that may have gaps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Strand {
    /// Name, shown in the legend if there are several curves.
    pub name: String,
    /// Pieces of the curve, each a list of points (minutes, value) to join; there is no data between pieces.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

impl TimeLine {
    /// Returns the size of the picture.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size_within(MOST)
    }

    fn size_within(&self, most: f64) -> Size {
        let panels: f64 = self.heights(most).iter().map(|height| TITLE_ROW + height + GAP).sum();
        Size { width: Size::DEFAULT.width, height: panels + FOOT }
    }

    /// Returns the size of the picture for a narrow screen, where the legend of a panel is above the panel.
    fn narrow_size(&self) -> Size {
        let keys: f64 = self.panels.iter().map(Panel::narrow_keys).sum();
        Size { width: Size::NARROW.width, height: self.size().height + keys }
    }

    /// Returns the heights of the panels in a picture of at most `most` pixels, if they can be that low.
    fn heights(&self, most: f64) -> Vec<f64> {
        let strips = self.panels.iter().filter(|panel| panel.is_strip()).count();
        let large = (self.panels.len() - strips).max(1);
        let taken = self.panels.len() as f64 * (TITLE_ROW + GAP) + strips as f64 * LOW + FOOT;
        let rest = ((most - taken) / large as f64).clamp(LOW * 1.5, HIGH);
        self.panels.iter().map(|panel| if panel.is_strip() { LOW } else { rest }).collect()
    }
}

impl Panel {
    fn is_strip(&self) -> bool {
        matches!(self.content, Content::Strip(_))
    }

    /// Returns the height of the legend above the panel on a narrow screen.
    fn narrow_keys(&self) -> f64 {
        match &self.content {
            Content::Course(curves) | Content::Strip(curves) if curves.strands.len() > 1 => {
                curves.strands.len().div_ceil(2) as f64 * NARROW_KEY_ROW
            }
            Content::Course(_) | Content::Strip(_) => 0.0,
            Content::Heat(_) => heat_map::KEYS_ABOVE,
        }
    }
}

/// Renders `line` as SVG with `title` as the accessible name.
#[must_use]
pub fn timeline(line: &TimeLine, title: &str) -> String {
    drawn(line, title, line.size(), MOST)
}

/// Renders the timeline for a narrow screen.
#[must_use]
pub fn narrow_timeline(line: &TimeLine, title: &str) -> String {
    drawn(line, title, line.narrow_size(), MOST)
}

/// Renders the timeline for a page that scrolls: the tall panels keep their height, however many low panels there are.
#[must_use]
pub fn tall_timeline(line: &TimeLine, title: &str) -> String {
    drawn(line, title, line.size_within(f64::INFINITY), f64::INFINITY)
}

fn drawn(line: &TimeLine, title: &str, size: Size, most: f64) -> String {
    let right = size.width - if size.is_narrow() { NARROW_RIGHT } else { KEYS };
    let to_minutes = if line.to_minutes.is_finite() { line.to_minutes } else { 0.0 };
    let unit = TimeUnit::of(line);
    let length = to_minutes * unit.per_minute;
    let x = Ruler::ending_at(length, (((right - LEFT) / 50.0) as usize).min(12)).divided(unit.per_minute);
    let description = format!("Over {} {}. {}", hinted(length), unit.many, describe(&line.panels));
    let mut canvas = Canvas::new(size, title, &description);
    let (mut top, mut bottom, mut strands) = (0.0, 0.0, 0);
    for (panel, height) in line.panels.iter().zip(line.heights(most)) {
        draw_title(&mut canvas, panel, top, size);
        let keys = if size.is_narrow() { panel.narrow_keys() } else { 0.0 };
        top += TITLE_ROW + keys;
        bottom = top + height;
        let area = PanelArea { top, right, bottom, x: &x, keys_above: size.is_narrow().then_some(keys) };
        match &panel.content {
            Content::Course(curves) | Content::Strip(curves) => {
                draw_curves(&mut canvas, curves, panel, (&area, unit), strands);
                strands += curves.strands.len();
            }
            Content::Heat(columns) => draw_heat(&mut canvas, columns, &area),
        }
        draw_interruptions(&mut canvas, line, &area, unit);
        top = bottom + GAP;
    }
    let area = PanelArea { top, right, bottom, x: &x, keys_above: None };
    for tick in &x.ticks {
        let Some(at) = area.at_x(tick.value) else { continue };
        canvas.line((at, bottom), (at, bottom + 5.0), Stroke::solid(FRAME, 1.0));
        canvas.text((at, bottom + 17.0), &tick.label, TICK);
    }
    let middle = ((LEFT + right) / 2.0, bottom + 34.0);
    canvas.text(middle, &format!("Time ({})", unit.many), Lettering { anchor: Anchor::Middle, ..TITLE });
    canvas.finish()
}

/// Draws the title of a panel; on a narrow screen, a long title begins at the edge.
fn draw_title(canvas: &mut Canvas, panel: &Panel, top: f64, size: Size) {
    let is_long = LEFT + widest_text(&panel.title, TITLE.size) > size.width;
    canvas.text((if is_long { 2.0 } else { LEFT }, top + 12.0), &panel.title, TITLE);
}

/// Describes the extremes of each panel for assistive technology.
fn describe(panels: &[Panel]) -> String {
    let of = |panel: &Panel| {
        let values: Vec<f64> = match &panel.content {
            Content::Course(curves) | Content::Strip(curves) => {
                points(curves).map(|(_, value)| value).collect()
            }
            Content::Heat(columns) => heat_map::sizes(columns).collect(),
        };
        let known = || values.iter().copied().filter(|value| value.is_finite());
        let (least, most) = (known().reduce(f64::min), known().reduce(f64::max));
        match least.zip(most) {
            Some((least, most)) => format!("{}: {} to {}.", panel.title, hinted(least), hinted(most)),
            None => format!("{}: no values.", panel.title),
        }
    };
    panels.iter().map(of).collect::<Vec<String>>().join(" ")
}

fn points(curves: &Curves) -> impl Iterator<Item = (f64, f64)> {
    curves.strands.iter().flat_map(|strand| strand.pieces.iter().flatten().copied())
}

fn draw_grid(canvas: &mut Canvas, area: &PanelArea<'_>, y: &Ruler) {
    for tick in &area.x.ticks {
        if let Some(at) = area.at_x(tick.value) {
            canvas.line((at, area.top), (at, area.bottom), Stroke::solid(GRID, 1.0));
        }
    }
    for tick in &y.ticks {
        if let Some(at) = area.at_y(y, tick.value) {
            canvas.line((LEFT - 4.0, at), (area.right, at), Stroke::solid(GRID, 1.0));
            let lettering = Lettering { anchor: Anchor::End, ..TICK };
            canvas.text((LEFT - 8.0, at + 3.8), &tick.label, lettering);
        }
    }
}

fn draw_frame(canvas: &mut Canvas, area: &PanelArea<'_>, is_empty: bool) {
    let corners = [(LEFT, area.top), (LEFT, area.bottom), (area.right, area.bottom)];
    canvas.polyline(&corners, Stroke::solid(FRAME, 1.2));
    if is_empty {
        let middle = ((LEFT + area.right) / 2.0, (area.top + area.bottom) / 2.0 + 4.0);
        canvas.text(middle, "No values", Lettering::new(13.0, Anchor::Middle).colour(SOFT_INK));
    }
}

fn draw_heat(canvas: &mut Canvas, columns: &[HeatColumn], area: &PanelArea<'_>) {
    let ticks = ((area.bottom - area.top) / 30.0) as usize;
    let y = Ruler::of(Scale::Log10, heat_map::sizes(columns), ticks);
    draw_grid(canvas, area, &y);
    heat_map::draw(canvas, columns, area, &y);
    draw_frame(canvas, area, columns.iter().all(|column| column.cells.is_empty()));
}

/// Draws curves, numbered from `first` within the whole picture.
fn draw_curves(
    canvas: &mut Canvas,
    curves: &Curves,
    panel: &Panel,
    (area, unit): (&PanelArea<'_>, TimeUnit),
    first: usize,
) {
    let values = points(curves).map(|(_, value)| value).chain(curves.room_for.iter().copied());
    let ticks = ((area.bottom - area.top) / if panel.is_strip() { 20.0 } else { 24.0 }) as usize;
    let y = Ruler::of(curves.scale, values, ticks);
    draw_grid(canvas, area, &y);
    for (index, strand) in curves.strands.iter().enumerate() {
        canvas.grouped(&format!("series s{}", first + index), |canvas| {
            draw_strand(canvas, strand, panel, (area, &y, unit), index);
        });
    }
    draw_frame(canvas, area, points(curves).next().is_none());
    if curves.strands.len() > 1 {
        draw_keys(canvas, curves, area, first);
    }
}

fn draw_strand(
    canvas: &mut Canvas,
    strand: &Strand,
    panel: &Panel,
    (area, y, unit): (&PanelArea<'_>, &Ruler, TimeUnit),
    index: usize,
) {
    let name = if strand.name.is_empty() { &panel.title } else { &strand.name };
    let place = |(minute, value): &(f64, f64)| Some((area.at_x(*minute)?, area.at_y(y, *value)?));
    let mut free_from = f64::NEG_INFINITY;
    for piece in &strand.pieces {
        let shown: Vec<(Point, &(f64, f64))> = piece.iter().filter_map(|p| Some((place(p)?, p))).collect();
        let path: Vec<Point> = shown.iter().map(|(at, _)| *at).collect();
        canvas.polyline(&path, Stroke::solid(colour(index), 1.6));
        for (at, (minute, value)) in shown {
            if at.0 < free_from {
                continue;
            }
            free_from = at.0 + MARKERS_APART;
            let hint = format!("{}, {name}: {}", unit.moment(*minute), hinted(*value));
            canvas.hinted(&hint, |canvas| marker::draw(canvas, index, colour(index), at, 2.6));
        }
    }
}

fn draw_keys(canvas: &mut Canvas, curves: &Curves, area: &PanelArea<'_>, first: usize) {
    // Beside a panel, there may be no room for all names.
    let most =
        if area.keys_above.is_some() { usize::MAX } else { ((area.bottom - area.top) / KEY_ROW) as usize };
    for (index, strand) in curves.strands.iter().enumerate().take(most.max(1)) {
        let (from, y, row) = match area.keys_above {
            Some(height) => {
                let from = LEFT + (index % 2) as f64 * (area.right - LEFT) / 2.0;
                (from, area.top - height + NARROW_KEY_ROW * ((index / 2) as f64 + 0.5), NARROW_KEY_ROW)
            }
            None => (area.right + 20.0, area.top + KEY_ROW * (index as f64 + 0.5), KEY_ROW),
        };
        let to = from + 20.0;
        canvas.grouped(&format!("key s{}", first + index), |canvas| {
            canvas.hinted(&strand.name, |canvas| {
                canvas.touchable((from - 4.0, y - row / 2.0), KEYS - 20.0, row);
                canvas.line((from, y), (to, y), Stroke::solid(colour(index), 1.6));
                marker::draw(canvas, index, colour(index), ((from + to) / 2.0, y), 2.6);
                let text = shortened(&strand.name, KEY_CHARACTERS);
                canvas.text((to + 6.0, y + 3.8), &text, Lettering::new(11.0, Anchor::Start));
            });
        });
    }
}

fn draw_interruptions(canvas: &mut Canvas, line: &TimeLine, area: &PanelArea<'_>, unit: TimeUnit) {
    for minute in &line.interruptions {
        let Some(at) = area.at_x(*minute) else { continue };
        let stroke = Stroke { colour: FIT, width: 1.2, dash: "3 3" };
        let hint = format!("the run was interrupted at {}", unit.moment(*minute));
        canvas.hinted(&hint, |canvas| canvas.line((at, area.top), (at, area.bottom), stroke));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(to_minutes: f64) -> String {
        let strand = Strand { name: String::new(), pieces: vec![vec![(0.0, 1.0), (to_minutes, 2.0)]] };
        let curves = Curves { scale: Scale::LinearFromZero, room_for: Vec::new(), strands: vec![strand] };
        let panel = Panel { title: "IOPS".into(), content: Content::Strip(curves) };
        let line = TimeLine { to_minutes, interruptions: vec![to_minutes / 2.0], panels: vec![panel] };
        timeline(&line, "a test")
    }

    #[test]
    fn the_time_axis_of_a_short_test_is_in_seconds() {
        let svg = picture(0.5);
        for text in
            ["Time (seconds)", ">30.0</text>", "at second 15.0", "second 30.0, IOPS: 2", "Over 30.0 seconds"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let svg = picture(30.0);
        for text in
            ["Time (minutes)", ">30.0</text>", "at minute 15.0", "minute 30.0, IOPS: 2", "Over 30.0 minutes"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
    }
}
