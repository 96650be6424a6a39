//! All charts as PNG images, for programs without vector graphics support.

use print::raster;

use super::format::{Files, Format, Make, Source};
use super::svg;

/// The PNG format.
pub(super) const FORMAT: Format =
    Format { name: "png", about: "every chart as a PNG image", extensions: &[], make: Make::Folder(folder) };

/// Pixels per chart unit: sharp when printed at the usual size.
const SCALE: f32 = 2.0;

fn folder(source: Source<'_>) -> Result<Files, String> {
    let png = |chart: &svg::Chart| Ok((format!("{}.png", chart.name), raster::png(&chart.svg, SCALE)?));
    stdx::parallel::mapped(&svg::charts(source), png).into_iter().collect()
}
