//! Annexes with separate page numbers: conformance statement, and data that the specification does not require.

use krilla::Document as Pdf;
use krilla::tagging::TagTree;

use super::Bookmark;
use super::flow::{self, Around, Block};
use super::letters::Letters;
use crate::Document;
use crate::beyond::{Beyond, cells};
use crate::care::TextTable;
use crate::chart;
use crate::conformance::{Clause, Conformance, Verdict};
use crate::content;
use crate::notes::NoteRow;
use crate::page::STATEMENT_REMARK;

/// Draws the notes `further`, which do not fit on page 1. Adds statement and further data if a test was started and measured by
/// Plateau.
pub(super) fn draw(
    pdf: &mut Pdf,
    document: &Document,
    further: Vec<NoteRow>,
    letters: &Letters,
    meaning: &mut TagTree,
    bookmarks: &mut Vec<Bookmark>,
) -> Result<(), String> {
    let mut blocks = notes(further);
    if !document.conformance.is_empty() {
        blocks.extend(statement_and_beyond(document));
    }
    if blocks.is_empty() {
        return Ok(());
    }
    let footer = content::footer(document);
    let first_page = crate::pages::pages(document).len();
    let around = Around { footer: &footer, numbered: "Annex page", first_page, marks_of: Some(document) };
    flow::draw(pdf, letters, meaning, bookmarks, blocks, &around)
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
        Block::Title("Annex N: special notes, continued from page 1".into()),
        Block::Table {
            caption: String::new(),
            shares: vec![11.0, 15.0, 74.0],
            head: ["ITEM", "NOTATION", "COMMENTS"].map(str::to_owned).into(),
            rows,
        },
    ]
}

fn statement_and_beyond(document: &Document) -> Vec<Block> {
    let revision = document.profile.revision;
    let mut blocks = vec![
        Block::Title("Annex A: conformance statement".into()),
        Block::Text(format!(
            "What {revision} requires, what was done, and the journal records that show it. \
             {STATEMENT_REMARK}"
        )),
    ];
    blocks.extend(document.conformance.iter().flat_map(of_test));
    blocks.push(Block::Title("Annex B: beyond the standard".into()));
    blocks.push(Block::Text(format!(
        "Nothing here is required by {revision}, and nothing here affects a verdict."
    )));
    blocks.extend(document.beyond.iter().flat_map(|test| beyond(document, test)));
    blocks.extend(document.care.iter().flat_map(text_table));
    blocks
}

fn text_table(table: &TextTable) -> [Block; 2] {
    [
        Block::Heading(table.caption.into()),
        Block::Table {
            caption: String::new(),
            shares: table.head.iter().map(|(_, share)| *share).collect(),
            head: table.head.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: table.rows.clone(),
        },
    ]
}

fn of_test(conformance: &Conformance) -> [Block; 2] {
    let row = |clause: &Clause| {
        let records = match clause.records.as_slice() {
            [] => "-".to_owned(),
            [one] => one.to_string(),
            [first, .., last] => format!("{first} to {last}"),
        };
        let verdict = clause.verdict.map_or("not recorded", Verdict::words).to_owned();
        vec![clause.clause.clone(), clause.required.clone(), clause.done.clone(), verdict, records]
    };
    [
        Block::Heading(format!("{}: {}", conformance.title, conformance.verdict.words())),
        Block::Table {
            caption: String::new(),
            shares: vec![16.0, 30.0, 32.0, 12.0, 10.0],
            head: ["Clause", "Required", "Done", "Verdict", "Journal records"].map(str::to_owned).into(),
            rows: conformance.clauses.iter().map(row).collect(),
        },
    ]
}

fn beyond(document: &Document, test: &Beyond) -> Vec<Block> {
    let name = format!("{}: IOPS, response times and health over the whole test", test.title);
    let picture = chart::timeline(&test.timeline, &name);
    let mut blocks = vec![Block::Heading(test.title.clone())];
    blocks.push(Block::Picture { name, svg: picture, height: test.timeline.size().height });
    let spent = test.spent.iter().map(|spent| format!("{spent}. ")).collect::<String>();
    blocks.push(Block::Text(spent + &test.remark));
    if let Some(table) = cells::table(&test.cells, document.run.scale_divisor() > 1) {
        let mut shares = vec![28.0, 14.0, 9.0, 9.0, 9.0, 9.0, 9.0, 13.0];
        shares.resize(table.heads.len(), 8.0);
        let caption = format!("{}: response times in ms; {}", test.title, table.caption);
        blocks.push(Block::Table { caption, shares, head: table.heads, rows: table.rows });
    }
    blocks
}
