//! The DIRTH test with a fake bench.

mod support;

use pts::exhibit::Exhibit;
use pts::{Context, Outcome, Profile, Stop, Test};
use record::{DirthChoice, Settings};
use support::{Fake, run_on, target, titles};

const MINUTE_NS: u64 = 60_000_000_000;
const STEPS: [u32; 7] = [32, 16, 8, 6, 4, 2, 1];

fn run(profile: &str, bench: &mut Fake) -> Outcome {
    run_on("dirth", profile, &target(512), bench)
}

/// IOPS rise with demand up to 64 outstanding I/Os; response times follow Little's law.
fn saturating() -> Fake {
    let iops = |w: &record::Workload| u64::from(w.outstanding().min(64)) * 100;
    let mut bench = Fake::new(move |_, w| iops(w));
    bench.latency_ns = Box::new(move |_, w| u64::from(w.outstanding()) * 1_000_000_000 / (iops(w) * 100));
    bench
}

#[test]
fn the_flow_follows_the_specification() {
    let mut bench = saturating();
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!(outcome.converged, Some(true));
    let mut log = bench.log.iter().map(String::as_str);
    assert_eq!(log.next(), Some("purge"));
    assert!(log.by_ref().take(5 * 30).all(|step| step == "RND 8KiB W TC32 QD32"));
    for round in 1..=5 {
        assert_eq!(log.next(), Some("write RND 8KiB W DurationNs(300000000000)"), "round {round}");
        for threads in STEPS {
            for queue_depth in STEPS {
                assert_eq!(log.next(), Some(&*format!("RND 8KiB 65/35 TC{threads} QD{queue_depth}")));
            }
        }
    }
    for point in ["TC2 QD32", "TC1 QD32", "TC1 QD1"] {
        assert_eq!(log.next(), Some("write RND 8KiB W DurationNs(3600000000000)"));
        assert_eq!(log.next(), Some(&*format!("RND 8KiB 65/35 {point}")));
    }
    assert_eq!(log.next(), None);
    assert_eq!(bench.run_ns, (5 * 30 + 5 * 49 + 3 * 10) * MINUTE_NS);
    assert!(outcome.modified.is_empty(), "{:?}", outcome.modified);
    assert_eq!(outcome.key_figures[0].name, "Max point, RND 8KiB 65/35 TC 2 QD 32, ART 0.100 ms");
}

/// PTS clause 14: the tester chooses block size and mix; the writes that precede the cells use the same block
/// size.
#[test]
fn the_tester_chooses_the_workload() {
    let dirth = DirthChoice { block_bytes: Some(4096), read_percent: Some(0) };
    let settings = Settings { dirth, ..Profile::named("pts-e-2.0").unwrap().settings(1) };
    let (profile, target) = (Profile::named("pts-e-2.0").unwrap(), target(512));
    let mut bench = saturating();
    let test = Test::named("dirth").unwrap();
    let outcome = (test.run)(&Context { profile, settings: &settings, target: &target }, &mut bench);
    let other = |step: &&String| *step != "purge" && !step.contains("RND 4KiB W");
    assert_eq!(bench.log.iter().find(other), None);
    assert!(outcome.modified.is_empty() && pts::deviations(&settings, profile).is_empty());
    assert_eq!(outcome.notes, ["workload chosen by the tester: RND 4KiB W"]);
    assert_eq!(outcome.header.phases.stimulus_1[..3], ["RND 4KiB W", "0:100", "4KiB"]);
    assert_eq!(outcome.key_figures[0].name, "Max point, RND 4KiB W TC 2 QD 32, ART 0.100 ms");
}

#[test]
fn pages_by_profile() {
    let old = run("pts-e-1.1", &mut saturating());
    let expected = [
        "Pre Conditioning IOPS",
        "Pre Conditioning Steady State Check TC32-QD32",
        "Between Round Pre-Writes",
        "DV IOPS, TC = 32, All QD",
        "DV Steady State Check TC32-QD32",
        "Demand Variation",
        "Demand Intensity",
        "System CPU Utilization During Demand Variation",
        "Max IOPS Pre-Writes",
        "Max IOPS Response Time Histogram",
        "Mid IOPS Pre-Writes",
        "Mid IOPS Response Time Histogram",
        "Min IOPS Pre-Writes",
        "Min IOPS Response Time Histogram",
    ];
    assert_eq!(titles(&old), expected);
    let new = run("pts-c-2.0", &mut saturating());
    assert_eq!(titles(&new)[14], "IOPS v Total OIO");
    let Exhibit::Lines(lines) = &new.pages[14].exhibits[0] else { panic!("no curve") };
    let totals: Vec<f64> = lines.series[0].points.iter().map(|point| point.0).collect();
    let expected = [1, 2, 4, 6, 8, 12, 16, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512, 1024].map(f64::from);
    assert_eq!(totals, expected);
    let Exhibit::Lines(lines) = &new.pages[8].exhibits[0] else { panic!("no curve") };
    assert_eq!(lines.series[0].points.len(), 60);
}

#[test]
fn the_load_on_the_processors_is_shown_by_demand() {
    let mut bench = saturating();
    bench.processor_share = Some(|w| f64::from(w.outstanding()) / 2048.0);
    let page = &run("pts-e-2.0", &mut bench).pages[7];
    let Exhibit::Columns3d(columns) = &page.exhibits[0] else { panic!("no columns") };
    let near = |height: Option<f64>, percent: f64| (height.unwrap() - percent).abs() < 1e-6;
    assert!(near(columns.heights[6][6], 50.0), "TC 32 QD 32: {:?}", columns.heights[6][6]);
    assert!(near(columns.heights[0][6], 32.0 / 20.48), "TC 1 QD 32: {:?}", columns.heights[0][6]);
    assert!(page.remarks[0].starts_with("CPU time of the load threads"), "{:?}", page.remarks);
    let unknown = run("pts-e-2.0", &mut saturating());
    assert!(unknown.pages[7].exhibits.is_empty(), "no picture without values");
    assert_eq!(unknown.pages[7].remarks.len(), 1);
}

#[test]
fn never_steady_continues_and_says_so() {
    let mut bench = Fake::new(|round, _| 1_000 * u64::from(1 + round % 2));
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!(
        (outcome.converged, outcome.rounds, outcome.header.rounds.as_str()),
        (Some(false), 25, "21-25")
    );
    let failed = outcome.notes.iter().filter(|note| note.starts_with("SS NOT ACHIEVED")).count();
    assert_eq!(failed, 2, "{:?}", outcome.notes);
    assert_eq!(bench.log.len(), 1 + 25 * 30 + 25 * 50 + 6);
}

#[test]
fn a_slow_drive_still_has_its_points() {
    let mut bench = saturating();
    bench.latency_ns = Box::new(|_, w| 9_000_000 + u64::from(w.outstanding()));
    let outcome = run("pts-e-2.0", &mut bench);
    assert!(outcome.notes[0].starts_with("no point has an average response time below 5 ms"));
    assert!(outcome.key_figures[0].name.starts_with("Max point, RND 8KiB 65/35 TC 1 QD 1,"));
}

#[test]
fn gaps_and_failures_are_reported() {
    let mut bench = saturating();
    bench.gaps = vec![(2, 10)];
    let outcome = run("pts-e-2.0", &mut bench);
    // Both parts of the test have a step 10 in round 2, so there are two gaps; no window may span either of
    // them.
    assert!(outcome.window.iter().all(|window| window.1.first_round == 3), "{:?}", outcome.window);
    assert_eq!(outcome.modified.len(), 2, "{:?}", outcome.modified);
    assert!(outcome.notes[0].starts_with("INTERRUPTED"));

    let mut bench = saturating();
    bench.fail_after_cells = Some(5 * 30 + 49 + 3);
    let outcome = run("pts-e-2.0", &mut bench);
    assert_eq!(
        (outcome.stop.clone(), outcome.rounds, outcome.converged),
        (Some(Stop::Failed("EIO".into())), 1, None)
    );
    assert_eq!(outcome.pages.len(), 15);
    let Exhibit::Lines(lines) = &outcome.pages[5].exhibits[0] else { panic!("no curve") };
    assert_eq!(lines.series[0].points.len(), 7, "the finished round is shown");
}
