//! Checks the models against the tables they were fitted to: they must reproduce what `plateau sim show` prints.
//! `examples/calibrate.rs` prints every cell.

mod common;

use common::{SECOND, load, run};
use nandsim::fit::{Measured, Score, simulate};
use nandsim::{Load, MODELS, Model, Scale, Ssd, Until};
use stdx::access::Order;

/// Number of rounds used for the printed scores.
const ROUNDS: u32 = 6;

/// Recomputes the scores and figures that a model prints, to catch changes of the simulator that affect them.
fn check(name: &str) {
    let model = Model::named(name).unwrap();
    let measured = Measured::of_model(name).unwrap();
    let printed = model.calibration.scores[0];
    let scale = Scale::one_over(printed.scale_divisor).unwrap();
    let simulated = simulate(&model, scale, &measured, ROUNDS);
    assert_eq!(Score::of(&measured, &simulated.iops, printed.scale_divisor), printed, "{name}");
    assert_eq!(simulated.figures, model.calibration.figures, "{name}");
    let beyond = simulated.figures.iter().filter(|figure| figure.unit == "IOPS");
    let beyond: Vec<_> = beyond.filter(|f| (f.simulated / f.measured - 1.0).abs() > 0.1).collect();
    let said = model.misfits.iter().any(|misfit| misfit.contains("aturation"));
    assert!(beyond.is_empty() || said, "{name}: {beyond:?} is more than 10 % off, and no misfit says so");
}

#[test]
fn the_slc_model_does_what_it_prints() {
    check("sas-slc-2011");
}

#[test]
fn the_fast_slc_model_does_what_it_prints() {
    check("sas-slc-fast-2011");
}

#[test]
fn the_mlc_model_does_what_it_prints() {
    check("sata-mlc-2011");
}

#[test]
fn the_hybrid_model_does_what_it_prints() {
    check("sata-mlc-hybrid-2011");
}

#[test]
fn the_sata_enterprise_model_does_what_it_prints() {
    check("sata-eslc-2012");
}

#[test]
fn the_tlc_model_does_what_it_prints() {
    check("nvme-tlc-2018");
}

#[test]
fn a_model_with_a_reference_prints_its_calibration() {
    for (name, _) in MODELS {
        let calibration = Model::named(name).unwrap().calibration;
        let fitted = Measured::of_model(name).is_some();
        assert_eq!(fitted, !calibration.scores.is_empty(), "{name}");
        assert_eq!(fitted, calibration.aim_percent > 0.0, "{name}");
        assert!(fitted || calibration.notes[0].starts_with("Not calibrated"), "{name}");
    }
}

/// After steady random writes, idle time restores some speed with any translation layer.
#[test]
fn a_rest_gives_speed_back() {
    for name in ["sas-slc-2011", "sata-mlc-2011", "sata-mlc-hybrid-2011"] {
        let scale = Scale::one_over(64).unwrap();
        let mut ssd = Ssd::new(&Model::named(name).unwrap(), scale, 1);
        let capacity = ssd.capacity_bytes();
        let writes = load(&ssd, Order::Random, 0, 4096, Until::Bytes(3 * capacity));
        run(&mut ssd, &writes);
        let five = |seed| Load { seed, until: Until::ForNs(5 * SECOND / 64), ..writes };
        let steady = run(&mut ssd, &five(1)).iops();
        ssd.idle(120 * SECOND / 64);
        let rested = run(&mut ssd, &five(2)).iops() / steady;
        println!("{name}: {rested:.2} x steady");
        assert!(rested > 1.1, "{name}: {rested} x steady after two minutes of rest");
    }
}

/// The point at which the fresh rate drops, in drive fills, compared with the value read off the measured curve.
#[test]
fn the_client_drive_falls_where_the_measured_one_fell() {
    let mut ssd = Ssd::new(&Model::named("sata-mlc-2011").unwrap(), Scale::one_over(64).unwrap(), 1);
    let capacity = ssd.capacity_bytes();
    let wsat = Load {
        threads: 16,
        queue_depth: 2,
        tick_ns: SECOND / 8,
        ..load(&ssd, Order::Random, 0, 4096, Until::Bytes(4 * capacity))
    };
    let tally = run(&mut ssd, &wsat);
    let first = tally.ticks[2].write_ios as f64;
    let falls = tally.ticks.iter().position(|tick| (tick.write_ios as f64) < 0.8 * first).unwrap();
    let bytes: u64 = tally.ticks[..falls].iter().map(|tick| tick.write_bytes).sum();
    let fills = bytes as f64 / capacity as f64;
    println!("falls after {fills:.2} fills, measured about 1.0");
    assert!((0.85..1.15).contains(&fills), "{fills}");
}
