//! `plateau resume RUN`.

use std::path::Path;

use console::progress::Progress;
use device::{Drive, OpenOptions, SimFaults};
use follow::decision;
use plans::settings::RunSettings;
use prepare::power;
use record::{Event, Journal, Library, Loaded, Run, RunFile, TargetFacts, TargetKind};

use crate::cli::{Cli, Resume};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::run::course::Resumption;
use crate::run::driving;
use crate::run::lifecycle::{self, Work};
use crate::run::signals;
use crate::run::speeds;
use prepare::confirmation::{self, By};
use prepare::{others, rebuild, renamed};

pub fn run(cli: &Cli, options: &Resume) -> Done {
    let library = places::library(cli.library.as_deref())?;
    library.sweep()?;
    let stored = library.find(&options.run)?;
    // By typing this command, the user has decided how the run continues.
    proceed(cli, &library, stored, options, By::User, |_, _| Ok(()))
}

/// Returns the settings of the rest of the run.
fn settings(stored: &Run, options: &Resume) -> Done<RunSettings> {
    let context = pts::Context::of(&stored.file).map_err(|text| Failure::text(Exit::Usage, text))?;
    let mut run = RunSettings::of(context.settings.clone());
    run.handling = stored.file.handling.clone();
    run.apply(options.handling.given()).map_err(|text| Failure::text(Exit::Usage, text))?;
    if run.handling.lba_format != stored.file.handling.lba_format {
        let text = "a run continues in the LBA format that it started in; omit --lba-format";
        return Err(Failure::text(Exit::Usage, text));
    }
    Ok(run)
}

/// Continues an existing run, if `may_continue` permits it.
pub fn proceed(
    cli: &Cli,
    library: &Library,
    mut stored: Run,
    options: &Resume,
    by: By,
    may_continue: impl FnOnce(&Run, &Loaded) -> Done,
) -> Done {
    refuse_copy(&stored)?;
    let id = stored.file.id.clone();
    // Any user may have written the run found by the lookup. If only this user can write to its directory, the run can
    // no longer be replaced, so read it again and resume what was read.
    let is_own = places::is_own_run(&stored.dir);
    if is_own.is_ok() {
        let labels = stored.file.labels;
        stored = Run::open(&stored.dir)?;
        // Annotations added later are not in the directory.
        stored.file.labels = labels;
    }
    if stored.file.origin.is_some() {
        let text = format!("run {id} is imported and cannot be resumed; import its file again");
        return Err(Failure::text(Exit::Usage, text).of_run(&id));
    }
    // A complete run's journal must not be opened for writing.
    if lifecycle::is_complete(&stored.load()?) {
        return already_complete(cli, stored);
    }
    stored.check_changeable()?;
    let typed = confirmation::of_members(&stored, is_own.clone(), &options.erase)?;
    let Some((mut journal, loaded)) = reopen(&stored, may_continue)? else {
        return already_complete(cli, stored);
    };
    if let Some(torn) = loaded.torn {
        crate::output::printer::print_line(&format!("{torn}; its step will be repeated"));
    }
    let run = settings(&stored, options)?;
    let source = power::of_resumed(&stored.file, &run, is_own)?;
    lifecycle::dismantle_left_over(library, &typed)?;
    let drive = open_again(&stored.file)?;
    let identities = confirmation::of(&stored.file, &drive, &loaded.entries, &typed, by)?;
    let state = places::state()?;
    let mut armed = drive.arm_for_run(&identities, &state)?;
    let metering =
        source.map(|source| power::open(&source, &armed, stored.file.placement.as_ref())).transpose()?;
    let interrupted = signals::watch()?;
    let gap = lifecycle::gap_since(&loaded, journal.now());
    // An array does not outlive an interruption, so its test is restarted.
    let restart = options.restart_test || stored.file.target.array.is_some();
    let begin = match (restart, options.continue_timeline) {
        (true, _) => Resumption::RestartTest,
        (false, true) => Resumption::ContinueTimeline,
        (false, false) => Resumption::Plain,
    };
    // Only now can nobody else begin to use the drive.
    let continues = decision::continues(&stored.file, &loaded.entries, options.continue_timeline);
    if let (false, Some(test)) = (restart, continues) {
        confirmation::refuse_used(
            &stored.file,
            test,
            &loaded.entries,
            &others::known(&stored.file, library, &state, &armed.health()),
        )?;
    }
    let begin = begin.begin(lifecycle::gap_before_answer(&loaded, gap));
    let mut progress = Progress::of(&stored, speeds::usual_purge(&stored.file, library));
    if stored.file.target.kind == TargetKind::Simulated {
        rebuild::rebuild(&mut armed, &loaded.entries, gap, &interrupted, &mut progress)?;
    }
    // The run ended while its estimates were being computed.
    if loaded.entries.len() == 1 {
        journal.append(lifecycle::estimated(&stored.file, library)?)?;
    }
    journal.append(Event::Resumed { gap_ns: gap.length_ns })?;
    let work = Work {
        run: &stored,
        armed: &mut armed,
        journal: &mut journal,
        interrupted: &interrupted,
        handling: &run.handling,
        progress: &mut progress,
        metering,
    };
    lifecycle::execute(work, &loaded.entries, begin)?;
    drop(journal);
    lifecycle::finish(cli, stored)?.done()
}

fn already_complete(cli: &Cli, stored: Run) -> Done {
    crate::output::printer::print_line(&format!("run {} is already complete", stored.file.id));
    lifecycle::finish(cli, stored)?.done()
}

/// Locks a run's journal to continue the run; returns `None` if the run is complete. Until the lock is held,
/// another process may continue the run, so only content read under the lock counts.
fn reopen(stored: &Run, may_continue: impl FnOnce(&Run, &Loaded) -> Done) -> Done<Option<(Journal, Loaded)>> {
    let (journal, loaded) = stored.reopen()?;
    if lifecycle::is_complete(&loaded) {
        return Ok(None);
    }
    may_continue(stored, &loaded)?;
    Ok(Some((journal, loaded)))
}

/// Rejects a copy: if both it and its source were continued, they would become different runs with the same id.
fn refuse_copy(run: &Run) -> Done {
    let Some(mark) = transfer::mark_of(run)? else { return Ok(()) };
    let text = format!(
        "run {} is a {}; resume it there. If it no longer exists there, remove {} from {} to make this copy the run",
        run.file.id,
        mark.words(),
        transfer::COPIED,
        run.dir.display()
    );
    Err(Failure::text(Exit::Run, text).of_run(&run.file.id))
}

/// Opens the run's target and checks that it is still the same device.
fn open_again(file: &RunFile) -> Done<Drive> {
    let sim = file.target.simulated.as_ref();
    let (engine, polling) =
        driving::way(file.driving.as_ref()).map_err(|problem| Failure::text(Exit::Run, problem))?;
    let open = OpenOptions {
        engine,
        polling,
        size_bytes: (file.target.kind == TargetKind::File).then_some(file.target.capacity_bytes),
        scale: sim.map(|sim| format!("1/{}", sim.scale_divisor)),
        sim_seed: sim.map_or(0, |sim| sim.seed),
        placement: file.placement.clone(),
        sim_faults: sim.map(|sim| SimFaults::Recorded(sim.faults.clone())),
        sim_resumed: true,
        ..OpenOptions::default()
    };
    // Opening the target would recreate it as a sparse file without preconditioning.
    if file.target.kind == TargetKind::File && !Path::new(&file.target.path).exists() {
        return Err(Failure::text(
            Exit::Unusable,
            format!(
                "{}: the file that run {} started on no longer exists; start a new run",
                file.target.path, file.id
            ),
        ));
    }
    let was = &file.target;
    let mut opened = device::open(&was.path, &open);
    if !opened.as_ref().is_ok_and(|drive| drive.facts().identity == was.identity)
        && let Some(path) = renamed::path_now(was)
    {
        let text =
            format!("the drive that was {} when the run started is now {path} ({})", was.path, was.identity);
        crate::output::printer::print_line(&text);
        opened = device::open(&path, &open);
    }
    let drive = opened?;
    let is = drive.facts();
    // An array's capacity is unknown until the array exists, so compare its members instead.
    let capacity_of = |facts: &TargetFacts| facts.array.is_none().then_some(facts.capacity_bytes);
    let same = (&was.identity, capacity_of(was), was.logical_block_bytes, &was.array)
        == (&is.identity, capacity_of(is), is.logical_block_bytes, &is.array);
    if same && was.simulated == is.simulated {
        return Ok(drive);
    }
    Err(Failure::text(
        Exit::Refused,
        format!(
            "{} is not the device that run {} started on: it was {} ({} B, {} B sectors), but this is {} ({} B, {} \
             B sectors); nothing was written",
            was.path,
            file.id,
            was.identity,
            was.capacity_bytes,
            was.logical_block_bytes,
            is.identity,
            is.capacity_bytes,
            is.logical_block_bytes
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::course;

    #[test]
    fn the_state_read_under_the_lock_decides_whether_a_run_continues() {
        let dir = tempfile::tempdir().expect("a folder");
        let words = ["iops", "sim:sas-slc-2011", "--scale", "1/1024"];
        let file = course::run_file(&words, "a", jiff::Timestamp::UNIX_EPOCH).expect("a run file");
        let (stored, journal) = Library::at(dir.path()).create(file).expect("a run");
        drop(journal);
        let refused = || Failure::text(Exit::Held, "ask");
        assert!(reopen(&stored, |_, _| Err(refused())).is_err(), "the operator must decide");
        let (mut journal, loaded) = reopen(&stored, |_, _| Ok(())).expect("free").expect("incomplete");
        assert_eq!(loaded.entries.len(), 1);
        // Another process completes the run after this process found it incomplete.
        journal.append(Event::Closed).expect("written");
        drop(journal);
        assert!(reopen(&stored, |_, _| Err(refused())).expect("free").is_none());
    }
}
