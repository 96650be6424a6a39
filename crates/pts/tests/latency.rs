//! The Latency test with a fake bench.

mod support;

use pts::exhibit::{Cell, Exhibit, Lines, SCALED};
use pts::{Outcome, Profile, Stop};
use record::{Note, Settings, SimulatedFacts, TargetFacts, Until};
use support::{Fake, run_on, run_with, tables, target, titles};

fn run(profile: &str, bench: &mut Fake) -> Outcome {
    run_on("lat", profile, &target(512), bench)
}

#[test]
fn the_loop_is_nine_cells_at_one_outstanding_io() {
    for (profile, histogram) in [("pts-c-1.0", 0), ("pts-e-1.0", 0), ("pts-e-1.1", 0), ("pts-c-2.0", 1)] {
        let mut bench = Fake::new(|_, _| 1000);
        run(profile, &mut bench);
        let mut expected = Vec::new();
        for mix in ["R", "65/35", "W"] {
            for size in ["8", "4", "0.5"] {
                expected.push(format!("RND {size}KiB {mix} TC1 QD1"));
            }
        }
        assert_eq!(bench.log.len(), 2 + 5 * 9 + histogram, "{profile}");
        assert!(bench.log[1].starts_with("write SEQ 128KiB W Amount"));
        for round in 0..5 {
            assert_eq!(bench.log[2 + round * 9..][..9], expected[..], "{profile} round {}", round + 1);
        }
        assert_eq!(bench.run_ns, (5 * 9 + histogram as u64 * 20) * 60_000_000_000, "20 minutes at the end");
    }
}

#[test]
fn preconditioning_has_the_demand_of_the_run_and_not_that_of_the_loop() {
    // TKperf preconditions with the operator's number of jobs and queue depth, but runs the loop with one job
    // at queue depth 1. The 2.0 page header shows the demand of preconditioning as "TC,QD" and the demand of
    // the loop as "TC 1/QD 1".
    let mut bench = Fake::new(|_, _| 1000);
    run("pts-e-2.0", &mut bench);
    let of = |step: usize| (bench.requested[step].threads, bench.requested[step].queue_depth);
    assert_eq!((of(0), of(1)), ((4, 32), (1, 1)));
}

#[test]
fn the_average_latency_of_4_kib_writes_decides() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.latency_ns = Box::new(|round, w| match (w.block_bytes, w.read_percent) {
        (4096, 0) if round < 4 => 900_000 / u64::from(round),
        (4096, 0) => 50_000,
        (8192, 100) => 1_000_000 * u64::from(round),
        _ => 70_000,
    });
    let outcome = run("pts-e-1.0", &mut bench);
    assert_eq!((outcome.converged, outcome.header.rounds.as_str()), (Some(true), "4-8"));
    let tables = tables(&outcome);
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[0].columns, ["0/100", "65/35", "100/0"]);
    assert_eq!(tables[0].rows.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["0.5", "4", "8"]);
    assert_eq!(tables[0].rows[1].cells[0], Cell::Value(0.05));
    assert_eq!(tables[0].rows[2].cells[2], Cell::Value(6.0), "the mean of 4 to 8 ms");
    assert_eq!(tables[1].rows[2].cells[2], Cell::Value(8.0), "the largest of 4 to 8 ms");
    assert_eq!(outcome.key_figures[1].name, "RND 4KiB W average");
    assert_eq!(outcome.key_figures[1].value, Some(0.05));
}

#[test]
fn an_average_is_the_mean_of_the_round_means_and_not_over_all_ios() {
    // Rounds 1 to 5 count, and round n has n times as many 8 KiB reads as round 1, each of which takes n ms.
    let mut bench = Fake::new(|round, w| match (w.block_bytes, w.read_percent) {
        (8192, 100) => 1000 * u64::from(round),
        _ => 1000,
    });
    bench.latency_ns = Box::new(|round, w| match (w.block_bytes, w.read_percent) {
        (8192, 100) => 1_000_000 * u64::from(round),
        _ => 70_000,
    });
    let outcome = run("pts-e-1.0", &mut bench);
    assert_eq!(outcome.header.rounds, "1-5");
    assert_eq!(tables(&outcome)[0].rows[2].cells[2], Cell::Value(3.0), "over all I/Os it would be 3.67 ms");
}

#[test]
fn pages_by_profile() {
    let outcome = run("pts-c-1.0", &mut Fake::new(|_, _| 1000));
    assert_eq!(
        titles(&outcome),
        [
            "Steady State Convergence - Average Latency (100 % writes)",
            "Steady State Convergence - Maximum Latency (100 % writes)",
            "Steady State Measurement Window - RND/4KiB",
            "Average and Maximum Response Time - Tabular Data",
            "AVE Latency v BS and R/W Mix - 3D Plot",
            "MAX Latency v BS and R/W Mix - 3D Plot",
        ]
    );
    let outcome = run("pts-e-2.0", &mut Fake::new(|_, _| 1000));
    assert_eq!(outcome.pages.len(), 7);
    assert_eq!(outcome.pages[3].exhibits.len(), 4, "IOPS, ART, 99.999 %, MRT");
    assert_eq!(tables(&outcome)[2].rows[1].cells[0], Cell::Absent("n/a".into()), "300,000 I/Os are too few");
    let Exhibit::ResponseTimes(times) = &outcome.pages[6].exhibits[0] else { panic!("no histogram") };
    assert_eq!(times.caption, "RND 4KiB W, TC 1 QD 1: 1,000.0 IOPS, 4.1 MB/s, MRT 0.100 ms");
    assert_eq!(times.bins.iter().map(|bin| bin.ios).sum::<u64>(), 1_200_000);
    assert!(times.markers[3].1.is_some(), "1,200,000 I/Os are enough for 99.999 %");
    assert_eq!(times.confidence.last().unwrap().1, 99.999, "but not for 99.9999 %");
}

#[test]
fn reads_and_the_mix_converge_beyond_the_pages_of_the_specification() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.latency_ns = Box::new(|_, workload| 1_000 * (100 + u64::from(workload.read_percent)));
    let outcome = run("pts-e-1.0", &mut bench);
    let titles: Vec<&str> = outcome.beyond.iter().map(|page| page.title.as_str()).collect();
    let average = "Steady State Convergence - Average Latency";
    assert_eq!(
        titles[..2],
        [format!("{average} (100 % reads)"), format!("{average} (65/35 reads and writes)")]
    );
    assert_eq!(titles[2..], ["Response Time Tail by R/W Mix"]);
    for (page, expected) in outcome.beyond.iter().zip([0.2, 0.165]) {
        let Exhibit::Lines(lines) = &page.exhibits[0] else { panic!("no curve") };
        let names: Vec<&str> = lines.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["0.5KiB", "4KiB", "8KiB"]);
        let points: Vec<_> = lines.series.iter().flat_map(|series| &series.points).collect();
        assert_eq!(points.len(), 3 * 5);
        assert!(points.iter().all(|(_, ms)| (ms - expected).abs() < 0.001), "{points:?}");
    }
}

#[test]
fn never_steady_still_gets_its_histogram() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.latency_ns = Box::new(|round, _| 50_000 * u64::from(1 + round % 2));
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!(
        (outcome.converged, outcome.rounds, outcome.header.rounds.as_str()),
        (Some(false), 25, "21-25")
    );
    assert_eq!(bench.log.len(), 2 + 25 * 9 + 1);
}

#[test]
fn no_512_byte_cells_on_4kn() {
    let mut bench = Fake::new(|_, _| 1000);
    let outcome = run_on("lat", "pts-e-1.0", &target(4096), &mut bench);
    assert_eq!(bench.log.len(), 2 + 5 * 6);
    assert!(matches!(&bench.notes[0], Note::Skipped { what, .. } if what == "all 0.5KiB cells"));
    assert_eq!(tables(&outcome)[0].rows[0].cells[0], Cell::Absent("n/a (4Kn)".into()));
}

#[test]
fn a_shortened_histogram_states_its_time_and_is_a_deviation() {
    let of = |profile: &str, cell_ns| {
        let settings = Settings { cell_ns, ..Profile::named(profile).unwrap().settings(1) };
        run_with("lat", profile, &settings, &target(512), &mut Fake::new(|_, _| 1000))
    };
    let short = of("pts-e-2.0", 50_000_000);
    assert_eq!(short.header.phases.stimulus_2[2], "1 s");
    assert!(short.outline.ends_with("record every response time of 1 s"), "{}", short.outline);
    let stated = "time of each response-time histogram 1 s instead of 20 min 00 s";
    assert_eq!(pts::texts(&short.modified), [stated]);
    let whole = of("pts-e-2.0", 60_000_000_000);
    assert!(whole.outline.ends_with("record every response time of 20 minutes"), "{}", whole.outline);
    assert!(whole.modified.is_empty() && of("pts-e-1.1", 50_000_000).modified.is_empty());
}

#[test]
fn a_failure_keeps_what_was_measured() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(9 + 4);
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!((outcome.stop.clone(), outcome.rounds), (Some(Stop::Failed("EIO".into())), 1));
    assert_eq!(tables(&outcome)[1].rows[1].cells[0], Cell::Value(0.1));
    assert_eq!(outcome.pages[6].remarks.len(), 1, "{:?}", outcome.pages[6].remarks);
}

#[test]
fn a_gap_inside_a_round_starts_the_window_after_it() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.gaps = vec![(3, 4)];
    let outcome = run("pts-e-1.0", &mut bench);
    assert_eq!(outcome.header.rounds, "4-8");
    assert_eq!(pts::texts(&outcome.modified), ["interrupted for 1 h 00 min before RND 4KiB 65/35"]);
}

#[test]
fn nothing_done_is_not_steady() {
    let outcome = run(
        "pts-e-1.0",
        &mut Fake::new(|_, w| match w.until {
            Until::DurationNs(_) => 0,
            Until::AmountBytes(_) => 1,
        }),
    );
    assert_eq!(outcome.converged, Some(false));
}

/// Returns the standard target as a simulated drive at this scale.
fn simulated(scale_divisor: u32) -> TargetFacts {
    let simulated =
        SimulatedFacts { model: "m".into(), model_version: 1, scale_divisor, seed: 1, faults: Vec::new() };
    TargetFacts { simulated: Some(simulated), ..target(512) }
}

#[test]
fn a_scaled_drive_has_no_maxima() {
    for profile in ["pts-e-1.0", "pts-e-2.0"] {
        let outcome = run_on("lat", profile, &simulated(16), &mut Fake::new(|_, _| 1000));
        let tables = tables(&outcome);
        let maxima = tables.iter().find(|table| table.heading.starts_with("Maximum")).unwrap();
        assert!(maxima.rows.iter().flat_map(|row| &row.cells).all(|c| *c == Cell::Absent(SCALED.into())));
        assert!(tables.iter().any(|t| matches!(t.rows[0].cells[0], Cell::Value(_))), "averages are shown");
        let Exhibit::Lines(Lines { series, .. }) = &outcome.pages[1].exhibits[0] else { panic!("no lines") };
        // There are 60,000 I/Os per cell, and five times as many in the window: a labelled percentile replaces
        // the maximum.
        let points: Vec<f64> = series.iter().flat_map(|series| series.points.iter().map(|p| p.1)).collect();
        assert_eq!(
            (points.len(), outcome.pages[1].title.ends_with("(100 % writes): n/a, 99.9 % shown")),
            (15, true)
        );
        let Exhibit::Columns3d(columns) = &outcome.pages[5].exhibits[0] else { panic!("no columns") };
        assert!(columns.heights.iter().flatten().all(Option::is_some));
        let labels = (outcome.pages[5].title.as_str(), columns.height_label.as_str());
        assert_eq!(
            labels,
            ("MAX Latency v BS and R/W Mix - 3D Plot: n/a, 99.99 % shown", "99.99 % latency (ms)")
        );
        for (figure, shown) in outcome.key_figures.iter().zip([true, true, false, false]) {
            assert_eq!(figure.value.is_some(), shown, "{}", figure.name);
            assert_eq!(figure.absent == SCALED, !shown, "{}", figure.name);
        }
        assert!(outcome.notes.iter().any(|note| note.contains("scale 1/16")), "{:?}", outcome.notes);
        for page in [1, 3, 5] {
            assert!(outcome.pages[page].remarks.iter().any(|r| r.contains("scale 1/16")), "page {page}");
        }
    }
    let short = Settings { cell_ns: 600_000_000, ..Profile::named("pts-e-1.0").unwrap().settings(1) };
    let few = run_with("lat", "pts-e-1.0", &short, &simulated(16), &mut Fake::new(|_, _| 1));
    let Exhibit::Columns3d(columns) = &few.pages[5].exhibits[0] else { panic!("no columns") };
    assert!(
        columns.heights.iter().flatten().all(Option::is_none) && few.pages[5].title.ends_with("Plot: n/a")
    );
    assert!(few.pages[5].remarks[0].contains("Too few I/Os"), "{:?}", few.pages[5].remarks);

    let outcome = run_on("lat", "pts-e-2.0", &simulated(16), &mut Fake::new(|_, _| 1000));
    let Exhibit::ResponseTimes(times) = &outcome.pages[6].exhibits[0] else { panic!("no histogram") };
    assert!(times.caption.ends_with("MRT n/a (scaled)"), "{}", times.caption);
}

#[test]
fn a_simulated_drive_of_full_size_has_maxima() {
    let bench = || Fake::new(|_, _| 1000);
    let (whole, real) =
        (run_on("lat", "pts-e-2.0", &simulated(1), &mut bench()), run("pts-e-2.0", &mut bench()));
    assert_eq!((whole.pages, whole.notes), (real.pages, real.notes));
}
