//! Draws values by two categories as a grid of cells: every value is printed in its cell, and darker cells have larger
//! values.

use chartdata::exhibit::Columns3d;
use stdx::units::grouped;

use crate::canvas::{Anchor, Canvas, Lettering, Stroke, text_width};
use crate::markup::shortened;
use crate::reading::sentence;
use crate::style::{FRAME, INK, SOFT_INK, Size, hinted};

const LABEL: Lettering = Lettering::new(12.0, Anchor::Middle);
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
const NAME_CHARACTERS: usize = 14;
/// Shades from small to large values. Text is dark on the first half and light on the second half.
const SHADES: [&str; 8] =
    ["#f1f6fb", "#d8e7f4", "#bcd6eb", "#97c0e0", "#4f8fc4", "#3577b1", "#1f5d97", "#0f3f70"];
const LIGHT_LETTERS: &str = "#ffffff";
/// If the ratio of the largest to the smallest value exceeds this, values are shaded by their logarithms.
const WIDE: f64 = 20.0;
/// Maximum font size of a value.
const LETTERS: f64 = 13.0;
const SMALLEST_LETTERS: f64 = 8.0;
/// If whole numbers would need letters smaller than this, thousands are abbreviated.
const SMALL_LETTERS: f64 = 10.0;

/// Renders `grid` as SVG with `title` as the accessible name. The first row is at the bottom, as on an axis.
#[must_use]
pub fn matrix(grid: &Columns3d, title: &str, size: Size) -> String {
    let shading = Shading::of(grid);
    let names = grid.depth.iter().map(|name| text_width(&shortened(name, NAME_CHARACTERS), LABEL.size));
    let left = names.fold(20.0, f64::max) + 44.0;
    let (top, right, bottom) = (30.0, size.width - 14.0, size.height - 50.0);
    let (columns, rows) = (grid.x.len().max(1) as f64, grid.depth.len().max(1) as f64);
    let (width, height) = ((right - left) / columns, ((bottom - top) / rows).max(4.0));
    let description = format!(
        "{} over {} and {}, as numbers. {}",
        grid.height_label,
        grid.x_label,
        grid.depth_label,
        sentence(grid.reading)
    );
    let mut canvas = Canvas::new(size, title, &description);
    let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
    canvas.text((middle.0, 18.0), &grid.height_label, TITLE);
    let (print, letters) = print_and_letters(grid, width, height);
    for (row, name) in grid.depth.iter().enumerate() {
        let y = bottom - height * (row as f64 + 1.0);
        let name_at = (left - 9.0, y + height / 2.0 + 4.2);
        canvas.text(name_at, &shortened(name, NAME_CHARACTERS), Lettering { anchor: Anchor::End, ..LABEL });
        for (column, x_name) in grid.x.iter().enumerate() {
            let value = grid.heights.get(row).and_then(|row| row.get(column)).copied().flatten();
            let hint = format!("{} {name}, {} {x_name}", grid.depth_label, grid.x_label);
            let corner = (left + width * column as f64, y);
            draw_cell(
                &mut canvas,
                value.filter(|value| value.is_finite()),
                (corner, (width, height)),
                |value| CellLook {
                    shade: shading.index(value),
                    letters,
                    text: print(value),
                    hint: format!("{hint}: {} {}", hinted(value), grid.height_label),
                },
            );
        }
    }
    for (column, name) in grid.x.iter().enumerate() {
        let x = left + width * (column as f64 + 0.5);
        canvas.text((x, bottom + 17.0), &shortened(name, NAME_CHARACTERS), LABEL);
    }
    canvas.line((left, top), (left, bottom), Stroke::solid(FRAME, 1.0));
    canvas.line((left, bottom), (right, bottom), Stroke::solid(FRAME, 1.0));
    canvas.text((middle.0, bottom + 40.0), &grid.x_label, TITLE.colour(INK));
    canvas.text((18.0, middle.1), &grid.depth_label, TITLE.turned(-90.0));
    if grid.heights.iter().flatten().flatten().next().is_none() {
        canvas.text(middle, "No values", Lettering::new(16.0, Anchor::Middle).colour(SOFT_INK));
    }
    canvas.finish()
}

/// How a cell is drawn.
struct CellLook {
    shade: usize,
    /// Font size.
    letters: f64,
    text: String,
    /// Tooltip.
    hint: String,
}

/// Draws a cell at (corner, extent).
fn draw_cell(
    canvas: &mut Canvas,
    value: Option<f64>,
    ((x, y), (width, height)): ((f64, f64), (f64, f64)),
    look: impl Fn(f64) -> CellLook,
) {
    let middle = (x + width / 2.0, y + height / 2.0);
    let Some(value) = value else {
        canvas.text((middle.0, middle.1 + 4.0), "-", LABEL.colour(SOFT_INK));
        return;
    };
    let CellLook { shade, letters, text, hint } = look(value);
    let colour = if shade < SHADES.len() / 2 { INK } else { LIGHT_LETTERS };
    canvas.hinted(&hint, |canvas| {
        canvas.rect((x + 0.5, y + 0.5), width - 1.0, height - 1.0, SHADES[shade]);
        let lettering = Lettering { size: letters, ..LABEL }.colour(colour);
        canvas.text((middle.0, middle.1 + letters * 0.35), &text, lettering);
    });
}

/// Returns how to print the values, and the font size at which each of them fits into its cell.
fn print_and_letters(grid: &Columns3d, width: f64, height: f64) -> (fn(f64) -> String, f64) {
    let letters = |print: fn(f64) -> String| {
        let values = grid.heights.iter().flatten().flatten();
        let widest = values.map(|value| text_width(&print(*value), 1.0)).fold(1.0, f64::max);
        LETTERS.min((width - 10.0) / widest).min(height * 0.7).max(SMALLEST_LETTERS)
    };
    let whole = letters(printed);
    if whole < SMALL_LETTERS { (abbreviated, letters(abbreviated)) } else { (printed, whole) }
}

/// Like [`printed`], but with three significant digits from ten thousand upwards: `45.7k`.
fn abbreviated(value: f64) -> String {
    match value.abs() {
        size if (99_950.0..1e6).contains(&size) => grouped(value / 1e3, 0) + "k",
        size if (1e4..99_950.0).contains(&size) => grouped(value / 1e3, 1) + "k",
        _ => printed(value),
    }
}

/// Returns a value with at least three significant digits, with a unit prefix from one million upwards:
/// `1.23M`.
fn printed(value: f64) -> String {
    match value.abs() {
        size if size >= 1e9 => grouped(value / 1e9, 2) + "G",
        size if size >= 1e6 => grouped(value / 1e6, 2) + "M",
        size if size >= 100.0 => grouped(value, 0),
        size if size >= 10.0 => grouped(value, 1),
        size if size >= 1.0 => grouped(value, 2),
        size if size > 0.0 => grouped(value, 3),
        _ => "0".to_owned(),
    }
}

/// Assigns shades to values.
struct Shading {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Shading {
    fn of(grid: &Columns3d) -> Self {
        let values = || grid.heights.iter().flatten().flatten().copied().filter(|value| value.is_finite());
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        Self { low, high, logarithmic: low > 0.0 && high > WIDE * low }
    }

    /// Returns the index of the shade that represents `value`.
    fn index(&self, value: f64) -> usize {
        let spread = |value: f64| if self.logarithmic { value.ln() } else { value };
        let extent = spread(self.high) - spread(self.low);
        if extent <= 0.0 || !extent.is_finite() {
            return 0;
        }
        let share = (spread(value) - spread(self.low)) / extent;
        ((share * SHADES.len() as f64) as usize).min(SHADES.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_values_are_darker_on_a_linear_and_a_logarithmic_scale() {
        let linear = Shading { low: 0.0, high: 80.0, logarithmic: false };
        assert_eq!([0.0, 9.0, 11.0, 79.0, 80.0].map(|value| linear.index(value)), [0, 0, 1, 7, 7]);
        let wide = Shading { low: 1.0, high: 100_000_000.0, logarithmic: true };
        assert_eq!([1.0, 20.0, 100_000_000.0].map(|value| wide.index(value)), [0, 1, 7]);
        assert_eq!(Shading { low: 5.0, high: 5.0, logarithmic: false }.index(5.0), 0);
    }

    #[test]
    fn values_keep_three_digits() {
        assert_eq!([0.207, 3.097, 45_654.2, 1_234_567.0].map(printed), ["0.207", "3.10", "45,654", "1.23M"]);
        assert_eq!([207.3, 45_654.2, 99_960.0, 456_540.0].map(abbreviated), ["207", "45.7k", "100k", "457k"]);
    }
}
