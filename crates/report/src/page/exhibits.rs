//! The report pages: the PTS 1.0 page header, then what the test shows.

use pts::Outcome;
use pts::exhibit::{Cell, Exhibit, Facts, Page, Table};
use stdx::units::amount_base10;

use super::frame::{Place, banners, facts, model, or_na, report_run_date, sheet, test_run_date};
use super::title_line;
use crate::Document;
use crate::chart::{self, Size};
use crate::markup::escape;
use crate::text::{HOST_LIMITED_LEGEND, cell_text, has_host_limited};

/// A table with more columns than this has less room around its numbers.
const WIDE_COLUMNS: usize = 10;

/// Page `index` of `outcome`.
pub(super) fn page(document: &Document, outcome: &Outcome, index: usize, place: Place) -> String {
    let page = &outcome.pages[index];
    let size = room(document, outcome, page);
    let exhibits: String = page.exhibits.iter().map(|e| exhibit(e, &page.title, size)).collect();
    let marked = page.exhibits.iter().any(|e| matches!(e, Exhibit::Table(table) if has_host_limited(table)));
    let legend = marked.then(|| format!("* {HOST_LIMITED_LEGEND}."));
    let remarks = page.remarks.iter().chain(&legend);
    let remarks: String = remarks.map(|r| format!("<p class=\"remark\">{}</p>\n", escape(r))).collect();
    let body = format!(
        "{}<h2 class=\"plot-title\">{}</h2>\n<div class=\"exhibits{}\">{exhibits}{remarks}</div>\n",
        header(document, outcome, index),
        escape(&page.title),
        if is_of_tables(page) { " tables" } else { "" }
    );
    sheet(document, place, "plot", &banners(document, Some(outcome)), &body)
}

/// Several small tables stand side by side, or they would not fit on the sheet.
fn is_of_tables(page: &Page) -> bool {
    page.exhibits.len() > 1
        && page.exhibits.iter().all(|e| matches!(e, Exhibit::Table(table) if table.columns.len() <= 4))
}

/// Room for a chart in pixels of the sheet, so that its letters keep the size of those around it. An
/// estimate is enough: what is too large is scaled down.
fn room(document: &Document, outcome: &Outcome, page: &Page) -> Size {
    let is_chart = |e: &&Exhibit| !matches!(e, Exhibit::Table(_) | Exhibit::Facts(_));
    let boxes = page.exhibits.iter().map(|exhibit| match exhibit {
        Exhibit::Facts(facts) => 40.0 + 34.0 * facts.items.len().div_ceil(4) as f64,
        Exhibit::Table(table) => 80.0 + 33.0 * table.rows.len() as f64,
        Exhibit::Lines(_) | Exhibit::Columns3d(_) | Exhibit::ResponseTimes(_) => 0.0,
    });
    let marks = document.marks(Some(outcome)).len() as f64 * 27.0;
    let remarks = page.remarks.len() as f64 * 26.0;
    let left_over = Size::DEFAULT.height - marks - remarks - boxes.sum::<f64>();
    let charts = page.exhibits.iter().filter(is_chart).count().max(1);
    Size { height: (left_over / charts as f64).max(220.0), ..Size::DEFAULT }
}

fn exhibit(exhibit: &Exhibit, title: &str, size: Size) -> String {
    match exhibit {
        Exhibit::Table(table) => numbers(table),
        Exhibit::Facts(facts) => determination(facts),
        chart => chart::picture(chart, title, size).map(|svg| figure(&svg)).unwrap_or_default(),
    }
}

fn figure(svg: &str) -> String {
    format!("<figure>{svg}</figure>\n")
}

fn numbers(table: &Table) -> String {
    let columns: String =
        table.columns.iter().map(|c| format!("<th scope=\"col\">{}</th>", escape(c))).collect();
    let cell = |cell: &Cell| {
        let class = if matches!(cell, Cell::Absent(_)) { " class=\"absent\"" } else { "" };
        format!("<td{class}>{}</td>", escape(&cell_text(cell, table.decimals)))
    };
    let row = |row: &pts::exhibit::Row| {
        let cells: String = row.cells.iter().map(cell).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(&row.name))
    };
    format!(
        "<table class=\"numbers{}\"><caption>{}</caption><thead><tr><th rowspan=\"2\">{}</th><th colspan=\"{}\">{}</th></tr>\n\
         <tr>{columns}</tr></thead>\n<tbody>{}</tbody></table>\n",
        if table.columns.len() > WIDE_COLUMNS { " wide" } else { "" },
        escape(&table.heading),
        escape(&table.row_heading),
        table.columns.len().max(1),
        escape(&table.column_heading),
        table.rows.iter().map(row).collect::<String>()
    )
}

fn determination(facts: &Facts) -> String {
    let item = |(label, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(label), or_na(Some(value)))
    };
    format!(
        "<div class=\"determination\"><h3>{}</h3><dl>{}</dl></div>\n",
        escape(&facts.heading),
        facts.items.iter().map(item).collect::<String>()
    )
}

/// The page header of PTS 1.0, every field of it.
fn header(document: &Document, outcome: &Outcome, index: usize) -> String {
    let target = &document.run.target;
    let head = &outcome.header;
    let text = |text: &str| or_na(Some(text));
    let device = [
        ("Serial No.", or_na(target.serial.as_deref())),
        ("Firmware Rev", or_na(target.firmware.as_deref())),
        ("Capacity", amount_base10(target.capacity_bytes)),
        ("NAND Type", or_na(target.nand.as_deref())),
        ("Device I/F", or_na(target.interface.as_deref())),
        ("Test Platform", test_platform(document)),
    ];
    let preparation = [
        ("Purge", text(&head.purge)),
        ("Workload Independent", text(&head.workload_independent)),
        ("Workload Dep.", text(&head.workload_dependent)),
    ];
    let required = [("Data Pattern", text(&head.data_pattern))];
    let choice =
        [("OIO/Thread (QD)", head.queue_depth.to_string()), ("Thread Count (TC)", head.threads.to_string())];
    let steady = [
        ("Convergence", text(&head.convergence)),
        ("Rounds", text(&head.rounds)),
        ("PC AR", text(&head.pc_ar)),
        ("Test AR", text(&head.test_ar)),
        ("AR AMOUNT", text(&head.ar_amount)),
        ("AR Segments", text(&head.ar_segments)),
    ];
    format!(
        "<header class=\"pts\"><div class=\"dates\"><span>Test Run Date: <b>{}</b></span><span>Report Run Date: <b>{}</b></span></div>\n\
         <div class=\"title\">{}</div>\n\
         <div class=\"bar\"><span>SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)</span>\
         <span>Rev. {}</span><span>Page {} of {}</span></div>\n\
         <div class=\"dut\"><span>Device Under Test (DUT)</span><span>VENDOR: <b>{}</b></span>\
         <span>SSD MODEL NO: <b>{}</b></span><span>TEST SPONSOR: <b>n/a</b></span></div>\n\
         <div class=\"columns\"><div><h3>Device</h3>{}</div>\n<div><h3>DUT Preparation</h3>{}</div>\n\
         <div><h3>Test Loop Parameters</h3><h4>REQUIRED</h4>{}<h4>Tester&#39;s Choice</h4>{}</div>\n\
         <div><h3>Steady State</h3>{}</div></div></header>\n",
        test_run_date(document),
        report_run_date(document),
        escape(&title_line(document, outcome, "Report Page")),
        document.profile.revision,
        index + 1,
        outcome.pages.len(),
        or_na(target.vendor.as_deref()),
        escape(model(document)),
        facts("block", &device),
        preparation_facts(&preparation),
        facts("block", &required),
        facts("block", &choice),
        facts("block", &steady)
    )
}

fn preparation_facts(items: &[(&str, String); 3]) -> String {
    let [purge, rest @ ..] = items;
    format!(
        "{}<h4>Pre-Conditioning</h4>{}",
        facts("block", std::slice::from_ref(purge)),
        facts("block", rest)
    )
}

fn test_platform(document: &Document) -> String {
    let run = &document.run;
    let machine = match &run.target.simulated {
        Some(_) => "simulated".to_owned(),
        None => or_na(run.host.board.as_deref().or(run.host.cpu.as_deref())),
    };
    format!("{machine}; Plateau {}", escape(&run.plateau_version))
}
