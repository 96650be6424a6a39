//! The annexes, with separate page numbers.

use pts::exhibit::{Exhibit, Facts, Page, Row, Table};

use super::flow::{self, Block, PageFrame};
use super::summary::NOTE_SHARES;
use crate::document::contents::Document;
use crate::facts::conformance::{Clause, Conformance};
use crate::facts::drive_and_host::TextTable;
use crate::facts::supplement::workload_table::WorkloadTable;
use crate::facts::supplement::{Supplement, percentiles};
use crate::pages::annexes;
use crate::pages::cells::row_texts;
use crate::pages::list::pages;
use crate::pages::notes::NoteRow;
use crate::pages::titles;
use print::writer::PdfWriter;

/// Draws the notes in `further`, which do not fit on page 1. If a test was started and measured by Plateau, adds
/// the conformance statement and the supplement; if an imported file contains power values or the I/O overhead
/// of a file system, adds a supplement.
pub(super) fn draw(writer: &mut PdfWriter, document: &Document, further: Vec<NoteRow>) -> Result<(), String> {
    let mut blocks = notes(further);
    if !document.conformance.is_empty() {
        blocks.extend(statement_and_supplement(document));
    } else if document.has_stated_measurements() {
        blocks.extend(stated(document));
    }
    if blocks.is_empty() {
        return Ok(());
    }
    let footer = titles::footer(document);
    // The cover is not numbered.
    let first_page = 1 + pages(document).len();
    let frame = PageFrame {
        footer: &footer,
        numbered: "Annex page",
        first_page,
        marks_of: Some(document),
        watermark: None,
    };
    writer.label("Annex ", true);
    flow::draw(writer, blocks, &frame)
}

fn notes(further: Vec<NoteRow>) -> Vec<Block> {
    let rows: Vec<Vec<String>> = further
        .into_iter()
        .flat_map(|NoteRow { item, notation, comments }| {
            comments.into_iter().map(move |comment| vec![item.clone(), notation.clone(), comment])
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Title(annexes::NOTES_TITLE.into()),
        Block::Table {
            caption: String::new(),
            shares: NOTE_SHARES.into(),
            head: ["ITEM", "NOTATION", "COMMENTS"].map(str::to_owned).into(),
            rows,
        },
    ]
}

fn statement_and_supplement(document: &Document) -> Vec<Block> {
    let mut blocks = vec![
        Block::Title(annexes::STATEMENT_TITLE.into()),
        Block::Text(annexes::statement_introduction(document)),
    ];
    blocks.extend(document.conformance.iter().flat_map(of_test));
    blocks.push(Block::Title(annexes::SUPPLEMENT_TITLE.into()));
    blocks.push(Block::Text(annexes::supplement_introduction(document)));
    blocks.extend(statements(document));
    blocks.extend(document.supplements.iter().flat_map(|test| supplement(document, test)));
    blocks.extend(document.drive_and_host.iter().flat_map(text_table));
    blocks
}

/// Returns the descriptions of the power measurement and, if the target is a file, of its file system.
fn statements(document: &Document) -> impl Iterator<Item = Block> {
    [Some(document.power.clone()), document.on_file.clone()].into_iter().flatten().map(Block::Text)
}

/// Returns the power and the I/O overhead of the file system, as stated in an imported run's file.
fn stated(document: &Document) -> Vec<Block> {
    let mut blocks = vec![
        Block::Title(annexes::SUPPLEMENT_TITLE.into()),
        Block::Text(annexes::STATED_INTRODUCTION.into()),
    ];
    blocks.extend(statements(document));
    for one in &document.per_workload {
        let tables = document.workload_tables(&one.test).into_iter();
        blocks.extend(tables.map(|table| workload_table(&one.title, table)));
    }
    blocks
}

/// Returns a table of the measured workloads over the window.
fn workload_table(test: &str, table: WorkloadTable) -> Block {
    let caption = format!("{test}: {}", table.caption);
    Block::Numbers { caption, shares: table.shares, head: table.heads, rows: table.rows }
}

fn text_table(table: &TextTable) -> [Block; 2] {
    let (caption, rows) = (String::new(), table.rows.clone());
    let shares = table.head.iter().map(|(_, share)| *share).collect();
    let head = table.head.iter().map(|(name, _)| (*name).to_owned()).collect();
    let block = if table.is_of_numbers {
        Block::Numbers { caption, shares, head, rows }
    } else {
        Block::Table { caption, shares, head, rows }
    };
    [Block::Heading(table.caption.into()), block]
}

fn of_test(conformance: &Conformance) -> [Block; 2] {
    let row = |clause: &Clause| {
        vec![
            clause.clause.clone(),
            clause.required.clone(),
            clause.done.clone(),
            annexes::clause_verdict(clause).to_owned(),
            annexes::clause_records(clause),
        ]
    };
    [
        Block::Heading(format!("{}: {}", conformance.title, conformance.verdict.words())),
        Block::Table {
            caption: String::new(),
            shares: vec![16.0, 30.0, 32.0, 12.0, 10.0],
            head: annexes::CLAUSE_HEADINGS.map(str::to_owned).into(),
            rows: conformance.clauses.iter().map(row).collect(),
        },
    ]
}

/// Returns a page that the specification does not contain.
fn page_beyond(page: &Page) -> Vec<Block> {
    let drawn = |exhibit: &Exhibit| match exhibit {
        Exhibit::Table(data) => vec![numbers(page, data)],
        Exhibit::Facts(facts) => vec![labelled(page, facts)],
        chart => {
            let Some(svg) = charts::picture(chart, &page.title, annexes::BEYOND) else { return Vec::new() };
            let finding = charts::finding(chart).map(|text| format!("{text}."));
            let reading = chart.reading().map(|reading| charts::sentence(reading).to_owned());
            let text = Block::Text(finding.into_iter().chain(reading).collect::<Vec<_>>().join(" "));
            vec![Block::Pictures(vec![(page.title.clone(), svg)]), text]
        }
    };
    page.exhibits.iter().flat_map(drawn).chain(page.remarks.iter().cloned().map(Block::Text)).collect()
}

/// Returns a table of numbers. All columns are equally wide, except for the column of names, which is twice as
/// wide.
fn numbers(page: &Page, table: &Table) -> Block {
    let row = |(index, row): (usize, &Row)| {
        std::iter::once(row.name.clone()).chain(row_texts(table, index)).collect()
    };
    let columns = table.columns.iter();
    Block::Numbers {
        caption: match table.column_heading.as_str() {
            "" => format!("{}: {}", page.title, table.heading),
            columns => format!("{}: {}, by {columns}", page.title, table.heading),
        },
        shares: std::iter::once(2.0).chain(columns.clone().map(|_| 1.0)).collect(),
        head: std::iter::once(&table.row_heading).chain(columns).cloned().collect(),
        rows: table.rows.iter().enumerate().map(row).collect(),
    }
}

fn labelled(page: &Page, facts: &Facts) -> Block {
    Block::Table {
        caption: format!("{}: {}", page.title, facts.heading),
        shares: vec![2.0, 5.0],
        head: Vec::new(),
        rows: facts.items.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect(),
    }
}

fn supplement(document: &Document, test: &Supplement) -> Vec<Block> {
    let name = annexes::timeline_name(test);
    let picture = charts::timeline(&test.timeline, &name);
    let mut blocks = vec![Block::Heading(test.title.clone())];
    blocks.push(Block::Picture { name, svg: picture, height: test.timeline.size().height });
    let spent = test.spent.iter().map(|spent| format!("{spent}. ")).collect::<String>();
    blocks.push(Block::Text(spent + &test.remark));
    blocks.extend(annexes::beyond(document, test).iter().flat_map(page_beyond));
    let times = percentiles::table(&test.workloads, document.run.scale_divisor() > 1);
    let all = times.into_iter().chain(document.workload_tables(&test.test));
    blocks.extend(all.map(|table| workload_table(&test.title, table)));
    blocks
}
