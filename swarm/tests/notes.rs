//! Restore records survive kills and power cuts.

use device::{Drive, OpenOptions};
use swarm::{Promise, explore_notes};

fn drive() -> Drive {
    plateau::mute();
    device::open("sim:sas-slc-2011", &OpenOptions::default()).expect("a simulated drive")
}

#[test]
fn every_setting_is_restored_after_every_crash() {
    let drive = drive();
    let explored =
        |seed| explore_notes(seed, drive.facts(), true).unwrap_or_else(|broken| panic!("{broken}"));
    let crash_points: u64 = (1..=12).map(explored).sum();
    assert!(crash_points > 3_000, "{crash_points}");
}

#[test]
fn a_disk_that_does_not_sync_is_detected() {
    let drive = drive();
    let broken = (1..=12).find_map(|seed| explore_notes(seed, drive.facts(), false).err());
    assert_eq!(broken.expect("a failure").promise, Promise::SettingsRestored);
}
