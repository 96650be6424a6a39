//! Tables as plain text, for terminals.

use pts::exhibit::{Cell, Exhibit, Page, Table};
use pts::host_limit::{LEGEND, MARK, legend, marked};
use stdx::units::grouped;

/// `table` as aligned lines: numbers to the right, names to the left unless they are numbers too.
#[must_use]
pub fn text_table(table: &Table) -> String {
    let rows: Vec<(&str, Vec<String>)> = table
        .rows
        .iter()
        .map(|row| {
            (row.name.as_str(), row.cells.iter().map(|cell| cell_text(cell, table.decimals)).collect())
        })
        .collect();
    let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0).max(table.columns.len());
    let name_width = rows.iter().map(|(name, _)| width(name)).chain([width(&table.row_heading)]).max();
    let name_width = name_width.unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|i| {
            let cells = rows.iter().filter_map(|(_, cells)| cells.get(i)).map(|cell| width(cell));
            cells.chain(table.columns.get(i).map(|name| width(name))).max().unwrap_or(0)
        })
        .collect();
    let names_are_numbers = !rows.is_empty() && rows.iter().all(|(name, _)| name.parse::<f64>().is_ok());
    let line = |name: &str, right: bool, cells: &dyn Fn(usize) -> String| {
        let mut line = if right { left_pad(name, name_width) } else { right_pad(name, name_width) };
        for (i, &column) in widths.iter().enumerate() {
            line.push_str("  ");
            line.push_str(&left_pad(&cells(i), column));
        }
        line.trim_end().to_owned()
    };
    let mut out = Vec::new();
    if !table.heading.is_empty() {
        out.push(table.heading.clone());
    }
    if !table.column_heading.is_empty() {
        out.push(format!("{}  {}", " ".repeat(name_width), table.column_heading));
    }
    let header =
        line(&table.row_heading, names_are_numbers, &|i| table.columns.get(i).cloned().unwrap_or_default());
    let full_width = name_width + widths.iter().map(|w| w + 2).sum::<usize>();
    out.push(header);
    out.push("-".repeat(full_width));
    for (name, cells) in &rows {
        out.push(line(name, names_are_numbers, &|i| cells.get(i).cloned().unwrap_or_default()));
    }
    if has_host_limited(table) {
        out.push(format!("{MARK} {LEGEND}"));
    }
    out.join("\n") + "\n"
}

pub(crate) fn has_host_limited(table: &Table) -> bool {
    table.rows.iter().flat_map(|row| &row.cells).any(|cell| matches!(cell, Cell::HostLimited(_)))
}

/// Whether something on `page` has the mark of what the host may have set.
pub(crate) fn has_marks(page: &Page) -> bool {
    page.remarks.contains(&legend())
        || page.exhibits.iter().any(|e| matches!(e, Exhibit::Table(table) if has_host_limited(table)))
}

/// A cell as every rendering prints it.
pub(crate) fn cell_text(cell: &Cell, decimals: usize) -> String {
    match cell {
        Cell::Value(value) | Cell::HostLimited(value) if value.is_finite() => {
            marked(grouped(*value, decimals), matches!(cell, Cell::HostLimited(_)))
        }
        Cell::Value(_) | Cell::HostLimited(_) => "n/a".into(),
        Cell::Absent(why) if why.is_empty() => "-".into(),
        Cell::Absent(why) => why.clone(),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn left_pad(text: &str, to: usize) -> String {
    " ".repeat(to.saturating_sub(width(text))) + text
}

fn right_pad(text: &str, to: usize) -> String {
    text.to_owned() + &" ".repeat(to.saturating_sub(width(text)))
}
