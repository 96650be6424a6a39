//! `plateau fleet submit`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use ::fleet::{Drive, Expected, FleetError, Job, Program, batch_name, batches, outlook, script};
use clap::Parser as _;
use cluster::Whose;
use cluster::files::{campaign, failure, read, read_inventory};
use cluster::scheduler::{self, Queue};
use record::{Library, RunFile, TargetFacts, TargetKind};
use serde_json::{Value, json};
use stdx::files::Folder;
use stdx::text::{in_quotes, on_one_line};

use crate::cli::{Assumptions, Cli, Command, FleetSubmit};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::lifecycle::{self, Being};
use crate::run::request::RunRequest;
use crate::run::speeds;
use stdx::table::table;

/// Minimum time limit for a job.
const LEAST_MINUTES: u64 = 10;

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
    if options.dry_run {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    }
    check_confirmed(&jobs, options)?;
    let program = program(&library, options)?;
    let minutes = |expected: &Expected| {
        let twice = expected.longest_ns.saturating_mul(2).div_ceil(60_000_000_000);
        let minutes = campaign.time_limit_minutes.map_or(twice.max(LEAST_MINUTES), u64::from);
        u32::try_from(minutes).unwrap_or(u32::MAX)
    };
    // Without --scripts, only the missing jobs are submitted.
    let wanted: Vec<&Job> = match &options.scripts {
        Some(_) => jobs.iter().collect(),
        None => missing(&jobs, &library)?,
    };
    let limits: BTreeMap<&str, u32> =
        jobs.iter().zip(&each).map(|(job, expected)| (job.id.as_str(), minutes(expected))).collect();
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

/// Estimates a job with the functions of `plateau plan`.
fn estimate(job: &Job, library: &Library) -> Done<Expected> {
    let words = ["plateau".to_owned(), "plan".to_owned()];
    let typed = words.into_iter().chain(job.work.arguments(&job.drive.path));
    let of_plan = |text: String| Failure::text(Exit::Usage, format!("plan '{}': {text}", job.work.name));
    let cli = Cli::try_parse_from(typed).map_err(|error| of_plan(error.to_string()))?;
    let Command::Plan(options) = cli.command else { return Err(of_plan("not a plan".into())) };
    let request = RunRequest::of(&options.request, &crate::cli::ResumableSettings::default())?;
    let file = if job.drive.is_simulated() {
        lifecycle::prepare(request, Being::now())?.0
    } else {
        lifecycle::described(request, Being::now(), facts(&job.drive))
    };
    let known = speeds::of(&file, &Assumptions::default(), library)?;
    expected(&file, &known).map_err(of_plan)
}

fn expected(file: &RunFile, known: &speeds::Known) -> Result<Expected, String> {
    let estimates = speeds::estimates(file, &known.assumed)?;
    let each = estimates.iter().map(|estimate| Expected {
        shortest_ns: estimate.shortest.duration_ns,
        longest_ns: estimate.longest.duration_ns,
        least_bytes: estimate.shortest.written_bytes(),
        most_bytes: estimate.longest.written_bytes(),
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
