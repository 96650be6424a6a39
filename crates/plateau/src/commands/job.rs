//! `plateau job RUN-ID TESTS TARGET`: starts a run, or continues it. Starting the job again is always safe.
//!
//! A scheduler may start a job twice, requeue it while its first process is still writing, or kill it at any moment.
//! Locks ensure that only one process at a time uses a run or a target. The run is created before its first purge, so
//! the next process that acquires the locks finds it and continues it.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

use device::OpenOptions;
use follow::decision::{self, Decision};
use nandsim::Scale;
use prepare::confirmation::By;
use prepare::job::{check_id, is_array, is_fruitless, is_used_by_plateau, keys};
use prepare::{by_serial, others, renamed};
use record::{
    Entry, Library, Loaded, Run, TargetFacts, TargetKind, Turn, TurnError, turn_of_run, turn_of_target,
};

use super::resume;
use crate::cli::inapplicable;
use crate::cli::{Cli, Job, Resume};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::lifecycle;
use crate::run::request::RunRequest;

/// Interval at which a held lock is retried.
const EVERY: Duration = Duration::from_millis(250);

pub fn run(cli: &Cli, options: &Job) -> Done {
    check_id(&options.id)?;
    let library = places::library(cli.library.as_deref())?;
    let mut requests = RunRequest::each_of("job RUN-ID", &options.request, &options.handling)?;
    let (Some(mut request), None) = (requests.pop(), requests.pop()) else {
        return Err(Failure::text(Exit::Usage, "a job tests one target; submit one job for each"));
    };
    let typed = options.request.settings.given().iter().chain(options.handling.given());
    inapplicable::check(&request.target, typed, &options.erase)?;
    request.labels = options.labels.labels();
    let deadline = Instant::now() + options.wait;
    let turn = wait(deadline, || turn_of_run(library.root(), &options.id))?;
    let stored = existing(&library, &options.id)?;
    if let Some(stored) = &stored {
        check_same(&request, stored, &options.erase)?;
        wait_for_writer(stored, deadline)?;
    }
    let state = places::state()?;
    let keys = match &stored {
        _ if request.target.starts_with("sim:") => Vec::new(),
        Some(stored) => others::keys(&stored.file.target),
        None => keys(&request.target, &options.erase),
    };
    // In the same order in all processes.
    let keys: BTreeSet<String> = keys.into_iter().collect();
    let take = |key: &String| wait(deadline, || turn_of_target(&state, key));
    let _devices: Vec<Turn> = keys.iter().map(take).collect::<Done<_>>()?;
    wait_for_target(&request, stored.as_ref(), deadline)?;
    match stored {
        Some(stored) => proceed(cli, options, &library, stored)?,
        None => {
            request.target = by_serial::resolve(&request.target)?;
            let done =
                lifecycle::perform_as(Some(library.root()), request, &options.erase, Some(&options.id))?;
            lifecycle::finish(cli, done)?.done()?;
        }
    }
    turn.end();
    Ok(())
}

/// Acquires a lock, waiting while another process holds it.
fn wait(deadline: Instant, take: impl Fn() -> Result<Turn, TurnError>) -> Done<Turn> {
    loop {
        match take() {
            Err(TurnError::Busy { .. }) if Instant::now() < deadline => sleep(EVERY),
            taken => return Ok(taken?),
        }
    }
}

/// Waits while `is_busy`, because `plateau run`, `resume` and `load` take no locks of jobs.
fn wait_while(deadline: Instant, what: &str, is_busy: impl Fn() -> bool) -> Done {
    while is_busy() {
        if Instant::now() >= deadline {
            return Err(TurnError::Busy { what: what.to_owned() }.into());
        }
        sleep(EVERY);
    }
    Ok(())
}

/// Waits for a process that continues the run although it is not a job, such as `plateau resume`.
fn wait_for_writer(stored: &Run, deadline: Instant) -> Done {
    let is_busy = || stored.is_in_progress().unwrap_or(false);
    wait_while(deadline, &format!("run {}", stored.file.id), is_busy)
}

/// Waits for a process that uses the target although it is not a job, such as `plateau run`.
fn wait_for_target(request: &RunRequest, stored: Option<&Run>, deadline: Instant) -> Done {
    let path = match stored.map(|stored| &stored.file.target) {
        Some(target) => renamed::path_now(target).unwrap_or_else(|| target.path.clone()),
        None => by_serial::resolve(&request.target)?,
    };
    // A missing or unsuitable target is reported when it is opened for the run.
    let refusals =
        || device::open(&path, &request.open).map_or_else(|_| Vec::new(), |drive| drive.refusals());
    let is_busy = || !is_array(&path) && is_used_by_plateau(&refusals());
    wait_while(deadline, &format!("the target {path}"), is_busy)
}

fn existing(library: &Library, id: &str) -> Done<Option<Run>> {
    if !library.has(id) {
        return Ok(None);
    }
    let run = library.open(id)?;
    if run.file.id == id {
        let labelled = library.find(id).ok().filter(|found| found.file.id == id);
        return Ok(Some(labelled.unwrap_or(run)));
    }
    let text = format!("{} contains another run, {}; rename the directory", run.dir.display(), run.file.id);
    Err(Failure::text(Exit::Run, text))
}

/// Continues a run begun by an earlier start of the job.
fn proceed(cli: &Cli, options: &Job, library: &Library, stored: Run) -> Done {
    let fruitless = |stored: &Run, entries: &[Entry]| {
        is_fruitless(library, &stored.file.id, decision::fruitless(entries), decision::MOST_FRUITLESS)
    };
    let may_continue = |stored: &Run, loaded: &Loaded| match needs_a_person(stored, &loaded.entries, options)
        .or_else(|| fruitless(stored, &loaded.entries))
    {
        Some(text) => Err(Failure::text(Exit::Held, text).of_run(&options.id)),
        None => Ok(()),
    };
    let loaded = stored.load()?;
    if !lifecycle::is_complete(&loaded) {
        stored.check_changeable()?;
        may_continue(&stored, &loaded)?;
        printer::notice(&format!("run {} exists; continuing it", options.id));
    }
    let resume = Resume {
        run: options.id.clone(),
        restart_test: options.restart_test,
        continue_timeline: options.continue_timeline,
        erase: options.erase.clone(),
        handling: options.handling.clone(),
    };
    resume::proceed(cli, library, stored, &resume, By::Job, may_continue)
}

/// Rejects a job whose request differs from that of the run with this id.
fn check_same(request: &RunRequest, stored: &Run, erase: &[String]) -> Done {
    let file = &stored.file;
    let differs = [
        ("other tests", request.tests != file.tests),
        ("another profile", request.profile.name != file.profile),
        ("other settings", file.settings.as_ref() != Some(&request.run.settings)),
        ("another target", is_other_target(request, &file.target, erase)),
    ];
    if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
        let text = format!(
            "run {} exists, but was started with {what}; use another RUN-ID, or the command of the run: {}",
            file.id,
            stdx::text::on_one_line(&file.command.join(" "))
        );
        return Err(Failure::text(Exit::Usage, text).of_run(&file.id));
    }
    let is_other = |typed: &String| {
        let members = file.target.array.iter().flat_map(|array| &array.members);
        *typed != file.target.identity && members.into_iter().all(|member| member.identity != *typed)
    };
    if let Some(typed) = erase.iter().find(|typed| is_other(typed)) {
        let text = format!(
            "run {} was started on {}, not on '{typed}'; nothing was written",
            file.id, file.target.identity
        );
        return Err(Failure::text(Exit::Refused, text).of_run(&file.id));
    }
    Ok(())
}

/// Returns whether a job's target differs from its run's target. Device nodes may have been renamed, so the
/// identity specified with `--erase` decides.
fn is_other_target(request: &RunRequest, target: &TargetFacts, erase: &[String]) -> bool {
    let is_simulated = request.target.starts_with("sim:");
    match &target.simulated {
        Some(facts) => {
            let scale = request.open.scale.as_deref().map_or(Ok(Scale::FULL), str::parse);
            request.target != target.path || scale.map(Scale::divisor) != Ok(facts.scale_divisor)
        }
        None if target.kind == TargetKind::File => {
            let place = |path: &str| std::fs::canonicalize(path).ok();
            is_simulated || place(&request.target) != place(&target.path)
        }
        None => is_simulated || is_other_drive(&request.target, target, erase),
    }
}

/// Returns whether a job's text for its target is for another drive or array than the run's.
fn is_other_drive(typed: &str, target: &TargetFacts, erase: &[String]) -> bool {
    if let Some(identity) = typed.strip_prefix(by_serial::PREFIX) {
        return identity != target.identity;
    }
    if is_array(typed) || target.array.is_some() {
        return is_array(typed) != target.array.is_some();
    }
    match erase {
        _ if typed == target.path => false,
        [_, ..] => std::fs::metadata(typed).is_ok_and(|found| !found.file_type().is_block_device()),
        // Another path may be another name of the drive.
        [] => {
            let opened = device::open(typed, &OpenOptions::default());
            opened.map_or(true, |drive| drive.facts().identity != target.identity)
        }
    }
}

/// Returns why the operator must decide how the run continues.
fn needs_a_person(stored: &Run, entries: &[Entry], options: &Job) -> Option<String> {
    if options.restart_test || options.continue_timeline {
        return None;
    }
    let (name, decision) = decision::needed(&stored.file, entries)?;
    let id = &stored.file.id;
    Some(match decision {
        Decision::Array => format!(
            "run {id} was interrupted in {name}, and its array does not outlive an interruption; to restart the test from \
             its purge, add --restart-test"
        ),
        Decision::Timeline => format!(
            "run {id} was interrupted in {name}, whose timeline is the result; to restart the test from its purge, add \
             --restart-test, to continue with a gap, --continue-timeline"
        ),
    })
}
