use super::*;
use crate::progress::view::Left;
use record::{Access, DataPattern, Health, Purged, Range, Regime};

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn tick(share_done: f64) -> Tick {
    Tick {
        elapsed_ns: SECOND_NS,
        interval_ns: SECOND_NS,
        read_ios: 0,
        write_ios: 1_000,
        syncs: 0,
        bytes: 131_072_000,
        latency_mean_ns: 250_000,
        latency_max_ns: 900_000,
        share_done,
    }
}

fn write(until: Until) -> Workload {
    Workload {
        access: Access::Sequential,
        read_percent: 0,
        block_bytes: 128 << 10,
        range: Range { start_bytes: 0, segments: 1, segment_bytes: 1 << 30, stride_bytes: 1 << 30 },
        from_block: 0,
        align_bytes: 0,
        until,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth: 1,
        data_pattern: DataPattern::Random,
        seed: 1,
        regime: Regime::default(),
        commands: None,
    }
}

#[test]
fn a_purge_that_reports_its_progress_has_a_remaining_time() {
    let mut facts = Facts::without_tests(true);
    assert_eq!(facts.view(at(0)), None);
    assert_eq!(facts.step(Step::Purge, at(10)), "purging");
    let view = facts.view(at(11)).unwrap();
    assert_eq!((view.phase, view.elapsed, view.left), (Phase::Purge, at(1), None));
    facts.share_done(0.25, at(30));
    let view = facts.view(at(40)).unwrap();
    // A quarter took 20 s, so the rest takes 60 s; 10 s of it have passed.
    assert_eq!((view.elapsed, view.left), (at(30), Some(Left::Known(at(50)))));
    let purged = Purged {
        method: "Sanitize".into(),
        name: None,
        pts_purge: true,
        start_ns: 0,
        end_ns: 80 * SECOND_NS,
        evidence: Vec::new(),
        samples_read: false,
    };
    assert_eq!(facts.event(&Event::Purged(purged), at(90)), ["purged by Sanitize in 1 min 20 s"]);
    assert_eq!(facts.view(at(91)), None);
}

#[test]
fn a_purge_without_progress_is_estimated_from_the_drive_or_an_earlier_run() {
    let mut facts = Facts { usual_purge: Some(at(60)), ..Facts::without_tests(true) };
    facts.step(Step::Purge, at(0));
    assert_eq!(facts.view(at(20)).unwrap().left, Some(Left::Expected(at(40))));
    assert_eq!(facts.view(at(61)).unwrap().left, Some(Left::Overdue));
    // The step belongs to the same purge, and the drive's estimate replaces the duration of an earlier purge.
    assert_eq!(facts.step(Step::PurgeStep("erasing"), at(70)), "erasing");
    facts.expected(at(120), at(70));
    let view = facts.view(at(100)).unwrap();
    assert_eq!((view.elapsed, view.left), (at(100), Some(Left::Expected(at(90)))));
}

#[test]
fn preconditioning_shows_its_rate_and_time_left() {
    let mut facts = Facts::without_tests(true);
    facts.begin(&write(Until::AmountBytes(1 << 30)), false, at(5));
    let view = facts.view(at(5)).unwrap();
    assert_eq!((view.phase, view.rate, view.left), (Phase::Precondition, None, None));
    facts.tick(&tick(0.1), at(6));
    let view = facts.view(at(6)).unwrap();
    assert_eq!(view.left, Some(Left::Known(at(9))));
    assert_eq!(view.rate.map(|rate| rate.bytes_per_second), Some(131_072_000.0));
    let health = Health { temperature_celsius: Some(41), ..Health::default() };
    facts.event(&Event::Health { at_ns: 0, health }, at(7));
    // A single missing reading does not erase the temperature.
    facts.event(&Event::Health { at_ns: 0, health: Health::default() }, at(7));
    assert_eq!(facts.view(at(8)).unwrap().temperature_celsius, Some(41));
}

#[test]
fn the_length_of_a_cell_is_known_before_its_first_second_is_over() {
    let mut facts = Facts::without_tests(true);
    facts.event(&Event::Noted(Note::RoundStarted { round: 3, cells: 56 }), at(0));
    facts.begin(&write(Until::DurationNs(60 * SECOND_NS)), true, at(0));
    let view = facts.view(at(0)).unwrap();
    assert_eq!((view.phase, view.cell), (Phase::Cell, Some((1, Some(56)))));
    assert_eq!((view.left, view.rate), (Some(Left::Known(at(60))), None));
    facts.begin(&write(Until::DurationNs(60 * SECOND_NS)), true, at(60));
    facts.tick(&tick(0.5), at(90));
    assert_eq!(facts.view(at(90)).unwrap().left, Some(Left::Known(at(30))));
    // The previous cell's rates do not apply to this cell.
    facts.begin(&write(Until::DurationNs(60 * SECOND_NS)), true, at(120));
    assert_eq!(facts.view(at(120)).unwrap().rate, None);
}

#[test]
fn the_window_follows_the_rounds_and_restarts_after_an_interruption() {
    let mut facts = Facts::without_tests(true);
    for round in 1..=5u32 {
        facts.event(&Event::Noted(Note::RoundStarted { round, cells: 1 }), at(0));
        facts.begin(&write(Until::DurationNs(SECOND_NS)), true, at(0));
        let enough = (round == 5).then_some(0.3);
        let variable = VariableJudgement {
            name: "RND 4KiB W".into(),
            value: 100.0 * f64::from(round),
            range_share: enough.map(|share| share * 4.0),
            slope_share: enough,
            steady: false,
        };
        let judgement = Judgement { round, steady: false, variables: vec![variable] };
        let lines = facts.event(&Event::Noted(Note::Judged(judgement)), at(0));
        assert!(lines[0].starts_with(&format!("round  {round}  RND 4KiB W")), "{lines:?}");
        let window = facts.view(at(0)).unwrap().window.unwrap();
        assert_eq!((window.rounds, window.slope_share), (round, enough));
    }
    facts.window = Some(Window { rounds: 5, ..Window::EMPTY });
    let lines = facts.event(&Event::Noted(Note::WindowRestarted { first_round: 6 }), at(0));
    assert_eq!(lines, ["interrupted: the steady-state window restarts at round 6"]);
    assert_eq!(facts.view(at(0)).unwrap().window, Some(Window::EMPTY));
}

#[test]
fn a_simulated_drive_has_no_estimate_before_its_first_progress() {
    let mut facts = Facts::without_tests(false);
    facts.begin(&write(Until::DurationNs(60 * SECOND_NS)), true, at(0));
    assert_eq!(facts.view(at(1)).unwrap().left, None);
    facts.tick(&tick(0.25), at(2));
    assert_eq!(facts.view(at(2)).unwrap().left, Some(Left::Known(at(6))));
    assert_eq!(facts.step(Step::Idle { length_ns: 60 * SECOND_NS }, at(3)), "idle for 1 min 00 s");
    assert_eq!(facts.view(at(3)).unwrap().left, None);
}

#[test]
fn judged_values_have_the_unit_of_the_test() {
    let variable = VariableJudgement {
        name: "RND 4KiB W".into(),
        value: 21_399.5,
        range_share: Some(0.007),
        slope_share: Some(0.001),
        steady: true,
    };
    let line = judgement_line(5, &variable, Forecast::TooFew, Some(Unit::Iops));
    assert_eq!(
        line,
        "round  5  RND 4KiB W 21,399.5 IOPS  range 0.7 \u{2264} 20 %  slope 0.1 \u{2264} 10 %  steady"
    );
    assert!(crate::terminal::columns(&line) <= 80);
}

/// A load reports every second, even if no I/O completes.
#[test]
fn only_ios_count_as_activity_during_a_load() {
    let mut facts = Facts::without_tests(true);
    assert_eq!(facts.inactive(at(1)), None);
    facts.begin(&write(Until::AmountBytes(1 << 30)), false, at(10));
    assert_eq!(facts.inactive(at(12)), Some(at(2)), "no I/O yet");
    facts.tick(&tick(0.1), at(13));
    let hung = Tick { write_ios: 0, ..tick(0.1) };
    (14..500).for_each(|second| facts.tick(&hung, at(second)));
    assert_eq!(facts.inactive(at(500)), Some(at(487)));
    facts.tick(&Tick { syncs: 1, ..hung }, at(501));
    assert_eq!(facts.inactive(at(501)), Some(at(0)));
    facts.step(Step::Purge, at(600));
    assert_eq!(facts.inactive(at(700)), None, "a purge does no I/O");
}
