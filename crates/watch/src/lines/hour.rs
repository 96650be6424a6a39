//! The latest hour in characters: IOPS, throughput, response times, and the readings of drive and host. All charts have
//! the same time axis.

use charts::{Content, Curves, HeatColumn, Panel, Strand};
use pts::exhibit::Scale;
use ratatui::text::{Line, Span};
use stdx::units::grouped;

use super::label::{COLUMNS, labelled};
use super::wrap::wrapped;
use crate::paint::Paint;
use crate::shown::Shown;

/// Columns for the text beside a chart. Longer text is truncated.
const TEXT: usize = 36;
/// Fewer columns would show nothing.
const LEAST_COLUMNS: usize = 8;
const MOST_COLUMNS: usize = 120;
const BARS: [char; 8] =
    ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
/// Maximum number of rows of response times.
const HEAT_ROWS: usize = 8;
/// Minimum ratio of the response times at the top and at the bottom of a row.
const LEAST_RATIO: f64 = 1.25;
/// Smallest fraction of a column's I/Os, its character, and its name in the legend.
const SHADES: [(f64, char, &str); 4] = [
    (0.1, '\u{2588}', "10 % of the I/Os or more"),
    (0.01, '\u{2592}', "1 to 10 %"),
    (0.001, '\u{2591}', "0.1 to 1 %"),
    (0.0, '.', "less"),
];

/// The time axis of all charts.
struct Axis {
    to_minutes: f64,
    columns: usize,
}

impl Axis {
    /// Returns the minutes in which a column begins and ends.
    fn minutes(&self, column: usize) -> (f64, f64) {
        let width = self.to_minutes / self.columns as f64;
        (width * column as f64, width * (column + 1) as f64)
    }
}

pub(super) fn lines(shown: &Shown, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let Some(hour) = shown.hour() else { return Vec::new() };
    let columns = width.saturating_sub(COLUMNS + TEXT).min(MOST_COLUMNS);
    let to_minutes = hour.line.to_minutes;
    if columns < LEAST_COLUMNS || to_minutes.is_nan() || to_minutes <= 0.0 {
        return Vec::new();
    }
    let axis = Axis { to_minutes, columns };
    let mut lines = vec![labelled("last hour", vec![paint.soft(&scale_of(&axis))], paint)];
    for panel in &hour.line.panels {
        lines.extend(match &panel.content {
            Content::Course(curves) => vec![strip(&curves.strands, curves.scale, &panel.title, &axis, paint)],
            Content::Strip(curves) => strips(panel, curves, &axis, paint),
            Content::Heat(columns) => heat(columns, &panel.title, &axis, paint),
        });
    }
    if !hour.unavailable.is_empty() {
        let text = format!("not reported: {}", hour.unavailable.join(", "));
        let rest = wrapped(&paint.text(&text), width.saturating_sub(COLUMNS));
        lines.extend(rest.iter().map(|line| labelled("", vec![paint.soft(line)], paint)));
    }
    lines
}

/// Returns the ends of the time axis, above the charts.
fn scale_of(axis: &Axis) -> String {
    let end = format!("{} min", grouped(axis.to_minutes, if axis.to_minutes < 10.0 { 1 } else { 0 }));
    let gap = axis.columns.saturating_sub(1 + end.len());
    format!("0{}{end}", " ".repeat(gap))
}

/// Returns one line per curve, named, if the curves have values at the same time. Otherwise, they share a line: a quantity
/// in different phases of a test.
fn strips(panel: &Panel, curves: &Curves, axis: &Axis, paint: Paint) -> Vec<Line<'static>> {
    if !are_simultaneous(&curves.strands) {
        return vec![strip(&curves.strands, curves.scale, &panel.title, axis, paint)];
    }
    let one = |strand: &Strand| {
        let name = format!("{}: {}", panel.title, strand.name);
        strip(std::slice::from_ref(strand), curves.scale, &name, axis, paint)
    };
    curves.strands.iter().map(one).collect()
}

fn are_simultaneous(strands: &[Strand]) -> bool {
    let ends = |piece: &[(f64, f64)]| Some((piece.first()?.0, piece.last()?.0));
    let mut spans: Vec<(f64, f64, usize)> = Vec::new();
    for (index, strand) in strands.iter().enumerate() {
        spans
            .extend(strand.pieces.iter().filter_map(|piece| ends(piece).map(|(from, to)| (from, to, index))));
    }
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    spans.windows(2).any(|pair| pair[0].2 != pair[1].2 && pair[1].0 < pair[0].1)
}

/// Returns a chart of one line, with the smallest and the largest value.
fn strip(strands: &[Strand], scale: Scale, name: &str, axis: &Axis, paint: Paint) -> Line<'static> {
    let pieces: Vec<&[(f64, f64)]> =
        strands.iter().flat_map(|strand| strand.pieces.iter().map(Vec::as_slice)).collect();
    let values = || pieces.iter().flat_map(|piece| piece.iter().map(|(_, value)| *value));
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    if low > high {
        return labelled(
            "",
            vec![Span::raw(" ".repeat(axis.columns)), paint.soft(&format!(" {name}: none yet"))],
            paint,
        );
    }
    let height = |value: f64| match scale {
        Scale::LinearZoomed if high > low => (value - low) / (high - low),
        Scale::Log10 if low > 0.0 && high > low => (value / low).ln() / (high / low).ln(),
        _ => value / high.max(f64::MIN_POSITIVE),
    };
    let bar = |value: f64| {
        let step = (height(value).clamp(0.0, 1.0) * (BARS.len() - 1) as f64).round() as usize;
        BARS[step.min(BARS.len() - 1)]
    };
    let bars: String =
        (0..axis.columns).map(|column| mean(&pieces, axis.minutes(column)).map_or(' ', bar)).collect();
    let decimals = if scale == Scale::Integer {
        0
    } else if high < 10.0 {
        2
    } else if high < 1000.0 {
        1
    } else {
        0
    };
    let text = format!(" {} to {}  {name}", grouped(low, decimals), grouped(high, decimals));
    labelled("", vec![paint.chart(&bars), paint.soft(&text)], paint)
}

/// Returns the mean of the values in a column or, if it contains none, the value of the line that crosses its middle;
/// `None` in a gap.
fn mean(pieces: &[&[(f64, f64)]], (from, to): (f64, f64)) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for piece in pieces {
        let first = piece.partition_point(|(minute, _)| *minute < from);
        for (_, value) in piece[first..].iter().take_while(|(minute, _)| *minute < to) {
            sum += value;
            count += 1.0;
        }
    }
    if count > 0.0 {
        return Some(sum / count);
    }
    let middle = (from + to) / 2.0;
    pieces.iter().find_map(|piece| {
        let next = piece.partition_point(|(minute, _)| *minute < middle);
        let (before, after) = (piece.get(next.checked_sub(1)?)?, piece.get(next)?);
        let share = (middle - before.0) / (after.0 - before.0).max(f64::MIN_POSITIVE);
        Some(before.1 + (after.1 - before.1) * share)
    })
}

/// Returns the heat map of response times, slowest at the top, with its legend.
fn heat(columns: &[HeatColumn], name: &str, axis: &Axis, paint: Paint) -> Vec<Line<'static>> {
    let cells = || columns.iter().flat_map(|column| &column.cells);
    let low = cells().map(|(low, ..)| *low).fold(f64::MAX, f64::min);
    let high = cells().map(|(_, high, _)| *high).fold(0.0, f64::max);
    if low <= 0.0 || low >= high {
        return Vec::new();
    }
    let rows = (((high / low).ln() / LEAST_RATIO.ln()).ceil() as usize).clamp(1, HEAT_ROWS);
    let edge = |row: usize| low * (high / low).powf(row as f64 / rows as f64);
    let shares: Vec<Vec<f64>> =
        (0..axis.columns).map(|column| column_of(columns, axis.minutes(column), rows, edge)).collect();
    let legend =
        std::iter::once(name.to_owned()).chain(SHADES.iter().map(|(_, c, text)| format!("{c} {text}")));
    let mut legend = legend.collect::<Vec<_>>().into_iter();
    let line = |row: usize| {
        let label = format!("{:>9}  ", milliseconds(edge(row)));
        let fields: String = shares.iter().map(|shares| shade(shares[row])).collect();
        let text = legend.next().map(|text| format!(" {text}")).unwrap_or_default();
        labelled(&label, vec![paint.chart(&fields), paint.soft(&text)], paint)
    };
    (0..rows).rev().map(line).collect()
}

/// Returns the fraction of the I/Os in each row of a column, from the fastest to the slowest.
fn column_of(
    columns: &[HeatColumn],
    (from, to): (f64, f64),
    rows: usize,
    edge: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut shares = vec![0.0; rows];
    let mut covered = 0.0;
    for column in columns {
        let minutes = column.to_minutes.min(to) - column.from_minutes.max(from);
        if minutes <= 0.0 {
            continue;
        }
        covered += minutes;
        for (low, high, share) in &column.cells {
            let middle = (low * high).sqrt();
            let row = (1..rows).take_while(|row| edge(*row) <= middle).count();
            shares[row] += share * minutes;
        }
    }
    shares.iter_mut().for_each(|share| *share /= f64::max(covered, f64::MIN_POSITIVE));
    shares
}

fn shade(share: f64) -> char {
    SHADES
        .iter()
        .find(|(least, ..)| share > 0.0 && share >= *least)
        .map_or(' ', |(_, character, _)| *character)
}

/// Formats a response time in at most nine characters.
fn milliseconds(ms: f64) -> String {
    let decimals = if ms < 1.0 {
        3
    } else if ms < 100.0 {
        1
    } else {
        0
    };
    format!("{} ms", grouped(ms, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis { to_minutes: 10.0, columns: 10 };

    fn text(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| span.content.as_ref()).collect::<String>().trim_end().to_owned()
    }

    fn strand(pieces: &[&[(f64, f64)]]) -> Strand {
        Strand { name: "a".into(), pieces: pieces.iter().map(|piece| piece.to_vec()).collect() }
    }

    #[test]
    fn a_gap_stays_empty_and_a_line_is_continuous() {
        let gap = strand(&[&[(0.5, 100.0), (1.5, 50.0), (3.5, 50.0)], &[(8.5, 100.0), (9.5, 0.0)]]);
        let line = strip(&[gap], Scale::LinearFromZero, "IOPS", &AXIS, Paint::PLAIN);
        assert_eq!(
            text(&line),
            "            \u{2588}\u{2585}\u{2585}\u{2585}    \u{2588}\u{2581} 0.0 to 100.0  IOPS"
        );
        let none = strip(&[strand(&[])], Scale::LinearFromZero, "IOPS", &AXIS, Paint::PLAIN);
        assert_eq!(text(&none), "                       IOPS: none yet");
    }

    #[test]
    fn temperatures_are_drawn_between_their_extremes() {
        let warm = strand(&[&[(0.5, 40.0), (9.5, 44.0)]]);
        let line = text(&strip(&[warm], Scale::LinearZoomed, "Temperature", &AXIS, Paint::PLAIN));
        assert!(
            line.contains('\u{2581}')
                && line.contains('\u{2588}')
                && line.ends_with("40.0 to 44.0  Temperature"),
            "{line}"
        );
    }

    #[test]
    fn meters_have_their_own_lines_and_phases_share_one() {
        let panel = |strands| {
            let curves = Curves { scale: Scale::LinearFromZero, room_for: Vec::new(), strands };
            Panel { title: "Power (W)".into(), content: Content::Strip(curves) }
        };
        let lines = |strands| {
            let panel = panel(strands);
            let Content::Strip(curves) = &panel.content else { panic!("a strip") };
            strips(&panel, curves, &AXIS, Paint::PLAIN).len()
        };
        let [early, late] = [strand(&[&[(0.0, 1.0), (2.0, 1.0)]]), strand(&[&[(3.0, 1.0), (9.0, 1.0)]])];
        assert_eq!(lines(vec![early.clone(), late.clone()]), 1);
        assert_eq!(lines(vec![early.clone(), early]), 2);
    }

    #[test]
    fn the_darkest_character_is_the_most_common_response_time() {
        let column = |from: f64, cells: &[(f64, f64, f64)]| HeatColumn {
            from_minutes: from,
            to_minutes: from + 2.0,
            cells: cells.to_vec(),
        };
        let map =
            [column(0.0, &[(0.1, 0.125, 1.0)]), column(4.0, &[(0.1, 0.125, 0.995), (9.0, 10.0, 0.005)])];
        let lines: Vec<String> =
            heat(&map, "Response time (ms)", &AXIS, Paint::PLAIN).iter().map(text).collect();
        assert_eq!(lines.len(), HEAT_ROWS);
        assert!(lines[0].starts_with("   5.6 ms       \u{2591}\u{2591}"), "{lines:?}");
        assert!(lines[0].ends_with("Response time (ms)"), "{lines:?}");
        assert_eq!(lines[HEAT_ROWS - 1], " 0.100 ms   \u{2588}\u{2588}  \u{2588}\u{2588}");
        assert!(heat(&[], "Response time (ms)", &AXIS, Paint::PLAIN).is_empty());
    }
}
