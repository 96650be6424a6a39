//! A run from its command line to its report, shared by `run`, `demo` and `resume`.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use drive::{Armed, Drive, PurgeOptions};
use pts::Profile;
use record::{
    Digest, Event, Gap, Handling, HostFacts, Journal, Library, Loaded, RUN_FILE_VERSION, Run as StoredRun,
    RunFile, TargetFacts, TargetKind,
};
use stdx::rng::split_mix;

use crate::audience::Audience;
use crate::cli::{self, Assumptions, Cli, Run};
use crate::failure::{Done, Exit, Failure};
use crate::preflight;
use crate::progress::Progress;
use crate::session::{Begin, Session};
use crate::summary::{self, Summary};
use crate::wanted::Wanted;
use crate::{
    host, lba_format, places, printer, publication, report_file, settings, signals, speeds, undo, upkeep,
    version,
};

/// Checks everything, then runs; returns the finished run.
pub fn perform(library: Option<&Path>, mut wanted: Wanted, options: &Run) -> Done<StoredRun> {
    let library = places::library(library)?;
    dismantle_left_over(&library, &options.erase)?;
    let logo = wanted.logo.as_deref().map(publication::picture).transpose()?;
    wanted.open.libraries = vec![library.root().to_owned()];
    let (file, drive) = prepare(wanted, Being::now())?;
    // From here on an interruption is one of a run, which has things to put back.
    let interrupted = signals::watch()?;
    let (mut file, mut armed) = take(file, drive, &options.erase, &options.handling)?;
    if file.target.simulated.is_none() {
        file.ceiling = Some(drive::quick_ceiling()?);
    }
    let (run, mut journal) = begin(&library, file, logo.as_deref())?;
    printer::notice(&announcement(&run.file));
    let work = Work {
        run: &run,
        armed: &mut armed,
        journal: &mut journal,
        interrupted: &interrupted,
        handling: &run.file.handling,
        progress: &mut Progress::of(&run.file, speeds::usual_purge(&run.file, &library)),
    };
    execute(work, &[], Begin::Fresh)?;
    Ok(run)
}

/// Takes the target for writing, in the format that was asked for.
pub fn take(
    mut file: RunFile,
    drive: Drive,
    erase: &[String],
    handling: &cli::Handling,
) -> Done<(RunFile, Armed)> {
    let state = places::state()?;
    let handling = handling.over(&file.handling);
    if handling.lba_format.is_some() && file.target.kind == TargetKind::File {
        // A new file exists once it is armed.
        let text = "only NVMe namespaces have a choice of LBA formats; omit --lba-format";
        return Err(Failure::text(Exit::Usage, text));
    }
    let mut armed = drive.arm_for_run(erase, &state)?;
    lba_format::prepare(&mut armed, &state, handling.lba_format)?;
    // A file that did not exist before has a sector size only now, an array its capacity, and a drive in another
    // format another one.
    file.target = armed.facts().clone();
    if file.target.kind == TargetKind::File {
        // The run may be resumed in another folder, where a file of this name is another one.
        let whole = std::path::absolute(&file.target.path)?;
        file.target.path = whole.to_str().map_or(file.target.path, str::to_owned);
    }
    file.handling = handling;
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

/// Makes the run's directory and keeps what the run is expected to take.
pub fn begin(library: &Library, mut file: RunFile, logo: Option<&[u8]>) -> Done<(StoredRun, Journal)> {
    let known = speeds::of(&file, &Assumptions::default(), library)?;
    let estimates =
        speeds::estimates(&file, &known.assumed).map_err(|text| Failure::text(Exit::Usage, text))?;
    if let Some(plan) = &mut file.plan {
        plan.logo_sha256 = logo.map(|bytes| Digest::of(bytes).to_string());
    }
    let logo = logo.map(|bytes| (publication::LOGO, bytes));
    let (run, mut journal) = library.create_with(file, logo.as_slice())?;
    journal.append(Event::Estimated(pts::spent::estimated(&estimates, &known.source)))?;
    Ok((run, journal))
}

/// What a run says first: its id.
pub fn announcement(file: &RunFile) -> String {
    format!("run {} on {}", file.id, summary::target(file))
}

/// What tells a run from one that was asked for in the same words at another time, or on another host.
pub struct Being {
    /// What its id begins with.
    pub letters: String,
    pub created: jiff::Timestamp,
    pub command: Vec<String>,
    /// The host of a target.
    pub host: fn(&TargetFacts) -> HostFacts,
}

impl Being {
    /// Here and now.
    pub fn now() -> Self {
        Self {
            letters: new_letters(),
            created: record::wall_now(),
            command: places::command_line(),
            host: host::facts,
        }
    }
}

/// Dismantles arrays left by interrupted runs, where each member is confirmed: their members are drives again before
/// anything is looked at. One that stays keeps nobody from testing other drives; its members are refused as they are.
pub fn dismantle_left_over(library: &Library, erase: &[String]) -> Done {
    let state = places::state()?;
    undo::warn_of_untrusted(library, &state);
    for done in drive::dissolve_left_over(&state, erase) {
        match done {
            Ok(done) => printer::tell_line(&done),
            Err(error) => printer::tell_line(&format!("warning: {error}")),
        }
    }
    Ok(())
}

/// The run that was asked for, with its target looked at and everything checked that can be without touching it.
pub fn prepare(wanted: Wanted, being: Being) -> Done<(RunFile, Drive)> {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let settings = settings::changed(wanted.profile.settings(wanted.seed), &wanted.changes).map_err(usage)?;
    let drive = drive::open(&wanted.target, &wanted.open)?;
    let file = RunFile {
        version: RUN_FILE_VERSION,
        id: id_of(&being.letters, name_of(&wanted.tests), &wanted.target),
        created: being.created,
        plateau_version: version::NUMBER.into(),
        plateau_commit: version::commit().map(Into::into),
        command: being.command,
        tests: wanted.tests,
        profile: wanted.profile.name.into(),
        settings,
        host: (being.host)(drive.facts()),
        target: drive.facts().clone(),
        ceiling: None,
        origin: None,
        placement: wanted.placement,
        handling: wanted.handling,
        plan: wanted.plan,
        driving: wanted.driving,
        beside: None,
        labels: wanted.labels,
    };
    settings::check_range(&file, &wanted.changes).map_err(usage)?;
    preflight::check(&file)?;
    Ok((file, drive))
}

/// A run with everything that it needs.
pub struct Work<'a> {
    pub run: &'a StoredRun,
    pub armed: &'a mut Armed,
    pub journal: &'a mut Journal,
    pub interrupted: &'a AtomicBool,
    pub handling: &'a Handling,
    pub progress: &'a mut dyn Audience,
}

/// Runs what is left of a run, with everything that is done to drive and host around it.
pub fn execute(work: Work<'_>, entries: &[record::Entry], begin: Begin) -> Done {
    let Work { run, armed, journal, interrupted, handling, progress } = work;
    let profile = Profile::named(&run.file.profile).map_err(|text| Failure::text(Exit::Run, text))?;
    let upkeep = upkeep::begin(armed, &places::state()?, profile, handling, journal)
        .map_err(|failure| failure.of_run(&run.file.id))?;
    let work = Work { run, armed, journal, interrupted, handling, progress };
    let result = tests(work, entries, begin);
    upkeep::end(upkeep, armed, journal, result.is_ok());
    // The failure of the run is the one to tell; what is left of an array is tried again at the next start.
    let dissolved = armed.dissolve().map_err(|error| Failure::from(error).of_run(&run.file.id));
    result?;
    dissolved?;
    // What is read for the report has to be what was written.
    Ok(journal.check_in_place()?)
}

/// The tests that are left of a run.
pub fn tests(work: Work<'_>, entries: &[record::Entry], begin: Begin) -> Done {
    let Work { run, armed, journal, interrupted, handling, progress } = work;
    let purge = purge_options(handling);
    let result =
        Session::new(armed, journal, progress, interrupted, purge).execute(&run.file, entries, begin);
    progress.clear();
    result.map_err(|failure| {
        progress.say(&format!(
            "run {} is not complete; `plateau resume {}` continues it",
            run.file.id, run.file.id
        ));
        failure.of_run(&run.file.id)
    })
}

/// Whether every test of a run has come to its end.
pub fn is_complete(loaded: &Loaded) -> bool {
    loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed))
}

/// The interruption after the last answer, which the next one has to state: a run that was cut again before it measured
/// anything was interrupted for longer than since its last record.
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

/// The interruption after the last record.
pub fn gap_since(loaded: &Loaded, now: jiff::Timestamp) -> Gap {
    Gap { length_ns: record::gap_ns(loaded.entries.last().map_or(now, |entry| entry.wall), now) }
}

/// Writes the report and prints the result.
pub fn finish(cli: &Cli, run: StoredRun) -> Done {
    let (document, text) = report(run)?;
    if cli.json { printer::print_json(&document) } else { printer::print(&text) }
}

/// Writes the report; the result as a document and as text.
pub fn report(run: StoredRun) -> Done<(serde_json::Value, String)> {
    let report = report_file::write(&run)?;
    let summary = Summary::of(run)?;
    let mut document = summary.json();
    document["report"] = serde_json::json!(places::text_of(&report));
    let text = format!(
        "{}\nrun       {}\nreport    {}\n",
        summary.text(),
        summary.run.dir.display(),
        report.display()
    );
    Ok((document, text))
}

/// A short random beginning, so that a few letters name a run.
pub fn new_letters() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let nanoseconds = record::wall_now().as_nanosecond() as u64;
    let mut state = nanoseconds ^ (u64::from(std::process::id()) << 40);
    let bits = split_mix(&mut state);
    (0..6).map(|place| char::from(LETTERS[((bits >> (5 * place)) & 31) as usize])).collect()
}

/// The beginning, then what the run is.
pub fn id_of(letters: &str, test: &str, target: &str) -> String {
    let name = target.rsplit(['/', ':']).next().unwrap_or(target);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).take(32).collect();
    format!("{letters}-{test}-{}", name.trim_matches('-'))
}

/// Beginning and all, of a run of its own.
pub fn new_id(test: &str, target: &str) -> String {
    id_of(&new_letters(), test, target)
}

/// What the id of a run says of its tests.
pub fn name_of(tests: &[String]) -> &str {
    if let [only] = tests { only } else { "campaign" }
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
