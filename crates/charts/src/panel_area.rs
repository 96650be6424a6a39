//! The area of a panel in a timeline: maps minutes and values to pixels.

use crate::ruler::Ruler;

/// Left edge of all panels.
pub(crate) const LEFT: f64 = 62.0;

/// The area of one panel: pixels of its edges, and the common time axis.
pub(crate) struct PanelArea<'a> {
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    pub x: &'a Ruler,
    /// Height of the legend if it is directly above the panel instead of beside it.
    pub keys_above: Option<f64>,
}

impl PanelArea<'_> {
    pub fn at_x(&self, minutes: f64) -> Option<f64> {
        Some(LEFT + self.x.place(minutes)? * (self.right - LEFT))
    }

    pub fn at_y(&self, y: &Ruler, value: f64) -> Option<f64> {
        Some(self.bottom - y.place(value)? * (self.bottom - self.top))
    }
}
