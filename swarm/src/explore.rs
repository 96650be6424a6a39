//! Tries every crash of a scenario: at each event of its run, with several possible surviving disks.
//!
//! The scenario is run once. The log of the run yields the disk state after each possible crash. A new process
//! starts on each of these disks. Processes that find the same state behave identically from then on, so each state
//! is simulated only once.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Instant;

use record::storage::simulated::{Crash, Disk, Fault, FaultKind, Logged};
use record::{Event, Library, Loaded, RunFile};
use stdx::rng::Rng;

use crate::check::{self, Broken, Displayed, Promise};
use crate::life::{Found, Lived, Process, Product};
use crate::scenario::{Scenario, Setting};
use crate::script::{Cut, Life, Script};

/// Number of random surviving disks per event, for the first process, the first resumption, and later
/// resumptions.
const DRAWN: [u64; 3] = [60, 24, 12];
/// A crash is simulated after one in this many events, for the first process, the first resumption, and later
/// resumptions.
const LATER_EVENTS: [u64; 3] = [1, 40, 150];
/// One in this many resumptions is repeated on a failing disk.
const TROUBLED: u64 = 5;
/// One in this many completed runs is replayed on a new drive and compared answer by answer. A resumption also
/// compares the existing records in this way.
const REPEATED: u64 = 4;

/// What an exploration has covered.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    /// Number of pairs of a crash event and a surviving disk; identical disks at the same event count once.
    pub crash_points: u64,
    /// Number of runs that were simulated to completion.
    pub runs: u64,
    /// Number of scenarios.
    pub seeds: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.crash_points += other.crash_points;
        self.runs += other.runs;
        self.seeds += other.seeds;
    }
}

/// A broken promise, and how to reproduce it.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The sequence of processes that breaks the promise.
    pub script: Script,
    /// The broken promise.
    pub broken: Broken,
}

/// State hash and journal that a process finds on a disk.
type Looked = Result<(u64, Option<Arc<Vec<u8>>>), Broken>;

struct Explorer<'a> {
    product: &'a dyn Product,
    scenario: &'a Scenario,
    setting: &'a Setting,
    file: &'a RunFile,
    undisturbed: &'a [Event],
    until: Option<Instant>,
    rng: Rng,
    looked: HashMap<u64, Looked>,
    journals: HashMap<u64, Option<Arc<Vec<u8>>>>,
    ended: HashMap<u64, Result<(), Broken>>,
    count: Count,
}

/// Tries every crash in the scenario generated from `seed`, until the first failure, but no longer than
/// `until`.
///
/// # Errors
/// Returns the first broken promise.
pub fn explore(product: &dyn Product, seed: u64, until: Option<Instant>) -> Result<Count, Box<Failure>> {
    let mut clean = None;
    let made = Scenario::of(seed, |file| {
        let life = Life {
            how: plateau::course::Resumption::Plain,
            clock: crate::script::Clock::Stands,
            faults: Vec::new(),
            cut: None,
        };
        let lived = Process::new(product, Disk::default(), file, &life, 0).live(file, &life, None, true);
        let calls = lived.calls;
        clean = Some(lived);
        Ok(calls)
    });
    let failed = |text: String, scenario: Option<&Scenario>| {
        let words = scenario.map(|scenario| scenario.words.clone()).unwrap_or_default();
        let lives = scenario.map(|scenario| vec![scenario.settings[0].first.clone()]).unwrap_or_default();
        let broken = Broken { promise: Promise::Completes, text };
        Box::new(Failure { script: Script { seed, words, lives }, broken })
    };
    let (scenario, file) = made.map_err(|text| failed(text, None))?;
    let clean = clean.ok_or_else(|| failed("no run was created".into(), Some(&scenario)))?;
    let undisturbed = undisturbed(product, &file, &clean);
    let undisturbed = undisturbed.map_err(|broken| failed(broken.to_string(), Some(&scenario)))?;
    let mut count = Count { seeds: 1, ..Count::default() };
    for (number, setting) in scenario.settings.iter().enumerate() {
        let mut explorer = Explorer {
            product,
            scenario: &scenario,
            setting,
            file: &file,
            undisturbed: &undisturbed,
            until,
            rng: Rng::from_seed_and_stream(seed, 2 + number as u64),
            looked: HashMap::new(),
            journals: HashMap::new(),
            ended: HashMap::new(),
            count: Count::default(),
        };
        let result = explorer.first_life();
        count += explorer.count;
        result?;
    }
    Ok(count)
}

/// Returns the answers of a run without faults.
pub(crate) fn undisturbed(
    product: &dyn Product,
    file: &RunFile,
    clean: &Lived,
) -> Result<Vec<Event>, Broken> {
    if let Some(broken) = &clean.broken {
        return Err(broken.clone());
    }
    let life = Life {
        how: plateau::course::Resumption::Plain,
        clock: crate::script::Clock::Stands,
        faults: Vec::new(),
        cut: None,
    };
    let process = Process::new(product, clean.disk.clone(), file, &life, 0);
    let loaded = load(&process.library, file)?;
    Ok(check::answers(&loaded))
}

fn load(library: &Library, file: &RunFile) -> Result<Loaded, Broken> {
    let torn = |text: String| Broken { promise: Promise::NoTornRun, text };
    let run = library.find(&file.id).map_err(|error| torn(error.to_string()))?;
    run.load().map_err(|error| torn(error.to_string()))
}

/// Checks a process without faults: it must complete the run and keep all promises. Returns the journal.
pub(crate) fn judged(
    product: &dyn Product,
    file: &RunFile,
    undisturbed: &[Event],
    life: &Life,
    lived: &Lived,
    mut seen: Displayed,
) -> Result<Loaded, Broken> {
    if let Some(broken) = &lived.broken {
        return Err(broken.clone());
    }
    if let Err(ended) = &lived.ended {
        return Err(Broken { promise: Promise::Completes, text: ended.message.clone() });
    }
    lived.shown.iter().for_each(|shown| seen.add(shown));
    let process = Process::new(product, lived.disk.clone(), file, life, 0);
    let loaded = load(&process.library, file)?;
    seen.is_in(lived.disk.read(&crate::life::journal_path(file)))?;
    check::complete(file, &loaded, undisturbed)?;
    Ok(loaded)
}

impl Explorer<'_> {
    fn first_life(&mut self) -> Result<(), Box<Failure>> {
        let life = self.setting.first.clone();
        let process = Process::new(self.product, Disk::default(), self.file, &life, 0);
        let lived = process.live(self.file, &life, None, true);
        if let Some(broken) = &lived.broken {
            return Err(self.failure(&[life, self.last_life()], broken.clone()));
        }
        self.crash(&Disk::default(), &lived, &Displayed::default(), &[life])
    }

    fn last_life(&self) -> Life {
        Life { how: self.setting.how, clock: self.setting.clock, faults: Vec::new(), cut: None }
    }

    fn failure(&self, lives: &[Life], broken: Broken) -> Box<Failure> {
        let (seed, words) = (self.scenario.seed, self.scenario.words.clone());
        Box::new(Failure { script: Script { seed, words, lives: lives.to_vec() }, broken })
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Crashes the last of `lives`, which started on the disk `before` and wrote the log in `lived`.
    fn crash(
        &mut self,
        before: &Disk,
        lived: &Lived,
        seen: &Displayed,
        lives: &[Life],
    ) -> Result<(), Box<Failure>> {
        let depth = lives.len() - 1;
        let (mut disk, mut seen) = (before.clone(), seen.clone());
        for after in 0..=lived.log.len() {
            let is_end = after == lived.log.len();
            if is_end || self.rng.below(LATER_EVENTS[depth.min(2)]) == 0 {
                self.crash_here(&disk, &seen, lives, after)?;
            }
            match lived.log.get(after) {
                Some(Logged::Op(op)) => disk.apply(op),
                Some(Logged::Mark(mark)) => seen.add(&lived.shown[*mark]),
                None => {}
            }
            if self.is_late() {
                break;
            }
        }
        Ok(())
    }

    fn crash_here(
        &mut self,
        disk: &Disk,
        seen: &Displayed,
        lives: &[Life],
        after: usize,
    ) -> Result<(), Box<Failure>> {
        let mut crashes = vec![Crash::Killed];
        if !disk.is_synced() {
            crashes.extend([Crash::NothingSurvives, Crash::EverythingSurvives]);
            crashes.extend((0..DRAWN[(lives.len() - 1).min(2)]).map(|_| Crash::Drawn(self.rng.next_u64())));
        }
        let mut survivors = HashSet::new();
        for crash in crashes {
            let survivor = disk.after(crash);
            let mut hasher = DefaultHasher::new();
            survivor.hash(&mut hasher);
            let image = hasher.finish();
            if survivors.insert(image) {
                let mut lives = lives.to_vec();
                if let Some(last) = lives.last_mut() {
                    last.cut = Some(Cut { after, crash });
                }
                lives.push(self.last_life());
                self.recover(survivor, image, seen, &lives)?;
            }
        }
        Ok(())
    }

    /// Tries one crash point: a process starts on the disk `survivor` and completes the run.
    fn recover(
        &mut self,
        survivor: Disk,
        image: u64,
        seen: &Displayed,
        lives: &[Life],
    ) -> Result<(), Box<Failure>> {
        self.count.crash_points += 1;
        let number = lives.len() - 1;
        let life = self.last_life();
        // A process's number affects only its clock.
        let key = {
            let mut hasher = DefaultHasher::new();
            (image, number).hash(&mut hasher);
            hasher.finish()
        };
        let mut fresh = None;
        if !self.looked.contains_key(&key) {
            let process = Process::new(self.product, survivor, self.file, &life, number);
            let before = process.disk.disk();
            let looked = process.find(self.file).map(|found| {
                let state = {
                    let mut hasher = DefaultHasher::new();
                    (found.state, number).hash(&mut hasher);
                    hasher.finish()
                };
                let Found { run, journal, .. } = found;
                let journal = self.journals.entry(state).or_insert_with(|| journal.map(Arc::new)).clone();
                fresh = Some((process, run, state, before));
                (state, journal)
            });
            self.looked.insert(key, looked);
        }
        let looked = self.looked[&key].clone();
        let (state, journal) = looked.map_err(|broken| self.failure(lives, broken))?;
        seen.is_in(journal.as_ref().map(|bytes| &bytes[..])).map_err(|broken| self.failure(lives, broken))?;
        if let Some((process, run, state, before)) = fresh
            && let Entry::Vacant(_) = self.ended.entry(state)
        {
            self.play_on(process, run, state, &before, seen, lives)?;
        }
        self.ended[&state].clone().map_err(|broken| self.failure(lives, broken))
    }

    /// Completes the run from a state that no earlier process has found, then crashes the process that
    /// completed it as well.
    fn play_on(
        &mut self,
        process: Process<'_>,
        run: Option<plateau::course::Reopened>,
        state: u64,
        before: &Disk,
        seen: &Displayed,
        lives: &[Life],
    ) -> Result<(), Box<Failure>> {
        self.count.runs += 1;
        let life = self.last_life();
        let lived = process.live(self.file, &life, run, false);
        let mut judged = judged(self.product, self.file, self.undisturbed, &life, &lived, seen.clone());
        if self.rng.below(REPEATED) == 0 {
            judged = judged.and_then(|loaded| check::repeats(self.file, &loaded).map(|()| loaded));
        }
        let judged = judged.map(drop);
        let is_sound = judged.is_ok();
        self.ended.insert(state, judged);
        if is_sound && lives.len() <= 3 {
            self.crash(before, &lived, seen, lives)?;
            if lives.len() <= 2 && self.rng.below(TROUBLED) == 0 {
                self.play_in_trouble(before, lived.calls, seen, lives)?;
            }
        }
        Ok(())
    }

    /// Resumes from the same state on a disk that fails.
    fn play_in_trouble(
        &mut self,
        before: &Disk,
        calls: u64,
        seen: &Displayed,
        lives: &[Life],
    ) -> Result<(), Box<Failure>> {
        let kinds = [
            FaultKind::NoSpace,
            FaultKind::Broken,
            FaultKind::Broken,
            FaultKind::ReadOnly,
            FaultKind::Dead,
            FaultKind::Interrupt,
        ];
        let kind = kinds[self.rng.below(kinds.len() as u64) as usize];
        let faults = vec![Fault { call: self.rng.below(calls.max(1)), kind }];
        let mut lives = lives.to_vec();
        let number = lives.len() - 1;
        lives[number].faults = faults;
        let life = lives[number].clone();
        let process = Process::new(self.product, before.clone(), self.file, &life, number);
        let lived = match process.find(self.file) {
            Ok(found) => process.live(self.file, &life, found.run, false),
            // This is expected, because the disk fails.
            Err(_) => return Ok(()),
        };
        if let Some(broken) = &lived.broken {
            return Err(self.failure(&lives, broken.clone()));
        }
        self.count.runs += 1;
        self.crash(before, &lived, seen, &lives)
    }
}
