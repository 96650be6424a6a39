//! Properties that scaling preserves, block wear, and drives that run concurrently.

mod common;

use common::{SECOND, fill, load, run};
use nandsim::fit::{Deviation, Measured, saturation_curve, simulate};
use nandsim::{Load, Model, Scale, Ssd, Until, VictimPolicy};
use stdx::access::Order;

const MODEL: &str = "sas-slc-2011";

fn one_over(n: u32) -> Scale {
    Scale::one_over(n).unwrap()
}

/// The curve at 1/32 deviates from that at 1/8 by at most 2 percent.
#[test]
fn a_smaller_scale_keeps_the_write_saturation() {
    let model = Model::named(MODEL).unwrap();
    let [large, small] = [8, 32].map(|n| saturation_curve(&model, one_over(n)));
    let off = Deviation::between(&large, &small);
    println!("saturation at 1/32 against 1/8: {off:?}");
    assert!(off.most_percent <= 2.0, "{off:?}");
}

/// Half of the 56 cells deviate by at most 2 percent, and nine out of ten by at most 5.
#[test]
fn a_smaller_scale_keeps_the_cells() {
    let model = Model::named(MODEL).unwrap();
    let cells = Measured::of_model(MODEL).unwrap().only_cells();
    let [large, small] = [8, 32].map(|n| simulate(&model, one_over(n), &cells, 8).iops);
    assert_eq!(large.len(), 56);
    let off = Deviation::between(&large, &small);
    println!("56 cells at 1/32 against 1/8: {off:?}");
    assert!(off.median_percent <= 2.0 && off.p90_percent <= 5.0, "{off:?}");
}

#[test]
fn wear_is_counted_for_each_superblock() {
    let spread = |policy: VictimPolicy| {
        let mut model = common::small_model(64, 15.0, 64);
        model.firmware.victim_policy = policy;
        model.geometry.rated_erases = 100;
        let mut ssd = Ssd::new(&model, Scale::FULL, 1);
        fill(&mut ssd);
        // After the fill, all writes go to the first half.
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
    assert!(ring.least_erases * 10 >= ring.most_erases * 8, "a ring wears all superblocks evenly: {ring:?}");
    assert!(ring.mean_erases > greedy.mean_erases, "and needs more erases");
}

/// Each drive runs in its own thread and behaves as it does alone.
#[test]
fn concurrent_drives_behave_as_they_do_alone() {
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
    let concurrent = std::thread::scope(|scope| {
        drives
            .map(|(name, seed)| scope.spawn(move || history(name, seed)))
            .map(|thread| thread.join().unwrap())
    });
    assert_eq!(alone, concurrent);
    assert_ne!(alone[0], alone[3], "another seed yields another drive");
}
