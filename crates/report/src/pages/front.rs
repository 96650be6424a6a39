//! The first page: device, platform, software, dates, and the origin of the run. The summary of each test repeats the
//! first facts of each block.

use pts::Outcome;
use stdx::units::{amount_base2, amount_base10, count_of, grouped};

use super::values::{Fact, absent, board, cpu, fact, interface, or_na, system};
use crate::document::contents::Document;
use crate::facts::dates;
use charts::markup::shortened;

/// Returns the four blocks of the first page.
pub(crate) fn blocks(document: &Document) -> [(&'static str, Vec<Fact>); 4] {
    [
        ("DEVICE INFORMATION", device(document)),
        ("TEST HARDWARE PLATFORM", platform(document)),
        ("TEST SOFTWARE", software(document)),
        ("REPORT DATE", report_dates(document, None)),
    ]
}

/// Returns the four blocks of a test summary: the facts that published reports repeat there, with the test's
/// dates.
pub(crate) fn blocks_of_test(document: &Document, outcome: &Outcome) -> [(&'static str, Vec<Fact>); 4] {
    /// Facts of each block.
    const FIRST: usize = 4;
    let mut blocks = blocks(document);
    blocks[3].1 = report_dates(document, Some(outcome));
    blocks.map(|(heading, mut facts)| {
        facts.truncate(FIRST);
        (heading, facts)
    })
}

/// Maximum number of array members on the first page. Larger arrays are listed in the special notes, which may continue
/// in an annex.
pub(crate) const MOST_MEMBERS: usize = 4;

fn device(document: &Document) -> Vec<Fact> {
    let target = &document.run.target;
    let mut facts = vec![
        ("SERIAL NO.", fact(document, target.serial.as_deref())),
        ("FIRMWARE REV.", fact(document, target.firmware.as_deref())),
        ("USER CAPACITY", exact_capacity(document)),
        ("DEVICE INTERFACE", interface(document)),
        ("NAND TYPE", fact(document, target.nand.as_deref())),
        ("SECTOR SIZE", sectors(document)),
    ];
    match &target.array {
        Some(array) if array.members.len() > MOST_MEMBERS => {
            let drives = count_of(array.members.len(), "drive");
            facts.push(("MEMBERS", format!("{drives}, see Special Notes")));
        }
        Some(array) => facts.extend(array.members.iter().map(|member| ("MEMBER", member.words()))),
        None => {}
    }
    facts
}

fn exact_capacity(document: &Document) -> String {
    match document.run.target.capacity_bytes {
        0 => absent(document).into(),
        bytes => format!("{} ({} B)", amount_base10(bytes), grouped(bytes as f64, 0)),
    }
}

/// Returns the sector sizes in bytes; imported runs may lack them.
fn sectors(document: &Document) -> String {
    let target = &document.run.target;
    match (target.logical_block_bytes, target.physical_block_bytes) {
        (0, 0) => absent(document).into(),
        (logical, 0) => format!("{logical} B"),
        (0, physical) => format!("{physical} B physical"),
        (logical, physical) => format!("{logical} B / {physical} B physical"),
    }
}

fn platform(document: &Document) -> Vec<Fact> {
    let (host, stated) = (&document.run.host, &document.run.stated);
    let mut facts = vec![
        ("SYSTEM", fact(document, board(document).as_deref())),
        ("MOTHERBOARD/CPU", fact(document, cpu(document).as_deref())),
        ("RAM", fact(document, host.memory_bytes.map(amount_base2).as_deref())),
        ("DEVICE INTERFACE", fact(document, host.pcie_link.as_deref())),
        ("CPU GOVERNOR", fact(document, host.governor.as_deref())),
        ("I/O SCHEDULER", fact(document, host.scheduler.as_deref())),
    ];
    let components = [
        ("CHASSIS", &stated.chassis),
        ("CPU COOLER", &stated.cooler),
        ("POWER SUPPLY", &stated.power_supply),
    ];
    facts.extend(components.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    facts
}

fn software(document: &Document) -> Vec<Fact> {
    let run = &document.run;
    if let Some(origin) = &run.origin {
        return vec![
            ("SYS OS", fact(document, system(document).as_deref())),
            ("SW TOOL", origin.tool.clone()),
            ("FORMAT", origin.format.clone()),
            ("FILE", shortened(&origin.file, 40)),
            ("IMPORTED BY", format!("Plateau {}", run.plateau_version)),
            (
                "PROFILE",
                origin.profile.as_ref().map_or_else(
                    || "none: not a PTS run".to_owned(),
                    |profile| format!("{profile}, as stated in the file"),
                ),
            ),
        ];
    }
    vec![
        ("SYS OS", fact(document, system(document).as_deref())),
        ("SW TOOL", "Plateau".to_owned()),
        ("SW REV", format!("{} (test run)", run.plateau_version)),
        ("RELEASE", format!("{} (report)", env!("CARGO_PKG_VERSION"))),
        ("LOAD ENGINE", fact(document, Some(&document.engines.join("; ")))),
        ("PROFILE", run.profile.clone()),
        (
            "KERNEL CMDLINE",
            shortened(&fact(document, run.host.kernel_command_line.as_deref()), LONGEST_KERNEL_LINE),
        ),
    ]
}

/// Maximum number of characters of the kernel command line on the first page; annex B contains the whole line.
const LONGEST_KERNEL_LINE: usize = 60;

/// Maximum number of characters of a name on the first page.
const LONGEST_NAME: usize = 120;

fn report_dates(document: &Document, outcome: Option<&Outcome>) -> Vec<Fact> {
    let publication = &document.publication;
    let (begin, end) = document.dates_of(outcome);
    let imported = document.run.origin.is_some();
    vec![
        (if imported { "IMPORTED" } else { "REPORT" }, dates::printed(document.report_run_date)),
        ("TEST RUN", if imported { begin } else { format!("{begin} to {end}") }),
        ("TEST SPONSOR", shortened(&or_na(publication.sponsor.as_deref()), LONGEST_NAME)),
        ("AUDITOR", shortened(&or_na(publication.auditor.as_deref()), LONGEST_NAME)),
    ]
}

/// Maximum number of characters of the command that started the run; `run.json` contains the whole command.
const LONGEST_COMMAND: usize = 200;

/// Returns the data with which a reader can find the run, repeat it and verify this report.
pub(crate) fn origin(document: &Document) -> [Fact; 4] {
    let run = &document.run;
    [
        ("Run", run.id.clone()),
        ("Command", shortened(&fact(document, Some(&run.command.join(" "))), LONGEST_COMMAND)),
        ("Seed", fact(document, run.settings.as_ref().map(|settings| settings.seed.to_string()).as_deref())),
        ("Journal SHA-256", document.digest.clone()),
    ]
}
