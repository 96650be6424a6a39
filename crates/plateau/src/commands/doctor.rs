//! `plateau doctor`: reports problems in a library, and the next steps.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ::doctor::{Caller, Diagnosis, Finding, Problem, Severity, examine};
use record::Library;
use stdx::text::shell_word;

use crate::cli::Cli;
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue;
use crate::output::places;
use crate::output::printer;
use host::restore;
use record::run_files::IMPORTED;

/// With less free space, a run may end early: the journal of a long run takes hundreds of megabytes.
const LITTLE_SPACE_BYTES: u64 = 1 << 30;

pub fn run(cli: &Cli) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let uid = std::fs::metadata("/proc/self").map(|process| process.uid())?;
    let caller =
        Caller { uid, imported_file: IMPORTED, most_imported_bytes: ::import::largest_bytes() as u64 };
    let mut examined = examine(&library, caller).map_err(|error| {
        let context = format!("cannot list {}", library.root().display());
        Failure::new(Exit::Run, anyhow::Error::new(error).context(context))
    })?;
    examined.findings.extend(around(&library, examined.runs)?);
    let given = cli.library.as_ref().map(|dir| format!("--library {}", shell_word(&dir.to_string_lossy())));
    let diagnosis = Diagnosis::of(library.root(), &examined, &given.unwrap_or_default());
    let document = serde_json::to_value(&diagnosis).map_err(|error| Failure::new(Exit::Internal, error))?;
    if !cli.json {
        printer::print(&diagnosis.text())?;
    }
    match diagnosis.count(Severity::Error) {
        0 if cli.json => printer::print_json(&document),
        0 => Ok(()),
        _ => {
            let text = format!("results in {} are missing, damaged or ambiguous", library.root().display());
            Err(Failure::text(Exit::Run, text).with_document(document))
        }
    }
}

/// Finds problems with the index, the restore records and the disk.
fn around(library: &Library, runs: usize) -> Done<Vec<Finding>> {
    let mut found = Vec::new();
    let mut add = |path: &Path, problem| found.push(Finding::elsewhere(path, problem));
    // Without the library's journal there can be no index, so removing the index would not help.
    if runs > 0 && library.annotations().is_ok() {
        match catalogue::stale(library) {
            Ok(0) => {}
            Ok(runs) => add(library.root(), Problem::StaleIndex { runs }),
            Err(store::StoreError::Missing { .. }) => add(library.root(), Problem::StaleIndex { runs }),
            Err(error) => {
                let why = format!("{:#}", anyhow::Error::new(error));
                add(library.root(), Problem::UnusableIndex { why });
            }
        }
    }
    let state = places::state()?;
    match restore::abandoned(&state) {
        Ok(names) => names.iter().for_each(|name| add(&state.join(name), Problem::StaleSettings)),
        Err(why) => add(&state, Problem::UntrustedState { why }),
    }
    if let Ok(space) = rustix::fs::statvfs(library.root()) {
        let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
        if free_bytes < LITTLE_SPACE_BYTES {
            add(library.root(), Problem::LittleSpace { free_bytes });
        }
    }
    Ok(found)
}
