//! Tables as plain text, for terminals.

use std::ops::Range;

use pts::exhibit::Table;
use pts::host_limit::{LEGEND, MARK};

use crate::pages::cells::{has_host_limited, row_texts};

/// Default terminal width; table lines are not longer than that if the columns allow it.
const TERMINAL_COLUMNS: usize = 80;

/// Spacing of a table.
#[derive(Clone, Copy)]
struct Layout {
    /// Spaces before each column.
    gap: usize,
    /// Whether a heading like `Block Size (KiB)` is split into two lines.
    is_stacked: bool,
}

/// Layouts from the most legible to the narrowest.
const LAYOUTS: [Layout; 3] = [
    Layout { gap: 2, is_stacked: false },
    Layout { gap: 2, is_stacked: true },
    Layout { gap: 1, is_stacked: true },
];

/// Cell texts of a table and their widths.
struct Grid<'a> {
    table: &'a Table,
    rows: Vec<(&'a str, Vec<String>)>,
    /// Width of each column.
    widths: Vec<usize>,
}

/// Formats `table` as aligned lines of at most 80 columns. Numbers are right-aligned; row names are left-aligned
/// unless they are numeric. Columns that do not fit are printed in another table below.
#[must_use]
pub fn text_table(table: &Table) -> String {
    let grid = Grid::of(table);
    let all = 0..grid.widths.len();
    let layout = LAYOUTS.into_iter().find(|layout| grid.width(*layout, all.clone()) <= TERMINAL_COLUMNS);
    let mut out = Vec::new();
    if !table.heading.is_empty() {
        out.push(table.heading.clone());
    }
    match layout {
        Some(layout) => out.extend(grid.lines(layout, all)),
        None => {
            let layout = LAYOUTS[LAYOUTS.len() - 1];
            for (place, band) in grid.bands(layout).into_iter().enumerate() {
                out.extend((place > 0).then(String::new));
                out.extend(grid.lines(layout, band));
            }
        }
    }
    if has_host_limited(table) {
        out.push(format!("{MARK} {}", LEGEND.replace("; ", ";\n  ")));
    }
    out.join("\n") + "\n"
}

impl<'a> Grid<'a> {
    fn of(table: &'a Table) -> Self {
        let rows = table.rows.iter().enumerate();
        let rows: Vec<(&str, Vec<String>)> =
            rows.map(|(index, row)| (row.name.as_str(), row_texts(table, index))).collect();
        let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0).max(table.columns.len());
        let width_of = |column: usize| {
            let cells = rows.iter().filter_map(|(_, cells)| cells.get(column)).map(|cell| width(cell));
            cells.chain(table.columns.get(column).map(|name| width(name))).max().unwrap_or(0)
        };
        let widths = (0..columns).map(width_of).collect();
        Self { table, rows, widths }
    }

    /// Returns the heading of the row names, as (line above, same line as the column headings).
    fn row_heading(&self, layout: Layout) -> (&'a str, &'a str) {
        let whole = self.table.row_heading.as_str();
        match whole.find(" (").filter(|_| layout.is_stacked) {
            Some(at) => (&whole[..at], &whole[at + 1..]),
            None => ("", whole),
        }
    }

    fn name_width(&self, layout: Layout) -> usize {
        let (above, beside) = self.row_heading(layout);
        let names = self.rows.iter().map(|(name, _)| width(name));
        names.chain([width(above), width(beside)]).max().unwrap_or(0)
    }

    fn width(&self, layout: Layout, columns: Range<usize>) -> usize {
        self.name_width(layout) + self.widths[columns].iter().map(|width| width + layout.gap).sum::<usize>()
    }

    /// Groups the columns into as few bands as possible, of similar size: a single column in the last band would look like
    /// a table of its own.
    fn bands(&self, layout: Layout) -> Vec<Range<usize>> {
        let all = self.widths.len();
        let full = self.bands_of(layout, all);
        let even = self.bands_of(layout, all.div_ceil(full.len().max(1)));
        if even.len() == full.len() { even } else { full }
    }

    /// Groups as many columns as fit into each band, at least one and at most `most`.
    fn bands_of(&self, layout: Layout, most: usize) -> Vec<Range<usize>> {
        let (mut bands, mut from) = (Vec::new(), 0);
        while from < self.widths.len() {
            let fits = |to: &usize| *to - from <= most && self.width(layout, from..*to) <= TERMINAL_COLUMNS;
            let to = (from + 2..=self.widths.len()).take_while(fits).last().unwrap_or(from + 1);
            bands.push(from..to);
            from = to;
        }
        bands
    }

    fn lines(&self, layout: Layout, columns: Range<usize>) -> Vec<String> {
        let (above, beside) = self.row_heading(layout);
        let name_width = self.name_width(layout);
        let numeric = !self.rows.is_empty() && self.rows.iter().all(|(name, _)| name.parse::<f64>().is_ok());
        let first =
            |name: &str| if numeric { left_pad(name, name_width) } else { right_pad(name, name_width) };
        let gap = " ".repeat(layout.gap);
        let line = |name: &str, texts: &[String]| {
            let text_of = |column: usize| texts.get(column).map_or("", String::as_str);
            let cells = columns.clone().map(|at| gap.clone() + &left_pad(text_of(at), self.widths[at]));
            format!("{}{}", first(name), cells.collect::<String>()).trim_end().to_owned()
        };
        let mut lines = Vec::new();
        if !(above.is_empty() && self.table.column_heading.is_empty()) {
            let text = format!("{}  {}", first(above), self.table.column_heading);
            lines.push(text.trim_end().to_owned());
        }
        lines.push(line(beside, &self.table.columns));
        lines.push("-".repeat(self.width(layout, columns.clone())));
        lines.extend(self.rows.iter().map(|(name, cells)| line(name, cells)));
        lines
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
