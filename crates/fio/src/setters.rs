//! Parses options with structured values.

use engine::Polling;
use record::{Access, Zone};

use super::Job;
use super::job::BlockShare;
use super::values::{bytes, number, percent_of, shares, switch};

pub fn only_on(_: &mut Job, text: &str) -> Result<(), String> {
    if switch(text)? { Ok(()) } else { Err("only 1 is supported".into()) }
}

/// fio separates names with colons; `\:` is a literal colon.
pub fn filename(job: &mut Job, text: &str) -> Result<(), String> {
    let plain = text.replace("\\:", "\n");
    if text.is_empty() {
        return Err("missing target name".into());
    }
    if !text.starts_with("sim:") && plain.contains(':') {
        return Err(
            "only one target per job is supported; write several jobs (\\: is a colon in a name)".into()
        );
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

pub fn pattern(job: &mut Job, text: &str) -> Result<(), String> {
    let known = PATTERNS.iter().find(|row| row.0 == text).ok_or_else(|| {
        let names: Vec<_> = PATTERNS.iter().map(|row| row.0).collect();
        format!("supported: {}", names.join(", "))
    })?;
    text.clone_into(&mut job.pattern);
    (job.access, job.reads) = (known.1, known.2);
    Ok(())
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

pub fn rate(job: &mut Job, text: &str) -> Result<(), String> {
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
    if text == "random" {
        job.zones.clear();
        return Ok(());
    }
    let zones = text
        .strip_prefix("zoned:")
        .ok_or_else(|| "only random and zoned:ACCESS/SIZE:.. are supported".to_owned())?;
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
