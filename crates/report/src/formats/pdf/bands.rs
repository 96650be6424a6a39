//! Tables of numbers: columns are at least as wide as their widest word, and columns that do not fit on the page
//! continue in another table with the same row headings.

use print::fonts::{Fonts, Style};
use print::grid::{ColumnCell, PAD};

/// A table that fits on the page.
pub(super) struct Band {
    pub widths: Vec<f64>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<ColumnCell>>,
}

/// Fraction of the page that row headings may take up so that they need at most two lines.
const ROW_HEADINGS: f64 = 0.3;

/// Width that a column needs, and the width at which no cell below its heading wraps and the heading takes at most
/// two lines. A column heading that wraps takes up space once per page, but a row heading does so in every row, so
/// row headings need the width at which they take at most two lines.
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
        (0..head.len()).map(|column| demand(fonts, (head, rows), column, (style, room))).collect();
    let Some((first, others)) = demands.split_first() else { return Vec::new() };
    let units: Vec<Vec<usize>> =
        (1..=others.len()).collect::<Vec<_>>().chunks(keep.max(1)).map(<[usize]>::to_vec).collect();
    let spare = room - first.least;
    let width = |unit: &[usize]| unit.iter().map(|column| demands[*column].least).sum::<f64>();
    let fewest = packed(&units, units.len(), spare, width);
    // The last table would often have a single column: if the columns can be shared evenly, they are.
    let evenly = packed(&units, units.len().div_ceil(fewest.len().max(1)), spare, width);
    let all = if evenly.len() == fewest.len() { evenly } else { fewest };
    fn pick<T: Clone>(row: &[T], columns: &[usize]) -> Vec<T> {
        columns.iter().filter_map(|column| row.get(*column).cloned()).collect()
    }
    let band = |columns: Vec<usize>| Band {
        widths: shared(columns.iter().map(|column| &demands[*column]), room),
        head: pick(head, &columns),
        rows: rows.iter().map(|row| pick(row, &columns)).collect(),
    };
    all.into_iter().map(|columns| band(std::iter::once(0).chain(columns).collect())).collect()
}

/// Distributes `units` of columns over bands, each of which has at most `most` units and fits into `room`.
fn packed(units: &[Vec<usize>], most: usize, room: f64, width: impl Fn(&[usize]) -> f64) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let (mut left, mut count) = (0.0, 0);
    for unit in units {
        let needed = width(unit);
        match all.last_mut().filter(|_| needed <= left && count < most) {
            Some(band) => band.extend(unit),
            None => {
                all.push(unit.clone());
                (left, count) = (room, 0);
            }
        }
        left -= needed;
        count += 1;
    }
    all
}

fn demand(
    fonts: &Fonts,
    (head, rows): (&[String], &[Vec<ColumnCell>]),
    column: usize,
    (style, room): (Style, f64),
) -> Demand {
    // Slightly more than the text, because widths are added up in a different order when lines are broken.
    let width =
        |text: &str, style: Style| fonts.width(&fonts.printable(text, style), style) + 2.0 * PAD.0 + 0.5;
    let widest_word =
        |text: &str, style: Style| text.split(' ').map(|word| width(word, style)).fold(0.0, f64::max);
    let head = &head[column];
    let least = widest_word(head, style.bold());
    let in_two_lines = |text: &str| {
        let parts = text.match_indices(' ').map(|(at, _)| [&text[..at], &text[at + 1..]]);
        let widths = parts.map(|[a, b]| width(a, style.bold()).max(width(b, style.bold())));
        widths.reduce(f64::min).unwrap_or_else(|| width(text, style.bold()))
    };
    let mut demand = Demand { least, natural: least.max(in_two_lines(head)) };
    let cell_style = if column == 0 { style.bold() } else { style };
    for text in rows.iter().filter_map(|row| row.get(column)).map(|cell| &cell.text) {
        demand.least = demand.least.max(widest_word(text, cell_style));
        if column == 0 {
            demand.least = demand.least.max(in_two_lines(text).min(room * ROW_HEADINGS));
        }
        demand.natural = demand.natural.max(width(text, cell_style));
    }
    demand.natural = demand.natural.max(demand.least);
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
    fn tables_have_about_the_same_number_of_columns() {
        let fonts = Fonts::load().unwrap();
        let head: Vec<String> = (0..21).map(|column| format!("Drive {column}")).collect();
        let values = (1..21).map(|n| format!("{n}2,345.6\u{a0}±\u{a0}1.2\u{a0}%"));
        let rows = [std::iter::once("a".into()).chain(values).map(ColumnCell::from).collect::<Vec<_>>()];
        let counts = |room| -> Vec<usize> {
            bands(&fonts, (&head, &rows), 1, (ink(10.5), room))
                .iter()
                .map(|band| band.head.len() - 1)
                .collect()
        };
        let (least, most) = (
            |counts: &[usize]| counts.iter().min().copied(),
            |counts: &[usize]| counts.iter().max().copied(),
        );
        for room in [600.0, 700.0, 800.0, 900.0] {
            let counts = counts(room);
            assert_eq!(counts.iter().sum::<usize>(), 20);
            assert!(
                counts.len() > 1 && most(&counts) <= least(&counts).map(|least| least + counts.len()),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn row_headings_take_at_most_two_lines() {
        let fonts = Fonts::load().unwrap();
        let head: Vec<String> = (0..21).map(|column| format!("Drive {column}")).collect();
        let name = "WSAT RND 4KiB W, mean of the last 30 minutes, not judged (IOPS)";
        let numbers = (1..21).map(|n| format!("{n}2,345.6\u{a0}±\u{a0}1.2\u{a0}%"));
        let rows = [std::iter::once(name.into()).chain(numbers).map(ColumnCell::from).collect::<Vec<_>>()];
        for band in bands(&fonts, (&head, &rows), 1, (ink(10.5), 1000.0)) {
            let lines = fonts.wrap(name, ink(10.5).bold(), band.widths[0] - 2.0 * PAD.0);
            assert!(lines.len() <= 2, "{lines:?}");
        }
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
