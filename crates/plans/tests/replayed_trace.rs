//! Tests that replay the steps of a trace: the requested workloads and idle times, and the results beside the original.

#[path = "../../pts/tests/support/mod.rs"]
mod support;

use plans::Plan;
use pts::exhibit::{Cell, Exhibit, Lines, Page, Table};
use pts::{Context, Outcome, Profile, Task};
use record::{CustomTest, Settings};
use support::{Fake, target, titles};

const PLAN: &str = r#"
[test.replay]
purge = true
precondition = { capacities = 1 }
runtime = 10

[[test.replay.steps]]
original = { seconds = 60, ios = 6000, bytes = 24576000, mean = 0.0005, max = 0.02, qd = 0.05 }
qd = 4
idle = 80
streams = [{ rw = "randread", bs = "4KiB", share = 75 }, { rw = "write", bs = "64KiB", share = 25 }]

[[test.replay.steps]]
original = { seconds = 60, ios = 0, bytes = 0 }

[[test.replay.steps]]
original = { seconds = 30, ios = 300, bytes = 1228800 }
streams = [{ rw = "write", bs = "4KiB", share = 100 }]
"#;

fn errors(text: &str) -> String {
    let errors = Plan::read("p.toml", text).expect_err("a wrong plan");
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn test() -> CustomTest {
    let plan = Plan::read("p.toml", PLAN).unwrap_or_else(|errors| panic!("{}", errors[0]));
    plan.custom_tests.into_iter().next().expect("a custom test")
}

fn run(bench: &mut Fake, cell_s: u64) -> Outcome {
    let profile = Profile::named("pts-e-2.0").unwrap();
    let settings = Settings { cell_ns: cell_s * 1_000_000_000, ..profile.settings(1) };
    Task::Custom(&test()).run(&Context { profile, settings: &settings, target: &target(512) }, bench)
}

fn page<'a>(outcome: &'a Outcome, title: &str) -> &'a Page {
    outcome.pages.iter().find(|page| page.title == title).unwrap_or_else(|| panic!("{:?}", titles(outcome)))
}

fn lines<'a>(outcome: &'a Outcome, title: &str) -> &'a Lines {
    let Exhibit::Lines(lines) = &page(outcome, title).exhibits[0] else { panic!("no lines") };
    lines
}

fn rows(table: &Table) -> Vec<(&str, Vec<Option<f64>>)> {
    let value = |cell: &Cell| match cell {
        Cell::Value(value) | Cell::HostLimited(value) => Some((value * 1e6).round() / 1e6),
        Cell::Absent(_) => None,
    };
    table.rows.iter().map(|row| (row.name.as_str(), row.cells.iter().map(value).collect())).collect()
}

#[test]
fn each_step_runs_its_streams_and_is_then_idle() {
    let mut bench = Fake::new(|_, _| 1000);
    let outcome = run(&mut bench, 60);
    assert_eq!(outcome.stop, None);
    assert_eq!(
        bench.log,
        [
            "purge",
            "write SEQ 128KiB W AmountBytes(99999940608)",
            "RND 4KiB to 64KiB 75/25 TC1 QD4",
            "idle 8000 ms",
            "idle 10000 ms",
            "SEQ 4KiB W TC1 QD32",
        ]
    );
    assert_eq!(bench.requested[1].kinds.len(), 2);
    assert_eq!((bench.run_ns, bench.idle_ns), (12_000_000_000, 18_000_000_000));
    assert_eq!(outcome.header.requirement, "NOT A PTS TEST");
    assert_eq!(
        outcome.outline,
        "purge; write 1X SEQ/128KiB; 3 steps of a trace, 10 s each with their idle time"
    );
    // Shorter cells shorten the steps and their idle times.
    let mut bench = Fake::new(|_, _| 1000);
    run(&mut bench, 6);
    assert_eq!((bench.run_ns, bench.idle_ns), (1_200_000_000, 1_800_000_000));
}

#[test]
fn results_refer_to_whole_steps_and_stand_beside_the_original() {
    let outcome = run(&mut Fake::new(|_, _| 1000), 60);
    let iops = lines(&outcome, "IOPS v Step");
    assert_eq!((iops.series[0].name.as_str(), iops.series[1].name.as_str()), ("Original", "Replay"));
    assert_eq!(iops.series[0].points, [(1.0, 100.0), (2.0, 0.0), (3.0, 10.0)]);
    // 1,000 IOPS during a fifth of the first step.
    assert_eq!(iops.series[1].points, [(1.0, 200.0), (2.0, 0.0), (3.0, 1000.0)]);
    // Response times of idle steps and unknown ones of the original are missing.
    let times = lines(&outcome, "Average Response Time v Step");
    assert_eq!(times.series[0].points, [(1.0, 0.5)]);
    assert_eq!(times.series[1].points, [(1.0, 0.1), (3.0, 0.1)]);
    let Exhibit::Table(all) = &page(&outcome, "Replay and Original").exhibits[0] else { panic!("no table") };
    assert_eq!(
        rows(all),
        [
            // 6,300 I/Os in 150 s; 400 IOPS are the mean of the three steps.
            ("IOPS", vec![Some(42.0), Some(400.0), Some(9.52381)]),
            ("Throughput", vec![Some(0.172032), Some(5.734_4), Some(33.333_333)]),
            ("Average Response Time", vec![Some(0.5), Some(0.1), Some(0.2)]),
            ("Maximum Response Time", vec![Some(20.0), Some(0.1), Some(0.005)]),
            // 0.05 during 60 of 150 s; 200 and 1,000 IOPS of 0.1 ms each in two of three steps.
            ("Outstanding I/Os", vec![Some(0.02), Some(0.04), Some(2.0)]),
        ]
    );
    let Exhibit::Table(steps) = &page(&outcome, "Steps 1 to 3 - Tabular Data").exhibits[0] else {
        panic!("no table")
    };
    assert_eq!(
        rows(steps)[1],
        ("2", vec![Some(0.0), Some(0.0), Some(0.0), Some(0.0), None, None, None, None, None, None])
    );
    let figures: Vec<_> =
        outcome.key_figures.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
    assert_eq!(figures[0], ("Rate", Some(400.0)));
}

#[test]
fn a_replay_that_stopped_shows_its_completed_steps() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(1);
    let outcome = run(&mut bench, 60);
    assert!(outcome.stop.is_some());
    assert_eq!(outcome.notes[0], "NOT COMPLETE: 2 of 3 steps are replayed");
    assert_eq!(lines(&outcome, "IOPS v Step").series[1].points, [(1.0, 200.0), (2.0, 0.0)]);
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(0);
    let outcome = run(&mut bench, 60);
    assert_eq!(outcome.key_figures[0].value, None);
}

#[test]
fn a_step_that_a_device_cannot_run_is_neither_skipped_nor_changed() {
    // The check before the run refuses what is requested here.
    let profile = Profile::named("pts-e-2.0").unwrap();
    let text = PLAN.replace("bs = \"4KiB\", share = 100", "bs = \"512\", share = 100");
    let plan = Plan::read("p.toml", &text).unwrap();
    let mut bench = Fake::new(|_, _| 1000);
    run_on_4kn(&plan.custom_tests[0], profile, &mut bench);
    let workload = bench.requested.last().unwrap();
    assert!(workload.validate(1 << 40, 4096).unwrap_err().to_string().contains("4096 B sectors"));
}

fn run_on_4kn(test: &CustomTest, profile: &'static Profile, bench: &mut Fake) {
    let settings = profile.settings(1);
    let outcome =
        Task::Custom(test).run(&Context { profile, settings: &settings, target: &target(4096) }, bench);
    assert_eq!((outcome.stop, bench.cells), (None, 2));
}

#[test]
fn steps_exclude_loops_and_are_checked() {
    let with = |line: &str| errors(&PLAN.replace("runtime = 10", &format!("runtime = 10\n{line}")));
    for line in ["rw = \"read\"", "qd = 4", "rounds = 2", "find-knee = true", "ramp_time = 1"] {
        let found = with(line);
        let key = line.split_once(' ').unwrap().0;
        assert!(
            found.contains(&format!("test.replay.{key}: does not apply to a test with steps")),
            "{found}"
        );
    }
    let found = errors(&PLAN.replace("share = 75", "share = 74"));
    assert!(found.contains("the shares of a step add up to 99 %"), "{found}");
    let found = errors(&PLAN.replace("idle = 80", "idle = 100"));
    assert!(found.contains("idle: 100 is out of range"), "{found}");
    let found = errors(&PLAN.replace("seconds = 30, ", ""));
    assert!(found.contains("needs seconds"), "{found}");
    let found = errors("[test.a]\n[[test.a.steps]]\noriginal = { seconds = 1, ios = 0, bytes = 0 }\n");
    assert!(found.contains("no step reads or writes"), "{found}");
    let found = errors("[test.a]\n[[test.a.steps]]\nqd = 1\n");
    assert!(found.contains("a step needs original"), "{found}");
}
