//! Text of table cells, which is the same in all formats.

use pts::exhibit::{Cell, Exhibit, Page, Table};
use pts::host_limit::marked;
use stdx::units::grouped;

/// Returns the text of a cell.
fn cell_text(cell: &Cell, decimals: usize) -> String {
    match cell {
        Cell::Value(value) | Cell::HostLimited(value) if value.is_finite() => {
            marked(grouped(*value, decimals), matches!(cell, Cell::HostLimited(_)))
        }
        Cell::Value(_) | Cell::HostLimited(_) => "n/a".into(),
        Cell::Absent(why) if why.is_empty() => "-".into(),
        Cell::Absent(why) => why.clone(),
    }
}

/// Returns the texts of a table's row, counted from 0.
#[must_use]
pub fn row_texts(table: &Table, row: usize) -> Vec<String> {
    let cells = table.rows.get(row).map_or(&[][..], |row| &row.cells);
    cells.iter().enumerate().map(|(column, cell)| cell_text(cell, table.decimals_at(row, column))).collect()
}

/// Returns whether any cell of `table` is host-limited.
#[must_use]
pub fn has_host_limited(table: &Table) -> bool {
    table.rows.iter().flat_map(|row| &row.cells).any(|cell| matches!(cell, Cell::HostLimited(_)))
}

/// Maximum number of columns of a table that is laid out beside another one.
const COLUMNS_BESIDE: usize = 6;

/// Returns whether the page consists of several small tables, which are laid out side by side to fit on the page.
#[must_use]
pub fn is_of_tables(page: &Page) -> bool {
    let is_small = |e: &Exhibit| matches!(e, Exhibit::Table(table) if table.columns.len() <= COLUMNS_BESIDE);
    page.exhibits.len() > 1 && page.exhibits.iter().all(is_small)
}

/// Returns whether the page consists of several maps, which are laid out side by side.
#[must_use]
pub fn is_of_maps(page: &Page) -> bool {
    page.exhibits.len() > 1 && page.exhibits.iter().all(|exhibit| matches!(exhibit, Exhibit::HeatMap(_)))
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
