//! The options with an effect.

use engine::Polling;
use record::{Placement, Process};

use super::entry::{Form, Key, key};
use crate::setters::files::{directory, file_size, filename, filename_format};
use crate::setters::{
    block_align, block_range, block_size, block_split, cpu_policy, distribution, each_write, io_engine,
    new_data, only_on, pattern, polling, rate, rate_bytes, think_blocks_type, threads, unbuffered,
};
use crate::sprandom::over_provisioning;
use crate::values::{bytes, bytes_or_zones, number, percent_of, size, switch, time_ns, time_of_us_ns};

const N: Form = Form::Word("N");
const P: Form = Form::Word("P");
const NAME: Form = Form::Word("NAME");
/// A time whose default unit is not the second.
const US: Form = Form::Word("TIME");
/// A switch for which fio requires a value.
const BIT: Form = Form::Word("0|1");

/// The options that have an effect, and options that request behaviour that is always enabled.
pub(super) const EFFECTIVE: &[Key] = &[
    key("name", &[], NAME, "name of the job in the results", |_, _| Ok(())),
    key("description", &[], Form::Word("TEXT"), "a comment", |_, _| Ok(())),
    key(
        "filename",
        &[],
        Form::Word("TARGET"),
        "the target: a block device, a file, or `sim:MODEL`; several, separated by colons, share `size` and `iodepth` \
         equally, with at least one outstanding I/O each",
        filename,
    )
    .differs(),
    key(
        "directory",
        &[],
        Form::Word("FOLDER"),
        "folder of the files; several, separated by colons, are used by the clones in turn",
        directory,
    ),
    key(
        "nrfiles",
        &["nr_files"],
        N,
        "number of files for each clone without `filename` [1]; they share `size` and `iodepth` equally, with at least one \
         outstanding I/O each",
        |job, text| number(text, 1, u16::MAX.into()).map(|files| job.files.count = files),
    )
    .differs(),
    key("overwrite", &[], BIT, "lay out a new file before it is written [0]", |job, text| {
        switch(text).map(|on| job.overwrite = on)
    }),
    key(
        "filesize",
        &[],
        Form::Size,
        "size of each file or part of the target; `size` is then only the amount of I/O [`size` divided by the number of files]",
        file_size,
    ),
    key(
        "filename_format",
        &[],
        Form::Word("FORMAT"),
        "names of the files for a job without `filename` [`$jobname.$jobnum.$filenum`]",
        filename_format,
    ),
    key(
        "rw",
        &["readwrite"],
        NAME,
        "`read`, `write`, `randread`, `randwrite`, `rw`, `readwrite`, `randrw`, `trim` or `randtrim`; for sequential I/O, `:BYTES` skips bytes after each I/O, and a negative number of bytes, larger than the I/O, descends from the end of the range (fio accesses its first block first)",
        pattern,
    )
    .differs(),
    key("rwmixread", &[], P, "percentage of reads in a mix [50]", |job, text| {
        percent_of(text).map(|percent| job.mix = Some(percent))
    }),
    key("rwmixwrite", &[], P, "percentage of writes in a mix", |job, text| {
        percent_of(text).map(|percent| job.mix = Some(100 - percent))
    }),
    key("bs", &["blocksize"], Form::Size, "bytes per I/O [4k]; `READ,WRITE` if they differ", block_size),
    key(
        "bssplit",
        &[],
        Form::Word("SHARES"),
        "sizes with shares in percent, `4k/70:64k/30`; the rest is divided among blank shares; `READ,WRITE` if they \
         differ",
        block_split,
    ),
    key(
        "bsrange",
        &["blocksize_range"],
        Form::Word("RANGE"),
        "sizes `4k-64k` in steps of the smallest, with equal shares that are rounded to integer percentages; up to 100 sizes",
        block_range,
    )
    .differs(),
    key(
        "blockalign",
        &["ba"],
        Form::Size,
        "alignment of the offsets of random I/Os, and the unit in which `zipf`, `pareto`, `normal` and `sequence` number blocks \
         [the greatest common divisor of all sizes]",
        block_align,
    )
    .differs(),
    key("iodepth", &[], N, "outstanding I/Os per clone [1]", |job, text| {
        number(text, 1, 4096).map(|depth| job.iodepth = depth)
    }),
    key("numjobs", &[], N, "clones of the job, one thread each [1]", |job, text| {
        number(text, 1, 1024).map(|clones| job.numjobs = clones)
    }),
    key(
        "size",
        &[],
        Form::Size,
        "part of the target that each clone may access, in bytes, percent or zones (`8z`, with `zonesize`), which ends with the target; also the amount it \
         transfers [everything after `offset`]",
        |job, text| size(text).map(|size| job.size = Some(size)),
    ),
    key(
        "io_size",
        &["io_limit"],
        Form::Size,
        "bytes that each clone transfers, or a percentage of `size` [`size`]",
        |job, text| size(text).map(|size| job.io_size = Some(size)),
    ),
    key("loops", &[], N, "number of times that the amount is transferred [1]", |job, text| {
        number(text, 1, u32::MAX.into()).map(|loops| job.loops = loops)
    }),
    key(
        "number_ios",
        &[],
        N,
        "number of I/Os after which each clone ends, unless it has transferred its amount before; all I/Os must \
         have the same size",
        |job, text| number(text, 1, u64::MAX).map(|ios| job.number_ios = Some(ios)),
    ),
    key(
        "offset",
        &["start_offset", "fileoffset"],
        Form::Size,
        "start offset on the target, in bytes, in zones (`8z`, with `zonesize`), or in percent, rounded up to a multiple of the smallest size [0]",
        |job, text| size(text).map(|size| job.offset = size),
    ),
    key(
        "offset_increment",
        &[],
        Form::Size,
        "distance between the start offsets of successive clones [0]",
        |job, text| bytes_or_zones(text).map(|size| job.offset_increment = size),
    ),
    key(
        "runtime",
        &["timeout"],
        Form::Time,
        "the job ends after this time even if it has not transferred its whole amount; the default unit is seconds",
        |job, text| time_ns(text).map(|ns| job.runtime_ns = Some(ns)),
    ),
    key(
        "time_based",
        &[],
        Form::Switch,
        "the job continues until `runtime`, even if it has transferred its whole amount",
        |job, text| switch(text).map(|on| job.time_based = on),
    ),
    key("ramp_time", &[], Form::Time, "unmeasured time under load before `runtime`; the amount includes it", |job, text| {
        time_ns(text).map(|ns| job.ramp_ns = ns)
    })
    .differs(),
    key(
        "rate_iops",
        &[],
        N,
        "I/Os per second of each clone, started whether or not earlier ones have completed; `READ,WRITE` in \
         a mix",
        rate,
    )
    .differs(),
    key(
        "rate",
        &[],
        Form::Size,
        "bytes per second of each clone, as a schedule of I/Os like `rate_iops`; `READ,WRITE` in a mix",
        rate_bytes,
    )
    .differs(),
    key(
        "rate_process",
        &[],
        NAME,
        "`linear`: equal intervals, `poisson`: independent arrivals [linear]",
        |job, text| {
            job.process = match text {
                "linear" => Process::Constant,
                "poisson" => Process::Poisson,
                _ => return Err("only linear and poisson are supported".into()),
            };
            Ok(())
        },
    ),
    key(
        "random_distribution",
        &[],
        NAME,
        "`random`, `zoned:ACCESS/SIZE:..` in percent, `zipf:THETA`, `pareto:H`, `normal:PERCENT` around the middle, or `sequence:BLOCK,BLOCK,..` for \
         up to 64 block numbers in this order, again and again; all but `zoned` need one block size [random]",
        distribution,
    )
    .differs(),
    key(
        "random_sequence_stride",
        &[],
        BIT,
        "whether each repetition of a `sequence` is as many blocks further on as the sequence is long; the job then ends with its \
         range, and it must either read or write [0]",
        |job, text| switch(text).map(|on| job.order.is_strided = on),
    )
    .differs(),
    key(
        "sprandom",
        &[],
        BIT,
        "precondition a drive: write each block once and some of them again, in an order that leaves the regions of the drive with \
         the shares of valid data that they have after many random writes; needs `rw=randwrite`; the amount follows from the \
         size and `spr_op`; the blocks that are written again are evenly spaced instead of drawn [0]",
        |job, text| switch(text).map(|on| job.sprandom.is_on = on),
    )
    .differs(),
    key("spr_num_regions", &[], N, "number of regions of `sprandom` [100]", |job, text| {
        number(text, 1, stdx::access::Regions::MOST.into()).map(|regions| job.sprandom.regions = regions)
    }),
    key(
        "spr_op",
        &[],
        Form::Word("RATIO"),
        "over-provisioning of the drive for `sprandom`, between 0 and 1, with up to three decimal places [0.15]",
        over_provisioning,
    )
    .differs(),
    key(
        "spr_cs",
        &[],
        Form::Size,
        "size of the drive's cache: blocks are written again one region later, which must not be smaller; 0: no delay [0]",
        |job, text| bytes(text).map(|bytes| job.sprandom.cache_bytes = bytes),
    ),
    key(
        "norandommap",
        &[],
        Form::Switch,
        "offsets are drawn independently of each other, instead of each block once per pass; always on for several sizes or \
         zones; if the option is absent, a note says so",
        |job, text| switch(text).map(|on| job.norandommap = on),
    )
    .differs(),
    key("randseed", &[], N, "seed for offsets, mix and data [`--seed`]", |job, text| {
        number(text, 0, u64::MAX).map(|seed| job.seed = Some(seed))
    }),
    key(
        "randrepeat",
        &["allrandrepeat"],
        BIT,
        "use the same seed every time [1]; 0 draws a random seed, which a note reports",
        |job, text| switch(text).map(|on| job.randrepeat = on),
    ),
    key(
        "ioengine",
        &[],
        NAME,
        "`io_uring`, `libaio`, `psync`, `sync`, `pvsync` or `pvsync2` for plain system calls, one at a time regardless of `iodepth`, \
         `posixaio` for plain system calls by one thread per outstanding I/O, `io_uring_cmd` for NVMe commands, `libblkio` \
         for io_uring without that library, `sg` for SCSI commands to a whole disk, one at a time, `null` for no I/O at all, `falloc` or `ftruncate` for these system calls on regular files, or one operation for each file of the job: `filecreate`, \
         `filestat`, `filedelete`, `dircreate`, `dirstat` or `dirdelete`, which only create files that do not exist and only \
         delete files that they created [the best on the target]",
        io_engine,
    )
    .differs(),
    key("libblkio_driver", &[], NAME, "`io_uring`: the driver of `libblkio`", |_, text| match text {
        "io_uring" => Ok(()),
        _ => Err("only io_uring is supported".into()),
    }),
    key("libblkio_path", &[], Form::Word("TARGET"), "the target of `libblkio`, like `filename`", filename)
        .differs(),
    key("cmd_type", &[], NAME, "`nvme`: the commands of `io_uring_cmd`", |_, text| match text {
        "nvme" => Ok(()),
        _ => Err("only nvme is supported".into()),
    }),
    key(
        "cpus_allowed",
        &[],
        Form::Word("LIST"),
        "CPUs for the threads, such as `0-3,8`; `all`: do not pin [one core per thread, close to the device, if \
         available]",
        |job, text| {
            job.placement = Some(Placement::CpusAllowed(text.to_owned()));
            Ok(())
        },
    ),
    key(
        "numa_cpu_nodes",
        &[],
        Form::Word("LIST"),
        "NUMA nodes on whose CPUs the threads run; if `cpus_allowed` is also given, the later option applies",
        |job, text| {
            job.placement = Some(Placement::NumaCpuNodes(text.to_owned()));
            Ok(())
        },
    )
    .differs(),
    key(
        "cpus_allowed_policy",
        &[],
        NAME,
        "`split`: one CPU for each thread; always on if there are enough (with `shared`, a note says so)",
        cpu_policy,
    )
    .differs(),
    key(
        "hipri",
        &[],
        Form::Switch,
        "poll for completions; on a target without poll queues, the load runs without polling",
        |job, text| polling(job, text, Polling::Completions),
    ),
    key(
        "sqthread_poll",
        &[],
        Form::Switch,
        "let a kernel thread poll for submissions, which occupies one CPU; if `hipri` is also given, the later option applies",
        |job, text| polling(job, text, Polling::Submissions),
    ),
    key(
        "fixedbufs",
        &[],
        Form::Switch,
        "io_uring buffers are registered with the kernel; always on if the kernel supports it",
        only_on,
    ),
    key(
        "registerfiles",
        &[],
        Form::Switch,
        "the io_uring file is registered with the kernel; always on",
        only_on,
    ),
    key(
        "direct",
        &[],
        BIT,
        "bypass the page cache; always on if the file system supports it (if not set to 1, a note says so)",
        |job, text| switch(text).map(|on| unbuffered(job, on)),
    )
    .differs(),
    key(
        "buffered",
        &[],
        BIT,
        "use the page cache: never if the file system supports direct I/O (with 1, a note says so)",
        |job, text| switch(text).map(|on| unbuffered(job, !on)),
    )
    .differs(),
    key("thread", &["threads"], Form::Switch, "clones are threads; always on (with 0, a note says so)", threads)
        .differs(),
    key("refill_buffers", &[], Form::Switch, "new data for every write; always on (with 0, a note says so)", new_data)
    .differs(),
    key("fsync", &[], N, "number of writes of a clone after which it issues an fsync; 0: none [0]", |job, text| {
        number(text, 0, u32::MAX.into()).map(|writes| job.syncs.fsync_writes = writes)
    }),
    key(
        "fdatasync",
        &[],
        N,
        "number of writes of a clone after which it issues an fdatasync, also with libaio; 0: none [0]",
        |job, text| number(text, 0, u32::MAX.into()).map(|writes| job.syncs.fdatasync_writes = writes),
    )
    .differs(),
    key(
        "sync",
        &[],
        NAME,
        "`sync` or `1`: a write completes when its data and metadata are durable, `dsync`: its data, `none` or `0`: neither \
         [none]",
        each_write,
    ),
    key(
        "end_fsync",
        &["fsync_on_close"],
        BIT,
        "each clone that writes ends with an fsync, which is part of its time [0]",
        |job, text| switch(text).map(|on| job.syncs.end_fsync = on),
    ),
    key(
        "thinktime",
        &[],
        US,
        "pause of a clone after each block, once no I/O is in flight; the default unit is microseconds [0]",
        |job, text| time_of_us_ns(text).map(|ns| job.think.length_ns = ns),
    ),
    key(
        "thinktime_spin",
        &[],
        US,
        "part of the pause, at its beginning, that keeps the CPU busy; the default unit is microseconds [0]",
        |job, text| time_of_us_ns(text).map(|ns| job.think.spin_ns = ns),
    ),
    key("thinktime_blocks", &[], N, "number of blocks from one pause to the next [1]", |job, text| {
        number(text, 1, u32::MAX.into()).map(|blocks| job.think.blocks = Some(blocks))
    }),
    key(
        "thinktime_blocks_type",
        &[],
        NAME,
        "`complete`: count blocks that have completed, `issue`: count blocks that were issued [complete]",
        think_blocks_type,
    ),
    key(
        "thinktime_iotime",
        &[],
        Form::Time,
        "time from one pause to the next, whatever the number of blocks; the default unit is seconds",
        |job, text| time_ns(text).map(|ns| job.think.io_time_ns = (ns > 0).then_some(ns)),
    ),
    key("group_reporting", &[], Form::Switch, "one result for the jobs of a group", |job, text| {
        switch(text).map(|on| job.group_reporting = on)
    })
    .differs(),
    key("new_group", &[], Form::Switch, "start a new group of results", |job, text| {
        switch(text).map(|on| job.new_group = on)
    }),
    key(
        "stonewall",
        &["wait_for_previous"],
        Form::Switch,
        "the job waits for all jobs before it",
        |job, text| switch(text).map(|on| job.stonewall = on),
    ),
    key(
        "wait_for",
        &[],
        NAME,
        "the job waits for the named job and for jobs that run concurrently with it",
        |job, text| {
            job.wait_for = Some(text.to_owned());
            Ok(())
        },
    )
    .differs(),
    key("kb_base", &[], N, "sizes are powers of 1024: only `1024`", |_, text| match text {
        "1024" => Ok(()),
        _ => Err("only 1024 is supported".into()),
    }),
];
