//! Tests restore records: runs that tune the host are killed at each of their calls, and the power is cut with
//! various surviving disks.
//!
//! Several runs start, change settings and end in an order derived from the seed. Each run is killed at each of
//! its calls, while the others continue. Then the power fails at every event. In each case, the next process
//! must restore all settings to the values that they had before the first run, and leave no record.

mod mortal;
mod world;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use device::{DriveError, Tuning};
use plateau::state::{Host, Standing, State, StateFolder};
use plateau::tuning::{self, Tuned, Tuner};
use plateau::write_cache::{self, Cached, Changed};
use record::TargetFacts;
use record::storage::simulated::{Crash, Disk, Logged};
use record::storage::{Storage as _, Stored, create_folders};
use stdx::files::Unowned;
use stdx::rng::Rng;

use crate::{Broken, Promise};
use mortal::Mortal;
use world::{Process, World};

const STATE: &str = "/state";
/// Prefix of the setting that represents a drive's write cache.
const CACHE: &str = "/cache ";
/// Number of random surviving disks per event.
const DRAWN: u64 = 12;
const MOST_RUNS: u64 = 3;
/// Number of host settings that a run may change.
const HOST_SETTINGS: u64 = 3;
/// Maximum number of settings that a run changes on its own device.
const DEVICE_SETTINGS: u64 = 2;

fn unowned(path: &Path, source: io::Error) -> Unowned {
    Unowned::System { path: path.into(), source }
}

#[derive(Debug)]
struct Folder {
    process: Process,
    path: PathBuf,
}

impl State for Process {
    fn open(&self) -> Result<Option<Box<dyn StateFolder>>, Unowned> {
        let path = PathBuf::from(STATE);
        let world = self.call().map_err(|error| unowned(&path, error))?;
        if world.storage.look(&path).is_err() {
            return Ok(None);
        }
        Ok(Some(Box::new(Folder { process: self.clone(), path })))
    }

    fn make(&self) -> Result<Box<dyn StateFolder>, Unowned> {
        let path = PathBuf::from(STATE);
        let world = self.call().map_err(|error| unowned(&path, error))?;
        create_folders(&world.storage, &path).map_err(|error| unowned(&path, error))?;
        Ok(Box::new(Folder { process: self.clone(), path }))
    }
}

impl Folder {
    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn opened(&self, name: &str, make: bool) -> io::Result<Box<dyn Stored>> {
        let (world, path) = (self.process.call()?, self.at(name));
        let inner = match world.storage.open_to_append(&path) {
            Err(error) if make && error.kind() == io::ErrorKind::NotFound => world.storage.create(&path)?,
            opened => opened?,
        };
        Ok(Box::new(Mortal { inner, process: self.process.clone() }))
    }
}

impl StateFolder for Folder {
    fn path(&self) -> &Path {
        &self.path
    }

    fn names(&self) -> Result<Vec<OsString>, Unowned> {
        let names = self.process.call().and_then(|world| world.storage.list(&self.path));
        names.map_err(|error| unowned(&self.path, error))
    }

    fn file(&self, name: &str) -> Result<Option<Box<dyn Stored>>, Unowned> {
        match self.opened(name, false) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unowned(&self.at(name), error)),
        }
    }

    fn make_file(&self, name: &str) -> Result<Box<dyn Stored>, Unowned> {
        self.opened(name, true).map_err(|error| unowned(&self.at(name), error))
    }

    fn lock(&self, name: &str) -> Result<Box<dyn Stored>, Unowned> {
        let file = self.make_file(name)?;
        match file.try_lock() {
            Ok(true) => Ok(file),
            // In this simulation, processes run one at a time, so a process would wait for a lock forever.
            Ok(false) => Err(unowned(&self.at(name), io::Error::other("locked forever"))),
            Err(error) => Err(unowned(&self.at(name), error)),
        }
    }

    fn standings(&self, names: &[&str]) -> Vec<Standing> {
        let standing = |name: &&str| match self.file(name) {
            Ok(Some(file)) => match file.try_lock() {
                Ok(true) => Standing::Free(file),
                Ok(false) => Standing::Held,
                Err(_) => Standing::Unknown,
            },
            Ok(None) => Standing::Missing,
            Err(_) => Standing::Unknown,
        };
        names.iter().map(standing).collect()
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Unowned> {
        let renamed =
            self.process.call().and_then(|world| world.storage.rename(&self.at(from), &self.at(to)));
        renamed.map_err(|error| unowned(&self.at(to), error))
    }

    fn remove(&self, name: &str) -> Result<(), Unowned> {
        match self.process.call().and_then(|world| world.storage.remove_file(&self.at(name))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unowned(&self.at(name), error)),
            _ => Ok(()),
        }
    }

    fn sync(&self) -> Result<(), Unowned> {
        let synced = self
            .process
            .call()
            .and_then(|world| world.storage.open_folder(&self.path))
            .and_then(|mut folder| folder.sync_all());
        synced.map_err(|error| unowned(&self.path, error))
    }
}

impl Host for Process {
    fn accept(&self, noted: Tuning) -> Result<Tuning, DriveError> {
        Ok(noted)
    }

    fn set(&self, tuning: &Tuning, value: &str) -> Result<(), DriveError> {
        let world = self.call().map_err(|error| tuning.not_written(value, error))?;
        world.set(&tuning.path, value);
        Ok(())
    }

    fn is(&self, tuning: &Tuning, value: &str) -> bool {
        self.world.settings().get(&tuning.path).is_some_and(|now| now == value)
    }

    fn boot(&self) -> Option<String> {
        Some(self.world.boot.to_string())
    }
}

/// The write cache of a drive, whose state survives a power cut.
struct Cache<'a> {
    process: &'a Process,
    run: usize,
}

fn cache_path(run: usize) -> PathBuf {
    PathBuf::from(format!("{CACHE}{run}"))
}

impl Cached for Cache<'_> {
    fn identity(&self) -> String {
        format!("S{}", self.run)
    }

    fn outlives_the_process(&self) -> bool {
        true
    }

    fn switch(&mut self, on: bool) -> Result<(), DriveError> {
        let world = self.process.call().map_err(DriveError::Usage)?;
        world.set(&cache_path(self.run), if on { "on" } else { "off" });
        Ok(())
    }
}

/// The target of a run, and the settings that the run changes.
struct Run {
    facts: TargetFacts,
    host: Vec<usize>,
    device: usize,
}

/// Runs and their order, drawn from a seed.
pub struct Scenario {
    runs: Vec<Run>,
    /// Run numbers; each occurs twice, once for the start and once for the end.
    order: Vec<usize>,
}

fn setting(kind: &str, number: usize, of_host: bool) -> Tuning {
    let name = format!("{kind} {number}");
    let path = Path::new("/sys").join(&name);
    Tuning { setting: name, path, was: "usual".into(), to: "tuned".into(), of_host }
}

impl Scenario {
    /// Generates the scenario from `seed`, on drives like `drive`.
    #[must_use]
    pub fn of(seed: u64, drive: &TargetFacts) -> Self {
        let mut rng = Rng::from_seed_and_stream(seed, 77);
        let count = 1 + rng.below(MOST_RUNS);
        let run = |number: u64, rng: &mut Rng| Run {
            facts: TargetFacts {
                identity: format!("S{number}"),
                attachment: Some(format!("1:{number}")),
                ..drive.clone()
            },
            host: (0..HOST_SETTINGS as usize).filter(|_| rng.percent(60)).collect(),
            device: rng.below(DEVICE_SETTINGS + 1) as usize,
        };
        let runs: Vec<Run> = (0..count).map(|number| run(number, &mut rng)).collect();
        let mut order: Vec<usize> = (0..runs.len()).flat_map(|run| [run, run]).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.below(last as u64 + 1) as usize);
        }
        Self { runs, order }
    }

    fn tunings(&self, run: usize) -> Vec<Tuning> {
        let Run { host, device, .. } = &self.runs[run];
        let of_device = (0..*device).map(|number| setting(&format!("device {run}"), number, false));
        host.iter().map(|number| setting("host", *number, true)).chain(of_device).collect()
    }

    fn usual(&self) -> BTreeMap<PathBuf, String> {
        let all = (0..self.runs.len()).flat_map(|run| self.tunings(run));
        let caches = (0..self.runs.len()).map(|run| (cache_path(run), "on".to_owned()));
        all.map(|tuning| (tuning.path, tuning.was)).chain(caches).collect()
    }

    /// Returns the settings after a power cut: only drive settings survive.
    fn rebooted(&self, settings: &BTreeMap<PathBuf, String>) -> BTreeMap<PathBuf, String> {
        let mut all = self.usual();
        let is_kept = |path: &Path| path.to_string_lossy().starts_with(CACHE);
        let kept = settings.iter().filter(|(path, _)| is_kept(path));
        all.extend(kept.map(|(path, value)| (path.clone(), value.clone())));
        all
    }

    /// Performs the runs in order and returns the number of calls that each of them makes. `dead` contains the
    /// run that is killed and the number of the call at which it is killed.
    fn live(&self, world: &Arc<World>, dead: Option<(usize, u64)>) -> Vec<u64> {
        let dies_at = |run| dead.filter(|(number, _)| *number == run).map_or(u64::MAX, |(_, call)| call);
        let processes: Vec<Process> =
            (0..self.runs.len()).map(|run| Process::in_world(world, dies_at(run))).collect();
        let mut lives: BTreeMap<usize, (Option<Tuned>, Option<Changed>)> = BTreeMap::new();
        for run in &self.order {
            let process = &processes[*run];
            let mut cache = Cache { process, run: *run };
            match lives.remove(run) {
                None => {
                    // Does the same as the product: restores leftover settings, reads the settings, and changes
                    // the settings that differ.
                    let facts = &self.runs[*run].facts;
                    let begun = tuning::restore_on(facts, process, process)
                        .and_then(|()| Tuner::begin_on(process, Arc::new(process.clone())))
                        .and_then(|tuner| {
                            let now = world.settings();
                            let missing = |tuning: &Tuning| now.get(&tuning.path) != Some(&tuning.to);
                            let tunings = self.tunings(*run).into_iter().filter(missing).collect();
                            tuner.set(facts, process, tunings)
                        });
                    let changed = write_cache::restore_left_over(&mut cache, process)
                        .and_then(|()| write_cache::change(&mut cache, process, true));
                    lives.insert(*run, (begun.ok(), changed.ok()));
                }
                Some((tuned, changed)) => {
                    drop(changed.map(|changed| write_cache::put_back(&mut cache, changed)));
                    drop(tuned.map(Tuned::restore));
                }
            }
        }
        processes.iter().map(|process| process.calls.load(Ordering::Relaxed)).collect()
    }

    /// Starts one more process on each drive after all other processes have ended, and checks the settings and
    /// records.
    fn recover(&self, world: &Arc<World>, booted: bool, what: &str) -> Result<(), Broken> {
        let broken =
            |text: String| Broken { promise: Promise::SettingsRestored, text: format!("{what}: {text}") };
        for (number, run) in self.runs.iter().enumerate() {
            let process = Process::in_world(world, u64::MAX);
            let mut cache = Cache { process: &process, run: number };
            let restored = write_cache::restore_left_over(&mut cache, &process);
            restored.map_err(|failure| broken(failure.message()))?;
            let attachment = if booted { Some("2:0".into()) } else { run.facts.attachment.clone() };
            let facts = TargetFacts { attachment, ..run.facts.clone() };
            let restored = tuning::restore_on(&facts, &process, &process);
            restored.map_err(|failure| broken(failure.message()))?;
            // Tuning must still work, too.
            let tuner = Tuner::begin_on(&process, Arc::new(process.clone()));
            let tuned = tuner.and_then(|tuner| tuner.set(&facts, &process, Vec::new()));
            drop(tuned.map_err(|failure| broken(failure.message()))?.restore());
        }
        let (is, usual) = (world.settings(), self.usual());
        if is != usual {
            return Err(broken(format!("settings are {is:?} instead of {usual:?}")));
        }
        let names = world.storage.list(Path::new(STATE)).unwrap_or_default();
        match names
            .iter()
            .find(|name| *name != ".tuning.lock" && !name.to_string_lossy().ends_with(".json.new"))
        {
            Some(name) => Err(broken(format!("{} is left behind", name.display()))),
            None => Ok(()),
        }
    }
}

/// Tries every crash in the scenario generated from `seed`. Returns the number of crash points. `syncs` is false for a
/// disk that reports a sync without performing it.
///
/// # Errors
/// Returns the first setting that was not restored, or the first record that remains.
pub fn explore(seed: u64, drive: &TargetFacts, syncs: bool) -> Result<u64, Broken> {
    let scenario = Scenario::of(seed, drive);
    let fresh = || World::on(Disk::default(), scenario.usual(), 1, syncs);
    let whole = fresh();
    let calls = scenario.live(&whole, None);
    scenario.recover(&whole, false, &format!("seed {seed}, undisturbed"))?;
    let mut crash_points = 0;
    for (run, calls) in calls.iter().enumerate() {
        for call in 0..*calls {
            let world = fresh();
            scenario.live(&world, Some((run, call)));
            scenario.recover(&world, false, &format!("seed {seed}, run {run} killed at call {call}"))?;
            crash_points += 1;
        }
    }
    crash_points += crash_all(seed, &scenario, syncs)?;
    Ok(crash_points)
}

/// Kills all processes at once, or cuts the power, at every event.
fn crash_all(seed: u64, scenario: &Scenario, syncs: bool) -> Result<u64, Broken> {
    let world = World::on(Disk::default(), scenario.usual(), 1, syncs);
    scenario.live(&world, None);
    let changes = world.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut rng = Rng::from_seed_and_stream(seed, 78);
    let (mut disk, mut settings) = (Disk::default(), scenario.usual());
    let (mut crash_points, log) = (0, world.storage.log());
    for after in 0..=log.len() {
        let mut crashes = vec![Crash::Killed];
        if !disk.is_synced() {
            crashes.extend([Crash::NothingSurvives, Crash::EverythingSurvives]);
            crashes.extend((0..DRAWN).map(|_| Crash::Drawn(rng.next_u64())));
        }
        let mut survivors = HashSet::new();
        for crash in crashes {
            let survivor = disk.after(crash);
            let mut hasher = DefaultHasher::new();
            (survivor.clone(), crash == Crash::Killed).hash(&mut hasher);
            if !survivors.insert(hasher.finish()) {
                continue;
            }
            let booted = crash != Crash::Killed;
            let (found, boot) =
                if booted { (scenario.rebooted(&settings), 2) } else { (settings.clone(), 1) };
            let what = format!("seed {seed}, {crash:?} after event {after}");
            scenario.recover(&World::on(survivor, found, boot, syncs), booted, &what)?;
            crash_points += 1;
        }
        match log.get(after) {
            Some(Logged::Op(op)) => disk.apply(op),
            Some(Logged::Mark(mark)) => {
                let (path, value) = &changes[*mark];
                settings.insert(path.clone(), value.clone());
            }
            None => {}
        }
    }
    Ok(crash_points)
}
