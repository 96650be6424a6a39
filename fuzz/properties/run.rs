//! Complete runs from untrusted sources, with matching hashes: replaying, verifying and exporting them to every
//! text format yields a result or an error.
//!
//! The input is a `run.json`, a line with three hyphens, and the records of a journal in JSON, one per line.

use super::journal;

/// The text formats. Graphical formats take too long to fuzz, and they use the same document.
const TEXTS: [&str; 5] = ["html", "json", "openmetrics", "fio", "tkperf"];

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some((file, records)) = text.split_once("\n---\n") else { return };
    let Ok(run) = record::parse_run_file(file.as_bytes()) else { return };
    let Some(loaded) = journal::loaded(records.lines()) else { return };
    let _ = pts::verify::verify(&run, &loaded.entries);
    // The expected costs are also formatted.
    estimate::cost::of_run(&run, &loaded.entries).iter().for_each(|cost| drop(cost.to_string()));
    let Ok(replayed) = pts::replay(&run, &loaded.entries) else { return };
    assert!(replayed.outcomes.len() <= loaded.entries.len(), "more tests than records");
    let Ok(document) = report::fold(&run, &loaded) else { return };
    let source = report::formats::Source { document: &document, entries: &loaded.entries };
    for format in report::formats::FORMATS.iter().filter(|format| TEXTS.contains(&format.name)) {
        match format.make {
            report::formats::Make::File(make) => drop(make(source)),
            report::formats::Make::Folder(make) => drop(make(source)),
        }
    }
}
