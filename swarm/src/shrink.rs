//! Reduces a script that breaks a promise to the shortest script that still breaks that promise.

use record::RunFile;
use record::storage::simulated::{Crash, Disk, Logged};

use crate::check::{self, Broken, Displayed, Promise};
use crate::explore::{judged, undisturbed};
use crate::life::{Lived, Process, Product};
use crate::scenario::run_file;
use crate::script::{Clock, Life, Script};

/// Simulates `script` from the beginning, without cached states.
///
/// # Errors
/// The broken promise.
pub fn play(product: &dyn Product, script: &Script) -> Result<(), Broken> {
    let impossible = |text| Broken { promise: Promise::Completes, text };
    let file = run_file(&script.words).map_err(impossible)?;
    let plain =
        Life { clock: Clock::Stands, how: plateau::course::Resumption::Plain, faults: Vec::new(), cut: None };
    let clean = Process::new(product, Disk::default(), &file, &plain, 0).live(&file, &plain, None, true);
    let undisturbed = undisturbed(product, &file, &clean)?;
    let (mut disk, mut seen) = (Disk::default(), Displayed::default());
    for (number, life) in script.lives.iter().enumerate() {
        let Some(lived) = lived(product, &file, &disk, life, number, &seen)? else { continue };
        match life.cut {
            None if life.faults.is_empty() => {
                let loaded = judged(product, &file, &undisturbed, life, &lived, seen.clone())?;
                check::repeats(&file, &loaded)?;
                disk = lived.disk;
            }
            cut => {
                if let Some(broken) = lived.broken {
                    return Err(broken);
                }
                let (after, crash) =
                    cut.map_or((lived.log.len(), Crash::Killed), |cut| (cut.after, cut.crash));
                for logged in &lived.log[..after.min(lived.log.len())] {
                    match logged {
                        Logged::Op(op) => disk.apply(op),
                        Logged::Mark(mark) => seen.add(&lived.shown[*mark]),
                    }
                }
                disk = disk.after(crash);
            }
        }
    }
    Ok(())
}

/// Executes one process of a script. Returns `None` if the disk failed before the run was found.
fn lived(
    product: &dyn Product,
    file: &RunFile,
    disk: &Disk,
    life: &Life,
    number: usize,
    seen: &Displayed,
) -> Result<Option<Lived>, Broken> {
    let process = Process::new(product, disk.clone(), file, life, number);
    if number == 0 {
        return Ok(Some(process.live(file, life, None, true)));
    }
    match process.find(file) {
        Ok(found) => {
            seen.is_in(found.journal.as_deref())?;
            Ok(Some(process.live(file, life, found.run, false)))
        }
        Err(_) if !life.faults.is_empty() => Ok(None),
        Err(broken) => Err(broken),
    }
}

/// Removes everything from `script` that is not needed to break a promise. Returns the reduced script with the promise
/// that it breaks, or `None` if `script` breaks no promise on its own.
#[must_use]
pub fn shrink(product: &dyn Product, script: &Script) -> Option<(Script, Broken)> {
    let mut broken = play(product, script).err()?;
    let mut script = script.clone();
    loop {
        let smaller = candidates(&script)
            .into_iter()
            .find_map(|candidate| play(product, &candidate).err().map(|broken| (candidate, broken)));
        let Some(found) = smaller else { return Some((script, broken)) };
        (script, broken) = found;
    }
}

/// Returns the scripts in which one element is removed or simplified.
fn candidates(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Script)| {
        let mut smaller = script.clone();
        change(&mut smaller);
        if smaller != *script {
            all.push(smaller);
        }
    };
    let last = script.lives.len().saturating_sub(1);
    for number in 0..script.lives.len() {
        if number > 0 && number < last {
            with(&|script| {
                script.lives.remove(number);
            });
        }
        for fault in 0..script.lives[number].faults.len() {
            with(&|script| {
                script.lives[number].faults.remove(fault);
            });
        }
        with(&|script| script.lives[number].how = plateau::course::Resumption::Plain);
        with(&|script| script.lives[number].clock = Clock::Stands);
        if let Some(cut) = script.lives[number].cut {
            for simpler in [Crash::Killed, Crash::NothingSurvives, Crash::EverythingSurvives] {
                if cut.crash > simpler {
                    with(&|script| {
                        script.lives[number].cut.iter_mut().for_each(|cut| cut.crash = simpler);
                    });
                }
            }
            for earlier in [cut.after / 2, cut.after.saturating_sub(1)] {
                with(&|script| script.lives[number].cut.iter_mut().for_each(|cut| cut.after = earlier));
            }
        }
    }
    all
}
