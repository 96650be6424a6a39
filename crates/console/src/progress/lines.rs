//! Formats a view as lines for a terminal, without side effects. No line exceeds the given width: the least
//! important parts are omitted first, and numbers are never truncated.

use std::time::Duration;

use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use stdx::units::{CELSIUS, grouped, span};

use super::view::{Left, Phase, View, Window};
use crate::screen::Line;
use crate::terminal::{clean, columns};

/// Minimum and maximum width of a bar in columns; within these limits, it fills the remaining space.
const BAR: std::ops::RangeInclusive<usize> = 8..=30;
const GAP: &str = "  ";

/// Constraints on the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Maximum number of columns in a line.
    pub width: usize,
    pub colour: bool,
    pub unicode: bool,
}

/// How much detail is displayed for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Three lines, for a single run.
    Full,
    /// Two lines per run, for several runs.
    Brief,
    /// One line per run, for many runs.
    OneLine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    None,
    Bold,
    Green,
    Yellow,
}

/// A part of a line that is either displayed completely or omitted.
#[derive(Debug, Clone)]
struct Piece {
    text: String,
    /// Parts with the highest rank are omitted first.
    rank: u8,
    paint: Paint,
}

fn piece(rank: u8, text: impl Into<String>) -> Piece {
    Piece { text: text.into(), rank, paint: Paint::None }
}

impl Piece {
    fn in_paint(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }
}

/// Returns the lines for a run, prefixed with `name` if there are several.
pub fn lines(view: &View, name: &str, detail: Detail, shape: Shape) -> Vec<Line> {
    let name = (!name.is_empty()).then(|| piece(0, name).in_paint(Paint::Bold));
    match detail {
        Detail::Full => {
            let (doing, going) = (place(view), amounts(view));
            let mut lines = vec![fitted(name.into_iter().chain(doing).collect(), shape)];
            lines.push(with_bar(view, going, shape));
            lines.extend(view.window.as_ref().map(|window| fitted(steadiness(window), shape)));
            lines
        }
        Detail::Brief => {
            let second = amounts(view).into_iter().chain(view.window.as_ref().map(brief_steadiness));
            let indented = [piece(0, "")].into_iter().chain(second).collect();
            vec![fitted(name.into_iter().chain(place(view)).collect(), shape), fitted(indented, shape)]
        }
        Detail::OneLine => vec![fitted(name.into_iter().chain(all(view)).collect(), shape)],
    }
}

/// Formats a view as one line of any length, for a log.
pub fn plain(view: &View) -> String {
    all(view).into_iter().map(|piece| piece.text).collect::<Vec<_>>().join(GAP)
}

fn all(view: &View) -> Vec<Piece> {
    let amounts = amounts(view).into_iter().map(|piece| Piece { rank: piece.rank + 2, ..piece });
    place(view).into_iter().chain(amounts).chain(view.window.as_ref().map(brief_steadiness)).collect()
}

/// Returns the current activity and its position in the test.
fn place(view: &View) -> Vec<Piece> {
    let mut pieces = Vec::new();
    pieces.extend(view.test.as_ref().map(|test| piece(9, test)));
    match view.phase {
        Phase::Purge => pieces.push(piece(1, "purging")),
        Phase::Settle => {
            pieces.push(piece(1, "waiting for the array"));
            pieces.push(piece(4, &view.what));
        }
        Phase::Rebuild => pieces.push(piece(1, "rebuilding the simulated drive")),
        Phase::Precondition => {
            pieces.push(piece(1, "preconditioning"));
            pieces.push(piece(4, &view.what));
        }
        Phase::Cell | Phase::Load => {
            pieces.extend(view.round.map(|(round, rounds)| piece(1, format!("round {round}/{rounds}"))));
            pieces.extend(view.cell.map(|(cell, cells)| match cells {
                Some(cells) => piece(2, format!("cell {cell}/{cells}")),
                None => piece(2, format!("step {cell}")),
            }));
            pieces.extend((!view.what.is_empty()).then(|| piece(4, &view.what)));
        }
        Phase::Idle => pieces.push(piece(1, "idle")),
    }
    pieces.extend(view.test_left.map(|(from, to)| piece(3, eta(from, to))));
    pieces
}

/// Returns the completed fraction, the times and the rates.
fn amounts(view: &View) -> Vec<Piece> {
    let mut pieces = Vec::new();
    pieces.extend(view.share_done.map(|share| piece(1, percent(share))));
    // The elapsed time of a cell is omitted, because the settings determine its length.
    if !matches!(view.phase, Phase::Cell | Phase::Load) || view.left.is_none() {
        pieces.push(piece(3, format!("elapsed {}", time(view.elapsed))));
    }
    pieces.extend(view.left.map(|left| match left {
        Left::Known(left) => piece(2, format!("left {}", time(left))),
        Left::Expected(left) => piece(2, format!("left about {}", time(left))),
        Left::Overdue => piece(4, "longer than expected"),
    }));
    if view.phase == Phase::Purge && view.left.is_none() {
        pieces.push(piece(6, "the drive does not report its progress"));
    }
    if let Some(rate) = view.rate {
        let (iops, bytes) = match view.phase {
            Phase::Precondition => (7, 4),
            _ => (4, 7),
        };
        let shown = [
            piece(iops, format!("{} IOPS", grouped(rate.iops, 0))),
            piece(bytes, format!("{} MB/s", grouped(rate.bytes_per_second / 1e6, 1))),
        ];
        pieces.extend(shown);
        if rate.syncs_per_second > 0.0 {
            pieces.push(piece(8, format!("{} syncs/s", grouped(rate.syncs_per_second, 0))));
        }
        pieces.push(piece(8, format!("{:.2} ms", rate.mean_latency_ms)));
        pieces.extend(rate.max_latency_ms.map(|max| piece(9, format!("max {max:.2} ms"))));
    } else if matches!(view.phase, Phase::Purge | Phase::Settle) {
        pieces.extend(view.share_per_minute().map(|share| piece(4, format!("{:.1} %/min", share * 100.0))));
    }
    pieces.extend(view.temperature_celsius.map(|celsius| piece(5, format!("{celsius} {CELSIUS}"))));
    if view.host_limited {
        pieces.push(piece(6, "host-limited").in_paint(Paint::Yellow));
    }
    pieces
}

fn steadiness(window: &Window) -> Vec<Piece> {
    let mut pieces = vec![piece(1, format!("window {}/{WINDOW_ROUNDS}", window.rounds))];
    pieces.extend(window.variable.as_ref().map(|name| piece(4, name)));
    let of = |share: f64, limit: f64| format!("{:.1} % (limit {:.0} %)", share * 100.0, limit * 100.0);
    let paint = |share: f64, limit: f64| if share <= limit { Paint::Green } else { Paint::Yellow };
    pieces.extend(window.range_share.map(|share| {
        piece(2, format!("range {}", of(share, RANGE_LIMIT))).in_paint(paint(share, RANGE_LIMIT))
    }));
    pieces.extend(window.slope_share.map(|share| {
        piece(3, format!("slope {}", of(share, SLOPE_LIMIT))).in_paint(paint(share, SLOPE_LIMIT))
    }));
    pieces.extend(window.forecast_round.map(|round| piece(5, format!("steady in round {round}?"))));
    pieces
}

/// Returns how far the test is from steady state, in as few columns as possible.
fn brief_steadiness(window: &Window) -> Piece {
    let of = |name: &str, share: Option<f64>, limit: f64| {
        share.map(|share| format!(" {name} {:.0}/{:.0} %", share * 100.0, limit * 100.0)).unwrap_or_default()
    };
    let (range, slope) =
        (of("range", window.range_share, RANGE_LIMIT), of("slope", window.slope_share, SLOPE_LIMIT));
    let rounds = match (window.rounds as usize) < WINDOW_ROUNDS {
        true => format!("window {}/{WINDOW_ROUNDS}", window.rounds),
        false => String::new(),
    };
    piece(6, format!("{rounds}{range}{slope}").trim_start())
}

fn eta(from: Duration, to: Duration) -> String {
    let (from, to) = (time(from), time(to));
    if from == to { format!("ETA {to}") } else { format!("ETA {from} to {to}") }
}

/// Formats whole seconds, because milliseconds would change too fast to be read.
fn time(time: Duration) -> String {
    match time.as_secs() {
        0 => "0 s".to_owned(),
        _ => span(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
    }
}

/// Rounds down, so that only a completed activity shows 100 %.
fn percent(share: f64) -> String {
    let percent = (share * 100.0).floor().clamp(0.0, 100.0);
    format!("{percent:>3.0} %")
}

/// Places a bar before the pieces that fit.
fn with_bar(view: &View, pieces: Vec<Piece>, shape: Shape) -> Line {
    let rest = fitted(pieces.clone(), shape);
    let room = shape.width.saturating_sub(rest.columns + GAP.len());
    let (Some(share), true) = (view.share_done, room >= *BAR.start()) else { return rest };
    let bar = bar(share, room.min(*BAR.end()), shape.unicode);
    fitted([piece(0, bar).in_paint(Paint::Green)].into_iter().chain(pieces).collect(), shape)
}

fn bar(share: f64, room: usize, unicode: bool) -> String {
    let all = room - 2;
    let full = ((share * all as f64) as usize).min(all);
    let (done, open) = if unicode { ("\u{2588}", "\u{2591}") } else { ("#", "-") };
    format!("[{}{}]", done.repeat(full), open.repeat(all - full))
}

/// Returns the pieces that fit, in order; pieces with the highest rank are omitted first. If even the last one,
/// a name, does not fit, it is truncated.
fn fitted(pieces: Vec<Piece>, shape: Shape) -> Line {
    let cleaned = pieces.into_iter().map(|piece| Piece { text: clean(&piece.text, shape.unicode), ..piece });
    let mut pieces: Vec<Piece> = cleaned.collect();
    let wide = |pieces: &[Piece]| {
        let texts: usize = pieces.iter().map(|piece| columns(&piece.text)).sum();
        texts + GAP.len() * pieces.len().saturating_sub(1)
    };
    while pieces.len() > 1 && wide(&pieces) > shape.width {
        // Among pieces of equal rank, the last piece is omitted.
        let (index, _) = pieces.iter().enumerate().max_by_key(|(_, piece)| piece.rank).expect("not empty");
        drop(pieces.remove(index));
    }
    if let [only] = &mut pieces[..] {
        only.text = cut(&only.text, shape);
    }
    let columns = wide(&pieces);
    let texts = pieces.iter().map(|piece| painted(piece, shape.colour));
    Line { text: texts.collect::<Vec<_>>().join(GAP), columns }
}

/// Truncates text to fit, with an ellipsis.
fn cut(text: &str, shape: Shape) -> String {
    if columns(text) <= shape.width {
        return text.to_owned();
    }
    let sign = if shape.unicode { "\u{2026}" } else { "~" };
    let mut out = String::new();
    for c in text.chars() {
        if columns(&out) + columns(c.encode_utf8(&mut [0; 4])) + columns(sign) > shape.width {
            break;
        }
        out.push(c);
    }
    out + sign
}

fn painted(piece: &Piece, colour: bool) -> String {
    let code = match piece.paint {
        Paint::None => return piece.text.clone(),
        Paint::Bold => 1,
        Paint::Green => 32,
        Paint::Yellow => 33,
    };
    if colour { format!("\x1b[{code}m{}\x1b[0m", piece.text) } else { piece.text.clone() }
}

/// Returns a line with the number of runs that are not displayed.
pub fn more(count: usize, shape: Shape) -> Line {
    fitted(vec![piece(0, format!("and {count} more"))], shape)
}

#[cfg(test)]
mod tests;
