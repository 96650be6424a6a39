//! `plateau runs`.

use nandsim::MODELS;
use prepare::models;
use pts::{PROFILES, TESTS};
use record::Library;
use stdx::parallel::mapped;
use stdx::table::table;
use stdx::text::on_one_line;
use store::{Page, RunColumns, RunRow, Shown};

use crate::cli::positional;
use crate::cli::{Cli, Only, Runs, Sort};
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue::{self, Known};
use crate::output::listing::{self, Listed};
use crate::output::places;
use crate::output::printer;
use crate::output::standing::State;

/// Number of runs whose rows one thread makes at a time; fewer are not worth another thread.
const PART: usize = 256;

pub fn run(cli: &Cli, options: &Runs) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let store = store::chosen(options.store.store.as_ref())?;
    let (runs, unreadable) = catalogue::runs_from(store.as_ref(), &library)?;
    check(&options.filter.only, &runs)?;
    list(cli, options, &library, runs)?;
    // Unreadable runs are reported because the list is incomplete without them.
    let mut failures: Vec<Failure> = unreadable.into_iter().map(Failure::from).collect();
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| printer::print_line(&format!("plateau: {}", failure.message())));
    Err(last.already_printed())
}

/// Returns the runs in the library that match the options.
///
/// # Errors
/// Returns an error if the library cannot be read, if one of its runs cannot be read (so that it is unknown
/// whether that run matches), or if no run matches.
pub fn selected(library: &Library, requested: &Only) -> Done<Vec<Listed>> {
    let (runs, unreadable) = catalogue::runs(library)?;
    unreadable.into_iter().next().map_or(Ok(()), |error| Err(Failure::from(error)))?;
    check(requested, &runs)?;
    let count = runs.len();
    let meant = runs.into_iter().filter(|run| listing::is_selected(&run.run, requested));
    let mut listed: Vec<Listed> = meant.map(|run| listing::listed(library, run)).collect();
    listed.retain(|run| requested.state.is_empty() || requested.state.contains(&run.state));
    if listed.is_empty() {
        let root = library.root().display();
        let text = format!("none of the {count} runs in {root} matches; `plateau runs` lists them");
        return Err(Failure::text(Exit::Run, text));
    }
    Ok(listed)
}

/// Rejects filters that must be typos, because no run can match them.
pub fn check(filter: &Only, runs: &[Known]) -> Done {
    filter.test.as_deref().map_or(Ok(()), |test| check_test(test, runs))?;
    filter.profile.as_deref().map_or(Ok(()), |profile| check_profile(profile, runs))?;
    filter.model.as_deref().map_or(Ok(()), |model| check_model(model, runs))
}

/// Rejects a test that exists neither in Plateau nor in any run: the name must be a typo, which an empty list would
/// hide.
fn check_test(test: &str, runs: &[Known]) -> Done {
    let own = || runs.iter().flat_map(|run| run.run.tests.iter().map(String::as_str));
    if positional::test_named(test).is_some() || own().any(|name| name.eq_ignore_ascii_case(test)) {
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

/// Rejects a prefix that matches neither a Plateau profile nor the profile of any run.
fn check_profile(profile: &str, runs: &[Known]) -> Done {
    let lower = profile.to_lowercase();
    let built_in = || PROFILES.iter().map(|profile| profile.name);
    let known = || built_in().chain(runs.iter().map(|run| run.run.profile.as_str()));
    if known().any(|name| name.starts_with(&lower)) {
        return Ok(());
    }
    let hint = match stdx::nearest(profile, known()) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("profiles: {}", built_in().collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::text(Exit::Usage, format!("--profile: no profile begins with '{profile}'; {hint}")))
}

/// Rejects a mistyped simulated drive. Models of real drives are not checked, because there may not yet be a
/// run on one.
fn check_model(model: &str, runs: &[Known]) -> Done {
    let only = Only { model: Some(model.to_owned()), ..Only::default() };
    let name = models::simulated(model).unwrap_or(model);
    let built_in = || MODELS.iter().map(|(known, _)| *known);
    let is_known = built_in().any(|known| known.contains(&name.to_lowercase()));
    if is_known || runs.iter().any(|run| listing::is_selected(&run.run, &only)) {
        return Ok(());
    }
    // Part of a name is compared with prefixes of the same length, but only if it is long enough, because a few
    // letters resemble any name.
    let beginnings = built_in().map(|known| known.get(..name.len()).unwrap_or(known));
    let meant = (name.len() > 4).then(|| stdx::nearest(name, beginnings)).flatten();
    meant.map_or(Ok(()), |meant| {
        let text = format!("--model: no run is on a drive like '{model}'; did you mean '{meant}'?");
        Err(Failure::text(Exit::Usage, text))
    })
}

fn list(cli: &Cli, options: &Runs, library: &Library, runs: Vec<Known>) -> Done {
    let count = runs.len();
    let page = Page { number: options.page.unwrap_or(1), size: options.limit };
    let (listed, total) = page_of(options, library, runs, page);
    if cli.json {
        return print_json(options, &listed, page, total);
    }
    if listed.is_empty() {
        return printer::print(&nothing(options, library, count, page, total));
    }
    match &options.columns {
        Some(columns) => printer::print(&chosen(columns, &listed))?,
        None => printer::print(&text(&listed, printer::columns()))?,
    }
    if page.more(total) > 0 {
        let next = page.number.saturating_add(1);
        printer::notice(&format!("{} more of {total} runs; add --page {next}", page.more(total)));
    }
    Ok(())
}

/// Returns the runs on a page, and the total number of runs on all pages. Journals are read only for runs that
/// may be listed.
fn page_of(options: &Runs, library: &Library, runs: Vec<Known>, page: Page) -> (Vec<Listed>, usize) {
    let listed = |run: Known| listing::listed(library, run);
    let meant = runs.into_iter().filter(|run| listing::is_meant(&run.run, &options.filter));
    if options.filter.only.state.is_empty() && options.sort == Sort::Newest {
        let mut meant: Vec<Known> = meant.collect();
        let total = meant.len();
        return (meant.drain(page.range(total)).map(listed).collect(), total);
    }
    let mut listed: Vec<Listed> = meant.map(listed).collect();
    listed
        .retain(|run| options.filter.only.state.is_empty() || options.filter.only.state.contains(&run.state));
    listing::sort(&mut listed, options.sort);
    let total = listed.len();
    (listed.drain(page.range(total)).collect(), total)
}

/// Explains why no run is listed.
fn nothing(options: &Runs, library: &Library, count: usize, page: Page, total: usize) -> String {
    let root = library.root().display();
    if count == 0 {
        return format!("no runs in {root}; `plateau demo` creates one");
    }
    if total > 0 {
        let last = page.last(total);
        return format!(
            "page {} is empty: {total} of {count} runs match; the last page is {last}",
            page.number
        );
    }
    let hint = match &options.filter.text[..] {
        [only] if library.find(only).is_ok() => format!("; `plateau show {only}` shows that run"),
        _ => String::new(),
    };
    format!("none of the {count} runs in {root} matches{hint}")
}

fn print_json(options: &Runs, listed: &[Listed], page: Page, total: usize) -> Done {
    let columns = options.columns.clone().unwrap_or_default();
    let runs: Vec<_> = listed.iter().map(|run| with_row(run, |row| columns.document(row))).collect();
    match options.page {
        Some(_) => printer::print_document(&page.document(runs, total)),
        None => printer::print_document(&runs),
    }
}

fn chosen(columns: &RunColumns, listed: &[Listed]) -> String {
    let rows = listed.iter().map(|run| with_row(run, |row| columns.cells(row)));
    table(&std::iter::once(columns.heading()).chain(rows).collect::<Vec<_>>())
}

fn with_row<T>(run: &Listed, show: impl FnOnce(&RunRow<'_>) -> T) -> T {
    let (state, path) = (run.state.to_string(), places::text_of(&run.dir));
    show(&RunRow { run: &run.run, state: &state, verdict: &run.text, path: &path })
}

/// Returns a table, or two lines per run if the table is wider than the terminal.
fn text(runs: &[Listed], columns: Option<usize>) -> String {
    let head = ["run", "started (UTC)", "tests", "profile", "state", "target"].map(str::to_owned);
    let parts: Vec<&[Listed]> = runs.chunks(PART).collect();
    let rows = mapped(&parts, |part| part.iter().map(row).collect::<Vec<_>>()).into_iter().flatten();
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    let table = table(&rows);
    let fits = |columns| table.lines().all(|line| console::columns(line) <= columns);
    if columns.is_none_or(fits) { table } else { rows.iter().skip(1).map(two_lines).collect() }
}

fn two_lines([id, started, tests, profile, state, target]: &[String; 6]) -> String {
    format!("{id}  {state}\n  {started}  {tests}  {profile}  {target}\n")
}

/// Returns the word that selects the run with `--state`, with details if it is in progress or unreadable.
fn state_text(run: &Listed) -> String {
    match run.state {
        State::Running | State::Unreadable => run.text.to_string(),
        state => state.name().to_owned(),
    }
}

fn row(run: &Listed) -> [String; 6] {
    let Shown { tests, profile, target, name, tags } = run.run.shown();
    let name = name.into_iter().flat_map(|name| [name, "  "]);
    let tags = tags.into_iter().flat_map(|tag| ["#", tag, "  "]);
    let labelled: String = name.chain(tags).chain([target]).collect();
    [
        run.run.id().to_owned(),
        run.run.created().strftime("%Y-%m-%d %H:%M").to_string(),
        tests.join(","),
        profile.to_owned(),
        state_text(run),
        on_one_line(&labelled).into_owned(),
    ]
}
