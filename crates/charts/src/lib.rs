//! Charts as SVG: data in, picture out, one file per kind of chart. Charts never alter the data, but fully
//! determine the appearance, so that all tests share the same axes, legends, colours and markers.
//!
//! Pictures contain no ids, so a document can embed any number of them, and no style sheet, so each one can be extracted
//! and published separately. This crate performs no I/O.
#![forbid(unsafe_code)]

mod canvas;
pub mod card;
mod columns3d;
mod finding;
mod heat_map;
mod lines;
mod marker;
pub mod markup;
mod multiples;
mod panel_area;
mod plate;
mod ranked;
mod reading;
mod response_times;
mod ruler;
mod style;
mod timeline;

use pts::exhibit::Exhibit;

pub use columns3d::{columns3d, columns3d_beside};
pub use finding::finding;
pub use heat_map::HeatColumn;
pub use lines::{lines, lines_beside};
pub use multiples::{grid, multiple};
pub use plate::{Plate, plate};
pub use ranked::{Ranked, RankedBar, ranked};
pub use reading::sentence;
pub use response_times::response_times;
pub use style::Size;
pub use timeline::{Content, Curves, Panel, Strand, TimeLine, timeline};

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
