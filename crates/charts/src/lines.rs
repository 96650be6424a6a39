//! Line charts.

use chartdata::ReadingHint;
use chartdata::exhibit::{Axis, Guide, GuideRole, Lines, Scale};
use stdx::units::count_of;

use crate::canvas::{Anchor, Canvas, Lettering, Point, Stroke, text_width, widest_text};
use crate::marker;
use crate::markup::shortened;
use crate::reading::sentence;
use crate::ruler::Ruler;
use crate::style::{
    BAND, FAINT_GRID, FIT, FRAME, GRID, INK, NOT_VALID, SHADE, SOFT_INK, Size, colour, hinted, ordered,
};

const TICK: Lettering = Lettering::new(12.0, Anchor::Middle).colour(SOFT_INK);
/// Minimum distance between the labels of two ticks.
const TICK_GAP: f64 = 4.0;
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
const LEGEND_SIZE: f64 = 12.0;
const LEGEND_CHARACTERS: usize = 26;
const LEGEND_SWATCH: f64 = 30.0;
/// Height of a legend entry below a narrow plot, large enough for a finger.
const NARROW_ROW: f64 = 24.0;
/// Left edge of a legend in two columns if the labels of the axis have the usual width.
const NARROW_LEFT: f64 = 78.0;
/// Font size of the remark below a name that says why the line is not a valid result, and the height in rows of a
/// legend entry with a remark.
const CAVEAT_SIZE: f64 = 9.5;
const CAVEAT_ROWS: f64 = 1.55;

/// The plot area: pixels of its edges, and the two axes.
struct LinePlot {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    x: Ruler,
    y: Ruler,
}

/// Renders `lines` as SVG with `title` as the accessible name.
#[must_use]
pub fn lines(lines: &Lines, title: &str, size: Size) -> String {
    draw(lines, &Surroundings::default(), title, size)
}

/// Like [`lines()`], but the axes include the values of `others`, so that pictures side by side are comparable.
#[must_use]
pub fn lines_beside(lines: &Lines, others: &[&Lines], title: &str, size: Size) -> String {
    draw(lines, &Surroundings { others, ..Surroundings::default() }, title, size)
}

/// Like [`lines()`], for one line from each of several runs. `places` contains the place of each line's run among all
/// runs, which determines its colour and marker, so that a run looks the same in all charts. `caveats` contains the
/// reason why a line is not a valid result, such as `NOT STEADY`: these lines are dashed, and the legend gives the reason.
#[must_use]
pub fn lines_of_runs(
    lines: &Lines,
    places: &[usize],
    caveats: &[Option<&str>],
    title: &str,
    size: Size,
) -> String {
    draw(lines, &Surroundings { places, caveats, ..Surroundings::default() }, title, size)
}

/// Like [`lines()`], but with a horizontal axis and plot edges that also fit `panels`, so that stacked pictures are
/// aligned.
pub(crate) fn lines_among(lines: &Lines, panels: &[&Lines], title: &str, size: Size) -> String {
    draw(lines, &Surroundings { panels, ..Surroundings::default() }, title, size)
}

/// The charts that a chart must match, and the caveats about its lines.
#[derive(Clone, Copy, Default)]
struct Surroundings<'a> {
    /// Charts next to this one, whose values both axes include.
    others: &'a [&'a Lines],
    /// Charts above and below this one, which share its horizontal axis and edges.
    panels: &'a [&'a Lines],
    /// For each line, the number that determines its colour and marker; without an entry, its index.
    places: &'a [usize],
    /// For each line, why it is not a valid result.
    caveats: &'a [Option<&'a str>],
}

impl<'a> Surroundings<'a> {
    fn caveat(&self, line: usize) -> Option<&'a str> {
        self.caveats.get(line).copied().flatten()
    }

    fn place(&self, line: usize) -> usize {
        self.places.get(line).copied().unwrap_or(line)
    }
}

fn draw(lines: &Lines, around: &Surroundings<'_>, title: &str, size: Size) -> String {
    let size = with_legend(lines, around, size);
    let plot = lay_out(lines, around, size);
    let mut canvas = Canvas::new(size, title, &describe(lines));
    let mut omitted = 0;
    canvas.plot(&plot.attributes(lines), |canvas| {
        draw_bands(canvas, lines, &plot);
        draw_grid(canvas, lines, &plot);
        for guide in &lines.guides {
            let ends: Vec<Point> = [guide.from, guide.to].iter().filter_map(|p| plot.place(*p)).collect();
            canvas.hinted(&guide.name, |canvas| canvas.polyline(&ends, stroke_of(guide.role)));
        }
        omitted = draw_series(canvas, lines, around, &plot, size);
    });
    draw_axes(&mut canvas, lines, &plot);
    draw_legend(&mut canvas, lines, around, &plot, size);
    let is_empty = lines.series.iter().all(|s| s.points.is_empty());
    let has_names = lines.marked.is_some() || !lines.bands.is_empty();
    draw_remark(&mut canvas, &plot, is_empty, omitted, has_names);
    canvas.finish()
}

/// Draws the lines; returns the number of points that the axes cannot represent.
fn draw_series(
    canvas: &mut Canvas,
    lines: &Lines,
    around: &Surroundings<'_>,
    plot: &LinePlot,
    size: Size,
) -> usize {
    let names = names(lines);
    let mut omitted = 0;
    for series in &lines.series {
        let index = names.iter().position(|name| *name == series.name).unwrap_or(0);
        let place = around.place(index);
        let colour = colour_of(lines, place, names.len());
        let name = |p: &(f64, f64)| {
            format!("{}: {} {}, {} {}", series.name, lines.x.label, compact(p.0), hinted(p.1), lines.y.label)
        };
        let shown: Vec<(Point, &(f64, f64))> =
            series.points.iter().filter_map(|p| Some((plot.place(*p)?, p))).collect();
        omitted += series.points.len() - shown.len();
        let path: Vec<Point> = shown.iter().map(|(at, _)| *at).collect();
        canvas.grouped(&format!("series s{index}"), |canvas| {
            canvas.polyline(&path, stroke_of_line(colour, around.caveat(index)));
            for (at, point) in shown.iter().step_by(marker::step(&path, size.is_narrow())) {
                canvas.dot(*at, &name(point), |canvas| marker::draw(canvas, place, colour, *at, 4.2));
            }
        });
    }
    omitted
}

/// Returns the series names in legend order. Series with the same name are drawn as one line with gaps.
fn names(lines: &Lines) -> Vec<&str> {
    let names = || lines.series.iter().map(|series| series.name.as_str());
    let is_first = |(index, name): &(usize, &str)| names().take(*index).all(|earlier| earlier != *name);
    names().enumerate().filter(is_first).map(|(_, name)| name).collect()
}

/// Returns the names in the legend with their indices. Access groups that are not shown keep their colours, but need no
/// entry.
fn keyed(lines: &Lines) -> Vec<(usize, &str)> {
    let is_shown = |name: &str| {
        lines.reading != ReadingHint::AccessGroups
            || lines.series.iter().any(|series| series.name == name && !series.points.is_empty())
    };
    names(lines).into_iter().enumerate().filter(|(_, name)| is_shown(name)).collect()
}

/// Returns the colour of line `index` out of `count`; mixes, block sizes, thread counts and rounds have an
/// order.
fn colour_of(lines: &Lines, index: usize, count: usize) -> &'static str {
    match lines.reading {
        ReadingHint::ByBlockSize
        | ReadingHint::Convergence
        | ReadingHint::ByDepth
        | ReadingHint::Intensity
        | ReadingHint::Rounds
            if count > 2 =>
        {
            ordered(index, count)
        }
        _ => colour(index),
    }
}

impl LinePlot {
    fn place(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some((self.at_x(x)?, self.at_y(y)?))
    }

    /// Returns the edges and axes, for the script that redraws them.
    fn attributes(&self, lines: &Lines) -> String {
        let edges = [self.left, self.top, self.right, self.bottom].map(|edge| format!("{edge:.1}")).join(" ");
        let (x, y) = (self.x.described(lines.x.scale), self.y.described(lines.y.scale));
        format!("data-box=\"{edges}\" data-x=\"{x}\" data-y=\"{y}\"")
    }

    fn at_x(&self, x: f64) -> Option<f64> {
        Some(self.left + self.x.place(x)? * (self.right - self.left))
    }

    fn at_y(&self, y: f64) -> Option<f64> {
        Some(self.bottom - self.y.place(y)? * (self.bottom - self.top))
    }
}

/// Returns all points of series and guides.
fn points<'a>(all: &'a [&'a Lines]) -> impl Iterator<Item = (f64, f64)> + 'a {
    let series = all.iter().flat_map(|lines| &lines.series).flat_map(|s| s.points.iter().copied());
    series.chain(all.iter().flat_map(|lines| &lines.guides).flat_map(|g| [g.from, g.to]))
}

/// Ends of highlighted intervals and of bands.
fn intervals<'a>(all: &'a [&'a Lines]) -> impl Iterator<Item = f64> + 'a {
    let marked = all.iter().flat_map(|lines| &lines.marked).flat_map(|(from, to, _)| [*from, *to]);
    marked.chain(all.iter().flat_map(|lines| &lines.bands).flat_map(|band| [band.from, band.to]))
}

fn lay_out(lines: &Lines, around: &Surroundings<'_>, size: Size) -> LinePlot {
    let beside: Vec<&Lines> = around.others.iter().copied().chain([lines]).collect();
    let above: Vec<&Lines> = beside.iter().chain(around.panels).copied().collect();
    let has_names = above.iter().any(|lines| lines.marked.is_some() || !lines.bands.is_empty());
    let (top, bottom) =
        (if has_names { 30.0 } else { 14.0 }, size.height - 52.0 - legend_height(lines, around, size));
    let ruler = |lines: &Lines, all: &[&Lines]| {
        Ruler::of(lines.y.scale, points(all).map(|p| p.1), ((bottom - top) / 52.0) as usize)
    };
    let labels = |y: &Ruler| y.ticks.iter().map(|t| text_width(&t.label, TICK.size)).fold(20.0, f64::max);
    let y = ruler(lines, &beside);
    let widest =
        around.panels.iter().copied().map(|panel| labels(&ruler(panel, &[panel]))).fold(labels(&y), f64::max);
    let widest_legend = around
        .panels
        .iter()
        .map(|panel| legend_width(panel, around))
        .fold(legend_width(lines, around), f64::max);
    let legend = if size.is_narrow() { 14.0 } else { widest_legend };
    let (left, right) = (44.0 + widest, size.width - legend);
    let values: Vec<f64> = points(&above).map(|p| p.0).chain(intervals(&above)).collect();
    let x = Ruler::across(lines.x.scale, &values, ((right - left) / 30.0) as usize);
    // The label of a tick at the end of the axis extends beyond the plot by half its width.
    let half = x.ticks.last().map_or(0.0, |tick| text_width(&tick.label, TICK.size) / 2.0 + 2.0);
    LinePlot { left, top, right: right.min(size.width - half), bottom, x, y }
}

fn describe(lines: &Lines) -> String {
    let names: Vec<&str> = keyed(lines).into_iter().map(|(_, name)| name).collect();
    let what = format!("{} over {}. Series: {}.", lines.y.label, lines.x.label, names.join(", "));
    format!("{what} {}", sentence(lines.reading))
}

fn compact(value: f64) -> String {
    format!("{}", (value * 1000.0).round() / 1000.0)
}

fn stroke_of_line(colour: &'static str, caveat: Option<&str>) -> Stroke {
    Stroke { colour, width: 2.0, dash: if caveat.is_some() { NOT_VALID } else { "" } }
}

fn stroke_of(role: GuideRole) -> Stroke {
    let (colour, width, dash) = match role {
        GuideRole::Mean => (INK, 1.6, ""),
        GuideRole::DataBound => (INK, 1.6, "1.6 4"),
        GuideRole::Fit => (FIT, 2.0, ""),
        GuideRole::SlopeBound => (INK, 1.3, "8 5"),
    };
    Stroke { colour, width, dash }
}

/// Shades every other band, and draws the highlighted interval.
fn draw_bands(canvas: &mut Canvas, lines: &Lines, plot: &LinePlot) {
    for (index, band) in lines.bands.iter().enumerate() {
        let (Some(a), Some(b)) = (plot.at_x(band.from), plot.at_x(band.to)) else { continue };
        if index % 2 == 0 {
            canvas.rect((a, plot.top), b - a, plot.bottom - plot.top, SHADE);
        }
        if text_width(&band.name, TICK.size) <= b - a {
            canvas.text(((a + b) / 2.0, plot.top - 9.0), &band.name, TICK);
        }
    }
    let Some((from, to, label)) = &lines.marked else { return };
    let (Some(a), Some(b)) = (plot.at_x(*from), plot.at_x(*to)) else { return };
    let (a, b) = (a.min(b), a.max(b));
    canvas.rect((a, plot.top), b - a, plot.bottom - plot.top, BAND);
    let half = text_width(label, TICK.size) / 2.0;
    let middle = ((a + b) / 2.0).clamp(plot.left + half, (plot.right - half).max(plot.left + half));
    canvas.text((middle, plot.top - 9.0), label, Lettering { bold: true, colour: "#2a5f94", ..TICK });
}

/// Draws the grid, which a script replaces when the range changes.
fn draw_grid(canvas: &mut Canvas, lines: &Lines, plot: &LinePlot) {
    canvas.grouped("grid", |canvas| draw_grid_lines(canvas, lines, plot));
}

fn draw_grid_lines(canvas: &mut Canvas, lines: &Lines, plot: &LinePlot) {
    let horizontal = |canvas: &mut Canvas, value: f64, stroke: Stroke| {
        if let Some(y) = plot.at_y(value) {
            canvas.line((plot.left, y), (plot.right, y), stroke);
        }
    };
    for value in &plot.y.minor {
        horizontal(canvas, *value, Stroke::solid(FAINT_GRID, 1.0));
    }
    for tick in &plot.y.ticks {
        horizontal(canvas, tick.value, Stroke::solid(GRID, 1.0));
    }
    for tick in plot.x.ticks.iter().filter(|_| !matches!(lines.x.scale, Scale::Integer | Scale::Rounds)) {
        let Some(x) = plot.at_x(tick.value) else { continue };
        canvas.line((x, plot.top), (x, plot.bottom), Stroke::solid(GRID, 1.0));
    }
}

fn draw_axes(canvas: &mut Canvas, lines: &Lines, plot: &LinePlot) {
    canvas.grouped("ticks", |canvas| draw_ticks(canvas, plot));
    let frame = Stroke::solid(FRAME, 1.2);
    canvas.line((plot.left, plot.top), (plot.left, plot.bottom), frame);
    canvas.line((plot.left, plot.bottom), (plot.right, plot.bottom), frame);
    if plot.y.is_cropped() {
        draw_break(canvas, plot);
    }
    draw_axis_titles(canvas, &lines.x, &lines.y, plot);
}

/// Draws the break symbol on an axis that does not start at zero.
fn draw_break(canvas: &mut Canvas, plot: &LinePlot) {
    let (x, y) = (plot.left, plot.bottom - 7.0);
    canvas.hinted("this axis does not start at zero", |canvas| {
        canvas.line((x, y - 4.0), (x, y + 4.0), Stroke::solid("#ffffff", 3.0));
        let points = [(x, y + 5.0), (x - 4.0, y + 2.0), (x + 4.0, y - 2.0), (x, y - 5.0)];
        canvas.polyline(&points, Stroke::solid(FRAME, 1.2));
    });
}

fn draw_ticks(canvas: &mut Canvas, plot: &LinePlot) {
    for tick in &plot.y.ticks {
        if let Some(y) = plot.at_y(tick.value) {
            let lettering = Lettering { anchor: Anchor::End, ..TICK };
            canvas.text((plot.left - 9.0, y + 4.2), &tick.label, lettering);
        }
    }
    let ticks: Vec<(f64, &str)> =
        plot.x.ticks.iter().filter_map(|tick| Some((plot.at_x(tick.value)?, tick.label.as_str()))).collect();
    let step = label_step(&ticks);
    let mut free_from = f64::NEG_INFINITY;
    for (index, &(x, label)) in ticks.iter().enumerate() {
        canvas.line((x, plot.bottom), (x, plot.bottom + 5.0), Stroke::solid(FRAME, 1.0));
        let half = half_width(label);
        if index % step == 0 && x - half > free_from {
            canvas.text((x, plot.bottom + 19.0), label, TICK);
            free_from = x + half + TICK_GAP;
        }
    }
}

fn half_width(label: &str) -> f64 {
    text_width(label, TICK.size) / 2.0
}

/// Returns which ticks of an even axis get a label, so that the labels are also even: every first, every second and so
/// on. On other axes, every label is drawn that has room.
fn label_step(ticks: &[(f64, &str)]) -> usize {
    let apart = |pair: &[(f64, &str)]| pair[1].0 - pair[0].0;
    let is_even = ticks.windows(2).all(|pair| (apart(pair) - apart(ticks)).abs() < 1.0);
    let fits = |step: &usize| {
        let labels: Vec<(f64, &str)> = ticks.iter().copied().step_by(*step).collect();
        labels.windows(2).all(|pair| apart(pair) > half_width(pair[0].1) + half_width(pair[1].1) + TICK_GAP)
    };
    if is_even { (1..=ticks.len()).find(fits).unwrap_or(1) } else { 1 }
}

fn draw_axis_titles(canvas: &mut Canvas, x: &Axis, y: &Axis, plot: &LinePlot) {
    let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
    let room = |pixels: f64| (pixels / (TITLE.size * 0.58)) as usize;
    let across = shortened(&x.label, room(plot.right - plot.left));
    let up = shortened(&y.label, room(plot.bottom - plot.top));
    canvas.text((middle.0, plot.bottom + 43.0), &across, TITLE);
    canvas.text((18.0, middle.1), &up, TITLE.turned(-90.0));
}

fn legend_width(lines: &Lines, around: &Surroundings<'_>) -> f64 {
    let names = lines.series.iter().map(|s| &s.name).chain(lines.guides.iter().map(|g| &g.name));
    let width = |name: &String| {
        let name = shortened(name, LEGEND_CHARACTERS);
        // Names with many capitals use up the margin, or widen the legend.
        text_width(&name, LEGEND_SIZE).max(widest_text(&name, LEGEND_SIZE) - 6.0)
    };
    let caveats = around.caveats.iter().flatten().map(|caveat| widest_text(caveat, CAVEAT_SIZE));
    let widest = names.map(width).chain(caveats).fold(0.0, f64::max);
    if widest > 0.0 { widest + LEGEND_SWATCH + 34.0 } else { 20.0 }
}

/// Returns the height of the legend in rows.
fn legend_rows(lines: &Lines, around: &Surroundings<'_>) -> f64 {
    let of_line = |line: usize| if around.caveat(line).is_some() { CAVEAT_ROWS } else { 1.0 };
    keyed(lines).into_iter().map(|(line, _)| of_line(line)).sum::<f64>() + lines.guides.len() as f64
}

/// Returns the number of entries in each column of the legend, and the distance between two columns. A legend below a
/// narrow plot has two columns if its names are short and none has a caveat.
fn legend_columns(lines: &Lines, around: &Surroundings<'_>, size: Size) -> (usize, f64) {
    let names = keyed(lines).into_iter().map(|(_, name)| name);
    let names = names.chain(lines.guides.iter().map(|guide| guide.name.as_str()));
    let widths = names.map(|name| widest_text(&shortened(name, LEGEND_CHARACTERS), LEGEND_SIZE));
    let widths: Vec<f64> = widths.map(|width| width + LEGEND_SWATCH + 12.0).collect();
    let room = (size.width - NARROW_LEFT) / 2.0;
    let has_caveats = around.caveats.iter().any(Option::is_some);
    match size.is_narrow() && !has_caveats && widths.iter().all(|width| *width <= room) {
        true => (widths.len().div_ceil(2).max(1), room),
        false => (widths.len().max(1), size.width),
    }
}

/// Returns the height of the legend below the plot of a narrow picture.
fn legend_height(lines: &Lines, around: &Surroundings<'_>, size: Size) -> f64 {
    let (in_column, _) = legend_columns(lines, around, size);
    // Only in a single column are rows with caveats higher than one row.
    let has_caveats = around.caveats.iter().any(Option::is_some);
    let most = if has_caveats { f64::INFINITY } else { in_column as f64 };
    let rows = legend_rows(lines, around).min(most);
    if size.is_narrow() && rows > 0.0 { rows * NARROW_ROW + 8.0 } else { 0.0 }
}

/// Returns the size of the whole picture. A legend below a narrow plot makes the picture taller instead of the
/// plot shorter.
fn with_legend(lines: &Lines, around: &Surroundings<'_>, size: Size) -> Size {
    Size { height: size.height + legend_height(lines, around, size), ..size }
}

/// Draws the legend to the right of the plot, or below it in a narrow picture, never over it. Row height shrinks with many
/// entries.
fn draw_legend(canvas: &mut Canvas, lines: &Lines, around: &Surroundings<'_>, plot: &LinePlot, size: Size) {
    let count = names(lines).len();
    let (left, top, row) = if size.is_narrow() {
        (plot.left, plot.bottom + 56.0, NARROW_ROW)
    } else {
        let rows = legend_rows(lines, around).max(1.0);
        (plot.right + 20.0, plot.top, ((size.height - plot.top - 20.0) / rows).min(22.0))
    };
    let lettering = Lettering::new(LEGEND_SIZE.min(row * 0.8), Anchor::Start);
    let small = Lettering { size: CAVEAT_SIZE.min(row * 0.6), ..lettering }.bold().colour(SOFT_INK);
    let (in_column, apart) = legend_columns(lines, around, size);
    let mut drawn = 0;
    let mut y = top + row / 2.0;
    let mut entry = |canvas: &mut Canvas, name: &str, caveat, sample: &dyn Fn(&mut Canvas, Point)| {
        if drawn % in_column == 0 {
            y = top + row / 2.0;
        }
        let from = left + (drawn / in_column) as f64 * apart;
        let (hint, rows) = match caveat {
            Some(caveat) => (format!("{name}: {caveat}"), CAVEAT_ROWS),
            None => (name.to_owned(), 1.0),
        };
        canvas.hinted(&hint, |canvas| {
            canvas.touchable((from - 4.0, y - row / 2.0), (size.width - from).min(apart), row * rows);
            sample(canvas, (from, y));
            let text = shortened(name, LEGEND_CHARACTERS);
            let x = from + LEGEND_SWATCH + 8.0;
            canvas.text((x, y + lettering.size * 0.35), &text, lettering);
            if let Some(caveat) = caveat {
                canvas.text((x, y + lettering.size * 0.35 + row * 0.55), caveat, small);
            }
        });
        y += row * rows;
        drawn += 1;
    };
    let line = |canvas: &mut Canvas, (x, y): Point, stroke: Stroke| {
        canvas.line((x, y), (x + LEGEND_SWATCH, y), stroke);
    };
    for (index, name) in keyed(lines) {
        let (place, caveat) = (around.place(index), around.caveat(index));
        let colour = colour_of(lines, place, count);
        canvas.grouped(&format!("key s{index}"), |canvas| {
            entry(canvas, name, caveat, &|canvas, at| {
                line(canvas, at, stroke_of_line(colour, caveat));
                let middle = (at.0 + LEGEND_SWATCH / 2.0, at.1);
                marker::draw(canvas, place, colour, middle, 4.2_f64.min(row * 0.3));
            });
        });
    }
    for Guide { name, role, .. } in &lines.guides {
        entry(canvas, name, None, &|canvas, at| line(canvas, at, stroke_of(*role)));
    }
}

/// Says whether the plot is empty or lacks some points, above the plot unless it has names there.
fn draw_remark(canvas: &mut Canvas, plot: &LinePlot, is_empty: bool, omitted: usize, has_names: bool) {
    if is_empty {
        let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
        canvas.text(middle, "No values", Lettering::new(16.0, Anchor::Middle).colour(SOFT_INK));
    } else if omitted > 0 {
        let text = format!("{} cannot be shown on a logarithmic axis", count_of(omitted, "zero value"));
        let lettering = Lettering::new(11.0, Anchor::End).colour(SOFT_INK);
        if !has_names {
            return canvas.text((plot.right, plot.top - 3.0), &text, lettering);
        }
        // The ground separates the text from lines below it.
        let width = text_width(&text, lettering.size) + 6.0;
        let from = (plot.right - 6.0 - width).max(plot.left + 1.0);
        canvas.rect((from, plot.top + 1.0), plot.right - 1.0 - from, 15.0, "#ffffff");
        canvas.text((plot.right - 6.0, plot.top + 12.0), &text, lettering);
    }
}
