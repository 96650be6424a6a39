//! Charts as SVG: data in, picture out.
//!
//! Charts never alter the data, but fully determine the appearance, so that all tests share the same axes, legends,
//! colours and markers. Pictures contain no ids, so a document can embed any number of them, and no style sheet, so
//! each one can be extracted and published separately.

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

/// Size of a picture in user units; pages scale it to the available space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Horizontal extent.
    pub width: f64,
    /// Vertical extent.
    pub height: f64,
}

impl Size {
    /// Size of a standalone picture.
    pub const DEFAULT: Self = Self { width: 1047.0, height: 455.0 };
}

/// Renders `exhibit` as SVG; None if it is not a chart.
#[must_use]
pub fn picture(exhibit: &Exhibit, title: &str, size: Size) -> Option<String> {
    match exhibit {
        Exhibit::Lines(data) => Some(lines(data, title, size)),
        Exhibit::Columns3d(data) => Some(columns3d(data, title, size)),
        Exhibit::ResponseTimes(data) => Some(response_times(data, title, size)),
        Exhibit::Table(_) | Exhibit::Facts(_) => None,
    }
}

/// Series colours. Lightness order and markers make them distinguishable with colour blindness and in greyscale print.
/// Red is reserved for the fitted line.
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

/// Formats a value for a tooltip: milliseconds need more digits than IOPS.
fn hinted(value: f64) -> String {
    stdx::units::grouped(value, if value != 0.0 && value.abs() < 10.0 { 3 } else { 1 })
}
