//! Parses options about I/O priorities.

use record::IoPriority;

use super::{block_bytes, two};
use crate::Job;
use crate::priority::SplitShare;
use crate::values::{number, percent_of};

/// Largest number of entries for each direction, as in fio.
const MOST_ENTRIES: usize = 64;

/// Sets a value for reads and writes.
pub fn pair<T>(
    values: &mut [T; 2],
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<(), String> {
    for (value, given) in values.iter_mut().zip(two(text)?) {
        if let Some(given) = given {
            *value = parse(given)?;
        }
    }
    Ok(())
}

pub fn class(text: &str) -> Result<u8, String> {
    number(text, 1, IoPriority::MOST_CLASS.into())
}

pub fn level(text: &str) -> Result<u8, String> {
    number(text, 0, IoPriority::MOST_LEVEL.into())
}

pub fn hint(text: &str) -> Result<u16, String> {
    number(text, 0, IoPriority::MOST_HINT.into())
}

pub fn split(job: &mut Job, text: &str) -> Result<(), String> {
    for (shares, given) in job.commands.priorities.split.iter_mut().zip(two(text)?) {
        let entries: Vec<&str> = given.unwrap_or_default().split(':').filter(|e| !e.is_empty()).collect();
        if entries.len() > MOST_ENTRIES {
            return Err(format!("at most {MOST_ENTRIES} entries are supported"));
        }
        let parsed = entries.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        *shares = parsed.into_iter().filter(|share| share.share_percent > 0).collect();
    }
    Ok(())
}

/// Parses `SIZE/PERCENT`, `SIZE/PERCENT/CLASS/LEVEL` or `SIZE/PERCENT/CLASS/LEVEL/HINT`.
fn entry(text: &str) -> Result<SplitShare, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let priority = match parts[..] {
        [_] | [_, _] => None,
        [_, _, of_class, of_level] => {
            Some(IoPriority { class: class(of_class)?, level: level(of_level)?, hint: 0 })
        }
        [_, _, of_class, of_level, of_hint] => {
            Some(IoPriority { class: class(of_class)?, level: level(of_level)?, hint: hint(of_hint)? })
        }
        _ => return Err("entries have the form SIZE/PERCENT, with /CLASS/LEVEL or /CLASS/LEVEL/HINT".into()),
    };
    let percent = parts.get(1).copied().filter(|percent| !percent.is_empty());
    let share_percent = percent.map_or(Ok(0), percent_of)?;
    Ok(SplitShare { block_bytes: block_bytes(parts[0])?, share_percent, priority })
}
