//! Facts about the compared devices, one value per run.

use report::parts::{absent, capacity, number, tool};

use crate::candidate::Candidate;
use crate::warnings::profile;

/// A fact by name.
type Fact = (&'static str, fn(&Candidate) -> String);

/// The facts that identify a run at a glance.
pub(crate) const BRIEF: [Fact; 5] = [
    ("Model", |c| known(c, c.document.run.target.model.as_ref())),
    ("Capacity", |c| capacity(&c.document)),
    ("Interface", interface),
    ("Firmware", |c| known(c, c.document.run.target.firmware.as_ref())),
    ("Profile", profile),
];

/// A device's header: drive, set-up and platform.
pub(crate) const HEADER: [Fact; 21] = [
    ("Vendor", |c| known(c, c.document.run.target.vendor.as_ref())),
    ("Model", |c| known(c, c.document.run.target.model.as_ref())),
    ("Serial number", |c| known(c, c.document.run.target.serial.as_ref())),
    ("Firmware", |c| known(c, c.document.run.target.firmware.as_ref())),
    ("Capacity", |c| capacity(&c.document)),
    ("Interface", interface),
    ("NAND", |c| known(c, c.document.run.target.nand.as_ref())),
    (
        "Write cache",
        |c| if c.document.run.origin.is_some() { "n/a".into() } else { c.document.write_cache() },
    ),
    ("Profile", profile),
    ("Tests", |c| c.document.outcomes.iter().map(|o| o.title.as_str()).collect::<Vec<_>>().join(", ")),
    ("Purge", |c| of_tests(c, |header| header.purge.clone())),
    ("PC AR", |c| of_tests(c, |header| header.pc_ar.clone())),
    ("Test AR", |c| of_tests(c, |header| header.test_ar.clone())),
    ("AR amount", |c| of_tests(c, |header| header.ar_amount.clone())),
    ("TC and QD", |c| {
        of_tests(c, |header| format!("TC {} QD {}", number(header.threads), number(header.queue_depth)))
    }),
    ("Rounds", |c| of_tests(c, |header| header.rounds.clone())),
    ("Machine", |c| known(c, c.document.run.host.board.as_ref())),
    ("Processor", |c| known(c, c.document.run.host.cpu.as_ref())),
    ("Software", |c| tool(&c.document)),
    ("Run", |c| c.document.run.id.clone()),
    ("Journal SHA-256", |c| format!("{}…", c.document.digest.get(..16).unwrap_or_default())),
];

/// Returns the interface or, for a file, its file system.
fn interface(run: &Candidate) -> String {
    match &run.document.file_system {
        Some(facts) => format!("file on {}", facts.kind),
        None => known(run, run.document.run.target.interface.as_ref()),
    }
}

/// Returns a fact, or the placeholder for a fact that the run does not contain.
fn known(run: &Candidate, fact: Option<&String>) -> String {
    fact.cloned().unwrap_or_else(|| absent(&run.document).into())
}

/// Returns the distinct values of a header field among a run's tests.
fn of_tests(run: &Candidate, of: impl Fn(&pts::TestHeader) -> String) -> String {
    let mut all: Vec<String> = Vec::new();
    for value in run.document.outcomes.iter().map(|outcome| of(&outcome.header)) {
        if !value.is_empty() && !all.contains(&value) {
            all.push(value);
        }
    }
    if all.is_empty() { "n/a".into() } else { all.join("; ") }
}
