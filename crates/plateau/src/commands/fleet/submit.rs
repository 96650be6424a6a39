//! `plateau fleet submit`.

use std::collections::BTreeMap;
use std::time::Duration;

use ::fleet::{Expected, Job, Program};
use clap::Parser as _;
use cluster::files::{campaign, read_inventory};
use cluster::{reach, submission};
use prepare::job::check_ids;
use record::{Library, RunFile};

use crate::cli::inapplicable;
use crate::cli::{Assumptions, Cli, Command, FleetSubmit};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::lifecycle::{self, Being};
use crate::run::request::RunRequest;
use crate::run::speeds;

pub fn run(cli: &Cli, options: &FleetSubmit) -> Done {
    let inventory = read_inventory(&options.inventory)?;
    let (campaign, jobs) = campaign(&options.campaign, &inventory)?;
    check_ids(&jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>())?;
    let library = places::library(cli.library.as_deref())?;
    let mut known: BTreeMap<(String, String), Expected> = BTreeMap::new();
    let mut each = Vec::new();
    for job in &jobs {
        let key = (job.drive.identity.clone(), job.work.name.clone());
        let expected = match known.get(&key) {
            Some(expected) => *expected,
            None => estimate(job, &library)?,
        };
        known.insert(key, expected);
        each.push(expected);
    }
    if !cli.json {
        printer::print(&submission::text(&campaign.name, &jobs, &each))?;
    }
    let document = submission::document(&campaign.name, &jobs, &each);
    let limits = submission::time_limits(campaign.time_limit_minutes, &jobs, &each)?;
    if options.dry_run {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    }
    submission::check_confirmed(&jobs, &options.erase, options.erase_list.as_deref())?;
    let program = program(&library, options)?;
    // Scripts may be meant for another host, and so may a library that each host has for itself.
    let is_here = options.scripts.is_none() && !options.not_shared;
    let turn = is_here.then(|| reach::turn(&library)).transpose()?;
    // Without --scripts, only the missing jobs are submitted.
    let wanted: Vec<&Job> = match &options.scripts {
        Some(_) => jobs.iter().collect(),
        None => submission::missing(&jobs, &library)?,
    };
    reach::check(&library, &program, &wanted, options.not_shared, options.scripts.is_some())?;
    let scripts = submission::scripts(&campaign, &wanted, &program, &limits)?;
    std::fs::create_dir_all(&program.logs)
        .map_err(|error| Failure::text(Exit::Run, format!("cannot create {}: {error}", program.logs)))?;
    let done = match &options.scripts {
        Some(dir) => submission::write(dir, &scripts)?,
        None => submission::submit(&scripts, jobs.len() - wanted.len(), cli.json)?,
    };
    if let Some(turn) = turn {
        turn.end();
    }
    if cli.json {
        let mut document = document;
        document["submitted"] = done;
        return printer::print_json(&document);
    }
    Ok(())
}

/// Estimates a job with the functions of `plateau plan`. The job's command is parsed as on its host.
fn estimate(job: &Job, library: &Library) -> Done<Expected> {
    let words = ["plateau", "job", &job.id].map(str::to_owned);
    let typed = words.into_iter().chain(job.work.arguments(&job.drive.path));
    let of_plan = |text: String| Failure::text(Exit::Usage, format!("plan '{}': {text}", job.work.name));
    let cli = Cli::try_parse_from(typed).map_err(|error| of_plan(error.to_string()))?;
    let Command::Job(options) = cli.command else { return Err(of_plan("not a job".into())) };
    let request = RunRequest::of(&options.request, &options.handling)?;
    let given = options.request.settings.given().iter().chain(options.handling.given());
    inapplicable::check(&request.target, given, &[]).map_err(|failure| of_plan(failure.message()))?;
    let file = if job.drive.is_simulated() {
        lifecycle::prepare(request, Being::now())?.0
    } else {
        let checked = device::check_for_drive(&job.drive.path, &request.open);
        checked.map_err(|error| of_plan(Failure::from(error).message()))?;
        lifecycle::described(request, Being::now(), job.drive.facts())
    };
    let known = speeds::of(&file, &Assumptions::default(), library)?;
    let expected = expected(&file, &known).map_err(of_plan)?;
    if job.drive.is_simulated() {
        // A simulated drive does not need the time that it simulates.
        return Ok(Expected { step_ns: 0, ..expected });
    }
    // The method of the first purge is unknown; overwriting is the slowest one.
    let overwriting = || {
        let seconds = file.target.capacity_bytes as f64 / known.assumed.sequential.write.max(1.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    };
    let usual = speeds::usual_purge(&file, library);
    let ns = |length: Duration| u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    let purges = file.tests.len() as u64;
    let purge_ns = ns(usual.unwrap_or_else(overwriting)).saturating_mul(purges);
    Ok(Expected { step_ns: expected.step_ns.max(usual.map_or(0, ns)), purge_ns, ..expected })
}

fn expected(file: &RunFile, known: &speeds::Known) -> Result<Expected, String> {
    let estimates = speeds::estimates(file, &known.assumed)?;
    let each = estimates.iter().map(|estimate| Expected {
        shortest_ns: estimate.shortest.duration_ns,
        longest_ns: estimate.longest.duration_ns,
        least_bytes: estimate.shortest.written_bytes(),
        most_bytes: estimate.longest.written_bytes(),
        step_ns: estimate.longest.longest_step_ns,
        purge_ns: 0,
    });
    Ok(each.fold(Expected::default(), Expected::and))
}

fn program(library: &Library, options: &FleetSubmit) -> Done<Program> {
    let own = || std::env::current_exe().map(|path| places::text_of(&path));
    Ok(Program {
        path: options.program.clone().map_or_else(own, Ok)?,
        library: places::text_of(library.root()),
        logs: places::text_of(&std::path::absolute(&options.logs)?),
    })
}
