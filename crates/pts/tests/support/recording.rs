//! A journal of the fake bench's results.

use pts::{Bench, Context, Outcome, Profile, Stop, Test};
use record::{Entry, Event, HostFacts, Note, Purged, RUN_FILE_VERSION, RunFile, Segment, Settings, Workload};

use crate::support::{Fake, target};

/// Records the results of the fake bench.
pub struct Recording {
    pub fake: Fake,
    pub entries: Vec<Entry>,
}

impl Recording {
    pub fn keep(&mut self, event: Event) {
        let seq = self.entries.len() as u64;
        self.entries.push(Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event });
    }
}

impl Bench for Recording {
    fn purge(&mut self) -> Result<Purged, Stop> {
        let purged = self.fake.purge()?;
        self.keep(Event::Purged(purged.clone()));
        Ok(purged)
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let segment = self.fake.write(workload)?;
        self.keep(Event::Preconditioned(segment.clone()));
        Ok(segment)
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let segment = self.fake.run(workload)?;
        self.keep(Event::Measured(segment.clone()));
        Ok(segment)
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.fake.idle(length_ns)?;
        self.keep(Event::Idled { length_ns });
        Ok(())
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        self.fake.note(note.clone())?;
        self.keep(Event::Noted(note));
        Ok(())
    }
}

pub fn run_file(test: &Test, profile: &Profile, settings: Settings) -> RunFile {
    RunFile {
        version: RUN_FILE_VERSION,
        id: "r".into(),
        created: jiff::Timestamp::UNIX_EPOCH,
        plateau_version: "0".into(),
        plateau_commit: None,
        command: Vec::new(),
        tests: vec![test.name.into()],
        profile: profile.name.into(),
        settings: Some(settings),
        target: target(512),
        host: HostFacts::default(),
        ceiling: None,
        placement: None,
        origin: None,
        handling: record::Handling::default(),
        plan: None,
        driving: None,
        concurrent: None,
        file_system: None,
        power: None,
        labels: record::Labels::default(),
        stated: record::Stated::default(),
    }
}

pub fn recorded_by(fake: Fake, test: &Test, run: RunFile) -> (RunFile, Vec<Entry>, Outcome) {
    let mut bench = Recording { fake, entries: Vec::new() };
    bench.keep(Event::TestStarted { test: test.name.into() });
    let outcome = (test.run)(&Context::of(&run).unwrap(), &mut bench);
    (run, bench.entries, outcome)
}
