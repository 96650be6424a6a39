//! Size, colours and number format that all charts share.

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
    /// Size of the plot of a picture for a narrow screen.
    pub const NARROW: Self = Self { width: 400.0, height: 300.0 };

    /// Whether there is no room for a legend beside the plot.
    pub(crate) fn is_narrow(self) -> bool {
        self.width < 500.0
    }
}

/// Series colours. Lightness order and markers make them distinguishable with colour blindness and in greyscale print.
/// Red is reserved for the fitted line.
pub(crate) const PALETTE: [&str; 8] =
    ["#1f6fb5", "#e8871e", "#2a9461", "#7b52ab", "#19a7bd", "#c2478b", "#2b3f63", "#9c8412"];

pub(crate) const INK: &str = "#1c2430";
pub(crate) const SOFT_INK: &str = "#55606e";
pub(crate) const GRID: &str = "#e3e7ec";
pub(crate) const FAINT_GRID: &str = "#f0f2f5";
pub(crate) const FRAME: &str = "#8b95a1";
pub(crate) const BAND: &str = "#dceaf7";
pub(crate) const FIT: &str = "#d3202f";

/// Colour of series `index`.
pub(crate) fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

/// Formats a value for a tooltip: milliseconds need more digits than IOPS.
pub(crate) fn hinted(value: f64) -> String {
    stdx::units::grouped(value, if value != 0.0 && value.abs() < 10.0 { 3 } else { 1 })
}
