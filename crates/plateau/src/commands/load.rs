//! `plateau load`: runs a job, or a fio job file, on a target.
//!
//! Targets that are only read are opened read-only and need no confirmation. Every target that is written to
//! is armed exactly as by `plateau run`, and all targets are armed before the first I/O.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::{Cli, Load, OutputFormat};
use crate::load::limits;
use crate::load::merge;
use crate::load::plan::{self, LoadRequest, Need};
use crate::load::request::request;
use crate::load::start::{self, Readings};
use crate::load::watch::Watch;
use device::{Armed, Reader};
use engine::{ChoiceLimits, Choosing, Flow, LoadOutcome, StreamOptions, Tick, VerifyReport};
use loose::Loose;
use prepare::{holes, others};
use record::{Ceiling, TargetFacts, TargetKind, Workload};
use stdx::units::amount_base2;

use crate::failure::{Done, Exit, Failure};
use crate::output::printer;
use crate::output::{file, places};
use crate::run::signals;
use fio::result::{Document, Origin, Part, Reading, Start, parts_of_stage};
use fio::{DepthSearch, Job, Limits, PlannedLog, Searches, Ties};

/// A target, opened with only the permissions that its jobs need.
enum Opened {
    ToRead(Reader),
    ToWrite(Armed),
    Without(Loose),
}

/// Results of each job's streams.
type ByJob = BTreeMap<usize, Vec<(LoadOutcome, Option<VerifyReport>)>>;
/// Results of one target's streams.
type Ended = Done<(Vec<LoadOutcome>, Vec<Option<VerifyReport>>)>;

pub fn run(cli: &Cli, options: &Load) -> Done {
    if !options.merge.is_empty() || options.skew_limit.is_some() || options.hosts.is_some() {
        return merge::run(cli, options);
    }
    start::check(options.start_at)?;
    let request = request(options)?;
    let stages = fio::stages(&request.jobs).map_err(|(job, problem)| request.about(job, &problem))?;
    fio::check_stages(&request.jobs, &stages).map_err(|(job, problem)| request.about(job, &problem))?;
    let (mut opened, new_files) = open_all(&request, options, &places::libraries(cli.library.as_deref()))?;
    let facts = opened.iter().map(|(name, target)| (name.clone(), target.facts().clone())).collect();
    let mut workloads = request.workloads(&facts, options.seed)?;
    let only_checks = |workload: &Workload| workload.regime.verify && !workload.writes();
    if options.verify_run.is_some() && !workloads.iter().flatten().any(only_checks) {
        return Err(plan::usage(
            "--verify-run applies to jobs that only read and verify; there is none".into(),
        ));
    }
    let planned = PlannedLog::of(&request.jobs, &workloads);
    file::check(planned.iter().map(|log| Path::new(log.path())), false)?;
    let interrupted = signals::watch()?;
    for name in &new_files {
        if let Some(Opened::ToWrite(armed)) = opened.get_mut(name) {
            lay_out_file(armed, options.seed, &interrupted)?;
        }
    }
    for (name, target) in &opened {
        let warning = holes::warning(target.facts(), request.on_target(&workloads, name));
        warning.iter().for_each(|text| printer::print_line(text));
    }
    let real = opened.values().any(|target| target.facts().simulated.is_none());
    let ceiling = if real { Some(engine::quick_ceiling()?) } else { None };
    let (mut parts, mut written): (Vec<Part>, _) = (Vec::new(), Vec::new());
    let limits = ChoiceLimits::default().shared_by(stages.len() * opened.len());
    let by = Choosing { limits, go_on: &|| !interrupted.load(Ordering::Relaxed) };
    if let Some(requested) = options.start_at {
        let first = stages.first().map_or(&[][..], Vec::as_slice);
        choose_engines(&request.jobs, first, &workloads, &mut opened, &by)?;
        start::wait(requested, &interrupted)?;
    }
    let origin = start::origin(options.start_at, real);
    for stage in stages {
        let depths = search_depth(&request.jobs, &stage, &mut workloads, &mut opened, &by, &interrupted)?;
        choose_engines(&request.jobs, &stage, &workloads, &mut opened, &by)?;
        let readings = readings(&opened);
        let searches = Searches::of(&request.jobs, &stage, &workloads);
        let mut results = run_stage(&request.jobs, &stage, &workloads, &searches, &mut opened, &interrupted)?;
        let steady: BTreeMap<_, _> = searches.results().collect();
        compare_with_ceiling(ceiling.as_ref(), &mut results);
        written
            .extend(planned.iter().filter_map(|log| Some((log.path(), log.text(results.get(&log.job)?)?))));
        let mut of_stage = parts_of_stage(&request.jobs, &stage, results, steady, &facts, &readings);
        if let Some(part) = of_stage.first_mut() {
            part.depths = depths;
        }
        parts.extend(of_stage);
        if fio::ends_all(&request.jobs, &stage) {
            break;
        }
    }
    if let ([_, ..], Some(first)) = (options.words.ignored(), parts.first_mut()) {
        first.notes.push(format!("without effect: --{}", options.words.ignored().join(", --")));
    }
    let reported = report(cli, options, &parts, ceiling.as_ref(), &origin);
    written.iter().try_for_each(|(path, text)| file::file(Path::new(path), text.as_bytes()))?;
    reported
}

/// Inspects all targets and checks all jobs before any target is armed. Also returns the names of new files
/// that must be laid out.
fn open_all(
    request: &LoadRequest,
    options: &Load,
    libraries: &[PathBuf],
) -> Done<(BTreeMap<String, Opened>, Vec<String>)> {
    let (mut looked_at, mut opened) = (Vec::new(), BTreeMap::new());
    let needs = request.needs()?;
    if let Some(need) = needs.iter().find(|need| options.readonly && (need.writes || need.creates())) {
        let what = if need.creates() { "would be created" } else { "would be written" };
        return Err(Failure::text(Exit::Refused, format!("--readonly: {} {what}", need.filename)));
    }
    let any_simulated = needs.iter().any(Need::is_simulated);
    if any_simulated && options.start_at.is_some() {
        return Err(plan::usage("--start-at: a simulated drive has its own time; use a real target".into()));
    }
    for need in needs {
        if need.loose {
            opened.insert(need.filename.clone(), Opened::Without(need.without_target()?));
            continue;
        }
        let drive = need.open(options, any_simulated, libraries)?;
        looked_at.push((need, drive));
    }
    let inspected = looked_at.iter().map(|(need, drive)| (need.filename.clone(), drive.facts().clone()));
    let without = opened.iter().map(|(name, target)| (name.clone(), target.facts().clone()));
    let facts = inspected.chain(without).collect();
    let workloads = request.workloads(&facts, options.seed)?;
    for (need, drive) in &looked_at {
        let mut of_target = request.on_target(&workloads, &need.filename);
        of_target.try_for_each(|workload| device::check(workload, drive.facts()))?;
    }
    // Files that do not exist are created when they are armed, so the other targets are opened and checked first.
    looked_at.sort_by_key(|(_, drive)| drive.facts().kind == TargetKind::File);
    let writing: Vec<&TargetFacts> =
        looked_at.iter().filter(|(need, _)| need.writes).map(|(_, drive)| drive.facts()).collect();
    let mut confirmations = plan::confirmations(&options.erase, &writing)?.into_iter();
    let mut new_files = Vec::new();
    for (need, drive) in looked_at {
        new_files.extend(need.lay_out.then(|| need.filename.clone()));
        let target = if need.writes {
            Opened::ToWrite(drive.arm(confirmations.next().flatten().as_deref())?)
        } else {
            Opened::ToRead(drive.open_to_read()?)
        };
        request
            .on_target(&workloads, &need.filename)
            .try_for_each(|workload| target.check_support(workload))?;
        // An interrupted run must not continue on this drive as if it had only been idle. A changed file reveals
        // itself.
        if need.writes && target.facts().kind == TargetKind::Block {
            others::note(target.facts(), &places::state()?, "plateau load");
        }
        opened.insert(need.filename, target);
    }
    opened.values().try_for_each(Opened::prepare)?;
    Ok((opened, new_files))
}

/// Writes a new file completely.
fn lay_out_file(armed: &mut Armed, seed: u64, interrupted: &AtomicBool) -> Done {
    let facts = armed.facts().clone();
    printer::print_line(&format!("laying out {}, {}", facts.path, amount_base2(facts.capacity_bytes)));
    let mut on_tick =
        |_: &Tick| if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue };
    match armed.run(&fio::laying_out(facts.capacity_bytes, seed), &mut on_tick)? {
        LoadOutcome::Stopped => Err(Failure::text(
            Exit::Interrupted,
            format!("interrupted while {} was laid out; the file is incomplete", facts.path),
        )),
        LoadOutcome::Finished(_) => Ok(()),
    }
}

/// Chooses the engines of a stage, right before it: measurements that write must not precede I/Os of earlier stages.
fn choose_engines(
    jobs: &[Job],
    stage: &[usize],
    workloads: &[Vec<Workload>],
    opened: &mut BTreeMap<String, Opened>,
    by: &Choosing<'_>,
) -> Done {
    for (name, target) in opened {
        let of_target = stage.iter().filter(|job| jobs[**job].filename.as_ref() == Some(name));
        let (workloads, manners): (Vec<Workload>, Vec<usize>) = of_target
            .flat_map(|job| {
                workloads[*job].iter().map(|workload| (workload.clone(), plan::manner_number(jobs, *job)))
            })
            .unzip();
        match target {
            Opened::ToRead(reader) => reader.choose_engines(&workloads, &manners, by)?,
            Opened::ToWrite(armed) => armed.choose_engines(&workloads, &manners, by)?,
            Opened::Without(_) => {}
        }
    }
    Ok(())
}

/// Finds the queue depth of a job that requests this, and sets it in the job's workloads.
fn search_depth(
    jobs: &[Job],
    stage: &[usize],
    workloads: &mut [Vec<Workload>],
    opened: &mut BTreeMap<String, Opened>,
    by: &Choosing<'_>,
    interrupted: &AtomicBool,
) -> Done<Option<DepthSearch>> {
    let Some(mut search) = DepthSearch::of(jobs, stage) else { return Ok(None) };
    let mut trial = workloads.to_vec();
    loop {
        for &job in stage {
            let Some(next) = search.next(&workloads[job]) else {
                stage.iter().for_each(|job| workloads[*job] = search.settled(&workloads[*job]));
                return Ok(Some(search));
            };
            trial[job] = next;
        }
        choose_engines(jobs, stage, &trial, opened, by)?;
        let searches = Searches::of(jobs, stage, &trial);
        let results = run_stage(jobs, stage, &trial, &searches, opened, interrupted)?;
        search.add(results.values().flatten().map(|(outcome, _)| outcome));
    }
}

/// What the targets of a stage share.
struct StageRun<'a> {
    jobs: &'a [Job],
    searches: &'a Searches,
    limits: &'a Limits,
    ties: &'a Ties,
    board: &'a Watch,
    interrupted: &'a AtomicBool,
}

impl StageRun<'_> {
    fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) || self.board.given_up()
    }

    /// Runs the streams of a target, each with its job; `first` is the number of the stage's streams on other targets before
    /// them.
    fn target(
        &self,
        target: &mut Opened,
        streams: Vec<(usize, &Workload)>,
        first: usize,
    ) -> (Vec<usize>, Ended) {
        let owners: Vec<usize> = streams.iter().map(|(job, _)| *job).collect();
        let job = |stream: usize| &self.jobs[owners[stream]];
        let manner = |stream: usize| plan::manner_number(self.jobs, owners[stream]);
        let options =
            (0..owners.len()).map(|stream| self.ties.options(job(stream), first + stream, manner(stream)));
        let options: Vec<StreamOptions<'_>> = options.collect();
        let workloads: Vec<Workload> = streams.into_iter().map(|(_, workload)| workload.clone()).collect();
        let mut checked: Vec<_> =
            workloads.iter().enumerate().map(|(stream, workload)| job(stream).limits_of(workload)).collect();
        let delay_ns = job(0).start_delay_ns;
        if delay_ns > 0 && !limits::wait(delay_ns, &|| self.is_over()) {
            let stopped = owners.iter().map(|_| (LoadOutcome::Stopped, None)).unzip();
            return (owners, Ok(stopped));
        }
        let mut on_tick = |stream: usize, tick: &Tick| {
            self.board.show(first + stream, tick);
            if self.is_over() {
                return Flow::Stop;
            }
            if !self.limits.add(job(stream), checked[stream].as_mut(), tick) {
                self.board.give_up();
                return Flow::Stop;
            }
            if self.searches.add(&owners, stream, tick) { Flow::Finish } else { Flow::Continue }
        };
        let result = target.run(&workloads, &options, &mut on_tick);
        match &result {
            Err(_) => self.board.give_up(),
            Ok((outcomes, _)) => {
                for (stream, (workload, outcome)) in workloads.iter().zip(outcomes).enumerate() {
                    self.limits.ended(job(stream), workload, outcome);
                }
            }
        }
        (owners, result)
    }
}

/// Runs all streams in a stage concurrently and returns (job, part) pairs.
fn run_stage(
    jobs: &[Job],
    stage: &[usize],
    workloads: &[Vec<Workload>],
    searches: &Searches,
    opened: &mut BTreeMap<String, Opened>,
    interrupted: &AtomicBool,
) -> Done<ByJob> {
    let scaled = |target: &Opened| target.facts().simulated.as_ref().is_some_and(|sim| sim.scale_divisor > 1);
    let has_maxima = !opened.values().any(scaled);
    let board = Watch::of(stage.iter().flat_map(|job| &workloads[*job]), has_maxima);
    let (mut first, mut tasks) = (0, Vec::new());
    for (name, target) in opened.iter_mut() {
        let streams: Vec<(usize, &Workload)> = stage
            .iter()
            .filter(|job| jobs[**job].filename.as_ref() == Some(name))
            .flat_map(|job| workloads[*job].iter().map(move |workload| (*job, workload)))
            .collect();
        if !streams.is_empty() {
            let count = streams.len();
            tasks.push((target, streams, first));
            first += count;
        }
    }
    let limits = Limits::default();
    let streams: Vec<(usize, &Workload)> =
        tasks.iter().flat_map(|(_, streams, _)| streams.iter().copied()).collect();
    let ties = Ties::of(jobs, &streams);
    let stage_run = &StageRun { jobs, searches, limits: &limits, ties: &ties, board: &board, interrupted };
    let ended: Vec<(Vec<usize>, Ended)> = std::thread::scope(|scope| {
        let handles: Vec<_> = tasks
            .into_iter()
            .map(|(target, streams, first)| scope.spawn(move || stage_run.target(target, streams, first)))
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    board.end();
    let mut results: ByJob = BTreeMap::new();
    let mut failure = None;
    for (owners, result) in ended {
        match result {
            Err(error) => failure = failure.or(Some(error)),
            Ok((outcomes, report)) => {
                for (job, result) in owners.into_iter().zip(outcomes.into_iter().zip(report)) {
                    results.entry(job).or_default().push(result);
                }
            }
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    limits::check(limits)?;
    if results.values().flatten().any(|(outcome, _)| *outcome == LoadOutcome::Stopped) {
        return Err(Failure::text(
            Exit::Interrupted,
            "interrupted; results of an incomplete load are discarded",
        ));
    }
    Ok(results)
}

/// Reads the clocks of all targets, and the wall clock for real ones.
fn readings(opened: &BTreeMap<String, Opened>) -> Readings {
    let reading = |target: &Opened| {
        let wall = target.facts().simulated.is_none().then(record::wall_now);
        Reading { target_ns: target.now_ns(), wall }
    };
    opened.iter().map(|(name, target)| (name.clone(), reading(target))).collect()
}

/// Stores in each segment the fraction of the host's ceiling that the workload used.
fn compare_with_ceiling(ceiling: Option<&Ceiling>, results: &mut ByJob) {
    for (outcome, _) in results.values_mut().flatten() {
        let LoadOutcome::Finished(segment) = outcome else { continue };
        let share = ceiling.and_then(|ceiling| ceiling.share_of(segment));
        if let Some(host) = &mut segment.host {
            host.ceiling_share = share;
        }
    }
}

fn report(cli: &Cli, options: &Load, parts: &[Part], ceiling: Option<&Ceiling>, origin: &Origin) -> Done {
    let wrong: u64 = parts.iter().filter_map(|part| part.report.as_ref()).map(VerifyReport::wrong).sum();
    let document = Document::of(parts, ceiling, origin);
    let as_json = cli.json || options.output_format == OutputFormat::Json;
    let terse = !cli.json && (options.minimal || options.output_format == OutputFormat::Terse);
    let clock = ceiling.map(|ceiling| &ceiling.clock);
    let text = || {
        if terse {
            return parts.iter().map(Part::terse).collect::<String>();
        }
        let start = Start::of(origin, parts.iter().filter_map(|part| part.span)).text();
        start + &parts.iter().map(|part| part.text(clock)).collect::<Vec<_>>().join("\n")
    };
    let longer = parts.iter().filter_map(|part| part.report.as_ref()).find(|report| report.unchecked > 0);
    if wrong == 0 && longer.is_none() {
        return if as_json { printer::print_document(&document) } else { printer::print(&text()) };
    }
    let failure = match (wrong, longer) {
        (0, Some(report)) => plan::usage(format!(
            "{} reads could not be checked: the data was stamped in blocks of {} B; use a bs that is a multiple of that",
            report.unchecked, report.longer_bytes
        )),
        (1, _) => {
            let text = "1 block does not contain what was written; see the result for its offset";
            Failure::text(Exit::Device, text.to_owned())
        }
        _ => Failure::text(
            Exit::Device,
            format!("{wrong} blocks do not contain what was written; see the result for their offsets"),
        ),
    };
    if as_json {
        printer::print_document(&document.failed(failure.message(), failure.exit.code()))?
    } else {
        printer::print(&text())?
    }
    Err(failure.already_printed())
}

impl Opened {
    fn facts(&self) -> &TargetFacts {
        match self {
            Self::ToRead(reader) => reader.facts(),
            Self::ToWrite(armed) => armed.facts(),
            Self::Without(loose) => loose.facts(),
        }
    }

    /// Creates the files that a load without a target needs.
    fn prepare(&self) -> Done {
        match self {
            Self::Without(loose) => Ok(loose.prepare()?),
            _ => Ok(()),
        }
    }

    /// Rejects a workload that needs more than reads and writes on a target that does not support that.
    fn check_support(&self, workload: &Workload) -> Done {
        match self {
            Self::ToRead(reader) => Ok(reader.check_support(workload)?),
            Self::ToWrite(armed) => Ok(armed.check_support(workload)?),
            Self::Without(_) => Ok(()),
        }
    }

    fn now_ns(&self) -> u64 {
        match self {
            Self::ToRead(reader) => reader.now_ns(),
            Self::ToWrite(armed) => armed.now_ns(),
            Self::Without(loose) => loose.now_ns(),
        }
    }

    fn run(
        &mut self,
        workloads: &[Workload],
        streams: &[StreamOptions<'_>],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Ended {
        let ended = match self {
            Self::ToRead(reader) => reader.run_concurrently(workloads, streams, on_tick),
            Self::ToWrite(armed) => armed.run_concurrently(workloads, streams, on_tick),
            Self::Without(loose) => loose.run_concurrently(workloads, streams, on_tick),
        };
        let outcomes = ended?;
        Ok(outcomes.into_iter().map(|ended| (ended.outcome, ended.verified)).unzip())
    }
}
