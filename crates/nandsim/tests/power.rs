//! Tests which acknowledged writes survive a power loss.

mod common;

use common::{SECOND, churn, fill, load, run, small_model};
use nandsim::{Cache, Cause, Faults, Hybrid, Load, Model, Scale, Ssd, Tally, Until};
use stdx::access::Order;

fn drive(volatile: bool, change: impl Fn(&mut Model)) -> Ssd {
    let mut model = small_model(64, 20.0, 256);
    model.firmware.volatile_buffer = volatile;
    change(&mut model);
    Ssd::new(&model, Scale::FULL, 1)
}

/// Writes sequentially until the power fails after 50 ms, then restores it. Returns the drive, the tally, and
/// the number of units mapped after that.
fn cut_off(mut ssd: Ssd) -> (Ssd, Tally, u64) {
    let at = ssd.now_ns() + SECOND / 20;
    ssd.inject_faults(Faults { power_lost_at_ns: vec![at], ..Faults::default() });
    let all = load(&ssd, Order::Sequential, 0, 4096, Until::Bytes(ssd.capacity_bytes()));
    let tally = run(&mut ssd, &Load { threads: 1, ..all });
    assert!(ssd.is_gone() && tally.end_ns == at, "{} is not {at}", tally.end_ns);
    let failed = tally.failed.expect("a power loss");
    assert_eq!((failed.first.cause, failed.unpowered, failed.removed), (Cause::Power, 16, 0));
    ssd.power_cycle();
    ssd.check().unwrap();
    assert!(!ssd.is_gone() && ssd.health().unsafe_shutdowns == 1);
    let mapped = ssd.mapped_units().into();
    (ssd, tally, mapped)
}

#[test]
fn a_volatile_buffer_loses_acknowledged_writes_and_a_protected_one_does_not() {
    let buffer = drive(true, |_| ()).buffer_bytes() / 4096;
    let (ssd, tally, mapped) = cut_off(drive(true, |_| ()));
    let answered = tally.write.ios;
    assert!(mapped < answered - buffer / 2 && mapped + buffer >= answered, "{mapped} of {answered}");
    assert_eq!(ssd.write_cache(), Some(true));
    let (_, tally, mapped) = cut_off(drive(false, |_| ()));
    assert!(mapped >= tally.write.ios && mapped <= tally.write.ios + 16, "{mapped} of {}", tally.write.ios);
}

#[test]
fn with_the_write_cache_off_no_acknowledged_write_is_lost() {
    let mut ssd = drive(true, |_| ());
    assert!(ssd.set_write_cache(false));
    let (ssd, tally, mapped) = cut_off(ssd);
    assert!(tally.write.ios > 100 && mapped >= tally.write.ios, "{mapped} of {}", tally.write.ios);
    assert_eq!(ssd.write_cache(), Some(true), "on after power-up");
}

#[test]
fn an_slc_cache_and_granules_lose_no_more_than_the_buffer() {
    let cached = |model: &mut Model| {
        let (bytes, program_us, read_us) = (8 << 20, 100.0, 20.0);
        model.cache =
            Some(Cache { bytes, program_us, read_us, fold_from_percent: 0.0, fold_below_programs: 2 });
    };
    let granules = |model: &mut Model| {
        model.hybrid =
            Some(Hybrid { granule_bytes: 16_384, log_bytes: 16 << 20, modify_us: 300.0, merge_us: 0.0 });
    };
    for change in [&cached as &dyn Fn(&mut Model), &granules] {
        let mut ssd = drive(true, change);
        fill(&mut ssd);
        churn(&mut ssd, 1);
        let (units, buffer) = (u64::from(ssd.mapped_units()), ssd.buffer_bytes() / 4096);
        let (mut ssd, _, mapped) = cut_off(ssd);
        assert!(mapped < units && mapped + buffer >= units, "{mapped} of {units}, buffer {buffer}");
        assert_eq!(churn(&mut ssd, 1).failed, None);
        ssd.check().unwrap();
    }
}

#[test]
fn a_scheduled_power_loss_changes_nothing_beforehand_and_happens_once() {
    let [mut without, mut with] = [1, 1].map(|_| drive(true, |_| ()));
    let now = with.now_ns();
    let power_lost_at_ns = vec![now + 20_000 * SECOND, now + 10_000 * SECOND];
    with.inject_faults(Faults { power_lost_at_ns, ..Faults::default() });
    for ssd in [&mut without, &mut with] {
        fill(ssd);
        churn(ssd, 2);
    }
    assert_eq!(with.state_hash(), without.state_hash());
    for losses in 1..=2 {
        // The power fails during idle time, so the next command finds the drive without power.
        with.idle(10_000 * SECOND);
        assert_eq!(churn(&mut with, 1).failed.map(|failed| failed.first.cause), Some(Cause::Power));
        with.power_cycle();
        assert_eq!((churn(&mut with, 1).failed, with.health().unsafe_shutdowns), (None, losses));
    }
}
