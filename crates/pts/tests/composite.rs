//! ECW and CBW with a fake bench: checks that the requested workloads follow the composite's tables.

mod support;

use std::collections::BTreeMap;

use pts::exhibit::{Cell, Exhibit};
use pts::{Outcome, Profile, Stop};
use record::{Settings, Workload};
use stdx::access::{Stream, share};
use support::{Fake, run_on, run_with, tables, target, titles};

const MINUTE_NS: u64 = 60_000_000_000;
const STEPS: [u32; 7] = [32, 16, 8, 6, 4, 2, 1];
/// Block sizes in bytes, each with its percentage of the I/Os.
const SIZES: [(u32, u8); 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16384, 7),
    (32768, 3),
    (65536, 3),
];
/// LBA groups: percentage of the I/Os, and the end of the group in percent of the range.
const GROUPS: [(u8, u64); 3] = [(50, 5), (30, 20), (20, 100)];

fn bench() -> Fake {
    let iops = |w: &Workload| u64::from(w.outstanding().min(64)) * 100;
    let mut bench = Fake::new(move |_, w| iops(w));
    bench.latency_ns = Box::new(move |_, w| u64::from(w.outstanding()) * 1_000_000_000 / (iops(w) * 100));
    bench
}

fn on_4kn(fits_sectors: bool) -> (Outcome, Fake) {
    let profile = Profile::named("pts-e-2.0").unwrap();
    let settings = Settings { composite_fits_sectors: fits_sectors, ..profile.settings(1) };
    let mut bench = bench();
    let outcome = run_with("cbw", "pts-e-2.0", &settings, &target(4096), &mut bench);
    (outcome, bench)
}

#[test]
fn the_flow_follows_the_specification() {
    for (test, profile) in [("cbw", "pts-e-2.0"), ("cbw", "pts-c-2.0"), ("ecw", "pts-e-1.1")] {
        let mut bench = bench();
        let outcome = run_on(test, profile, &target(512), &mut bench);
        assert_eq!(outcome.converged, Some(true));
        assert!(outcome.modified.is_empty(), "{:?}", outcome.modified);
        let mut log = bench.log.iter().map(String::as_str);
        assert_eq!(log.next(), Some("purge"));
        let writes = "RND 0.5KiB to 64KiB W TC32 QD32";
        assert!(log.by_ref().take(5 * 30).all(|step| step == writes));
        for _ in 0..5 {
            assert_eq!(log.next(), Some("write RND 0.5KiB to 64KiB W DurationNs(300000000000)"));
            for threads in STEPS {
                for queue_depth in STEPS {
                    let cell = format!("RND 0.5KiB to 64KiB 40/60 TC{threads} QD{queue_depth}");
                    assert_eq!(log.next(), Some(&*cell));
                }
            }
        }
        for point in ["TC2 QD32", "TC1 QD32", "TC1 QD1"] {
            assert_eq!(log.next(), Some("write RND 0.5KiB to 64KiB W DurationNs(3600000000000)"));
            assert_eq!(log.next(), Some(&*format!("RND 0.5KiB to 64KiB 40/60 {point}")));
        }
        assert_eq!(log.next(), None);
        assert_eq!(bench.run_ns, (5 * 30 + 5 * 49 + 3 * 10) * MINUTE_NS);
    }
}

/// Compares a million I/Os of a workload, across all its threads, with the tables.
fn holds_the_tables(workload: &Workload, sizes: &[(u32, u8)]) {
    const IOS: u64 = 1_000_000;
    let pattern = workload.pattern();
    let (mut of_size, mut of_group, mut reads) = (BTreeMap::new(), [0u32; 3], 0u32);
    // Group boundaries are rounded down to whole alignment units.
    let unit = pattern.alignment_bytes();
    let units = workload.range.segment_bytes / unit;
    let group = |byte: u64| {
        GROUPS.iter().position(|&(_, to)| byte < units * to / 100 * unit).expect("inside the range")
    };
    for thread in 0..workload.threads {
        let part = share(IOS, thread, workload.threads);
        let mut stream = Stream::new(workload.seed, thread, workload.threads, &pattern);
        for _ in part {
            let access = stream.next_access();
            let from = access.offset_bytes - workload.range.start_bytes;
            let (first, last) = (group(from), group(from + u64::from(access.block_bytes) - 1));
            assert_eq!(first, last, "an I/O across the end of its LBA group");
            of_group[first] += 1;
            *of_size.entry(access.block_bytes).or_insert(0u32) += 1;
            reads += u32::from(access.read);
        }
    }
    let within = |count: u32, percent: u8| {
        let off = f64::from(count) / (IOS as f64 / 100.0) - f64::from(percent);
        assert!(off.abs() <= 0.2, "{count} of a million for {percent} %");
    };
    assert_eq!(of_size.len(), sizes.len());
    sizes.iter().for_each(|(bytes, percent)| within(of_size[bytes], *percent));
    of_group.iter().zip(GROUPS).for_each(|(&count, (percent, _))| within(count, percent));
    within(reads, workload.read_percent);
}

#[test]
fn shares_over_a_million_ios_are_those_of_the_tables() {
    for (test, profile) in [("cbw", "pts-c-2.0"), ("ecw", "pts-e-1.1")] {
        let mut bench = bench();
        drop(run_on(test, profile, &target(512), &mut bench));
        let range = pts::range::share_of(target(512).capacity_bytes, if test == "cbw" { 75 } else { 100 });
        assert!(
            bench.requested.iter().all(|w| w.range == range && w.zones.len() == 3 && w.kinds.len() == 12)
        );
        let measured = bench.requested.iter().find(|w| w.read_percent == 40).unwrap();
        holds_the_tables(measured, &SIZES);
        holds_the_tables(&bench.requested[0], &SIZES);
        assert_eq!(bench.requested[0].read_percent, 0);
    }
}

#[test]
fn ecw_shows_its_access_pattern_first() {
    let ecw = run_on("ecw", "pts-e-1.1", &target(512), &mut bench());
    assert_eq!(titles(&ecw)[0], "Access Pattern Block Sizes & Access Probabilities - 40:60 RW");
    assert_eq!(titles(&ecw).len(), 15);
    let shown = tables(&ecw);
    assert_eq!(shown[0].columns.join(" "), "0.5 1 1.5 2 2.5 3 3.5 4 8 16 32 64");
    assert_eq!(shown[0].rows[0].cells, SIZES.map(|size| Cell::Value(size.1.into())));
    assert_eq!(shown[1].rows[1].cells, [5.0, 15.0, 80.0].map(Cell::Value));
    assert_eq!(ecw.key_figures[0].name, "Max point, 40/60 TC 2 QD 32, ART 0.100 ms");

    let cbw = run_on("cbw", "pts-e-2.0", &target(512), &mut bench());
    assert_eq!((titles(&cbw)[0], titles(&cbw)[14]), ("Pre Conditioning IOPS", "IOPS v Total OIO"));
    assert_eq!(titles(&cbw).len(), 15);
    let Exhibit::Lines(lines) = &cbw.pages[2].exhibits[0] else { panic!("no points") };
    assert_eq!((lines.series[0].name.as_str(), lines.series[0].points.len()), ("CBW 0/100 TC32 QD32", 25));
    assert_eq!(cbw.header.workload_dependent, "CBW 0/100");
}

#[test]
fn large_sectors_are_refused_or_a_variant_is_marked() {
    let (refused, bench) = on_4kn(false);
    let Some(Stop::Failed(why)) = &refused.stop else { panic!("{:?}", refused.stop) };
    assert!(
        why.contains("0.5, 1, 1.5, 2, 2.5, 3, 3.5 KiB") && why.contains("--composite-fits-sectors"),
        "{why}"
    );
    assert!(bench.log.is_empty(), "nothing was touched: {:?}", bench.log);

    let (variant, bench) = on_4kn(true);
    assert_eq!((variant.stop.clone(), variant.converged), (None, Some(true)));
    assert_eq!(
        pts::texts(&variant.modified),
        ["composite without sizes below 4KiB (10 % of the I/Os use this size instead): the \
          device's sectors are 4096 B"]
    );
    let measured = bench.requested.iter().find(|w| w.read_percent == 40).unwrap();
    holds_the_tables(measured, &[(4096, 77), (8192, 10), (16384, 7), (32768, 3), (65536, 3)]);

    let profile = Profile::named("pts-e-2.0").unwrap();
    let needless = Settings { composite_fits_sectors: true, ..profile.settings(1) };
    let plain = run_with("cbw", "pts-e-2.0", &needless, &target(512), &mut self::bench());
    assert!(plain.modified.is_empty(), "small sectors change nothing: {:?}", plain.modified);
}

#[test]
fn a_profile_without_the_test_says_so() {
    let outcome = run_on("cbw", "pts-e-1.1", &target(512), &mut bench());
    assert_eq!(pts::texts(&outcome.modified), ["the CBW test is not part of PTS-E 1.1"]);
    let outcome = run_on("ecw", "pts-c-2.0", &target(512), &mut bench());
    assert_eq!(
        pts::texts(&outcome.modified),
        ["the Enterprise Composite Workload test is not part of PTS-C 2.0"]
    );
}
