//! Custom tests: the order of the workloads that they request, and the results that they compute.

#[path = "../../pts/tests/support/mod.rs"]
mod support;

use plans::{Plan, Preset};
use pts::exhibit::Cell;
use pts::{Context, Outcome, Profile, Task};
use record::{CustomTest, Settings, TargetFacts};
use support::{Fake, figures, run_on, target, titles};

fn custom(text: &str) -> CustomTest {
    let plan = Plan::read("p.toml", text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    plan.custom_tests.into_iter().next().expect("a custom test")
}

fn run(test: &CustomTest, target: &TargetFacts, settings: &Settings, bench: &mut Fake) -> Outcome {
    let profile = Profile::named("pts-e-2.0").unwrap();
    Task::Custom(test).run(&Context { profile, settings, target }, bench)
}

fn standard() -> Settings {
    Profile::named("pts-e-2.0").unwrap().settings(1)
}

#[test]
fn loops_are_run_in_their_order_after_purge_and_preconditioning() {
    let test = custom(
        r#"
[test.a]
purge = true
precondition = [{ capacities = 1, qd = 8 }, { rw = "randwrite", bs = "4KiB", at-most = 30, tc = 2 }]
rw = ["read", "randrw"]
rwmixread = [50]
bs = ["8KiB", "4KiB"]
tc = [2, 1]
qd = 4
runtime = 10
ramp_time = 5
"#,
    );
    let mut bench = Fake::new(|_, _| 1000);
    let outcome = run(&test, &target(512), &standard(), &mut bench);
    assert_eq!(outcome.stop, None);
    assert_eq!(
        bench.log,
        [
            "purge",
            "write SEQ 128KiB W AmountBytes(99999940608)",
            "write RND 4KiB W AmountBytes(200000000000)",
            "SEQ 8KiB R TC2 QD4",
            "SEQ 8KiB R TC1 QD4",
            "SEQ 4KiB R TC2 QD4",
            "SEQ 4KiB R TC1 QD4",
            "RND 8KiB 50/50 TC2 QD4",
            "RND 8KiB 50/50 TC1 QD4",
            "RND 4KiB 50/50 TC2 QD4",
            "RND 4KiB 50/50 TC1 QD4",
        ]
    );
    assert_eq!((bench.requested[0].queue_depth, bench.requested[1].threads), (8, 2));
    assert_eq!(bench.requested[1].regime.limit_ns, Some(30_000_000_000));
    assert!(bench.requested[2..].iter().all(|cell| cell.regime.ramp_ns == 5_000_000_000));
    assert_eq!(bench.run_ns, 80_000_000_000);
    assert_eq!(outcome.converged, None);
    assert_eq!((outcome.clause, outcome.header.requirement), (None, "NOT A PTS TEST"));
    assert!(outcome.modified[0].to_string().contains("is not a PTS test"), "{:?}", outcome.modified);
}

#[test]
fn shorter_cells_make_all_times_shorter() {
    let test = custom("[test.a]\nrw = \"randread\"\nbs = \"4KiB\"\nruntime = 120\nramp_time = 60\n");
    let mut bench = Fake::new(|_, _| 1000);
    let settings = Settings { cell_ns: 6_000_000_000, ..standard() };
    run(&test, &target(512), &settings, &mut bench);
    assert_eq!((bench.run_ns, bench.requested[0].regime.ramp_ns), (12_000_000_000, 6_000_000_000));
    assert_eq!(
        (bench.requested[0].threads, bench.requested[0].queue_depth),
        (settings.threads, settings.queue_depth)
    );
}

const TRACKED: &str =
    "[test.a]\nrw = [\"randread\", \"randwrite\"]\nbs = \"4KiB\"\ntrack = { rw = \"randwrite\" }\n";

#[test]
fn a_test_ends_at_steady_state_and_shows_the_window() {
    let test = custom(&format!("{TRACKED}rounds = \"steady\"\n"));
    let mut bench = Fake::new(|round, _| if round < 4 { 5000 / u64::from(round) } else { 1000 });
    let outcome = run(&test, &target(512), &standard(), &mut bench);
    assert_eq!((outcome.rounds, outcome.converged), (8, Some(true)));
    assert_eq!(
        (outcome.header.convergence.to_string().as_str(), outcome.header.rounds.as_str()),
        ("YES", "4-8")
    );
    assert!(
        matches!(figures(&outcome).rows[0].cells[0], Cell::Value(value) if (value - 1000.0).abs() < 1e-9)
    );
    assert!(
        titles(&outcome)
            .iter()
            .any(|title| title.starts_with("Steady State Measurement Window - RND 4KiB W"))
    );
}

#[test]
fn without_steady_state_a_test_ends_at_the_limit_and_reports_that() {
    let test = custom(&format!("{TRACKED}rounds = \"steady\"\n"));
    let mut bench = Fake::new(|round, _| 1000 + 800 * u64::from(round % 2));
    let outcome = run(&test, &target(512), &standard(), &mut bench);
    assert_eq!((outcome.rounds, outcome.converged), (25, Some(false)));
    assert!(outcome.notes[0].starts_with("SS NOT ACHIEVED"), "{:?}", outcome.notes);
}

#[test]
fn fixed_rounds_continue_after_steady_state_and_average_from_its_first_window() {
    let text = format!("{TRACKED}rounds = 25\naverage = 4\naverage-from = \"steady\"\n");
    // The first steady window is rounds 4 to 8; the drive is faster from round 8 on.
    let mut bench = Fake::new(|round, _| match round {
        1..4 => 9000 / u64::from(round),
        4..8 => 1000,
        _ => 1100,
    });
    let outcome = run(&custom(&text), &target(512), &standard(), &mut bench);
    assert_eq!((outcome.rounds, outcome.converged), (25, Some(true)));
    assert_eq!(outcome.window[0].1.first_round, 4);
    assert!(
        matches!(figures(&outcome).rows[0].cells[0], Cell::Value(value) if (value - 1000.0).abs() < 1e-9)
    );
    let remark = outcome.pages.iter().find_map(|page| page.remarks.first()).unwrap();
    assert_eq!(remark, "Mean of rounds 4-7.");
}

#[test]
fn cells_below_the_sector_size_are_skipped_and_a_test_without_other_cells_is_refused() {
    let some = custom("[test.a]\nrw = \"randread\"\nbs = [\"512\", \"4KiB\"]\n");
    let mut bench = Fake::new(|_, _| 1000);
    let outcome = run(&some, &target(4096), &standard(), &mut bench);
    assert_eq!((outcome.stop.clone(), bench.cells), (None, 1));
    assert!(
        outcome.modified.iter().any(|deviation| deviation.to_string().contains("all 0.5KiB cells skipped")),
        "{:?}",
        outcome.modified
    );
    let none = custom("[test.a]\nrw = \"randread\"\nbs = \"512\"\n");
    let stop = run(&none, &target(4096), &standard(), &mut Fake::new(|_, _| 1000)).stop.unwrap().to_string();
    assert!(stop.contains("sectors are larger than all its block sizes"), "{stop}");
}

#[test]
fn a_gap_is_reported_and_no_window_spans_it() {
    let test = custom(&format!("{TRACKED}rounds = \"steady\"\n"));
    let mut bench = Fake::new(|_, _| 1000);
    bench.gaps = vec![(3, 1)];
    let outcome = run(&test, &target(512), &standard(), &mut bench);
    assert_eq!((outcome.rounds, outcome.header.rounds.as_str()), (8, "4-8"));
    assert!(
        outcome.modified.iter().any(|deviation| deviation.to_string().contains("interrupted for 1 h")),
        "{:?}",
        outcome.modified
    );
}

#[test]
fn a_failing_drive_leaves_the_completed_measurements() {
    let test = custom(&format!("{TRACKED}rounds = 3\n"));
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(3);
    let outcome = run(&test, &target(512), &standard(), &mut bench);
    assert_eq!((outcome.rounds, outcome.converged), (1, None));
    assert!(outcome.stop.is_some() && outcome.notes[0].starts_with("NOT COMPLETE"), "{:?}", outcome.notes);
}

/// A drive that processes eight reads or two writes at a time, in 0.1 ms each.
fn parallel(bench: &mut Fake) {
    bench.latency_ns = Box::new(|_, w| {
        let at_once = if w.read_percent == 100 { 8 } else { 2 };
        u64::from(w.outstanding().max(at_once) / at_once) * 100_000
    });
}

#[test]
fn a_map_finds_the_knee_of_each_load_and_proposes_the_larger() {
    let map = Preset::named("map").unwrap().plan().custom_tests.remove(0);
    let mut bench = Fake::new(|_, w| {
        let at_once = if w.read_percent == 100 { 8 } else { 2 };
        u64::from(w.outstanding().min(at_once)) * 10_000
    });
    parallel(&mut bench);
    let outcome = run(&map, &target(512), &standard(), &mut bench);
    assert_eq!(bench.cells, 72);
    let names: Vec<&str> = outcome.key_figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["RND 4KiB R knee at TC 1 QD 8, proposed", "RND 4KiB W knee at TC 1 QD 2"]);
    assert_eq!(outcome.pages[0].title, "Demand Intensity - Knee");
    assert_eq!(figures(&outcome).rows.len(), 6);
}

#[test]
fn a_load_whose_cells_were_too_short_has_no_knee() {
    let map = Preset::named("map").unwrap().plan().custom_tests.remove(0);
    // With one I/O outstanding, no read completes.
    let mut bench =
        Fake::new(|_, w| if w.read_percent == 100 { u64::from(w.outstanding() - 1) * 10 } else { 10_000 });
    parallel(&mut bench);
    let outcome = run(&map, &target(512), &standard(), &mut bench);
    let names: Vec<&str> = outcome.key_figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["RND 4KiB W knee at TC 1 QD 1, proposed"]);
}

#[test]
fn a_tssdr_round_is_the_iops_round_of_the_pts() {
    let preset = Preset::named("tssdr").unwrap().plan().custom_tests.remove(0);
    let settings = Settings { threads: 8, queue_depth: 32, ..standard() };
    let mut own = Fake::new(|_, _| 1000);
    run(&preset, &target(512), &settings, &mut own);
    let mut pts = Fake::new(|_, _| 1000);
    run_on("iops", "pts-e-1.0", &target(512), &mut pts);
    let cells =
        |fake: &Fake| fake.log.iter().map(|line| line.split(" TC").next().unwrap().to_owned()).collect();
    let (own, pts): (Vec<String>, Vec<String>) = (cells(&own), cells(&pts));
    assert_eq!(own[..58], pts[..58], "purge, preconditioning and 56 cells in the same order");
}
