//! `plateau copy RUN… DEST`, `plateau copy --all DEST`.

use std::ops::ControlFlow;

use record::{Library, Run};
use serde_json::{Value, json};
use stdx::units::amount_base10;
use transfer::{Receiver, Sent, Source, TransferError, mark_of, send};

use crate::cli::{Cli, Copy};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::several::{self, Deed};

pub fn run(cli: &Cli, options: &Copy) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let dest = std::path::absolute(&options.dest)?;
    let is_same = |dir: &std::path::Path| {
        std::fs::canonicalize(dir).is_ok_and(|dir| std::fs::canonicalize(&dest).is_ok_and(|dest| dest == dir))
    };
    let may_copy = |run: &Run| {
        if run.dir.parent().is_some_and(is_same) {
            let text = format!("run {} is already in {}", run.file.id, dest.display());
            return Err(Failure::text(Exit::Usage, text));
        }
        check(run, options.in_progress)
    };
    let (runs, mut failures) = match options.all {
        // A run that cannot be copied does not keep the others from being copied.
        true => several::every(&library)?,
        false => (places::chosen(&library, &options.runs, false)?, Vec::new()),
    };
    // Named runs are checked before the first of them is copied.
    if !options.all {
        runs.iter().try_for_each(may_copy)?;
    }
    let mut copied = Vec::new();
    for run in runs {
        let id = run.file.id.clone();
        let there = Library::at(&dest);
        let sent = may_copy(&run)
            .and_then(|()| copy(run, there.clone()).map_err(|error| Failure::from(error).of_run(&id)));
        let sent = match sent {
            Ok(sent) => sent,
            Err(failure) if options.all => {
                failures.push(failure);
                continue;
            }
            Err(failure) => return Err(failure.with_document(json!({ "copied": copied }))),
        };
        if !cli.json {
            let is_archived = there.open(&id).is_ok_and(|run| run.is_archived());
            printer::print(&text(&id, sent, is_archived))?;
        }
        copied.push(document(&id, sent));
    }
    several::conclude(cli, &Deed { key: "copied", word: "copied" }, &copied, failures, &[])
}

/// Rejects an incomplete copy and, unless `is_in_progress_requested`, a run in progress.
pub fn check(run: &Run, is_in_progress_requested: bool) -> Done {
    let id = &run.file.id;
    if let Some(mark) = mark_of(run)?.filter(|mark| !mark.has_all || mark.source_in_progress) {
        let text = format!("run {id} is itself an incomplete {}; copy it from there", mark.words());
        return Err(Failure::text(Exit::Run, text).of_run(id));
    }
    if !is_in_progress_requested && run.is_in_progress()? {
        let text =
            format!("run {id} is in progress; wait for it, or copy its records so far with --in-progress");
        return Err(Failure::text(Exit::Run, text).of_run(id));
    }
    Ok(())
}

fn copy(run: Run, dest: Library) -> Result<Sent, TransferError> {
    let from = format!("{}:{}", stdx::host_name(), run.dir.display());
    send(&mut Source::of(run), &mut Receiver::of(dest, from), &mut |_| ControlFlow::Continue(()))
}

/// Describes a transfer on one line; `is_archived` says whether the run is archived at the destination.
pub fn text(id: &str, sent: Sent, is_archived: bool) -> String {
    let amount = amount_base10(sent.new_bytes);
    let so_far = if sent.was_in_progress { " so far; it is in progress" } else { "" };
    match sent.new_bytes {
        0 if is_archived => format!("{id}  nothing new; the destination has the whole run, archived"),
        0 => format!("{id}  nothing new{so_far}"),
        new if new == sent.bytes => format!("{id}  {amount}{so_far}"),
        _ => format!("{id}  {amount}, continued{so_far}"),
    }
}

/// Returns the JSON document that describes a transfer.
pub fn document(id: &str, sent: Sent) -> Value {
    json!({
        "run": id,
        "new_bytes": sent.new_bytes,
        "bytes": sent.bytes,
        "in_progress": sent.was_in_progress,
    })
}
