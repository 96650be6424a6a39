//! Tables of text.

/// Returns rows in aligned columns; the first row is the heading.
#[must_use]
pub fn table(rows: &[impl AsRef<[String]>]) -> String {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(|row| line(row.as_ref())).collect()
}
