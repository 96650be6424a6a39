//! `plateau runs`.

use record::{Library, Run};
use serde_json::json;

use crate::cli::Cli;
use crate::failure::{Done, Failure};
use crate::summary::{self, Summary};
use crate::{places, printer};

/// Id, time, tests, profile, target, verdict, folder.
type Row = (String, jiff::Timestamp, String, String, String, String, std::path::PathBuf);

pub fn run(cli: &Cli) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (runs, unreadable) = library.list()?;
    list(cli, &library, runs)?;
    // A list that lacks a run is not the whole truth.
    let mut failures: Vec<Failure> = unreadable.into_iter().map(Failure::from).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| printer::tell_line(&format!("plateau: {}", failure.message())));
    Err(last.told())
}

fn list(cli: &Cli, library: &Library, runs: Vec<Run>) -> Done {
    let mut rows: Vec<Row> = Vec::new();
    for run in runs {
        let (id, created, tests) = (run.file.id.clone(), run.file.created, run.file.tests.join(","));
        let (target, profile) = (summary::target(&run.file), run.file.profile.clone());
        let (verdict, path) = match Summary::of(run.clone()) {
            Ok(summary) => (summary.verdict().to_owned(), run.dir),
            Err(failure) => (format!("unreadable: {}", failure.message()), run.dir),
        };
        rows.push((id, created, tests, profile, target, verdict, path));
    }
    if cli.json {
        let documents = rows.iter().map(|(id, created, tests, profile, target, verdict, path)| {
            json!({
                "run": id, "created": created.to_string(), "tests": tests.split(',').collect::<Vec<_>>(),
                "profile": profile, "target": target, "verdict": verdict, "path": places::text_of(path),
            })
        });
        return printer::print_json(&documents.collect());
    }
    if rows.is_empty() {
        return printer::print(&format!("no runs in {}; `plateau demo` makes one", library.root().display()));
    }
    let widest = |column: fn(&Row) -> &String| rows.iter().map(|row| column(row).len()).max().unwrap_or(0);
    let (ids, courses) = (widest(|row| &row.0), widest(|row| &row.2));
    let (profiles, verdicts) = (widest(|row| &row.3), widest(|row| &row.5));
    let mut out = String::new();
    for (id, created, tests, profile, target, verdict, _) in &rows {
        let when = created.strftime("%Y-%m-%d %H:%M");
        out.push_str(&format!(
            "{id:<ids$}  {when} UTC  {tests:<courses$}  {profile:<profiles$}  {verdict:<verdicts$}  {target}\n"
        ));
    }
    printer::print(&out)
}
