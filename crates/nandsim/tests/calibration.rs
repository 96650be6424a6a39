//! Checks the models against the measurements to which they were fitted: the results must match those that
//! `plateau sim show` prints. `examples/calibrate.rs` prints every cell.

mod common;

use common::{SECOND, load, run};
use nandsim::fit::{Demand, Kind, Measured, Row, Score, Throughput, simulate};
use nandsim::{Calibration, Load, MODELS, Model, Scale, Ssd, Until};
use stdx::access::Order;

/// Number of rounds used for the printed scores.
const ROUNDS: u32 = 6;
/// Scales at which the printed scores are computed. The test uses only the first scale.
const SCALES: [u32; 2] = [64, 16];

/// Recomputes a model's scores and figures, to detect changes in the simulator that affect them.
/// `PLATEAU_BLESS=1` writes the simulated values to the model's file instead.
fn check(name: &str) {
    let model = Model::named(name).unwrap();
    let measured = Measured::of_model(name).unwrap();
    let at = |scale_divisor| {
        let simulated = simulate(&model, Scale::one_over(scale_divisor).unwrap(), &measured, ROUNDS);
        (Score::of(&measured, &simulated.iops, scale_divisor), simulated)
    };
    let (score, simulated) = at(SCALES[0]);
    let rows = Row::of(&measured, &simulated.iops);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        let scores = vec![score, at(SCALES[1]).0];
        let figures = simulated.figures;
        bless(name, &Calibration { scores, rows, figures, ..model.calibration });
        return;
    }
    assert_eq!(score, model.calibration.scores[0], "{name}");
    assert_eq!(rows, model.calibration.rows, "{name}");
    assert_eq!(simulated.figures, model.calibration.figures, "{name}");
}

/// A kind of figure that is off by more than 10 % must be mentioned among the misfits, in the words that models
/// use for it.
#[test]
fn what_is_more_than_10_percent_off_is_named() {
    let words_for = |kind| match kind {
        Kind::Saturation => &["aturation rate"][..],
        Kind::Time => &["write cliff", "Write saturation"],
        Kind::Throughput => &["Sequential"],
        Kind::Mean => &["outstanding command"],
        Kind::Maximum => &["Latency maxima"],
    };
    for (name, _) in MODELS {
        let model = Model::named(name).unwrap();
        for figure in &model.calibration.figures {
            let is_off = (figure.simulated / figure.measured - 1.0).abs() > 0.1;
            let is_named = |words: &&str| model.misfits.iter().any(|misfit| misfit.contains(*words));
            let named = words_for(figure.kind).iter().any(is_named);
            assert!(named || !is_off, "{name}: no misfit says that {figure:?} is more than 10 % off");
        }
    }
}

/// Replaces the `[calibration]` of a model's file.
fn bless(name: &str, calibration: &Calibration) {
    let path = format!("{}/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("[calibration]\n").unwrap();
    let (_, after) = rest.split_once("[geometry]\n").unwrap();
    let table = toml::to_string(&std::collections::BTreeMap::from([("calibration", calibration)])).unwrap();
    std::fs::write(&path, format!("{before}{table}\n[geometry]\n{after}")).unwrap();
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

/// The published client drives write sequentially within their active range at full speed, although small
/// random writes to the same range are slow. This must not depend on the number of streams, so it is checked at
/// the measured demand and at other demands.
#[test]
fn sequential_writes_to_an_active_range_are_as_fast_as_measured() {
    for (name, mb_per_s) in [("sata-mlc-2011", 267.2), ("sata-mlc-hybrid-2011", 99.0)] {
        let measured = Measured::of_model(name).unwrap();
        let own = measured.throughput[0].demand;
        for (threads, queue_depth) in [(own.threads, own.queue_depth), (1, 32), (2, 16), (4, 8)] {
            let demand = Demand { threads, queue_depth };
            let throughput = vec![Throughput { demand, ..measured.throughput[0] }];
            let only = Measured { cells: Vec::new(), throughput, ..measured.clone().only_cells() };
            let model = Model::named(name).unwrap();
            let simulated = simulate(&model, Scale::one_over(64).unwrap(), &only, ROUNDS);
            let writes = simulated.figures.last().unwrap();
            println!("{name}, {threads} x {queue_depth}: {} of {mb_per_s} MB/s", writes.simulated);
            assert_eq!(writes.measured, mb_per_s);
            assert!(writes.error() < 0.08, "{name}, {threads} x {queue_depth}: {writes:?}");
        }
    }
}

/// After steady random writes, idle time restores some performance, whatever the translation layer.
#[test]
fn idle_time_restores_speed() {
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
        assert!(rested > 1.1, "{name}: {rested} x steady after two idle minutes");
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
