//! Page headers of PTS-E 1.1 and 2.0, by test.

mod support;

use pts::{Outcome, Phases};
use support::{Fake, run_on, target};

fn phases(test: &str, profile: &str) -> Phases {
    of(test, profile, |_| 1_000).header.phases
}

fn of(test: &str, profile: &str, iops: fn(u32) -> u64) -> Outcome {
    run_on(test, profile, &target(512), &mut Fake::new(move |round, _| iops(round)))
}

#[test]
fn tests_over_rounds() {
    let iops = phases("iops", "pts-c-2.0");
    assert_eq!(iops.pre_condition_1, ["SEQ 128KiB W", "TC 2/QD 16", "2X Device Capacity (AR 75%)"]);
    assert_eq!(iops.pre_condition_2, ["IOPS Loop", "TC 2/QD 16", "1-5"]);
    assert_eq!(iops.stimulus_1, ["IOPS Loop", "Outer Loop", "Inner Loop", "TC 2/QD 16", "1-5"]);
    assert_eq!(iops.stimulus_2, ["None", "N/A", "N/A"]);
    let tp = phases("tp-1024", "pts-e-2.0");
    assert_eq!(tp.pre_condition_1, ["SEQ 1024KiB W", "TC 1/QD 32", "2X Device Capacity"]);
    assert_eq!(tp.stimulus_1, ["SEQ 1024KiB", "100:0 / 0:100", "1024KiB", "TC 1/QD 32", "1-5"]);
    let lat = phases("lat", "pts-e-2.0");
    assert_eq!(lat.pre_condition_1, ["SEQ 128KiB W", "TC 4/QD 32", "2X Device Capacity"]);
    assert_eq!(lat.pre_condition_2, ["LAT Loop", "TC 1/QD 1", "1-5"]);
    assert_eq!(lat.stimulus_2, ["Histogram, RND 4KiB W", "TC 1/QD 1", "20 Minutes"]);
    assert_eq!(phases("lat", "pts-e-1.1").stimulus_2[0], "None");
}

#[test]
fn tests_over_time() {
    let wsat = phases("wsat", "pts-e-2.0");
    assert_eq!(wsat.pre_condition_1[0], "None");
    assert_eq!(wsat.stimulus_1, ["RND 4KiB W", "0:100", "4KiB", "TC 4/QD 32", "1-5, 155 Minutes"]);
    let hir = phases("hir", "pts-e-2.0");
    assert_eq!(hir.pre_condition_1, ["RND/4KiB", "TC 4/QD 32", "1-5"]);
    assert_eq!(hir.stimulus_1[0], "Write Stimulus RND/4KiB");
    let idle = "Durations 5,10,15,25,50 s; Wait States 1,2,3,5,10";
    assert_eq!(hir.stimulus_2, ["Idle State Host Idle", "N/A", idle]);
    let xsr = phases("xsr", "pts-e-1.1");
    assert_eq!(xsr.stimulus_2, ["RND 8KiB W", "TC 1/QD 32", "6 h"]);
}

#[test]
fn tests_over_demand() {
    let cbw = phases("cbw", "pts-e-2.0");
    assert_eq!(cbw.pre_condition_1, ["CBW 0/100", "TC 32/QD 32", "1-5"]);
    assert_eq!(cbw.pre_condition_2, ["Inter-Round Pre W: CBW 0/100", "TC 32/QD 32", "5 Minutes"]);
    let demand = "From 1-32, High to Low TOIO";
    assert_eq!(cbw.stimulus_1, ["CBW 40/60", "40:60", "Composite", demand, "1-5"]);
    // All points are equal, so the lowest demand is chosen for all three.
    assert_eq!(cbw.stimulus_2, ["Min, Mid, Max IOPS Point", "1,1; 1,1; 1,1", "10 Minutes each"]);
    let dirth = phases("dirth", "pts-e-1.1");
    assert_eq!(dirth.stimulus_1[..3], ["RND 8KiB 65/35", "65:35", "8KiB"]);
}

#[test]
fn unsteady_results_are_labelled() {
    let swinging = of("cbw", "pts-e-2.0", |round| 1_000 * u64::from(1 + round % 2));
    assert_eq!(swinging.header.phases.pre_condition_1[2], "21-25 (NOT ACHIEVED)");
    assert_eq!(swinging.header.phases.stimulus_1[4], "21-25 (NOT ACHIEVED)");
}
