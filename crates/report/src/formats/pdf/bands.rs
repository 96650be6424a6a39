//! Tables of numbers: columns are at least as wide as their widest word, and columns that do not fit on the page
//! continue in another table with the same row headings.

use super::grid::{ColumnCell, PAD};
use print::fonts::{Fonts, Style};

/// A table that fits on the page.
pub(super) struct Band {
    pub widths: Vec<f64>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<ColumnCell>>,
}

/// Width that a column needs, and the width at which no cell below its heading wraps and the heading takes at most
/// two lines. A column heading that wraps takes up space once per page, but a row heading does so in every row.
struct Demand {
    least: f64,
    natural: f64,
}

/// Splits a table into bands that are at most `room` wide; groups of `keep` neighbouring columns are not separated.
pub(super) fn bands(
    fonts: &Fonts,
    (head, rows): (&[String], &[Vec<ColumnCell>]),
    keep: usize,
    (style, room): (Style, f64),
) -> Vec<Band> {
    let demands: Vec<Demand> =
        (0..head.len()).map(|column| demand(fonts, (head, rows), column, style)).collect();
    let Some((first, others)) = demands.split_first() else { return Vec::new() };
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut left = 0.0;
    for unit in (1..=others.len()).collect::<Vec<_>>().chunks(keep.max(1)) {
        let needed: f64 = unit.iter().map(|column| demands[*column].least).sum();
        match all.last_mut().filter(|_| needed <= left) {
            Some(band) => band.extend(unit),
            None => {
                all.push(std::iter::once(0).chain(unit.iter().copied()).collect());
                left = room - first.least;
            }
        }
        left -= needed;
    }
    fn pick<T: Clone>(row: &[T], columns: &[usize]) -> Vec<T> {
        columns.iter().filter_map(|column| row.get(*column).cloned()).collect()
    }
    let band = |columns: Vec<usize>| Band {
        widths: shared(columns.iter().map(|column| &demands[*column]), room),
        head: pick(head, &columns),
        rows: rows.iter().map(|row| pick(row, &columns)).collect(),
    };
    all.into_iter().map(band).collect()
}

fn demand(
    fonts: &Fonts,
    (head, rows): (&[String], &[Vec<ColumnCell>]),
    column: usize,
    style: Style,
) -> Demand {
    // Slightly more than the text, because widths are added up in a different order when lines are broken.
    let width =
        |text: &str, style: Style| fonts.width(&fonts.printable(text, style), style) + 2.0 * PAD.0 + 0.5;
    let widest_word =
        |text: &str, style: Style| text.split(' ').map(|word| width(word, style)).fold(0.0, f64::max);
    let head = &head[column];
    let least = widest_word(head, style.bold());
    let in_two_lines = |at: usize| width(&head[..at], style.bold()).max(width(&head[at + 1..], style.bold()));
    let spaces = head.match_indices(' ').map(|(at, _)| in_two_lines(at));
    let mut demand = Demand { least, natural: least.max(spaces.reduce(f64::min).unwrap_or(least)) };
    let style = if column == 0 { style.bold() } else { style };
    for text in rows.iter().filter_map(|row| row.get(column)).map(|cell| &cell.text) {
        demand.least = demand.least.max(widest_word(text, style));
        demand.natural = demand.natural.max(width(text, style));
    }
    demand
}

/// Gives each column the width that it needs and distributes the rest among columns that would wrap; the sum never
/// exceeds `room`.
fn shared<'a>(demands: impl Iterator<Item = &'a Demand> + Clone, room: f64) -> Vec<f64> {
    let least: f64 = demands.clone().map(|demand| demand.least).sum();
    let missing: f64 = demands.clone().map(|demand| demand.natural - demand.least).sum();
    if least > room {
        return demands.map(|demand| demand.least * room / least).collect();
    }
    let share = if missing > 0.0 { ((room - least) / missing).min(1.0) } else { 0.0 };
    demands.map(|demand| demand.least + (demand.natural - demand.least) * share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use print::fonts::ink;

    #[test]
    fn no_word_is_wider_than_its_column_and_no_column_is_lost() {
        let fonts = Fonts::load().unwrap();
        let head: Vec<String> = (0..21).map(|column| format!("Drive {column}")).collect();
        let row = |name: &str| {
            std::iter::once(name.into()).chain((1..21).map(|n| format!("{n}2,345.6\u{a0}±\u{a0}1.2\u{a0}%")))
        };
        let rows: Vec<Vec<ColumnCell>> =
            ["a figure", "another"].map(|name| row(name).map(ColumnCell::from).collect()).into();
        let style = ink(10.5);
        let all = bands(&fonts, (&head, &rows), 2, (style, 1000.0));
        assert!(all.len() > 1, "20 columns do not fit");
        for band in &all {
            assert!(band.widths.iter().sum::<f64>() <= 1000.01 && band.head[0] == "Drive 0");
            assert!(band.head.len() % 2 == 1, "pairs stay together");
            for row in &band.rows {
                for (cell, width) in row.iter().zip(&band.widths).skip(1) {
                    let lines = fonts.wrap(&cell.text, style, width - 2.0 * PAD.0);
                    assert_eq!(lines.len(), 1, "{lines:?}");
                }
            }
        }
        let columns: usize = all.iter().map(|band| band.head.len() - 1).sum();
        assert_eq!(columns, 20);
    }

    #[test]
    fn headings_of_short_values_have_at_most_two_lines() {
        let fonts = Fonts::load().unwrap();
        let head = ["Run", "Throughput SEQ 128KiB R (MB/s)", "LBA"].map(str::to_owned);
        let rows = [["A drive", "1.0", "512"].map(ColumnCell::from).to_vec()];
        let all = bands(&fonts, (&head, &rows), 1, (ink(10.5), 1000.0));
        let [band] = &all[..] else { panic!("{} tables", all.len()) };
        for (text, width) in band.head.iter().zip(&band.widths) {
            let lines = fonts.wrap(text, ink(10.5).bold(), width - 2.0 * PAD.0);
            assert!(lines.len() <= 2, "{lines:?}");
        }
    }
}
