//! The header of a report page, in the style that the edition of the specification prescribes.

use pts::Outcome;
use pts::profile::Edition;
use stdx::units::amount_base2;

use super::titles::title_line;
use super::values::{
    Fact, board, capacity, company, cpu, fact, interface, model, number, or_na, system, test_platform,
};
use crate::document::contents::Document;
use crate::facts::dates;
use charts::markup::shortened;

/// Facts below a heading, in groups that may have their own headings.
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

/// Returns the header of page `index` of `outcome`, in the style of the edition.
pub(crate) fn header(document: &Document, outcome: &Outcome, index: usize) -> Header {
    if document.profile.edition == Edition::V1_0 {
        header_1_0(document, outcome, index)
    } else {
        header_2_0(document, outcome, index)
    }
}

/// Returns the name of the sponsor, shortened to fit on one header line.
fn sponsor(document: &Document) -> String {
    shortened(&or_na(document.publication.sponsor.as_deref()), 40)
}

/// Returns the company that ran the test or, if it is not stated, the sponsor.
fn tester(document: &Document) -> String {
    match document.run.stated.company {
        Some(_) => shortened(&company(document), 40),
        None => sponsor(document),
    }
}

fn page_of(outcome: &Outcome, index: usize) -> String {
    format!("Page {} of {}", index + 1, outcome.pages.len())
}

/// Returns all fields of the PTS 1.0 header.
fn header_1_0(document: &Document, outcome: &Outcome, index: usize) -> Header {
    let target = &document.run.target;
    Header {
        dates: [
            ("Test Run Date", document.dates_in(dates::in_header_1_0, Some(outcome)).0),
            ("Report Run Date", dates::in_header_1_0(document.report_run_date)),
        ],
        title: title_line(document, outcome, "Report Page"),
        page: page_of(outcome, index),
        device: vec![
            ("VENDOR", fact(document, target.vendor.as_deref())),
            ("SSD MODEL NO", model(document).to_owned()),
            ("TEST SPONSOR", sponsor(document)),
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
                    ("Serial No.", fact(document, target.serial.as_deref())),
                    ("Firmware Rev", fact(document, target.firmware.as_deref())),
                    ("Capacity", capacity(document)),
                    ("NAND Type", fact(document, target.nand.as_deref())),
                    ("Device I/F", interface(document)),
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
                        (
                            "Workload Independent",
                            text(head.workload_independent.as_deref().unwrap_or("None")),
                        ),
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
                        ("OIO/Thread (QD)", number(head.queue_depth)),
                        ("Thread Count (TC)", number(head.threads)),
                    ],
                ),
            ],
        ),
        column(
            "Steady State",
            vec![(
                None,
                vec![
                    ("Convergence", text(&head.convergence.to_string())),
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

/// Returns the header of PTS-E 1.1 and PTS 2.0: four columns of ten rows.
fn header_2_0(document: &Document, outcome: &Outcome, index: usize) -> Header {
    let target = &document.run.target;
    let column = |heading, items| Column { heading, groups: vec![(None, items)] };
    Header {
        dates: [
            ("Test Run Date Start", document.dates_of(Some(outcome)).0),
            ("Test Run Date Finish", document.dates_of(Some(outcome)).1),
        ],
        title: title_line(document, outcome, "Report Page"),
        page: page_of(outcome, index),
        device: vec![
            ("Vendor", fact(document, target.vendor.as_deref())),
            ("SSD Model", model(document).to_owned()),
            ("Tested By", tester(document)),
        ],
        columns: vec![
            column("Test Platform", platform_2_0(document)),
            column(
                "Device Under Test",
                vec![
                    ("Mfgr", fact(document, target.vendor.as_deref())),
                    ("Model No.", model(document).to_owned()),
                    ("S/N", fact(document, target.serial.as_deref())),
                    ("Firmware ver", fact(document, target.firmware.as_deref())),
                    ("Capacity", capacity(document)),
                    ("Interface", interface(document)),
                    ("NAND Type", fact(document, target.nand.as_deref())),
                    ("PCIe NVM", or_na(document.run.host.pcie_link.as_deref())),
                    ("Purge Method", fact(document, Some(&outcome.header.purge))),
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
    let machine = if !document.simulated().is_empty() {
        "simulated".into()
    } else {
        fact(document, host.board.as_deref())
    };
    vec![
        ("Ref Test Platform", machine),
        ("Motherboard", fact(document, board(document).as_deref())),
        ("CPU", fact(document, cpu(document).as_deref())),
        ("Memory", fact(document, host.memory_bytes.map(amount_base2).as_deref())),
        ("Operating System", fact(document, system(document).as_deref())),
        ("Test SW", "Plateau".into()),
        ("Test SW ver", run.plateau_version.clone()),
        ("Test SN.", run.id.clone()),
        ("HBA", "n/a".into()),
        ("PCIe", fact(document, host.pcie_link.as_deref())),
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
