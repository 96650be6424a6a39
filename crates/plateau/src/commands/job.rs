//! `plateau job RUN-ID TESTS TARGET`: starts a run, or continues it. Starting the job again is always safe.
//!
//! A scheduler may start a job twice, requeue it while its first process is still writing, or kill it at any moment.
//! Locks ensure that only one process at a time uses a run or a target. The run is created before its first purge, so
//! the next process that acquires the locks finds it and continues it.

use std::thread::sleep;
use std::time::{Duration, Instant};

use follow::decision::{self, Decision};
use nandsim::Scale;
use record::{
    Entry, Library, Loaded, Run, TargetFacts, TargetKind, Turn, TurnError, turn_of_run, turn_of_target,
};

use super::resume;
use crate::cli::inapplicable;
use crate::cli::{Cli, Job, Resume};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::by_serial;
use crate::run::lifecycle;
use crate::run::request::RunRequest;

/// Interval at which a held lock is retried.
const EVERY: Duration = Duration::from_millis(250);

pub fn run(cli: &Cli, options: &Job) -> Done {
    if !record::is_run_id(&options.id) {
        let text =
            format!("'{}' cannot be the id of a run: use letters, digits, '-', '_' and '.'", options.id);
        return Err(Failure::text(Exit::Usage, text));
    }
    record::run_label::name(&options.id).map_err(|_| {
        let text = format!("'{}' cannot be the id of a run, because RUN would mean another run", options.id);
        Failure::text(Exit::Usage, text)
    })?;
    let library = places::library(cli.library.as_deref())?;
    let mut requests = RunRequest::each_of("job RUN-ID", &options.request, &options.handling)?;
    let (Some(mut request), None) = (requests.pop(), requests.pop()) else {
        return Err(Failure::text(Exit::Usage, "a job tests one target; submit one job for each"));
    };
    let typed = options.request.settings.given().iter().chain(options.handling.given());
    inapplicable::check(&request.target, typed, &options.erase)?;
    request.labels = options.labels.labels();
    let turn = wait(options.wait, || turn_of_run(library.root(), &options.id))?;
    let stored = existing(&library, &options.id)?;
    // A target's lock is named after the text that the operator typed, because this text is the same each time
    // the job starts.
    let key = options.erase.first().unwrap_or(&request.target);
    let state = places::state()?;
    let is_simulated = request.target.starts_with("sim:");
    let _device = (!is_simulated).then(|| wait(options.wait, || turn_of_target(&state, key))).transpose()?;
    match stored {
        Some(stored) => proceed(cli, options, &library, &request, stored)?,
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
fn wait(at_most: Duration, take: impl Fn() -> Result<Turn, TurnError>) -> Done<Turn> {
    let deadline = Instant::now() + at_most;
    loop {
        match take() {
            Err(TurnError::Busy { .. }) if Instant::now() < deadline => sleep(EVERY),
            taken => return Ok(taken?),
        }
    }
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
fn proceed(cli: &Cli, options: &Job, library: &Library, request: &RunRequest, stored: Run) -> Done {
    check_same(request, &stored, &options.erase)?;
    let may_continue = |stored: &Run, loaded: &Loaded| match needs_a_person(stored, &loaded.entries, options)
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
        erase: Vec::new(),
        handling: options.handling.clone(),
    };
    resume::proceed(cli, library, stored, &resume, may_continue)
}

/// Rejects a job whose request differs from that of the run with this id.
fn check_same(request: &RunRequest, stored: &Run, erase: &[String]) -> Done {
    let file = &stored.file;
    let differs = [
        ("other tests", request.tests != file.tests),
        ("another profile", request.profile.name != file.profile),
        ("other settings", file.settings.as_ref() != Some(&request.run.settings)),
        ("another target", is_other_target(request, &file.target)),
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
fn is_other_target(request: &RunRequest, target: &TargetFacts) -> bool {
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
        None => is_simulated,
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
