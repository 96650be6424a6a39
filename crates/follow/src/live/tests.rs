use record::{CustomAverage, CustomFigure, Judgement, VariableJudgement};

use super::*;

fn journal(events: Vec<Event>) -> Vec<Entry> {
    let wall = jiff::Timestamp::UNIX_EPOCH;
    events.into_iter().enumerate().map(|(seq, event)| Entry { seq: seq as u64, wall, event }).collect()
}

fn judged(round: u32, shares: Option<(f64, f64)>) -> Event {
    let steady = shares.is_some();
    Event::Noted(Note::Judged(Judgement {
        round,
        steady,
        variables: vec![VariableJudgement {
            name: "RND 4KiB W".into(),
            value: 100.0,
            range_share: shares.map(|shares| shares.0),
            slope_share: shares.map(|shares| shares.1),
            steady,
        }],
    }))
}

#[test]
fn nothing_is_known_about_a_window_that_has_restarted() {
    let explained = Explanation {
        variable: "RND 4KiB W".into(),
        latest: 100.0,
        window: None,
        diagnosis: None,
        forecast: Some(Forecast::Round(9)),
    };
    let shown = |events: &[Event]| {
        let mut found = variables(Some("iops"), &journal(events.to_vec()), std::slice::from_ref(&explained));
        assert_eq!(found.len(), 1);
        found.remove(0)
    };
    let mut events = vec![Event::TestStarted { test: "iops".into() }];
    events.extend((1..5).map(|round| judged(round, None)));
    events.push(judged(5, Some((0.1, 0.05))));
    let full = shown(&events);
    assert_eq!((full.values.len(), full.shares, full.steady), (5, Some((0.1, 0.05)), true));
    assert_eq!((full.forecast, full.text.is_empty()), (Some(9), false));
    events.push(Event::Noted(Note::WindowRestarted { first_round: 7 }));
    let restarted = shown(&events);
    assert_eq!((restarted.values.len(), restarted.shares, restarted.steady), (0, None, false));
    assert_eq!((restarted.forecast, restarted.text.as_str()), (None, ""));
    events.push(judged(7, None));
    let again = shown(&events);
    assert_eq!((again.values.len(), again.shares, again.steady), (1, None, false));
    assert_eq!(again.forecast, Some(9), "explanations are about the current window again");
}

#[test]
fn a_test_of_a_hard_disk_counts_its_zones_and_has_no_steady_state() {
    assert_eq!(FixedRounds::of("hdd-iops"), Some(FixedRounds { name: "zone", count: 128 }));
    assert_eq!((FixedRounds::of("iops"), FixedRounds::of("of a plan")), (None, None));
    let sentence = window_sentence(&[], "hdd-iops", &[]);
    assert_eq!(sentence, "The test consists of 128 zones; it has no steady state.");
    assert!(window_sentence(&[], "iops", &[]).contains("5 more rounds"));
}

#[test]
fn a_custom_test_has_the_rounds_and_parts_of_its_plan() {
    let sweep = CustomTest {
        name: "sweep".into(),
        title: "Sweep".into(),
        purpose: "see more".into(),
        purge: false,
        precondition: Vec::new(),
        streams: Vec::new(),
        cells: Vec::new(),
        steps: Vec::new(),
        rounds: CustomRounds::Fixed(1),
        tracked: Vec::new(),
        figure: CustomFigure::Iops,
        average: CustomAverage { rounds: 1, from_steady: false },
        finds_knee: false,
    };
    let tracked = CustomTest { name: "tracked".into(), purge: true, tracked: vec![0], ..sweep.clone() };
    let steady = CustomTest { name: "steady".into(), rounds: CustomRounds::UntilSteady, ..tracked.clone() };
    let custom = [sweep, tracked, steady];
    let rounds = |test: &str| FixedRounds::among(&custom, test).map(|fixed| fixed.count);
    assert_eq!(["sweep", "tracked", "steady", "hdd-iops"].map(rounds), [Some(1), Some(1), None, Some(128)]);
    let sentence = |test: &str| window_sentence(&custom, test, &[]);
    assert_eq!(sentence("sweep"), "The test consists of 1 round; it has no steady state.");
    assert!(sentence("tracked").contains("5 more rounds") && sentence("steady").contains("5 more rounds"));
    assert_eq!(parts(&custom, "sweep"), [(2, "measurement")]);
    assert_eq!(parts(&custom, "tracked"), [(0, "purge"), (2, "measurement")]);
    assert_eq!((parts(&custom, "iops").len(), parts(&custom, "hdd-iops").len()), (3, 0));
    let purge = |test: &str| Phase::Purge { test: test.into() };
    let first = Phase::Preconditioning { test: "sweep".into() };
    assert_eq!((begun(purge("sweep"), &custom), begun(purge("tracked"), &custom)), (first, purge("tracked")));
}
