//! Settings of the host that several runs tune together: the first that needs one changes it, the last run puts
//! all of them back.
//!
//! A folder that is gone when the host starts anew, as the settings are, holds a file for each run that tunes, and
//! one with what the settings were. Each run keeps its file locked as long as it lives. The kernel lets a lock go with
//! its process, so what a crash leaves does not look alive. Everything is done under one more lock.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use drive::Tuning;
use serde_json::{Value, json};

use super::{read, written};
use crate::failure::{Done, Exit, Failure};
use crate::printer;

const RUNTIME: &str = "/run/plateau";
const LOCK: &str = ".tuning.lock";
const ORIGINALS: &str = ".tuning-host.json";
const RUN: &str = ".tuning-run-";

/// One run among those that tune the host.
pub struct Shared {
    folder: PathBuf,
    own: PathBuf,
    /// Locked until this run is gone.
    _alive: File,
}

/// Where runs of all libraries meet; the library itself where this user may not write there.
pub fn folder(library: &Path) -> PathBuf {
    let runtime = Path::new(RUNTIME);
    let usable = fs::create_dir_all(runtime).is_ok() && open(&runtime.join(LOCK)).is_ok();
    if usable { runtime.to_owned() } else { library.to_owned() }
}

/// Puts back what runs left that are all gone, wherever they met.
pub fn restore_left_over(library: &Path) -> Done {
    // Where this user may not write, others do that.
    let is_ours = |folder: &&Path| folder.join(ORIGINALS).exists() && open(&folder.join(LOCK)).is_ok();
    for folder in [Path::new(RUNTIME), library].iter().filter(|folder| is_ours(folder)) {
        restore_at(folder)?;
    }
    Ok(())
}

fn restore_at(folder: &Path) -> Done {
    let _locked = lock(folder)?;
    restore_if_nobody_lives(folder)
}

impl Shared {
    /// Enters among the runs that tune. What is found right from now on stays so until this run leaves.
    pub fn join(folder: &Path) -> Done<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let _locked = lock(folder)?;
        restore_if_nobody_lives(folder)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let own = folder.join(format!("{RUN}{}-{number}", std::process::id()));
        let alive = open(&own).map_err(|error| failed(&own, &error))?;
        alive.lock().map_err(|error| failed(&own, &error))?;
        Ok(Self { folder: folder.to_owned(), own, _alive: alive })
    }

    /// Changes settings, or none of them. Gives all that are changed now, those of other runs among them.
    pub fn apply(&self, tunings: &[Tuning]) -> Done<Vec<Tuning>> {
        let _locked = lock(&self.folder)?;
        let before = originals(&self.folder);
        let mut all = before.clone();
        let is_new = |tuning: &&Tuning| before.iter().all(|known| known.path != tuning.path);
        let new: Vec<&Tuning> = tunings.iter().filter(is_new).collect();
        all.extend(new.iter().copied().cloned());
        write(&self.folder, &all)?;
        for (done, tuning) in tunings.iter().enumerate() {
            if let Err(error) = tuning.apply() {
                // The one that failed was set or was not; those before it were.
                drop(tuning.undo());
                let mut undone = tunings[..done].iter().filter(is_new);
                if undone.all(|tuning| tuning.undo().is_ok()) {
                    write(&self.folder, &before)?;
                }
                return Err(error.into());
            }
        }
        Ok(all)
    }

    /// Leaves; the last one puts everything back and gives what it was. What cannot be put back is left to the next
    /// run.
    pub fn leave(self) -> Done<Vec<Tuning>> {
        let _locked = lock(&self.folder)?;
        fs::remove_file(&self.own).map_err(|error| failed(&self.own, &error))?;
        let all = originals(&self.folder);
        if all.is_empty() {
            return Ok(all);
        }
        let others = living(&self.folder);
        if others > 0 {
            printer::tell_line(&format!(
                "settings of the host stay as they are: {others} other {} them",
                if others == 1 { "run needs" } else { "runs need" }
            ));
            return Ok(Vec::new());
        }
        let mut restored = Vec::new();
        for tuning in &all {
            match tuning.undo() {
                Ok(()) => restored.push(tuning.clone()),
                Err(error) => printer::tell_line(&format!("{error}; the next run tries again")),
            }
        }
        let rest: Vec<Tuning> = all.into_iter().filter(|tuning| !restored.contains(tuning)).collect();
        write(&self.folder, &rest)?;
        Ok(restored)
    }
}

/// Under the lock: after a crash of the last one that lived.
fn restore_if_nobody_lives(folder: &Path) -> Done {
    let all = originals(folder);
    if living(folder) > 0 || all.is_empty() {
        return Ok(());
    }
    for tuning in &all {
        tuning.undo()?;
    }
    write(folder, &[])?;
    printer::tell_line("restored settings of the host, which earlier runs had left changed");
    Ok(())
}

/// How many runs live; files of those that do not are removed.
fn living(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(RUN));
    let lives = |path: PathBuf| match File::open(&path).map(|file| file.try_lock()) {
        Ok(Ok(())) => {
            drop(fs::remove_file(&path));
            false
        }
        Ok(Err(TryLockError::WouldBlock)) => true,
        // Nobody can tell; then it is left as it is.
        Ok(Err(TryLockError::Error(_))) => true,
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    runs.filter(|entry| lives(entry.path())).count()
}

/// What the settings were; nothing of an earlier start of the host.
fn originals(folder: &Path) -> Vec<Tuning> {
    let text = fs::read_to_string(folder.join(ORIGINALS)).unwrap_or_default();
    let content: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    if content["boot"] != json!(boot()) {
        return Vec::new();
    }
    content["tunings"].as_array().into_iter().flatten().filter_map(read).collect()
}

/// Returns when it is on disk.
fn write(folder: &Path, all: &[Tuning]) -> Done {
    let path = folder.join(ORIGINALS);
    if all.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&path, &error)),
            _ => Ok(()),
        };
    }
    let content = json!({ "boot": boot(), "tunings": all.iter().map(written).collect::<Vec<_>>() });
    let beside = folder.join(format!("{ORIGINALS}.new"));
    let whole = || {
        let mut file = File::create(&beside)?;
        file.write_all(content.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &path)?;
        File::open(folder)?.sync_all()
    };
    whole().map_err(|error| failed(&path, &error))
}

fn lock(folder: &Path) -> Done<File> {
    let path = folder.join(LOCK);
    let locked = open(&path).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| failed(&path, &error))
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    let text = format!(
        "cannot write {}: {error}; without it nobody could put settings of the host back, so run without --tune",
        path.display()
    );
    Failure::text(Exit::Run, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A governor in a file that takes everything.
    fn governor(dir: &Path) -> Tuning {
        let path = dir.join("governor");
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
        fs::read_to_string(dir.join("governor")).expect("a file")
    }

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).expect("a folder").count()
    }

    #[test]
    fn the_last_of_several_runs_puts_it_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = governor(dir.path());
        let first = Shared::join(dir.path()).expect("joined");
        assert_eq!(first.apply(std::slice::from_ref(&wanted)).expect("set"), std::slice::from_ref(&wanted));
        let second = Shared::join(dir.path()).expect("joined");
        let third = Shared::join(dir.path()).expect("joined");
        // They find it right already and rely on it.
        assert_eq!(second.apply(&[]).expect("set"), std::slice::from_ref(&wanted));
        third.apply(&[]).expect("set");
        assert_eq!(first.leave().expect("left"), []);
        assert_eq!(now(dir.path()), "performance");
        // A crash: nobody hears of it, and its lock is gone.
        drop(second);
        assert_eq!(now(dir.path()), "performance");
        assert_eq!(third.leave().expect("left"), [wanted]);
        assert_eq!(now(dir.path()), "powersave");
        assert_eq!(files(dir.path()), 2, "the governor and the lock");
    }

    #[test]
    fn what_two_runs_found_at_once_is_put_back_to_what_it_was_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = governor(dir.path());
        let (first, second) =
            (Shared::join(dir.path()).expect("joined"), Shared::join(dir.path()).expect("joined"));
        first.apply(std::slice::from_ref(&wanted)).expect("set");
        // It looked before the first one had set it, or somebody set it by hand meanwhile.
        let other = Tuning { was: "ondemand".into(), ..wanted.clone() };
        second.apply(&[other]).expect("set");
        second.leave().expect("left");
        assert_eq!(now(dir.path()), "performance");
        first.leave().expect("left");
        assert_eq!(now(dir.path()), "powersave");
    }

    #[test]
    fn after_a_crash_of_all_the_next_start_puts_it_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = governor(dir.path());
        let runs = [Shared::join(dir.path()).expect("joined"), Shared::join(dir.path()).expect("joined")];
        runs[0].apply(std::slice::from_ref(&wanted)).expect("set");
        restore_at(dir.path()).expect("somebody lives");
        assert_eq!(now(dir.path()), "performance");
        drop(runs);
        restore_at(dir.path()).expect("nobody lives");
        assert_eq!((now(dir.path()).as_str(), files(dir.path())), ("powersave", 2));
        // The same where the next start tunes as well: it begins from what it was.
        drop(Shared::join(dir.path()).expect("joined").apply(std::slice::from_ref(&wanted)).expect("set"));
        let next = Shared::join(dir.path()).expect("joined");
        assert_eq!(now(dir.path()), "powersave");
        next.leave().expect("left");
    }

    #[test]
    fn an_earlier_start_of_the_host_is_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = governor(dir.path());
        let content = json!({ "boot": "another", "tunings": [written(&wanted)] });
        fs::write(dir.path().join(ORIGINALS), content.to_string()).expect("a note");
        fs::write(dir.path().join("governor"), "performance").expect("a governor");
        restore_at(dir.path()).expect("nothing to do");
        assert_eq!(now(dir.path()), "performance", "whoever set it, it was not Plateau");
    }

    #[test]
    fn one_that_cannot_be_set_leaves_none_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = governor(dir.path());
        let gone = Tuning { path: dir.path().join("no/such"), ..wanted.clone() };
        let run = Shared::join(dir.path()).expect("joined");
        assert!(run.apply(&[wanted, gone]).is_err());
        assert_eq!(now(dir.path()), "powersave");
        assert_eq!(run.leave().expect("left"), []);
    }

    #[test]
    fn threads_that_come_and_go_leave_it_as_it_was() {
        let dir = tempfile::tempdir().expect("a folder");
        let wanted = governor(dir.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let run = Shared::join(dir.path()).expect("joined");
                        let found = now(dir.path());
                        let tunings = if found == "performance" { vec![] } else { vec![wanted.clone()] };
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
