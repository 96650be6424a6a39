//! Plan files: the content of valid plans, and the exact error messages for invalid plans.

use plans::Plan;
use plans::settings::RunSettings;
use record::{Access, CustomRounds};

fn errors(text: &str) -> Vec<String> {
    Plan::read("plan.toml", text).expect_err(text).iter().map(ToString::to_string).collect()
}

#[test]
fn a_plan_is_read_completely() {
    let plan = Plan::read(
        "folder/mine.toml",
        r#"
title = "Mine"
profile = "PTS-C-1.0"
tests = ["iops", "tp", "sweep"]

[settings]
tc = 2
cell-seconds = 0.5
ar-amount = "8GiB"
sim-fault = ["media:at=25%,length=1MiB"]

[publisher]
sponsor = "Us"
notes = ["one", "two"]

[test.sweep]
rw = ["randread", "randrw"]
rwmixread = [65, 0]
bs = ["8KiB", "0.5KiB"]
qd = [1, 2]
order = ["qd", "rw"]
runtime = 10
ramp_time = 2.5
rounds = 7
track = { rw = "randwrite", bs = "8KiB", qd = 2 }
average = 3
average-from = "steady"
"#,
    )
    .unwrap();
    assert_eq!((plan.name.as_str(), plan.title.as_str()), ("mine", "Mine"));
    assert_eq!(plan.profile.as_deref(), Some("pts-c-1.0"));
    let mut run = RunSettings::of(pts::PROFILES[0].settings(1));
    run.apply(&plan.settings).unwrap();
    assert_eq!((run.settings.threads, run.settings.cell_ns), (2, 500_000_000));
    assert_eq!(run.settings.active_range_amount_bytes, Some(8 << 30));
    assert_eq!(run.sim_faults.unwrap(), ["media:at=25%,length=1MiB"]);
    assert_eq!(plan.publisher.notes, ["one", "two"]);
    let sweep = plan.custom_test("sweep").unwrap();
    let cells: Vec<_> =
        sweep.cells.iter().map(|c| (c.queue_depth.unwrap(), c.read_percent, c.block_bytes)).collect();
    assert_eq!(
        cells,
        [
            (1, 100, 8192),
            (1, 100, 512),
            (1, 65, 8192),
            (1, 65, 512),
            (1, 0, 8192),
            (1, 0, 512),
            (2, 100, 8192),
            (2, 100, 512),
            (2, 65, 8192),
            (2, 65, 512),
            (2, 0, 8192),
            (2, 0, 512)
        ]
    );
    assert_eq!(sweep.tracked, [10]);
    assert_eq!((sweep.cells[0].run_ns, sweep.cells[0].ramp_ns), (10_000_000_000, 2_500_000_000));
    assert_eq!((sweep.rounds, sweep.average.rounds), (CustomRounds::Fixed(7), 3));
    assert!(sweep.cells.iter().all(|cell| cell.access == Access::Random && cell.threads.is_none()));
}

const WRONG: &[(&str, &str)] = &[
    ("tests = [\"iops\"", "plan.toml:1:16: unclosed array, expected `]`"),
    ("test = [\"iops\"]", "plan.toml:1:8: test: expected a table, found an array"),
    ("tets = [\"iops\"]", "plan.toml:1:1: tets: unknown key; did you mean 'tests'?"),
    (
        "colour = 1",
        "plan.toml:1:1: colour: unknown key; available keys: title, about, not-pts, profile, tests, \
         settings, publisher, test",
    ),
    ("tests = [\"ipos\"]", "plan.toml:1:10: tests: no test 'ipos'; did you mean 'iops'?"),
    ("tests = [\"lat\", \"lat\"]", "plan.toml:1:17: tests: duplicate test 'lat'"),
    (
        "title = \"none\"",
        "plan.toml:1:1: tests: no tests listed and no custom test defined; add some, such as tests = \
         [\"iops\"]",
    ),
    (
        "tests = [\"iops\"]\nprofile = \"pts-e-3.0\"",
        "plan.toml:2:11: profile: no profile 'pts-e-3.0'; available profiles: pts-c-1.0, pts-e-1.0, \
         pts-c-1.1, pts-c-1.2, pts-e-1.1, pts-c-2.0, pts-e-2.0",
    ),
    (
        "tests = [\"iops\"]\n[settings]\ntc = 0",
        "plan.toml:3:6: settings.tc: 0 is out of range: a load needs at least one thread, and each thread costs \
         CPU time; use 1 to 256 (nearest: 1)",
    ),
    (
        "tests = [\"iops\"]\n[settings]\nqd = 70000",
        "plan.toml:3:6: settings.qd: 70000 is out of range: a thread needs at least one I/O, and each I/O needs a \
         buffer; use 1 to 1024 (nearest: 1024)",
    ),
    (
        "tests = [\"iops\"]\n[settings]\ncell_seconds = 5",
        "plan.toml:3:1: settings.cell_seconds: unknown key; did you mean 'cell-seconds'?",
    ),
    (
        "tests = [\"iops\"]\n[settings]\ntc = \"4\"",
        "plan.toml:3:6: settings.tc: expected an integer, found a string",
    ),
    (
        "tests = [\"iops\"]\n[settings]\nerase = \"S3RIAL\"",
        "plan.toml:3:1: settings.erase: a plan cannot confirm the loss of data; specify --erase for each run",
    ),
    (
        "tests = [\"iops\"]\n[settings]\nmax-rounds = 9\nkeep-going = true",
        "plan.toml:4:1: settings.keep-going: cannot be used with max-rounds",
    ),
    (
        "tests = [\"iops\"]\n[settings]\nwrite-cache = \"of\"",
        "plan.toml:3:15: settings.write-cache: unknown value \"of\"; expected one of \"profile\", \"keep\", \
         \"on\", \"off\"",
    ),
    (
        "[test.Mine]\nrw = \"read\"\nbs = \"4KiB\"",
        "plan.toml:1:7: test.Mine: use up to 31 lowercase letters, digits and hyphens",
    ),
    (
        "[test.lat]\nrw = \"read\"\nbs = \"4KiB\"",
        "plan.toml:1:7: test.lat: 'lat' is a PTS test; choose another name",
    ),
    ("[test.a]\nbs = \"4KiB\"", "plan.toml:1:7: test.a.rw: is missing; add it, such as rw = \"randread\""),
    (
        "[test.a]\nrw = \"randraed\"\nbs = \"4KiB\"",
        "plan.toml:2:6: test.a.rw: unknown value \"randraed\"; expected one of \"read\", \"write\", \"rw\", \
         \"randread\", \"randwrite\", \"randrw\"",
    ),
    (
        "[test.a]\nrw = \"randrw\"\nbs = \"4KiB\"",
        "plan.toml:1:7: test.a.rwmixread: is missing: rw and randrw need percentages of reads",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = [\"4KiB\", \"700\"]",
        "plan.toml:3:15: test.a.bs: 700: an I/O must be a multiple of 512 B, up to 16 MiB; the nearest is \
         1024 B",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = \"4KiB\"\ndemand = \"8-2\"",
        "plan.toml:4:10: test.a.demand: \"8-2\" is not a demand; use \"8x2\" for TC 8 and QD 2",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = \"4KiB\"\nqd = 4\ndemand = \"8x2\"",
        "plan.toml:5:1: test.a.demand: replaces tc and qd; remove them",
    ),
    (
        "[test.a]\nrw = [\"read\", \"write\"]\nbs = \"4KiB\"\nrounds = \"steady\"",
        "plan.toml:1:7: test.a.track: is missing: specify which cells determine steady state, such as \
         track = { rw = \"randwrite\", bs = \"4KiB\" }",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = [\"4KiB\", \"8KiB\"]\ntrack = { rw = \"read\" }",
        "plan.toml:4:1: test.a.track: 2 cells match; also specify rw, rwmixread, bs, tc or qd",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = \"4KiB\"\ntrack = { blocks = \"4KiB\" }",
        "plan.toml:4:11: test.a.track: unknown key 'blocks'; available keys: rw, rwmixread, bs, tc, qd",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = \"4KiB\"\nrounds = 4\naverage = 5",
        "plan.toml:5:1: test.a.average: 5 rounds requested, but the test has only 4; use at most 4",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = \"4KiB\"\nruntime = 0",
        "plan.toml:4:11: test.a.runtime: 0 is out of range: a cell is 60 s in the PTS; use 0.01 to 86400 \
         (nearest: 0.01)",
    ),
    (
        "[test.a]\nrw = \"read\"\nbs = \"4KiB\"\nprecondition = { rw = \"randread\" }",
        "plan.toml:4:23: test.a.precondition: rw: preconditioning must be \"write\" or \"randwrite\"",
    ),
    (
        "tests = [\"iops\"]\n[test.a]\nrw = \"read\"\nbs = \"4KiB\"",
        "plan.toml:2:7: test.a: is not listed in `tests`; add it there, or remove it",
    ),
];

#[test]
fn every_mistake_is_reported_with_its_position_and_the_correction() {
    let mut reports = Vec::new();
    for (text, expected) in WRONG {
        reports.push((text, errors(text), expected));
    }
    let wrong: Vec<_> = reports.iter().filter(|(_, found, expected)| found != &[**expected]).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn all_mistakes_are_reported_at_once_in_file_order() {
    let text = "tests = [\"a\"]\nprofil = \"x\"\n[settings]\nqd = 0\n[test.a]\nrw = \"read\"\nbs = 4096\n";
    assert_eq!(
        errors(text),
        [
            "plan.toml:2:1: profil: unknown key; did you mean 'profile'?",
            "plan.toml:4:6: settings.qd: 0 is out of range: a thread needs at least one I/O, and each I/O needs a \
             buffer; use 1 to 1024 (nearest: 1)",
            "plan.toml:7:6: test.a.bs: expected a quoted string, found an integer",
        ]
    );
}
