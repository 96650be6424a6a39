//! The enterprise workload of JESD219: the flow of the test, and its distributions.

mod support;

use record::{Access, Workload};
use stdx::access::Stream;
use support::{Fake, run_on, target, titles};

const SIZES: [(u32, u32); 12] = [
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
/// Share of the I/Os and end of the zone, in percent.
const ZONES: [(u32, u64); 3] = [(50, 5), (30, 20), (20, 100)];
const BINS: u64 = 16;
const IOS: u32 = 200_000;

/// Returns the test's workload with this seed.
fn workload(seed: u64) -> Workload {
    let mut bench = Fake::new(|_, _| 1_000);
    drop(run_on("jesd219", "pts-e-2.0", &target(512), &mut bench));
    let measured = bench.requested.into_iter().find(|workload| workload.access == Access::Random).unwrap();
    Workload { seed, ..measured }
}

/// Returns the chi-square statistic of counts whose expected values are proportional to `shares`.
fn chi_square(counts: &[u32], shares: &[f64]) -> f64 {
    let (all, whole) = (f64::from(counts.iter().sum::<u32>()), shares.iter().sum::<f64>());
    let term = |(count, share): (&u32, &f64)| {
        (f64::from(*count) - all * share / whole).powi(2) / (all * share / whole)
    };
    counts.iter().zip(shares).map(term).sum()
}

#[test]
fn chi_square_detects_deviations() {
    assert_eq!(chi_square(&[50, 30, 20], &[50.0, 30.0, 20.0]), 0.0);
    assert!((chi_square(&[60, 40], &[50.0, 50.0]) - 4.0).abs() < 1e-12);
}

/// The limits are for p = 0.001; the seeds are fixed, so the result never changes.
#[test]
fn sizes_zones_and_reads_are_distributed_as_published() {
    for seed in [1, 219, 0xdead_beef] {
        let workload = workload(seed);
        let pattern = workload.pattern();
        let mut stream = Stream::new(seed, 0, 1, &pattern);
        let (mut sizes, mut zones, mut reads) = ([0u32; 12], [0u32; 3], [0u32; 2]);
        let mut places = [[0u32; BINS as usize]; 3];
        let units = workload.range.segment_bytes / 4096;
        for _ in 0..IOS {
            let access = stream.next_access();
            assert!(access.offset_bytes.is_multiple_of(4096), "not aligned to 4 KiB");
            let unit = access.offset_bytes / 4096;
            let size = SIZES.iter().position(|size| size.0 == access.block_bytes).expect("a published size");
            let zone = ZONES.iter().position(|zone| unit < units * zone.1 / 100).expect("within the range");
            sizes[size] += 1;
            zones[zone] += 1;
            reads[usize::from(access.read)] += 1;
            let from = zone.checked_sub(1).map_or(0, |before| units * ZONES[before].1 / 100);
            let length = units * ZONES[zone].1 / 100 - from;
            places[zone][((unit - from) * BINS / length) as usize] += 1;
        }
        let of_sizes = chi_square(&sizes, &SIZES.map(|size| f64::from(size.1)));
        assert!(of_sizes < 31.26, "sizes, seed {seed}: {of_sizes} with 11 degrees of freedom");
        let of_zones = chi_square(&zones, &ZONES.map(|zone| f64::from(zone.0)));
        assert!(of_zones < 13.82, "zones, seed {seed}: {of_zones} with 2 degrees of freedom");
        let of_reads = chi_square(&reads, &[60.0, 40.0]);
        assert!(of_reads < 10.83, "reads, seed {seed}: {of_reads} with 1 degree of freedom");
        for (zone, counts) in places.iter().enumerate() {
            let uniform = chi_square(counts, &[1.0; BINS as usize]);
            assert!(
                uniform < 37.70,
                "places in zone {zone}, seed {seed}: {uniform} with 15 degrees of freedom"
            );
        }
    }
}

#[test]
fn rounds_of_a_minute_follow_the_preconditioning() {
    let mut bench = Fake::new(|_, _| 1_000);
    let outcome = run_on("jesd219", "pts-e-2.0", &target(512), &mut bench);
    assert_eq!((outcome.stop.clone(), outcome.converged, outcome.rounds), (None, Some(true), 5));
    assert_eq!(bench.log[0], "purge");
    assert!(bench.log[1].starts_with("write SEQ 128KiB W"), "{:?}", bench.log);
    assert_eq!(bench.log[2..], vec!["RND 0.5KiB to 64KiB 40/60 TC4 QD256"; 5]);
    assert_eq!(titles(&outcome).len(), 4);
    let modified = pts::listed(&outcome.modified);
    assert!(modified.contains("is not a PTS test"), "{modified}");
    assert_eq!(outcome.key_figures[0].value, Some(1_000.0));
}

#[test]
fn large_sectors_are_refused() {
    let mut bench = Fake::new(|_, _| 1_000);
    let outcome = run_on("jesd219", "pts-e-2.0", &target(4096), &mut bench);
    assert!(outcome.stop.is_some() && bench.log.is_empty());
}
