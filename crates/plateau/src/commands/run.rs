//! `plateau run TESTS TARGET…`.

use std::path::PathBuf;

use super::plan;
use crate::cli::inapplicable;
use crate::cli::{Cli, PlanCommand, Publisher, Run};
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::printer;
use crate::output::publication;
use crate::output::report_file;
use crate::run::campaign;
use crate::run::lifecycle;
use crate::run::request::RunRequest;

pub fn run(cli: &Cli, options: &Run) -> Done {
    if options.dry_run {
        return plan::estimate(
            cli,
            &PlanCommand { request: options.request.clone(), ..PlanCommand::default() },
            &options.handling,
        );
    }
    let mut requests = RunRequest::each(&options.request, &options.handling)?;
    requests.iter_mut().for_each(|each| each.labels = options.labels.labels());
    // If there is also a real target, the options apply to it.
    if let Some(simulated) = inapplicable::all_simulated(&requests) {
        let typed = options.request.settings.given().iter().chain(options.handling.given());
        inapplicable::check(simulated, typed, &options.erase)?;
    }
    let reports = report_file::named(&options.report)?;
    if requests.len() > 1 {
        if !reports.is_empty() {
            let text = "--report works with one target only; for several, use `plateau report RUN FILE`";
            return Err(Failure::text(Exit::Usage, text));
        }
        return campaign::run(cli, requests, &options.erase);
    }
    // The outputs are written hours later, so check them now.
    file::check(options.report.iter().map(PathBuf::as_path), cli.json)?;
    let done = lifecycle::perform(cli.library.as_deref(), requests.remove(0), &options.erase)?;
    let publication = publication::of(&done, &Publisher::default())?;
    let written = report_file::write_all(&done, &reports, publication, cli.json)?;
    let accepted = lifecycle::finish(cli, done)?;
    if cli.json || written.is_empty() {
        return accepted.done();
    }
    let lines: String = written.iter().map(|(_, path)| format!("report    {}\n", path.display())).collect();
    printer::print(&lines)?;
    accepted.done()
}
