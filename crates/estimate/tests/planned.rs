//! Compares the cost of tests on an assumed drive with the results of formulas for durations and amounts.

#[path = "../../pts/tests/support/mod.rs"]
mod support;

use estimate::assumed::Assumed;
use estimate::dry::{Estimate, estimate, estimates};
use pts::{Context, Profile, TESTS, Task, Test};
use record::{
    Access, CustomAverage, CustomCell, CustomFigure, CustomRounds, CustomTest, CustomWrite, Settings,
    SimulatedFacts, TargetFacts,
};
use stdx::units::SECOND_NS;

const SPEED: f64 = 500e6;

/// A drive of 256 GB.
fn target() -> TargetFacts {
    TargetFacts { capacity_bytes: 256_000_000_000, ..support::target(512) }
}

fn of(test: &str, profile: &str) -> Estimate {
    of_target(test, profile, &target())
}

fn of_target(test: &str, profile: &str, target: &TargetFacts) -> Estimate {
    let profile = Profile::named(profile).unwrap();
    let settings: Settings = profile.settings(1);
    let context = Context { profile, settings: &settings, target };
    // The drive is saturated from the first minute on, so that no round differs because the drive is fresh.
    let mut assumed = Assumed::usual(SPEED, SPEED);
    assumed.saturation.fills = 0.0;
    estimate(&context, Test::named(test).unwrap(), &assumed).unwrap()
}

fn minutes(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64 / 60.0
}

fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= expected * 1e-6 + 0.01, "{got} instead of {expected}");
}

/// Time to write the capacity twice at 500 MB/s.
const PRECONDITION_MINUTES: f64 = 2.0 * 256_000.0 / 500.0 / 60.0;

#[test]
fn tests_over_rounds_take_5_to_25_of_them() {
    for (test, profile, round, end) in [
        ("iops", "pts-e-1.0", 56.0, 0.0),
        ("iops", "pts-c-2.0", 56.0, 0.0),
        ("tp-1024", "pts-e-2.0", 2.0, 0.0),
        ("tp-128", "pts-e-1.0", 2.0, 0.0),
        ("lat", "pts-e-1.0", 9.0, 0.0),
        ("lat", "pts-e-2.0", 9.0, 20.0),
    ] {
        let estimate = of(test, profile);
        assert_eq!((estimate.shortest.rounds, estimate.longest.rounds), (5, 25), "{test} {profile}");
        close(minutes(estimate.shortest.duration_ns), PRECONDITION_MINUTES + 5.0 * round + end);
        close(minutes(estimate.longest.duration_ns), PRECONDITION_MINUTES + 25.0 * round + end);
        for cost in [estimate.shortest, estimate.longest] {
            assert!(
                cost.precondition_bytes.abs_diff(512_000_000_000) < 1 << 20,
                "{test}: twice the capacity"
            );
        }
    }
}

#[test]
fn tests_over_time_take_the_time_of_the_specification() {
    let hir = of("hir", "pts-e-2.0");
    close(minutes(hir.shortest.duration_ns), 150.0 + 930.0);
    close(minutes(hir.longest.duration_ns), 25.0 * 30.0 + 930.0);
    let xsr = of("xsr", "pts-e-2.0");
    close(minutes(xsr.shortest.duration_ns), 1320.0);
    assert_eq!(xsr.shortest, xsr.longest, "nothing depends on steady state");
    for (test, profile) in [("dirth", "pts-e-2.0"), ("cbw", "pts-c-2.0"), ("ecw", "pts-e-1.1")] {
        let demand = of(test, profile);
        close(minutes(demand.shortest.duration_ns), 150.0 + 270.0 + 210.0);
        close(minutes(demand.longest.duration_ns), 25.0 * (30.0 + 54.0) + 210.0);
    }
    let wsat = of("wsat", "pts-e-2.0");
    close(minutes(wsat.shortest.duration_ns), 5.0 * 31.0 + 20.0);
    assert!(minutes(wsat.longest.duration_ns) <= 6.0 * 60.0 + 20.0);
    assert!(wsat.longest.cell_bytes >= 4 * 256_000_000_000, "four capacities are written within six hours");
}

#[test]
fn a_round_of_throughput_writes_a_minute_of_the_speed() {
    let cost = of("tp-1024", "pts-e-1.0").shortest;
    let gigabytes = cost.cell_bytes as f64 / 1e9;
    close(gigabytes, 5.0 * 0.06 * SPEED / 1e6);
    assert_eq!(cost.steps, 2 + 5 * 2);
}

/// The zones of the disk tests are smaller than the spare flash, so that rewriting one does not saturate the drive.
#[test]
fn random_writes_in_small_zones_run_at_the_fresh_rate() {
    let assumed = Assumed::usual(SPEED, SPEED);
    let written = of("hdd-iops", "pts-e-2.0").shortest.cell_bytes as f64;
    let at_least = 128.0 * 3.0 * 60.0 * assumed.saturation.fresh;
    assert!(written >= at_least * 0.999 && written < 2.0 * at_least, "{written} instead of {at_least}");
}

#[test]
fn a_scaled_drive_takes_a_scaled_time() {
    let simulated = SimulatedFacts {
        model: "m".into(),
        model_version: 1,
        scale_divisor: 16,
        seed: 1,
        faults: Vec::new(),
    };
    let scaled =
        TargetFacts { capacity_bytes: 16_000_000_000, simulated: Some(simulated), ..support::target(512) };
    // IOPS is excluded: with many I/Os outstanding, cells with large blocks take longer than a scaled minute.
    for test in TESTS.iter().filter(|test| test.name != "iops") {
        let (whole, part) = (of(test.name, "pts-e-2.0"), of_target(test.name, "pts-e-2.0", &scaled));
        let ratio = whole.longest.duration_ns as f64 / part.longest.duration_ns as f64;
        assert!((15.9..16.1).contains(&ratio), "{}: {ratio}", test.name);
        let ratio = whole.longest.written_bytes() as f64 / part.longest.written_bytes() as f64;
        assert!((15.9..16.1).contains(&ratio), "{}: {ratio}", test.name);
    }
}

#[test]
fn an_impossible_workload_is_reported() {
    let profile = Profile::named("pts-e-2.0").unwrap();
    let settings = Settings { threads: 64, ..profile.settings(1) };
    let small = TargetFacts { capacity_bytes: 1 << 20, ..support::target(512) };
    let context = Context { profile, settings: &settings, target: &small };
    let assumed = Assumed::usual(SPEED, SPEED);
    let problem = estimate(&context, Test::named("iops").unwrap(), &assumed).unwrap_err();
    assert!(problem.contains("threads need"), "{problem}");
}

/// Returns a test that writes randomly for a minute, after at most `limit_s` seconds of sequential writes.
fn minute_of_writes(purge: bool, limit_s: u64) -> CustomTest {
    let write = CustomWrite {
        access: Access::Sequential,
        block_bytes: 128 << 10,
        threads: 1,
        queue_depth: Some(32),
        capacities: 1,
        limit_ns: Some(limit_s * SECOND_NS),
    };
    let cell = CustomCell {
        access: Access::Random,
        read_percent: 0,
        block_bytes: 4096,
        threads: Some(4),
        queue_depth: Some(32),
        run_ns: 60 * SECOND_NS,
        ramp_ns: 0,
    };
    CustomTest {
        name: "minute".into(),
        title: "Minute".into(),
        purpose: "write".into(),
        purge,
        precondition: Vec::from_iter((limit_s > 0).then_some(write)),
        streams: Vec::new(),
        cells: vec![cell],
        steps: Vec::new(),
        rounds: CustomRounds::Fixed(1),
        tracked: Vec::new(),
        figure: CustomFigure::Iops,
        average: CustomAverage { rounds: 1, from_steady: false },
        finds_knee: false,
    }
}

#[test]
fn a_test_without_a_purge_finds_the_drive_as_the_previous_test_left_it() {
    let (profile, target) = (Profile::named("pts-e-2.0").unwrap(), target());
    let settings = profile.settings(1);
    let context = Context { profile, settings: &settings, target: &target };
    let assumed = Assumed::usual(SPEED, SPEED);
    let (fresh, steady) = (assumed.saturation.fresh * 60.0, assumed.saturation.steady * 60.0);
    let written = |first: &CustomTest, second: &CustomTest| {
        let both = estimates(&context, [Task::Custom(first), Task::Custom(second)], &assumed).unwrap();
        [0, 1].map(|test| both[test].shortest.cell_bytes as f64)
    };
    let is = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 0.01, "{got} and {expected}");
    // Ten seconds of writes do not fill the drive, so it remains fresh; an hour fills it.
    for (limit_s, expected) in [(10, fresh), (3600, assumed.figures().random_write_iops * 4096.0 * 60.0)] {
        let [first, second] = written(&minute_of_writes(true, limit_s), &minute_of_writes(false, 0));
        is(first, expected);
        is(second, expected);
    }
    let [unknown, _] = written(&minute_of_writes(false, 0), &minute_of_writes(false, 0));
    is(unknown, steady);
}
