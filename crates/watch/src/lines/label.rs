//! The label at the beginning of a line.

use ratatui::text::{Line, Span};

use crate::paint::Paint;

/// Columns of a label.
pub(super) const COLUMNS: usize = 12;

pub(super) fn labelled(label: &str, spans: Vec<Span<'static>>, paint: Paint) -> Line<'static> {
    let label = paint.soft(&format!("{label:<COLUMNS$}"));
    Line::from([vec![label], spans].concat())
}
