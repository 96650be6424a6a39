//! What stands on the pages, as plain text: written once, laid out as HTML and as PDF.

use pts::profile::Edition;
use pts::{KeyFigure, Outcome};
use stdx::units::{amount_base2, amount_base10, grouped};

use crate::Document;
use crate::conformance::Verdict;
use crate::document::{Mark, MarkKind, date};
use crate::markup::shortened;

/// The line that every page of the PTS has.
pub(crate) const SPECIFICATION: &str =
    "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)";
/// Title of the first page.
pub(crate) const SUMMARY_KIND: &str = "SNIA SSS PTS Summary Report";

/// A label and its value.
pub(crate) type Fact = (&'static str, String);

/// Facts below a heading, in groups that may have one, too.
pub(crate) struct Column {
    pub heading: &'static str,
    pub groups: Vec<(Option<&'static str>, Vec<Fact>)>,
}

/// The header of a report page.
pub(crate) struct Header {
    pub dates: [Fact; 2],
    pub title: String,
    pub page: String,
    pub device: Vec<Fact>,
    pub columns: Vec<Column>,
}

/// A fact that may be missing; a page has no empty box.
pub(crate) fn or_na(fact: Option<&str>) -> String {
    fact.map(str::trim).filter(|fact| !fact.is_empty()).unwrap_or("n/a").to_owned()
}

/// The model as printed; a file or simulated drive without one has its path.
pub(crate) fn model(document: &Document) -> &str {
    document.run.target.model.as_deref().filter(|m| !m.trim().is_empty()).unwrap_or(&document.run.target.path)
}

/// What the PTS calls the test on a title line: `Enterprise IOPS (REQUIRED) - Report Page`.
pub(crate) fn title_line(document: &Document, outcome: &Outcome, kind: &str) -> String {
    format!("{} {} ({}) - {kind}", document.profile.class, outcome.title, outcome.header.requirement)
}

/// Title of the whole document.
pub(crate) fn document_title(document: &Document) -> String {
    let mark = if document.run.target.simulated.is_some() { "SIMULATED - " } else { "" };
    format!("{mark}{} - {} report", model(document), document.profile.revision)
}

/// Characters of a long list that a banner names, or the plot below gets too little room.
const NAMED_CHARACTERS: usize = 130;

/// One strip per mark: kind, label, text; long lists are in full in the special notes of page 1.
pub(crate) fn strips(document: &Document, outcome: Option<&Outcome>) -> Vec<(MarkKind, String, String)> {
    let strip = |mark: Mark| {
        let text = in_short(&mark.details);
        let label = if mark.kind == MarkKind::Modified { "modified:".into() } else { mark.title };
        (mark.kind, label, text)
    };
    let mut strips: Vec<_> = document.marks(outcome).into_iter().map(strip).collect();
    let verdict = document.verdict(outcome);
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

/// Left side of the line below every page.
pub(crate) fn footer(document: &Document) -> String {
    format!(
        "Plateau {} · run {} · journal SHA-256 {}…",
        document.run.plateau_version,
        document.run.id,
        document.digest.get(..16).unwrap_or(&document.digest)
    )
}

/// Headings of the table of tests, with the columns that each covers.
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

/// The row of a test in the table of tests.
pub(crate) fn set_up_row(outcome: &Outcome) -> [String; 12] {
    let h = &outcome.header;
    [
        outcome.clause.to_owned(),
        format!("{} - {}", outcome.title, h.requirement),
        h.purge.clone(),
        h.data_pattern.clone(),
        format!("TC {} QD {}", h.threads, h.queue_depth),
        h.pc_ar.clone(),
        h.test_ar.clone(),
        h.ar_amount.clone(),
        h.ar_segments.clone(),
        h.workload_dependent.clone(),
        h.rounds.clone(),
        h.convergence.clone(),
    ]
    .map(|cell| or_na(Some(&cell)))
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

fn device(document: &Document) -> Vec<Fact> {
    let target = &document.run.target;
    vec![
        ("SERIAL NO.", or_na(target.serial.as_deref())),
        ("FIRMWARE REV.", or_na(target.firmware.as_deref())),
        (
            "USER CAPACITY",
            format!(
                "{} ({} B)",
                amount_base10(target.capacity_bytes),
                grouped(target.capacity_bytes as f64, 0)
            ),
        ),
        ("DEVICE INTERFACE", or_na(target.interface.as_deref())),
        ("NAND TYPE", or_na(target.nand.as_deref())),
        (
            "SECTOR SIZE",
            format!("{} B / {} B physical", target.logical_block_bytes, target.physical_block_bytes),
        ),
    ]
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
    vec![
        ("SYS OS", or_na(system(document).as_deref())),
        ("SW TOOL", "Plateau".to_owned()),
        ("SW REV", format!("{} (test run)", run.plateau_version)),
        ("RELEASE", format!("{} (report)", env!("CARGO_PKG_VERSION"))),
        ("LOAD ENGINE", or_na(Some(&document.engines.join("; ")))),
        ("PROFILE", run.profile.clone()),
    ]
}

fn dates(document: &Document) -> Vec<Fact> {
    let publication = &document.publication;
    vec![
        ("REPORT", date(document.report_run_date)),
        ("TEST RUN", format!("{} to {}", date(document.test_run_date), date(document.report_run_date))),
        ("TEST SPONSOR", or_na(publication.sponsor.as_deref())),
        ("AUDITOR", or_na(publication.auditor.as_deref())),
    ]
}

/// What it takes to find the run again, to repeat it, and to check this report.
pub(crate) fn origin(document: &Document) -> [Fact; 4] {
    let run = &document.run;
    [
        ("Run", run.id.clone()),
        ("Command", or_na(Some(&run.command.join(" ")))),
        ("Seed", run.settings.seed.to_string()),
        ("Journal SHA-256", document.digest.clone()),
    ]
}

/// What a test is for and how it goes.
pub(crate) fn description(outcome: &Outcome) -> [Fact; 3] {
    let header = &outcome.header;
    [
        ("Purpose", or_na(Some(outcome.purpose))),
        ("Test Outline", or_na(Some(&outcome.outline))),
        (
            "Preconditioning",
            format!(
                "workload independent: {}; workload dependent: {}",
                header.workload_independent, header.workload_dependent
            ),
        ),
    ]
}

/// A key figure as printed.
pub(crate) fn figure_value(figure: &KeyFigure) -> String {
    let value = figure.value.filter(|v| v.is_finite());
    value.map_or_else(|| figure.absent.to_owned(), |value| grouped(value, figure.decimals))
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

/// How the window was judged, one row per tracking variable.
pub(crate) fn steady_rows(outcome: &Outcome) -> Vec<[String; 7]> {
    let row = |(name, s): &(String, pts::steady::Steadiness)| {
        let share =
            |part: f64| if s.mean > 0.0 { format!("{:.1} %", part / s.mean * 100.0) } else { "n/a".into() };
        [
            or_na(Some(name)),
            format!("{}-{}", s.first_round, s.last_round),
            // Milliseconds are small numbers, IOPS large ones.
            grouped(s.mean, if s.mean.abs() < 10.0 { 3 } else { 1 }),
            share(s.range),
            share(s.slope_excursion),
            s.formula(),
            if s.steady { "YES" } else { "NO" }.to_owned(),
        ]
    };
    outcome.window.iter().map(row).collect()
}

/// The header of page `index` of `outcome`, in the style of the edition.
pub(crate) fn header(document: &Document, outcome: &Outcome, index: usize) -> Header {
    if document.profile.edition == Edition::V1_0 {
        header_1_0(document, outcome, index)
    } else {
        header_2_0(document, outcome, index)
    }
}

fn page_of(outcome: &Outcome, index: usize) -> String {
    format!("Page {} of {}", index + 1, outcome.pages.len())
}

fn test_platform(document: &Document) -> String {
    let run = &document.run;
    let machine = match &run.target.simulated {
        Some(_) => "simulated".to_owned(),
        None => or_na(run.host.board.as_deref().or(run.host.cpu.as_deref())),
    };
    format!("{machine}; Plateau {}", run.plateau_version)
}

/// PTS 1.0, every field of it.
fn header_1_0(document: &Document, outcome: &Outcome, index: usize) -> Header {
    let target = &document.run.target;
    Header {
        dates: [
            ("Test Run Date", date(document.test_run_date)),
            ("Report Run Date", date(document.report_run_date)),
        ],
        title: title_line(document, outcome, "Report Page"),
        page: page_of(outcome, index),
        device: vec![
            ("VENDOR", or_na(target.vendor.as_deref())),
            ("SSD MODEL NO", model(document).to_owned()),
            ("TEST SPONSOR", or_na(document.publication.sponsor.as_deref())),
        ],
        columns: columns_1_0(document, outcome),
    }
}

fn columns_1_0(document: &Document, outcome: &Outcome) -> Vec<Column> {
    let (target, head) = (&document.run.target, &outcome.header);
    let text = |text: &str| or_na(Some(text));
    let column = |heading, groups| Column { heading, groups };
    vec![
        column(
            "Device",
            vec![(
                None,
                vec![
                    ("Serial No.", or_na(target.serial.as_deref())),
                    ("Firmware Rev", or_na(target.firmware.as_deref())),
                    ("Capacity", amount_base10(target.capacity_bytes)),
                    ("NAND Type", or_na(target.nand.as_deref())),
                    ("Device I/F", or_na(target.interface.as_deref())),
                    ("Test Platform", test_platform(document)),
                ],
            )],
        ),
        column(
            "DUT Preparation",
            vec![
                (None, vec![("Purge", text(&head.purge))]),
                (
                    Some("Pre-Conditioning"),
                    vec![
                        ("Workload Independent", text(&head.workload_independent)),
                        ("Workload Dep.", text(&head.workload_dependent)),
                    ],
                ),
            ],
        ),
        column(
            "Test Loop Parameters",
            vec![
                (Some("REQUIRED"), vec![("Data Pattern", text(&head.data_pattern))]),
                (
                    Some("Tester's Choice"),
                    vec![
                        ("OIO/Thread (QD)", head.queue_depth.to_string()),
                        ("Thread Count (TC)", head.threads.to_string()),
                    ],
                ),
            ],
        ),
        column(
            "Steady State",
            vec![(
                None,
                vec![
                    ("Convergence", text(&head.convergence)),
                    ("Rounds", text(&head.rounds)),
                    ("PC AR", text(&head.pc_ar)),
                    ("Test AR", text(&head.test_ar)),
                    ("AR AMOUNT", text(&head.ar_amount)),
                    ("AR Segments", text(&head.ar_segments)),
                ],
            )],
        ),
    ]
}

/// PTS-E 1.1 and PTS 2.0: four columns of ten rows.
fn header_2_0(document: &Document, outcome: &Outcome, index: usize) -> Header {
    let target = &document.run.target;
    let column = |heading, items| Column { heading, groups: vec![(None, items)] };
    Header {
        dates: [
            ("Test Run Date Start", date(document.test_run_date)),
            ("Test Run Date Finish", date(document.report_run_date)),
        ],
        title: title_line(document, outcome, "Report Page"),
        page: page_of(outcome, index),
        device: vec![
            ("Vendor", or_na(target.vendor.as_deref())),
            ("SSD Model", model(document).to_owned()),
            ("Tested By", or_na(document.publication.sponsor.as_deref())),
        ],
        columns: vec![
            column("Test Platform", platform_2_0(document)),
            column(
                "Device Under Test",
                vec![
                    ("Mfgr", or_na(target.vendor.as_deref())),
                    ("Model No.", model(document).to_owned()),
                    ("S/N", or_na(target.serial.as_deref())),
                    ("Firmware ver", or_na(target.firmware.as_deref())),
                    ("Capacity", amount_base10(target.capacity_bytes)),
                    ("Interface", or_na(target.interface.as_deref())),
                    ("NAND Type", or_na(target.nand.as_deref())),
                    ("PCIe NVM", or_na(document.run.host.pcie_link.as_deref())),
                    ("Purge Method", or_na(Some(&outcome.header.purge))),
                    ("Write Cache", document.write_cache()),
                ],
            ),
            column("Set Up Parameters", set_up_2_0(outcome)),
            column("Test Parameters", parameters_2_0(outcome)),
        ],
    }
}

fn platform_2_0(document: &Document) -> Vec<Fact> {
    let (run, host) = (&document.run, &document.run.host);
    let machine =
        if run.target.simulated.is_some() { "simulated".into() } else { or_na(host.board.as_deref()) };
    vec![
        ("Ref Test Platform", machine),
        ("Motherboard", or_na(host.board.as_deref())),
        ("CPU", or_na(cpu(document).as_deref())),
        ("Memory", or_na(host.memory_bytes.map(amount_base2).as_deref())),
        ("Operating System", or_na(system(document).as_deref())),
        ("Test SW", "Plateau".into()),
        ("Test SW ver", run.plateau_version.clone()),
        ("Test SN.", run.id.clone()),
        ("HBA", "n/a".into()),
        ("PCIe", or_na(host.pcie_link.as_deref())),
    ]
}

fn set_up_2_0(outcome: &Outcome) -> Vec<Fact> {
    let (head, phases) = (&outcome.header, &outcome.header.phases);
    let [first, first_demand, duration] = phases.pre_condition_1.clone();
    let [second, second_demand, rounds] = phases.pre_condition_2.clone();
    vec![
        ("Data Pattern", head.data_pattern.clone()),
        ("AR", head.pc_ar.clone()),
        ("AR Segments", head.ar_segments.clone()),
        ("Pre Condition 1", first),
        ("TOIO - TC/QD", first_demand),
        ("Duration", duration),
        ("Pre Condition 2", second),
        ("TOIO - TC/QD", second_demand),
        ("SS Rounds", rounds),
        ("Notes", if outcome.notes.is_empty() { "None".into() } else { "see summary page".into() }),
    ]
}

fn parameters_2_0(outcome: &Outcome) -> Vec<Fact> {
    let (head, phases) = (&outcome.header, &outcome.header.phases);
    let [first, mix, blocks, first_demand, steady] = phases.stimulus_1.clone();
    let [second, second_demand, second_steady] = phases.stimulus_2.clone();
    vec![
        ("Data Pattern", head.data_pattern.clone()),
        ("AR & Amount", format!("{} & {}", head.test_ar, head.ar_amount)),
        ("Test Stimulus 1", first),
        ("RW Mix", mix),
        ("Block Sizes", blocks),
        ("TOIO - TC/QD", first_demand),
        ("Steady State", steady),
        ("Test Stimulus 2", second),
        ("TOIO - TC/QD", second_demand),
        ("Steady State", second_steady),
    ]
}
