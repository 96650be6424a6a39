//! `plateau trend DRIVE|MODEL --figure KEY`: shows one figure over time.

use compare::{Point, Trend, trend_csv, trend_html, trend_json, trend_text};
use report::parts::Better;
use store::FigureOfRun;

use crate::cli::{Cli, TrendOptions};
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::shared;

pub fn run(cli: &Cli, options: &TrendOptions) -> Done {
    file::check(options.html.as_deref(), cli.json || options.csv)?;
    let library = places::library(cli.library.as_deref())?;
    let store = store::chosen(options.store.store.as_ref())?;
    let (figures, keys) = shared::or_own(store.as_ref(), &library, |index| {
        let figures = index.figures(&options.figure)?;
        let keys = if figures.is_empty() { index.figure_keys()? } else { Vec::new() };
        Ok((figures, keys))
    })?;
    if figures.is_empty() {
        return Err(unknown_figure(&keys, &options.figure));
    }
    let trend = trend(options, of_subject(figures, &options.subject)?);
    if let Some(path) = &options.html {
        file::file(path, trend_html(&trend).as_bytes())?;
    }
    match (cli.json, options.csv, &options.html) {
        (true, ..) => printer::print_json(&trend_json(&trend)),
        (false, true, _) => printer::print_bytes(trend_csv(&trend).as_bytes()),
        (false, false, Some(path)) if file::is_stdout(path) => Ok(()),
        (false, false, _) => printer::print(&trend_text(&trend, printer::columns())),
    }
}

fn unknown_figure(keys: &[String], figure: &str) -> Failure {
    let hint = match stdx::nearest(figure, keys.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => "`plateau query 'SELECT DISTINCT figure_key FROM figure'` lists all".into(),
    };
    Failure::text(Exit::Usage, format!("--figure: no run has a value of '{figure}'; {hint}"))
}

/// Returns the runs of the drive or model that `subject` names. If there is no exact match for an identity, serial
/// number or model name, `subject` may be part of one, but must match only one model.
fn of_subject(figures: Vec<FigureOfRun>, subject: &str) -> Done<Vec<FigureOfRun>> {
    let subject = subject.to_lowercase();
    let is = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase() == subject);
    let has = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase().contains(&subject));
    let is_drive =
        |run: &FigureOfRun| is(Some(&run.drive)) || is(Some(&run.identity)) || is(run.serial.as_deref());
    let is_model = |run: &FigureOfRun| is(run.model.as_deref());
    let is_like =
        |run: &FigureOfRun| has(Some(&run.drive)) || has(run.serial.as_deref()) || has(run.model.as_deref());
    let choices: [&dyn Fn(&FigureOfRun) -> bool; 3] = [&is_drive, &is_model, &is_like];
    let choice = choices.into_iter().find(|choice| figures.iter().any(choice));
    let Some(choice) = choice else {
        let text = format!(
            "no run of a drive or model like '{subject}' has this figure; `plateau drives` lists all drives"
        );
        return Err(Failure::text(Exit::Usage, text));
    };
    let runs: Vec<FigureOfRun> = figures.into_iter().filter(|run| choice(run)).collect();
    let mut models: Vec<&str> =
        runs.iter().map(|run| run.model.as_deref().unwrap_or(&run.identity)).collect();
    models.sort_unstable();
    models.dedup();
    if models.len() > 1 {
        let text =
            format!("'{subject}' matches several models: {}; type more of the name", models.join(", "));
        return Err(Failure::text(Exit::Usage, text));
    }
    Ok(runs)
}

fn trend(options: &TrendOptions, runs: Vec<FigureOfRun>) -> Trend {
    let first = runs.first();
    let smaller_is_better = first.is_some_and(|run| run.smaller_is_better);
    Trend {
        subject: options.subject.clone(),
        figure: options.figure.clone(),
        name: first.map(|run| run.name.clone()).unwrap_or_default(),
        unit: first.map(|run| run.unit.clone()).unwrap_or_default(),
        better: if smaller_is_better { Better::Less } else { Better::More },
        points: runs.into_iter().map(point).collect(),
    }
}

fn point(run: FigureOfRun) -> Point {
    let demand = run.demand.map(|(threads, depth)| format!(", TC {threads}, QD {depth}")).unwrap_or_default();
    let scale = match run.scale_divisor {
        1 => String::new(),
        divisor => format!(", scale 1/{divisor}"),
    };
    Point {
        settings: format!("{}{demand}{scale}", run.profile),
        run: run.run,
        created: run.created,
        drive: run.drive,
        firmware: run.firmware,
        state: run.state,
        simulated: run.simulated,
        value: run.value,
        rounds: run.rounds,
        host_limited: run.host_limited,
    }
}
