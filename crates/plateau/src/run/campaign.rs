//! `plateau run TESTS TARGET TARGET…`: the same tests on several targets at the same time. Each target has its own
//! run with its own threads and cores; each run is resumed separately.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::fleet::contention::{self, Target};
use console::progress::{Board, Progress};
use device::{Armed, Drive};
use prepare::power::{self, Metering, Requested};
use record::{Concurrent, Journal, Library, Run as StoredRun, RunFile};
use serde_json::{Value, json};

use crate::cli::{Assumptions, Cli};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::publication;
use crate::run::labels;
use crate::run::lifecycle::{self, Being, Work};
use crate::run::request::RunRequest;
use crate::run::session::Begin;
use crate::run::signals;
use crate::run::speeds;

/// A target whose run has started.
struct Begun {
    run: StoredRun,
    metering: Option<Metering>,
    armed: Armed,
    journal: Journal,
    /// Duration of the drive's latest purge.
    usual_purge: Option<Duration>,
}

/// A run's outcome.
type Ended = (StoredRun, Done);

pub fn run(cli: &Cli, requests: Vec<RunRequest>, erase: &[String]) -> Done {
    let library = places::library(cli.library.as_deref())?;
    labels::refuse_namesakes(&library, &requests[0].labels)?;
    if let Some(name) = &requests[0].labels.name {
        let count = requests.len();
        printer::print_line(&format!(
            "warning: '{name}' becomes the name of {count} runs; refer to each of them by its id"
        ));
    }
    lifecycle::dismantle_left_over(&library, erase)?;
    let logo = requests[0].logo.as_deref().map(publication::picture).transpose()?;
    let source = power::requested(&requests[0].run)?;
    power::check_campaign(source.as_ref())?;
    let looked_at = look(requests, &library)?;
    let shared = check(&looked_at, &library)?;
    // From here on, an interruption must restore the settings that the runs have changed.
    let interrupted = signals::watch()?;
    let armed = arm(looked_at, erase)?;
    let begun = begin(armed, shared, &library, logo.as_deref(), source.as_ref())?;
    let campaign = begun[0]
        .run
        .file
        .concurrent
        .as_ref()
        .map_or_else(String::new, |concurrent| concurrent.campaign.clone());
    let ended = side_by_side(begun, &interrupted);
    print_results(cli, &campaign, ended)
}

/// Opens all targets without changing them and assigns each a share of the processors.
fn look(all: Vec<RunRequest>, library: &Library) -> Done<Vec<(RunFile, Drive)>> {
    let is_simulated = |request: &RunRequest| request.target.starts_with("sim:");
    let operators = all[0].run.placement.clone();
    let real = all.iter().filter(|request| !is_simulated(request));
    let nodes: Vec<_> = real.map(|request| device::attached(&request.target).numa_node).collect();
    let mut shares = engine::shares(&nodes, operators.as_ref())?.into_iter();
    let look_at = |mut request: RunRequest| {
        let placement = if is_simulated(&request) { None } else { shares.next().flatten() };
        request.open.placement.clone_from(&placement);
        request.run.placement = placement;
        request.open.libraries = vec![library.root().to_owned()];
        lifecycle::prepare(request, Being::now())
    };
    all.into_iter().map(look_at).collect()
}

/// Rejects targets that cannot be tested at the same time; returns the remarks that each run must report about
/// the other runs.
fn check(looked_at: &[(RunFile, Drive)], library: &Library) -> Done<Vec<Vec<String>>> {
    let mut targets = Vec::new();
    for (file, _) in looked_at {
        let facts = file.target.clone();
        let is_real = facts.simulated.is_none();
        let figures = if is_real {
            Some(speeds::of(file, &Assumptions::default(), library)?.assumed.figures())
        } else {
            None
        };
        targets.push(Target {
            attached: device::attached(&facts.path),
            file: if is_real { resolved(&facts.path) } else { None },
            bytes_per_second: figures.map_or(0.0, |f| f.sequential_read.max(f.sequential_write)),
            iops: figures.map_or(0.0, |f| f.random_read_iops.max(f.fresh_write_iops)),
            facts,
        });
    }
    let purge = looked_at.first().and_then(|(file, _)| file.handling.purge_method.as_deref());
    if let Some(reason) = contention::refusal(&targets, purge) {
        return Err(Failure::text(Exit::Refused, reason));
    }
    let cpu_ns = if targets.iter().any(|target| target.iops > 0.0) { cpu_ns_per_io()? } else { 0.0 };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(contention::shared(&targets, cpu_ns, processors))
}

/// Returns the absolute path, even if nothing exists there yet.
fn resolved(path: &str) -> Option<PathBuf> {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok()
}

/// Returns the CPU time per I/O at the greatest measured queue depth.
fn cpu_ns_per_io() -> Done<f64> {
    let ceiling = engine::quick_ceiling()?;
    let costs = if ceiling.no_op_ring.is_empty() { &ceiling.null } else { &ceiling.no_op_ring };
    Ok(costs.last().map_or(0.0, |cost| cost.cpu_ns))
}

/// Arms all targets before writing to any of them.
fn arm(looked_at: Vec<(RunFile, Drive)>, erase: &[String]) -> Done<Vec<(RunFile, Armed)>> {
    let identities: Vec<&str> = looked_at.iter().map(|(file, _)| file.target.identity.as_str()).collect();
    if let Some(stranger) = erase.iter().find(|typed| !identities.contains(&typed.as_str())) {
        return Err(Failure::text(
            Exit::Refused,
            format!(
                "--erase '{stranger}' does not match any target; their identities are {}; nothing was \
                 written",
                identities.join(", ")
            ),
        ));
    }
    let mut ready = Vec::new();
    for (file, drive) in looked_at {
        let typed: Vec<String> =
            erase.iter().filter(|typed| **typed == file.target.identity).cloned().collect();
        ready.push(lifecycle::take(file, drive, &typed)?);
    }
    Ok(ready)
}

fn begin(
    armed: Vec<(RunFile, Armed)>,
    shared: Vec<Vec<String>>,
    library: &Library,
    logo: Option<&[u8]>,
    source: Option<&Requested>,
) -> Done<Vec<Begun>> {
    let campaign = lifecycle::new_prefix();
    let paths: Vec<String> = armed.iter().map(|(file, _)| file.target.path.clone()).collect();
    let real = armed.iter().any(|(file, _)| file.target.simulated.is_none());
    let ceiling = if real { Some(engine::quick_ceiling()?) } else { None };
    let mut begun = Vec::new();
    for (index, ((mut file, armed), shared)) in armed.into_iter().zip(shared).enumerate() {
        let others = (0..paths.len()).filter(|other| *other != index);
        let targets = others.map(|other| paths[other].clone()).collect();
        file.concurrent = Some(Concurrent { campaign: campaign.clone(), targets, shared });
        file.id = lifecycle::id_of(
            &format!("{campaign}{}", suffix(index)),
            &lifecycle::name_of(&file.tests),
            &file.target.path,
        );
        file.ceiling = if file.target.simulated.is_none() { ceiling.clone() } else { None };
        // A simulated drive draws no power.
        let source = source.filter(|_| file.target.simulated.is_none());
        let metering =
            source.map(|source| power::open(source, &armed, file.placement.as_ref())).transpose()?;
        file.power = metering.as_ref().map(|metering| metering.sampler.facts().clone());
        let (run, journal) = lifecycle::begin(library, file, logo)?;
        printer::notice(&lifecycle::announcement(&run.file));
        let usual_purge = speeds::usual_purge(&run.file, library);
        begun.push(Begun { run, metering, armed, journal, usual_purge });
    }
    Ok(begun)
}

/// Letters `a` to `z`, then `za` and so on, which distinguish the runs in a campaign.
fn suffix(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    format!("{}{letter}", "z".repeat(index / 26))
}

/// Executes all runs at the same time, each in its own thread; if one fails, the others continue.
fn side_by_side(begun: Vec<Begun>, interrupted: &AtomicBool) -> Vec<Ended> {
    let board = Arc::new(Board::of_process());
    std::thread::scope(|scope| {
        let start = |Begun { run, metering, mut armed, mut journal, usual_purge }: Begun| {
            let mut progress = Progress::alongside_others(&board, &run, usual_purge);
            scope.spawn(move || {
                let work = Work {
                    run: &run,
                    armed: &mut armed,
                    journal: &mut journal,
                    interrupted,
                    handling: &run.file.handling,
                    progress: &mut progress,
                    metering,
                };
                let done = lifecycle::execute(work, &[], Begin::Fresh);
                (run, done)
            })
        };
        let threads: Vec<_> = begun.into_iter().map(start).collect();
        let end = |thread: std::thread::ScopedJoinHandle<'_, Ended>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(end).collect()
    })
}

/// Prints the results of all runs; the most severe failure determines the exit code.
fn print_results(cli: &Cli, campaign: &str, ended: Vec<Ended>) -> Done {
    let (mut documents, mut failures): (Vec<Value>, Vec<Failure>) = (Vec::new(), Vec::new());
    for (run, done) in ended {
        let id = run.file.id.clone();
        match done.and_then(|()| lifecycle::report(run)) {
            Ok((document, text, accepted)) => {
                if !cli.json {
                    printer::print(&format!("{text}\n"))?;
                }
                documents.push(document);
                if accepted.done().is_err() {
                    let text = "the burn-in rejects the drive";
                    failures.push(Failure::text(Exit::Rejected, text).of_run(&id));
                }
            }
            Err(failure) => {
                documents.push(json!({
                    "run": id,
                    "error": failure.message(),
                    "exit_code": failure.exit.code(),
                }));
                failures.push(failure.of_run(&id));
            }
        }
    }
    let document = json!({ "campaign": campaign, "runs": documents });
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.exit.gravity()));
    let mut failures = failures.into_iter();
    let Some(gravest) = failures.next() else {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    };
    for failure in failures {
        let run = failure.run.clone().unwrap_or_default();
        printer::print_line(&format!("plateau: run {run}: {}", failure.message()));
    }
    Err(gravest.with_document(document))
}
