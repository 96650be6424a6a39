//! A record in a journal, and its limits.

use super::detail::Detail;
use super::plain_json;
use crate::chain::json_in;
use crate::plain::{may_be_unprintable, plain};
use crate::{Digest, Entry};

/// Journal version written by this build; older versions are read, newer ones refused.
pub const VERSION: u32 = 1;
/// First version of the format.
pub(super) const OLDEST_VERSION: u32 = 1;
/// First bytes of every journal.
pub const MAGIC: &str = "plateau-journal ";
/// Limit on one record: 100 times the longest known record, that of XSR's eight-hour write with one row per
/// second.
pub(super) const MOST_RECORD_BYTES: usize = 64 << 20;
/// Limit on the number of values in one record, each of which may take 24 bytes of memory. A workload of 45
/// days would reach this limit.
pub(super) const MOST_RECORD_VALUES: usize = 1 << 24;
/// Limit on one line: the longest record, its hash, a space and the newline.
pub const MOST_LINE_BYTES: usize = MOST_RECORD_BYTES + 66;

fn entry_of(json: &str, detail: Detail) -> Result<Entry, serde_json::Error> {
    // Fast path: almost no record contains an escape or a control character.
    if may_be_unprintable(json) {
        return serde_json::from_str(&plain(json));
    }
    if json.is_ascii()
        && let Some(entry) = plain_json::parsed(json, detail)
    {
        return Ok(entry);
    }
    // Unlike the faster parser, `serde_json` also says what is wrong.
    serde_json::from_str(json)
}

/// Rejects a record that would take far more memory than any real record.
pub(super) fn check_size(json: &str) -> Result<(), String> {
    if json.len() > MOST_RECORD_BYTES {
        let bytes = json.len();
        return Err(format!("it has {bytes} B; no run writes a record of more than {MOST_RECORD_BYTES} B"));
    }
    if json.len() <= MOST_RECORD_VALUES {
        return Ok(());
    }
    // Each value except the first follows one of these characters. Counting such characters in strings only
    // increases the estimate.
    let values = json.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if values > MOST_RECORD_VALUES {
        return Err(format!("it has about {values} values; no run writes more than {MOST_RECORD_VALUES}"));
    }
    Ok(())
}

/// Parses one record and checks its number and hash, given the link before it.
pub(super) fn parse_line(
    line: &[u8],
    seq: u64,
    chain: Digest,
    detail: Detail,
) -> Result<(Entry, Digest), String> {
    if line.len() > MOST_LINE_BYTES {
        // The line may not have been read to its end, so its hash is meaningless.
        return Err(format!("it is too long; no run writes a record of more than {MOST_RECORD_BYTES} B"));
    }
    let (json, digest) = json_in(line, chain)?;
    check_size(json)?;
    let entry = entry_of(json, detail).map_err(|e| e.to_string())?;
    if entry.seq == seq {
        Ok((entry, digest))
    } else {
        Err(format!("it is numbered as record {}", entry.seq))
    }
}
