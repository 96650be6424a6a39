//! The annexes.

use pts::exhibit::{Exhibit, Page};

use super::exhibits::{determination, figure, narrow, numbers};
use super::frame::{SCROLLER, banners};
use super::notes;
use crate::document::contents::Document;
use crate::facts::conformance::{Clause, Conformance, Verdict};
use crate::facts::drive_and_host::TextTable;
use crate::facts::supplement::workload_table::WorkloadTable;
use crate::facts::supplement::{Supplement, percentiles};
use crate::pages::annexes;
use crate::pages::notes::notes_of_run;
use charts::markup::{escape, escape_running};

/// Returns the annexes, which follow the last page.
pub(super) fn annex(document: &Document) -> String {
    let (_, further) = notes_of_run(document);
    let notes = match further.as_slice() {
        [] => String::new(),
        rows => sheet(document, 'n', annexes::NOTES_TITLE, &notes::table(rows)),
    };
    notes + &statement_and_supplement(document)
}

fn sheet(document: &Document, letter: char, title: &str, body: &str) -> String {
    let marks = banners(document, None);
    format!(
        "<article class=\"sheet annex\" id=\"page-{letter}\">\n{marks}<h2>{title}</h2>\n{body}</article>\n"
    )
}

/// Returns the conformance statement and the supplement; empty if no test was started, or if an imported run's file
/// contains neither power values nor the I/O overhead of a file system.
fn statement_and_supplement(document: &Document) -> String {
    if document.has_stated_measurements() {
        return sheet(document, 'b', annexes::SUPPLEMENT_TITLE, &stated(document));
    }
    if document.conformance.is_empty() {
        return String::new();
    }
    let statement: String = document.conformance.iter().map(of_test).collect();
    let statement =
        format!("<p>{}</p>\n{statement}", escape_running(&annexes::statement_introduction(document)));
    let tests: String = document.supplements.iter().map(|test| supplement(document, test)).collect();
    let tables: String = document.drive_and_host.iter().map(text_table).collect();
    let supplement = format!(
        "<p>{}</p>\n{}{tests}{tables}",
        annexes::supplement_introduction(document),
        statements(document)
    );
    sheet(document, 'a', annexes::STATEMENT_TITLE, &statement)
        + &sheet(document, 'b', annexes::SUPPLEMENT_TITLE, &supplement)
}

/// Returns the descriptions of the power measurement and, if the target is a file, of its file system.
fn statements(document: &Document) -> String {
    let all = [Some(&document.power), document.on_file.as_ref()].into_iter().flatten();
    all.map(|text| format!("<p>{}</p>\n", escape(text))).collect()
}

/// Returns the power and the I/O overhead of the file system, as stated in an imported run's file.
fn stated(document: &Document) -> String {
    let mut out = format!("<p>{}</p>\n{}", annexes::STATED_INTRODUCTION, statements(document));
    for one in &document.per_workload {
        let tables = document.workload_tables(&one.test);
        if !tables.is_empty() {
            out += &format!("<h3>{}</h3>\n", escape(&one.title));
            out.extend(tables.iter().map(workload_table));
        }
    }
    out
}

fn text_table(table: &TextTable) -> String {
    let heads: String = table.head.iter().map(|(name, _)| format!("<th scope=\"col\">{name}</th>")).collect();
    let row = |cells: &Vec<String>| {
        let cell = |(text, (head, _)): (&String, &(&str, f64))| labelled(head, &linked(text));
        format!("<tr>{}</tr>\n", cells.iter().zip(&table.head).map(cell).collect::<String>())
    };
    let class = if table.is_of_numbers { "readings" } else { "clauses" };
    let rows: String = table.rows.iter().map(row).collect();
    format!(
        "<h3>{}</h3>\n{SCROLLER}<table class=\"{class}\"><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n",
        table.caption
    )
}

/// A cell that repeats the heading of its column on narrow screens.
fn labelled(head: &str, shown: &str) -> String {
    format!("<td data-label=\"{head}\">{shown}</td>")
}

/// A cell as text, or as a link if it is an address.
fn linked(text: &str) -> String {
    let shown = escape(text);
    let is_web = record::Link { name: String::new(), address: text.into() }.is_web();
    if is_web { format!("<a rel=\"noopener noreferrer\" href=\"{shown}\">{shown}</a>") } else { shown }
}

fn of_test(conformance: &Conformance) -> String {
    let heads: String =
        annexes::CLAUSE_HEADINGS.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    let rows: String = conformance.clauses.iter().map(row).collect();
    format!(
        "<h3>{}: <span class=\"verdict {}\">{}</span></h3>\n{SCROLLER}<table class=\"clauses\"><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n",
        escape(&conformance.title),
        class(Some(conformance.verdict)),
        conformance.verdict.words()
    )
}

fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Conforms) => "good",
        Some(Verdict::Modified) => "mod",
        Some(Verdict::DoesNotConform) => "bad",
        None => "open",
    }
}

fn row(clause: &Clause) -> String {
    let [_, required, done, verdict, records] = annexes::CLAUSE_HEADINGS;
    format!(
        "<tr><th scope=\"row\">{}</th>{}{}<td class=\"verdict {}\" data-label=\"{verdict}\">{}</td>{}</tr>\n",
        escape(&clause.clause),
        labelled(required, &escape_running(&clause.required)),
        labelled(done, &escape_running(&clause.done)),
        class(clause.verdict),
        annexes::clause_verdict(clause),
        labelled(records, &annexes::clause_records(clause))
    )
}

fn supplement(document: &Document, test: &Supplement) -> String {
    let mut out = format!("<h3>{}</h3>\n", escape(&test.title));
    if let Some(spent) = &test.spent {
        out += &format!("<p>{}.</p>\n", escape(spent));
    }
    let name = annexes::timeline_name(test);
    let picture = charts::timeline(&test.timeline, &name);
    let narrow = narrow(Some(charts::narrow_timeline(&test.timeline, &name)));
    out += &format!("<figure>{picture}{narrow}</figure>\n");
    out += &format!("<p class=\"remark\">{}</p>\n", escape_running(&test.remark));
    let times = percentiles::table(&test.workloads, document.run.scale_divisor() > 1);
    out += &annexes::beyond(document, test).iter().map(page_beyond).collect::<String>();
    out.extend(
        times.into_iter().chain(document.workload_tables(&test.test)).map(|table| workload_table(&table)),
    );
    out
}

/// Returns a page that the specification does not contain.
fn page_beyond(page: &Page) -> String {
    let drawn = |exhibit: &Exhibit| match exhibit {
        Exhibit::Table(table) => numbers(table),
        Exhibit::Facts(facts) => determination(facts),
        chart => {
            let svg = charts::picture(chart, &page.title, annexes::BEYOND).unwrap_or_default();
            let narrow = narrow(charts::narrow_picture(chart, &page.title));
            figure(&(svg + &narrow), chart)
        }
    };
    let exhibits: String = page.exhibits.iter().map(drawn).collect();
    let remarks: String = page
        .remarks
        .iter()
        .map(|text| format!("<p class=\"remark\">{}</p>\n", escape_running(text)))
        .collect();
    format!("<h4>{}</h4>\n{exhibits}{remarks}", escape(&page.title))
}

/// Returns a table of the measured workloads over the window.
fn workload_table(table: &WorkloadTable) -> String {
    let head = |(i, head): (usize, &String)| {
        let class = if i == 0 { "" } else { " class=\"n\"" };
        format!("<th scope=\"col\"{class}>{}</th>", escape(head))
    };
    let row = |cells: &Vec<String>| {
        let figures: String =
            cells[1..].iter().map(|cell| format!("<td class=\"n\">{}</td>", escape(cell))).collect();
        format!("<tr><th scope=\"row\">{}</th>{figures}</tr>\n", escape(&cells[0]))
    };
    format!(
        "{SCROLLER}<table class=\"percentiles\"><caption><span>{}</span></caption><thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table></div>\n",
        escape(&table.caption),
        table.heads.iter().enumerate().map(head).collect::<String>(),
        table.rows.iter().map(row).collect::<String>()
    )
}

/// Returns the links to the annexes in the list of pages.
pub(super) fn links(document: &Document) -> String {
    let (_, further) = notes_of_run(document);
    let notes = if further.is_empty() {
        ""
    } else {
        "<li><a href=\"#page-n\"><span>Special notes, continued</span><b>N</b></a></li>\n"
    };
    let supplement = "<li><a href=\"#page-b\"><span>Beyond the standard</span><b>B</b></a></li>\n";
    if document.has_stated_measurements() {
        return format!("{notes}{supplement}");
    }
    if document.conformance.is_empty() {
        return notes.to_owned();
    }
    format!(
        "{notes}<li><a href=\"#page-a\"><span>Conformance: {}</span><b>A</b></a></li>\n{supplement}",
        document.verdict(None).words()
    )
}
