//! The supported options, one entry each: options of `plateau load`, and of jobs in job files.

use engine::Polling;
use record::{Placement, Process};

use super::Job;
use super::setters::{block_size, block_split, distribution, filename, only_on, pattern, polling, rate};
use super::values::{bytes, engine, number, percent_of, size, switch, time_ns};

/// An option.
pub struct Key {
    /// Name of the option in job files and on the command line.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Syntax of its value.
    pub form: Form,
    /// Meaning of the option, as a line of the documentation.
    pub about: &'static str,
    set: fn(&mut Job, &str) -> Result<(), String>,
}

/// Syntax of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// 0 or 1; 1 if omitted.
    Switch,
    /// Bytes, such as `4k`.
    Size,
    /// A time, such as `30s`.
    Time,
    /// Any other value, with its placeholder in the help.
    Word(&'static str),
}

const fn key(
    name: &'static str,
    aliases: &'static [&'static str],
    form: Form,
    about: &'static str,
    set: fn(&mut Job, &str) -> Result<(), String>,
) -> Key {
    Key { name, aliases, form, about, set }
}

const N: Form = Form::Word("N");
const P: Form = Form::Word("P");
const NAME: Form = Form::Word("NAME");
/// A switch for which fio requires a value.
const BIT: Form = Form::Word("0|1");

/// Every supported option.
pub const KEYS: &[Key] = &[
    key("name", &[], NAME, "name of the job in the results", |_, _| Ok(())),
    key("description", &[], Form::Word("TEXT"), "no effect", |_, _| Ok(())),
    key(
        "filename",
        &[],
        Form::Word("TARGET"),
        "the target: a block device, a file, or `sim:MODEL`; one per job",
        filename,
    ),
    key(
        "rw",
        &["readwrite"],
        NAME,
        "`read`, `write`, `randread`, `randwrite`, `rw`, `readwrite` or `randrw`",
        pattern,
    ),
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
        "sizes with shares in percent, `4k/70:64k/30`; blank shares get the rest; `READ,WRITE` if they \
         differ",
        block_split,
    ),
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
        "part of the target that each clone may access, in bytes or percent; also the amount it transfers [everything after \
         `offset`]",
        |job, text| size(text).map(|size| job.size = Some(size)),
    ),
    key(
        "io_size",
        &["io_limit"],
        Form::Size,
        "bytes that each clone transfers, if different from `size`",
        |job, text| size(text).map(|size| job.io_size = Some(size)),
    ),
    key("loops", &[], N, "number of times that the amount is transferred [1]", |job, text| {
        number(text, 1, 65_535).map(|loops| job.loops = loops)
    }),
    key(
        "offset",
        &["start_offset"],
        Form::Size,
        "start offset on the target, in bytes or percent [0]",
        |job, text| size(text).map(|size| job.offset = size),
    ),
    key(
        "offset_increment",
        &[],
        Form::Size,
        "distance between the start offsets of successive clones [0]",
        |job, text| bytes(text).map(|bytes| job.offset_increment = bytes),
    ),
    key(
        "runtime",
        &[],
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
    key("ramp_time", &[], Form::Time, "unmeasured time under load before `runtime`", |job, text| {
        time_ns(text).map(|ns| job.ramp_ns = ns)
    }),
    key(
        "rate_iops",
        &[],
        N,
        "I/Os per second of each clone, started whether or not earlier ones have completed; `READ,WRITE` in \
         a mix",
        rate,
    ),
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
        "`random`, or `zoned:ACCESS/SIZE:..` in percent [random]",
        distribution,
    ),
    key(
        "norandommap",
        &[],
        Form::Switch,
        "offsets are drawn independently of each other; always on, and a note says so if the option is \
         absent",
        |job, text| {
            if !switch(text)? {
                return Err("random maps are not supported; use 1".into());
            }
            job.norandommap = true;
            Ok(())
        },
    ),
    key("randseed", &[], N, "seed of offsets, mix and data [`--seed`]", |job, text| {
        number(text, 0, u64::MAX).map(|seed| job.seed = Some(seed))
    }),
    key(
        "randrepeat",
        &["allrandrepeat"],
        BIT,
        "use the same seed every time [1]; 0 draws a random one, which a note reports",
        |job, text| switch(text).map(|on| job.randrepeat = on),
    ),
    key(
        "ioengine",
        &[],
        NAME,
        "`io_uring`, `libaio`, `psync`, `sync`, `pvsync`, `pvsync2` for plain system calls, or \
         `io_uring_cmd` for NVMe commands [the cheapest]",
        |job, text| engine(text).map(|engine| job.engine = engine),
    ),
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
        "the same as NUMA nodes; if `cpus_allowed` is also given, the later option applies",
        |job, text| {
            job.placement = Some(Placement::NumaCpuNodes(text.to_owned()));
            Ok(())
        },
    ),
    key(
        "cpus_allowed_policy",
        &[],
        NAME,
        "`split`: one CPU for each thread; always on if there are enough",
        |_, text| match text {
            "split" => Ok(()),
            _ => Err("only split is supported".into()),
        },
    ),
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
    key("direct", &[], BIT, "bypass the page cache; always on if the file system supports it", only_on),
    key("buffered", &[], BIT, "use the page cache: never", |_, text| {
        if switch(text)? { Err("only 0 is supported".into()) } else { Ok(()) }
    }),
    key("thread", &[], Form::Switch, "clones are threads; always on", only_on),
    key("invalidate", &[], BIT, "no effect: nothing is cached", |_, text| switch(text).map(drop)),
    key("refill_buffers", &[], Form::Switch, "new data for every write; always on", only_on),
    key("scramble_buffers", &[], BIT, "no effect: every write has new data", |_, text| {
        switch(text).map(drop)
    }),
    key(
        "fallocate",
        &[],
        NAME,
        "`none`: a file that is created or extended gets its length but no blocks",
        |_, text| match text {
            "none" | "0" => Ok(()),
            _ => Err("only none is supported".into()),
        },
    ),
    key("gtod_reduce", &[], BIT, "`0`: every I/O is timed; always on", |_, text| {
        if switch(text)? { Err("every I/O is timed; only 0 is supported".into()) } else { Ok(()) }
    }),
    key("zero_buffers", &[], Form::Switch, "write zeros", |job, text| {
        switch(text).map(|on| job.zero_buffers = on)
    }),
    key(
        "buffer_compress_percentage",
        &[],
        P,
        "percentage of each block that is compressible [0]",
        |job, text| percent_of(text).map(|percent| job.compress_percent = percent),
    ),
    key(
        "dedupe_percentage",
        &[],
        P,
        "percentage of the blocks that are copies of earlier ones [0]",
        |job, text| percent_of(text).map(|percent| job.dedupe_percent = percent),
    ),
    key(
        "verify",
        &[],
        NAME,
        "`crc32c`: every block is stamped and read back; the stamps differ from fio's",
        |job, text| {
            job.verify = match text {
                "crc32c" | "crc32c-intel" => true,
                "0" | "none" => false,
                _ => return Err("only crc32c is supported".into()),
            };
            Ok(())
        },
    ),
    key("do_verify", &[], BIT, "whether written data is read back at the end of the job [1]", |job, text| {
        switch(text).map(|on| job.do_verify = on)
    }),
    key("group_reporting", &[], Form::Switch, "one result for the jobs of a group", |job, text| {
        switch(text).map(|on| job.group_reporting = on)
    }),
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
];

/// Sets one option of a job.
///
/// # Errors
/// Returns an error that names the option and lists the supported values.
pub fn set(job: &mut Job, name: &str, value: Option<&str>) -> Result<(), String> {
    let known = KEYS.iter().find(|key| key.name == name || key.aliases.contains(&name));
    let key = known.ok_or_else(|| {
        format!(
            "{name} is not supported; `plateau load --help` lists the options that are, without the dashes in \
             a job file"
        )
    })?;
    let alone = (key.form == Form::Switch).then_some("1");
    let value = value.or(alone).ok_or_else(|| format!("{name}: missing value"))?;
    let problem = |text: String| format!("{name}={value}: {text}");
    if name == "name" && !value.is_empty() {
        value.clone_into(&mut job.name);
    }
    if value.contains('$') {
        return Err(problem("variables are not expanded; write the value".into()));
    }
    (key.set)(job, value).map_err(problem)
}

#[cfg(test)]
mod tests {
    use super::super::job::BlockShare;
    use super::*;

    fn job(words: &[(&str, &str)]) -> Result<Job, String> {
        let mut job = Job::default();
        words.iter().try_for_each(|(name, value)| set(&mut job, name, Some(value)))?;
        Ok(job)
    }

    /// Set `PLATEAU_BLESS` to update the page.
    #[test]
    fn the_documentation_has_this_table() {
        const MARKS: [&str; 2] = ["<!-- keys -->\n", "<!-- end of keys -->"];
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/load.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (before, rest) = page.split_once(MARKS[0]).unwrap();
        let (_, after) = rest.split_once(MARKS[1]).unwrap();
        let row = |key: &Key| {
            let names = [&key.name].into_iter().chain(key.aliases).map(|name| format!("`{name}`"));
            format!("| {} | {} |\n", names.collect::<Vec<_>>().join(", "), key.about)
        };
        let table: String = KEYS.iter().map(row).collect();
        let (begin, end) = (MARKS[0], MARKS[1]);
        let expected = format!("{before}{begin}| option | meaning here |\n|---|---|\n{table}{end}{after}");
        if std::env::var_os("PLATEAU_BLESS").is_some() {
            std::fs::write(path, &expected).unwrap();
            return;
        }
        assert!(
            page == expected,
            "the table in docs/reference/load.md is out of date; PLATEAU_BLESS=1 updates it"
        );
    }

    #[test]
    fn no_option_has_two_lines() {
        let mut names: Vec<&str> =
            KEYS.iter().flat_map(|key| key.aliases.iter().chain([&key.name])).copied().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn reads_and_writes_may_differ_in_size() {
        let sizes = |text: &str| job(&[("bs", text)]).unwrap().blocks.map(|blocks| blocks[0].block_bytes);
        assert_eq!(sizes("8k"), [8192; 2]);
        assert_eq!(sizes("8k,16k"), [8192, 16384]);
        assert_eq!(sizes("8k,"), [8192, 4096]);
        assert_eq!(sizes(",8k"), [4096, 8192]);
        assert_eq!(sizes("8k,16k,4k"), [8192, 16384]);
        let split = job(&[("bssplit", "4k/10:8k:16k/40,64k/100")]).unwrap().blocks;
        let rows: Vec<_> = split[0].iter().map(|row| (row.block_bytes, row.share_percent)).collect();
        assert_eq!(rows, [(4096, 10), (8192, 50), (16384, 40)]);
        assert_eq!(split[1][0], BlockShare { block_bytes: 65536, share_percent: 100 });
    }

    #[test]
    fn the_last_placement_and_the_last_polling_mode_apply() {
        let places = [("cpus_allowed", "0"), ("numa_cpu_nodes", "1")];
        assert_eq!(job(&places).unwrap().placement, Some(Placement::NumaCpuNodes("1".into())));
        let polling = |words: &[(&str, &str)]| job(words).unwrap().polling;
        assert_eq!(polling(&[("hipri", "1"), ("sqthread_poll", "1")]), Polling::Submissions);
        assert_eq!(polling(&[("hipri", "1"), ("sqthread_poll", "0")]), Polling::Completions);
        assert_eq!(polling(&[("hipri", "1"), ("hipri", "0")]), Polling::No);
    }

    #[test]
    fn names_with_colons_need_a_backslash() {
        assert_eq!(job(&[("filename", "/dev/x\\:y")]).unwrap().filename.as_deref(), Some("/dev/x:y"));
        assert_eq!(
            job(&[("filename", "sim:sas-slc-2011")]).unwrap().filename.as_deref(),
            Some("sim:sas-slc-2011")
        );
        assert!(job(&[("filename", "/dev/x:/dev/y")]).unwrap_err().contains("one target per job"));
    }

    #[test]
    fn errors_list_the_possible_values() {
        for (name, value, expected) in [
            ("rw", "randtrimwrite", "randread"),
            ("bs", "0", "1 to 1g"),
            ("bs", "4KiB", "write k"),
            ("bssplit", "4k/50:8k/40", "90 %"),
            ("iodepth", "0", "1 to 4096"),
            ("direct", "0", "only 1"),
            ("buffered", "1", "only 0"),
            ("ioengine", "mmap", "libaio"),
            ("cmd_type", "ublk", "only nvme"),
            ("verify", "md5", "crc32c"),
            ("norandommap", "0", "use 1"),
            ("random_distribution", "zipf:1.2", "zoned:"),
            ("random_distribution", "zoned:50/5:40/95", "90 %"),
            ("rate_iops", "0", "1 to"),
            ("rate_process", "bursty", "poisson"),
            ("dedupe_percentage", "120", "0 to 100"),
            ("size", "120%", "0 to 100"),
            ("cpus_allowed_policy", "shared", "only split"),
            ("fallocate", "posix", "only none"),
            ("gtod_reduce", "1", "every I/O is timed"),
            ("fixedbufs", "0", "only 1"),
        ] {
            let error = job(&[(name, value)]).expect_err(expected);
            assert!(error.starts_with(&format!("{name}={value}: ")) && error.contains(expected), "{error}");
        }
    }
}
