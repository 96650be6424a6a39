use live::LiveSecond;

use super::*;
use crate::run_of_tests as run;

fn live(phase: Option<LivePhase>, second: u64, iops: &[f64]) -> Live {
    let second_of = |(index, iops): (usize, &f64)| LiveSecond {
        elapsed_seconds: index as f64 + 1.0,
        iops: *iops,
        bytes_per_second: 0.0,
        mean_latency_seconds: 0.0,
        max_latency_seconds: 0.0,
    };
    Live {
        run: "r".into(),
        time: Timestamp::from_second(second as i64).expect("a time"),
        test: None,
        phase,
        step: None,
        round: None,
        max_rounds: None,
        cell: None,
        cells: None,
        share_done: None,
        inactive_seconds: None,
        elapsed_seconds: Some(second as f64),
        left_seconds: None,
        left_is_estimate: false,
        test_left_min_seconds: None,
        test_left_max_seconds: None,
        temperature_celsius: None,
        host_limited: false,
        load_written_bytes: None,
        seconds: iops.iter().enumerate().map(second_of).collect(),
    }
}

#[test]
fn a_load_without_ios_is_no_activity_although_its_process_reports() {
    let of = |live: &Live| Activity::of(100, Some(live));
    let cell = Some(LivePhase::Cell);
    assert_ne!(of(&live(cell, 1, &[5.0])), of(&live(cell, 2, &[5.0, 5.0])));
    assert_eq!(of(&live(cell, 2, &[5.0, 0.0])), of(&live(cell, 3, &[5.0, 0.0, 0.0])));
    assert_eq!(of(&live(cell, 2, &[])), of(&live(cell, 3, &[])));
    assert_ne!(of(&live(cell, 2, &[])), of(&live(Some(LivePhase::Purge), 2, &[])));
}

#[test]
fn a_purge_is_active_while_its_process_reports_and_a_journal_while_it_grows() {
    let of = |bytes, live: &Live| Activity::of(bytes, Some(live));
    let purge = Some(LivePhase::Purge);
    assert_ne!(of(1, &live(purge, 1, &[])), of(1, &live(purge, 2, &[])));
    assert_eq!(of(1, &live(purge, 1, &[])), of(1, &live(purge, 1, &[])));
    assert_ne!(of(1, &live(None, 1, &[])), of(1, &live(None, 2, &[])));
    assert_ne!(Activity::of(1, None), Activity::of(2, None));
}

#[test]
fn a_library_that_does_not_exist_has_no_runs() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut observer = Observer::of(&dir.path().join("runs"));
    let look = observer.look(&Known::default(), Timestamp::UNIX_EPOCH).expect("empty");
    assert!(look.observed.is_empty() && observer.ended().expect("empty").is_empty());
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    assert!(Observer::of(&file).look(&Known::default(), Timestamp::UNIX_EPOCH).is_err());
}

#[test]
fn foreign_things_in_a_library_are_ignored_and_damaged_runs_are_failures() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    for name in ["lost+found", ".hidden", "empty", "bad", "linked"] {
        std::fs::create_dir(at(name)).expect("a folder");
    }
    std::fs::write(at("bad/journal"), "x").expect("written");
    std::fs::write(at("bad/run.json"), "{\"version\": 1}").expect("written");
    std::os::unix::fs::symlink(at("bad/journal"), at("linked/journal")).expect("a link");
    std::fs::write(at("library.journal"), "").expect("written");
    let look = Observer::of(dir.path()).look(&Known::default(), record::wall_now()).expect("a look");
    assert_eq!(look.observed.len(), 1, "{look:?}");
    let Observed { run, state, .. } = &look.observed[0];
    assert_eq!(run.id, "bad");
    assert!(
        matches!(state, State::Ended { about: Some(About::Failed(Failing::Unreadable { .. })), .. }),
        "{state:?}"
    );
}

#[test]
fn a_run_that_completes_nothing_needs_a_person_after_its_second_continuation() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_, mut journal) = record::Library::at(dir.path()).create(run::run_file("r")).expect("a run");
    let mut append = |event| drop(journal.append(event).expect("written"));
    append(Event::TestStarted { test: "iops".into() });
    append(Event::Interrupted { reason: "time limit".into() });
    for _ in 0..2 {
        append(Event::Resumed { gap_ns: 1 });
        append(Event::Interrupted { reason: "time limit".into() });
    }
    drop(journal);
    let look = Observer::of(dir.path()).look(&Known::default(), record::wall_now()).expect("a look");
    let state = look.observed[0].state.clone();
    let State::Ended { about: Some(About::NeedsPerson { test, question, reason, job }), .. } = state else {
        panic!("{state:?}")
    };
    assert_eq!((test.as_deref(), question, job), (Some("iops"), Question::Fruitless, None));
    assert_eq!(reason.as_deref(), Some("time limit"));
}
