use proptest::prelude::*;

use super::*;
use crate::notice::{Failing, Verdict};

const RULES: Rules =
    Rules { stuck_after: Duration::from_secs(600), interrupted_after: Duration::from_secs(60) };

fn observed(run: &str, journal_bytes: u64, state: State) -> Observed {
    Observed { run: Subject::unknown(run), journal_bytes, state }
}

fn finished() -> About {
    About::Finished { verdict: Verdict::Steady, deviations: 0, accepted: None }
}

fn interrupted() -> About {
    About::Interrupted { test: Some("iops".into()), reason: None }
}

fn ended(about: About, seconds: u64) -> State {
    State::Ended { about: Some(about), since: Duration::from_secs(seconds) }
}

fn running(seconds: u64) -> State {
    State::Running { quiet: Duration::from_secs(seconds), phase: None }
}

/// Records conclusions as the memory does.
fn learn(known: &mut Known, conclusions: &[Conclusion]) -> Vec<String> {
    let mut ids = Vec::new();
    for conclusion in conclusions {
        if let Some((id, _)) = &conclusion.notice {
            known.noticed.insert(id.clone());
            ids.push(id.clone());
        }
        if let Some(bytes) = conclusion.settled {
            known.ended.insert(conclusion.run.id.clone(), bytes);
        }
    }
    ids
}

fn step(known: &mut Known, state: State, bytes: u64) -> Vec<String> {
    let conclusions = decide(known, &[observed("r", bytes, state)], &RULES);
    learn(known, &conclusions)
}

#[test]
fn a_run_is_reported_once_for_each_end() {
    let mut known = Known::default();
    assert_eq!(step(&mut known, running(0), 10), [""; 0]);
    assert_eq!(step(&mut known, ended(interrupted(), 59), 20), [""; 0], "it may be continued at once");
    assert_eq!(step(&mut known, ended(interrupted(), 60), 20), ["r:interrupted:20"]);
    assert_eq!(step(&mut known, ended(interrupted(), 99), 20), [""; 0]);
    assert_eq!(step(&mut known, running(0), 30), [""; 0]);
    assert_eq!(step(&mut known, ended(interrupted(), 60), 40), ["r:interrupted:40"]);
    assert_eq!(step(&mut known, ended(finished(), 0), 50), ["r:finished:50"]);
    assert_eq!(step(&mut known, ended(finished(), 900), 50), [""; 0]);
}

#[test]
fn a_run_is_stuck_once_for_each_length_of_its_journal() {
    let mut known = Known::default();
    assert_eq!(step(&mut known, running(599), 10), [""; 0]);
    assert_eq!(step(&mut known, running(600), 10), ["r:stuck:10"]);
    assert_eq!(step(&mut known, running(9000), 10), [""; 0]);
    assert_eq!(step(&mut known, running(601), 11), ["r:stuck:11"]);
}

#[test]
fn runs_that_nobody_waits_for_are_settled_without_a_notice() {
    let imported = State::Ended { about: None, since: Duration::ZERO };
    let conclusions = decide(&Known::default(), &[observed("r", 5, imported)], &RULES);
    assert_eq!((conclusions[0].settled, &conclusions[0].notice), (Some(5), &None));
}

#[test]
fn a_held_job_is_reported_once_for_each_start_and_in_place_of_its_run() {
    let held = |output_bytes| Held {
        run: Subject::unknown("r"),
        number: 7,
        reason: "the drive is hot".into(),
        output_bytes,
    };
    let jobs = |output_bytes| Jobs {
        held: vec![held(output_bytes)],
        queued: ["r".into(), "s".into()].into(),
        unknown: Vec::new(),
    };
    let mut known = Known { noticed: ["r:finished:9".into()].into(), ..Known::default() };
    let mut step = |jobs: &Jobs, now: i64| {
        let conclusions = jobs.decide(&known, at(now));
        for id in jobs.released(&known) {
            known.noticed.remove(&id);
        }
        let ids = learn(&mut known, &conclusions);
        assert!(known.noticed.contains("r:finished:9"), "{known:?}");
        assert!(!jobs.held.is_empty() || known.noticed.len() == 1, "nothing else is remembered: {known:?}");
        ids
    };
    assert_eq!(step(&jobs(10), 1), ["r:held:10:1"]);
    assert_eq!(step(&jobs(10), 2), [""; 0]);
    assert_eq!(step(&Jobs::default(), 3), [""; 0], "it was released");
    assert_eq!(step(&jobs(25), 4), ["r:held:25:4"], "it has started again");
    let released = Jobs { held: Vec::new(), ..jobs(25) };
    assert_eq!(step(&released, 5), [""; 0], "it was released");
    assert_eq!(step(&jobs(25), 6), ["r:held:25:6"], "it was held again before it started");
    assert_eq!(step(&jobs(30), 7), ["r:held:30:7"], "it was released, started and held between two looks");
    let about = &jobs(1).decide(&Known::default(), at(0))[0].notice.clone().expect("a notice").1;
    assert_eq!(about.event(), Event::NeedsPerson);
    for (run, state, is_superseded) in [
        ("s", ended(interrupted(), 900), true),
        ("s", ended(finished(), 900), false),
        ("s", running(900), false),
        ("t", ended(interrupted(), 900), false),
    ] {
        assert_eq!(jobs(1).supersede(&observed(run, 1, state.clone())), is_superseded, "{run}: {state:?}");
    }
}

/// If a campaign cannot be read, the jobs that may belong to it are not taken for released.
#[test]
fn a_job_of_a_campaign_that_cannot_be_read_remains_held() {
    let known = Known { noticed: ["r:held:10:1".into(), "s:held:10".into()].into(), ..Known::default() };
    let released = |queued: &[&str], unknown: &[&str]| {
        let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let queued = texts(queued).into_iter().collect();
        Jobs { held: Vec::new(), queued, unknown: texts(unknown) }.released(&known)
    };
    assert_eq!(released(&[], &["b.toml cannot be read"]), [""; 0]);
    assert_eq!(released(&["s"], &["b.toml cannot be read"]), ["s:held:10"]);
    assert_eq!(released(&[], &[]), ["r:held:10:1", "s:held:10"]);
}

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a time")
}

fn any_state() -> impl Strategy<Value = State> {
    let about = prop_oneof![
        Just(None),
        Just(Some(finished())),
        Just(Some(interrupted())),
        Just(Some(About::Failed(Failing::Drive { test: None, reason: None }))),
    ];
    prop_oneof![
        (0_u64..1200).prop_map(running),
        (about, 0_u64..120)
            .prop_map(|(about, since)| State::Ended { about, since: Duration::from_secs(since) }),
    ]
}

proptest! {
    /// For any sequence of observations, no notice is sent twice, every run that has ended for good is reported
    /// unless nobody is waiting for it, and the order of the runs in an observation does not matter.
    #[test]
    fn no_notice_is_sent_twice_and_none_is_forgotten(
        looks in prop::collection::vec(prop::collection::vec((0_u8..4, 0_u64..4, any_state()), 0..6), 1..12),
    ) {
        let mut known = Known::default();
        let mut sent = BTreeSet::new();
        for look in looks {
            let mut runs = BTreeSet::new();
            let once = look.into_iter().filter(|(run, ..)| runs.insert(*run));
            let look: Vec<Observed> =
                once.map(|(run, bytes, state)| observed(&format!("r{run}"), bytes, state)).collect();
            let conclusions = decide(&known, &look, &RULES);
            let reversed: Vec<Observed> = look.iter().rev().cloned().collect();
            let mut again = decide(&known, &reversed, &RULES);
            again.reverse();
            prop_assert_eq!(&again, &conclusions);
            for id in learn(&mut known, &conclusions) {
                prop_assert!(sent.insert(id.clone()), "{id} was sent twice");
            }
            for one in &look {
                let lasts = match &one.state {
                    State::Ended { about: Some(About::Interrupted { .. }), since } => *since >= RULES.interrupted_after,
                    State::Ended { .. } => true,
                    State::Running { .. } => false,
                };
                prop_assert!(!lasts || known.is_settled(&one.run.id, one.journal_bytes));
            }
            prop_assert!(decide(&known, &look, &RULES).is_empty());
        }
    }

    #[test]
    fn two_directories_of_one_run_cause_one_notice(bytes in 0_u64..9) {
        let look = [observed("r", bytes, ended(finished(), 0)), observed("r", bytes, ended(finished(), 0))];
        prop_assert_eq!(decide(&Known::default(), &look, &RULES).len(), 1);
    }
}
