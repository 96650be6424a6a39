//! Parses options with structured values.

pub mod files;
pub mod nvme;
pub mod priority;
pub mod scsi;

use engine::{Engine, Polling};
use record::{Access, EachWrite, Offsets, Zone};

use super::Job;
use super::job::BlockShare;
use super::sequence::block_numbers;
use super::tie::ExitWhat;
use super::values::{
    bytes, engine, is_synchronous, number, percent_of, shares, switch, thousandths, time_ns, time_of_us_ns,
};

pub fn only_on(_: &mut Job, text: &str) -> Result<(), String> {
    if switch(text)? { Ok(()) } else { Err("only 1 is supported".into()) }
}

pub fn only_on_or_off(_: &mut Job, text: &str) -> Result<(), String> {
    switch(text).map(|_| ())
}

pub fn each_write(job: &mut Job, text: &str) -> Result<(), String> {
    job.syncs.each_write = match text {
        "0" | "none" => None,
        "1" | "sync" => Some(EachWrite::Sync),
        "dsync" => Some(EachWrite::Dsync),
        _ => return Err("supported: none, 0, sync, 1, dsync".into()),
    };
    Ok(())
}

pub fn log(log: &mut Option<String>, text: &str) -> Result<(), String> {
    *log = Some(text.to_owned());
    Ok(())
}

pub fn think_blocks_type(job: &mut Job, text: &str) -> Result<(), String> {
    job.think.count_issued = match text {
        "complete" => false,
        "issue" => true,
        _ => return Err("supported: complete, issue".into()),
    };
    Ok(())
}

/// Accepts only one value; `why` is the reason.
pub fn only(text: &str, value: &str, why: &str) -> Result<(), String> {
    if text == value { Ok(()) } else { Err(format!("only {value} is supported: {why}")) }
}

/// Accepts only 0, with a unit or without one; `why` is the reason.
pub fn zero(text: &str, why: &str) -> Result<(), String> {
    let is_zero = time_ns(text).is_ok_and(|ns| ns == 0) || switch(text).is_ok_and(|on| !on);
    if is_zero { Ok(()) } else { Err(format!("only 0 is supported: {why}")) }
}

pub fn start_delay(job: &mut Job, text: &str) -> Result<(), String> {
    if text.contains('-') {
        return Err("only one time is supported, not a range".into());
    }
    time_ns(text).map(|ns| job.start_delay_ns = ns)
}

/// Sets a limit for reads and writes. A value of 0 is no limit.
pub fn two_limits(
    limits: &mut [u64; 2],
    text: &str,
    parse: impl Fn(&str) -> Result<u64, String>,
) -> Result<(), String> {
    for (limit, given) in limits.iter_mut().zip(two(text)?) {
        if let Some(given) = given {
            *limit = parse(given)?;
        }
    }
    Ok(())
}

pub fn least_rate(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    two_limits(&mut job.limits.least_bytes_per_second, text, bytes)
}

pub fn least_iops(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    two_limits(&mut job.limits.least_iops, text, |text| number(text, 0, u32::MAX.into()))
}

pub fn most_latency(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    two_limits(&mut job.limits.most_latency_ns, text, time_of_us_ns)
}

pub fn exit_what(job: &mut Job, text: &str) -> Result<(), String> {
    job.tie.exit_what = match text {
        "group" => ExitWhat::Group,
        "stonewall" => ExitWhat::Stonewall,
        "all" => ExitWhat::All,
        _ => return Err("supported: group, stonewall, all".into()),
    };
    Ok(())
}

/// Accepts both values of a switch, and says in a remark that the value `differs` behaves like the other one.
fn either(job: &mut Job, text: &str, differs: bool, remark: &str) -> Result<(), String> {
    let on = switch(text)?;
    job.remarks.retain(|known| known != remark);
    if on == differs {
        job.remark(remark);
    }
    Ok(())
}

pub fn threads(job: &mut Job, text: &str) -> Result<(), String> {
    either(job, text, false, "thread=0: clones are threads nevertheless, not processes")
}

pub fn new_data(job: &mut Job, text: &str) -> Result<(), String> {
    either(job, text, false, "refill_buffers=0: every write has new data nevertheless")
}

pub fn first_wrong_block(job: &mut Job, text: &str) -> Result<(), String> {
    either(job, text, true, "verify_fatal=1: all blocks are checked nevertheless")
}

pub fn cpu_policy(job: &mut Job, text: &str) -> Result<(), String> {
    const REMARK: &str =
        "cpus_allowed_policy=shared: each thread has a CPU of its own nevertheless, if there are enough";
    job.remarks.retain(|known| known != REMARK);
    match text {
        "split" => {}
        "shared" => job.remark(REMARK),
        _ => return Err("supported: split, shared".into()),
    }
    Ok(())
}

pub fn io_engine(job: &mut Job, text: &str) -> Result<(), String> {
    const LIBBLKIO: &str = "ioengine=libblkio: io_uring is used without this library";
    job.remarks.retain(|known| known != LIBBLKIO);
    if text == "libblkio" {
        job.remark(LIBBLKIO);
    }
    job.engine = engine(text)?;
    job.one_at_a_time = is_synchronous(text) || matches!(job.engine, Engine::Files(_) | Engine::Space(_));
    Ok(())
}

/// The page cache is bypassed regardless of the job's request.
pub fn unbuffered(job: &mut Job, direct: bool) {
    const REMARK: &str =
        "the page cache is bypassed if the file system permits it, although the job requests buffered I/O";
    if direct {
        job.remarks.retain(|remark| remark != REMARK);
    } else {
        job.remark(REMARK);
    }
}

/// fio's methods that store a checksum with each block.
const CHECKSUMS: &[&str] = &[
    "md5",
    "crc64",
    "crc32c",
    "crc32c-intel",
    "crc32",
    "crc16",
    "crc7",
    "xxhash",
    "sha512",
    "sha256",
    "sha1",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
];

pub fn content_check(job: &mut Job, text: &str) -> Result<(), String> {
    job.verify = match text {
        "0" | "none" => false,
        known if CHECKSUMS.contains(&known) => true,
        _ => return Err(format!("supported: {}", CHECKSUMS.join(", "))),
    };
    if job.verify && !text.starts_with("crc32c") {
        job.remark(&format!("verify={text}: the stamps contain a CRC32C instead"));
    }
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
    ("trim", Access::Sequential, Some(0)),
    ("randtrim", Access::Random, Some(0)),
];

pub fn pattern(job: &mut Job, text: &str) -> Result<(), String> {
    let (name, modifier) = text.split_once(':').unwrap_or((text, ""));
    let known = PATTERNS.iter().find(|row| row.0 == name).ok_or_else(|| {
        let names: Vec<_> = PATTERNS.iter().map(|row| row.0).collect();
        let why = if name.ends_with("trimwrite") { "a job that trims does not write; " } else { "" };
        format!("{why}supported: {}", names.join(", "))
    })?;
    job.strides.skip_bytes = match (modifier, known.1) {
        ("", _) | ("1", Access::Random) => 0,
        (_, Access::Random) => return Err("only an offset for each I/O is supported: omit the number".into()),
        (modifier, Access::Sequential) => distance(modifier)?,
    };
    name.clone_into(&mut job.pattern);
    (job.access, job.reads, job.trims) = (known.1, known.2, name.ends_with("trim"));
    Ok(())
}

/// Parses bytes with an optional sign.
fn distance(text: &str) -> Result<i64, String> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let bytes = i64::try_from(bytes(digits)?).map_err(|_| "too large".to_owned())?;
    Ok(sign * bytes)
}

/// Notes whether a third value, for trims, differs from the value for writes.
fn note_trims(job: &mut Job, text: &str) {
    let parts: Vec<&str> = text.split(',').collect();
    job.trims_differ |=
        matches!(parts[..], [_, write, trim] if write != trim) || matches!(parts[..], [_, ""]);
}

/// Parses values for reads and writes: `BOTH`, `READ,WRITE`, `READ,`, `,WRITE`; a third value, for trims, is
/// ignored.
fn two(text: &str) -> Result<[Option<&str>; 2], String> {
    let parts: Vec<&str> = text.split(',').collect();
    let some = |part| Some(part).filter(|part: &&str| !part.is_empty());
    match parts[..] {
        [both] => Ok([some(both); 2]),
        [read, write] | [read, write, _] => Ok([some(read), some(write)]),
        _ => Err("at most three values are supported".into()),
    }
}

fn block_bytes(text: &str) -> Result<u32, String> {
    let bytes = u32::try_from(bytes(text)?).map_err(|_| "it must be below 4g".to_owned())?;
    if bytes == 0 || bytes > 1 << 30 { Err("it must be from 1 to 1g".into()) } else { Ok(bytes) }
}

pub fn block_size(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    let sizes = two(text)?;
    if sizes == [None; 2] {
        return Err("missing size".into());
    }
    for (blocks, size) in job.blocks.iter_mut().zip(sizes) {
        if let Some(size) = size {
            *blocks = vec![BlockShare { block_bytes: block_bytes(size)?, share_percent: 100 }];
        }
    }
    Ok(())
}

pub fn block_split(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    let splits = two(text)?;
    if splits == [None; 2] {
        return Err("missing sizes".into());
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
        return Err("at most 100 sizes are supported".into());
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

/// Maximum number of sizes, because shares are integer percentages.
const MOST_SIZES: u32 = 100;

pub fn block_range(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    let ranges = two(text)?;
    if ranges == [None; 2] {
        return Err("missing sizes".into());
    }
    for (blocks, range) in job.blocks.iter_mut().zip(ranges) {
        if let Some(range) = range {
            *blocks = equal_shares(range)?;
        }
    }
    Ok(())
}

/// Returns the multiples of the smallest size up to the largest, with equal shares.
fn equal_shares(range: &str) -> Result<Vec<BlockShare>, String> {
    let (least, most) = range.split_once('-').unwrap_or((range, range));
    let (least, most) = (block_bytes(least)?, block_bytes(most)?);
    let count = most / least;
    if count == 0 || count > MOST_SIZES {
        return Err(format!(
            "a range has 1 to {MOST_SIZES} sizes in steps of the smallest, but this one has {count}"
        ));
    }
    let cut = |i: u32| (100 * i).div_euclid(count);
    let row =
        |i: u32| BlockShare { block_bytes: (i + 1) * least, share_percent: (cut(i + 1) - cut(i)) as u8 };
    Ok((0..count).map(row).collect())
}

pub fn block_align(job: &mut Job, text: &str) -> Result<(), String> {
    let sizes = two(text)?;
    let given: Vec<&str> = sizes.into_iter().flatten().collect();
    match given[..] {
        [one] => job.align_bytes = block_bytes(one)?,
        [read, write] if read == write => job.align_bytes = block_bytes(read)?,
        [] => return Err("missing size".into()),
        _ => return Err("only one alignment for both reads and writes is supported".into()),
    }
    Ok(())
}

pub fn rate_bytes(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    let mut rates = [0; 2];
    for (rate, given) in rates.iter_mut().zip(two(text)?) {
        if let Some(given) = given {
            *rate = bytes(given)?;
            if *rate == 0 {
                return Err("it must be at least 1".into());
            }
        }
    }
    job.rate_bytes = Some(rates);
    Ok(())
}

pub fn rate(job: &mut Job, text: &str) -> Result<(), String> {
    note_trims(job, text);
    let mut rates = [0; 2];
    for (rate, given) in rates.iter_mut().zip(two(text)?) {
        if let Some(given) = given {
            *rate = number(given, 1, 100_000_000)?;
        }
    }
    job.rate_iops = Some(rates);
    Ok(())
}

pub fn distribution(job: &mut Job, text: &str) -> Result<(), String> {
    job.zones.clear();
    (job.distribution, job.order.blocks) = (None, None);
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let zones = match name {
        "random" if value.is_empty() => return Ok(()),
        "zoned" => value,
        "zipf" => {
            job.distribution =
                Some(Offsets::ZipfMilli(thousandths(if value.is_empty() { "1.1" } else { value })?));
            return Ok(());
        }
        "pareto" => {
            job.distribution =
                Some(Offsets::ParetoMilli(thousandths(if value.is_empty() { "0.2" } else { value })?));
            return Ok(());
        }
        "normal" => {
            job.distribution = Some(Offsets::NormalPercent(number(value, 1, 100)?));
            return Ok(());
        }
        "sequence" => {
            job.order.blocks = Some(block_numbers(value)?);
            return Ok(());
        }
        _ => {
            let supported = "random, zoned:ACCESS/SIZE:.., zipf:THETA, pareto:H, normal:PERCENT and sequence:BLOCK,BLOCK,..";
            return Err(format!("only {supported} are supported"));
        }
    };
    if zones.contains(',') {
        return Err("only one set of zones for both reads and writes is supported".into());
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

/// Enables one polling mode instead of the other, or disables it.
pub fn polling(job: &mut Job, text: &str, way: Polling) -> Result<(), String> {
    if switch(text)? {
        job.polling = way;
    } else if job.polling == way {
        job.polling = Polling::No;
    }
    Ok(())
}
