//! Charts as SVG: data in, picture out.
//!
//! A chart decides nothing about the data. It does decide everything about the picture, so that every
//! test gets the same axes, legends, colours and markers. Pictures carry no identifiers, so any number
//! of them can share a document, and no style sheet, so each one can be taken out and published alone.

mod canvas;
mod columns3d;
mod heat_map;
mod lines;
mod marker;
mod response_times;
mod ruler;
mod timeline;

use pts::exhibit::Exhibit;

pub use columns3d::{columns3d, columns3d_beside};
pub use heat_map::HeatColumn;
pub use lines::{lines, lines_beside};
pub use response_times::response_times;
pub use timeline::{Content, Curves, Panel, Strand, TimeLine, timeline};

/// Size of a picture in user units; a page scales it to the room it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

impl Size {
    /// For a picture that stands alone.
    pub const DEFAULT: Self = Self { width: 1047.0, height: 455.0 };
}

/// `exhibit` as an SVG; none for what is no chart.
#[must_use]
pub fn picture(exhibit: &Exhibit, title: &str, size: Size) -> Option<String> {
    match exhibit {
        Exhibit::Lines(data) => Some(lines(data, title, size)),
        Exhibit::Columns3d(data) => Some(columns3d(data, title, size)),
        Exhibit::ResponseTimes(data) => Some(response_times(data, title, size)),
        Exhibit::Table(_) | Exhibit::Facts(_) => None,
    }
}

/// Colours of series, told apart by people with colour blindness and in grey print by their order of
/// lightness and their markers. No red: that is the fitted line.
const PALETTE: [&str; 8] =
    ["#1f6fb5", "#e8871e", "#2a9461", "#7b52ab", "#19a7bd", "#c2478b", "#2b3f63", "#9c8412"];

const INK: &str = "#1c2430";
const SOFT_INK: &str = "#55606e";
const GRID: &str = "#e3e7ec";
const FAINT_GRID: &str = "#f0f2f5";
const FRAME: &str = "#8b95a1";
const BAND: &str = "#dceaf7";
const FIT: &str = "#d3202f";

fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

/// A value as a hint tells it: milliseconds need more digits than IOPS.
fn hinted(value: f64) -> String {
    stdx::units::grouped(value, if value != 0.0 && value.abs() < 10.0 { 3 } else { 1 })
}
