//! All charts as PNG images, for programs without vector graphics support.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::{Export, Files, Make, Source, svg};

/// The PNG export.
pub(super) const EXPORT: Export =
    Export { name: "png", about: "every chart as a PNG image", extensions: &[], make: Make::Folder(folder) };

/// Pixels per chart unit: sharp when printed at the usual size.
const SCALE: f32 = 2.0;
const SANS: &str = "DejaVu Sans";

/// Embedded font of printed pages and pictures, so that they look the same on every machine.
pub(crate) const REGULAR: &[u8] = include_bytes!("../../assets/fonts/DejaVuSansCondensed.ttf");
/// Bold variant of the font.
pub(crate) const BOLD: &[u8] = include_bytes!("../../assets/fonts/DejaVuSansCondensed-Bold.ttf");

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    fonts.set_sans_serif_family(SANS);
    Arc::new(fonts)
});

fn folder(source: Source<'_>) -> Result<Files, String> {
    let png = |(name, svg): (String, String)| Ok((format!("{name}.png"), pixels(&svg, SCALE)?));
    svg::charts(source).into_iter().map(png).collect()
}

/// Parses a chart into the tree of the rendering library.
pub(crate) fn tree(svg: &str) -> Result<Tree, String> {
    let options = Options { fontdb: FONTS.clone(), font_family: SANS.into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| format!("a chart is not valid SVG: {error}"))
}

/// Renders `svg` as PNG with `scale` pixels per unit.
pub(super) fn pixels(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    let side = |units: f32| (units * scale).ceil() as u32;
    let mut pixmap =
        Pixmap::new(side(tree.size().width()), side(tree.size().height())).ok_or("a chart has no size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| error.to_string())
}
