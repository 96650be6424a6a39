//! Host settings that several runs tune concurrently: the first run that needs a setting changes it, and the last
//! run restores all of them.
//!
//! A folder that does not survive a reboot, like the settings themselves, contains one file per tuning run and one
//! file with the original settings. Each run keeps its file locked. The kernel releases the locks of a process that
//! ends, so a file left by a crash does not count as a live run. All operations take one additional lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use device::Tuning;
use record::storage::Stored;
use serde_json::json;
use stdx::files::Unowned;

use super::noted::{is_undone, noted, written};
use crate::restore;
use console::printer;
use failure::message::of_drive;
use failure::{Done, Exit, Failure};
use state::{self, Host, Standing, State, StateFolder};

const LOCK: &str = ".tuning.lock";
const ORIGINALS: &str = ".tuning-host.json";
const RUN: &str = ".tuning-run-";

/// One of the runs that tune the host.
pub struct Shared {
    folder: Box<dyn StateFolder>,
    host: Arc<dyn Host>,
    own: String,
    /// The file of this run, locked until the run ends.
    _alive: Box<dyn Stored>,
}

/// Restores settings left by earlier runs if none of them is alive.
pub fn restore_left_over(state: &(impl State + ?Sized), host: &dyn Host) -> Done {
    // Other code warns users about a folder that others can write to.
    let Ok(Some(folder)) = state.open() else { return Ok(()) };
    if matches!(folder.file(ORIGINALS), Ok(None)) {
        return Ok(());
    }
    let _locked = lock(&*folder)?;
    restore_if_no_run_is_alive(&*folder, host)
}

impl Shared {
    /// Registers as a tuning run. Until this run leaves, no other run restores host settings.
    pub fn join(state: &(impl State + ?Sized), host: Arc<dyn Host>) -> Done<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = state.make().map_err(failed)?;
        let _locked = lock(&*folder)?;
        restore_if_no_run_is_alive(&*folder, &*host)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let own = format!("{RUN}{}-{number}", std::process::id());
        let alive = folder.lock(&own).map_err(failed)?;
        Ok(Self { folder, host, own, _alive: alive })
    }

    /// Changes all settings or none. Returns all currently changed settings, including other runs' settings.
    pub fn apply(&self, tunings: &[Tuning]) -> Done<Vec<Tuning>> {
        let _locked = lock(&*self.folder)?;
        let before = originals(&*self.folder, &*self.host);
        let mut all = before.clone();
        let is_new = |tuning: &&Tuning| before.iter().all(|known| known.path != tuning.path);
        let new: Vec<&Tuning> = tunings.iter().filter(is_new).collect();
        all.extend(new.iter().copied().cloned());
        write(&*self.folder, &*self.host, &all)?;
        for (done, tuning) in tunings.iter().enumerate() {
            if let Err(error) = self.host.set(tuning, &tuning.to) {
                // The setting that failed may have been changed; all settings before it have been changed.
                drop(self.host.set(tuning, &tuning.was));
                let mut undone = tunings[..done].iter().filter(is_new);
                if undone.all(|tuning| self.host.set(tuning, &tuning.was).is_ok()) {
                    write(&*self.folder, &*self.host, &before)?;
                }
                return Err(error.into());
            }
        }
        Ok(all)
    }

    /// Unregisters the run; the last run restores all settings and returns them. Settings that cannot be restored
    /// are left to the next run.
    pub fn leave(self) -> Done<Vec<Tuning>> {
        let _locked = lock(&*self.folder)?;
        self.folder.remove(&self.own).map_err(failed)?;
        let all = originals(&*self.folder, &*self.host);
        if all.is_empty() {
            return Ok(all);
        }
        let others = living(&*self.folder);
        if others > 0 {
            printer::print_line(&format!(
                "host settings are left unchanged: {others} other {} them",
                if others == 1 { "run needs" } else { "runs need" }
            ));
            return Ok(Vec::new());
        }
        let mut restored = Vec::new();
        for tuning in &all {
            match self.host.set(tuning, &tuning.was) {
                Ok(()) => restored.push(tuning.clone()),
                Err(error) => {
                    printer::print_line(&format!("{}; the next run will try again", of_drive(&error)));
                }
            }
        }
        let rest: Vec<Tuning> = all.into_iter().filter(|tuning| !restored.contains(tuning)).collect();
        write(&*self.folder, &*self.host, &rest)?;
        Ok(restored)
    }
}

/// Restores the settings after the last live run has crashed. Requires the lock. If a setting cannot be
/// restored, the next start tries again.
fn restore_if_no_run_is_alive(folder: &dyn StateFolder, host: &dyn Host) -> Done {
    if living(folder) > 0 {
        return Ok(());
    }
    let all = originals(folder, host);
    let rest: Vec<Tuning> = all.iter().filter(|tuning| !is_undone(tuning, host)).cloned().collect();
    write(folder, host, &rest)?;
    if rest.len() < all.len() {
        printer::print_line("restored host settings that earlier runs had left changed");
    }
    Ok(())
}

/// Counts the live runs and removes the files of dead runs.
fn living(folder: &dyn StateFolder) -> usize {
    let names = folder.names().unwrap_or_default();
    let runs: Vec<&str> =
        names.iter().filter_map(|name| name.to_str()).filter(|name| name.starts_with(RUN)).collect();
    let lives = |(name, standing): (&&str, Standing)| match standing {
        Standing::Free(_locked) => {
            drop(folder.remove(name));
            false
        }
        Standing::Missing => false,
        // If it cannot be determined whether the run is alive, assume that it is.
        Standing::Held | Standing::Unknown => true,
    };
    runs.iter().zip(folder.standings(&runs)).map(lives).filter(|lives| *lives).count()
}

/// Returns the original settings. Ignores settings from an earlier boot, and settings that Plateau does not change.
fn originals(folder: &dyn StateFolder, host: &dyn Host) -> Vec<Tuning> {
    let Ok(Some(mut file)) = folder.file(ORIGINALS) else { return Vec::new() };
    let content = restore::content_of(&mut *file);
    if content["boot"] != json!(host.boot()) {
        return Vec::new();
    }
    noted(&content, host, |_| true)
}

/// Returns once the record is on disk.
fn write(folder: &dyn StateFolder, host: &dyn Host, all: &[Tuning]) -> Done {
    if all.is_empty() {
        return folder.remove(ORIGINALS).map_err(failed);
    }
    let content = json!({ "boot": host.boot(), "tunings": all.iter().map(written).collect::<Vec<_>>() });
    state::replace(folder, ORIGINALS, content.to_string().as_bytes()).map(drop).map_err(failed)
}

fn lock(folder: &dyn StateFolder) -> Done<Box<dyn Stored>> {
    folder.lock(LOCK).map_err(failed)
}

fn failed(error: Unowned) -> Failure {
    let cause = crate::restore::untrusted(error).message();
    Failure::text(Exit::Run, format!("{cause}; or run without --tune"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    use device::KnownSettings;

    fn place(dir: &Path) -> PathBuf {
        let dir = dir.canonicalize().expect("a path");
        dir.join("devices/system/cpu/cpufreq/policy0/scaling_governor")
    }

    fn known(dir: &Path) -> KnownSettings {
        KnownSettings::below(&dir.canonicalize().expect("a path"))
    }

    fn join(dir: &Path) -> Done<Shared> {
        Shared::join(dir, Arc::new(known(dir)))
    }

    fn restore_at(dir: &Path) -> Done {
        restore_left_over(dir, &known(dir))
    }

    /// Creates a governor as a file that accepts any value.
    fn governor(dir: &Path) -> Tuning {
        let path = place(dir);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, "powersave").expect("a file");
        Tuning {
            setting: "governor of policy0".into(),
            path,
            was: "powersave".into(),
            to: "performance".into(),
            of_host: true,
        }
    }

    fn now(dir: &Path) -> String {
        fs::read_to_string(place(dir)).expect("a file")
    }

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).expect("a folder").count()
    }

    #[test]
    fn the_last_of_several_runs_restores_the_setting() {
        let dir = tempfile::tempdir().expect("a folder");
        let tuning = governor(dir.path());
        let first = join(dir.path()).expect("joined");
        assert_eq!(first.apply(std::slice::from_ref(&tuning)).expect("set"), std::slice::from_ref(&tuning));
        let second = join(dir.path()).expect("joined");
        let third = join(dir.path()).expect("joined");
        // Both runs find the setting already changed and rely on it.
        assert_eq!(second.apply(&[]).expect("set"), std::slice::from_ref(&tuning));
        third.apply(&[]).expect("set");
        assert_eq!(first.leave().expect("left"), []);
        assert_eq!(now(dir.path()), "performance");
        // On a crash, the run does not unregister, but its lock is released.
        drop(second);
        assert_eq!(now(dir.path()), "performance");
        assert_eq!(third.leave().expect("left"), [tuning]);
        assert_eq!(now(dir.path()), "powersave");
        assert_eq!(files(dir.path()), 2, "settings and the lock");
    }

    #[test]
    fn settings_found_by_two_runs_are_restored_to_the_first_value() {
        let dir = tempfile::tempdir().expect("a folder");
        let tuning = governor(dir.path());
        let (first, second) = (join(dir.path()).expect("joined"), join(dir.path()).expect("joined"));
        first.apply(std::slice::from_ref(&tuning)).expect("set");
        // The run read the setting before the first run changed it, or the user has changed it since then.
        let other = Tuning { was: "ondemand".into(), ..tuning.clone() };
        second.apply(&[other]).expect("set");
        second.leave().expect("left");
        assert_eq!(now(dir.path()), "performance");
        first.leave().expect("left");
        assert_eq!(now(dir.path()), "powersave");
    }

    #[test]
    fn after_all_runs_crash_the_next_start_restores() {
        let dir = tempfile::tempdir().expect("a folder");
        let tuning = governor(dir.path());
        let runs = [join(dir.path()).expect("joined"), join(dir.path()).expect("joined")];
        runs[0].apply(std::slice::from_ref(&tuning)).expect("set");
        restore_at(dir.path()).expect("somebody lives");
        assert_eq!(now(dir.path()), "performance");
        drop(runs);
        restore_at(dir.path()).expect("nobody lives");
        assert_eq!((now(dir.path()).as_str(), files(dir.path())), ("powersave", 2));
        // The same is true if the next run tunes the host as well: it starts with the original settings.
        drop(join(dir.path()).expect("joined").apply(std::slice::from_ref(&tuning)).expect("set"));
        let next = join(dir.path()).expect("joined");
        assert_eq!(now(dir.path()), "powersave");
        next.leave().expect("left");
    }

    #[test]
    fn records_of_an_earlier_boot_are_ignored() {
        let dir = tempfile::tempdir().expect("a folder");
        let tuning = governor(dir.path());
        let content = json!({ "boot": "another", "tunings": [written(&tuning)] });
        fs::write(dir.path().join(ORIGINALS), content.to_string()).expect("a note");
        fs::write(place(dir.path()), "performance").expect("a governor");
        restore_at(dir.path()).expect("nothing to do");
        assert_eq!(now(dir.path()), "performance", "whoever set it, it was not Plateau");
    }

    #[test]
    fn a_failed_change_leaves_no_setting_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let tuning = governor(dir.path());
        let gone = Tuning { path: dir.path().join("no/such"), ..tuning.clone() };
        let run = join(dir.path()).expect("joined");
        assert!(run.apply(&[tuning, gone]).is_err());
        assert_eq!(now(dir.path()), "powersave");
        assert_eq!(run.leave().expect("left"), []);
    }

    #[test]
    fn concurrent_runs_restore_the_original_value() {
        let dir = tempfile::tempdir().expect("a folder");
        let tuning = governor(dir.path());
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        let run = join(dir.path()).expect("joined");
                        let found = now(dir.path());
                        let tunings = if found == "performance" { vec![] } else { vec![tuning.clone()] };
                        run.apply(&tunings).expect("set");
                        assert_eq!(now(dir.path()), "performance", "as long as one lives");
                        run.leave().expect("left");
                    }
                });
            }
        });
        assert_eq!((now(dir.path()).as_str(), files(dir.path())), ("powersave", 2));
    }
}
