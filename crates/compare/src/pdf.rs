//! The comparison as a PDF: the sections of the HTML page, on as many pages as they need.

use charts::Size;
use pts::exhibit::{Exhibit, Facts, Table};
use report::parts::{Block, ColumnAlign, ColumnCell, of_blocks, row_texts};

use crate::authored::Authored;
use crate::candidate::Candidate;
use crate::comparison::{Comparison, Line};
use crate::devices;
use crate::html::title;
use crate::overlays::{Overlay, named};
use crate::sections;
use crate::selected::{Selected, groups, listed, ranked};
use crate::statistics;
use crate::sweeps;
use crate::wording::{
    caption, decimals, difference, letter, letters, marks, mean_and_spread, parts, percent, unbroken,
};

const CHART: Size = Size { width: 900.0, height: 430.0 };
/// Size of a chart that contains all runs: two of them fit on a page, with the headings above and the sentences below.
const WIDE_CHART: Size = Size { width: 1047.0, height: 288.0 };
/// Size of one of many small charts, and how many fit in a row and on a page.
const SMALL: Size = Size { width: 198.0, height: 126.0 };
const SMALL_IN_ROW: usize = 5;
const SMALL_ON_PAGE: usize = 20;
/// Width of the ranked bars, which are drawn side by side in pairs.
const BARS: f64 = 516.0;
/// Maximum number of figures in a table.
const FIGURES_IN_TABLE: usize = 4;
/// Maximum length of the labels in the footer; if they are longer, the footer shows the marks of the runs
/// instead.
const FOOTER: usize = 120;
const READING: &str = "Mean over the rounds of the measurement window, with the standard deviation over them. \
                       Differences are relative to A, with the 95 % confidence interval in parentheses: Welch's \
                       interval for the logarithm of the ratio of the two means. If that interval contains zero, the \
                       difference is within noise. Pale: a test is not steady or not complete.";
const BARS_READING: &str = "The best run comes first. Whiskers are 95 % confidence intervals of the mean; outlines are \
                            not valid results: their test is not steady or not complete.";

/// Returns the whole comparison as a PDF.
///
/// # Errors
/// Returns an error if the PDF library rejects a picture or a page; the message says which.
pub fn pdf(comparison: &Comparison, authored: &Authored) -> Result<Vec<u8>, String> {
    let title = title(comparison);
    let mut blocks = vec![Block::Title(title.clone())];
    blocks.extend(points("Key points", &authored.key_points));
    blocks.push(runs(comparison));
    blocks.push(Block::Heading("Selected performance".into()));
    let groups = groups(comparison);
    // Once for all bars, before the first ones.
    blocks.extend((!groups.is_empty()).then(|| Block::Text(BARS_READING.into())));
    blocks.extend(groups.iter().flat_map(|group| selected(comparison, group)));
    blocks.push(Block::Text(READING.into()));
    blocks.extend(marks(comparison.lines.iter().filter(|line| line.selected)).map(Block::Text));
    blocks.extend(matrix(comparison));
    blocks.extend(warnings(comparison));
    blocks.extend(of_groups(comparison));
    for section in sweeps::sections(&comparison.runs) {
        blocks.push(Block::Heading(section.title.clone()));
        blocks.extend(overlay(&section.overlay, &section.title));
        blocks.extend(section.notes.iter().cloned().map(Block::Text));
        blocks.push(table(&section.table.heading, &section.table));
    }
    for section in sections::sections(&comparison.runs) {
        blocks.push(Block::Heading(section.title.clone()));
        // Notes after the pictures could end up alone on a page.
        blocks.extend(section.notes.iter().cloned().map(Block::Text));
        blocks.extend(section.overlays.iter().flat_map(|chart| overlay(chart, &section.title)));
        section.rows.iter().for_each(|row| blocks.extend(side_by_side(row)));
    }
    blocks.extend(every(comparison));
    blocks.extend(headers(comparison));
    blocks.extend(points("Notes", &authored.notes));
    of_blocks(&title, &footer(comparison), authored.watermark.as_deref(), blocks)
}

/// Returns the labels of runs that are not Plateau measurements of a drive, for every page, or the marks of all runs
/// if there are many. The labels come before the rest of the text, because text that is too long is truncated at its
/// end.
fn footer(comparison: &Comparison) -> String {
    let labels = sections::labels(&comparison.runs).join(" · ");
    let marks = if labels.len() <= FOOTER { labels } else { sections::marks(&comparison.runs) };
    let marks = if marks.is_empty() { marks } else { marks + " · " };
    let ids: Vec<&str> = comparison.runs.iter().map(|run| run.document.run.id.as_str()).collect();
    match ids.len() {
        0..=4 => format!("{marks}Plateau · comparison of runs {}", ids.join(", ")),
        count => format!("{marks}Plateau · comparison of {count} runs"),
    }
}

fn points(heading: &str, texts: &[String]) -> Vec<Block> {
    if texts.is_empty() {
        return Vec::new();
    }
    let heading = Block::Heading(heading.to_owned());
    std::iter::once(heading).chain(texts.iter().map(|text| Block::Text(format!("• {text}")))).collect()
}

/// Returns a run's letter, name and marks; none of them is truncated.
fn marked(runs: &[Candidate], index: usize) -> String {
    let marks: Vec<String> = runs[index].marks().into_iter().map(unbroken).collect();
    if marks.is_empty() {
        unbroken(&named(runs, index))
    } else {
        format!("{} {}", unbroken(&named(runs, index)), marks.join(" "))
    }
}

fn runs(comparison: &Comparison) -> Block {
    let row = |index: usize| {
        let run = &comparison.runs[index];
        let facts = devices::BRIEF.iter().map(|(_, of)| of(run));
        let id = run.document.run.id.clone();
        std::iter::once(marked(&comparison.runs, index))
            .chain(facts)
            .chain([id])
            .map(ColumnCell::from)
            .collect()
    };
    Block::Columns {
        caption: String::new(),
        align: ColumnAlign::Left,
        keep: 1,
        head: std::iter::once("Run")
            .chain(devices::BRIEF.iter().map(|(name, _)| *name))
            .chain(["Id"])
            .map(str::to_owned)
            .collect(),
        rows: (0..comparison.runs.len()).map(row).collect(),
    }
}

/// Bars and a table with one row per run.
fn selected(comparison: &Comparison, group: &Selected<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for pair in group.lines.chunks(2) {
        let bars: Vec<_> = pair.iter().map(|line| ranked(comparison, line)).collect();
        let height = bars.iter().map(charts::Ranked::height).fold(0.0, f64::max);
        let each = Size { width: BARS, height };
        let pictures: Vec<String> = bars.iter().map(|bars| charts::ranked_at_top(bars, each)).collect();
        let names: Vec<&str> = pair.iter().map(|line| line.name.as_str()).collect();
        let name = names.join(" and ");
        let (svg, size) = charts::grid(&pictures, each, 2, &name);
        blocks.push(Block::Picture { name, svg, height: size.height });
    }
    let (runs, others) = listed(comparison, group);
    for lines in group.lines.chunks(FIGURES_IN_TABLE) {
        let head = lines.iter().flat_map(|line| [format!("{} ({})", line.name, line.unit), "vs. A".into()]);
        let row = |run: usize| {
            let cells =
                lines.iter().flat_map(|line| [value(comparison, line, run), against(comparison, line, run)]);
            std::iter::once(marked(&comparison.runs, run).into()).chain(cells).collect()
        };
        blocks.push(Block::Columns {
            caption: group.title.to_owned(),
            align: ColumnAlign::Right,
            keep: 2,
            head: std::iter::once("Run".to_owned()).chain(head).collect(),
            rows: runs.iter().copied().map(row).collect(),
        });
    }
    blocks.extend(others.map(Block::Text));
    blocks
}

/// Returns a value with its spread; pale if it is not a valid result.
fn value(comparison: &Comparison, line: &Line, run: usize) -> ColumnCell {
    let figure = line.figures[run].as_ref();
    ColumnCell {
        text: unbroken(&mean_and_spread(figure, decimals(line))),
        pale: figure.is_some_and(|figure| !comparison.runs[run].is_valid(figure)),
    }
}

/// Returns the difference from the baseline; lines may break only between its parts. It is pale if it rests on a figure
/// that is not a valid result.
fn against(comparison: &Comparison, line: &Line, run: usize) -> ColumnCell {
    let text = match &line.differences[run] {
        None if run == 0 => "baseline".into(),
        None => "n/a".into(),
        Some(found) => parts(found).iter().map(|part| unbroken(part)).collect::<Vec<_>>().join(" "),
    };
    ColumnCell { text, pale: comparison.is_doubtful(line, run) }
}

/// Returns all differences of selected figures. Figures that the baseline lacks would be columns without values.
fn matrix(comparison: &Comparison) -> Vec<Block> {
    let chosen = || comparison.lines.iter().filter(|line| line.selected);
    let lines = || chosen().filter(|line| line.differences.iter().any(Option::is_some));
    if lines().next().is_none() {
        return Vec::new();
    }
    let row = |run: usize| {
        let cell = |line: &Line| match &line.differences[run] {
            Some(found) => ColumnCell {
                text: format!("{} {}", unbroken(&percent(found)), unbroken(found.finding.word())),
                pale: comparison.is_doubtful(line, run),
            },
            None => against(comparison, line, run),
        };
        let name = unbroken(&named(&comparison.runs, run)).into();
        std::iter::once(name).chain(lines().map(cell)).collect()
    };
    let mut blocks = vec![
        Block::Heading("Differences from A".into()),
        Block::Columns {
            caption: String::new(),
            align: ColumnAlign::Right,
            keep: 1,
            head: std::iter::once("Run".to_owned()).chain(lines().map(|line| line.name.clone())).collect(),
            rows: (0..comparison.runs.len()).map(row).collect(),
        },
    ];
    let omits = chosen().count() > lines().count();
    blocks.extend(omits.then(|| Block::Text("Figures that A lacks are not shown.".into())));
    blocks
}

fn warnings(comparison: &Comparison) -> Vec<Block> {
    if comparison.warnings.is_empty() {
        return Vec::new();
    }
    let rows = comparison.warnings.iter().flat_map(|warning| {
        warning.values.iter().enumerate().map(|(index, (runs, text))| {
            let subject = if index == 0 { warning.subject.clone() } else { String::new() };
            vec![subject, letters(runs), text.clone()]
        })
    });
    vec![
        Block::Heading("Before you compare".into()),
        Block::Table {
            caption: String::new(),
            shares: vec![1.6, 1.0, 5.0],
            head: ["Mark or difference", "Runs", "Value"].map(str::to_owned).into(),
            rows: rows.collect(),
        },
    ]
}

/// Returns statistics over groups of runs; empty if there are no groups.
fn of_groups(comparison: &Comparison) -> Vec<Block> {
    if comparison.groups.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Statistics over drives and runs".into())];
    for line in comparison.lines.iter().filter(|line| line.selected) {
        let row = |(group, summary): (&crate::group::Group, statistics::Summary)| {
            let found = summary.difference.as_ref().map_or_else(|| "n/a".to_owned(), difference);
            let [drives, runs, mean, interval, between_drives, between_runs, outliers] =
                statistics::cells(comparison, line, &summary);
            let numbers = [drives, runs, mean, interval, between_drives, between_runs];
            let numbers = numbers.map(|text| unbroken(&text)).into_iter();
            let cells = std::iter::once(group.name.clone()).chain(numbers).chain([outliers, found]);
            cells.map(ColumnCell::from).collect()
        };
        let head = std::iter::once("Group").chain(statistics::HEAD).chain(["vs. first"]);
        blocks.push(Block::Columns {
            caption: format!("{} ({})", line.name, line.unit),
            align: ColumnAlign::Right,
            keep: 1,
            head: head.map(str::to_owned).collect(),
            rows: comparison.groups.iter().zip(comparison.summaries(line)).map(row).collect(),
        });
    }
    blocks.push(Block::Text(statistics::READING.into()));
    blocks
}

/// Returns a chart of all runs, or small charts of one run each.
fn overlay(overlay: &Overlay, section: &str) -> Vec<Block> {
    let name = if overlay.title.is_empty() { section.to_owned() } else { overlay.title.clone() };
    let mut blocks = Vec::new();
    if !overlay.title.is_empty() {
        blocks.push(Block::Heading(overlay.title.clone()));
    }
    if overlay.is_split() {
        let all: Vec<String> = overlay.multiples(SMALL).map(|(_, svg)| svg).collect();
        for page in all.chunks(SMALL_ON_PAGE) {
            let (svg, size) = charts::grid(page, SMALL, SMALL_IN_ROW, &name);
            blocks.push(Block::Picture { name: name.clone(), svg, height: size.height });
        }
    } else {
        let svg = overlay.picture(section, WIDE_CHART);
        blocks.push(Block::Picture { name, svg, height: WIDE_CHART.height });
    }
    blocks.push(Block::Text(overlay.reading()));
    blocks
}

/// Returns the same exhibit from a few runs.
fn side_by_side(row: &sections::Row<'_>) -> Vec<Block> {
    let picture = |(_, name, exhibit): &(usize, String, &Exhibit)| {
        Some((name.clone(), sections::picture(exhibit, row, name, CHART)?))
    };
    let pictures: Vec<(String, String)> = row.each.iter().filter_map(picture).collect();
    let mut blocks = if pictures.is_empty() {
        row.each.iter().filter_map(|(_, name, exhibit)| as_table(name, exhibit)).collect()
    } else {
        vec![Block::Pictures(pictures)]
    };
    let texts = row.reading().into_iter().chain(row.rescaled.as_deref());
    blocks.extend(texts.map(|text| Block::Text(text.to_owned())));
    blocks
}

/// Returns all figures that are not selected.
fn every(comparison: &Comparison) -> Vec<Block> {
    let lines = || comparison.lines.iter().filter(|line| !line.selected);
    if lines().next().is_none() {
        return Vec::new();
    }
    let head = (0..comparison.runs.len()).map(|run| {
        let marks: Vec<String> = comparison.runs[run].marks().into_iter().map(unbroken).collect();
        std::iter::once(letter(run)).chain(marks).collect::<Vec<_>>().join(" ")
    });
    let row = |line: &Line| {
        let cells = (0..comparison.runs.len()).map(|run| value(comparison, line, run));
        std::iter::once(format!("{} ({})", line.name, line.unit).into()).chain(cells).collect()
    };
    let mut blocks = vec![
        Block::Title("Every figure".into()),
        Block::Columns {
            caption: String::new(),
            align: ColumnAlign::Right,
            keep: 1,
            head: std::iter::once("Figure".to_owned()).chain(head).collect(),
            rows: lines().map(row).collect(),
        },
    ];
    blocks.extend(marks(lines()).map(Block::Text));
    blocks
}

/// Returns the full header of every device.
fn headers(comparison: &Comparison) -> Vec<Block> {
    const IN_TABLE: usize = 4;
    let mut blocks = vec![Block::Title("The devices".into())];
    let all: Vec<usize> = (0..comparison.runs.len()).collect();
    for some in all.chunks(IN_TABLE) {
        let head = some.iter().map(|run| marked(&comparison.runs, *run));
        let row = |(name, of): &(&'static str, fn(&Candidate) -> String)| {
            let cells = some.iter().map(|run| of(&comparison.runs[*run]));
            std::iter::once((*name).to_owned()).chain(cells).collect()
        };
        blocks.push(Block::Table {
            caption: format!("Runs {}", letters(some)),
            shares: std::iter::once(1.0).chain(some.iter().map(|_| 2.0)).collect(),
            head: std::iter::once(String::new()).chain(head).collect(),
            rows: devices::HEADER.iter().map(row).collect(),
        });
    }
    let labels = sections::labels(&comparison.runs);
    blocks.extend((!labels.is_empty()).then(|| Block::Text(labels.join("; "))));
    blocks
}

fn table(caption: &str, table: &Table) -> Block {
    let cells = |(index, row): (usize, &pts::exhibit::Row)| {
        let cells = row_texts(table, index).into_iter().map(|text| unbroken(&text));
        std::iter::once(row.name.clone()).chain(cells).map(ColumnCell::from).collect()
    };
    Block::Columns {
        caption: caption.into(),
        align: ColumnAlign::Right,
        keep: 1,
        head: std::iter::once(table.row_heading.clone()).chain(table.columns.iter().cloned()).collect(),
        rows: table.rows.iter().enumerate().map(cells).collect(),
    }
}

fn as_table(name: &str, exhibit: &Exhibit) -> Option<Block> {
    match exhibit {
        Exhibit::Table(data) => Some(table(&format!("{name}: {}", caption(data)), data)),
        Exhibit::Facts(Facts { heading, items, .. }) => Some(Block::Table {
            caption: format!("{name}: {heading}"),
            shares: vec![1.0, 2.0],
            head: Vec::new(),
            rows: items.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect(),
        }),
        _ => None,
    }
}
