//! The comparison as a PDF: the sections of the HTML page on as many pages as they need.

use pts::exhibit::{Exhibit, Facts, Table};

use crate::comparison::{Comparison, Line};
use crate::sections;
use crate::sweeps;
use crate::wording::{difference, letter, marks, mean};
use charts::Size;
use report::parts::{Block, Figure, cell_text, of_blocks};

const CHART: Size = Size { width: 900.0, height: 430.0 };
/// Size of a chart that contains all runs.
const WIDE_CHART: Size = Size { width: 1047.0, height: 330.0 };

/// The whole comparison.
///
/// # Errors
/// Returns an error if the PDF library rejects a picture or a page; the message names it.
pub fn pdf(comparison: &Comparison) -> Result<Vec<u8>, String> {
    let names: Vec<&str> = comparison.names().collect();
    let title = format!("Comparison: {}", names.join(", "));
    let mut blocks = vec![Block::Title(title.clone()), devices(comparison)];
    if !comparison.warnings.is_empty() {
        blocks.push(Block::Heading("Before you compare".into()));
        blocks.extend(comparison.warnings.iter().map(|text| Block::Text(format!("• {text}"))));
    }
    blocks.push(Block::Heading("Selected performance".into()));
    blocks.extend(figures(comparison, |line| line.selected));
    for section in sweeps::sections(&comparison.runs) {
        blocks.push(Block::Heading(section.title.clone()));
        let (name, svg) = (section.title.clone(), section.picture(WIDE_CHART));
        blocks.push(Block::Picture { name, svg, height: WIDE_CHART.height });
        blocks.extend(section.notes.iter().cloned().map(Block::Text));
        blocks.push(table(&section.table.heading, &section.table));
    }
    for section in sections::sections(&comparison.runs) {
        blocks.push(Block::Heading(section.title.clone()));
        for row in &section.rows {
            let pictures: Vec<(String, String)> = row
                .each
                .iter()
                .filter_map(|(name, exhibit)| {
                    Some((name.clone(), sections::picture(exhibit, row, name, CHART)?))
                })
                .collect();
            if pictures.is_empty() {
                blocks.extend(row.each.iter().filter_map(|(name, exhibit)| as_table(name, exhibit)));
            } else {
                blocks.push(Block::Pictures(pictures));
            }
            let texts = row.reading().into_iter().chain(row.rescaled.as_deref());
            blocks.extend(texts.map(|text| Block::Text(text.to_owned())));
        }
        blocks.extend(section.notes.into_iter().map(Block::Text));
    }
    blocks.push(Block::Title("Every figure".into()));
    blocks.extend(figures(comparison, |line| !line.selected));
    let runs: Vec<&str> = comparison.runs.iter().map(|run| run.document.run.id.as_str()).collect();
    let footer = format!("{}Plateau · comparison of runs {}", labelled(comparison), runs.join(", "));
    of_blocks(&title, &footer, blocks)
}

/// Labels of runs that are not Plateau measurements of a drive, for every page: `A SIMULATED sas-slc-2011 v2 1/512 seed
/// 1 · `. They precede the rest of the footer, which is truncated at its end if it is too long.
fn labelled(comparison: &Comparison) -> String {
    sections::labels(&comparison.runs).iter().map(|label| format!("{label} · ")).collect()
}

fn devices(comparison: &Comparison) -> Block {
    let head = comparison.runs.iter().enumerate().map(|(i, run)| format!("{} {}", letter(i), run.name));
    let row =
        |(name, cells): (&'static str, Vec<String>)| std::iter::once(name.to_owned()).chain(cells).collect();
    Block::Table {
        caption: String::new(),
        shares: std::iter::once(1.0).chain(comparison.runs.iter().map(|_| 2.0)).collect(),
        head: std::iter::once(String::new()).chain(head).collect(),
        rows: sections::devices(&comparison.runs).into_iter().map(row).collect(),
    }
}

fn figures(comparison: &Comparison, shown: impl Fn(&Line) -> bool) -> Vec<Block> {
    let lines = || comparison.lines.iter().filter(|line| shown(line));
    let rows: Vec<Vec<String>> = lines().map(figure_row).collect();
    if rows.is_empty() {
        return vec![Block::Text("None.".into())];
    }
    let runs = comparison.runs.len();
    let head = ["Figure".to_owned(), "Unit".into()]
        .into_iter()
        .chain((0..runs).map(letter))
        .chain((1..runs).map(|i| format!("{} vs. A", letter(i))));
    let shares = [3.2, 0.8].into_iter().chain((0..runs).map(|_| 1.6)).chain((1..runs).map(|_| 2.6));
    let mut blocks = vec![
        Block::Table { caption: String::new(), shares: shares.collect(), head: head.collect(), rows },
        Block::Text(
            "Mean over the rounds of the measurement window, with the standard deviation over them. \
             Differences are relative to A, with the 95 % confidence interval in parentheses. If that \
             interval contains zero, the difference is within noise."
                .into(),
        ),
    ];
    blocks.extend(marks(lines()).map(Block::Text));
    blocks
}

fn figure_row(line: &Line) -> Vec<String> {
    let figure = |figure: &Option<Figure>| {
        let text = figure.as_ref().and_then(|figure| {
            let spread = figure.spread_share().map(|share| format!(" ± {:.1} %", share * 100.0));
            Some(format!("{}{}", mean(figure)?, spread.unwrap_or_default()))
        });
        text.unwrap_or_else(|| "n/a".into())
    };
    let differences = line.differences.iter().skip(1);
    let differences = differences.map(|found| found.as_ref().map_or_else(|| "n/a".to_owned(), difference));
    [line.name.clone(), line.unit.to_string()]
        .into_iter()
        .chain(line.figures.iter().map(figure))
        .chain(differences)
        .collect()
}

fn table(caption: &str, table: &Table) -> Block {
    let cells = |row: &pts::exhibit::Row| {
        let cells = row.cells.iter().map(|cell| cell_text(cell, table.decimals));
        std::iter::once(row.name.clone()).chain(cells).collect()
    };
    Block::Table {
        caption: caption.into(),
        shares: std::iter::once(1.5).chain(table.columns.iter().map(|_| 1.0)).collect(),
        head: std::iter::once(table.row_heading.clone()).chain(table.columns.iter().cloned()).collect(),
        rows: table.rows.iter().map(cells).collect(),
    }
}

fn as_table(name: &str, exhibit: &Exhibit) -> Option<Block> {
    match exhibit {
        Exhibit::Table(data) => {
            let caption = format!("{name}: {}, {}", data.heading, data.column_heading);
            Some(table(&caption, data))
        }
        Exhibit::Facts(Facts { heading, items, .. }) => Some(Block::Table {
            caption: format!("{name}: {heading}"),
            shares: vec![1.0, 2.0],
            head: Vec::new(),
            rows: items.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect(),
        }),
        _ => None,
    }
}
