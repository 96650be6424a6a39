//! The WSAT test with a fake bench.

mod support;

use pts::Outcome;
use pts::exhibit::{Exhibit, Facts};
use pts::{Profile, Stop};
use record::{
    Access, SaturationChoice, SaturationLoad, SaturationMarks, SaturationUntil, Settings, SimulatedFacts,
    TargetFacts,
};
use support::{Fake, run_on, run_with, target, titles};

/// Returns the IOPS at which 4 KiB writes fill the capacity of 100 GB in `minutes`.
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
    assert_eq!(outcome.header.length.as_deref(), Some("1 h 20 min, 400 GB"));
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
    // IOPS drop by a quarter over the last 150 minutes, as in some published runs.
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
    // The mean of the ten minutes that begin with the last fresh minute is within 10 % of the steady IOPS.
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
fn missing_steady_state_is_reported() {
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
fn average_response_times_are_drawn_minute_by_minute_beyond_the_pages_of_the_specification() {
    for profile in ["pts-c-1.0", "pts-e-2.0"] {
        let outcome = run(profile, &mut Fake::new(|_, _| iops_filling_in(20)));
        let Some(page) = outcome.beyond.first() else { panic!("no page") };
        assert_eq!(page.title, "WSAT Average Latency v Time");
        let Exhibit::Lines(lines) = &page.exhibits[0] else { panic!("no curve") };
        let points = &lines.series[0].points;
        assert_eq!((points.len(), points[0].0, points[79].0), (80, 1.0, 80.0));
        assert!(points.iter().all(|(_, ms)| (ms - 0.1).abs() < 0.001));
    }
}

#[test]
fn length_and_amount_replace_rounds() {
    let length = |capacities, hours| {
        let wsat = SaturationChoice {
            capacities: Some(capacities),
            hours: Some(hours),
            until: Some(SaturationUntil::Time),
            ..SaturationChoice::default()
        };
        chosen("pts-c-1.0", wsat, &mut Fake::new(|_, _| 22_000)).header.length
    };
    assert_eq!(length(4, 2).as_deref(), Some("2 h, 648.8 GB"));
    let mut failing = Fake::new(|_, _| 1_000);
    failing.fail_after_cells = Some(0);
    assert_eq!(run("pts-e-1.0", &mut failing).header.length, None, "no minute is complete");
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

/// Axes and marks have the time that cells took, and what counts cells says so.
#[test]
fn cells_that_do_not_take_a_minute_are_not_called_minutes() {
    let settings = Settings { cell_ns: 5_000_000_000, ..Profile::named("pts-e-1.0").unwrap().settings(1) };
    let bench = || Fake::new(|cycle, _| if cycle < 2 { 9_000 } else { iops_filling_in(1) });
    let outcome = run_with("wsat", "pts-e-1.0", &settings, &target(512), &mut bench());
    let Exhibit::Lines(lines) = &outcome.pages[0].exhibits[0] else { panic!("no curve") };
    let points = &lines.series[0].points;
    assert!(points.len() > 60 && lines.x.label == "Time (minutes)");
    assert!((points[11].0 - 1.0).abs() < 1e-9 && (points[0].0 - 5.0 / 60.0).abs() < 1e-9, "{points:?}");
    let Exhibit::Lines(average) = &outcome.beyond[0].exhibits[0] else { panic!("no curve") };
    assert!((average.series[0].points[11].0 - 1.0).abs() < 1e-9);
    let figure = &outcome.key_figures[1].name;
    assert_eq!(figure, "RND 4KiB W, mean of the last 30 cells, not judged");
    let lasted = stdx::units::span(5_000_000_000 * points.len() as u64);
    let done = outcome.ending.as_ref().expect("several conditions").done.as_str();
    assert!(done == format!("4 x capacity written after {lasted}"), "{done}");
    assert!(outcome.notes.iter().any(|note| note.starts_with(&format!("ended after {lasted} and "))));
    assert!(outcome.outline.contains("or 2 h 00 min, whichever comes first"), "{}", outcome.outline);
    let settled = outcome.marks[3].computed.expect("a time");
    assert!((settled * 12.0 - (settled * 12.0).round()).abs() < 1e-9 && settled < 13.0, "{settled}");

    let marks = SaturationMarks { drop_minute: Some(1), ..Default::default() };
    let settings = Settings { wsat: SaturationChoice { marks, ..SaturationChoice::NONE }, ..settings };
    let outcome = run_with("wsat", "pts-e-1.0", &settings, &target(512), &mut bench());
    assert_eq!(outcome.marks[2].written_bytes, Some(12 * 5 * 9_000 * 4096), "twelve cells are a minute");
}

fn chosen(profile: &str, wsat: SaturationChoice, bench: &mut Fake) -> Outcome {
    let settings = Settings { wsat, ..Profile::named(profile).unwrap().settings(1) };
    assert!(
        pts::deviations(&settings, Profile::named(profile).unwrap()).is_empty(),
        "other tests are not affected"
    );
    run_with("wsat", profile, &settings, &target(512), bench)
}

/// Published PTS 1.0 runs lasted 12 h and wrote 29 capacities, 6 h and 19 capacities, and 24 h and 1.6 capacities.
#[test]
fn the_lengths_of_published_runs_conform_to_1_0() {
    let wsat =
        |capacities, hours, until| SaturationChoice { capacities, hours, until, ..SaturationChoice::NONE };
    let at_4 = "the operator continued after 4 x capacity written after";
    for (choice, filled_in, minutes, done) in [
        (
            wsat(Some(29), Some(12), None),
            20,
            580,
            format!("29 x capacity written after 580 min; {at_4} 80 min"),
        ),
        (wsat(None, Some(6), Some(SaturationUntil::Time)), 18, 360, format!("6 h; {at_4} 72 min")),
        (
            wsat(Some(6), Some(1), Some(SaturationUntil::All)),
            20,
            120,
            format!("6 x capacity written and 1 h elapsed after 120 min; {at_4} 80 min"),
        ),
        (wsat(None, Some(24), None), 900, 1_440, "24 h".to_owned()),
    ] {
        let mut bench = Fake::new(move |_, _| iops_filling_in(filled_in));
        let outcome = chosen("pts-e-1.0", choice, &mut bench);
        assert_eq!(bench.log.len(), 1 + minutes);
        let ending = outcome.ending.unwrap();
        assert_eq!((ending.done, ending.deviates), (done, false));
        assert!(outcome.modified.is_empty(), "{:?}", outcome.modified);
    }
}

#[test]
fn a_length_that_the_profile_does_not_provide_for_is_named() {
    let short = SaturationChoice { capacities: Some(1), hours: Some(1), ..SaturationChoice::NONE };
    let outcome = chosen("pts-e-1.0", short, &mut Fake::new(|_, _| iops_filling_in(20)));
    let expected = "WSAT ended with 1 x capacity written after 20 min; none of the required conditions was met \
                    (required: 4 x capacity written, or 24 h, whichever comes first)";
    assert_eq!(pts::texts(&outcome.modified), [expected]);
    assert!(outcome.ending.unwrap().deviates);

    let long = SaturationChoice { capacities: Some(29), ..SaturationChoice::NONE };
    let outcome = chosen("pts-e-1.1", long, &mut Fake::new(|_, _| iops_filling_in(20)));
    // The drive is steady after five samples, but 4 capacities have been written by then.
    assert!(outcome.ending.unwrap().deviates && outcome.modified.len() == 1, "{:?}", outcome.modified);
}

/// In PTS 2.0, the test ends after 6 hours, or after up to 24 hours if the operator lets it continue.
#[test]
fn up_to_24_hours_conform_to_2_0() {
    let long = SaturationChoice { hours: Some(24), ..SaturationChoice::NONE };
    let by_time = SaturationChoice { until: Some(SaturationUntil::Time), ..long };
    // The drive is never steady, or is steady from its tenth sample on, which is in minute 434.
    let restless: fn(u32) -> u64 = |cycle| 100 * u64::from(1 + cycle % 2);
    let settles: fn(u32) -> u64 = |cycle| if cycle < 10 { 100 * u64::from(1 + cycle % 2) } else { 100 };
    for profile in ["pts-e-2.0", "pts-c-2.0"] {
        for (choice, iops, minutes, done, deviates) in [
            (long, restless, 1_440, "the operator continued after 6 h", false),
            (long, settles, 434, "the operator continued after 6 h", false),
            (by_time, restless, 1_440, "the operator continued after 6 h", false),
            (by_time, settles, 1_440, "continued after 6 h and after steady state after 434 min", true),
        ] {
            let mut bench = Fake::new(move |cycle, _| iops(cycle));
            let outcome = chosen(profile, choice, &mut bench);
            let ending = outcome.ending.unwrap();
            assert_eq!(bench.log.len(), 1 + minutes + 1);
            assert!(ending.done.ends_with(done), "{}", ending.done);
            assert_eq!((ending.deviates, outcome.modified.is_empty()), (deviates, !deviates), "{done}");
        }
    }
}

#[test]
fn to_wait_for_both_amount_and_time_has_a_hard_limit() {
    let both = SaturationChoice { until: Some(SaturationUntil::All), ..SaturationChoice::NONE };
    let mut bench = Fake::new(|_, _| 0);
    let outcome = chosen("pts-e-1.0", both, &mut bench);
    assert_eq!(bench.log.len(), 1 + 240 * 60);
    assert!(outcome.notes[0].ends_with("the hard limit was reached"), "{:?}", outcome.notes);
}

/// A cell of the simulator may take longer than a scaled minute. Its amount corresponds to the time that it
/// took.
#[test]
fn extended_cells_are_not_called_minutes_of_the_drive() {
    let simulated =
        SimulatedFacts { model: "m".into(), model_version: 1, scale_divisor: 4, seed: 1, faults: Vec::new() };
    let scaled = TargetFacts { simulated: Some(simulated), ..target(512) };
    // The bench takes a whole minute for each quarter of a minute.
    let outcome = run_on("wsat", "pts-e-2.0", &scaled, &mut Fake::new(|_, _| 1_000));
    let note = &outcome.notes[0];
    assert!(
        note.starts_with("ended after 155 cells, which took 10 h 20 min on the full-size drive"),
        "{note}"
    );
    for page in &outcome.pages[..3] {
        let remark = "extended 155 of 155 cells, so that they took 10 h 20 min on the full-size drive instead of 155 min";
        assert!(page.remarks.iter().any(|text| text.contains(remark)), "{:?}", page.remarks);
    }
    let real = run_on("wsat", "pts-e-2.0", &target(512), &mut Fake::new(|_, _| 1_000));
    assert!(real.notes[0].starts_with("ended after 155 min and "), "{:?}", real.notes);
    assert_eq!(real.pages[0].remarks, [""; 0]);
}

/// The optional workloads of PTS 2.0.
#[test]
fn the_workloads_of_2_0() {
    for (load, name, access, block_bytes, header) in [
        (SaturationLoad::Oltp, "RND 8KiB 65/35", Access::Random, 8 << 10, ["65:35", "8KiB"]),
        (SaturationLoad::Video, "SEQ 128KiB 90/10", Access::Sequential, 128 << 10, ["90:10", "128KiB"]),
        (SaturationLoad::Metadata, "SEQ 0.5KiB 50/50", Access::Sequential, 512, ["50:50", "0.5KiB"]),
        (SaturationLoad::Composite, "CBW 40/60", Access::Random, 0, ["40:60", "Composite"]),
    ] {
        let choice = SaturationChoice { workload: Some(load), ..SaturationChoice::NONE };
        let mut bench = Fake::new(|_, _| 100);
        let outcome = chosen("pts-e-2.0", choice, &mut bench);
        assert_eq!((outcome.converged, outcome.window[0].1.mean), (Some(true), 100.0), "{name}");
        assert_eq!(outcome.key_figures[0].name, format!("{name}, FOB"));
        assert!(outcome.purpose.starts_with(&format!("show how the performance of {name} falls")));
        assert_eq!(outcome.header.phases.stimulus_1[..3], [name, header[0], header[1]]);
        assert!(outcome.modified.is_empty(), "{:?}", outcome.modified);
        let first = &bench.requested[0];
        assert_eq!(first.access, access);
        if load == SaturationLoad::Composite {
            assert_eq!((first.kinds.len(), first.zones.len()), (12, 3));
        } else {
            assert_eq!(first.block_bytes, block_bytes);
        }
        // Each sequential minute continues where the previous one ended; random minutes have no position.
        let is_sequential = access == Access::Sequential;
        assert!(
            bench.requested.windows(2).all(|pair| (pair[1].from_block > pair[0].from_block) == is_sequential)
        );
        let old = chosen("pts-e-1.1", choice, &mut Fake::new(|_, _| 100));
        assert_eq!(pts::texts(&old.modified), [format!("WSAT with {name} instead of RND 4KiB W")]);
    }
}

/// Authors of published reports set marks by eye, such as a peak drop at 30 min and steady state at 50 min.
#[test]
fn marks_that_the_tester_sets_are_shown_with_the_computed_ones() {
    let marks_set = SaturationMarks {
        drop_minute: Some(30),
        settled_minute: Some(50),
        level_iops: Some(990),
        ..Default::default()
    };
    let bench = || Fake::new(|cycle, _| if cycle < 3 { 9_000 } else { 1_000 });
    let choice = SaturationChoice { marks: marks_set, ..SaturationChoice::NONE };
    let (plain, set) = (run("pts-e-1.1", &mut bench()), chosen("pts-e-1.1", choice, &mut bench()));
    let of = |outcome: &Outcome| -> Vec<_> {
        outcome.marks.iter().map(|mark| (mark.key.clone(), mark.value())).collect()
    };
    assert_eq!(
        of(&plain),
        [("fob", 9_000.0), ("steady", 1_000.0), ("peak-drop", 63.0), ("time-to-steady", 63.0)]
            .map(|(key, value)| (key.to_owned(), Some(value)))
    );
    assert!(plain.marks.iter().all(|mark| mark.set.is_none()));
    assert_eq!(
        of(&set)[1..],
        [("steady", Some(990.0)), ("peak-drop", Some(30.0)), ("time-to-steady", Some(50.0))]
            .map(|(key, value)| (key.to_owned(), value))
    );
    assert_eq!(set.marks[2].computed, Some(63.0));
    assert_eq!(set.marks[2].written_bytes, Some(30 * 60 * 9_000 * 4096));
    let shown = &marks(&set).items;
    assert_eq!(shown[2].1, "30 min, 66.4 GB, 0.66 drive fills (set by the tester; computed: 63)");
    assert_eq!(shown[0].1, "9,000 IOPS");
    assert_eq!(set.key_figures[1].name, "RND 4KiB W, steady state, set by the tester");
    assert_eq!(set.key_figures[1].value, Some(990.0));
    let notes = set.notes.iter().filter(|note| note.contains("set by the tester")).count();
    assert_eq!(notes, 3, "{:?}", set.notes);

    let last = plain.marks.iter().map(|mark| mark.set).collect::<Vec<_>>();
    assert_eq!((last, pts::check_marks(&plain.marks)), (vec![None; 4], Ok(())));
    let at = |drop_minute| SaturationChoice {
        marks: SaturationMarks { drop_minute: Some(drop_minute), ..Default::default() },
        ..SaturationChoice::NONE
    };
    assert_eq!(pts::check_marks(&chosen("pts-e-1.1", at(217), &mut bench()).marks), Ok(()));
    let beyond = pts::check_marks(&chosen("pts-e-1.1", at(218), &mut bench()).marks);
    assert_eq!(beyond, Err("peak-drop=218 is after the last minute of the test".into()));
    let other = run_on("tp-128", "pts-e-1.1", &target(512), &mut bench());
    assert!(pts::check_marks(&other.marks).is_err_and(|text| text.contains("no WSAT")));
}
