//! The IOPS test with a fake bench: loop order, end conditions, gaps, and contents of the pages.

mod support;

use pts::exhibit::{Cell, Exhibit, Table};
use pts::{Outcome, Stop};
use record::{Note, TargetFacts, Workload};
use support::{Fake, figures, target};

fn run_on(profile: &str, target: &TargetFacts, bench: &mut Fake) -> Outcome {
    support::run_on("iops", profile, target, bench)
}

#[test]
fn the_loop_follows_the_specification() {
    let mut bench = Fake::new(|_, _| 1000);
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.converged, Some(true));
    assert_eq!(bench.log[0], "purge");
    // 200 GB is 1,525,878.9 blocks of 128 KiB; the partial block at the end is not written.
    assert_eq!(bench.log[1], "write SEQ 128KiB W AmountBytes(199999881216)");
    assert_eq!(bench.log.len(), 2 + 5 * 56, "five rounds of 56 cells");
    let mut expected = Vec::new();
    for mix in ["R", "95/5", "65/35", "50/50", "35/65", "5/95", "W"] {
        for size in ["1024", "128", "64", "32", "16", "8", "4", "0.5"] {
            expected.push(format!("RND {size}KiB {mix} TC2 QD16"));
        }
    }
    for round in 0..5 {
        assert_eq!(bench.log[2 + round * 56..][..56], expected[..], "round {}", round + 1);
    }
}

#[test]
fn preconditioning_has_the_thread_count_and_queue_depth_of_the_test() {
    // According to 3.1.2 and 3.1.3 of the IOPS pseudo code in PTS-E 1.1, both are the same as in step 2.1; PTS
    // 2.0.2 agrees.
    for (profile, chosen, demand) in
        [("pts-e-1.1", None, (2, 16)), ("pts-e-2.0", None, (4, 32)), ("pts-e-2.0", Some((3, 7)), (3, 7))]
    {
        let mut settings = pts::Profile::named(profile).unwrap().settings(1);
        if let Some((threads, queue_depth)) = chosen {
            settings = record::Settings { threads, queue_depth, ..settings };
        }
        let mut bench = Fake::new(|_, _| 1000);
        support::run_with("iops", profile, &settings, &target(512), &mut bench);
        let of = |step: usize| (bench.requested[step].threads, bench.requested[step].queue_depth);
        assert!(bench.log[1].starts_with("write SEQ 128KiB W"), "{}", bench.log[1]);
        assert_eq!((of(0), of(1)), (demand, demand), "{profile}");
    }
}

#[test]
fn never_steady_stops_after_25_rounds_and_says_so() {
    let mut bench = Fake::new(|round, _| 1000 * u64::from(1 + round % 2));
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!((outcome.converged, outcome.rounds), (Some(false), 25));
    assert_eq!(outcome.header.rounds, "21-25");
    assert_eq!(outcome.header.convergence.to_string(), "NO");
    assert!(outcome.notes[0].starts_with("SS NOT ACHIEVED"), "{:?}", outcome.notes);
    assert_eq!(bench.log.len(), 2 + 25 * 56);
}

/// The page that evaluates all cells: its facts, excursions and confidence values.
fn every_cell(outcome: &Outcome) -> (Vec<String>, Table, Table) {
    let page = outcome.beyond.iter().find(|page| page.title.contains("Every Cell")).expect("a page");
    let [Exhibit::Facts(facts), Exhibit::Table(excursions), Exhibit::Table(confidences)] = &page.exhibits[..]
    else {
        panic!("{:?}", page.exhibits)
    };
    (facts.items.iter().map(|(_, value)| value.clone()).collect(), excursions.clone(), confidences.clone())
}

#[test]
fn every_cell_is_judged_beyond_the_standard() {
    let mut bench = Fake::new(|_, _| 1000);
    let (facts, excursions, confidences) = every_cell(&run_on("pts-e-1.0", &target(512), &mut bench));
    assert_eq!(facts, ["steady: all 56 cells", "rounds 1-5", "100 % (RND 0.5KiB W)"]);
    assert_eq!(excursions.rows[7].cells[6], Cell::Value(0.0));
    assert_eq!(confidences.rows[7].cells[6], Cell::Value(100.0));
}

#[test]
fn a_cell_that_is_not_tracked_may_be_unsteady_in_the_window() {
    // RND 4KiB W is constant. 128 KiB reads rise by 300 IOPS in each round, and 64 KiB reads drop by 30 % in round 3
    // only.
    let iops = |round: u32, w: &Workload| match (w.block_bytes, w.read_percent, round) {
        (131_072, 100, _) => 1000 + 300 * u64::from(round),
        (65_536, 100, 3) => 700,
        _ => 1000,
    };
    let outcome = run_on("pts-e-1.0", &target(512), &mut Fake::new(iops));
    assert_eq!((outcome.converged, outcome.rounds), (Some(true), 5), "the PTS does not track these cells");
    let (facts, excursions, confidences) = every_cell(&outcome);
    assert_eq!(facts[..2], ["not steady: 2 of 56 cells", "none in 5 rounds"]);
    // Values from 1,300 to 2,500 around 1,900: the range is 63.2 % (limit: 20 %), and so is the slope (limit: 10 %).
    let Cell::Value(excursion) = excursions.rows[6].cells[6] else { panic!("{excursions:?}") };
    assert!((excursion - 100.0 * 1200.0 / 190.0).abs() < 1e-6, "{excursion}");
    assert_eq!(confidences.rows[6].cells[6], Cell::Value(100.0), "a rise without noise");
    let Cell::Value(excursion) = excursions.rows[5].cells[6] else { panic!("{excursions:?}") };
    assert!((excursion - 100.0 * 300.0 / 188.0).abs() < 1e-6, "{excursion}");
    assert_eq!(confidences.rows[5].cells[6], Cell::Absent("excursion".into()), "the fitted line is level");
}

#[test]
fn cells_are_not_judged_before_five_rounds() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(4 * 56 + 7);
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert!(outcome.beyond.iter().all(|page| !page.title.contains("Every Cell")));
}

#[test]
fn results_are_the_mean_of_the_window() {
    // IOPS are 5000 at first; from round 4 on, writes are between 998 and 1002. The window is therefore rounds
    // 4-8.
    let mut bench =
        Fake::new(
            |round, w| if round < 4 { 5000 } else { 994 + u64::from(round) + u64::from(w.read_percent) },
        );
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!((outcome.rounds, outcome.header.rounds.as_str()), (8, "4-8"));
    let table = figures(&outcome);
    assert_eq!(table.columns, ["0/100", "5/95", "35/65", "50/50", "65/35", "95/5", "100/0"]);
    assert_eq!(
        table.rows.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(),
        ["0.5", "4", "8", "16", "32", "64", "128", "1024"]
    );
    assert_eq!(table.rows[1].cells[0], Cell::Value(1000.0));
    assert_eq!(table.rows[1].cells[6], Cell::Value(1100.0));
    assert_eq!(outcome.pages.len(), 6);
}

#[test]
fn version_2_wants_three_variables_steady_at_once() {
    let mut bench = Fake::new(|round, w| match (w.block_bytes, w.read_percent) {
        (65_536, 65) if round < 6 => 100 * u64::from(round),
        _ => 1000,
    });
    let outcome = run_on("pts-e-2.0", &target(512), &mut bench);
    // 64 KiB 65/35 yields 100 to 500 in rounds 1-5, then 1000; the first steady window is 6-10.
    assert_eq!(outcome.header.rounds, "6-10");
    assert_eq!(
        outcome.window.iter().map(|w| w.0.as_str()).collect::<Vec<_>>(),
        ["RND 4KiB W", "RND 64KiB 65/35", "RND 1024KiB R"]
    );
    assert_eq!(outcome.pages.len(), 8, "one window page per tracking variable");
}

#[test]
fn client_profile_touches_2048_segments() {
    let mut bench = Fake::new(|_, w| {
        assert_eq!((w.range.segments, w.range.segment_bytes), (2048, 8 << 20));
        1000
    });
    let outcome = run_on("pts-c-1.0", &target(512), &mut bench);
    assert_eq!((outcome.header.ar_amount.as_str(), outcome.header.ar_segments.as_str()), ("16 GiB", "2048"));
}

#[test]
fn no_512_byte_cells_on_4kn() {
    let mut bench = Fake::new(|_, _| 1000);
    let outcome = run_on("pts-e-1.0", &target(4096), &mut bench);
    assert_eq!(bench.log.len(), 2 + 5 * 49);
    assert!(matches!(&bench.notes[0], Note::Skipped { what, .. } if what == "all 0.5KiB cells"));
    assert_eq!(pts::texts(&outcome.modified), ["all 0.5KiB cells skipped: the device's sectors are 4096 B"]);
    assert_eq!(figures(&outcome).rows[0].cells[0], Cell::Absent("n/a (4Kn)".into()));
    assert_eq!(outcome.window[0].0, "RND 4KiB W", "the tracking variable stays");
}

#[test]
fn a_gap_inside_a_round_starts_the_window_after_it() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.gaps = vec![(3, 20)];
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.header.rounds, "4-8");
    assert!(bench.notes.contains(&Note::WindowRestarted { first_round: 4 }));
    assert_eq!(pts::texts(&outcome.modified), ["interrupted for 1 h 00 min before RND 16KiB 65/35"]);
}

#[test]
fn a_gap_between_rounds_keeps_the_round_after_it() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.gaps = vec![(3, 0)];
    assert_eq!(run_on("pts-e-1.0", &target(512), &mut bench).header.rounds, "3-7");
}

#[test]
fn a_gap_gives_25_new_rounds() {
    let mut bench = Fake::new(|round, _| 1000 * u64::from(1 + round % 2));
    bench.gaps = vec![(3, 20)];
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!((outcome.rounds, outcome.header.rounds.as_str()), (28, "24-28"));
    assert_eq!(outcome.missed_rounds(), "25 rounds", "as in the note and in the conformance statement");
    assert!(outcome.notes.iter().any(|note| note.contains("no steady state in 25 rounds")));
}

#[test]
fn a_failing_device_stops_exactly_there_and_keeps_the_rest() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(2 * 56 + 7);
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.stop, Some(Stop::Failed("EIO".into())));
    assert_eq!((outcome.converged, outcome.rounds), (None, 2));
    assert_eq!(outcome.header.convergence.to_string(), "not complete");
    assert_eq!(figures(&outcome).rows[1].cells[0], Cell::Value(1000.0));
    assert!(outcome.window.is_empty());
}

#[test]
fn many_gaps_are_counted_and_no_window_spans_one() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.gaps = (1..=10).map(|round| (round, 30)).collect();
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.header.rounds, "11-15");
    assert_eq!(pts::texts(&outcome.modified), ["interrupted 10 times, 10 h 00 min in total"]);
}

#[test]
fn a_run_cut_before_its_first_round_has_no_figures() {
    let mut bench = Fake::new(|_, _| 1000);
    bench.fail_after_cells = Some(3);
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.notes, ["NOT COMPLETE: no round is complete, so there are no figures yet"]);
    assert_eq!(outcome.pages.len(), 6);
}

#[test]
fn the_outline_follows_the_settings() {
    let outline = |capacities| {
        let settings = record::Settings {
            precondition_capacities: capacities,
            ..pts::Profile::named("pts-e-1.0").unwrap().settings(1)
        };
        support::run_with("iops", "pts-e-1.0", &settings, &target(512), &mut Fake::new(|_, _| 9)).outline
    };
    assert!(outline(1).contains("write the capacity once"));
    assert!(outline(2).contains("write the capacity twice"));
    assert!(outline(3).contains("write the capacity 3 times"));
}

#[test]
fn nothing_measured_is_not_steady() {
    let mut bench = Fake::new(|_, _| 0);
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    assert_eq!(outcome.converged, Some(false));
}

#[test]
fn determination_box_is_on_page_three() {
    let values = [3185.0, 3091.0, 3456.0, 3091.0, 2913.0];
    let mut bench = Fake::new(move |round, w| {
        if w.read_percent == 0 && w.block_bytes == 4096 { values[round as usize - 1] as u64 } else { 1000 }
    });
    let outcome = run_on("pts-e-1.0", &target(512), &mut bench);
    let Exhibit::Facts(facts) = &outcome.pages[2].exhibits[1] else { panic!("no box on page 3") };
    let value = |label: &str| facts.items.iter().find(|i| i.0 == label).unwrap().1.clone();
    assert_eq!(value("Average"), "3,147.2 IOPS");
    assert_eq!(value("Measured Maximum Data Excursion"), "543.0 IOPS");
    assert_eq!(value("Allowed Maximum Data Excursion"), "629.4 IOPS");
    assert_eq!(value("Least Squares Linear Fit Formula"), "-54.400 * R + 3310.400");
}
