//! What a smaller scale keeps, how blocks wear, and drives beside each other.

mod common;

use common::{SECOND, fill, load, run};
use nandsim::{Load, Model, Scale, Ssd, Until, VictimPolicy};
use stdx::access::Order;

/// An eighth of an SLC drive and a thirty-second of the same.
fn scaled(n: u32) -> Ssd {
    let mut model = Model::named("sas-slc-2011").unwrap();
    // A drive that keeps a test short: 16 GB, so that 1/32 of it still has its 1024 superblocks.
    model.geometry.capacity_bytes = 16 << 30;
    Ssd::new(&model, Scale::one_over(n).unwrap(), 1)
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

/// Rate over the time in 40 equal parts of three capacities of random writes.
fn saturation(n: u32) -> Vec<f64> {
    let mut ssd = scaled(n);
    ssd.purge();
    let capacity = ssd.capacity_bytes();
    (0..40)
        .map(|part| {
            let until = Until::Bytes(capacity * 3 / 40 / 4096 * 4096);
            let part = Load { seed: part, ..load(&ssd, Order::Random, 0, 4096, until) };
            run(&mut ssd, &part).iops()
        })
        .collect()
}

/// The curve of 1/32 departs from that of 1/8 by at most 2 percent.
#[test]
fn a_smaller_scale_keeps_the_write_saturation() {
    let mut off: Vec<f64> =
        saturation(8).iter().zip(saturation(32)).map(|(a, b)| (b / a - 1.0).abs() * 100.0).collect();
    let (median, most) = (percentile(&mut off, 0.5), percentile(&mut off, 1.0));
    println!("saturation at 1/32 against 1/8: median {median:.2} %, most {most:.2} %");
    assert!(most <= 2.0, "median {median}, most {most}");
}

/// Half of the cells depart by at most 2 percent, nine of ten by at most 5.
#[test]
fn a_smaller_scale_keeps_the_cells() {
    let cells = |n: u32| {
        let mut ssd = scaled(n);
        ssd.purge();
        fill(&mut ssd);
        fill(&mut ssd);
        let time = Until::ForNs(10 * SECOND / u64::from(n));
        let mut rates = Vec::new();
        for round in 0..3 {
            rates.clear();
            for read_percent in [100, 65, 35, 0] {
                for block in [131_072, 16_384, 4096, 512] {
                    let seed = round * 64 + rates.len() as u64;
                    let cell = load(&ssd, Order::Random, read_percent, block, time);
                    rates.push(run(&mut ssd, &Load { seed, min_completions: 640, ..cell }).iops());
                }
            }
        }
        rates
    };
    let mut off: Vec<f64> =
        cells(8).iter().zip(cells(32)).map(|(a, b)| (b / a - 1.0).abs() * 100.0).collect();
    let (median, p90) = (percentile(&mut off, 0.5), percentile(&mut off, 0.9));
    println!("cells at 1/32 against 1/8: median {median:.2} %, 90th percentile {p90:.2} %");
    assert!(median <= 2.0, "median {median}");
    assert!(p90 <= 5.0, "90th percentile {p90}");
}

#[test]
fn wear_is_counted_for_each_superblock() {
    let spread = |policy: VictimPolicy| {
        let mut model = common::small_model(64, 15.0, 64);
        model.firmware.victim_policy = policy;
        model.geometry.rated_erases = 100;
        let mut ssd = Ssd::new(&model, Scale::FULL, 1);
        fill(&mut ssd);
        // Nine of ten writes never touch the second half.
        for seed in 0..40 {
            let half = stdx::access::Span::contiguous(0, ssd.capacity_bytes() / 2);
            let until = Until::Bytes(ssd.capacity_bytes() / 2);
            let writes = Load { seed, span: half, ..load(&ssd, Order::Random, 0, 4096, until) };
            run(&mut ssd, &writes);
        }
        let smart = ssd.smart();
        assert!(
            smart.least_erases <= smart.mean_erases && smart.mean_erases <= smart.most_erases,
            "{smart:?}"
        );
        let used = smart.percentage_used;
        assert!(
            (smart.mean_erases..=smart.mean_erases + 1).contains(&used),
            "of 100 rated erases: {smart:?}"
        );
        ssd.check().unwrap();
        smart
    };
    let (greedy, ring) = (spread(VictimPolicy::Greedy), spread(VictimPolicy::Ring));
    assert_eq!(greedy.least_erases, 0, "greedy collection leaves cold blocks alone: {greedy:?}");
    assert!(ring.least_erases * 10 >= ring.most_erases * 8, "a ring wears all alike: {ring:?}");
    assert!(ring.mean_erases > greedy.mean_erases, "and pays for it");
}

/// Each drive runs in a thread of its own; what one does is what it does alone.
#[test]
fn drives_run_beside_each_other_and_do_what_they_do_alone() {
    let history = |name: &str, seed: u64| {
        let scale = Scale::one_over(512).unwrap();
        let mut ssd = Ssd::new(&Model::named(name).unwrap(), scale, seed);
        ssd.purge();
        fill(&mut ssd);
        let mixed = load(&ssd, Order::Random, 65, 4096, Until::ForNs(SECOND / 8));
        run(&mut ssd, &mixed);
        ssd.state_hash()
    };
    let drives =
        [("sas-slc-2011", 1), ("sata-mlc-hybrid-2011", 1), ("nvme-tlc-2018", 1), ("sas-slc-2011", 2)];
    let alone = drives.map(|(name, seed)| history(name, seed));
    let together = std::thread::scope(|scope| {
        drives
            .map(|(name, seed)| scope.spawn(move || history(name, seed)))
            .map(|thread| thread.join().unwrap())
    });
    assert_eq!(alone, together);
    assert_ne!(alone[0], alone[3], "another seed is another drive");
}
