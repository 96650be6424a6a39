//! The outcome of a command that continues with the next run if one fails.

use record::{Library, Run};
use serde_json::{Value, json};

use crate::cli::Cli;
use crate::failure::{Done, Failure};
use crate::output::printer;

/// What a command does with runs, in words.
pub struct Deed {
    /// Key of the document's successful runs.
    pub key: &'static str,
    /// Completes "1 of 3 runs were not ...".
    pub word: &'static str,
}

/// Returns every run in a library, and why the others cannot be read.
pub fn every(library: &Library) -> Done<(Vec<Run>, Vec<Failure>)> {
    let (runs, unreadable) = library.list()?;
    if runs.is_empty() && unreadable.is_empty() {
        let text = format!("no runs in {}", library.root().display());
        return Err(Failure::text(crate::failure::Exit::Run, text));
    }
    Ok((runs, unreadable.into_iter().map(Failure::from).collect()))
}

/// Reports the outcome of all runs. The gravest failure determines the exit code.
pub fn conclude(
    cli: &Cli,
    deed: &Deed,
    done: &[Value],
    mut failures: Vec<Failure>,
    not_tried: &[String],
) -> Done {
    let mut document = json!({ deed.key: done });
    let Some(exit) = failures.iter().map(|failure| failure.exit).max_by_key(|exit| exit.gravity()) else {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    };
    let problem = |failure: &Failure| json!({ "run": failure.run, "problem": failure.message() });
    document["failed"] = failures.iter().map(problem).collect();
    document["not_tried"] = json!(not_tried);
    let not_done = failures.len() + not_tried.len();
    let total = done.len() + not_done;
    if total == 1 {
        return Err(failures.remove(0).with_document(document));
    }
    for failure in &failures {
        let of_run = failure.run.as_ref().map(|id| format!("run {id}: ")).unwrap_or_default();
        printer::print_line(&format!("plateau: {of_run}{}", failure.message()));
    }
    let rest = match not_tried.len() {
        0 => String::new(),
        count => format!("; {count} of them were not tried"),
    };
    Err(Failure::text(exit, format!("{not_done} of {total} runs were not {}{rest}", deed.word))
        .with_document(document))
}
