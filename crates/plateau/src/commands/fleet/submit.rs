//! `plateau fleet submit`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::time::Duration;

use ::fleet::{Drive, Expected, FleetError, Job, Program, batch_name, batches, outlook, script};
use clap::Parser as _;
use cluster::Whose;
use cluster::files::{campaign, failure, read, read_inventory};
use cluster::scheduler::{self, Queue};
use record::{Library, RunFile, TargetFacts, TargetKind};
use serde_json::{Value, json};
use stdx::files::Folder;
use stdx::text::{in_quotes, on_one_line};
use stdx::units::span;

use crate::cli::inapplicable;
use crate::cli::{Assumptions, Cli, Command, FleetSubmit};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::lifecycle::{self, Being};
use crate::run::request::RunRequest;
use crate::run::speeds;
use stdx::table::table;

pub fn run(cli: &Cli, options: &FleetSubmit) -> Done {
    let inventory = read_inventory(&options.inventory)?;
    let (campaign, jobs) = campaign(&options.campaign, &inventory)?;
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
        printer::print(&text(&campaign.name, &jobs, &each))?;
    }
    let document = document(&campaign.name, &jobs, &each);
    let limits = time_limits(campaign.time_limit_minutes, &jobs, &each)?;
    if options.dry_run {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    }
    check_confirmed(&jobs, options)?;
    let program = program(&library, options)?;
    // Without --scripts, only the missing jobs are submitted.
    let wanted: Vec<&Job> = match &options.scripts {
        Some(_) => jobs.iter().collect(),
        None => missing(&jobs, &library)?,
    };
    // Slurm has one time limit for all tasks of an array.
    let limit = |batch: &[&Job]| batch.iter().filter_map(|job| limits.get(job.id.as_str())).max().copied();
    let scripts: Vec<(Vec<&Job>, String)> = batches(&campaign, &wanted)
        .into_iter()
        .filter_map(|batch| {
            let limit = limit(&batch)?;
            Some(script(&batch, &program, limit).map(|text| (batch, text)))
        })
        .collect::<Result<_, FleetError>>()
        .map_err(failure)?;
    std::fs::create_dir_all(&program.logs)
        .map_err(|error| Failure::text(Exit::Run, format!("cannot create {}: {error}", program.logs)))?;
    let done = match &options.scripts {
        Some(dir) => write(dir, &scripts)?,
        None => submit(cli, &scripts, jobs.len() - wanted.len())?,
    };
    if cli.json {
        let mut document = document;
        document["submitted"] = done;
        return printer::print_json(&document);
    }
    Ok(())
}

/// Returns the time limit of each job in minutes, by its id.
fn time_limits<'a>(chosen: Option<u32>, jobs: &'a [Job], each: &[Expected]) -> Done<BTreeMap<&'a str, u32>> {
    let limit = |(job, expected): (&'a Job, &Expected)| match expected.time_limit(chosen) {
        Ok(minutes) => Ok((job.id.as_str(), minutes)),
        Err(least) => Err(Failure::text(
            Exit::Usage,
            format!(
                "time-limit-minutes is too short for plan '{}' on drive {}: one of its steps can take up to {}, and starts \
                 again from its beginning each time that the limit interrupts the job; use at least {least}",
                job.work.name,
                on_one_line(&job.drive.identity),
                span(expected.step_ns)
            ),
        )),
    };
    jobs.iter().zip(each).map(limit).collect()
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
        lifecycle::described(request, Being::now(), facts(&job.drive))
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

/// Returns what is known about a drive on another host.
fn facts(drive: &Drive) -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Block,
        path: drive.path.clone(),
        identity: drive.identity.clone(),
        attachment: None,
        vendor: None,
        model: drive.model.clone(),
        serial: Some(drive.identity.clone()),
        firmware: drive.firmware.clone(),
        interface: Some(drive.kind.clone()),
        nand: None,
        capacity_bytes: drive.capacity_bytes.unwrap_or_default(),
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        rotational: Some(false),
        simulated: None,
        array: None,
    }
}

/// Checks that erasing was confirmed for each drive.
fn check_confirmed(jobs: &[Job], options: &FleetSubmit) -> Done {
    let mut typed: BTreeSet<String> = options.erase.iter().cloned().collect();
    if let Some(path) = &options.erase_list {
        typed.extend(read(path)?.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let drives = outlook::lost(jobs);
    if let Some(stranger) = options.erase.iter().find(|typed| !drives.contains_key(typed.as_str())) {
        let text =
            format!("--erase '{stranger}' does not match any drive in the campaign; nothing was submitted");
        return Err(Failure::text(Exit::Refused, text));
    }
    let missing: Vec<&str> = drives.keys().copied().filter(|identity| !typed.contains(*identity)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let each: Vec<String> =
        missing.iter().map(|identity| format!("--erase {}", in_quotes(&on_one_line(identity)))).collect();
    let text = format!(
        "everything on {} of these drives would be lost; confirm with {}, or with --erase-list FILE, which has one \
         identity per line. Nothing was submitted",
        missing.len(),
        each.join(" ")
    );
    Err(Failure::text(Exit::Refused, text))
}

fn program(library: &Library, options: &FleetSubmit) -> Done<Program> {
    let own = || std::env::current_exe().map(|path| places::text_of(&path));
    Ok(Program {
        path: options.program.clone().map_or_else(own, Ok)?,
        library: places::text_of(library.root()),
        logs: places::text_of(&std::path::absolute(&options.logs)?),
    })
}

fn write(dir: &std::path::Path, scripts: &[(Vec<&Job>, String)]) -> Done<Value> {
    let cannot = |error: stdx::files::WriteError| {
        Failure::text(Exit::Run, format!("cannot write {:#}", anyhow::Error::new(error)))
    };
    let folder = Folder::make(dir, true).map_err(cannot)?;
    let mut names = Vec::new();
    for (batch, text) in scripts {
        let name = format!("{}.sh", batch_name(batch));
        folder.replace(OsStr::new(&name), text.as_bytes()).map_err(cannot)?;
        names.push(name);
    }
    printer::notice(&format!("wrote {} scripts for sbatch to {}", names.len(), dir.display()));
    Ok(json!(names))
}

/// Returns the jobs that are neither complete nor in the queue, so that resubmitting a campaign adds only these.
fn missing<'a>(jobs: &'a [Job], library: &Library) -> Done<Vec<&'a Job>> {
    let queued = match scheduler::queued(Whose::Mine)? {
        Queue::Known(queued) => queued,
        // There is no sbatch on this host either, which the first submission's error message will say.
        Queue::Absent => Vec::new(),
        // Without knowledge of the queue, jobs could be submitted twice.
        Queue::Unknown(message) => return Err(scheduler::failed("squeue", &message)),
    };
    let is_missing = |job: &&Job| {
        let is_complete = || {
            let run = library.open(&job.id).ok();
            run.and_then(|run| run.load().ok()).is_some_and(|loaded| lifecycle::is_complete(&loaded))
        };
        !queued.iter().any(|queued| queued.name == job.id) && !is_complete()
    };
    Ok(jobs.iter().filter(is_missing).collect())
}

fn submit(cli: &Cli, scripts: &[(Vec<&Job>, String)], skipped: usize) -> Done<Value> {
    let mut submitted = Vec::new();
    for (batch, text) in scripts {
        let number = scheduler::submit(text).map_err(|failure| {
            // A batch of several runs has a name of its own, which is not the id of a run.
            let failure = match batch[..] {
                [job] => failure.of_run(&job.id),
                _ => failure,
            };
            failure.with_document(json!({ "submitted": submitted.clone() }))
        })?;
        for job in batch {
            // Slurm's notation for a task of a job array.
            let number =
                if batch.len() == 1 { number.clone() } else { format!("{number}_{}", job.repetition) };
            if !cli.json {
                printer::print(&format!("job {number}  {}", job.id))?;
            }
            submitted.push(json!({ "job": number, "run": job.id }));
        }
    }
    if !cli.json && skipped > 0 {
        printer::print(&format!("{skipped} jobs are already complete or in the queue"))?;
    }
    Ok(json!(submitted))
}

fn text(name: &str, jobs: &[Job], each: &[Expected]) -> String {
    let drives = outlook::by_drive(jobs, each);
    format!("{}\n{}\n", outlook::summary(name, jobs, &drives), table(&outlook::rows(&drives)))
}

fn document(name: &str, jobs: &[Job], each: &[Expected]) -> Value {
    let job = |(job, expected): (&Job, &Expected)| {
        json!({
            "run": job.id,
            "drive": job.drive.identity,
            "host": job.drive.host,
            "is_lost": !job.drive.is_simulated(),
            "licenses": job.licenses,
            "shortest_ns": expected.shortest_ns,
            "longest_ns": expected.longest_ns,
            "least_written_bytes": expected.least_bytes,
            "most_written_bytes": expected.most_bytes,
        })
    };
    json!({ "campaign": name, "jobs": jobs.iter().zip(each).map(job).collect::<Vec<_>>() })
}
