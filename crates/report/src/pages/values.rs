//! Values as printed on several pages; a missing value is printed as `n/a`.

use stdx::units::amount_base10;

use crate::document::contents::Document;
use crate::facts::file_share;

/// A label and its value.
pub(crate) type Fact = (&'static str, String);

/// Replaces a missing fact with `n/a`, so that no field on a page is empty.
pub(crate) fn or_na(fact: Option<&str>) -> String {
    fact.map(str::trim).filter(|fact| !fact.is_empty()).unwrap_or("n/a").to_owned()
}

/// Returns the model as printed; a file or simulated drive without a model is identified by its path.
pub(crate) fn model(document: &Document) -> &str {
    let target = &document.run.target;
    let names = [target.model.as_deref().unwrap_or_default(), &target.path];
    names.into_iter().find(|name| !name.trim().is_empty()).unwrap_or_else(|| absent(document))
}

/// Replaces a fact about drive, host or test that is missing, as it may be in an imported run's file.
pub(crate) fn fact(document: &Document, fact: Option<&str>) -> String {
    let known = fact.map(str::trim).filter(|fact| !fact.is_empty());
    known.unwrap_or_else(|| absent(document)).to_owned()
}

/// Returns the text printed in place of an unknown fact.
#[must_use]
pub fn absent(document: &Document) -> &'static str {
    if document.run.origin.is_some() { pts::ABSENT } else { "n/a" }
}

/// Returns the interface as printed; for a file, its file system.
pub(crate) fn interface(document: &Document) -> String {
    let on_file = document.file_system.as_ref().map(file_share::words);
    fact(document, on_file.as_deref().or(document.run.target.interface.as_deref()))
}

/// Returns a count as printed; imported tests may lack it.
#[must_use]
pub fn number(value: Option<u16>) -> String {
    value.map_or_else(|| pts::ABSENT.into(), |value| value.to_string())
}

/// Returns the capacity as printed; imported runs may lack it.
#[must_use]
pub fn capacity(document: &Document) -> String {
    match document.run.target.capacity_bytes {
        0 => absent(document).into(),
        bytes => amount_base10(bytes),
    }
}

/// Returns the name and version of the measuring tool.
#[must_use]
pub fn tool(document: &Document) -> String {
    let run = &document.run;
    run.origin
        .as_ref()
        .map_or_else(|| format!("Plateau {}", run.plateau_version), |origin| origin.tool.clone())
}

/// Returns the machine and the measuring tool.
pub(crate) fn test_platform(document: &Document) -> String {
    let run = &document.run;
    let machine = match document.simulated().is_empty() {
        false => "simulated".to_owned(),
        true => fact(document, run.host.board.as_deref().or(run.host.cpu.as_deref())),
    };
    format!("{machine}; {}", tool(document))
}

/// Returns the processors of the host, with their microcode.
pub(crate) fn cpu(document: &Document) -> Option<String> {
    let host = &document.run.host;
    let count = host.cpus.map(|count| format!("{count} x ")).unwrap_or_default();
    let microcode = host.microcode.as_deref().map(|revision| format!(", microcode {revision}"));
    Some(format!("{count}{}{}", host.cpu.as_deref()?, microcode.unwrap_or_default()))
}

/// Returns the board of the host, with its BIOS.
pub(crate) fn board(document: &Document) -> Option<String> {
    let host = &document.run.host;
    let bios = host.bios_version.as_deref().map(|version| format!("BIOS {version}"));
    let parts: Vec<String> = host.board.clone().into_iter().chain(bios).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the company that ran the test, according to the operator.
pub(crate) fn company(document: &Document) -> String {
    or_na(document.run.stated.company.as_deref())
}

/// Returns the operating system and kernel of the host.
pub(crate) fn system(document: &Document) -> Option<String> {
    let host = &document.run.host;
    match (&host.os, &host.kernel) {
        (Some(os), Some(kernel)) => Some(format!("{os}, {kernel}")),
        (os, kernel) => os.clone().or_else(|| kernel.clone()),
    }
}
