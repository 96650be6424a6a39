//! Embedded fonts, and pictures rendered with them.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

const SANS: &str = "DejaVu Sans";

/// Embedded font of printed pages and pictures, so that they look the same on every machine.
pub const REGULAR: &[u8] = include_bytes!("../assets/fonts/DejaVuSansCondensed.ttf");
/// Bold variant of the font.
pub const BOLD: &[u8] = include_bytes!("../assets/fonts/DejaVuSansCondensed-Bold.ttf");

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    fonts.set_sans_serif_family(SANS);
    Arc::new(fonts)
});

/// Parses a chart into the tree of the rendering library.
pub fn tree(svg: &str) -> Result<Tree, String> {
    let options = Options { fontdb: FONTS.clone(), font_family: SANS.into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| format!("a chart is not valid SVG: {error}"))
}

/// Renders `svg` as PNG with `scale` pixels per unit.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    let side = |units: f32| (units * scale).ceil() as u32;
    let mut pixmap =
        Pixmap::new(side(tree.size().width()), side(tree.size().height())).ok_or("a chart has no size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| error.to_string())
}
