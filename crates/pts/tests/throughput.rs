//! The Throughput tests with a fake bench.

mod support;

use pts::exhibit::Cell;
use pts::{Profile, Stop, Test};
use record::Settings;
use support::{Fake, figures, run_on, run_with, target, titles};

#[test]
fn each_block_size_has_its_own_purge_preconditioning_and_rounds() {
    for (test, size, profile, written) in [
        ("tp-1024", "1024", "pts-e-1.0", "128"),
        ("tp-128", "128", "pts-e-1.0", "128"),
        ("tp-1024", "1024", "pts-e-1.1", "1024"),
        ("tp-1024", "1024", "pts-e-2.0", "1024"),
    ] {
        let mut bench = Fake::new(|_, _| 500);
        let outcome = run_on(test, profile, &target(512), &mut bench);
        assert_eq!(bench.log[0], "purge");
        assert!(bench.log[1].starts_with(&format!("write SEQ {written}KiB W Amount")), "{}", bench.log[1]);
        let demand = if profile == "pts-e-2.0" { "TC1 QD32" } else { "TC2 QD16" };
        let round = [format!("SEQ {size}KiB R {demand}"), format!("SEQ {size}KiB W {demand}")];
        let rounds: Vec<String> = round.iter().cycle().take(10).cloned().collect();
        assert_eq!(bench.log[2..], rounds, "{test} {profile}");
        assert_eq!((outcome.converged, outcome.pages.len()), (Some(true), 5));
        assert!(outcome.modified.is_empty(), "{:?}", outcome.modified);
    }
}

#[test]
fn preconditioning_has_the_demand_of_the_cells() {
    for (profile, demand) in [("pts-e-1.0", (2, 16)), ("pts-c-2.0", (1, 32))] {
        let mut bench = Fake::new(|_, _| 100);
        run_on("tp-1024", profile, &target(512), &mut bench);
        let of = |step: usize| (bench.requested[step].threads, bench.requested[step].queue_depth);
        assert_eq!((of(0), of(1)), (demand, demand), "{profile}");
    }
}

#[test]
fn each_direction_continues_where_it_ended_and_does_not_start_over() {
    let mut bench = Fake::new(|round, w| 100 + u64::from(round) + u64::from(w.read_percent));
    run_on("tp-1024", "pts-e-1.0", &target(512), &mut bench);
    let cells = &bench.requested[1..];
    let mut next = std::collections::BTreeMap::from([(100, 0), (0, 0)]);
    for (index, cell) in cells.iter().enumerate() {
        let next = next.get_mut(&cell.read_percent).unwrap();
        assert_eq!(cell.from_block, *next, "cell {index}");
        // Each of the two threads completed half of the I/Os, and had 16 more outstanding when the minute
        // ended.
        let completed = 60 * (100 + index as u64 / 2 + 1 + u64::from(cell.read_percent));
        *next += completed.div_ceil(2) + 16;
    }
    assert_eq!(bench.requested[0].from_block, 0, "preconditioning begins at the start");
    assert!(cells[8].from_block > cells[6].from_block && cells[6].from_block > 0);
}

#[test]
fn a_profile_says_which_block_sizes_tp_stands_for() {
    let names = |profile: &str| -> Vec<&str> {
        let tests = Test::all_named("tp", Profile::named(profile).unwrap()).unwrap();
        tests.into_iter().map(|test| test.name).collect()
    };
    assert_eq!(names("pts-c-1.0"), ["tp-1024"]);
    assert_eq!(names("pts-e-1.0"), ["tp-1024", "tp-128"]);
    assert_eq!(names("pts-e-2.0"), ["tp-1024", "tp-128"]);
    assert_eq!(Test::all_named("lat", Profile::named("pts-c-1.0").unwrap()).unwrap()[0].name, "lat");
    let outcome = run_on("tp-128", "pts-c-1.0", &target(512), &mut Fake::new(|_, _| 500));
    assert_eq!(pts::texts(&outcome.modified), ["Throughput of 128KiB is not part of PTS-C 1.0"]);
}

#[test]
fn figures_are_megabytes_of_the_window() {
    // Reads are constant; writes drop once, after round 3.
    let mut bench = Fake::new(|round, w| match w.read_percent {
        100 => 400,
        _ => {
            if round < 4 {
                900
            } else {
                100
            }
        }
    });
    let outcome = run_on("tp-1024", "pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.header.rounds, "4-8");
    assert_eq!(figures(&outcome).rows[0].cells, [Cell::Value(104.8576), Cell::Value(419.4304)]);
    assert_eq!(outcome.key_figures[0].name, "SEQ 1024KiB W");
    assert_eq!(
        titles(&outcome),
        [
            "Throughput - SS Convergence - Write",
            "Throughput - SS Convergence - Read",
            "Steady State Measurement Window - SEQ/1024KiB",
            "Throughput - ALL RW Mix & BS - Tabular Data",
            "Throughput - ALL RW Mix & BS - 2D Plot",
        ]
    );
}

#[test]
fn never_steady_stops_after_25_rounds() {
    let mut bench = Fake::new(|round, _| 1000 * u64::from(1 + round % 2));
    let outcome = run_on("tp-128", "pts-e-2.0", &target(512), &mut bench);
    assert_eq!(
        (outcome.converged, outcome.rounds, outcome.header.rounds.as_str()),
        (Some(false), 25, "21-25")
    );
    assert!(outcome.notes[0].starts_with("SS NOT ACHIEVED"), "{:?}", outcome.notes);
    assert!(outcome.notes[1].contains("exceeds its limit"), "{:?}", outcome.notes);
    assert_eq!(outcome.notes[1], outcome.explained[0].to_string());
}

#[test]
fn gaps_and_failures_follow_the_rules_of_rounds() {
    let mut bench = Fake::new(|_, _| 500);
    bench.gaps = vec![(2, 1)];
    assert_eq!(run_on("tp-128", "pts-e-1.0", &target(512), &mut bench).header.rounds, "3-7");
    let mut bench = Fake::new(|_, _| 500);
    bench.fail_after_cells = Some(3);
    let outcome = run_on("tp-128", "pts-e-1.0", &target(512), &mut bench);
    assert_eq!((outcome.stop, outcome.rounds), (Some(Stop::Failed("EIO".into())), 1));
}

#[test]
fn an_operator_who_chose_a_demand_gets_it() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    let settings = Settings { threads: 2, queue_depth: 8, ..profile.settings(1) };
    let mut bench = Fake::new(|_, _| 500);
    let outcome = run_with("tp-128", "pts-e-2.0", &settings, &target(512), &mut bench);
    assert_eq!(bench.log[2], "SEQ 128KiB R TC2 QD8");
    assert_eq!((outcome.header.threads, outcome.header.queue_depth), (Some(2), Some(8)));

    // TC 4 QD 32 is the profile's demand, but throughput uses it only if the operator chose it.
    for (demand_is_chosen, step) in [(false, "SEQ 128KiB R TC1 QD32"), (true, "SEQ 128KiB R TC4 QD32")] {
        let settings = Settings { demand_is_chosen, ..profile.settings(1) };
        let mut bench = Fake::new(|_, _| 500);
        run_with("tp-128", "pts-e-2.0", &settings, &target(512), &mut bench);
        assert_eq!(bench.log[2], step);
    }
}
