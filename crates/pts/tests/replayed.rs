//! For every test with every profile, a replay of the journal yields the same outcome as the run itself,
//! whether the run is complete or was interrupted at any point.

#[path = "support/recording.rs"]
mod recording;
mod support;

use pts::exhibit::{Cell, Exhibit};
use pts::{Outcome, PROFILES, Profile, Stop, TESTS, Test};
use record::{Entry, Event, Note, RunFile, Settings};
use recording::{recorded_by, run_file};
use support::Fake;

fn recorded(test: &Test, profile: &'static Profile) -> (RunFile, Vec<Entry>, Outcome) {
    // Short cells are enough: a 22-hour series in steps of one second would test no more than one of a few
    // minutes.
    let settings = Settings { cell_ns: 600_000_000, ..profile.settings(1) };
    let mut fake = Fake::new(|round, w| 50_000 / u64::from(round.clamp(1, 3)) + u64::from(w.read_percent));
    fake.gaps = vec![(2, 1)];
    recorded_by(fake, test, run_file(test, profile, settings))
}

#[test]
fn a_replay_gives_the_same_outcome() {
    for test in TESTS {
        for profile in PROFILES {
            let (run, entries, outcome) = recorded(test, profile);
            assert_eq!(outcome.stop, None, "{} {}", test.name, profile.name);
            let replayed = pts::replay(&run, &entries).unwrap();
            assert_eq!(replayed.outcomes, [outcome], "{} {}", test.name, profile.name);
        }
    }
}

#[test]
fn a_journal_cut_anywhere_has_an_outcome_with_all_pages() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    for test in TESTS {
        let (run, entries, whole) = recorded(test, profile);
        let step = (entries.len() / 40).max(1);
        for length in (1..entries.len()).step_by(step).chain([entries.len() - 1]) {
            let cut = pts::replay(&run, &entries[..length]).unwrap().outcomes.remove(0);
            let titles = support::titles;
            assert_eq!(titles(&cut), titles(&whole), "{} cut at {length}", test.name);
            let notes_only = entries[length..].iter().all(|e| matches!(e.event, Event::Noted(_)));
            if !notes_only {
                assert_eq!(cut.stop, Some(Stop::EndOfJournal), "{} cut at {length}", test.name);
                assert!(cut.notes.iter().any(|note| note.starts_with("NOT COMPLETE")), "{:?}", cut.notes);
            }
        }
    }
}

#[test]
fn numbers_of_a_busy_host_are_marked_and_noted() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    let test = Test::named("iops").unwrap();
    let mut fake = Fake::new(|_, _| 50_000);
    fake.processor_share = Some(|w| if w.read_percent == 100 && w.block_bytes == 512 { 0.71 } else { 0.69 });
    let (run, entries, _) = recorded_by(fake, test, run_file(test, profile, profile.settings(1)));
    let outcome = pts::replay(&run, &entries).unwrap().outcomes.remove(0);
    // This fake host's response times do not match any queue depth.
    let [note, shallow] = &outcome.notes[..] else { panic!("{:?}", outcome.notes) };
    assert!(
        shallow.starts_with("QUEUE DEPTH NOT MAINTAINED: in 275 of 280 cells, less than 90 %"),
        "{shallow}"
    );
    assert!(note.starts_with("HOST-LIMITED: 5 of 280 cells used more than 70 %"), "{note}");
    assert!(note.ends_with("RND 0.5KiB R (71 %)"), "{note}");
    let tables = outcome.pages.iter().flat_map(|page| &page.exhibits).filter_map(|exhibit| match exhibit {
        Exhibit::Table(table) => Some(table),
        _ => None,
    });
    let cells: Vec<&Cell> = tables.flat_map(|table| &table.rows).flat_map(|row| &row.cells).collect();
    let marked: Vec<_> = cells.iter().filter(|cell| matches!(cell, Cell::HostLimited(_))).collect();
    assert_eq!(marked, [&&Cell::HostLimited(50_000.0)]);
}

#[test]
fn numbers_and_key_figures_with_a_marked_cell_are_marked() {
    for profile in ["pts-e-1.1", "pts-e-2.0"].map(|name| Profile::named(name).unwrap()) {
        for test in TESTS {
            let marks = |share: f64| {
                let mut fake = Fake::new(|_, _| 50_000);
                fake.processor_share = Some(if share > 0.7 { |_| 0.71 } else { |_| 0.69 });
                let file = run_file(test, profile, profile.settings(1));
                let (run, entries, _) = recorded_by(fake, test, file);
                let outcome = pts::replay(&run, &entries).unwrap().outcomes.remove(0);
                assert_eq!(outcome.host_limited.is_some(), share > 0.7, "{} {}", test.name, profile.name);
                // Access patterns are requested rather than measured.
                let measured = outcome.pages.iter().filter(|page| !page.title.starts_with("Access Pattern"));
                let tables = measured.flat_map(|page| &page.exhibits).filter_map(|e| match e {
                    Exhibit::Table(table) => Some(table),
                    _ => None,
                });
                for cell in tables.flat_map(|table| &table.rows).flat_map(|row| &row.cells) {
                    let is_right = match cell {
                        Cell::HostLimited(_) => share > 0.7,
                        Cell::Value(_) => share < 0.7,
                        Cell::Absent(_) => true,
                    };
                    assert!(is_right, "{} {}: {cell:?}", test.name, profile.name);
                }
                let figures = outcome.key_figures.into_iter().filter(|figure| figure.value.is_some());
                figures.map(|figure| figure.host_limited).collect::<Vec<_>>()
            };
            let (busy, idle) = (marks(0.71), marks(0.69));
            assert!(!busy.is_empty() && busy.iter().all(|mark| *mark), "{} {}", test.name, profile.name);
            assert!(idle.iter().all(|mark| !mark), "{} {}", test.name, profile.name);
        }
    }
    let mut fake = Fake::new(|_, _| 50_000);
    fake.processor_share = Some(|w| if w.read_percent == 100 && w.block_bytes == 4096 { 0.71 } else { 0.69 });
    let (test, profile) = (Test::named("iops").unwrap(), Profile::named("pts-e-2.0").unwrap());
    let (run, entries, _) = recorded_by(fake, test, run_file(test, profile, profile.settings(1)));
    let outcome = pts::replay(&run, &entries).unwrap().outcomes.remove(0);
    let marked: Vec<&str> = outcome
        .key_figures
        .iter()
        .filter(|figure| figure.host_limited)
        .map(|figure| figure.name.as_str())
        .collect();
    assert_eq!(marked, ["RND 4KiB R"]);
    assert_eq!(outcome.host_limited.as_deref(), Some("5 of 280 cells"));
}

#[test]
fn a_request_other_than_the_recorded_one_is_refused() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    for test in TESTS {
        let (mut run, entries, _) = recorded(test, profile);
        run.settings.as_mut().unwrap().seed += 1;
        let problem = pts::replay(&run, &entries).unwrap_err();
        assert!(problem.contains("does not match"), "{problem}");
    }
}

fn ended(test: &Test, entries: &mut Vec<Entry>, outcome: &Outcome) {
    let event = Event::TestEnded { test: test.name.into(), converged: outcome.converged };
    entries.push(Entry { seq: entries.len() as u64, wall: jiff::Timestamp::UNIX_EPOCH, event });
}

fn differences(run: &RunFile, entries: &[Entry]) -> Vec<String> {
    let verified = pts::verify::verify(run, entries).unwrap();
    verified.into_iter().flat_map(|test| test.differences).map(|difference| difference.text).collect()
}

#[test]
fn recorded_verdicts_are_verified() {
    for test in TESTS {
        for profile in PROFILES {
            let (run, mut entries, outcome) = recorded(test, profile);
            ended(test, &mut entries, &outcome);
            assert_eq!(differences(&run, &entries), [""; 0], "{} {}", test.name, profile.name);
        }
    }
}

#[test]
fn differing_records_are_found() {
    let (test, profile) = (Test::named("iops").unwrap(), Profile::named("pts-e-2.0").unwrap());
    let (run, mut entries, outcome) = recorded(test, profile);
    ended(test, &mut entries, &outcome);
    let judged = |e: &Entry| matches!(e.event, Event::Noted(Note::Judged(_)));
    let found = |change: &dyn Fn(&mut Vec<Entry>)| {
        let mut changed = entries.clone();
        change(&mut changed);
        differences(&run, &changed).join("; ")
    };
    let last = entries.iter().rposition(judged).unwrap();
    let text = found(&|all| drop(all.remove(last)));
    assert!(text.contains("this build finds round") && text.contains("contains no verdict"), "{text}");
    let text = found(&|all| all.push(Entry { event: entries[last].event.clone(), ..all[0].clone() }));
    assert_eq!(text, "", "records after the end do not belong to the test");
    let text = found(&|all| all.insert(last, all[last].clone()));
    assert!(text.contains("this build evaluates no round here"), "{text}");
    let measured = entries.iter().rposition(|e| matches!(e.event, Event::Measured(_))).unwrap();
    let text = found(&|all| drop(all.remove(measured)));
    assert!(text.contains("this build would continue it"), "{text}");
    let text = found(&|all| all.insert(measured, all[measured].clone()));
    assert!(text.contains("before its last recorded result"), "{text}");
    let text = found(&|all| drop(all.remove(measured - 5)));
    assert!(text.contains("does not match"), "{text}");
}

#[test]
fn an_interrupted_run_is_verified_up_to_its_end() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    for test in TESTS {
        let (run, entries, _) = recorded(test, profile);
        let step = (entries.len() / 40).max(1);
        for length in (1..entries.len()).step_by(step).chain([entries.len() - 1]) {
            assert_eq!(differences(&run, &entries[..length]), [""; 0], "{} cut at {length}", test.name);
        }
    }
}
