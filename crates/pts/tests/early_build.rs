//! A run of an early build, which did not record the end of rounds, remains valid if this build resumes it.

#[path = "support/recording.rs"]
mod recording;
mod support;

use pts::{Bench, Context, Profile, Replay, Stop, TESTS};
use record::{Entry, Event, Note, Purged, Segment, Settings, Workload, check_order};
use recording::{Recording, recorded_by, run_file};
use support::Fake;

/// A run that continues after the records of an earlier process, as a session does.
struct Resumed {
    replay: Replay<'static>,
    recording: Recording,
}

impl Resumed {
    fn answer<T>(
        &mut self,
        recorded: Result<T, Stop>,
        live: impl FnOnce(&mut Recording) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        match recorded {
            Err(Stop::EndOfJournal) => live(&mut self.recording),
            answered => answered,
        }
    }
}

impl Bench for Resumed {
    fn purge(&mut self) -> Result<Purged, Stop> {
        let recorded = self.replay.purge();
        self.answer(recorded, Bench::purge)
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let recorded = self.replay.write(workload);
        self.answer(recorded, |live| live.write(workload))
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let recorded = self.replay.run(workload);
        self.answer(recorded, |live| live.run(workload))
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        let recorded = self.replay.idle(length_ns);
        self.answer(recorded, |live| live.idle(length_ns))
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        match self.replay.had_noted(&note) {
            true => self.recording.fake.note(note),
            false => self.recording.note(note),
        }
    }
}

fn fake() -> Fake {
    Fake::new(|round, w| 50_000 / u64::from(round.clamp(1, 3)) + u64::from(w.read_percent))
}

#[test]
fn a_run_without_the_ends_of_its_rounds_is_in_order_wherever_it_is_resumed() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    let mut resumptions = 0;
    for test in TESTS {
        let settings = Settings { cell_ns: 600_000_000, ..profile.settings(1) };
        let (run, recorded, _) = recorded_by(fake(), test, run_file(test, profile, settings));
        let opened = Entry { event: Event::Opened { run_sha256: String::new() }, ..recorded[0].clone() };
        let (mut early, mut ends) = (vec![opened], Vec::new());
        for entry in recorded {
            match entry.event {
                Event::Noted(Note::RoundsEnded) => ends.push(early.len()),
                _ => early.push(Entry { seq: early.len() as u64, ..entry }),
            }
        }
        for cut in ends.iter().flat_map(|end| end.saturating_sub(2)..=(end + 3).min(early.len())) {
            let replay = Replay::of(test.name, &early[..cut]).into_owned();
            let mut recording = Recording { fake: fake(), entries: early[..cut].to_vec() };
            recording.keep(Event::Resumed { gap_ns: 1 });
            let mut bench = Resumed { replay, recording };
            let outcome = (test.run)(&Context::of(&run).unwrap(), &mut bench);
            let mut recording = bench.recording;
            recording.keep(Event::TestEnded { test: test.name.into(), converged: outcome.converged });
            recording.keep(Event::Closed);
            assert_eq!(check_order(&run.tests, &recording.entries), Ok(()), "{} cut at {cut}", test.name);
            let verified = pts::verify::verify(&run, &recording.entries).unwrap();
            let differences = verified.into_iter().flat_map(|test| test.differences);
            let texts: Vec<String> = differences.map(|difference| difference.text).collect();
            assert_eq!(texts, [""; 0], "{} cut at {cut}", test.name);
            resumptions += 1;
        }
    }
    assert!(resumptions > 20, "{resumptions}");
}
