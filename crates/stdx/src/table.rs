//! Text tables that fit the width of a terminal.

use std::ops::Range;

/// Number of spaces between two cells.
const GAP: usize = 2;
/// Indentation of a row's continuation lines.
const INDENT: usize = 2;

/// Returns rows in aligned columns; the first row is the heading.
#[must_use]
pub fn table(rows: &[impl AsRef<[String]>]) -> String {
    fitted(rows, 0..0, None)
}

/// Same as [`table`], but with the columns in `right` aligned to the right. If the table is wider than `width`, the
/// columns that do not fit continue on further, indented lines. Cells are never broken across lines.
#[must_use]
pub fn fitted(rows: &[impl AsRef<[String]>], right: Range<usize>, width: Option<usize>) -> String {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let lines = lines_of(&widths, width);
    let mut out = String::new();
    for row in rows {
        for line in &lines {
            let begin = out.len();
            if line.start > 0 {
                pad(&mut out, INDENT);
            }
            let text = out.len();
            let cells = row.as_ref().iter().zip(&widths).enumerate();
            for (column, (cell, width)) in cells.skip(line.start).take(line.len()) {
                pad(&mut out, if column > line.start { GAP } else { 0 });
                let missing = width.saturating_sub(cell.chars().count());
                let (before, after) = if right.contains(&column) { (missing, 0) } else { (0, missing) };
                pad(&mut out, before);
                out.push_str(cell);
                pad(&mut out, after);
            }
            let end = text + out[text..].trim_end().len();
            if line.start == 0 || end > text {
                out.truncate(end);
                out.push('\n');
            } else {
                out.truncate(begin);
            }
        }
    }
    out
}

fn pad(out: &mut String, mut spaces: usize) {
    const SPACES: &str = "                                ";
    while spaces > 0 {
        let part = &SPACES[..spaces.min(SPACES.len())];
        out.push_str(part);
        spaces -= part.len();
    }
}

/// Returns the columns on each line.
fn lines_of(widths: &[usize], width: Option<usize>) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    lines.push(0..widths.len().min(1));
    let mut used = widths.first().copied().unwrap_or(0);
    for (column, own) in widths.iter().enumerate().skip(1) {
        let last = lines.last_mut().expect("there is a line");
        if width.is_none_or(|width| used + GAP + own <= width) {
            used += GAP + own;
            last.end = column + 1;
        } else {
            used = INDENT + own;
            lines.push(column..column + 1);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        vec![
            row(["run", "IOPS", "drive", "state"]),
            row(["a", "1,000", "S4EWNX0R", "steady"]),
            row(["bcd", "50", "sim:x", ""]),
        ]
    }

    #[test]
    fn a_table_that_fits_has_one_line_per_row() {
        let wide = "run   IOPS  drive     state\na    1,000  S4EWNX0R  steady\nbcd     50  sim:x\n";
        assert_eq!(fitted(&rows(), 1..2, None), wide);
        assert_eq!(fitted(&rows(), 1..2, Some(28)), wide);
        assert_eq!(table(&rows()), wide.replace("   IOPS", "  IOPS ").replace("     50", "  50   "));
    }

    #[test]
    fn columns_that_do_not_fit_follow_on_indented_lines() {
        let narrow = "run   IOPS  drive\n  state\na    1,000  S4EWNX0R\n  steady\nbcd     50  sim:x\n";
        assert_eq!(fitted(&rows(), 1..2, Some(27)), narrow);
        let one = fitted(&rows(), 1..2, Some(3));
        assert_eq!(one.lines().take(4).collect::<Vec<_>>(), ["run", "   IOPS", "  drive", "  state"]);
    }
}
