//! Runs the loop against a model of a zoned device that checks what real devices demand: writes at the write pointer, one at
//! a time in each zone, within the capacity and the limit of open zones; reads of written data; resets of idle zones.

mod model;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use proptest::prelude::*;
use record::{
    Access as Order, Commands, EarlyResets, Range as TargetRange, Regime, Syncs, Tolerated, Until, Zoned,
};
use stdx::Rng;
use stdx::access::Stream;
use zones::{Zone, ZoneReport};

use model::{Model, ModelCommands, ModelZone};

use super::*;
use crate::clock::Clock;
use crate::load::fill::Fill;
use crate::load::forgiven::Forgiven;
use crate::load::periodic_syncs::PeriodicSyncs;
use crate::load::recorder::Recorder;
use crate::load::worker::{Ahead, Failure, Repeats, Request, Worker};
use crate::queue::stamps::Stamps;
use crate::queue::{Completion, Queue, Slot, Sync};

const ZONE_BYTES: u64 = 64 << 10;
const CAPACITY_BYTES: u64 = 48 << 10;
const SECOND_NS: u64 = 1_000_000_000;

/// A queue that completes its I/Os in a random order, some of them at each wait.
struct ModelQueue {
    device: Arc<Mutex<Model>>,
    trims: bool,
    pushed: Vec<(Slot, Access)>,
    finished: VecDeque<Completion>,
    rng: Rng,
    stamps: Stamps,
    memory: Vec<u8>,
}

impl Queue for ModelQueue {
    fn buffer(&mut self, _: Slot) -> &mut [u8] {
        &mut self.memory
    }

    fn push(&mut self, slot: Slot, access: Access) {
        assert!(self.pushed.iter().all(|(pushed, _)| *pushed != slot), "one I/O per slot");
        self.device.lock().unwrap().begin(access, self.trims);
        self.pushed.push((slot, access));
    }

    fn push_sync(&mut self, _: Slot, _: Sync) {
        unreachable!("no syncs");
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        assert!(!self.pushed.is_empty(), "nothing to wait for");
        for _ in 0..=self.rng.below(self.pushed.len() as u64) {
            if self.pushed.is_empty() {
                break;
            }
            let (slot, access) = self.pushed.swap_remove(self.rng.below(self.pushed.len() as u64) as usize);
            self.device.lock().unwrap().end(access, self.trims);
            let (result, started_ns) = (access.block_bytes.cast_signed(), self.stamps.now_ns());
            self.finished.push_back(Completion { slot, result, started_ns, done_ns: started_ns });
        }
        Ok(())
    }

    fn wait_until(&mut self, _: u64) -> io::Result<()> {
        self.wait()
    }

    fn reap(&mut self) -> Option<Completion> {
        self.finished.pop_front()
    }
}

/// Returns zones of which the first are conventional and the others are written at random.
fn report(count: u64, conventional: u64, most_open: u32, rng: &mut Rng) -> ZoneReport {
    let mut left = most_open;
    let zone = |index: u64| {
        let is_sequential = index >= conventional;
        let capacity_bytes = if is_sequential { CAPACITY_BYTES } else { ZONE_BYTES };
        let start_bytes = index * ZONE_BYTES;
        let mut written = if is_sequential { rng.below(CAPACITY_BYTES / 4096 + 1) * 4096 } else { 0 };
        let is_open = written > 0 && written < CAPACITY_BYTES;
        if is_open && most_open > 0 {
            written = if left > 0 { written } else { 0 };
            left = left.saturating_sub(1);
        }
        Zone {
            start_bytes,
            length_bytes: ZONE_BYTES,
            capacity_bytes,
            pointer_bytes: start_bytes + written,
            is_sequential,
            is_writable: true,
            is_readable: true,
            is_open: written > 0 && written < CAPACITY_BYTES,
        }
    };
    ZoneReport { zone_bytes: ZONE_BYTES, most_open, zones: (0..count).map(zone).collect() }
}

fn device(report: &ZoneReport, reads_beyond: bool) -> Arc<Mutex<Model>> {
    let zones = report.zones.iter().map(|zone| ModelZone { zone: *zone, writes: 0, readers: 0 }).collect();
    Arc::new(Mutex::new(Model {
        zones,
        most_open: report.most_open as usize,
        reads_beyond,
        resets: 0,
        early_resets: 0,
        finishes: 0,
        written_bytes: 0,
    }))
}

fn workload(zones: u64, read_percent: u8, block_bytes: u32, zoned: Zoned, passes: u64) -> Workload {
    let range = TargetRange::first(zones * ZONE_BYTES);
    Workload {
        access: Order::Random,
        read_percent,
        block_bytes,
        range,
        until: Until::AmountBytes(passes * range.segment_bytes),
        commands: self::zoned(zoned),
        ..crate::ceiling::workload(1, 1)
    }
}

/// Runs one thread. Returns its failure.
fn run(zones: &Zones, device: &Arc<Mutex<Model>>, workload: &Workload, seed: u64) -> Option<Failure> {
    run_counting(zones, device, workload, seed).0
}

/// Runs one thread. Returns its failure, and the number of resets that it counted.
fn run_counting(
    zones: &Zones,
    device: &Arc<Mutex<Model>>,
    workload: &Workload,
    seed: u64,
) -> (Option<Failure>, u64) {
    let job = zones.table().job(workload, workload.zoned().unwrap(), smallest_bytes(workload));
    let mut use_of_zones = Some(ZoneUse::with(zones, job, Box::new(ModelCommands(Arc::clone(device)))));
    let clock = Clock::start();
    let (sender, _receiver) = sync_channel(1);
    let stop = AtomicBool::new(false);
    let Until::AmountBytes(left_bytes) = workload.until else { unreachable!("an amount") };
    let mut worker = Worker {
        queue: ModelQueue {
            device: Arc::clone(device),
            trims: workload.regime.trims,
            pushed: Vec::new(),
            finished: VecDeque::new(),
            rng: Rng::from_seed(seed),
            stamps: Stamps::of(clock),
            memory: vec![0; workload.block_bytes as usize],
        },
        clock,
        ahead: Ahead::of(Stream::new(seed, 0, 1, &workload.pattern()), left_bytes),
        content: Fill::new(workload.data_pattern, seed, 0),
        recorder: Recorder::new(SECOND_NS, None, sender),
        depth: workload.queue_depth,
        write_buffers: None,
        deadline_ns: u64::MAX,
        stop: &stop,
        requests: vec![Request::default(); workload.queue_depth.into()],
        failure: None,
        forgiven: Forgiven::of(Tolerated::NONE),
        repeats: Repeats::reserved(workload.queue_depth),
        late: false,
    };
    worker.recorder.start(clock.now_ns(), 0);
    worker.run_stepped(PeriodicSyncs::of(Syncs::NONE), None, None, use_of_zones.take()).expect("a queue");
    assert!(worker.queue.pushed.is_empty(), "every I/O has completed");
    (worker.failure, worker.recorder.finish().tally.zone_resets)
}

/// Checks that the table knows the state of the device.
fn agrees(zones: &Zones, device: &Arc<Mutex<Model>>) {
    let found: Vec<u64> = device.lock().unwrap().zones.iter().map(|model| model.zone.pointer_bytes).collect();
    assert_eq!(zones.table().pointers(), found);
}

fn shared(report: &ZoneReport, workloads: &[&Workload]) -> Zones {
    let limit = zones::limit(report, workloads);
    Zones::new(Table::new(report.clone(), limit))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_device_accepts_every_io(
        seed in any::<u64>(),
        count in 3u64..12,
        conventional in 0u64..2,
        most_open in 0u32..4,
        shift in 0u32..3,
        queue_depth in 1u16..9,
        read_percent in prop::sample::select(vec![0u8, 50, 100]),
        is_random in any::<bool>(),
        reads_beyond in any::<bool>(),
        early in prop::option::of((0u16..1000, 1u16..=1000)),
    ) {
        let report = report(count, conventional, most_open, &mut Rng::from_seed(seed));
        let early_resets = early.map(|(threshold_milli, per_thousand_writes)| {
            EarlyResets { threshold_milli, per_thousand_writes }
        });
        let zoned = Zoned { early_resets, reads_beyond, ..Zoned::default() };
        // Blocks of 4, 8 and 16 KiB; 48 KiB is a multiple of all, but the write pointers need not be.
        let mut workload = Workload { queue_depth, ..workload(count, read_percent, 4096 << shift, zoned, 4) };
        if !is_random && read_percent != 50 {
            workload.access = Order::Sequential;
        }
        prop_assert!(zones::check(&report, &workload, false).is_ok());
        let (zones, device) = (shared(&report, &[&workload]), device(&report, reads_beyond));
        prop_assert!(run(&zones, &device, &workload, seed).is_none());
        agrees(&zones, &device);
        if read_percent == 0 {
            let written = device.lock().unwrap().written_bytes;
            prop_assert!(written > 0);
        }
    }
}

#[test]
fn threads_share_zones_without_conflict() {
    for seed in 0..20 {
        let report = report(6, 0, 2, &mut Rng::from_seed(seed));
        let write = Workload { queue_depth: 4, ..workload(6, 0, 8192, Zoned::default(), 40) };
        let read = Workload { queue_depth: 8, ..workload(6, 100, 4096, Zoned::default(), 40) };
        let mix = Workload { queue_depth: 3, ..workload(6, 50, 4096, Zoned::default(), 40) };
        let trims = Regime { trims: true, ..Regime::default() };
        let trim = Workload { regime: trims, ..workload(6, 0, ZONE_BYTES as u32, Zoned::default(), 20) };
        let all = [&write, &write, &read, &mix, &trim];
        let (zones, device) = (shared(&report, &all), device(&report, false));
        std::thread::scope(|scope| {
            for (index, workload) in all.into_iter().enumerate() {
                let (zones, device) = (&zones, &device);
                scope.spawn(move || assert!(run(zones, device, workload, seed + index as u64).is_none()));
            }
        });
        agrees(&zones, &device);
        let device = device.lock().unwrap();
        assert!(device.resets > 0 && device.written_bytes > 80 * 6 * ZONE_BYTES / 2);
    }
}

#[test]
fn sequential_writes_continue_at_write_pointers_and_reset_full_zones() {
    let mut report = report(4, 0, 0, &mut Rng::from_seed(1));
    for (zone, written) in report.zones.iter_mut().zip([0, CAPACITY_BYTES, 8192, 4096]) {
        zone.pointer_bytes = zone.start_bytes + written;
    }
    for passes in [1, 3] {
        let write = Workload { access: Order::Sequential, ..workload(4, 0, 4096, Zoned::default(), passes) };
        let (zones, device) = (shared(&report, &[&write]), device(&report, false));
        let (failure, resets) = run_counting(&zones, &device, &write, 1);
        assert!(failure.is_none());
        let device = device.lock().unwrap();
        assert_eq!(resets, device.resets);
        // The first pass writes the full zone again, and the rests of the others; the next ones write all of them.
        let expected = (1 + 4 * (passes - 1), passes * 4 * CAPACITY_BYTES - 8192 - 4096);
        assert_eq!((device.resets, device.written_bytes), expected);
        all_full(&device);
    }
}

/// As in fio.
#[test]
fn only_resets_of_zones_with_data_count() {
    let mut report = report(4, 0, 0, &mut Rng::from_seed(1));
    for (zone, written) in report.zones.iter_mut().zip([0, CAPACITY_BYTES, 8192, 0]) {
        zone.pointer_bytes = zone.start_bytes + written;
    }
    let regime = Regime { trims: true, ..Regime::default() };
    let trim = workload(4, 0, ZONE_BYTES as u32, Zoned::default(), 1);
    let trim = Workload { access: Order::Sequential, regime, ..trim };
    let (zones, device) = (shared(&report, &[&trim]), device(&report, false));
    let (failure, resets) = run_counting(&zones, &device, &trim, 1);
    assert!(failure.is_none());
    assert_eq!((resets, device.lock().unwrap().resets), (2, 4));
}

fn all_full(device: &Model) {
    assert!(
        device.zones.iter().all(|model| model.zone.pointer_bytes - model.zone.start_bytes == CAPACITY_BYTES)
    );
}

#[test]
fn sequential_reads_end_where_the_data_ends() {
    let mut report = report(4, 0, 0, &mut Rng::from_seed(1));
    for (zone, written) in report.zones.iter_mut().zip([8192, 0, CAPACITY_BYTES, 4096]) {
        zone.pointer_bytes = zone.start_bytes + written;
    }
    let read =
        Workload { access: Order::Sequential, queue_depth: 4, ..workload(4, 100, 4096, Zoned::default(), 1) };
    let (zones, device) = (shared(&report, &[&read]), device(&report, false));
    let job = zones.table().job(&read, Zoned::default(), 4096);
    let mut issued = 0;
    for block in 0..4 * ZONE_BYTES / 4096 {
        let access = Access { read: true, block_bytes: 4096, offset_bytes: block * 4096 };
        issued += u64::from(matches!(zones.table().place(&job, access), Placed::Issue(at) if at == access));
    }
    assert_eq!(issued, (8192 + CAPACITY_BYTES + 4096) / 4096);
    assert!(run(&zones, &device, &read, 1).is_none());
    // Without data, reads end at once, also without a limit of their number.
    report.zones.iter_mut().for_each(|zone| zone.pointer_bytes = zone.start_bytes);
    for access in [Order::Sequential, Order::Random] {
        let read = Workload { access, until: Until::AmountBytes(1 << 50), ..read.clone() };
        let (zones, device) = (shared(&report, &[&read]), self::device(&report, false));
        assert!(run(&zones, &device, &read, 1).is_none());
    }
}

#[test]
fn zones_are_reset_early_above_the_threshold() {
    let early = EarlyResets { threshold_milli: 500, per_thousand_writes: 250 };
    for (early_resets, expected) in [(None, false), (Some(early), true)] {
        let report = report(8, 0, 0, &mut Rng::from_seed(3));
        let write = workload(8, 0, 4096, Zoned { early_resets, ..Zoned::default() }, 10);
        let (zones, device) = (shared(&report, &[&write]), device(&report, false));
        assert!(run(&zones, &device, &write, 1).is_none());
        let device = device.lock().unwrap();
        assert_eq!(device.early_resets > 10, expected, "{} early resets", device.early_resets);
        assert!(device.resets > 10);
    }
}

#[test]
fn the_limit_of_each_thread_is_respected() {
    let mut report = report(8, 0, 6, &mut Rng::from_seed(3));
    report.zones.iter_mut().for_each(|zone| (zone.pointer_bytes, zone.is_open) = (zone.start_bytes, false));
    let write = workload(8, 0, 4096, Zoned { thread_max_open_zones: 2, ..Zoned::default() }, 1);
    let zones = shared(&report, &[&write]);
    let (one, two) = {
        let mut table = zones.table();
        let mut job = || table.job(&write, write.zoned().unwrap(), 4096);
        (job(), job())
    };
    let place = |job, zone: u64| {
        let access = Access { read: false, block_bytes: 4096, offset_bytes: zone * ZONE_BYTES };
        match zones.table().place(job, access) {
            Placed::Issue(at) => Some(at.offset_bytes / ZONE_BYTES),
            _ => None,
        }
    };
    assert_eq!([place(&one, 3), place(&one, 5)], [Some(3), Some(5)]);
    assert_eq!(place(&one, 6), None, "both zones of the thread are busy");
    assert_eq!([place(&two, 6), place(&two, 0)], [Some(6), Some(0)], "another thread has zones of its own");
}

#[test]
fn a_job_ends_when_all_zones_that_may_be_written_belong_to_jobs_that_have_ended() {
    let mut report = report(4, 0, 1, &mut Rng::from_seed(3));
    report.zones.iter_mut().for_each(|zone| (zone.pointer_bytes, zone.is_open) = (zone.start_bytes, false));
    let first = Workload { until: Until::AmountBytes(8192), ..workload(2, 0, 4096, Zoned::default(), 1) };
    let range = TargetRange { start_bytes: 2 * ZONE_BYTES, ..first.range };
    let second = Workload { range, until: Until::AmountBytes(1 << 20), ..first.clone() };
    let (zones, device) = (shared(&report, &[&first, &second]), device(&report, false));
    assert!(run(&zones, &device, &first, 1).is_none() && run(&zones, &device, &second, 1).is_none());
    assert_eq!(device.lock().unwrap().written_bytes, 8192, "the second job may not open a zone");
}

#[test]
fn a_small_rest_is_finished_before_another_zone_is_opened() {
    let mut report = report(3, 0, 1, &mut Rng::from_seed(3));
    for (zone, written) in report.zones.iter_mut().zip([CAPACITY_BYTES - 4096, 0, 0]) {
        (zone.pointer_bytes, zone.is_open) = (zone.start_bytes + written, written > 0);
    }
    let write = workload(3, 0, 8192, Zoned::default(), 5);
    let (zones, device) = (shared(&report, &[&write]), device(&report, false));
    assert!(run(&zones, &device, &write, 1).is_none());
    agrees(&zones, &device);
    assert!(device.lock().unwrap().finishes == 1, "the others are full without a rest");
}

/// A change of a workload, and a part of the refusal.
type Change = (fn(&mut Workload), &'static str);

fn zoned(zoned: Zoned) -> Option<Box<Commands>> {
    Some(Box::new(Commands { zoned: Some(zoned), ..Commands::default() }))
}

#[test]
fn impossible_workloads_are_refused() {
    let report = report(8, 0, 3, &mut Rng::from_seed(3));
    let plain = workload(8, 0, 4096, Zoned::default(), 1);
    let with = |change: fn(&mut Workload)| {
        let mut changed = plain.clone();
        change(&mut changed);
        zones::check(&report, &changed, false).map_err(|why| why.to_string())
    };
    assert_eq!(with(|_| ()), Ok(()));
    assert!(matches!(zones::check(&report, &plain, true), Err(NotZoned::Buffered)));
    let changes: [Change; 10] = [
        (|load| load.range.start_bytes = 4096, "whole zones of 65536 B"),
        (|load| load.range.segment_bytes -= 4096, "whole zones"),
        (|load| load.range.segment_bytes += ZONE_BYTES, "whole zones"),
        (|load| load.block_bytes = 12288, "not a multiple of blocks of 12288 B"),
        (|load| load.block_bytes = 65536, "a zone holds 49152 B"),
        (|load| load.regime.trims = true, "use bs=65536"),
        (|load| (load.access, load.threads) = (Order::Sequential, 2), "one thread each"),
        (|load| (load.access, load.read_percent) = (Order::Sequential, 50), "use randrw"),
        (
            |load| load.commands = zoned(Zoned { zone_bytes: 4096, ..Zoned::default() }),
            "the zones have 64 KiB",
        ),
        (|load| load.commands = zoned(Zoned { max_open_zones: 4, ..Zoned::default() }), "permits 3"),
    ];
    for (change, expected) in changes {
        let error = with(change).expect_err(expected);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let mut full = report.clone();
    full.zones.iter_mut().for_each(|zone| zone.is_open = true);
    assert!(matches!(zones::check(&full, &plain, false), Err(NotZoned::TooManyOpen { open: 8, most: 3 })));
    let unzoned = Workload { commands: None, ..plain.clone() };
    assert!(check_together("x", &[plain.clone(), unzoned.clone()]).is_err());
    assert!(check_together("x", &[plain, Workload { read_percent: 100, ..unzoned }]).is_ok());
}
