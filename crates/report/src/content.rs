//! Contents of the pages as plain text, shared by the HTML and PDF layouts.

mod header;

use pts::exhibit::{Exhibit, Page};
use pts::host_limit::{legend, marked};
use pts::{KeyFigure, Outcome};
use stdx::units::{amount_base2, amount_base10, grouped};

use crate::Document;
use crate::conformance::Verdict;
use crate::document::{Mark, MarkKind, date};
use crate::markup::shortened;
use crate::text::has_marks;

pub(crate) use header::{Column, header};

/// The line on every PTS page.
const SPECIFICATION: &str = "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)";
/// Short form for summary pages.
const SPECIFICATION_SHORT: &str = "SNIA Solid State Storage Performance Test Specification (PTS)";
/// Replaces that line on the pages of imported runs.
const IMPORTED: &str = "Results of another tool or publication, imported by Plateau";

/// The line at the top of a report page.
pub(crate) fn specification(document: &Document) -> &'static str {
    if document.run.origin.is_some() { IMPORTED } else { SPECIFICATION }
}

/// The line at the top of a summary page.
pub(crate) fn specification_short(document: &Document) -> &'static str {
    if document.run.origin.is_some() { IMPORTED } else { SPECIFICATION_SHORT }
}

/// Heading above the clauses: the series of the specification.
pub(crate) fn series(document: &Document) -> &'static str {
    match document.run.origin {
        Some(_) => "PTS",
        None => document.profile.revision.split(' ').next().unwrap_or_default(),
    }
}

/// The test with its clause, if it has one: `8.0 IOPS`.
pub(crate) fn numbered(outcome: &Outcome) -> String {
    match outcome.clause {
        "n/a" => outcome.title.clone(),
        clause => format!("{clause} {}", outcome.title),
    }
}

/// Title of the first page.
pub(crate) fn summary_kind(document: &Document) -> &'static str {
    if document.run.origin.is_some() { "Imported Results Summary" } else { "SNIA SSS PTS Summary Report" }
}

/// A label and its value.
pub(crate) type Fact = (&'static str, String);

/// Replaces a missing fact by `n/a`, so that no field on a page is empty.
pub(crate) fn or_na(fact: Option<&str>) -> String {
    fact.map(str::trim).filter(|fact| !fact.is_empty()).unwrap_or("n/a").to_owned()
}

/// The model as printed; a file or simulated drive without a model is identified by its path.
pub(crate) fn model(document: &Document) -> &str {
    document.run.target.model.as_deref().filter(|m| !m.trim().is_empty()).unwrap_or(&document.run.target.path)
}

/// PTS title line of a test: `Enterprise IOPS (REQUIRED) - Report Page`.
pub(crate) fn title_line(document: &Document, outcome: &Outcome, kind: &str) -> String {
    format!("{} {} ({}) - {kind}", document.profile.class, outcome.title, outcome.header.requirement)
}

/// Title of the whole document.
pub(crate) fn document_title(document: &Document) -> String {
    let mark = document.watermark().map(|word| format!("{word} - ")).unwrap_or_default();
    let by = document.run.origin.as_ref().map_or(document.profile.revision, |origin| origin.tool.as_str());
    format!("{mark}{} - {by} report", model(document))
}

/// Maximum characters of a list in a banner; longer lists would leave too little space for the plot.
const NAMED_CHARACTERS: usize = 130;

/// One strip per mark: kind, label, text. Long lists are shortened; the special notes on page 1 contain them in full.
pub(crate) fn strips(document: &Document, outcome: Option<&Outcome>) -> Vec<(MarkKind, String, String)> {
    let strip = |mark: Mark| {
        let text = in_short(&mark.details);
        let label = if mark.kind == MarkKind::Modified { "modified:".into() } else { mark.title };
        (mark.kind, label, text)
    };
    let mut strips: Vec<_> = document.marks(outcome).into_iter().map(strip).collect();
    let verdict = document.verdict(outcome);
    // Imported runs have no conformance statement; their mark already labels them.
    if verdict == Verdict::DoesNotConform {
        let told = format!("{} to {}", verdict.words(), document.profile.revision);
        match strips.first_mut() {
            Some((_, _, text)) => *text = format!("{text}; {told}"),
            None => strips.push((MarkKind::NotComplete, "NOT A RESULT OF THE PTS".into(), told)),
        }
    }
    strips
}

fn in_short(details: &[String]) -> String {
    let mut named = details.len();
    while named > 1
        && details[..named].iter().map(|d| d.chars().count() + 2).sum::<usize>() > NAMED_CHARACTERS
    {
        named -= 1;
    }
    let text = shortened(&details[..named].join("; "), NAMED_CHARACTERS + 10);
    match details.len() - named {
        0 => text,
        more => format!("{text}; and {more} more: see Special Notes, page 1"),
    }
}

/// Left part of the footer of every page.
pub(crate) fn footer(document: &Document) -> String {
    format!(
        "Plateau {} · run {} · journal SHA-256 {}…",
        document.run.plateau_version,
        document.run.id,
        document.digest.get(..16).unwrap_or(&document.digest)
    )
}

/// Headings of the table of tests, with the columns that each one spans.
pub(crate) const SET_UP_HEADINGS: [(&str, &[&str]); 8] = [
    ("", &[]),
    ("TEST", &[]),
    ("Purge", &[]),
    ("DP", &[]),
    ("OIO", &[]),
    ("WIPC", &["PC AR", "TEST AR"]),
    ("WDPC", &["AR AMT", "SEGMENTS"]),
    ("STEADY STATE", &["WORKLOAD", "ROUNDS", "CONVERGENCE"]),
];

/// Row of a test in the table of tests.
pub(crate) fn set_up_row(outcome: &Outcome) -> [String; 12] {
    let h = &outcome.header;
    [
        outcome.clause.to_owned(),
        format!("{} - {}", outcome.title, h.requirement),
        h.purge.clone(),
        h.data_pattern.clone(),
        demand(h),
        h.pc_ar.clone(),
        h.test_ar.clone(),
        h.ar_amount.clone(),
        h.ar_segments.clone(),
        h.workload_dependent.clone(),
        h.rounds.clone(),
        h.convergence.to_string(),
    ]
    .map(|cell| or_na(Some(&cell)))
}

/// Threads and queue depth; imported tests may lack them.
fn demand(header: &pts::TestHeader) -> String {
    match (header.threads, header.queue_depth) {
        (0, 0) => "n/a".into(),
        (threads, depth) => format!("TC {} QD {}", number(threads), number(depth)),
    }
}

fn number(value: u16) -> String {
    if value == 0 { "n/a".into() } else { value.to_string() }
}

/// Capacity as printed; imported runs may lack it.
pub(crate) fn capacity(document: &Document) -> String {
    match document.run.target.capacity_bytes {
        0 => "n/a".into(),
        bytes => amount_base10(bytes),
    }
}

fn exact_capacity(document: &Document) -> String {
    match document.run.target.capacity_bytes {
        0 => "n/a".into(),
        bytes => format!("{} ({} B)", amount_base10(bytes), grouped(bytes as f64, 0)),
    }
}

/// Sector sizes in bytes; imported runs lack them.
fn sectors(document: &Document) -> String {
    let target = &document.run.target;
    match target.logical_block_bytes {
        0 => "n/a".into(),
        logical => format!("{logical} B / {} B physical", target.physical_block_bytes),
    }
}

/// Name and version of the measuring tool.
pub(crate) fn tool(document: &Document) -> String {
    let run = &document.run;
    run.origin
        .as_ref()
        .map_or_else(|| format!("Plateau {}", run.plateau_version), |origin| origin.tool.clone())
}

/// The four blocks of the first page.
pub(crate) fn blocks(document: &Document) -> [(&'static str, Vec<Fact>); 4] {
    [
        ("DEVICE INFORMATION", device(document)),
        ("TEST HARDWARE PLATFORM", platform(document)),
        ("TEST SOFTWARE", software(document)),
        ("REPORT DATE", dates(document)),
    ]
}

/// Maximum array members on the first page. Larger arrays are listed in the special notes, which may continue in an
/// annex.
pub(crate) const MOST_MEMBERS: usize = 4;

fn device(document: &Document) -> Vec<Fact> {
    let target = &document.run.target;
    let mut facts = vec![
        ("SERIAL NO.", or_na(target.serial.as_deref())),
        ("FIRMWARE REV.", or_na(target.firmware.as_deref())),
        ("USER CAPACITY", exact_capacity(document)),
        ("DEVICE INTERFACE", or_na(target.interface.as_deref())),
        ("NAND TYPE", or_na(target.nand.as_deref())),
        ("SECTOR SIZE", sectors(document)),
    ];
    match &target.array {
        Some(array) if array.members.len() > MOST_MEMBERS => {
            facts.push(("MEMBERS", format!("{} drives, see Special Notes", array.members.len())));
        }
        Some(array) => facts.extend(array.members.iter().map(|member| ("MEMBER", member.words()))),
        None => {}
    }
    facts
}

fn cpu(document: &Document) -> Option<String> {
    let host = &document.run.host;
    match (&host.cpu, host.cpus) {
        (Some(cpu), Some(count)) => Some(format!("{count} x {cpu}")),
        (cpu, _) => cpu.clone(),
    }
}

fn system(document: &Document) -> Option<String> {
    let host = &document.run.host;
    match (&host.os, &host.kernel) {
        (Some(os), Some(kernel)) => Some(format!("{os}, {kernel}")),
        (os, kernel) => os.clone().or_else(|| kernel.clone()),
    }
}

fn platform(document: &Document) -> Vec<Fact> {
    let host = &document.run.host;
    vec![
        ("SYSTEM", or_na(host.board.as_deref())),
        ("MOTHERBOARD/CPU", or_na(cpu(document).as_deref())),
        ("RAM", or_na(host.memory_bytes.map(amount_base2).as_deref())),
        ("DEVICE INTERFACE", or_na(host.pcie_link.as_deref())),
        ("CPU GOVERNOR", or_na(host.governor.as_deref())),
        ("I/O SCHEDULER", or_na(host.scheduler.as_deref())),
    ]
}

fn software(document: &Document) -> Vec<Fact> {
    let run = &document.run;
    if let Some(origin) = &run.origin {
        return vec![
            ("SYS OS", or_na(system(document).as_deref())),
            ("SW TOOL", origin.tool.clone()),
            ("FORMAT", origin.format.clone()),
            ("FILE", shortened(&origin.file, 40)),
            ("IMPORTED BY", format!("Plateau {}", run.plateau_version)),
            ("PROFILE", "none: not a PTS run".to_owned()),
        ];
    }
    vec![
        ("SYS OS", or_na(system(document).as_deref())),
        ("SW TOOL", "Plateau".to_owned()),
        ("SW REV", format!("{} (test run)", run.plateau_version)),
        ("RELEASE", format!("{} (report)", env!("CARGO_PKG_VERSION"))),
        ("LOAD ENGINE", or_na(Some(&document.engines.join("; ")))),
        ("PROFILE", run.profile.clone()),
    ]
}

/// Maximum characters of a name on the first page.
const LONGEST_NAME: usize = 120;

fn dates(document: &Document) -> Vec<Fact> {
    let publication = &document.publication;
    let (begin, end) = document.dates_of(None);
    let imported = document.run.origin.is_some();
    vec![
        (if imported { "IMPORTED" } else { "REPORT" }, date(document.report_run_date)),
        ("TEST RUN", if imported { begin } else { format!("{begin} to {end}") }),
        ("TEST SPONSOR", shortened(&or_na(publication.sponsor.as_deref()), LONGEST_NAME)),
        ("AUDITOR", shortened(&or_na(publication.auditor.as_deref()), LONGEST_NAME)),
    ]
}

/// Data for locating the run, repeating it and verifying this report.
pub(crate) fn origin(document: &Document) -> [Fact; 4] {
    let run = &document.run;
    [
        ("Run", run.id.clone()),
        ("Command", or_na(Some(&run.command.join(" ")))),
        ("Seed", run.origin.as_ref().map_or_else(|| run.settings.seed.to_string(), |_| "n/a".into())),
        ("Journal SHA-256", document.digest.clone()),
    ]
}

/// Purpose and outline of a test.
pub(crate) fn description(outcome: &Outcome) -> [Fact; 3] {
    let header = &outcome.header;
    [
        ("Purpose", or_na(Some(&outcome.purpose))),
        ("Test Outline", or_na(Some(&outcome.outline))),
        (
            "Preconditioning",
            format!(
                "workload independent: {}; workload dependent: {}",
                header.workload_independent.as_deref().unwrap_or("None"),
                header.workload_dependent
            ),
        ),
    ]
}

/// A key figure as printed.
pub(crate) fn figure_value(figure: &KeyFigure) -> String {
    let value = figure.value.filter(|v| v.is_finite());
    value.map_or_else(
        || figure.absent.to_owned(),
        |value| marked(grouped(value, figure.decimals), figure.host_limited),
    )
}

/// Explains the mark of key figures and tracking variables, if any has it.
pub(crate) fn figures_legend(outcome: &Outcome) -> Option<String> {
    let has_mark = outcome.key_figures.iter().any(|f| f.value.is_some() && f.host_limited)
        || outcome.window.iter().any(|(_, window)| window.host_limited);
    has_mark.then(legend)
}

/// Remarks below a page: its own, the explanation of marks, and a note on host-limited charts.
pub(crate) fn remarks(outcome: &Outcome, page: &Page) -> Vec<String> {
    let mut remarks = page.remarks.clone();
    if has_marks(page) && !remarks.contains(&legend()) {
        remarks.push(legend());
    }
    remarks.extend(host_limited_chart(outcome, page).map(chart_remark));
    remarks
}

/// Remark below charts with `count` host-limited cells.
pub(crate) fn chart_remark(count: &str) -> String {
    format!("HOST-LIMITED: {count} of this test; in charts they may reflect the host rather than the drive.")
}

/// For a page with a chart: number of host-limited cells in its test, if any.
pub(crate) fn host_limited_chart<'a>(outcome: &'a Outcome, page: &Page) -> Option<&'a str> {
    let is_chart = |e: &Exhibit| !matches!(e, Exhibit::Table(_) | Exhibit::Facts(_));
    outcome.host_limited.as_deref().filter(|_| page.exhibits.iter().any(is_chart))
}

/// Headings of the table of tracking variables.
pub(crate) const STEADY_HEADINGS: [&str; 7] = [
    "Tracking variable",
    "Rounds",
    "Average",
    "Data excursion (allowed 20 %)",
    "Slope excursion (allowed 10 %)",
    "Linear fit",
    "Steady",
];

/// Steady-state criteria of the window, one row per tracking variable.
pub(crate) fn steady_rows(outcome: &Outcome) -> Vec<[String; 7]> {
    let row = |(name, s): &(String, pts::steady::WindowStats)| {
        let share =
            |part: f64| if s.mean > 0.0 { format!("{:.1} %", part / s.mean * 100.0) } else { "n/a".into() };
        [
            or_na(Some(name)),
            format!("{}-{}", s.first_round, s.last_round),
            // Milliseconds need more decimals than IOPS.
            marked(grouped(s.mean, if s.mean.abs() < 10.0 { 3 } else { 1 }), s.host_limited),
            share(s.range),
            share(s.slope_excursion),
            s.formula(),
            if s.steady { "YES" } else { "NO" }.to_owned(),
        ]
    };
    outcome.window.iter().map(row).collect()
}
