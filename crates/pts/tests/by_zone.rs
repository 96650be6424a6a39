//! Tests of hard disks: the flow of TKperf's HDD mode, and the notes in the outcome.

mod support;

use pts::exhibit::{Cell, Exhibit};
use pts::{Outcome, Profile, Stop};
use record::{Access, TargetFacts};
use support::{Fake, figures, run_on, run_with, target};

const GB: u64 = 1_000_000_000;

fn disk() -> TargetFacts {
    TargetFacts { rotational: Some(true), ..target(512) }
}

/// A disk whose IOPS drop by half towards the end.
fn sloping() -> Fake {
    Fake::new(|_, workload| 2_000 - 10 * (workload.range.start_bytes / GB))
}

fn run(test: &str) -> (Outcome, Fake) {
    let mut fake = sloping();
    let outcome = run_on(test, "pts-e-2.0", &disk(), &mut fake);
    (outcome, fake)
}

#[test]
fn iops_are_measured_zone_by_zone() {
    let (outcome, fake) = run("hdd-iops");
    assert_eq!(outcome.stop, None);
    assert_eq!(fake.requested.len(), 128 * 9);
    let zone = &fake.log[..9];
    let demand = "TC4 QD32";
    let expected = [
        "RND 64KiB R",
        "RND 16KiB R",
        "RND 4KiB R",
        "RND 64KiB 50/50",
        "RND 16KiB 50/50",
        "RND 4KiB 50/50",
        "RND 64KiB W",
        "RND 16KiB W",
        "RND 4KiB W",
    ];
    assert_eq!(zone, expected.map(|cell| format!("{cell} {demand}")));
    assert!(fake.log.iter().all(|line| line.starts_with("RND")), "neither purge nor preconditioning");
    let seeds: std::collections::HashSet<u64> = fake.requested.iter().map(|w| w.seed).collect();
    assert_eq!(seeds.len(), fake.requested.len(), "no two cells have the same offsets");
}

#[test]
fn throughput_goes_twice_over_the_disk() {
    let (outcome, fake) = run("hdd-tp");
    assert_eq!((outcome.stop, outcome.rounds), (None, 256));
    assert_eq!(fake.log[..2], ["SEQ 1024KiB R TC1 QD32", "SEQ 1024KiB W TC1 QD32"]);
    assert_eq!(fake.log[256..258], ["SEQ 4KiB R TC1 QD32", "SEQ 4KiB W TC1 QD32"]);
    assert_eq!(fake.log.len(), 2 * 2 * 128);
    assert!(fake.requested.iter().all(|w| w.access == Access::Sequential));
}

#[test]
fn zones_are_equal_adjacent_and_aligned() {
    for test in ["hdd-iops", "hdd-tp"] {
        let (_, fake) = run(test);
        let mut ranges: Vec<(u64, u64)> =
            fake.requested.iter().map(|w| (w.range.start_bytes, w.range.span().end_bytes())).collect();
        ranges.dedup();
        ranges.truncate(128);
        assert_eq!((ranges.len(), ranges[0].0), (128, 0), "{test}");
        assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "{test}: no gap and no overlap");
        assert!(
            ranges.iter().all(|(from, to)| from.is_multiple_of(4096) && (to - from).is_multiple_of(4096))
        );
        let end = ranges[127].1;
        assert!(end <= 100 * GB && 100 * GB - end < 128 * 4096, "{test}: nearly all of the disk");
    }
}

#[test]
fn the_location_on_the_disk_is_shown() {
    let (outcome, _) = run("hdd-iops");
    let Exhibit::Lines(lines) = &outcome.pages[0].exhibits[0] else { panic!("{:?}", outcome.pages[0]) };
    let names: Vec<&str> = lines.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["RND 64KiB R", "RND 16KiB R", "RND 4KiB R"]);
    let points = &lines.series[0].points;
    assert_eq!(points.len(), 128);
    assert!(
        (points[0].0 - 100.0 / 256.0).abs() < 1e-3 && (points[127].0 - (100.0 - 100.0 / 256.0)).abs() < 1e-3
    );
    let table = figures(&outcome);
    assert_eq!((table.rows.len(), table.columns.len()), (9, 7));
    let values: Vec<f64> = table.rows[2]
        .cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Value(value) => Some(*value),
            _ => None,
        })
        .collect();
    // IOPS drop from 2,000 to 1,010 in steps of whole GB.
    assert_eq!((values[0], values[1], values[2], values[6]), (2_000.0, 1_010.0, 1_010.0, 2_000.0));
    assert!((1_490.0..=1_520.0).contains(&values[4]), "{values:?}");
    assert_eq!(outcome.key_figures[0].value, Some(2_000.0));
    assert_eq!(outcome.key_figures[1].name, "RND 4KiB R last zone");
}

#[test]
fn it_is_never_a_result_of_the_pts() {
    for test in ["hdd-iops", "hdd-tp"] {
        for profile in pts::PROFILES {
            let modified = pts::listed(&run_on(test, profile.name, &disk(), &mut sloping()).modified);
            let what = "no purge, preconditioning or steady state";
            for part in ["is not a PTS test", what] {
                assert!(modified.contains(part), "{modified}");
            }
            assert!(!modified.contains("not known to be one"), "{modified}");
        }
        let on_ssd = run_on(test, "pts-e-2.0", &target(512), &mut sloping());
        assert!(pts::listed(&on_ssd.modified).contains("the target is not known to be one"));
        assert_eq!((on_ssd.converged, on_ssd.header.purge.as_str()), (None, "None"));
    }
}

#[test]
fn zones_without_room_for_a_block_are_refused_with_an_alternative() {
    let small = TargetFacts { capacity_bytes: 64 << 20, ..disk() };
    let mut fake = sloping();
    let outcome = run_on("hdd-tp", "pts-e-2.0", &small, &mut fake);
    let Some(Stop::Failed(problem)) = outcome.stop else { panic!("{:?}", outcome.stop) };
    assert!(
        problem.contains("512 KiB") && problem.contains("the Test AR must be at least 128 MiB"),
        "{problem}"
    );
    assert!(fake.log.is_empty());
    assert_eq!(run_on("hdd-iops", "pts-e-2.0", &small, &mut sloping()).stop, None);
    // Each thread has its own part of the zone.
    let profile = Profile::named("pts-e-2.0").unwrap();
    let settings = record::Settings { threads: 2, ..profile.settings(1) };
    let larger = TargetFacts { capacity_bytes: 128 << 20, ..disk() };
    assert!(run_with("hdd-tp", profile.name, &settings, &larger, &mut sloping()).stop.is_some());
    assert_eq!(run_on("hdd-tp", profile.name, &larger, &mut sloping()).stop, None);
}

#[test]
fn an_interrupted_test_states_its_progress() {
    let mut fake = sloping();
    fake.fail_after_cells = Some(9 * 10 + 4);
    let outcome = run_on("hdd-iops", "pts-e-2.0", &disk(), &mut fake);
    assert!(outcome.notes.iter().any(|note| note == "NOT COMPLETE: 10 of 128 zones are complete"));
    assert_eq!((outcome.rounds, outcome.key_figures[1].value), (10, None));
}
