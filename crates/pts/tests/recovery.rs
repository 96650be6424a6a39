//! The recovery tests, HIR and XSR, with a fake bench.

mod support;

use pts::exhibit::{Cell, Exhibit, Facts, SCALED};
use pts::{Outcome, Profile, Stop};
use record::{Access, Settings, SimulatedFacts, TargetFacts};
use support::{Fake, run_on, run_with, tables, target, titles};

const MINUTE_NS: u64 = 60_000_000_000;

fn hir(profile: &str, bench: &mut Fake) -> Outcome {
    run_on("hir", profile, &target(512), bench)
}

fn xsr(profile: &str, bench: &mut Fake) -> Outcome {
    run_on("xsr", profile, &target(512), bench)
}

#[test]
fn hir_takes_930_minutes_after_its_preconditioning() {
    let mut bench = Fake::new(|_, _| 1_000);
    let outcome = hir("pts-e-2.0", &mut bench);
    assert_eq!(outcome.converged, Some(true));
    let rounds = 5 * 30;
    assert_eq!(bench.run_ns + bench.idle_ns, (rounds + 930) * MINUTE_NS);
    assert_eq!(bench.idle_ns, (30 + 60 + 90 + 150 + 300) * MINUTE_NS);
    let mut line = bench.log[1 + rounds as usize..].iter();
    for idle_ms in [5_000, 10_000, 15_000, 25_000, 50_000] {
        for _ in 0..360 {
            assert_eq!(line.next().unwrap(), "RND 4KiB W TC4 QD32");
            assert_eq!(line.next().unwrap(), &format!("idle {idle_ms} ms"));
        }
        assert_eq!(line.next().unwrap(), "RND 4KiB W TC4 QD32", "the return to baseline");
    }
    assert_eq!(line.next(), None);
    let Exhibit::Lines(lines) = &outcome.pages[2].exhibits[0] else { panic!("no time line") };
    assert_eq!(lines.series.iter().map(|s| s.points.len()).collect::<Vec<_>>(), [360; 10]);
    let end = lines.series[9].points[359].0;
    assert!((end - 930.0).abs() < 1e-6, "{end}");
    assert_eq!(lines.series[0].name, "Wait State 1 5/5");
    assert_eq!(lines.series[8].name, "Wait State 10 5/50");
}

#[test]
fn hir_compares_wait_states_with_steady_state() {
    let mut bench = Fake::new(|_, _| 1_000);
    // Bursts are twice as fast; each return to the baseline slows down after two minutes.
    bench.iops_of_second = Some(Box::new(|_, w, second| match w.until {
        record::Until::DurationNs(ns) if ns < MINUTE_NS => 2_000,
        record::Until::DurationNs(ns) if ns > MINUTE_NS && second < 120 => 1_600,
        _ => 1_000,
    }));
    let outcome = hir("pts-e-1.1", &mut bench);
    let rows = &tables(&outcome)[0].rows;
    assert_eq!(rows[0].cells, vec![Cell::Value(2_000.0); 5]);
    assert_eq!(rows[1].cells, vec![Cell::Value(2.0); 5]);
    assert_eq!(rows[2].cells, vec![Cell::Value(1_600.0); 5]);
    // 10 of the 12 samples in a minute must be at the lower rate, so the time is 120 s minus the 10 s of the 2
    // samples that may still be high.
    assert_eq!(rows[3].cells, vec![Cell::Value(110.0); 5]);
    assert_eq!(outcome.key_figures[5].value, Some(2_000.0));
    assert_eq!(
        titles(&outcome),
        [
            "Pre Conditioning IOPS",
            "Pre Conditioning Steady State Measurement Window - RND/4KiB",
            "IOPS v Time - All Wait States",
            "Host Idle Recovery - Tabular Data",
        ]
    );
    let newer = hir("pts-e-2.0", &mut Fake::new(|_, _| 1_000));
    assert_eq!(titles(&newer)[..4], titles(&outcome)[..]);
    assert_eq!(titles(&newer)[4..].len(), 5, "a plot for each wait state");
    assert_eq!(titles(&newer)[8], "IOPS v Time - Wait State 10 (5/50)");
}

#[test]
fn hir_has_recovered_only_if_it_stays_recovered() {
    // The drive is steady at first, and a fifth slower from the third minute of each return on. In the last ten
    // minutes, it may or may not be steady again.
    let returns = |last: u64| {
        let mut bench = Fake::new(|_, _| 1_000);
        bench.iops_of_second = Some(Box::new(move |_, w, second| match w.until {
            record::Until::DurationNs(ns) if ns > MINUTE_NS && (120..1200).contains(&second) => 800,
            record::Until::DurationNs(ns) if ns > MINUTE_NS && second >= 1200 => last,
            _ => 1_000,
        }));
        tables(&hir("pts-e-1.1", &mut bench))[0].rows[3].cells.clone()
    };
    // 6 of the 12 samples in a minute must be at the higher rate for a mean of 900.
    assert_eq!(returns(1_000), vec![Cell::Value(1_170.0); 5]);
    assert_eq!(returns(800), vec![Cell::Absent("not reached".into()); 5]);
}

/// With cells of 2 s, a return has 60 samples, so a minute has two of them.
#[test]
fn hir_with_short_cells_counts_minutes_and_not_samples() {
    let settings = Settings { cell_ns: 2_000_000_000, ..Profile::named("pts-e-1.1").unwrap().settings(1) };
    let mut bench = Fake::new(|_, _| 1_000);
    // The mean is below steady state in 2 of the 30 minutes, and lowest in the first minute.
    bench.iops_of_second = Some(Box::new(|_, w, second| match w.until {
        record::Until::DurationNs(ns) if ns > 30_000_000_000 && second < 2 => 400,
        record::Until::DurationNs(ns) if ns > 30_000_000_000 && second < 4 => 600,
        _ => 1_000,
    }));
    let outcome = run_with("hir", "pts-e-1.1", &settings, &target(512), &mut bench);
    let rows = &tables(&outcome)[0].rows;
    assert_eq!(rows[2].cells, vec![Cell::Value(400.0); 5], "{}", rows[2].name);
    assert_eq!(rows[3].cells, vec![Cell::Value(120.0); 5], "{}", rows[3].name);
}

#[test]
fn hir_tracks_minute_30_and_continues_without_steady_state() {
    let mut bench = Fake::new(|round, _| 1_000 * u64::from(1 + round % 2));
    let outcome = hir("pts-e-2.0", &mut bench);
    assert_eq!(
        (outcome.converged, outcome.rounds, outcome.header.rounds.as_str()),
        (Some(false), 25, "21-25")
    );
    assert!(outcome.notes[0].starts_with("SS NOT ACHIEVED"), "{:?}", outcome.notes);
    assert_eq!(bench.run_ns + bench.idle_ns, (25 * 30 + 930) * MINUTE_NS);
}

#[test]
fn hir_keeps_what_was_measured() {
    let mut bench = Fake::new(|_, _| 1_000);
    bench.fail_after_cells = Some(150 + 361 + 5);
    let outcome = hir("pts-e-2.0", &mut bench);
    assert_eq!(outcome.stop, Some(Stop::Failed("EIO".into())));
    assert_eq!(outcome.notes, ["NOT COMPLETE: 1 of 5 wait states are complete"]);
    assert_eq!(tables(&outcome)[0].rows[0].cells[1], Cell::Value(1_000.0));
    assert_eq!(tables(&outcome)[0].rows[0].cells[2], Cell::Absent("not measured".into()));
}

#[test]
fn hir_follows_the_gap_rule_and_names_a_gap_in_its_time_line() {
    let mut bench = Fake::new(|_, _| 1_000);
    bench.gaps = vec![(2, 10)];
    assert_eq!(hir("pts-e-2.0", &mut bench).header.rounds, "3-7");
    let mut bench = Fake::new(|_, _| 1_000);
    bench.gaps = vec![(5, 100)];
    let outcome = hir("pts-e-2.0", &mut bench);
    assert_eq!(outcome.header.rounds, "1-5");
    assert_eq!(pts::texts(&outcome.modified), ["interrupted for 1 h 00 min before RND 4KiB W"]);
    assert!(outcome.notes[0].starts_with("INTERRUPTED"));
}

#[test]
fn a_test_missing_from_the_profile_is_a_deviation() {
    let outcome = hir("pts-e-1.0", &mut Fake::new(|_, _| 1_000));
    assert_eq!(pts::texts(&outcome.modified), ["the Host Idle Recovery test is not part of PTS-E 1.0"]);
    assert_eq!((outcome.clause, outcome.header.requirement), (None, "NOT IN THE PROFILE"));
}

#[test]
fn xsr_is_three_groups_of_8_6_and_8_hours() {
    let mut bench = Fake::new(|_, _| 300);
    let outcome = xsr("pts-e-2.0", &mut bench);
    let (sequential, random) = ("SEQ 1024KiB W TC1 QD32", "RND 8KiB W TC1 QD32");
    assert_eq!(bench.log, ["purge", sequential, random, sequential]);
    assert_eq!(bench.run_ns, 22 * 60 * MINUTE_NS);
    assert_eq!((outcome.converged, outcome.stop.clone(), outcome.rounds), (None, None, 0));
    let Exhibit::Lines(lines) = &outcome.pages[0].exhibits[0] else { panic!("no time line") };
    assert_eq!(lines.series.iter().map(|s| s.points.len()).collect::<Vec<_>>(), [480, 360, 480]);
    assert_eq!(lines.series[2].points[479].0, 1320.0);
}

fn recovery(outcome: &Outcome) -> &Facts {
    let Some(Exhibit::Facts(facts)) = outcome.pages.last().unwrap().exhibits.last() else {
        panic!("no facts")
    };
    facts
}

#[test]
fn xsr_says_when_the_bandwidth_is_back() {
    for (profile, pages) in [("pts-e-1.1", 5), ("pts-e-2.0", 3), ("pts-c-2.0", 3)] {
        let mut bench = Fake::new(|_, _| 300);
        let groups = std::cell::Cell::new(0);
        bench.iops_of_second = Some(Box::new(move |_, w, second| {
            groups.set(groups.get() + u32::from(second == 0));
            match (w.access, groups.get()) {
                (Access::Random, _) => 1_000,
                // IOPS are 500 for an hour, while the drive is fresh, and then 300.
                (_, 1) => {
                    if second < 3_600 {
                        500
                    } else {
                        300
                    }
                }
                _ => {
                    if second < 600 {
                        100
                    } else {
                        300
                    }
                }
            }
        }));
        let outcome = xsr(profile, &mut bench);
        assert_eq!(outcome.pages.len(), pages, "{profile}");
        let notes: Vec<&str> = recovery(&outcome).items.iter().map(|item| item.1.as_str()).collect();
        assert_eq!(notes, ["not yet", "minute 11"], "{profile}: the mean of AG1 includes the fresh drive");
        assert_eq!(outcome.key_figures[1].value, Some(11.0));
    }
}

/// With cells of half a second, a group of 8 h has 240 samples of two minutes.
#[test]
fn xsr_with_short_cells_counts_minutes_and_not_samples() {
    let settings = Settings { cell_ns: 500_000_000, ..Profile::named("pts-e-2.0").unwrap().settings(1) };
    let mut bench = Fake::new(|_, _| 300);
    let groups = std::cell::Cell::new(0);
    bench.iops_of_second = Some(Box::new(move |_, _, second| {
        groups.set(groups.get() + u32::from(second == 0));
        match groups.get() {
            // The last two hours are faster, but only the last hour counts.
            1 if (180..210).contains(&second) => 900,
            3 if second < 5 => 100,
            _ => 300,
        }
    }));
    let outcome = run_with("xsr", "pts-e-2.0", &settings, &target(512), &mut bench);
    assert_eq!(recovery(&outcome).items[1].1, "minute 12");
    assert_eq!(outcome.key_figures[1].value, Some(12.0));
}

/// With cells of 0.7 s, a group of 8 h has 336 samples of 10/7 minutes, and a group of 6 h has 252.
#[test]
fn xsr_with_short_cells_counts_minutes_since_its_third_group_for_both_references() {
    let settings = Settings { cell_ns: 700_000_000, ..Profile::named("pts-e-2.0").unwrap().settings(1) };
    let mut bench = Fake::new(|_, _| 300);
    let groups = std::cell::Cell::new(0);
    bench.iops_of_second = Some(Box::new(move |_, _, second| {
        groups.set(groups.get() + u32::from(second == 0));
        match (groups.get(), second) {
            (3, ..6) => 100,
            (3, 6..20) => 280,
            _ => 300,
        }
    }));
    let outcome = run_with("xsr", "pts-e-2.0", &settings, &target(512), &mut bench);
    let Exhibit::Lines(lines) = &outcome.pages[0].exhibits[0] else { panic!("no time line") };
    assert_eq!(lines.series.iter().map(|s| s.points.len()).collect::<Vec<_>>(), [336, 252, 336]);
    // The 21st sample reaches 300, and the 7th reaches 90 % of it.
    let texts: Vec<&str> = recovery(&outcome).items.iter().map(|item| item.1.as_str()).collect();
    assert_eq!(texts, ["minute 30", "minute 10"]);
    let found: Vec<f64> = outcome.key_figures.iter().map(|figure| figure.value.unwrap()).collect();
    assert!((found[0] - 30.0).abs() < 1e-9 && (found[1] - 10.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn xsr_keeps_finished_groups() {
    let mut bench = Fake::new(|_, _| 300);
    bench.fail_after_cells = Some(1);
    let outcome = xsr("pts-e-2.0", &mut bench);
    assert_eq!(outcome.notes, ["NOT COMPLETE: 1 of 3 access groups are complete"]);
    assert_eq!(recovery(&outcome).items[0].1, "not measured");
    assert_eq!(tables(&outcome)[0].rows[0].cells[1], Cell::Absent("not measured".into()));
}

#[test]
fn a_scaled_drive_has_no_maxima_over_time() {
    let simulated = SimulatedFacts {
        model: "m".into(),
        model_version: 1,
        scale_divisor: 64,
        seed: 1,
        faults: Vec::new(),
    };
    let scaled = TargetFacts { simulated: Some(simulated), ..target(512) };
    let bench = || Fake::new(|_, _| 1_000);
    let outcome = run_on("xsr", "pts-e-2.0", &scaled, &mut bench());
    let table = &tables(&outcome)[0];
    assert_eq!(table.rows[2].cells, vec![Cell::Absent(SCALED.into()); 3], "{}", table.rows[2].name);
    assert!(matches!(table.rows[1].cells[0], Cell::Value(_)), "averages are shown");
    let Exhibit::Lines(lines) = &outcome.pages[1].exhibits[1] else { panic!("no lines") };
    assert!(lines.series.iter().all(|series| series.name.starts_with("ART")), "no MRT");
    assert!(outcome.notes[0].contains("scale 1/64"), "{:?}", outcome.notes);

    let outcome = run_on("xsr", "pts-e-1.1", &scaled, &mut bench());
    let page = outcome.pages.iter().find(|page| page.title.starts_with("Maximum")).unwrap();
    assert_eq!(page.title, "Maximum Latency v Time: n/a, percentiles shown");
    let Exhibit::Table(table) = &page.exhibits[0] else { panic!("no table") };
    assert!(table.rows.len() == 3 && matches!(table.rows[2].cells[7], Cell::Value(_)), "{table:?}");
    assert!(page.remarks[0].contains("scale 1/64"), "{:?}", page.remarks);
}
