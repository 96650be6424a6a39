//! Charts as SVG: data in, picture out, one file per chart type. This crate never alters the data, but alone
//! determines the appearance, so that all tests share the same axes, legends, colours and markers.
//!
//! Pictures contain no ids, so a document can embed any number of them, and no style sheet, so each picture
//! can be extracted and published separately. This crate performs no I/O.
#![forbid(unsafe_code)]

mod bars;
mod canvas;
pub mod card;
mod columns3d;
mod finding;
mod heat_map;
mod lines;
mod marker;
pub mod markup;
mod matrix;
mod multiples;
mod panel_area;
mod plate;
mod ranked;
mod reading;
mod response_times;
mod ruler;
mod style;
mod timeline;

use chartdata::exhibit::{Exhibit, Lines};

pub use bars::{bars, bars_beside};
pub use columns3d::{columns3d, columns3d_and_matrix, columns3d_beside};
pub use finding::finding;
pub use heat_map::HeatColumn;
pub use lines::{lines, lines_beside, lines_of_runs};
pub use matrix::matrix;
pub use multiples::{grid, multiple};
pub use plate::{Plate, plate};
pub use ranked::{Ranked, RankedBar, ranked, ranked_at_top};
pub use reading::sentence;
pub use response_times::response_times;
pub use style::Size;
pub use timeline::{Content, Curves, Panel, Strand, TimeLine, narrow_timeline, tall_timeline, timeline};

/// Renders `exhibit` for a narrow screen, with the legend below the plot; None if it is not a chart.
#[must_use]
pub fn narrow_picture(exhibit: &Exhibit, title: &str) -> Option<String> {
    let size = narrow_size(exhibit);
    match exhibit {
        Exhibit::Columns3d(data) => Some(columns3d::columns3d_over_matrix(data, title, size)),
        _ => picture(exhibit, title, size),
    }
}

/// Plot size of `exhibit` for a narrow screen.
#[must_use]
pub const fn narrow_size(exhibit: &Exhibit) -> Size {
    match exhibit {
        // These have names around the plot.
        Exhibit::ResponseTimes(_) => Size { width: 460.0, ..Size::NARROW },
        _ => Size::NARROW,
    }
}

/// Renders an exhibit of a page as SVG, with the same horizontal axis and edges as the other charts on `page`
/// whose horizontal axis shows the same quantity; None if it is not a chart.
#[must_use]
pub fn picture_of_page(exhibit: &Exhibit, page: &[Exhibit], title: &str, size: Size) -> Option<String> {
    let Exhibit::Lines(data) = exhibit else { return picture(exhibit, title, size) };
    let all =
        page.iter().filter_map(|other| if let Exhibit::Lines(lines) = other { Some(lines) } else { None });
    let panels: Vec<&Lines> = all.filter(|lines| lines.x == data.x).collect();
    Some(lines::lines_among(data, &panels, title, size))
}

/// Renders `exhibit` as SVG; None if it is not a chart.
#[must_use]
pub fn picture(exhibit: &Exhibit, title: &str, size: Size) -> Option<String> {
    match exhibit {
        Exhibit::Lines(data) => Some(lines(data, title, size)),
        Exhibit::Columns3d(data) => Some(columns3d_and_matrix(data, title, size)),
        Exhibit::HeatMap(data) => Some(matrix(data, title, size)),
        Exhibit::Bars(data) => Some(bars(data, title, size)),
        Exhibit::ResponseTimes(data) => Some(response_times(data, title, size)),
        Exhibit::Table(_) | Exhibit::Facts(_) => None,
    }
}
