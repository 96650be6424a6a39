//! `plateau run TESTS TARGET…`.

use std::path::PathBuf;

use super::plan;
use crate::cli::{Cli, Plan, Publisher, Run};
use crate::failure::{Done, Exit, Failure};
use crate::wanted::Wanted;
use crate::{campaign, conduct, labels, meaningless, output, printer, publication, report_file};

pub fn run(cli: &Cli, options: &Run) -> Done {
    if options.dry_run {
        return plan::run(cli, &Plan { asked: options.asked.clone(), ..Plan::default() });
    }
    let mut wanted = Wanted::each(&options.asked)?;
    wanted.iter_mut().for_each(|each| each.labels = labels::of(&options.labels));
    // If there is also a real target, the options apply to that one.
    if let Some(simulated) = meaningless::all_simulated(&wanted) {
        meaningless::check(simulated, &options.asked, &options.handling, &options.erase)?;
    }
    let reports = report_file::named(&options.report)?;
    if wanted.len() > 1 {
        if !reports.is_empty() {
            let text = "--report works with one target only; for several, use `plateau report RUN FILE`";
            return Err(Failure::text(Exit::Usage, text));
        }
        return campaign::run(cli, wanted, options);
    }
    // Check now: the outputs are written hours later.
    output::check(options.report.iter().map(PathBuf::as_path), cli.json)?;
    let done = conduct::perform(cli.library.as_deref(), wanted.remove(0), options)?;
    let publication = publication::of(&done, &Publisher::default())?;
    let written = report_file::write_all(&done, &reports, publication, cli.json)?;
    conduct::finish(cli, done)?;
    if cli.json || written.is_empty() {
        return Ok(());
    }
    let lines: String = written.iter().map(|(_, path)| format!("report    {}\n", path.display())).collect();
    printer::print(&lines)
}
