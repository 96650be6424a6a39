//! The power used by a run on a file, measured by a program that acts as a meter.

mod support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use record::{Event, Power, PowerSubject};
use support::Bench;

const PLAN: &str = r#"
title = "One cell"
[test.one]
title = "One"
purpose = "measure something"
rw = ["randread"]
bs = ["4KiB"]
runtime = 60
rounds = 5
track = { rw = "randread", bs = "4KiB" }
"#;

/// A meter that prints the power stored in the `watts` file many times a second.
fn meter(bench: &Bench) -> PathBuf {
    let (path, watts) = (bench.path("meter"), bench.path("watts"));
    std::fs::write(&watts, "2.5\n").expect("a file");
    let script = format!(
        "#!/bin/sh\necho '# tolerance=1% resolution=0.1'\nwhile cat '{}'; do sleep 0.02; done\n",
        watts.display()
    );
    std::fs::write(&path, script).expect("a script");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
    path
}

fn arguments<'a>(plan: &'a str, target: &'a str, source: &'a str) -> Vec<&'a str> {
    vec![
        "run",
        "--plan",
        plan,
        target,
        "--size",
        "32MiB",
        "--cell-seconds",
        "0.3",
        "--power",
        source,
        "--power-idle",
        "1",
    ]
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().expect("a path in UTF-8")
}

#[test]
fn every_cell_of_a_run_has_its_power() {
    let bench = Bench::new();
    std::fs::write(bench.path("plan.toml"), PLAN).expect("a plan");
    let (plan, target) = (text(bench.path("plan.toml")), text(bench.path("target")));
    let source = format!("command:{}", meter(&bench).display());
    bench.ok(&arguments(&plan, &target, &source));
    let journal = bench.journal().expect("a run");
    let idle: Vec<&Power> = journal
        .entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::IdlePower { power, .. } => Some(power),
            _ => None,
        })
        .collect();
    let [idle] = idle[..] else { panic!("one idle power: {idle:?}") };
    assert!(idle.samples > 1 && idle.mean_microwatts == 2_500_000, "{idle:?}");
    assert_eq!(idle.tolerance_microwatts, Some(75_000), "1 % of 2.5 W and half of 0.1 W");
    let cells: Vec<Option<Power>> = journal
        .entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::Measured(segment) => Some(segment.power),
            _ => None,
        })
        .collect();
    assert_eq!(cells.len(), 5);
    assert!(cells.iter().flatten().all(|power| power.max_microwatts == 2_500_000), "{cells:?}");
    assert!(cells.iter().flatten().count() > 0, "{cells:?}");
    let id = bench.runs()[0].file_name().expect("a name").to_string_lossy().into_owned();
    let run = record::Library::at(bench.library()).find(&id);
    let facts = run.expect("a run").file.power.expect("a meter");
    assert_eq!((facts.source, facts.subject), (source, PowerSubject::Drive));
    let report = support::text(&bench.runs()[0].join("report.html"));
    assert!(report.contains("Idle: 2.500 ± 0.075 W"), "the report has the idle power");
    assert!(report.contains("IOPS/W"), "and the efficiency");
}

#[test]
fn a_meter_that_does_not_work_stops_the_run_before_it_begins() {
    let bench = Bench::new();
    std::fs::write(bench.path("plan.toml"), PLAN).expect("a plan");
    let (plan, target) = (text(bench.path("plan.toml")), text(bench.path("target")));
    let message = bench.fails(4, &arguments(&plan, &target, "command:/no/such/meter"));
    assert!(message.contains("/no/such/meter cannot be started (No such file"), "{message}");
    assert!(bench.runs().is_empty(), "no run began");
    let message = bench.fails(2, &arguments(&plan, &target, "volts"));
    assert!(message.contains("hwmon:NAME"), "{message}");
}

#[test]
fn a_simulated_drive_has_no_source_of_power() {
    let bench = Bench::new();
    let message =
        bench.fails(2, &["run", "iops", "sim:sas-slc-2011", "--scale", "1/4096", "--power", "rapl"]);
    assert!(message.contains("draws no power"), "{message}");
}

#[test]
fn a_plan_cannot_name_a_program() {
    let bench = Bench::new();
    let with_power = format!("{PLAN}\n[settings]\npower = \"command:/bin/true\"\n");
    std::fs::write(bench.path("plan.toml"), with_power).expect("a plan");
    let (plan, target) = (text(bench.path("plan.toml")), text(bench.path("target")));
    let message = bench.fails(2, &["run", "--plan", &plan, &target, "--size", "32MiB"]);
    assert!(message.contains("power"), "{message}");
    assert!(bench.runs().is_empty());
}

#[test]
fn a_program_in_a_run_that_others_can_write_is_not_started() {
    let bench = Bench::new();
    std::fs::write(bench.path("plan.toml"), PLAN).expect("a plan");
    let (plan, target) = (text(bench.path("plan.toml")), text(bench.path("target")));
    let source = format!("command:{}", meter(&bench).display());
    // Five cells of 2 s each; the run is killed after the first cell.
    let mut arguments = arguments(&plan, &target, &source);
    let seconds = arguments.iter().position(|argument| *argument == "0.3").expect("the length of a cell");
    arguments[seconds] = "2";
    let mut child = bench.start(&arguments);
    bench.wait_for("a cell", |journal| support::finished(journal) >= 1);
    child.kill().expect("it runs");
    child.wait().expect("it ran");
    let dir = bench.runs()[0].clone();
    let id = dir.file_name().expect("a name").to_string_lossy().into_owned();
    let identity = "target";
    std::fs::set_permissions(&dir, Permissions::from_mode(0o777)).expect("ours");
    let message = bench.fails(3, &["resume", &id, "--erase", identity]);
    assert!(message.contains("the power source recorded in it cannot be trusted"), "{message}");
    let other = bench.fails(2, &["resume", &id, "--erase", identity, "--power", "command:/bin/true"]);
    assert!(other.contains("continues with the power source it started with"), "{other}");
    std::fs::set_permissions(&dir, Permissions::from_mode(0o700)).expect("ours");
    bench.ok(&["resume", &id, "--erase", identity]);
    let journal = bench.journal().expect("a run");
    let idle = journal.entries.iter().filter(|entry| matches!(entry.event, Event::IdlePower { .. }));
    assert_eq!(idle.count(), 1, "the idle power is measured only at the start");
}
