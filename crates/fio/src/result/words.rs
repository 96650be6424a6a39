//! A load as text: everything about it that its PTS notation does not express.

use record::{
    Commands, DataPattern, EachWrite, IoKind, Offsets, PriorityShare, Process, Reducible, Regions, Sequence,
    Syncs, ThinkTime, Workload, WriteModeShare, Zone, Zoned,
};
use stdx::units::{SECOND_NS, block_size, count_of, grouped};

use super::part::places_of;

/// Formats a workload, such as `RND 4KiB W, zeros, 50 % of the I/Os on 5 % of the range and 50 % on 95 %`.
pub fn of(workload: &Workload) -> String {
    let mut words = vec![workload.to_string()];
    if workload.kinds.len() > 1 {
        let kinds = workload.kinds.iter().map(|kind| of_kind(kind, workload.read_percent));
        words.push(kinds.collect::<Vec<_>>().join(" and "));
    }
    if !workload.zones.is_empty() {
        words.push(of_zones(&workload.zones));
    }
    words.extend(of_offsets(workload.regime.offsets));
    words.extend(workload.sequence.as_ref().map(of_sequence));
    if workload.regime.descending {
        words.push("descending".into());
    }
    if workload.writes() && !workload.regime.trims {
        words.extend(of_data(workload.data_pattern));
        words.extend(of_syncs(workload.regime.syncs));
    }
    if let Some(arrivals) = workload.regime.arrivals {
        let process = match arrivals.process {
            Process::Constant => "equally spaced",
            Process::Poisson => "independent",
        };
        let rate = arrivals.rate();
        words.push(format!("{} arrivals per second, {process}", grouped(rate, places_of(rate))));
    }
    words.extend(workload.regime.thinktime.map(of_pauses));
    if workload.regime.verify {
        words.push("every block checked".into());
    }
    words.extend(workload.commands.as_deref().map(of_commands).unwrap_or_default());
    words.join(", ")
}

/// Describes what individual commands carry.
fn of_commands(commands: &Commands) -> Vec<String> {
    let share = |share: &PriorityShare| {
        let size =
            share.block_bytes.map(|bytes| format!("{} ", block_size(bytes.into()))).unwrap_or_default();
        let way = if share.read { "reads" } else { "writes" };
        format!("{} % of the {size}{way} with priority {}", share.share_percent, share.priority)
    };
    let of_all = commands.priority.map(|priority| format!("priority {priority}"));
    let atomic = commands.atomic.then(|| "atomic writes".to_owned());
    let ranges = (commands.trim_ranges > 0).then(|| format!("{} ranges per trim", commands.trim_ranges));
    let mode = |share: &WriteModeShare| format!("{} % {}", share.share_percent, share.mode.name());
    let modes: Vec<String> = commands.write_modes.iter().map(mode).collect();
    let modes = (!modes.is_empty()).then(|| format!("write commands {}", modes.join(" and ")));
    let placed = commands.data_placement.as_ref().map(|placement| match &placement.handles[..] {
        [] => "all placement handles".to_owned(),
        handles => {
            let handles: Vec<String> = handles.iter().map(u16::to_string).collect();
            format!("placement handles {}", handles.join(", "))
        }
    });
    let scsi = commands.scsi.map(|scsi| {
        let fua = [(scsi.read_fua, " with readfua"), (scsi.write_fua, " with writefua")];
        let fua: String = fua.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| *name).collect();
        format!("SCSI commands {}{fua}", scsi.write.name())
    });
    let nvme = [ranges, modes, placed, scsi, commands.zoned.map(of_zoned)].into_iter().flatten();
    nvme.chain(atomic).chain(of_all).chain(commands.priority_shares.iter().map(share)).collect()
}

/// Describes the use of the zones of a zoned block device.
fn of_zoned(zoned: Zoned) -> String {
    let open = (zoned.max_open_zones > 0).then(|| format!("at most {} open", zoned.max_open_zones));
    let own =
        (zoned.thread_max_open_zones > 0).then(|| format!("{} by each clone", zoned.thread_max_open_zones));
    let early = zoned.early_resets.map(|early| {
        let percent = f64::from(early.threshold_milli) / 10.0;
        format!("one reset in {} writes above {percent} %", early.writes_per_reset())
    });
    let beyond = zoned.reads_beyond.then(|| "reads beyond write pointers".to_owned());
    let details: Vec<String> = [open, own, early, beyond].into_iter().flatten().collect();
    if details.is_empty() { "zones".to_owned() } else { format!("zones: {}", details.join(", ")) }
}

/// Formats a kind of I/O, with its percentage of reads if it differs from the workload's.
fn of_kind(kind: &IoKind, reads: u8) -> String {
    let size = block_size(kind.block_bytes.into());
    let way = match kind.read_percent {
        same if same == reads => String::new(),
        100 => " R".into(),
        0 => " W".into(),
        mixed => format!(" {mixed}/{}", 100u8.saturating_sub(mixed)),
    };
    format!("{} % {size}{way}", kind.share_percent)
}

fn of_zones(zones: &[Zone]) -> String {
    let zone = |(index, zone): (usize, &Zone)| {
        let (ios, range) = if index == 0 { (" of the I/Os", " of the range") } else { ("", "") };
        format!("{} %{ios} on {} %{range}", zone.access_percent, zone.range_percent)
    };
    zones.iter().enumerate().map(zone).collect::<Vec<_>>().join(" and ")
}

/// Describes the offsets; `None` for independent offsets, which are the default in the PTS.
fn of_offsets(offsets: Offsets) -> Option<String> {
    match offsets {
        Offsets::Independent => None,
        Offsets::OncePerPass => Some("each block once per pass".into()),
        Offsets::ZipfMilli(theta) => Some(format!("Zipf {}", f64::from(theta) / 1e3)),
        Offsets::ParetoMilli(h) => Some(format!("Pareto {}", f64::from(h) / 1e3)),
        Offsets::NormalPercent(deviation) => Some(format!("normal, deviation {deviation} %")),
        Offsets::Regions(Regions { count, spare_milli, .. }) => {
            let percent = f64::from(spare_milli) / 10.0;
            Some(format!(
                "each block once and some again, in {count} regions with {percent} % over-provisioning"
            ))
        }
    }
}

/// Describes a sequence; a long one by its first blocks.
fn of_sequence(sequence: &Sequence) -> String {
    const MOST: usize = 8;
    let blocks: Vec<String> = sequence.blocks.iter().take(MOST).map(u32::to_string).collect();
    let more = if sequence.blocks.len() > MOST { ", .." } else { "" };
    let strided = if sequence.strided { ", each time further on" } else { "" };
    format!("blocks {}{more} in this order{strided}", blocks.join(", "))
}

/// Describes the written data; `None` for random data, which is the default.
fn of_data(data: DataPattern) -> Option<String> {
    match data {
        DataPattern::Zero => Some("zeros".into()),
        DataPattern::Byte(byte) => Some(format!("bytes {byte:#04x}")),
        DataPattern::Reducible(Reducible { compressible_percent, dedupable_percent, working_set }) => {
            let parts = [(compressible_percent, "compressible"), (dedupable_percent, "copies")];
            let parts = parts.iter().filter(|(percent, _)| *percent > 0);
            let parts: Vec<_> = parts.map(|(percent, what)| format!("{percent} % {what}")).collect();
            let set = working_set.map_or_else(String::new, |set| {
                let owner = if set.shared.is_some() { " of all jobs" } else { "" };
                format!(" of {}{owner}", count_of(set.blocks, "block"))
            });
            Some(format!("data {}{set}", parts.join(" and ")))
        }
        DataPattern::Random => None,
    }
}

fn of_syncs(syncs: Syncs) -> Vec<String> {
    let Syncs { fsync_writes, fdatasync_writes, end_fsync, each_write } = syncs;
    let each = each_write.map(|each| match each {
        EachWrite::Sync => "each write synchronous".to_owned(),
        EachWrite::Dsync => "the data of each write synchronous".to_owned(),
    });
    let periodic = [("fsync", fsync_writes), ("fdatasync", fdatasync_writes)];
    let periodic =
        periodic.into_iter().filter(|(_, writes)| *writes > 0).map(|(name, writes)| match writes {
            1 => format!("{name} after every write"),
            _ => format!("{name} after every {} writes", grouped(writes.into(), 0)),
        });
    each.into_iter().chain(periodic).chain(end_fsync.then(|| "fsync at the end".to_owned())).collect()
}

fn of_pauses(thinktime: ThinkTime) -> String {
    let seconds = |ns: u64| ns as f64 / SECOND_NS as f64;
    let ThinkTime { length_ns, ios, io_time_ns, .. } = thinktime;
    let after_ios = (ios > 0).then(|| count_of(ios, "I/O"));
    let after_time = io_time_ns.map(|ns| format!("{} s", seconds(ns)));
    let after: Vec<String> = after_ios.into_iter().chain(after_time).collect();
    format!("a pause of {} s after every {}", seconds(length_ns), after.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, Surroundings, parse};

    fn words(options: &str) -> String {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options");
        of(&jobs[0].streams(1 << 30, 0, 1).expect("a job")[0])
    }

    #[test]
    fn everything_that_distinguishes_a_load_is_named() {
        for (options, expected) in [
            ("rw=randwrite norandommap", "RND 4KiB W"),
            ("rw=randwrite", "RND 4KiB W, each block once per pass"),
            ("rw=randread random_distribution=zipf:1.2", "RND 4KiB R, Zipf 1.2"),
            ("rw=randread random_distribution=sequence:2,0,1", "RND 4KiB R, blocks 2, 0, 1 in this order"),
            ("rw=randwrite norandommap zero_buffers", "RND 4KiB W, zeros"),
            ("rw=randwrite norandommap dedupe_percentage=30", "RND 4KiB W, data 30 % copies"),
            (
                "rw=write buffer_compress_percentage=50 dedupe_percentage=5",
                "SEQ 4KiB W, data 50 % compressible and 5 % copies",
            ),
            ("rw=randread norandommap zero_buffers", "RND 4KiB R"),
            (
                "rw=randread random_distribution=zoned:60/10:40/90",
                "RND 4KiB R, 60 % of the I/Os on 10 % of the range and 40 % on 90 %",
            ),
            ("rw=randread bssplit=4k/70:64k/30", "RND 4KiB to 64KiB R, 70 % 4KiB and 30 % 64KiB"),
            ("rw=randrw bs=4k,8k", "RND 4KiB to 8KiB 50/50, 50 % 4KiB R and 50 % 8KiB W"),
            (
                "rw=write fsync=32 fdatasync=1 end_fsync=1 sync=dsync",
                "SEQ 4KiB W, the data of each write synchronous, fsync after every 32 writes, fdatasync after every write, \
                 fsync at the end",
            ),
            ("rw=write sync=1", "SEQ 4KiB W, each write synchronous"),
            ("rw=trim ioengine=io_uring_cmd num_range=8", "SEQ 4KiB trim, 8 ranges per trim"),
            (
                "rw=write ioengine=io_uring_cmd write_mode=write/60:zeroes/40 fdp=1 fdp_pli=0,2",
                "SEQ 4KiB W, write commands 60 % write and 40 % zeroes, placement handles 0, 2",
            ),
            (
                "rw=write ioengine=sg sg_write_mode=write_same buffer_pattern=0x1f readfua=1",
                "SEQ 4KiB W, bytes 0x1f, SCSI commands write_same with readfua",
            ),
            (
                "rw=write zonemode=zbd max_open_zones=8 zone_reset_frequency=0.125 zone_reset_threshold=0.7",
                "SEQ 4KiB W, zones: at most 8 open, one reset in 8 writes above 70 %",
            ),
            ("rw=read zonemode=zbd read_beyond_wp=1", "SEQ 4KiB R, zones: reads beyond write pointers"),
            ("rw=read zonemode=zbd", "SEQ 4KiB R, zones"),
            ("rw=write atomic=1 prio=3", "SEQ 4KiB W, atomic writes, priority 2/3/0"),
            (
                "rw=read ioengine=libaio cmdprio_percentage=20",
                "SEQ 4KiB R, 20 % of the reads with priority 1/0/0",
            ),
            ("rw=read fsync=1 sync=1 end_fsync=1", "SEQ 4KiB R"),
            ("rw=read thinktime=2000", "SEQ 4KiB R, a pause of 0.002 s after every 1 I/O"),
            (
                "rw=read thinktime=1s thinktime_blocks=16 thinktime_iotime=9",
                "SEQ 4KiB R, a pause of 1 s after every 16 I/Os or 9 s",
            ),
            ("rw=read thinktime=1s thinktime_iotime=9", "SEQ 4KiB R, a pause of 1 s after every 9 s"),
            (
                "rw=randread norandommap rate_iops=2000 rate_process=poisson verify=crc32c",
                "RND 4KiB R, 2,000 arrivals per second, independent, every block checked",
            ),
        ] {
            assert_eq!(words(options), expected);
        }
    }
}
