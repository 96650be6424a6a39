//! `plateau runs`.

use record::{Library, Run};
use serde_json::{Value, json};
use stdx::text::on_one_line;

use crate::cli::{Cli, Runs, Sort};
use crate::failure::{Done, Failure};
use crate::listing::{self, Listed};
use crate::{places, printer, summary};

pub fn run(cli: &Cli, options: &Runs) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (runs, unreadable) = library.list()?;
    list(cli, options, &library, runs)?;
    // Report unreadable runs: the list is incomplete without them.
    let mut failures: Vec<Failure> = unreadable.into_iter().map(Failure::from).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| printer::tell_line(&format!("plateau: {}", failure.message())));
    Err(last.told())
}

fn list(cli: &Cli, options: &Runs, library: &Library, runs: Vec<Run>) -> Done {
    let count = runs.len();
    let meant = runs.into_iter().filter(|run| listing::is_meant(&run.file, options));
    let limit = options.limit.unwrap_or(usize::MAX);
    // Journals are read only for runs that may be listed.
    let by_file = options.state.is_empty() && options.sort == Sort::Newest;
    let mut listed: Vec<Listed> =
        meant.take(if by_file { limit } else { usize::MAX }).map(listing::listed).collect();
    listed.retain(|run| options.state.is_empty() || options.state.contains(&run.state));
    listing::sort(&mut listed, options.sort);
    listed.truncate(limit);
    if cli.json {
        return printer::print_json(&listed.iter().map(document).collect());
    }
    match (listed.is_empty(), count) {
        (false, _) => printer::print(&text(&listed)),
        (true, 0) => {
            printer::print(&format!("no runs in {}; `plateau demo` makes one", library.root().display()))
        }
        (true, _) => printer::print(&format!("none of {count} runs in {}", library.root().display())),
    }
}

/// Returns a listed run as JSON.
pub fn document(run: &Listed) -> Value {
    let file = &run.file;
    json!({
        "run": file.id, "created": file.created.to_string(), "tests": file.tests, "profile": file.profile,
        "target": summary::target(file), "verdict": run.text, "path": places::text_of(&run.dir),
        "state": run.state, "name": file.labels.name, "tags": file.labels.tags, "notes": file.labels.notes,
    })
}

fn text(runs: &[Listed]) -> String {
    let rows: Vec<[String; 5]> = runs.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    let line = |row: &[String; 5]| {
        let cells =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect::<String>();
        format!("{cells}{}\n", row[4])
    };
    rows.iter().map(line).collect()
}

fn row(run: &Listed) -> [String; 5] {
    let file = &run.file;
    let labels = &file.labels;
    let tags = labels.tags.iter().map(|tag| format!("#{tag}"));
    let labelled: Vec<String> =
        labels.name.iter().cloned().chain(tags).chain([summary::target(file)]).collect();
    [
        format!("{}  {} UTC", file.id, file.created.strftime("%Y-%m-%d %H:%M")),
        file.tests.join(","),
        file.profile.clone(),
        run.text.clone(),
        on_one_line(&labelled.join("  ")).into_owned(),
    ]
}
