//! A run from its command line to its report, shared by `run`, `demo` and `resume`.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use console::Audience;
use console::progress::Progress;
use device::{Armed, Drive, PurgeOptions};
use prepare::active_range;
use prepare::others;
use prepare::power::{self, Metering};
use pts::Profile;
use record::{
    Digest, Event, Gap, Handling, HostFacts, InjectedFault, Journal, Library, Loaded, RUN_FILE_VERSION,
    Run as StoredRun, RunFile, TargetFacts, TargetKind,
};
use stdx::rng::split_mix;

use crate::cli::{Assumptions, Cli};
use crate::failure::message::of_drive;
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::publication;
use crate::output::report_file;
use crate::output::summary::{self, Summary};
use crate::output::version;
use crate::run::labels;
use crate::run::request::RunRequest;
use crate::run::session::{Begin, Session};
use crate::run::signals;
use crate::run::speeds;
use host::facts;
use host::lba_format;
use host::restore;
use host::setup;
use prepare::preflight;
use record::run_files::LOGO;

/// Checks everything, then executes the run; returns the completed run.
pub fn perform(library: Option<&Path>, request: RunRequest, erase: &[String]) -> Done<StoredRun> {
    perform_as(library, request, erase, None)
}

/// Same as [`perform`], but gives the run the id `id`.
pub fn perform_as(
    library: Option<&Path>,
    mut request: RunRequest,
    erase: &[String],
    id: Option<&str>,
) -> Done<StoredRun> {
    let library = places::library(library)?;
    labels::refuse_namesakes(&library, &request.labels)?;
    dismantle_left_over(&library, erase)?;
    let logo = request.logo.as_deref().map(publication::picture).transpose()?;
    request.open.libraries = vec![library.root().to_owned()];
    let source = power::requested(&request.run)?;
    let (mut file, drive) = prepare(request, Being::now())?;
    if let Some(id) = id {
        file.id = id.to_owned();
    }
    // From here on, an interruption must restore the settings that the run has changed.
    let interrupted = signals::watch()?;
    let (mut file, mut armed) = take(file, drive, erase)?;
    if file.target.simulated.is_none() {
        file.ceiling = Some(engine::quick_ceiling()?);
    }
    let metering = source.map(|source| power::open(&source, &armed, file.placement.as_ref())).transpose()?;
    file.power = metering.as_ref().map(|metering| metering.sampler.facts().clone());
    let (run, mut journal) = begin(&library, file, logo.as_deref())?;
    printer::notice(&announcement(&run.file));
    let work = Work {
        run: &run,
        armed: &mut armed,
        journal: &mut journal,
        interrupted: &interrupted,
        handling: &run.file.handling,
        progress: &mut Progress::of(&run, speeds::usual_purge(&run.file, &library)),
        metering,
    };
    execute(work, &[], Begin::Fresh)?;
    Ok(run)
}

/// Arms the target, in the requested LBA format.
pub fn take(mut file: RunFile, drive: Drive, erase: &[String]) -> Done<(RunFile, Armed)> {
    let state = places::state()?;
    if file.handling.lba_format.is_some() && file.target.kind == TargetKind::File {
        // A new file is created when it is armed, so refuse the option before that.
        let text = "only NVMe namespaces have a choice of LBA formats; omit --lba-format";
        return Err(Failure::text(Exit::Usage, text));
    }
    let mut armed = drive.arm_for_run(erase, &state)?;
    lba_format::prepare(&mut armed, &state, file.handling.lba_format)?;
    // Only now are the sector size of a new file and the capacity of an array or reformatted drive known.
    file.target = armed.facts().clone();
    if file.target.kind == TargetKind::File {
        // The run may be resumed in another working directory, where a relative path would refer to a different
        // file.
        let whole = std::path::absolute(&file.target.path)?;
        file.target.path = whole.to_str().map_or(file.target.path, str::to_owned);
    }
    file.file_system = armed.file_system().map(|found| found.facts);
    armed.check_purge(&purge_options(&file.handling))?;
    preflight::check(&file)?;
    Ok((file, armed))
}

fn purge_options(handling: &Handling) -> PurgeOptions {
    PurgeOptions {
        method: handling.purge_method.clone(),
        verify: handling.verify_purge,
        also_erase: Vec::new(),
    }
}

/// Creates the run's directory and stores the estimates.
pub fn begin(library: &Library, mut file: RunFile, logo: Option<&[u8]>) -> Done<(StoredRun, Journal)> {
    if let Some(plan) = &mut file.plan {
        plan.logo_sha256 = logo.map(|bytes| Digest::of(bytes).to_string());
    }
    let logo = logo.map(|bytes| (LOGO, bytes));
    // Create the run before the estimate: probing a simulated drive may take seconds, during which `plateau status`
    // must already list the run.
    let (run, mut journal) = library.create_with(file, logo.as_slice())?;
    match estimated(&run.file, library) {
        Ok(event) => {
            journal.append(event)?;
            Ok((run, journal))
        }
        Err(failure) => {
            drop(journal);
            // An error in the estimate takes precedence over an error in the removal.
            drop(run.remove());
            Err(failure)
        }
    }
}

/// Returns a run's estimates, which follow the opening records in the journal.
pub fn estimated(file: &RunFile, library: &Library) -> Done<Event> {
    let known = speeds::of(file, &Assumptions::default(), library)?;
    let estimates =
        speeds::estimates(file, &known.assumed).map_err(|text| Failure::text(Exit::Usage, text))?;
    Ok(Event::Estimated(estimate::cost::estimated(&estimates, &known.source)))
}

/// Returns the first line about a run: its id and target.
pub fn announcement(file: &RunFile) -> String {
    format!("run {} on {}", file.id, summary::target(file))
}

/// Distinguishes a run from those started with the same command line at another time or on another host.
pub struct Being {
    /// Beginning of the run's id.
    pub prefix: String,
    pub created: jiff::Timestamp,
    pub command: Vec<String>,
    /// Collects the facts about a target's host.
    pub host: fn(&TargetFacts) -> HostFacts,
}

impl Being {
    /// Returns the current host and time.
    pub fn now() -> Self {
        Self {
            prefix: new_prefix(),
            created: record::wall_now(),
            command: places::command_line(),
            host: facts::facts,
        }
    }
}

/// Dismantles arrays left by interrupted runs if each member is confirmed, so that the members are separate
/// drives again before any target is inspected. A failure does not prevent tests of other drives; if an array
/// remains, its members are refused.
pub fn dismantle_left_over(library: &Library, erase: &[String]) -> Done {
    let state = places::state()?;
    restore::warn_of_untrusted(library, &state);
    for done in device::dissolve_left_over(&state, erase) {
        match done {
            Ok(done) => printer::print_line(&done),
            Err(error) => printer::print_line(&format!("warning: {}", of_drive(&error))),
        }
    }
    Ok(())
}

/// Prepares the requested run: opens its target and checks everything that can be checked without changing it.
pub fn prepare(request: RunRequest, being: Being) -> Done<(RunFile, Drive)> {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let drive = device::open(&request.target, &request.open)?;
    let given = request.run.given.clone();
    let file = described(request, being, drive.facts().clone());
    active_range::check(&file, &given).map_err(usage)?;
    preflight::check(&file)?;
    Ok((file, drive))
}

/// Describes the requested run on a target that may be on another host.
pub fn described(request: RunRequest, being: Being, target: TargetFacts) -> RunFile {
    let driving = request.driving();
    let RunRequest { run, .. } = request;
    RunFile {
        version: RUN_FILE_VERSION,
        id: id_of(&being.prefix, &name_of(&request.tests), &request.target),
        created: being.created,
        plateau_version: version::NUMBER.into(),
        plateau_commit: version::commit().map(Into::into),
        command: being.command,
        tests: request.tests,
        profile: request.profile.name.into(),
        settings: Some(run.settings),
        host: (being.host)(&target),
        target,
        ceiling: None,
        origin: None,
        placement: run.placement,
        handling: run.handling,
        plan: request.plan,
        driving,
        concurrent: None,
        file_system: None,
        power: None,
        labels: request.labels,
        stated: run.stated,
    }
}

/// A run and everything needed to execute it.
pub struct Work<'a> {
    pub run: &'a StoredRun,
    pub armed: &'a mut Armed,
    pub journal: &'a mut Journal,
    pub interrupted: &'a AtomicBool,
    pub handling: &'a Handling,
    pub progress: &'a mut dyn Audience,
    /// The power source; `None` if power is not measured.
    pub metering: Option<Metering>,
}

/// Executes the rest of a run. Applies the changes to the drive and the host before the run, and restores
/// them afterwards.
pub fn execute(work: Work<'_>, entries: &[record::Entry], begin: Begin) -> Done {
    let Work { run, armed, journal, interrupted, handling, progress, metering } = work;
    journal.set_refuges(places::refuges());
    others::note(&run.file.target, &places::state()?, &run.file.id);
    let profile = Profile::named(&run.file.profile).map_err(|text| Failure::text(Exit::Run, text))?;
    let host_setup = setup::begin(armed, &places::state()?, profile, handling, journal)
        .map_err(|failure| failure.of_run(&run.file.id))?;
    let result = idle_power(metering.as_ref(), journal, entries, interrupted, progress).and_then(|()| {
        let work = Work {
            run,
            armed: &mut *armed,
            journal: &mut *journal,
            interrupted,
            handling,
            progress,
            metering,
        };
        tests(work, entries, begin)
    });
    setup::end(host_setup, armed, journal, result.is_ok());
    // The run's error takes precedence; if the array remains, the next start dismantles it.
    let dissolved = armed.dissolve().map_err(|error| Failure::from(error).of_run(&run.file.id));
    result?;
    dissolved?;
    // The report is read from the journal's path, where the written file must still exist.
    Ok(journal.check_in_place()?)
}

/// Measures the idle power before the first test.
fn idle_power(
    metering: Option<&Metering>,
    journal: &mut Journal,
    entries: &[record::Entry],
    interrupted: &AtomicBool,
    progress: &mut dyn Audience,
) -> Done {
    if let Some(event) = metering.and_then(|metering| metering.idle(entries, interrupted, progress)) {
        journal.append(event)?;
    }
    Ok(())
}

/// Executes a run's remaining tests.
pub fn tests(work: Work<'_>, entries: &[record::Entry], begin: Begin) -> Done {
    let Work { run, armed, journal, interrupted, handling, progress, metering } = work;
    let purge = purge_options(handling);
    let result = Session::new(armed, journal, progress, interrupted, purge)
        .with_power(metering.map(|metering| metering.sampler))
        .execute(&run.file, entries, begin);
    progress.clear();
    result.map_err(|failure| {
        let id = &run.file.id;
        progress.print_line(&match is_stuck(&run.file, &failure) {
            true => format!(
                "run {id} cannot be completed: the media fault of its simulated drive remains when it is resumed; start a new \
                 run without this --sim-fault, or with the fault elsewhere"
            ),
            false => format!("run {id} is not complete; `plateau resume {id}` continues it"),
        });
        failure.of_run(&run.file.id)
    })
}

/// Returns whether the run would fail at the same point each time it is resumed.
fn is_stuck(file: &RunFile, failure: &Failure) -> bool {
    let Some(simulated) = &file.target.simulated else { return false };
    // Every other cause is gone when the run is resumed.
    let is_media = |fault: &InjectedFault| matches!(fault, InjectedFault::Media { .. });
    let may_have_ended_it = |fault: &&InjectedFault| {
        use InjectedFault::{Flip, LostWrites, Throttle};
        !matches!(fault, Throttle { .. } | Flip { .. } | LostWrites { .. })
    };
    let mut ending = simulated.faults.iter().filter(may_have_ended_it).peekable();
    failure.exit == Exit::Device && ending.peek().is_some() && ending.all(is_media)
}

/// Returns whether every test in a run is complete.
pub fn is_complete(loaded: &Loaded) -> bool {
    loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed))
}

/// Returns the interruption since the last result, which must be recorded with the next result. If a resumed
/// run was interrupted again before it had measured anything, this is longer than the time since the last
/// record.
pub fn gap_before_answer(loaded: &Loaded, gap: Gap) -> Gap {
    let is_answer = |event: &Event| {
        matches!(
            event,
            Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_) | Event::Idled { .. }
        )
    };
    let events = loaded.entries.iter().rev().map(|entry| &entry.event);
    let earlier = events.take_while(|event| !is_answer(event)).map(|event| match event {
        Event::Resumed { gap_ns } => *gap_ns,
        _ => 0,
    });
    Gap { length_ns: earlier.fold(gap.length_ns, u64::saturating_add) }
}

/// Returns the interruption since the last record.
pub fn gap_since(loaded: &Loaded, now: jiff::Timestamp) -> Gap {
    Gap { length_ns: record::gap_ns(loaded.entries.last().map_or(now, |entry| entry.wall), now) }
}

/// Writes the report and prints the result.
pub fn finish(cli: &Cli, run: StoredRun) -> Done<Accepted> {
    let (document, text, accepted) = report(run)?;
    if cli.json {
        printer::print_json(&document)?
    } else {
        printer::print(&text)?
    }
    Ok(accepted)
}

/// Whether a run's drive is accepted, if a test determines this.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted(bool);

impl Accepted {
    /// Determines the exit code for a command whose result has been printed.
    pub fn done(self) -> Done {
        if self.0 { Ok(()) } else { Err(Failure::silent(Exit::Rejected)) }
    }
}

/// Writes the report, unless the run is archived; returns the result as a JSON document and as text, and whether the
/// drive is accepted.
pub fn report(run: StoredRun) -> Done<(serde_json::Value, String, Accepted)> {
    // A user who repeats an archived run's command does not expect a report in the working directory.
    let report = (!run.is_archived()).then(|| report_file::write(&run)).transpose()?;
    let summary = Summary::of(run)?;
    let mut document = summary.json();
    document["report"] = serde_json::json!(report.as_deref().map(places::text_of));
    let mut text = format!("{}\nrun       {}\n", summary.text(), summary.run.dir.display());
    if let Some(report) = report {
        text.push_str(&format!("report    {}\n", report.display()));
    }
    Ok((document, text, Accepted(!summary.is_rejected())))
}

/// Returns a short random prefix, so that a few letters identify a run.
pub fn new_prefix() -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let nanoseconds = record::wall_now().as_nanosecond() as u64;
    let mut state = nanoseconds ^ (u64::from(std::process::id()) << 40);
    let bits = split_mix(&mut state);
    (0..6).map(|place| char::from(DIGITS[((bits >> (5 * place)) & 31) as usize])).collect()
}

/// Returns the prefix, the test and the target as an id.
pub fn id_of(prefix: &str, test: &str, target: &str) -> String {
    let name = target.rsplit(['/', ':']).next().unwrap_or(target);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).take(32).collect();
    format!("{prefix}-{test}-{}", name.trim_matches('-'))
}

/// Returns the id of a new run.
pub fn new_id(test: &str, target: &str) -> String {
    id_of(&new_prefix(), test, target)
}

/// Returns the part of a run's id that names its tests.
pub fn name_of(tests: &[String]) -> String {
    match tests {
        [only] => only.clone(),
        several => format!("{}-tests", several.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_plain_and_different() {
        let (a, b) = (new_id("iops", "sim:sas-slc-2011"), new_id("iops", "./My File.bin"));
        assert!(a.ends_with("-iops-sas-slc-2011"), "{a}");
        assert!(b.ends_with("-iops-my-file-bin"), "{b}");
        assert_ne!(a[..6], b[..6]);
    }
}
