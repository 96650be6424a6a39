//! Simulated drives as targets: same calls, virtual time.

mod support;

use drive::{ErrorKind, Flow, OpenOptions, Outcome};
use record::{Access, Regime, TargetKind, Until, Workload};
use support::{finish, workload};

const TARGET: &str = "sim:sas-slc-2011";
const SECOND_NS: u64 = 1_000_000_000;

fn scaled(scale: &str) -> drive::Armed {
    faulty(scale, &[])
}

fn faulty(scale: &str, faults: &[&str]) -> drive::Armed {
    let sim_faults = Some(faults.iter().map(|fault| (*fault).to_owned()).collect());
    let options =
        OpenOptions { scale: Some(scale.into()), sim_seed: 3, sim_faults, ..OpenOptions::default() };
    let drive = drive::open(TARGET, &options).expect("a simulated drive");
    assert!(!drive.needs_erase_confirmation() && drive.refusals().is_empty());
    drive.arm(None).expect("nothing to lose")
}

#[test]
fn facts_say_that_it_is_simulated() {
    let target = scaled("1/64");
    let facts = target.facts();
    assert_eq!((facts.kind, facts.identity.as_str()), (TargetKind::Simulated, TARGET));
    assert_eq!(facts.vendor.as_deref(), Some("SIMULATED"));
    let simulated = facts.simulated.as_ref().expect("its label");
    assert_eq!((simulated.scale_divisor, simulated.seed), (64, 3));
    assert!(facts.capacity_bytes > 1 << 30 && facts.capacity_bytes < 2 << 30);
}

#[test]
fn durations_are_scaled_and_rates_are_not() {
    let mut target = scaled("1/64");
    let purged = target.purge().expect("a purge");
    assert_eq!((purged.method.as_str(), purged.pts_purge), ("Format Unit (simulated)", true));
    assert_eq!(purged.end_ns, target.now_ns());
    let asked = Workload {
        until: Until::DurationNs(64 * SECOND_NS),
        read_percent: 65,
        threads: 2,
        ..workload(target.facts().capacity_bytes)
    };
    let segment = finish(&mut target, &asked);
    assert_eq!(segment.workload, asked);
    assert_eq!(segment.end_ns - segment.start_ns, SECOND_NS);
    assert_eq!(segment.series.interval_ns, SECOND_NS / 64);
    assert_eq!(segment.series.read_ios.len(), 64);
    assert_eq!(segment.series.read_ios.iter().sum::<u64>(), segment.read.ios);
    assert_eq!(segment.series.write_ios.iter().sum::<u64>(), segment.write.ios);
    assert_eq!(segment.iops(), (segment.read.ios + segment.write.ios) as f64);
    let before_ns = target.now_ns();
    target.idle(64 * SECOND_NS).expect("idleness");
    assert_eq!(target.now_ns() - before_ns, SECOND_NS);
}

#[test]
fn short_cells_complete_enough_and_amounts_are_whole_blocks() {
    let mut target = scaled("1/1024");
    let capacity = target.facts().capacity_bytes;
    let cell = Workload { until: Until::DurationNs(1000), threads: 4, queue_depth: 32, ..workload(capacity) };
    assert!(finish(&mut target, &cell).write.ios >= 20 * 128);
    let pass = Workload {
        access: Access::Sequential,
        block_bytes: 128 << 10,
        until: Until::AmountBytes(capacity),
        ..workload(capacity)
    };
    assert_eq!(finish(&mut target, &pass).write.bytes, capacity / (128 << 10) * (128 << 10));
}

/// A cell with a ramp goes command by command; it keeps the same rules.
#[test]
fn short_cells_with_a_ramp_complete_enough_too() {
    let mut target = scaled("1/1024");
    let cell = Workload {
        until: Until::DurationNs(1000),
        threads: 4,
        queue_depth: 32,
        regime: Regime { ramp_ns: 1000, ..Regime::default() },
        ..workload(target.facts().capacity_bytes)
    };
    let segment = finish(&mut target, &cell);
    assert!(segment.write.ios >= 20 * 128, "{}", segment.write.ios);
    let sum_ns = segment.write.latency.sum() as f64;
    let in_flight = sum_ns / (segment.end_ns - segment.start_ns) as f64;
    assert!((in_flight / 128.0 - 1.0).abs() < 0.1, "{in_flight} of 128 in flight on average");
}

/// What the drive answers behind the end of a cell is an answer all the same.
#[test]
fn a_fault_that_shows_only_behind_the_end_of_a_cell_is_an_error() {
    for fault in ["media:at=10%,length=80%,retry=600s", "timeout:after=0s,commands=2", "removal:after=10ms"] {
        for ramp_ns in [0, SECOND_NS] {
            let mut target = faulty("1/256", &[fault]);
            let cell = Workload {
                until: Until::DurationNs(10 * SECOND_NS),
                queue_depth: 4,
                regime: Regime { ramp_ns, ..Regime::default() },
                ..workload(target.facts().capacity_bytes)
            };
            let error = target.run(&cell, &mut |_| Flow::Continue).expect_err("a fault");
            assert_eq!(error.kind(), ErrorKind::Device, "{fault} with a ramp of {ramp_ns} ns: {error}");
        }
    }
}

#[test]
fn runs_repeat_and_can_be_stopped() {
    let run = || {
        let mut target = scaled("1/256");
        let asked =
            Workload { until: Until::DurationNs(256 * SECOND_NS), ..workload(target.facts().capacity_bytes) };
        finish(&mut target, &asked)
    };
    assert_eq!(run(), run());

    let mut target = scaled("1/256");
    let hours = Workload {
        until: Until::DurationNs(3_600_000 * SECOND_NS),
        ..workload(target.facts().capacity_bytes)
    };
    let mut last = None;
    let outcome = target.run(&hours, &mut |tick| {
        last = Some(*tick);
        Flow::Stop
    });
    assert_eq!(outcome, Ok(Outcome::Stopped));
    let tick = last.expect("one tick");
    assert!(tick.write_ios > 0 && tick.interval_ns == tick.elapsed_ns && tick.share_done < 1.0);
}

#[test]
fn wrong_names_and_scales_are_explained() {
    let open = |target: &str, scale: Option<&str>| {
        let options = OpenOptions { scale: scale.map(str::to_owned), ..OpenOptions::default() };
        let error = drive::open(target, &options).expect_err("a mistake");
        assert_eq!(error.kind(), ErrorKind::Unusable);
        error.to_string()
    };
    assert!(open("sim:floppy", None).contains("sas-slc-2011"));
    assert!(open(TARGET, Some("2")).contains("1/16"));
}
