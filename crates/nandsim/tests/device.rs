//! The drive as a device: health log, admin commands, faults, temperature, load recorder, cache and suspension.

mod common;

use common::{SECOND, churn, fill, load, run, small, small_model};
use nandsim::{Cache, Cause, Faults, Load, LostCommands, MediaFault, Scale, Ssd, Tally, Throttling, Until};
use stdx::access::{Kind, Order, Pattern, Span, Zone};

fn reads(ssd: &Ssd) -> Load {
    Load { seed: 7, ..load(ssd, Order::Random, 100, 4096, Until::ForNs(SECOND / 2)) }
}

fn read_some(ssd: &mut Ssd) -> Tally {
    let load = reads(ssd);
    run(ssd, &load)
}

#[test]
fn the_health_log_counts_what_was_done() {
    let mut model = small_model(64, 20.0, 256);
    model.geometry.rated_erases = 20;
    let mut ssd = Ssd::new(&model, Scale::FULL, 1);
    let fresh = ssd.smart();
    assert_eq!((fresh.temperature_c, fresh.percentage_used, fresh.data_units_written), (32, 0, 0));
    fill(&mut ssd);
    churn(&mut ssd, 4);
    let read = read_some(&mut ssd).read.bytes;
    let smart = ssd.smart();
    assert_eq!(smart.data_units_written, (5 * ssd.capacity_bytes()).div_ceil(512_000));
    assert_eq!(smart.data_units_read, read.div_ceil(512_000));
    let amplification = smart.nand_units_written as f64 / smart.data_units_written as f64;
    assert!((amplification - ssd.health().write_amplification().unwrap()).abs() < 0.02, "{smart:?}");
    assert!((4..20).contains(&smart.mean_erases), "{smart:?}");
    assert!((20..=100).contains(&smart.percentage_used), "{smart:?}");
}

#[test]
fn load_heats_the_drive_and_idle_time_cools_it() {
    let mut model = small_model(64, 20.0, 256);
    (model.thermal.time_constant_s, model.thermal.rise_c_per_gb_per_s) = (2.0, 500.0);
    let mut ssd = Ssd::new(&model, Scale::FULL, 1);
    churn(&mut ssd, 10);
    let warm = ssd.smart().temperature_c;
    ssd.idle(60 * SECOND);
    assert!(warm >= 40 && ssd.smart().temperature_c == 32, "{warm} then {}", ssd.smart().temperature_c);

    let rate = |ssd: &mut Ssd| run(ssd, &reads(ssd)).bytes_per_second();
    let full = rate(&mut ssd);
    (model.thermal.throttle_c, model.thermal.throttle_mb_per_s) = (36.0, 10.0);
    let mut ssd = Ssd::new(&model, Scale::FULL, 1);
    fill(&mut ssd);
    churn(&mut ssd, 2);
    let throttled = rate(&mut ssd);
    assert!(ssd.smart().throttled && throttled < 11e6 && full > 100e6, "{throttled} of {full} B/s");
    ssd.idle(60 * SECOND);
    assert!(!ssd.smart().throttled);
}

#[test]
fn admin_commands_restore_the_drive() {
    let mut ssd = small(64, 20.0, 256);
    let burst = |ssd: &mut Ssd| {
        let load = load(ssd, Order::Random, 0, 4096, Until::ForNs(SECOND / 4));
        run(ssd, &load).iops()
    };
    let fresh = burst(&mut ssd);
    churn(&mut ssd, 5);
    let steady = burst(&mut ssd);
    assert!(steady < 0.5 * fresh);
    ssd.power_cycle();
    ssd.check().unwrap();
    // A power cycle only empties the buffer, which absorbs 256 of the roughly 1000 writes of a burst.
    let cycled = burst(&mut ssd);
    assert!(cycled < 1.4 * steady, "{cycled} after a power cycle, {steady} before");
    // A format unmaps all data but leaves the erases to the collector; a sanitize operation performs them.
    let erases = ssd.health().erases;
    ssd.format();
    ssd.check().unwrap();
    assert_eq!(ssd.health().erases, erases);
    let formatted = burst(&mut ssd);
    assert!(formatted > 1.5 * steady, "formatted {formatted}, steady {steady}");
    churn(&mut ssd, 2);
    let before = (ssd.now_ns(), ssd.health().erases);
    ssd.sanitize();
    assert!(ssd.now_ns() > before.0 && ssd.health().erases >= before.1 + 256);
    assert!((burst(&mut ssd) / fresh - 1.0).abs() < 0.01);
    assert_eq!((ssd.smart().power_cycles, ssd.smart().unsafe_shutdowns), (1, 0));
}

/// Runs a load with faults. With its faults disabled, a drive must behave like one that never had any.
fn with_faults(faults: impl Fn(u64) -> Faults, load_of: impl Fn(&Ssd) -> Load) -> (Ssd, Tally) {
    let [mut pristine, mut faulty] = [1, 1].map(|_| small(64, 20.0, 256));
    for ssd in [&mut pristine, &mut faulty] {
        fill(ssd);
        ssd.idle(SECOND);
    }
    faulty.inject_faults(faults(faulty.now_ns()));
    faulty.set_faulty(false);
    let load = load_of(&pristine);
    assert_eq!(run(&mut faulty, &load), run(&mut pristine, &load), "disabled faults must change nothing");
    assert_eq!(faulty.state_hash(), pristine.state_hash());
    faulty.set_faulty(true);
    let tally = run(&mut faulty, &load);
    faulty.check().unwrap();
    (faulty, tally)
}

#[test]
fn a_media_error_ends_a_run_at_its_location() {
    let bytes = 1_000_000..1_200_000;
    let (ssd, tally) = with_faults(
        |_| {
            let fault = MediaFault { bytes: bytes.clone(), reads: true, writes: false, retry_ns: SECOND };
            Faults { media: vec![fault], ..Faults::default() }
        },
        |ssd| Load { until: Until::ForNs(60 * SECOND), ..reads(ssd) },
    );
    let failed = tally.failed.expect("the region was read");
    assert_eq!((failed.first.cause, failed.first.read), (Cause::Media, true));
    assert!(failed.first.offset_bytes < 1_200_000 && failed.first.offset_bytes + 4096 > 1_000_000);
    assert!(failed.media >= 1 && failed.media <= 32 && failed.timeouts + failed.removed == 0);
    assert_eq!(ssd.health().media_errors, failed.media);
    assert!(tally.elapsed_ns() < 60 * SECOND && tally.end_ns >= failed.first.at_ns);
}

#[test]
fn a_media_error_of_reads_lets_writes_through() {
    let mut ssd = small(64, 20.0, 256);
    let fault = MediaFault { bytes: 0..64 << 20, reads: true, writes: false, retry_ns: 1 };
    ssd.inject_faults(Faults { media: vec![fault], ..Faults::default() });
    assert_eq!(churn(&mut ssd, 1).failed, None);
    let failed = read_some(&mut ssd).failed.unwrap();
    assert_eq!(failed.media, 32);
    ssd.inject_faults(Faults::default());
    assert_eq!(read_some(&mut ssd).failed, None);
}

#[test]
fn lost_commands_end_in_a_timeout() {
    let (_, tally) = with_faults(
        |now| {
            let lost = LostCommands { from_ns: now, commands: 3, timeout_ns: 30 * SECOND };
            Faults { lost: vec![lost], ..Faults::default() }
        },
        |ssd| Load { until: Until::ForNs(100 * SECOND), ..reads(ssd) },
    );
    let failed = tally.failed.unwrap();
    assert_eq!((failed.first.cause, failed.timeouts, failed.media), (Cause::Timeout, 3, 0));
    assert_eq!(failed.first.at_ns, tally.start_ns + 30 * SECOND);
}

#[test]
fn a_removed_drive_is_gone_until_it_is_plugged_in() {
    let (mut ssd, tally) =
        with_faults(|now| Faults { removed_at_ns: Some(now + 3 * SECOND / 4), ..Faults::default() }, reads);
    let failed = tally.failed.unwrap();
    assert_eq!((failed.first.cause, failed.removed), (Cause::Removed, 32));
    // The run started slightly late, because the commands that the first run left in flight had to complete
    // first.
    assert!((SECOND / 4 - SECOND / 200..SECOND / 4).contains(&tally.elapsed_ns()), "{}", tally.elapsed_ns());
    assert!(tally.read.ios > 100 && ssd.is_gone());
    let again = read_some(&mut ssd);
    assert_eq!((again.elapsed_ns(), again.read.ios), (0, 0));
    assert_eq!(again.failed.unwrap().removed, 32);
    ssd.power_cycle();
    assert_eq!(read_some(&mut ssd).failed, None);
    assert_eq!((ssd.smart().power_cycles, ssd.smart().unsafe_shutdowns), (1, 1));
    ssd.check().unwrap();
}

#[test]
fn throttling_limits_the_rate() {
    let (_, tally) = with_faults(
        |now| {
            let slow = Throttling { times_ns: now..now + 100 * SECOND, bytes_per_second: 5_000_000 };
            Faults { slow: vec![slow], ..Faults::default() }
        },
        reads,
    );
    let rate = tally.bytes_per_second();
    assert!((rate / 5e6 - 1.0).abs() < 0.1 && tally.failed.is_none(), "{rate}");
}

#[test]
fn throttling_is_reported_while_it_lasts() {
    let mut ssd = small(64, 20.0, 256);
    let now = ssd.now_ns();
    let slow = Throttling { times_ns: now + SECOND..now + 2 * SECOND, bytes_per_second: 5_000_000 };
    ssd.inject_faults(Faults { slow: vec![slow], ..Faults::default() });
    let throttled = [SECOND / 2, SECOND, SECOND].map(|later| {
        ssd.idle(later);
        ssd.smart().throttled
    });
    assert_eq!(throttled, [false, true, false]);
}

#[test]
fn the_load_recorder_reports_what_arrived() {
    let mut ssd = small(64, 20.0, 256);
    fill(&mut ssd);
    assert!(ssd.load_recorder().is_none());
    ssd.record_load(true);
    let span = Span::contiguous(16 << 20, 16 << 20);
    let some = Load { span, ..load(&ssd, Order::Random, 65, 8192, Until::ForNs(SECOND)) };
    let tally = run(&mut ssd, &some);
    let seen = ssd.load_recorder().unwrap();
    let completed = tally.read.ios + tally.write.ios;
    assert!(seen.commands() >= completed && seen.commands() <= completed + 32, "{seen:?}");
    assert!((seen.read_percent().unwrap() - 65.0).abs() < 3.0, "{seen:?}");
    assert_eq!((seen.most_outstanding, seen.alignment_bytes()), (32, Some(8192)));
    assert_eq!(seen.sizes.keys().copied().collect::<Vec<_>>(), [8192]);
    assert!(seen.first_byte >= 16 << 20 && seen.end_byte <= 32 << 20);
    // A quarter of the drive is 16 parts, all of which are accessed about equally often.
    let mean = seen.commands() / 16;
    assert!(seen.parts[16..32].iter().all(|&n| n > mean / 2 && n < 2 * mean), "{:?}", seen.parts);
    assert_eq!(seen.parts.iter().sum::<u64>(), seen.parts[16..32].iter().sum());
    assert!(seen.consecutive < seen.commands() / 100);

    ssd.record_load(true);
    for block in [131_072, 4096, 131_072] {
        let until = Until::Bytes(4 << 20);
        let one = Load { threads: 1, ..load(&ssd, Order::Sequential, 0, block, until) };
        run(&mut ssd, &Load { queue_depth: 4, ..one });
    }
    let seen = ssd.load_recorder().unwrap();
    assert_eq!(seen.sizes_in_order, [131_072, 4096, 131_072]);
    assert_eq!(seen.sizes.values().sum::<u64>(), 32 + 1024 + 32);
    assert!(seen.consecutive >= seen.commands() - 3 && seen.most_outstanding == 4);
}

#[test]
fn a_pattern_of_several_kinds_arrives_as_requested() {
    let mut ssd = small(64, 20.0, 256);
    fill(&mut ssd);
    ssd.record_load(true);
    let base = load(&ssd, Order::Random, 0, 4096, Until::Bytes(64 << 20));
    let kind = |share_percent, read_percent, block_bytes| Kind {
        share_percent,
        order: Order::Random,
        read_percent,
        block_bytes,
    };
    let zone = |access_percent, span_percent| Zone { access_percent, span_percent };
    let pattern = Pattern {
        offsets: stdx::access::Offsets::Independent,
        kinds: vec![kind(75, 40, 4096), kind(25, 40, 65536)],
        zones: vec![zone(50, 25), zone(50, 75)],
        sequence: None,
        from_block: 0,
        descending: false,
        align_bytes: 0,
        span: base.span,
    };
    let tally = ssd.run_pattern(&base, &pattern, &mut |_| true);
    let seen = ssd.load_recorder().unwrap();
    assert_eq!(tally.read.bytes + tally.write.bytes, seen.read_bytes + seen.write_bytes);
    assert!(seen.read_bytes + seen.write_bytes >= 64 << 20);
    let share = |part: u64| 100.0 * part as f64 / seen.commands() as f64;
    assert!((share(seen.sizes[&65536]) - 25.0).abs() < 3.0, "{:?}", seen.sizes);
    assert!((share(seen.parts[..16].iter().sum()) - 50.0).abs() < 3.0, "{:?}", seen.parts);
    assert!((seen.read_percent().unwrap() - 40.0).abs() < 3.0);
}

#[test]
fn recording_changes_nothing() {
    let [mut alone, mut recorded] = [1, 1].map(|_| small(64, 20.0, 256));
    recorded.record_load(true);
    for ssd in [&mut alone, &mut recorded] {
        fill(ssd);
        churn(ssd, 2);
    }
    assert_eq!(alone.state_hash(), recorded.state_hash());
}

#[test]
fn a_cache_takes_writes_fast_until_it_is_full_and_again_after_idle_time() {
    let mut model = small_model(256, 20.0, 512);
    model.timing.program_us = 1500.0;
    model.cache = Some(Cache {
        bytes: 32 << 20,
        program_us: 150.0,
        read_us: 20.0,
        fold_from_percent: 0.0,
        fold_below_programs: 0,
    });
    let mut ssd = Ssd::new(&model, Scale::FULL, 1);
    let write = |ssd: &mut Ssd, mib: u64| {
        let load = load(ssd, Order::Random, 0, 4096, Until::Bytes(mib << 20));
        run(ssd, &load).iops()
    };
    let cached = write(&mut ssd, 24);
    write(&mut ssd, 16);
    let direct = write(&mut ssd, 16);
    assert!(cached > 4.0 * direct, "{cached} into the cache, {direct} past it");
    ssd.idle(60 * SECOND);
    ssd.check().unwrap();
    let again = write(&mut ssd, 24);
    assert!((again / cached - 1.0).abs() < 0.1, "{again} after folding, {cached} at first");
    assert!(ssd.health().write_amplification().unwrap() > 1.2);
}

#[test]
fn a_suspended_program_lets_reads_through() {
    let mean_read = |suspend_us: f64| {
        let mut model = small_model(64, 20.0, 256);
        model.timing.program_us = 1000.0;
        model.timing.program_suspend_us = suspend_us;
        let mut ssd = Ssd::new(&model, Scale::FULL, 1);
        churn(&mut ssd, 3);
        let mixed = load(&ssd, Order::Random, 65, 4096, Until::ForNs(5 * SECOND));
        let tally = run(&mut ssd, &Load { threads: 1, queue_depth: 1, ..mixed });
        ssd.check().unwrap();
        tally.read.latency.mean().unwrap()
    };
    let (without, with) = (mean_read(0.0), mean_read(20.0));
    assert!(with < 0.6 * without, "{with} ns with suspension, {without} ns without");
}

#[test]
fn read_ahead_hides_sensing_only_of_reads_in_order() {
    let rates = |read_ahead: bool| {
        let mut model = small_model(64, 20.0, 256);
        model.timing.read_ahead = read_ahead;
        (model.geometry.channels, model.geometry.dies_per_channel) = (4, 1);
        let mut ssd = Ssd::new(&model, Scale::FULL, 1);
        fill(&mut ssd);
        [Order::Sequential, Order::Random].map(|order| {
            let load = load(&ssd, order, 100, 8192, Until::Bytes(32 << 20));
            run(&mut ssd, &Load { threads: 1, queue_depth: 32, ..load }).bytes_per_second()
        })
    };
    let ([ordered, random], [ahead, random_ahead]) = (rates(false), rates(true));
    assert!(ahead > 1.1 * ordered, "{ahead} with, {ordered} B/s without");
    assert!((random_ahead / random - 1.0).abs() < 0.02, "{random_ahead} with, {random} B/s without");
}

/// With its write cache off, a drive completes a write only after the write's program operation, even with many
/// writes in flight. A drive with a non-volatile buffer has no such setting.
#[test]
fn with_the_write_cache_off_a_write_completes_once_it_is_on_flash() {
    let mut model = common::small_model(64, 20.0, 256);
    let mut drive = |volatile: bool| {
        model.firmware.volatile_buffer = volatile;
        Ssd::new(&model, nandsim::Scale::FULL, 1)
    };
    let mut protected = drive(false);
    assert_eq!((protected.write_cache(), protected.set_write_cache(false)), (None, false));
    let mut ssd = drive(true);
    assert_eq!((ssd.write_cache(), ssd.set_write_cache(false)), (Some(true), true));
    assert_eq!(ssd.write_cache(), Some(false));
    fill(&mut ssd);
    let one = Load { threads: 1, queue_depth: 1, ..load(&ssd, Order::Random, 0, 4096, Until::ForNs(SECOND)) };
    let off = run(&mut ssd, &one);
    // A program operation takes at least 190 us: 200 us minus the spread.
    assert!(off.write.latency.min().unwrap() > 190_000, "{:?}", off.write.latency.min());
    let before = ssd.health();
    let many = run(&mut ssd, &Load { threads: 2, queue_depth: 16, ..one });
    assert!(many.write.latency.min().unwrap() > 190_000, "{:?}", many.write.latency.min());
    // There are four dies, but by now the collector uses them, too.
    assert!(many.iops() > 1.2 * off.iops(), "{} IOPS of 32 in flight, {} of one", many.iops(), off.iops());
    // Each 4 KiB write has its own program unit of two map units.
    let units = (ssd.health().nand_written_bytes - before.nand_written_bytes) / 4096;
    assert!(units >= 2 * many.write.ios, "{units} map units for {} writes", many.write.ios);
    assert!(ssd.set_write_cache(true));
    let on = run(&mut ssd, &one);
    assert!(on.iops() > 1.2 * off.iops(), "{} IOPS with, {} without", on.iops(), off.iops());
    assert!(on.write.latency.min().unwrap() < 50_000);
    ssd.check().unwrap();
}
