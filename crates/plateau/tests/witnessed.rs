//! Compares the requests that a simulated drive received in each test in each profile with the specification:
//! order of the cells, mixes, sizes, ranges, TC x QD, durations and idle times. The scripts are derived from
//! the specification, not from the tests, and the requests are recorded in the drive, at the end of the I/O
//! path.

mod witnessed {
    pub mod script;
}

use std::ops::RangeInclusive;

use device::{Armed, OpenOptions};
use engine::{Flow, LoadOutcome};
use nandsim::LoadRecorder;
use pts::{Bench, Context, Profile, Stop, Test};
use record::{Note, Purged, Segment, Settings, Workload};
use witnessed::script::{Length, Reach, Step, Want, script};

const SCALE: u64 = 64;
const MIB: u64 = 1 << 20;
/// Length of a minute in the tests: a tenth of a real one, because there are 35 tests and the sequence does not
/// depend on it.
const MINUTE_NS: u64 = 6_000_000_000;
/// Number of I/Os per outstanding I/O that the simulated drive completes even in a very short cell.
const LEAST_PER_OUTSTANDING: u64 = 20;
/// Largest accepted deviation of a proportion, in standard deviations; large because thousands of proportions
/// are checked.
const SIGMAS: f64 = 6.0;

/// An operation, as recorded by the drive.
#[derive(Debug)]
enum DriveStep {
    Purge,
    Idle { ns: u64 },
    Load { measured: bool, witness: Box<LoadRecorder>, ns: u64 },
}

struct Watched {
    drive: Armed,
    seen: Vec<DriveStep>,
    notes: Vec<Note>,
}

impl Watched {
    fn load(&mut self, workload: &Workload, measured: bool) -> Result<Segment, Stop> {
        let before_ns = self.drive.now_ns();
        self.drive.watch();
        let driven = self.drive.run(workload, &mut |_| Flow::Continue);
        let Ok(LoadOutcome::Finished(segment)) = driven else {
            return Err(Stop::Failed(format!("{driven:?}")));
        };
        let witness = self.drive.witness().expect("a simulated drive").clone();
        // The length includes the time that the host spends waiting for outstanding I/Os after the load.
        let ns = segment.end_ns - before_ns;
        self.seen.push(DriveStep::Load { measured, witness: Box::new(witness), ns });
        Ok(segment)
    }
}

impl Bench for Watched {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.seen.push(DriveStep::Purge);
        self.drive.purge().map_err(|error| Stop::Failed(error.to_string()))
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.load(workload, false)
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.load(workload, true)
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        let before_ns = self.drive.now_ns();
        self.drive.idle(length_ns).map_err(|error| Stop::Failed(error.to_string()))?;
        self.seen.push(DriveStep::Idle { ns: self.drive.now_ns() - before_ns });
        Ok(())
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        self.notes.push(note);
        Ok(())
    }
}

/// Runs every test of `profile` on a simulated drive and compares each step with what the drive received.
fn confirm(profile: &str) {
    let profile = Profile::named(profile).unwrap();
    let settings = Settings { cell_ns: MINUTE_NS, max_rounds: 6, ..profile.settings(1) };
    for test in profile.tests.iter().flat_map(|listed| Test::all_named(listed.family, profile).unwrap()) {
        let scale = format!("1/{SCALE}");
        let options = OpenOptions { scale: Some(scale), sim_seed: 1, ..OpenOptions::default() };
        let drive = device::open("sim:sas-slc-2011", &options).unwrap().arm(None).unwrap();
        let target = drive.facts().clone();
        let mut bench = Watched { drive, seen: Vec::new(), notes: Vec::new() };
        let context = Context { profile, settings: &settings, target: &target };
        let outcome = (test.run)(&context, &mut bench);
        assert_eq!(outcome.stop, None, "{} {}", profile.name, test.name);
        let points: Vec<_> = outcome.key_figures.iter().filter_map(|figure| point(&figure.name)).collect();
        let expected = script(test.name, profile.name, &bench.notes, bench.seen.len(), &points);
        let place = |index: usize| format!("{} {}, step {index}", profile.name, test.name);
        for (index, (seen, expected)) in bench.seen.iter().zip(&expected).enumerate() {
            let problem = compare(seen, expected, target.capacity_bytes);
            assert!(problem.is_none(), "{}: {}\n{expected:?}\n{seen:?}", place(index), problem.unwrap());
        }
        assert_eq!(bench.seen.len(), expected.len(), "{}: another number of steps", place(expected.len()));
        if test.family == "tp" {
            assert_eq!(
                continued(&bench.seen, &expected, target.capacity_bytes),
                None,
                "{} {}",
                profile.name,
                test.name
            );
        }
    }
}

/// Parses the TC and QD of a point that has a histogram: `Max point, 40/60 TC 2 QD 32, ART 0.1 ms`.
fn point(name: &str) -> Option<(u16, u16)> {
    let number = |prefix: &str| {
        let text = name.split_once(prefix)?.1;
        text.split([' ', ',']).next()?.parse().ok()
    };
    Some((number(" TC ")?, number(" QD ")?))
}

fn compare(seen: &DriveStep, expected: &Step, capacity: u64) -> Option<String> {
    match (seen, expected) {
        (DriveStep::Purge, Step::Purge) => None,
        (DriveStep::Idle { ns }, Step::Idle { seconds }) => {
            let expected = seconds * MINUTE_NS / 60 / SCALE;
            (*ns != expected).then(|| format!("idle for {ns} ns instead of {expected}"))
        }
        (DriveStep::Load { measured, witness, ns }, Step::Load(load)) => {
            let checks = [
                (*measured != load.measured).then(|| "measured or not".to_owned()),
                length(witness, *ns, load, capacity),
                demand(witness, load),
                mix(witness, load),
                sizes(witness, load),
                order(witness, load, capacity),
                range(witness, load, capacity),
            ];
            checks.into_iter().flatten().next()
        }
        _ => Some("another kind of step".into()),
    }
}

fn length(witness: &LoadRecorder, ns: u64, load: &Want, capacity: u64) -> Option<String> {
    match load.length {
        Length::Fills(fills) => {
            let (expected, largest) = (fills * capacity, u64::from(load.largest_bytes()));
            let bytes = witness.read_bytes + witness.write_bytes;
            (bytes > expected || bytes + largest <= expected)
                .then(|| format!("{bytes} B instead of {expected}"))
        }
        Length::Seconds(seconds) => {
            let expected = seconds * MINUTE_NS / 60 / SCALE;
            let least = LEAST_PER_OUTSTANDING * u64::from(load.outstanding());
            // The count includes I/Os that were outstanding at the end.
            let extended = witness.commands() <= least + u64::from(load.outstanding());
            (ns != expected && !(extended && ns > expected))
                .then(|| format!("took {ns} ns instead of {expected}"))
        }
    }
}

fn demand(witness: &LoadRecorder, load: &Want) -> Option<String> {
    let (most, expected) = (witness.most_outstanding, load.outstanding());
    (most != expected).then(|| format!("{most} commands in flight instead of {expected}"))
}

/// Returns whether `count` out of `all` is consistent with `percent`.
fn is_share(count: u64, all: u64, percent: f64) -> bool {
    let (share, all) = (percent / 100.0, all as f64);
    (count as f64 - share * all).abs() <= SIGMAS * (share * (1.0 - share) * all).sqrt()
}

fn mix(witness: &LoadRecorder, load: &Want) -> Option<String> {
    let right = is_share(witness.reads, witness.commands(), f64::from(load.read_percent));
    (!right).then(|| format!("{:?} % reads", witness.read_percent()))
}

fn sizes(witness: &LoadRecorder, load: &Want) -> Option<String> {
    let share = |bytes| load.sizes.iter().find(|size| size.0 == bytes).map_or(0, |size| size.1);
    let wrong = |(&bytes, &count): (&u32, &u64)| {
        let right = is_share(count, witness.commands(), share(bytes).into());
        (!right).then_some(bytes)
    };
    let seen = || witness.sizes.iter().find_map(wrong);
    let missing = load
        .sizes
        .iter()
        .find(|size| !witness.sizes.contains_key(&size.0) && !is_share(0, witness.commands(), size.1.into()));
    seen().or(missing.map(|size| size.0)).map(|bytes| format!("the share of {bytes} B"))
}

/// Checks the access order and the alignment to the smallest size.
fn order(witness: &LoadRecorder, load: &Want, capacity: u64) -> Option<String> {
    let smallest = u64::from(load.sizes.iter().map(|size| size.0).min()?);
    if witness.alignment_bytes()? < smallest {
        return Some(format!("aligned to {:?} B", witness.alignment_bytes()));
    }
    let following = witness.consecutive as f64 / witness.commands() as f64;
    if !load.sequential {
        return (following > 0.05).then(|| format!("{following} of random I/Os follow each other"));
    }
    // Threads have separate sections, so I/Os are consecutive only if there is a single thread. A sequential
    // load starts where the previous load ended, which may be anywhere in the section.
    let begun = |thread| section(load, capacity, thread).any(|part| witness.parts[part] > 0);
    let untouched = (0..load.threads).find(|thread| !begun(*thread));
    (untouched.is_some() || (load.threads == 1 && following < 0.9))
        .then(|| format!("{following} follow each other, section {untouched:?} untouched"))
}

fn part(byte: u64, capacity: u64) -> usize {
    (u128::from(byte) * nandsim::PARTS as u128 / u128::from(capacity)) as usize
}

/// Returns the parts that a thread's section covers.
fn section(load: &Want, capacity: u64, thread: u16) -> RangeInclusive<usize> {
    let (thread, threads) = (u64::from(thread), u64::from(load.threads));
    match load.reach {
        Reach::Percent(percent) => {
            let cut = |thread: u64| capacity * percent / 100 * thread / threads;
            part(cut(thread), capacity)..=part(cut(thread + 1) - 1, capacity)
        }
        Reach::Segments => {
            let cut = |thread: u64| thread * (2048 / SCALE) / threads;
            let (first, last) = (segment(cut(thread), capacity), segment(cut(thread + 1) - 1, capacity));
            *first.start()..=*last.end()
        }
    }
}

/// Checks that the cells of a single sequential thread continue where the previous cell in the same direction
/// ended, and start over at the end of the range. With more than one thread, there is no common end position.
fn continued(seen: &[DriveStep], expected: &[Step], capacity: u64) -> Option<String> {
    let mut next = std::collections::BTreeMap::new();
    for (index, (seen, expected)) in seen.iter().zip(expected).enumerate() {
        let (DriveStep::Load { measured: true, witness, .. }, Step::Load(load)) = (seen, expected) else {
            continue;
        };
        let (1, Reach::Percent(percent)) = (load.threads, load.reach) else { continue };
        let block = u64::from(load.largest_bytes());
        let length = capacity * percent / 100 / block * block;
        let begin = next.get(&load.read_percent).copied().unwrap_or(0);
        let end = begin + witness.read_bytes + witness.write_bytes;
        next.insert(load.read_percent, end % length);
        let touched = if end > length { (0, length) } else { (begin, end) };
        if (witness.first_byte, witness.end_byte) != touched {
            let found = (witness.first_byte, witness.end_byte);
            return Some(format!("step {index} touches {found:?} instead of {touched:?}"));
        }
    }
    None
}

/// Returns the parts of one Active Range segment. The Active Range is 16 GiB in 2048 segments (both divided
/// by the scale), spaced evenly, with a stride in whole MiB.
fn segment(index: u64, capacity: u64) -> RangeInclusive<usize> {
    let (start, end) = segment_bytes(index, capacity);
    part(start, capacity)..=part(end - 1, capacity)
}

fn segment_bytes(index: u64, capacity: u64) -> (u64, u64) {
    let stride = capacity / (2048 / SCALE) / MIB * MIB;
    (index * stride, index * stride + 8 * MIB)
}

fn range(witness: &LoadRecorder, load: &Want, capacity: u64) -> Option<String> {
    let end = match load.reach {
        Reach::Percent(100) => capacity,
        Reach::Percent(percent) => capacity * percent / 100 / MIB * MIB,
        Reach::Segments => return segments(witness, load, capacity),
    };
    if witness.end_byte > end {
        return Some(format!("byte {} touched, the range ends at {end}", witness.end_byte));
    }
    // Do not expect the whole range to be touched before 2,000 random I/Os: the composite sends only one I/O in
    // five to the last 80 % of its range. In a short cell, sequential I/Os may not reach the end of the range.
    let enough = witness.commands() >= 2_000 && !load.sequential;
    let whole = matches!(load.length, Length::Fills(_));
    let far = witness.end_byte > end / 100 * 97 && witness.first_byte < end / 100 * 3;
    ((enough || whole) && !far)
        .then(|| format!("bytes {} to {} of {end}", witness.first_byte, witness.end_byte))
}

fn segments(witness: &LoadRecorder, load: &Want, capacity: u64) -> Option<String> {
    let count = 2048 / SCALE;
    let allowed: Vec<usize> = (0..count).flat_map(|index| segment(index, capacity)).collect();
    let stray = (0..nandsim::PARTS).find(|part| witness.parts[*part] > 0 && !allowed.contains(part));
    let prefix = witness.end_byte > segment_bytes(count - 1, capacity).1;
    let enough = witness.commands() >= 1_000 && !load.sequential;
    let hit = |index| segment(index, capacity).any(|part| witness.parts[part] > 0);
    let missed = (0..count).find(|index| enough && !hit(*index));
    (stray.is_some() || prefix || missed.is_some())
        .then(|| format!("segments: stray {stray:?}, prefix {prefix}, missed {missed:?}"))
}

#[test]
fn pts_c_1_0() {
    confirm("pts-c-1.0");
}

#[test]
fn pts_c_1_1() {
    confirm("pts-c-1.1");
}

#[test]
fn pts_c_1_2() {
    confirm("pts-c-1.2");
}

#[test]
fn pts_e_1_0() {
    confirm("pts-e-1.0");
}

#[test]
fn pts_e_1_1() {
    confirm("pts-e-1.1");
}

#[test]
fn pts_c_2_0() {
    confirm("pts-c-2.0");
}

#[test]
fn pts_e_2_0() {
    confirm("pts-e-2.0");
}
