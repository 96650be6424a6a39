//! Simulated drives as targets: the same calls as for real drives, in virtual time.

mod support;

use device::{DriveError, ErrorKind, OpenOptions, PurgeError, PurgeOptions, SimFaults};
use engine::{Flow, LoadOutcome, StreamOptions};
use record::{Access, PurgeEvidence, Purged, Regime, Segment, TargetKind, Until, Workload};
use support::{finish, workload};

const TARGET: &str = "sim:sas-slc-2011";
const SECOND_NS: u64 = 1_000_000_000;

fn scaled(scale: &str) -> device::Armed {
    faulty(scale, &[])
}

fn faulty(scale: &str, faults: &[&str]) -> device::Armed {
    let sim_faults = Some(SimFaults::Typed(faults.iter().map(|fault| (*fault).to_owned()).collect()));
    let options =
        OpenOptions { scale: Some(scale.into()), sim_seed: 3, sim_faults, ..OpenOptions::default() };
    let drive = device::open(TARGET, &options).expect("a simulated drive");
    assert!(!drive.needs_erase_confirmation() && drive.refusals().is_empty());
    drive.arm(None).expect("nothing to lose")
}

#[test]
fn facts_state_that_the_drive_is_simulated() {
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
    let request = Workload {
        until: Until::DurationNs(64 * SECOND_NS),
        read_percent: 65,
        threads: 2,
        ..workload(target.facts().capacity_bytes)
    };
    let segment = finish(&mut target, &request);
    assert_eq!(segment.workload, request);
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

/// An extended cell has coarser intervals instead of thousands of short ones; a long workload keeps intervals of
/// one scaled second.
#[test]
fn the_series_of_an_extended_cell_has_a_limited_number_of_intervals() {
    let cell = |until_ns| {
        let mut target = scaled("1/1024");
        let capacity = target.facts().capacity_bytes;
        let many = Workload { threads: 32, queue_depth: 32, block_bytes: 128 << 10, ..workload(capacity) };
        finish(&mut target, &Workload { until: Until::DurationNs(until_ns), ..many })
    };
    let short = cell(SECOND_NS);
    let (series, elapsed_ns) = (&short.series, short.end_ns - short.start_ns);
    assert!(elapsed_ns > 200 * SECOND_NS / 1024, "extended to {elapsed_ns} ns");
    assert!(
        series.interval_ns.is_multiple_of(SECOND_NS / 1024) && (32..=64).contains(&series.write_ios.len())
    );
    assert_eq!(series.write_ios.len() as u64, elapsed_ns.div_ceil(series.interval_ns));
    assert_eq!(series.write_ios.iter().sum::<u64>(), short.write.ios);
    assert_eq!(series.latency_max_ns.iter().max(), short.write.latency.max());
    let times = series.times.as_ref().expect("recorded");
    assert_eq!((times.len(), times.intervals_per_column()), (series.write_ios.len(), 1));
    assert_eq!(times.iter().flatten().map(|(_, count)| count).sum::<u64>(), short.write.ios);
    let long = cell(300 * SECOND_NS);
    assert_eq!(long.series.interval_ns, SECOND_NS / 1024);
    assert!(long.series.write_ios.len() >= 300);
}

/// A cell with a ramp is simulated command by command, under the same rules.
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

/// A failure that the drive reports after the end of a cell still counts.
#[test]
fn a_fault_reported_after_the_end_of_a_cell_is_an_error() {
    for fault in [
        "media:at=10%,length=80%,retry=600s",
        "timeout:after=0s,commands=2",
        "removal:after=10ms",
        "power:after=10ms",
    ] {
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
        let request =
            Workload { until: Until::DurationNs(256 * SECOND_NS), ..workload(target.facts().capacity_bytes) };
        finish(&mut target, &request)
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
    assert_eq!(outcome.expect("a stop"), LoadOutcome::Stopped);
    let tick = last.expect("one tick");
    assert!(tick.write_ios > 0 && tick.interval_ns == tick.elapsed_ns && tick.share_done < 1.0);
}

#[test]
fn wrong_names_and_scales_are_explained() {
    let open = |target: &str, scale: Option<&str>| {
        let options = OpenOptions { scale: scale.map(str::to_owned), ..OpenOptions::default() };
        let error = device::open(target, &options).expect_err("a mistake");
        (error.kind(), error.to_string())
    };
    let (kind, text) = open("sim:floppy", None);
    assert!(kind == ErrorKind::Unusable && text.contains("sas-slc-2011"), "{kind:?} {text}");
    let (kind, text) = open(TARGET, Some("2/3"));
    assert!(kind == ErrorKind::Invalid && text.contains("1/16"), "{kind:?} {text}");
}

fn drive_of(model: &str) -> device::Drive {
    let options = OpenOptions { scale: Some("1/1024".into()), sim_seed: 3, ..OpenOptions::default() };
    device::open(&format!("sim:{model}"), &options).expect("a simulated drive")
}

fn by(name: &str) -> PurgeOptions {
    PurgeOptions { method: Some(name.into()), ..PurgeOptions::default() }
}

/// Fills the drive with random writes, purges it and fills it again. Returns the purge and the IOPS of the second
/// fill.
fn purged_and_filled(target: &mut device::Armed, how: &PurgeOptions) -> (record::Purged, f64) {
    let capacity = target.facts().capacity_bytes;
    let random = Workload { until: Until::AmountBytes(capacity), queue_depth: 8, ..workload(capacity) };
    finish(target, &random);
    let purged = target.purge_with(how, &mut |_| Flow::Continue).expect("a purge");
    (purged, finish(target, &random).iops())
}

#[test]
fn each_interface_has_its_methods_and_the_default_is_as_it_was() {
    for (model, default, label) in [
        ("nvme-tlc-enterprise-2024", "nvme-format-user", "Format NVM (simulated)"),
        ("sata-mlc-2011", "ata-security-erase", "Security Erase (simulated)"),
        ("sas-slc-2011", "scsi-format-unit", "Format Unit (simulated)"),
    ] {
        let about = drive_of(model).about().expect("facts");
        let fact = |name: &str| about.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value);
        assert_eq!(fact("scale"), Some(&device::Value::Text("1/1024".into())));
        assert_eq!(fact("write_cache_on").is_some(), model == "sata-mlc-2011", "{model}");
        assert!(about.purge.len() >= 4 && about.purge.iter().all(|method| method.available));
        let chosen: Vec<_> = about.purge.iter().filter(|method| method.is_chosen).collect();
        assert_eq!(chosen.iter().map(|method| method.name).collect::<Vec<_>>(), [default]);
        let mut target = drive_of(model).arm(None).expect("nothing to lose");
        let purged = target.purge().expect("a purge");
        assert_eq!((purged.method.as_str(), purged.evidence.len()), (label, 0));
        let named = target.purge_with(&by(default), &mut |_| Flow::Continue).expect("a purge");
        assert_eq!((named.method.as_str(), named.evidence.len()), (label, 1));
    }
}

/// Flash with unmapped data must be erased later, whereas erased flash is like new.
#[test]
fn purges_differ_in_time_in_wear_and_in_their_aftermath() {
    let run = |name: &str| {
        let mut target = drive_of("sas-slc-2011").arm(None).expect("nothing to lose");
        purged_and_filled(&mut target, &by(name))
    };
    let (format, fresh) = run("scsi-format-unit");
    let (block, erased) = run("scsi-sanitize-block");
    let (crypto, forgotten) = run("scsi-sanitize-crypto");
    let (discard, _) = run("discard");
    assert!((erased / fresh - 1.0).abs() < 0.01, "{erased} after a sanitize, {fresh} after a format");
    assert!(forgotten < 0.995 * fresh, "{forgotten} after a cryptographic erase, {fresh} after a format");
    let took = |purged: &record::Purged| purged.end_ns - purged.start_ns;
    assert!(took(&format) > 0 && took(&block) > 0 && took(&crypto) < SECOND_NS / 100, "{crypto:?}");
    assert!(block.pts_purge && crypto.pts_purge && !discard.pts_purge);
    let [PurgeEvidence::MapUnits { before, after: 0, erased_superblocks: None }] = crypto.evidence[..] else {
        panic!("{crypto:?}")
    };
    assert!(before > 1000, "it was filled: {before}");
}

#[test]
fn a_purge_is_repeated_from_its_record() {
    for name in ["scsi-format-unit", "scsi-sanitize-block", "discard"] {
        let mut target = drive_of("sas-slc-2011").arm(None).expect("nothing to lose");
        let (purged, iops_after) = purged_and_filled(&mut target, &by(name));
        let mut again = drive_of("sas-slc-2011").arm(None).expect("nothing to lose");
        let capacity = again.facts().capacity_bytes;
        let random = Workload { until: Until::AmountBytes(capacity), queue_depth: 8, ..workload(capacity) };
        finish(&mut again, &random);
        assert_eq!(again.purge_again(&purged).expect("a purge"), purged);
        assert_eq!(finish(&mut again, &random).iops(), iops_after, "{name}");
    }
    let purged = scaled("1/1024").purge().expect("a purge");
    let other = Purged { method: "ATA Sanitize".into(), name: Some("ata-sanitize-block".into()), ..purged };
    let error = scaled("1/1024").purge_again(&other).expect_err("no such way");
    let DriveError::Purge(PurgeError::NotRecorded(method)) = error else { panic!("{error:?}") };
    assert_eq!(method, "ATA Sanitize");
}

#[test]
fn unsupported_values_are_refused_with_the_supported_ones() {
    let mut target = scaled("1/1024");
    for (how, kind, part) in [
        (by("nvme-format-user"), ErrorKind::Unusable, "scsi-format-unit, scsi-sanitize-block"),
        (by("magnet"), ErrorKind::Invalid, "unknown purge method 'magnet'"),
        (PurgeOptions { verify: true, ..by("discard") }, ErrorKind::Invalid, "stores no data"),
    ] {
        let error = target.check_purge(&how).expect_err("refused");
        assert!(error.kind() == kind && error.to_string().contains(part), "{error}");
        let purged = target.purge_with(&how, &mut |_| Flow::Continue);
        assert_eq!(purged.expect_err("refused").to_string(), error.to_string());
    }
    assert_eq!(target.now_ns(), 0, "nothing was done");
}

#[test]
fn power_returns_after_a_loss_during_concurrent_workloads() {
    let options = OpenOptions {
        scale: Some("1/1024".into()),
        sim_faults: Some(SimFaults::Typed(vec!["power:after=1h".into()])),
        ..OpenOptions::default()
    };
    let drive = device::open("sim:sata-mlc-2011", &options).expect("a simulated drive");
    let mut target = drive.arm(None).expect("nothing to lose");
    let capacity = target.facts().capacity_bytes;
    let cell = Workload { until: Until::DurationNs(7200 * SECOND_NS), ..workload(capacity) };
    let both = [cell.clone(), cell.clone()];
    let error = target
        .run_concurrently(&both, &[StreamOptions::default(); 2], &mut |_, _| Flow::Continue)
        .expect_err("a loss of power");
    let DriveError::Simulated(failure) = error else { panic!("{error:?}") };
    assert_eq!(failure.cause, nandsim::Cause::Power);
    let after = finish(&mut target, &Workload { until: Until::DurationNs(60 * SECOND_NS), ..cell });
    assert!(after.write.ios > 0);
    assert_eq!(target.health().unsafe_shutdowns, Some(1));
}

/// A history with a power loss during the second workload. Returns the interrupted workload, the next segment and
/// the health data.
fn life(ramp_ns: u64) -> (record::Cut, Segment, record::Health) {
    let options = OpenOptions {
        scale: Some("1/1024".into()),
        sim_faults: Some(SimFaults::Typed(vec!["power:after=1h".into()])),
        ..OpenOptions::default()
    };
    let drive = device::open("sim:sata-mlc-2011", &options).expect("a simulated drive");
    let mut target = drive.arm(None).expect("nothing to lose");
    let capacity = target.facts().capacity_bytes;
    let fill = Workload { until: Until::AmountBytes(capacity), ..workload(capacity) };
    finish(&mut target, &fill);
    let cell = Workload {
        until: Until::DurationNs(7200 * SECOND_NS),
        queue_depth: 8,
        regime: Regime { ramp_ns, ..Regime::default() },
        ..workload(capacity)
    };
    let error = target.run(&cell, &mut |_| Flow::Continue).expect_err("a loss of power");
    let DriveError::Simulated(failure) = error else { panic!("{error:?}") };
    assert_eq!(failure.cause, nandsim::Cause::Power);
    let (cut, errors) = (failure.cut.expect("what was measured"), failure.errors);
    assert_eq!((&cut.workload, &cut.errors, errors[0].count), (&cell, &errors, 8));
    let after = finish(&mut target, &Workload { until: Until::DurationNs(60 * SECOND_NS), ..cell });
    (*cut, after, target.health())
}

#[test]
fn a_power_loss_is_reported_with_the_interrupted_workload_and_power_returns() {
    let (cut, after, health) = life(0);
    let intervals = &cut.series.write_ios;
    assert!(intervals.len() > 10 && intervals.range(0..10).all(|ios| ios > 0), "{intervals:?}");
    assert!(after.start_ns > cut.start_ns && after.write.ios > 0);
    assert_eq!(health.unsafe_shutdowns, Some(1));
    assert_eq!(life(0), (cut, after, health), "to be repeated to the bit");
    let (cut, after, _) = life(SECOND_NS);
    assert!(cut.series.write_ios.is_empty() && after.write.ios > 0, "a ramp goes command by command");
}
