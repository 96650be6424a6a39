//! The options that are understood, one line each.

use record::{Access, Process, Zone};

use super::Job;
use super::job::BlockShare;
use super::values::{bytes, engine, number, percent_of, shares, size, switch, time_ns};

/// An option.
pub struct Key {
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// What it means here, in a line of the documentation.
    pub about: &'static str,
    /// What stands for it when it has no value; none when it needs one.
    alone: Option<&'static str>,
    set: fn(&mut Job, &str) -> Result<(), String>,
}

const fn key(
    name: &'static str,
    aliases: &'static [&'static str],
    alone: Option<&'static str>,
    about: &'static str,
    set: fn(&mut Job, &str) -> Result<(), String>,
) -> Key {
    Key { name, aliases, about, alone, set }
}

const ON: Option<&str> = Some("1");

/// Every option that is understood.
pub const KEYS: &[Key] = &[
    key("name", &[], None, "name of the job in the results", |_, _| Ok(())),
    key("description", &[], None, "without effect", |_, _| Ok(())),
    key("filename", &[], None, "the target: a block device, a file, or `sim:MODEL`; one per job", filename),
    key(
        "rw",
        &["readwrite"],
        None,
        "`read`, `write`, `randread`, `randwrite`, `rw`, `readwrite` or `randrw`",
        pattern,
    ),
    key("rwmixread", &[], None, "percentage of reads in a mix [50]", |job, text| {
        percent_of(text).map(|percent| job.mix = Some(percent))
    }),
    key("rwmixwrite", &[], None, "percentage of writes in a mix", |job, text| {
        percent_of(text).map(|percent| job.mix = Some(100 - percent))
    }),
    key("bs", &["blocksize"], None, "bytes per I/O [4k]; `READ,WRITE` where they differ", block_size),
    key(
        "bssplit",
        &[],
        None,
        "sizes with shares in percent, `4k/70:64k/30`; blank shares get the rest; `READ,WRITE` where they differ",
        block_split,
    ),
    key("iodepth", &[], None, "outstanding I/Os of each clone [1]", |job, text| {
        number(text, 1, 4096).map(|depth| job.iodepth = depth)
    }),
    key("numjobs", &[], None, "clones of the job, a thread each [1]", |job, text| {
        number(text, 1, 1024).map(|clones| job.numjobs = clones)
    }),
    key(
        "size",
        &[],
        None,
        "bytes or percentage of the target that each clone may touch, and moves [what is behind `offset`]",
        |job, text| size(text).map(|size| job.size = Some(size)),
    ),
    key(
        "io_size",
        &["io_limit"],
        None,
        "bytes that each clone moves, where that is not `size`",
        |job, text| size(text).map(|size| job.io_size = Some(size)),
    ),
    key("loops", &[], None, "times that the amount is moved [1]", |job, text| {
        number(text, 1, 65_535).map(|loops| job.loops = loops)
    }),
    key(
        "offset",
        &["start_offset"],
        None,
        "where on the target it begins, in bytes or percent [0]",
        |job, text| size(text).map(|size| job.offset = size),
    ),
    key("offset_increment", &[], None, "how far each clone begins behind the one before [0]", |job, text| {
        bytes(text).map(|bytes| job.offset_increment = bytes)
    }),
    key(
        "runtime",
        &[],
        None,
        "the job ends after this time even if its amount is not done; seconds without a unit",
        |job, text| time_ns(text).map(|ns| job.runtime_ns = Some(ns)),
    ),
    key("time_based", &[], ON, "the job goes on until `runtime` when its amount is done", |job, text| {
        switch(text).map(|on| job.time_based = on)
    }),
    key(
        "ramp_time",
        &[],
        None,
        "time under load in front of `runtime`, of which nothing counts",
        |job, text| time_ns(text).map(|ns| job.ramp_ns = ns),
    ),
    key(
        "rate_iops",
        &[],
        None,
        "I/Os per second of each clone, started whether or not earlier ones are back; `READ,WRITE` in a mix",
        rate,
    ),
    key(
        "rate_process",
        &[],
        None,
        "`linear`: equal distances, `poisson`: independent arrivals [linear]",
        |job, text| {
            job.process = match text {
                "linear" => Process::Constant,
                "poisson" => Process::Poisson,
                _ => return Err("linear and poisson are possible".into()),
            };
            Ok(())
        },
    ),
    key(
        "random_distribution",
        &[],
        None,
        "`random`, or `zoned:ACCESS/SIZE:..` in percent [random]",
        distribution,
    ),
    key(
        "norandommap",
        &[],
        ON,
        "offsets are drawn independently of each other; this is always so, and without the option a note says it",
        |job, text| {
            if !switch(text)? {
                return Err("there is no map of blocks that were touched; only 1 is possible".into());
            }
            job.norandommap = true;
            Ok(())
        },
    ),
    key("randseed", &[], None, "seed of offsets, mix and data [`--seed`]", |job, text| {
        number(text, 0, u64::MAX).map(|seed| job.seed = Some(seed))
    }),
    key("randrepeat", &["allrandrepeat"], ON, "same seed, same offsets; this is always so", only_on),
    key(
        "ioengine",
        &[],
        None,
        "`io_uring`, `libaio`, `psync`, `sync`, `pvsync`, `pvsync2` for plain system calls, or `io_uring_cmd` for NVMe \
         commands [what is lightest]",
        |job, text| engine(text).map(|engine| job.engine = engine),
    ),
    key("cmd_type", &[], None, "`nvme`: the commands of `io_uring_cmd`", |_, text| match text {
        "nvme" => Ok(()),
        _ => Err("only nvme is possible".into()),
    }),
    key(
        "direct",
        &[],
        None,
        "past the page cache; this is always so where the file system offers it",
        only_on,
    ),
    key("buffered", &[], None, "through the page cache: never", |_, text| {
        if switch(text)? { Err("only 0 is possible".into()) } else { Ok(()) }
    }),
    key("thread", &[], ON, "clones are threads; this is always so", only_on),
    key("invalidate", &[], None, "without effect: nothing is cached", |_, text| switch(text).map(drop)),
    key("refill_buffers", &[], ON, "new data for every write; this is always so", only_on),
    key("scramble_buffers", &[], None, "without effect: every write has new data", |_, text| {
        switch(text).map(drop)
    }),
    key("zero_buffers", &[], ON, "zeros are written", |job, text| {
        switch(text).map(|on| job.zero_buffers = on)
    }),
    key(
        "buffer_compress_percentage",
        &[],
        None,
        "share of each block that can be compressed away [0]",
        |job, text| percent_of(text).map(|percent| job.compress_percent = percent),
    ),
    key(
        "dedupe_percentage",
        &[],
        None,
        "share of the blocks that are copies of earlier ones [0]",
        |job, text| percent_of(text).map(|percent| job.dedupe_percent = percent),
    ),
    key(
        "verify",
        &[],
        None,
        "`crc32c`: every block is stamped and read back; the stamps are not fio's",
        |job, text| {
            job.verify = match text {
                "crc32c" | "crc32c-intel" => true,
                "0" | "none" => false,
                _ => return Err("crc32c is possible".into()),
            };
            Ok(())
        },
    ),
    key(
        "do_verify",
        &[],
        None,
        "whether what was written is read back at the end of the job [1]",
        |job, text| switch(text).map(|on| job.do_verify = on),
    ),
    key("group_reporting", &[], ON, "one result for the jobs of a group", |job, text| {
        switch(text).map(|on| job.group_reporting = on)
    }),
    key("new_group", &[], ON, "a new group of results begins", |job, text| {
        switch(text).map(|on| job.new_group = on)
    }),
    key("stonewall", &["wait_for_previous"], ON, "the job waits for all jobs before it", |job, text| {
        switch(text).map(|on| job.stonewall = on)
    }),
];

/// Sets one option of a job.
///
/// # Errors
/// Names the option, and says what would be possible.
pub fn set(job: &mut Job, name: &str, value: Option<&str>) -> Result<(), String> {
    let known = KEYS.iter().find(|key| key.name == name || key.aliases.contains(&name));
    let key = known.ok_or_else(|| format!("{name} is not offered; docs/load.md has the options that are"))?;
    let value = value.or(key.alone).ok_or_else(|| format!("{name}: a value is missing"))?;
    let problem = |text: String| format!("{name}={value}: {text}");
    if name == "name" && !value.is_empty() {
        value.clone_into(&mut job.name);
    }
    if value.contains('$') {
        return Err(problem("variables are not replaced; write the value".into()));
    }
    (key.set)(job, value).map_err(problem)
}

fn only_on(_: &mut Job, text: &str) -> Result<(), String> {
    if switch(text)? { Ok(()) } else { Err("only 1 is possible".into()) }
}

/// fio separates several names by colons; `\:` is one.
fn filename(job: &mut Job, text: &str) -> Result<(), String> {
    let plain = text.replace("\\:", "\n");
    if text.is_empty() {
        return Err("the name of a target is missing".into());
    }
    if !text.starts_with("sim:") && plain.contains(':') {
        return Err("one target per job is possible; write several jobs (\\: is a colon in a name)".into());
    }
    job.filename = Some(plain.replace('\n', ":"));
    Ok(())
}

const PATTERNS: &[(&str, Access, Option<u8>)] = &[
    ("read", Access::Sequential, Some(100)),
    ("write", Access::Sequential, Some(0)),
    ("randread", Access::Random, Some(100)),
    ("randwrite", Access::Random, Some(0)),
    ("rw", Access::Sequential, None),
    ("readwrite", Access::Sequential, None),
    ("randrw", Access::Random, None),
];

fn pattern(job: &mut Job, text: &str) -> Result<(), String> {
    let known = PATTERNS.iter().find(|row| row.0 == text).ok_or_else(|| {
        let names: Vec<_> = PATTERNS.iter().map(|row| row.0).collect();
        format!("{} are possible", names.join(", "))
    })?;
    text.clone_into(&mut job.pattern);
    (job.access, job.reads) = (known.1, known.2);
    Ok(())
}

/// Values of reads and of writes: `BOTH`, `READ,WRITE`, `READ,`, `,WRITE`; a third one, for trims, counts nowhere.
fn two(text: &str) -> Result<[Option<&str>; 2], String> {
    let parts: Vec<&str> = text.split(',').collect();
    let some = |part| Some(part).filter(|part: &&str| !part.is_empty());
    match parts[..] {
        [both] => Ok([some(both); 2]),
        [read, write] | [read, write, _] => Ok([some(read), some(write)]),
        _ => Err("at most three values are possible".into()),
    }
}

fn block_bytes(text: &str) -> Result<u32, String> {
    let bytes = u32::try_from(bytes(text)?).map_err(|_| "it is below 4g".to_owned())?;
    if bytes == 0 || bytes > 1 << 30 { Err("1 to 1g is possible".into()) } else { Ok(bytes) }
}

fn block_size(job: &mut Job, text: &str) -> Result<(), String> {
    let sizes = two(text)?;
    if sizes == [None; 2] {
        return Err("a size is missing".into());
    }
    for (blocks, size) in job.blocks.iter_mut().zip(sizes) {
        if let Some(size) = size {
            *blocks = vec![BlockShare { block_bytes: block_bytes(size)?, share_percent: 100 }];
        }
    }
    Ok(())
}

fn block_split(job: &mut Job, text: &str) -> Result<(), String> {
    let splits = two(text)?;
    if splits == [None; 2] {
        return Err("sizes are missing".into());
    }
    for (blocks, split) in job.blocks.iter_mut().zip(splits) {
        if let Some(split) = split {
            *blocks = distribution_of_sizes(split)?;
        }
    }
    Ok(())
}

fn distribution_of_sizes(text: &str) -> Result<Vec<BlockShare>, String> {
    let entries: Vec<&str> = text.split(':').collect();
    if entries.len() > 100 {
        return Err("at most 100 sizes are possible".into());
    }
    let (mut sizes, mut given) = (Vec::new(), Vec::new());
    for entry in entries {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        sizes.push(block_bytes(size)?);
        given.push(if share.is_empty() { None } else { Some(percent_of(share)?) });
    }
    let shares = shares(&given)?;
    let rows = sizes.into_iter().zip(shares).filter(|(_, share)| *share > 0);
    Ok(rows.map(|(block_bytes, share_percent)| BlockShare { block_bytes, share_percent }).collect())
}

fn rate(job: &mut Job, text: &str) -> Result<(), String> {
    let mut rates = [0; 2];
    for (rate, given) in rates.iter_mut().zip(two(text)?) {
        if let Some(given) = given {
            *rate = number(given, 1, 100_000_000)?;
        }
    }
    job.rate_iops = Some(rates);
    Ok(())
}

fn distribution(job: &mut Job, text: &str) -> Result<(), String> {
    if text == "random" {
        job.zones.clear();
        return Ok(());
    }
    let zones = text
        .strip_prefix("zoned:")
        .ok_or_else(|| "random and zoned:ACCESS/SIZE:.. are possible".to_owned())?;
    if zones.contains(',') {
        return Err("one set of zones for reads and writes is possible".into());
    }
    let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
    for zone in zones.split(':') {
        let (access, size) = zone.split_once('/').unwrap_or((zone, ""));
        for (list, text) in [(&mut accesses, access), (&mut sizes, size)] {
            list.push(if text.is_empty() { None } else { Some(percent_of(text)?) });
        }
    }
    let rows = shares(&accesses)?.into_iter().zip(shares(&sizes)?);
    job.zones = rows.map(|(access_percent, range_percent)| Zone { access_percent, range_percent }).collect();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(words: &[(&str, &str)]) -> Result<Job, String> {
        let mut job = Job::default();
        words.iter().try_for_each(|(name, value)| set(&mut job, name, Some(value)))?;
        Ok(job)
    }

    /// With `PLATEAU_BLESS` the page is written anew.
    #[test]
    fn the_documentation_has_this_table() {
        const MARKS: [&str; 2] = ["<!-- keys -->\n", "<!-- end of keys -->"];
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/load.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (before, rest) = page.split_once(MARKS[0]).unwrap();
        let (_, behind) = rest.split_once(MARKS[1]).unwrap();
        let row = |key: &Key| {
            let names = [&key.name].into_iter().chain(key.aliases).map(|name| format!("`{name}`"));
            format!("| {} | {} |\n", names.collect::<Vec<_>>().join(", "), key.about)
        };
        let table: String = KEYS.iter().map(row).collect();
        let (begin, end) = (MARKS[0], MARKS[1]);
        let wanted = format!("{before}{begin}| option | meaning here |\n|---|---|\n{table}{end}{behind}");
        if std::env::var_os("PLATEAU_BLESS").is_some() {
            std::fs::write(path, &wanted).unwrap();
            return;
        }
        assert!(page == wanted, "docs/load.md has another table; PLATEAU_BLESS=1 takes this one over");
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
    fn names_with_colons_need_a_backslash() {
        assert_eq!(job(&[("filename", "/dev/x\\:y")]).unwrap().filename.as_deref(), Some("/dev/x:y"));
        assert_eq!(
            job(&[("filename", "sim:sas-slc-2011")]).unwrap().filename.as_deref(),
            Some("sim:sas-slc-2011")
        );
        assert!(job(&[("filename", "/dev/x:/dev/y")]).unwrap_err().contains("one target per job"));
    }

    #[test]
    fn impossible_values_say_what_is_possible() {
        for (name, value, wanted) in [
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
            ("norandommap", "0", "only 1"),
            ("random_distribution", "zipf:1.2", "zoned:"),
            ("random_distribution", "zoned:50/5:40/95", "90 %"),
            ("rate_iops", "0", "1 to"),
            ("rate_process", "bursty", "poisson"),
            ("dedupe_percentage", "120", "0 to 100"),
            ("size", "120%", "0 to 100"),
        ] {
            let error = job(&[(name, value)]).expect_err(wanted);
            assert!(error.starts_with(&format!("{name}={value}: ")) && error.contains(wanted), "{error}");
        }
    }
}
