//! `plateau runs`.

use pts::TESTS;
use record::{Library, Run};
use serde_json::{Value, json};
use stdx::text::on_one_line;

use crate::cli::{Cli, Runs, Sort};
use crate::failure::{Done, Exit, Failure};
use crate::listing::{self, Listed};
use crate::{places, printer, summary, words};

pub fn run(cli: &Cli, options: &Runs) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let (runs, unreadable) = library.list()?;
    options.test.as_deref().map_or(Ok(()), |test| check_test(test, &runs))?;
    list(cli, options, &library, runs)?;
    // Report unreadable runs: the list is incomplete without them.
    let mut failures: Vec<Failure> = unreadable.into_iter().map(Failure::from).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| printer::tell_line(&format!("plateau: {}", failure.message())));
    Err(last.told())
}

/// Refuses a test that neither Plateau nor any run has: it is mistyped, and an empty list would hide that.
fn check_test(test: &str, runs: &[Run]) -> Done {
    let own = || runs.iter().flat_map(|run| run.file.tests.iter().map(String::as_str));
    if words::test_named(test).is_some() || own().any(|name| name.eq_ignore_ascii_case(test)) {
        return Ok(());
    }
    let built_in = TESTS.iter().flat_map(|test| [test.family, test.name]);
    let text = match stdx::nearest(test, built_in.chain(own())) {
        Some(meant) => format!("no test '{test}'; did you mean '{meant}'?"),
        None => {
            let names: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
            format!("no test '{test}'; tests: {}", names.join(", "))
        }
    };
    Err(Failure::text(Exit::Usage, format!("--test: {text}")))
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
    let head = ["run", "started (UTC)", "tests", "profile", "state", "target"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(runs.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let cells =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect::<String>();
        format!("{cells}{}\n", row[5])
    };
    rows.iter().map(line).collect()
}

fn row(run: &Listed) -> [String; 6] {
    let file = &run.file;
    let labels = &file.labels;
    let tags = labels.tags.iter().map(|tag| format!("#{tag}"));
    let labelled: Vec<String> =
        labels.name.iter().cloned().chain(tags).chain([summary::target(file)]).collect();
    [
        file.id.clone(),
        file.created.strftime("%Y-%m-%d %H:%M").to_string(),
        file.tests.join(","),
        file.profile.clone(),
        run.text.clone(),
        on_one_line(&labelled.join("  ")).into_owned(),
    ]
}
