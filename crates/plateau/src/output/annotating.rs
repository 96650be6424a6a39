//! Annotates runs, with records in the library's journal rather than in the runs' own files.

use record::{Annotations, Change, Labels, Library, LibraryJournalError, Run};
use serde_json::json;
use stdx::units::count_of;

use crate::cli::Cli;
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;

/// The state that a change is derived from; no other process can change the library's journal in the meantime.
pub struct Subject<'a> {
    pub library: &'a Library,
    pub id: &'a str,
    /// The run's current labels.
    pub labels: Labels,
    pub annotations: &'a Annotations,
}

/// The reason why nothing was added.
enum Stopped {
    Journal(LibraryJournalError),
    Refused(Failure),
}

impl From<LibraryJournalError> for Stopped {
    fn from(error: LibraryJournalError) -> Self {
        Self::Journal(error)
    }
}

/// Appends the changes that `decide` derives from a run's state, and prints the run's resulting labels.
pub fn annotate(cli: &Cli, requested: &str, decide: impl FnOnce(&Subject<'_>) -> Done<Vec<Change>>) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let run = own(&library, library.find(requested)?)?;
    let id = &run.file.id;
    let subject = |annotations: &Annotations| {
        let labels = annotations.labels(id, &run.file.labels);
        decide(&Subject { library: &library, id, labels, annotations }).map_err(Stopped::Refused)
    };
    let annotations = library.annotate(&stdx::login_name(), subject).map_err(|stopped| match stopped {
        Stopped::Journal(error) => Failure::new(Exit::Run, error),
        Stopped::Refused(failure) => failure,
    })?;
    let labels = annotations.labels(id, &run.file.labels);
    if cli.json {
        return printer::print_json(&json!({
            "run": id, "name": labels.name, "tags": labels.tags, "notes": labels.notes,
        }));
    }
    printer::print(&text(id, &labels))
}

/// Returns the run with its initial labels. The run must be part of the library, because only the library's journal
/// is changed.
fn own(library: &Library, run: Run) -> Done<Run> {
    let is_own = || {
        let folder = run.dir.canonicalize().ok()?;
        Some(folder.parent()? == library.root().canonicalize().ok()?)
    };
    if is_own() != Some(true) {
        let text = format!(
            "{} is not in the library {}; choose its library with --library",
            run.dir.display(),
            library.root().display()
        );
        return Err(Failure::text(Exit::Usage, text));
    }
    Ok(Run::open(&run.dir)?)
}

fn text(id: &str, labels: &Labels) -> String {
    let name = labels.name.as_ref().map(|name| format!("name '{name}'"));
    let tags = (!labels.tags.is_empty()).then(|| format!("tags {}", labels.tags.join(", ")));
    let notes = u32::try_from(labels.notes.len()).unwrap_or(u32::MAX);
    let notes = (notes > 0).then(|| count_of(notes, "note"));
    let all: Vec<String> = [name, tags, notes].into_iter().flatten().collect();
    match all.is_empty() {
        true => format!("{id}: no name, tags or notes"),
        false => format!("{id}: {}", all.join("; ")),
    }
}
