//! The WSAT test against a fake bench.

mod support;

use pts::Outcome;
use pts::exhibit::{Exhibit, Facts};
use pts::{Profile, Stop};
use record::Settings;
use support::{Fake, run_on, run_with, target, titles};

/// IOPS at which 4 KiB writes fill the capacity of 100 GB in `minutes`.
fn iops_filling_in(minutes: u64) -> u64 {
    100_000_000_000 / 4096 / 60 / minutes + 1
}

fn run(profile: &str, bench: &mut Fake) -> Outcome {
    run_on("wsat", profile, &target(512), bench)
}

fn marks(outcome: &Outcome) -> &Facts {
    let Exhibit::Facts(facts) = &outcome.pages[0].exhibits[1] else { panic!("no marks on page 1") };
    facts
}

#[test]
fn minutes_of_random_writes_until_four_capacities_are_written() {
    let mut bench = Fake::new(|_, _| iops_filling_in(20));
    let outcome = run("pts-e-1.0", &mut bench);
    assert_eq!(bench.log[0], "purge");
    assert!(bench.log[1..].iter().all(|step| step == "RND 4KiB W TC2 QD16"), "no preconditioning");
    assert_eq!(bench.log.len(), 1 + 80);
    assert_eq!((outcome.converged, outcome.header.convergence.to_string().as_str()), (None, "N/A"));
    assert_eq!(outcome.stop, None);
    assert_eq!(outcome.notes, ["ended after 80 min and 400 GB: the required amount was written"]);
    assert!(outcome.modified.is_empty());
    let ending = outcome.ending.expect("several conditions");
    assert_eq!(ending.required, "4 x capacity written, or 24 h, whichever comes first");
    assert_eq!(ending.done, "4 x capacity written after 80 min");
}

#[test]
fn four_capacities_before_the_fifth_sample_end_the_test_without_a_verdict() {
    for profile in ["pts-e-1.1", "pts-c-2.0"] {
        let outcome = run(profile, &mut Fake::new(|_, _| iops_filling_in(20)));
        assert_eq!((outcome.converged, outcome.rounds, outcome.stop.clone()), (None, 2, None), "{profile}");
        assert_eq!(outcome.header.convergence.to_string(), "N/A");
        assert!(!outcome.header.phases.stimulus_1[4].contains("NOT ACHIEVED"));
        assert!(outcome.notes[1].starts_with("not judged"), "{:?}", outcome.notes);
        let ending = outcome.ending.expect("several conditions");
        let done = "4 x capacity written after 80 min; fewer than five samples, so not judged";
        assert_eq!(ending.done, done);
        assert!(ending.required.contains("whichever comes first") && !ending.required.contains("round"));
    }
}

#[test]
fn only_what_was_judged_is_called_steady() {
    // Falls by a quarter over the last 150 minutes, as a published kind of run did.
    let falling = |profile: &str| {
        let mut bench = Fake::new(|_, _| 0);
        let minute = std::cell::Cell::new(0);
        bench.iops_of_second = Some(Box::new(move |_, _, second| {
            minute.set(minute.get() + u64::from(second == 0));
            5_400 - 10 * minute.get().min(160)
        }));
        run(profile, &mut bench)
    };
    let last = |outcome: &Outcome| outcome.key_figures[1].name.clone();
    let labels = |outcome: &Outcome| {
        let items = &marks(outcome).items;
        [items[1].0.clone(), items[3].0.clone()]
    };
    let old = falling("pts-c-1.0");
    assert_eq!(last(&old), "RND 4KiB W, mean of the last 30 minutes, not judged");
    assert_eq!(labels(&old), ["Mean of the last 30 minutes, not judged", "Within 10 % of that mean from"]);
    let steady = falling("pts-e-1.1");
    assert_eq!((steady.converged, last(&steady).as_str()), (Some(true), "RND 4KiB W, steady state"));
    assert_eq!(labels(&steady), ["Steady State IOPS", "Time to steady state"]);
    let swinging = run("pts-e-2.0", &mut Fake::new(|cycle, _| 100 * u64::from(1 + cycle % 2)));
    assert_eq!(last(&swinging), "RND 4KiB W, mean of the last 30 minutes, not steady");
    assert!(labels(&swinging)[0].ends_with("not steady"));
}

#[test]
fn a_drive_does_not_settle_before_its_peak_drop() {
    // Ten minutes from the last fresh one on are on average within 10 % of the steady IOPS.
    let mut bench = Fake::new(|_, _| 0);
    let minute = std::cell::Cell::new(0);
    bench.iops_of_second = Some(Box::new(move |_, _, second| {
        minute.set(minute.get() + u64::from(second == 0));
        if minute.get() <= 31 { 1_800 } else { 1_000 }
    }));
    let outcome = run("pts-e-2.0", &mut bench);
    let first = |item: usize| marks(&outcome).items[item].1.split(',').next().unwrap().to_owned();
    assert_eq!((first(2), first(3)), ("32 min".into(), "32 min".into()));
}

#[test]
fn time_limits_follow_the_profile() {
    for (profile, minutes, histogram) in [("pts-c-1.0", 1440, 0), ("pts-c-2.0", 360, 1)] {
        let mut bench = Fake::new(|cycle, _| 100 * u64::from(1 + cycle % 2));
        let outcome = run(profile, &mut bench);
        assert_eq!(bench.log.len(), 1 + minutes + histogram, "{profile}");
        assert!(outcome.notes[0].contains("the time limit was reached"), "{:?}", outcome.notes);
        assert_eq!(bench.run_ns, (minutes + 20 * histogram) as u64 * 60_000_000_000);
    }
}

#[test]
fn version_1_1_ends_when_five_samples_31_minutes_apart_are_steady() {
    let mut bench = Fake::new(|cycle, _| if cycle < 3 { 9_000 } else { 1_000 });
    let outcome = run("pts-e-1.1", &mut bench);
    assert_eq!(bench.log.len(), 1 + 7 * 31);
    assert_eq!((outcome.converged, outcome.header.rounds.as_str()), (Some(true), "3-7"));
    assert_eq!(outcome.window[0].1.mean, 1_000.0);
    assert_eq!(outcome.key_figures[0].value, Some(9_000.0));
    assert_eq!(outcome.key_figures[1].value, Some(1_000.0));
    assert_eq!(marks(&outcome).items[2].0, "Peak drop");
    assert_eq!(marks(&outcome).items[2].1, "63 min, 137.4 GB, 1.37 drive fills");
    assert_eq!(marks(&outcome).items[3].1.split(',').next(), Some("63 min"));
}

#[test]
fn not_steady_in_time_is_said() {
    let mut bench = Fake::new(|cycle, _| 100 * u64::from(1 + cycle % 2));
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!((outcome.converged, outcome.rounds), (Some(false), 11));
    assert!(outcome.notes[1].starts_with("SS NOT ACHIEVED"), "{:?}", outcome.notes);
    assert_eq!(outcome.ending.expect("several conditions").done, "6 h; the last five samples are not steady");
}

#[test]
fn pages_by_profile() {
    let of = |profile| {
        let outcome = run(profile, &mut Fake::new(|_, _| iops_filling_in(20)));
        titles(&outcome).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let old = [
        "WSAT IOPS (Linear) v Time (Linear)",
        "WSAT IOPS (Log) v Time (Linear)",
        "WSAT IOPS (Linear) v TGBW (Linear)",
        "WSAT IOPS (Log) v TGBW (Linear)",
    ];
    assert_eq!(of("pts-c-1.0"), old);
    assert_eq!(of("pts-e-1.1"), old);
    let new = [
        "WSAT IOPS (Linear) v Time (Linear)",
        "WSAT IOPS v TGBW",
        "WSAT IOPS v Normalized Capacity",
        "WSAT Response Time Histogram - Confidence Level Plot",
        "WSAT ART, 5 9s and MRT v Drive Fills",
    ];
    assert_eq!(of("pts-e-2.0"), new);
    assert_eq!(of("pts-c-2.0"), new);
}

#[test]
fn curves_rise_to_what_was_written() {
    let outcome = run("pts-e-2.0", &mut Fake::new(|_, _| iops_filling_in(20)));
    let last = |page: usize| {
        let Exhibit::Lines(lines) = &outcome.pages[page].exhibits[0] else { panic!("no curve") };
        *lines.series[0].points.last().unwrap()
    };
    assert_eq!(last(0).0, 80.0);
    assert!((last(1).0 - 400.0).abs() < 0.1 && (last(2).0 - 4.0).abs() < 0.001);
}

#[test]
fn a_failure_keeps_the_minutes_before() {
    let mut bench = Fake::new(|_, _| 1_000);
    bench.fail_after_cells = Some(40);
    let outcome = run("pts-e-1.1", &mut bench);
    assert_eq!((outcome.stop.clone(), outcome.converged), (Some(Stop::Failed("EIO".into())), None));
    assert_eq!(outcome.notes, ["NOT COMPLETE: figures are those of the 40 completed minutes"]);
    assert_eq!(outcome.pages.len(), 4);
    let mut bench = Fake::new(|_, _| 1_000);
    bench.fail_after_cells = Some(0);
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!((outcome.pages.len(), outcome.key_figures[0].value), (5, None));
}

#[test]
fn a_gap_is_named_and_no_window_spans_it() {
    let mut bench = Fake::new(|_, _| 1_000);
    bench.gaps = vec![(2, 10)];
    let outcome = run("pts-e-1.1", &mut bench);
    assert_eq!(outcome.header.rounds, "3-7");
    assert_eq!(pts::texts(&outcome.modified), ["interrupted for 1 h 00 min before RND 4KiB W"]);
    assert!(outcome.notes[0].starts_with("INTERRUPTED"), "{:?}", outcome.notes);
}

#[test]
fn the_whole_test_range_is_written_also_on_client_drives() {
    let mut bench = Fake::new(|_, w| {
        assert_eq!((w.range.segments, w.range.segment_bytes), (1, 100_000_000_000));
        iops_filling_in(20)
    });
    assert_eq!(run("pts-c-1.0", &mut bench).header.ar_segments, "N/A");
}

#[test]
fn shorter_minutes_keep_their_number() {
    let settings = Settings { cell_ns: 2_000_000_000, ..Profile::named("pts-e-2.0").unwrap().settings(1) };
    let mut bench = Fake::new(|_, _| 1_000);
    run_with("wsat", "pts-e-2.0", &settings, &target(512), &mut bench);
    assert_eq!(bench.run_ns, (5 * 31 + 20) * 2_000_000_000);
}
