//! The choice of an engine by measurement, on a loop device that the test created.

use serde_json::Value;

use super::support::Bench;
use super::support::loop_device::{SIZE, attach, identity};

/// Content of each byte of the image before a load.
const OLD: u8 = 7;

/// Checks the recorded choice. How fast the host is decides only between measurements and the reason "slow".
fn check(choice: &Value, is_written: bool) {
    let Some(measured) = choice.get("measured") else {
        assert_eq!(choice["fixed_order"]["reason"], "slow", "{choice}");
        return;
    };
    let engines = measured["engines"].as_array().expect("engines");
    assert!(engines.len() >= 2, "{choice}");
    for engine in engines {
        let rounds = engine["rounds"].as_array().expect("rounds");
        assert_eq!(rounds.len(), 3, "{choice}");
        for figure in ["ios", "iops", "outstanding_milli", "cpu_ns_per_io"] {
            assert!(rounds.iter().all(|round| round[figure].as_u64() > Some(0)), "{figure}: {choice}");
        }
    }
    assert_eq!(measured["written_bytes"].as_u64().is_some(), is_written, "{choice}");
}

#[test]
fn the_engine_is_measured_within_the_load_and_recorded() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &[]) else { return };
    std::fs::write(&device.image, vec![OLD; SIZE as usize]).expect("content");
    let content = || std::fs::read(&device.image).expect("content");
    let load = |words: &[&str]| {
        let document = bench.json(&[&["load", &device.path, "--bs=4k", "--iodepth=8"], words].concat());
        document["jobs"][0]["engine_choices"][0].clone()
    };
    check(&load(&["--rw=randread", "--size=32M", "--loops=6"]), false);
    assert!(content().iter().all(|byte| *byte == OLD), "a load that reads writes nothing");

    assert!(load(&["--rw=randread", "--size=1M", "--ioengine=libaio"]).is_null());
    let short = load(&["--rw=randread", "--size=1M"]);
    assert_eq!(short["fixed_order"]["reason"], "short", "{short}");

    let erase = identity(&bench, &device.path);
    let part = ["--rw=randwrite", "--offset=4M", "--size=8M", "--loops=24", "--erase", &erase];
    check(&load(&part), true);
    for (offset, byte) in content().iter().enumerate() {
        let is_inside = (4 << 20..12 << 20).contains(&offset);
        assert!(is_inside || *byte == OLD, "byte {offset} is outside of the load's range");
    }
}
