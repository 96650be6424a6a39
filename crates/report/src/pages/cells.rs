//! Text of table cells, which is the same in all formats.

use pts::exhibit::{Cell, Exhibit, Page, Table};
use pts::host_limit::marked;
use stdx::units::grouped;

/// Returns the text of a cell.
#[must_use]
pub fn cell_text(cell: &Cell, decimals: usize) -> String {
    match cell {
        Cell::Value(value) | Cell::HostLimited(value) if value.is_finite() => {
            marked(grouped(*value, decimals), matches!(cell, Cell::HostLimited(_)))
        }
        Cell::Value(_) | Cell::HostLimited(_) => "n/a".into(),
        Cell::Absent(why) if why.is_empty() => "-".into(),
        Cell::Absent(why) => why.clone(),
    }
}

/// Returns whether any cell of `table` is host-limited.
#[must_use]
pub fn has_host_limited(table: &Table) -> bool {
    table.rows.iter().flat_map(|row| &row.cells).any(|cell| matches!(cell, Cell::HostLimited(_)))
}

/// Returns whether anything on `page` is marked as host-limited.
#[must_use]
pub fn has_marks(page: &Page) -> bool {
    page.exhibits.iter().any(|exhibit| match exhibit {
        Exhibit::Table(table) => has_host_limited(table),
        Exhibit::Facts(facts) => facts.host_limited,
        Exhibit::Lines(_)
        | Exhibit::Columns3d(_)
        | Exhibit::HeatMap(_)
        | Exhibit::Bars(_)
        | Exhibit::ResponseTimes(_) => false,
    })
}
