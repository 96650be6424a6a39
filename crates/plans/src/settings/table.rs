//! The settings of a run, one entry each, in the order in which the help lists them. Everything about a setting
//! is derived from its entry: its option, its key in plans, its limits, its help, and its place in the manual
//! pages, the shell completion and the documentation.

use record::Placement;
use stdx::units::{MIB, SECOND_NS};

use super::setting::{Form, Scope, Setting, limits as words_of};
use super::words::{BURN_IN_LOADS, CACHE_CHOICES, SATURATION_LOADS, SATURATION_UNTIL, choices, words};
use crate::limits::{self, Limit};

/// Number of rounds after which a test ends even with `keep-going`.
const HARD_LIMIT_ROUNDS: u32 = 100;
/// Only the minimum is checked here: the maximum depends on the AR amount.
const SEGMENTS: Limit<u32> = Limit { range: 1..=u32::MAX, why: "an AR amount needs at least one segment" };

const NOT_THROUGH_KERNEL: Option<&str> = Some("its I/Os do not pass through the kernel");

const NO_POWER: &str = "it draws no power, and no model has an energy figure";

/// All settings of a run.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "size",
        form: Form::Text("SIZE"),
        about: "Size of a regular file, such as 1GiB",
        no_meaning_simulated: Some("its model determines the capacity, which --scale divides"),
        set: |run, value| value.size_bytes().map(|bytes| run.size_bytes = Some(bytes)),
        ..Setting::BASE
    },
    Setting {
        name: "scale",
        form: Form::Text("1/N"),
        about: "Simulated drives: scale for capacity and durations, such as 1/16",
        set: |run, value| value.text().map(|text| run.scale = Some(text)),
        ..Setting::BASE
    },
    Setting {
        name: "seed",
        form: Form::Number("SEED"),
        about: "Seed for every offset, mix and buffer, and for a simulated drive [default: 1]",
        set: |run, value| value.seed().map(|seed| run.settings.seed = seed),
        ..Setting::BASE
    },
    Setting {
        name: "cpus_allowed",
        aliases: &["cpus-allowed"],
        form: Form::Text("LIST"),
        about: "CPUs for the load threads, such as 0-3,8; all: do not pin [default: one core per thread, close to the device, \
                if there are enough]",
        no_meaning_simulated: NOT_THROUGH_KERNEL,
        set: |run, value| value.text().map(|cpus| run.placement = Some(Placement::CpusAllowed(cpus))),
        ..Setting::BASE
    },
    Setting {
        name: "numa_cpu_nodes",
        aliases: &["numa-cpu-nodes"],
        form: Form::Text("LIST"),
        about: "NUMA nodes on whose CPUs the load threads run, such as 0-1",
        excludes: &["cpus_allowed"],
        no_meaning_simulated: NOT_THROUGH_KERNEL,
        set: |run, value| value.text().map(|nodes| run.placement = Some(Placement::NumaCpuNodes(nodes))),
        ..Setting::BASE
    },
    Setting {
        name: "ioengine",
        form: Form::Text("NAME"),
        about: "io_uring, libaio, psync, or io_uring_cmd for NVMe commands that bypass the block layer [default: the \
                cheapest]",
        scope: Scope::CommandLine,
        no_meaning_simulated: NOT_THROUGH_KERNEL,
        set: |run, value| value.text().map(|name| run.driving.ioengine = Some(name)),
        ..Setting::BASE
    },
    Setting {
        name: "hipri",
        about: "Poll for completions; on a target without poll queues, the load runs without polling",
        scope: Scope::CommandLine,
        excludes: &["sqthread_poll"],
        no_meaning_simulated: NOT_THROUGH_KERNEL,
        set: |run, value| value.flag().map(|flag| run.driving.hipri = flag),
        ..Setting::BASE
    },
    Setting {
        name: "sqthread_poll",
        aliases: &["sqthread-poll"],
        about: "Let a kernel thread poll for submissions, which occupies one CPU",
        scope: Scope::CommandLine,
        no_meaning_simulated: NOT_THROUGH_KERNEL,
        set: |run, value| value.flag().map(|flag| run.driving.sqthread_poll = flag),
        ..Setting::BASE
    },
    Setting {
        name: "sim-fault",
        form: Form::List("FAULT"),
        about: "Simulated drives: inject a fault, such as media:at=25%,length=1MiB, timeout:after=2min, \
                throttle:after=1min,for=30s,rate=50MB/s, removal:after=5min or power:after=5min; repeatable; overrides \
                the faults of a model file",
        set: |run, value| value.list().map(|faults| run.sim_faults = Some(faults)),
        ..Setting::BASE
    },
    Setting {
        name: "no-sim-faults",
        about: "Simulated drives: inject no faults, even if the model file has some",
        scope: Scope::CommandLine,
        excludes: &["sim-fault"],
        set: |run, value| {
            value.flag().map(|flag| {
                if flag {
                    run.sim_faults = Some(Vec::new())
                }
            })
        },
        ..Setting::BASE
    },
    Setting {
        name: "tc",
        form: Form::Number("N"),
        about: "Threads (TC) [default: from the profile]",
        limits: Some(|| words_of(&limits::TC)),
        set: |run, value| {
            run.settings.threads = value.whole(&limits::TC)?;
            run.settings.demand_is_chosen = true;
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "qd",
        form: Form::Number("N"),
        about: "Outstanding I/Os per thread (QD) [default: from the profile]",
        limits: Some(|| words_of(&limits::QD)),
        set: |run, value| {
            run.settings.queue_depth = value.whole(&limits::QD)?;
            run.settings.demand_is_chosen = true;
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "cell-seconds",
        form: Form::Number("S"),
        about: "Seconds per cell, such as 5 or 0.5 [default: 60]",
        limits: Some(|| words_of(&limits::CELL_SECONDS)),
        set: |run, value| {
            let seconds = value.seconds(&limits::CELL_SECONDS)?;
            run.settings.cell_ns = (seconds * SECOND_NS as f64) as u64;
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "max-rounds",
        form: Form::Number("N"),
        about: "Rounds after which a test ends without steady state, {limits} [default: 25]",
        limits: Some(|| words_of(&limits::ROUNDS)),
        set: |run, value| value.whole(&limits::ROUNDS).map(|rounds| run.settings.max_rounds = rounds),
        ..Setting::BASE
    },
    Setting {
        name: "keep-going",
        about: "Continue after 25 rounds until steady state, for at most {limits}",
        limits: Some(|| HARD_LIMIT_ROUNDS.to_string()),
        excludes: &["max-rounds"],
        set: |run, value| {
            value.flag().map(|flag| {
                if flag {
                    run.settings.max_rounds = HARD_LIMIT_ROUNDS
                }
            })
        },
        ..Setting::BASE
    },
    Setting {
        name: "precondition",
        form: Form::Number("N"),
        about: "Preconditioning in multiples of the capacity, {limits} [default: 2]",
        limits: Some(|| words_of(&limits::CAPACITIES)),
        set: |run, value| {
            value.whole(&limits::CAPACITIES).map(|times| run.settings.precondition_capacities = times)
        },
        ..Setting::BASE
    },
    Setting {
        name: "pc-ar",
        form: Form::Number("P"),
        about: "Share of the LBA space that preconditioning accesses, in percent (PC AR) [default: from the profile]",
        limits: Some(|| words_of(&limits::PC_AR)),
        set: |run, value| {
            value.whole(&limits::PC_AR).map(|percent| run.settings.precondition_range_percent = percent)
        },
        ..Setting::BASE
    },
    Setting {
        name: "test-ar",
        form: Form::Number("P"),
        about: "Share of the LBA space that the test accesses, in percent (Test AR) [default: from the profile]",
        limits: Some(|| words_of(&limits::TEST_AR)),
        set: |run, value| {
            value.whole(&limits::TEST_AR).map(|percent| run.settings.test_range_percent = percent)
        },
        ..Setting::BASE
    },
    Setting {
        name: "ar-amount",
        form: Form::Text("SIZE"),
        about: "LBA space accessed within the Test AR, such as 8GiB, or all (AR Amount) [default: from the profile]",
        set: |run, value| {
            run.settings.active_range_amount_bytes = match &*value.text()? {
                "all" => None,
                _ => Some(value.size_bytes().map_err(|why| format!("{why}, or all"))?),
            };
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "ar-segments",
        form: Form::Number("N"),
        about: "Number of segments of the AR amount (AR Segments) [default: 2048]",
        limits: Some(|| "1 to the AR amount in MiB".into()),
        set: |run, value| value.whole(&SEGMENTS).map(|number| run.settings.active_range_segments = number),
        ..Setting::BASE
    },
    Setting {
        name: "composite-fits-sectors",
        about: "ECW and CBW on devices with large sectors: replace I/Os whose size is not a multiple of the sector size with I/Os of one sector",
        set: |run, value| value.flag().map(|flag| run.settings.composite_fits_sectors = flag),
        ..Setting::BASE
    },
    Setting {
        name: "wsat-capacities",
        form: Form::Number("N"),
        about: "WSAT: amount to write in user capacities, {limits} [default: 4]",
        limits: Some(|| words_of(&limits::SATURATION_CAPACITIES)),
        set: |run, value| {
            let capacities = value.whole(&limits::SATURATION_CAPACITIES)?;
            run.settings.wsat.capacities = Some(capacities);
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "wsat-hours",
        form: Form::Number("N"),
        about: "WSAT: time limit in hours, {limits} [default: from the profile: 24, or 6 in PTS 2.0]",
        limits: Some(|| words_of(&limits::SATURATION_HOURS)),
        set: |run, value| {
            value.whole(&limits::SATURATION_HOURS).map(|hours| run.settings.wsat.hours = Some(hours))
        },
        ..Setting::BASE
    },
    Setting {
        name: "wsat-until",
        form: Form::Word("CONDITIONS", || words(SATURATION_UNTIL)),
        about: "WSAT: the conditions that end the test [default: first]",
        set: |run, value| {
            value.word(&choices(SATURATION_UNTIL)).map(|until| run.settings.wsat.until = Some(until))
        },
        ..Setting::BASE
    },
    Setting {
        name: "wsat-workload",
        form: Form::Word("NAME", || words(SATURATION_LOADS)),
        about: "WSAT: one of the optional workloads of PTS 2.0 [default: random 4 KiB writes]",
        set: |run, value| {
            value.word(&choices(SATURATION_LOADS)).map(|load| run.settings.wsat.workload = Some(load))
        },
        ..Setting::BASE
    },
    Setting {
        name: "dirth-bs",
        form: Form::Text("SIZE"),
        about: "DIRTH: block size, a multiple of 512 bytes up to 1MiB [default: 8KiB]",
        set: |run, value| {
            let bytes = value.size_bytes()?;
            let is_possible = (512..=MIB).contains(&bytes) && bytes.is_multiple_of(512);
            let bytes = u32::try_from(bytes).ok().filter(|_| is_possible);
            run.settings.dirth.block_bytes = Some(bytes.ok_or("use a multiple of 512 bytes, at most 1MiB")?);
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "dirth-rwmixread",
        form: Form::Number("P"),
        about: "DIRTH: percentage of reads, {limits} [default: 65]",
        limits: Some(|| words_of(&limits::READ_PERCENT)),
        set: |run, value| {
            value.whole(&limits::READ_PERCENT).map(|percent| run.settings.dirth.read_percent = Some(percent))
        },
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-hours",
        form: Form::Number("N"),
        about: "Burn-in: hours of load, {limits} [default: 24]",
        limits: Some(|| words_of(&limits::BURN_IN_HOURS)),
        set: |run, value| value.whole(&limits::BURN_IN_HOURS).map(|hours| run.keep("burn-in-hours", &hours)),
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-load",
        form: Form::Word("NAME", || words(BURN_IN_LOADS)),
        about: "Burn-in: the verified load [default: mixed]",
        set: |run, value| value.word(&choices(BURN_IN_LOADS)).map(|load| run.keep("burn-in-load", &load)),
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-media-errors",
        form: Form::Number("N"),
        about: "Burn-in: maximum number of new media errors [default: 0]",
        limits: Some(|| words_of(&limits::BURN_IN_COUNT)),
        set: |run, value| {
            value.whole(&limits::BURN_IN_COUNT).map(|count| run.keep("burn-in-media-errors", &count))
        },
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-reallocated",
        form: Form::Number("N"),
        about: "Burn-in: maximum number of newly reallocated sectors [default: 0]",
        limits: Some(|| words_of(&limits::BURN_IN_COUNT)),
        set: |run, value| {
            value.whole(&limits::BURN_IN_COUNT).map(|count| run.keep("burn-in-reallocated", &count))
        },
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-used",
        form: Form::Number("P"),
        about: "Burn-in: maximum percentage of the rated endurance used [default: 100]",
        limits: Some(|| words_of(&limits::BURN_IN_USED)),
        set: |run, value| value.whole(&limits::BURN_IN_USED).map(|used| run.keep("burn-in-used", &used)),
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-spare",
        form: Form::Number("P"),
        about: "Burn-in: minimum percentage of available spare blocks [default: 10]",
        limits: Some(|| words_of(&limits::BURN_IN_SPARE)),
        set: |run, value| value.whole(&limits::BURN_IN_SPARE).map(|spare| run.keep("burn-in-spare", &spare)),
        ..Setting::BASE
    },
    Setting {
        name: "burn-in-temperature",
        form: Form::Number("C"),
        about: "Burn-in: maximum temperature in degrees Celsius [default: 70]",
        limits: Some(|| words_of(&limits::BURN_IN_CELSIUS)),
        set: |run, value| {
            value.whole(&limits::BURN_IN_CELSIUS).map(|celsius| run.keep("burn-in-temperature", &celsius))
        },
        ..Setting::BASE
    },
    Setting {
        name: "purge-method",
        form: Form::Text("NAME"),
        about: "Purge by this method (see `plateau info TARGET`) [default: the best one that is known to work]",
        scope: Scope::Resume,
        set: |run, value| value.text().map(|name| run.handling.purge_method = Some(name)),
        ..Setting::BASE
    },
    Setting {
        name: "verify-purge",
        about: "Write samples before each purge and check afterwards that they are gone; this is a deviation, because the PTS \
                allows no reads at that point",
        scope: Scope::Resume,
        set: |run, value| value.flag().map(|flag| run.handling.verify_purge = flag),
        ..Setting::BASE
    },
    Setting {
        name: "write-cache",
        form: Form::Word("STATE", || words(CACHE_CHOICES)),
        about: "Volatile write cache of the drive during the run [default: profile]",
        scope: Scope::Resume,
        set: |run, value| {
            value.word(&choices(CACHE_CHOICES)).map(|choice| run.handling.write_cache = Some(choice))
        },
        ..Setting::BASE
    },
    Setting {
        name: "lba-format",
        aliases: &["lbaf"],
        form: Form::Number("N"),
        about: "NVMe: switch the namespace to this LBA format for the run, and restore the previous one afterwards (see \
                `plateau info TARGET`)",
        limits: Some(|| words_of(&limits::LBA_FORMAT)),
        scope: Scope::Resume,
        no_meaning_simulated: Some("only NVMe namespaces have a choice of LBA formats"),
        set: |run, value| {
            value.whole(&limits::LBA_FORMAT).map(|number| run.handling.lba_format = Some(number))
        },
        ..Setting::BASE
    },
    Setting {
        name: "tune",
        about: "Set scheduler, merging, statistics, write-back throttling and governor for the run, and restore them \
                afterwards (see `plateau check TARGET`)",
        scope: Scope::Resume,
        no_meaning_simulated: Some("the simulator runs in this process and depends on no host setting"),
        set: |run, value| value.flag().map(|flag| run.handling.tune = flag),
        ..Setting::BASE
    },
    Setting {
        name: "company",
        form: Form::Text("NAME"),
        about: "Company that runs the test, printed next to the vendor",
        set: |run, value| value.line().map(|text| run.stated.company = Some(text)),
        ..Setting::BASE
    },
    Setting {
        name: "chassis",
        form: Form::Text("TEXT"),
        about: "Chassis of the host, printed with the test platform",
        set: |run, value| value.line().map(|text| run.stated.chassis = Some(text)),
        ..Setting::BASE
    },
    Setting {
        name: "cooler",
        form: Form::Text("TEXT"),
        about: "CPU cooler of the host, printed with the test platform",
        set: |run, value| value.line().map(|text| run.stated.cooler = Some(text)),
        ..Setting::BASE
    },
    Setting {
        name: "power-supply",
        aliases: &["psu"],
        form: Form::Text("TEXT"),
        about: "Power supply of the host, printed with the test platform",
        set: |run, value| value.line().map(|text| run.stated.power_supply = Some(text)),
        ..Setting::BASE
    },
    Setting {
        name: "link",
        form: Form::List("NAME=URL"),
        about: "Web page of a component of the test platform, such as Chassis=https://example.com/chassis; \
                repeatable; listed in annex B",
        set: |run, value| {
            let links = value.list()?.iter().map(|text| text.parse()).collect::<Result<_, String>>()?;
            run.stated.links = links;
            Ok(())
        },
        ..Setting::BASE
    },
    Setting {
        name: "power",
        form: Form::Text("SOURCE"),
        about: "Measure power, for IOPS/W and MB/s/W: hwmon:NAME (a sensor), rapl (CPU packages), nvme (upper bound), \
                serial:PORT[,BAUD] or command:PROGRAM (a meter); see docs/guide/power.md",
        scope: Scope::Operator,
        no_meaning_simulated: Some(NO_POWER),
        set: |run, value| value.text().map(|source| run.power = Some(source)),
        ..Setting::BASE
    },
    Setting {
        name: "power-idle",
        form: Form::Number("S"),
        about: "Duration of the idle power measurement before the first test in seconds, {limits} [default: 30]",
        limits: Some(|| words_of(&limits::IDLE_SECONDS)),
        scope: Scope::Operator,
        no_meaning_simulated: Some(NO_POWER),
        set: |run, value| {
            value.seconds(&limits::IDLE_SECONDS).map(|seconds| run.power_idle_seconds = Some(seconds))
        },
        ..Setting::BASE
    },
];

#[cfg(test)]
mod tests;
