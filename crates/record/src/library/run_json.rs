//! The text of a `run.json`.

use std::borrow::Cow;

use crate::plain::{may_be_unprintable, plain};
use crate::{JOURNAL_MAGIC, RUN_FILE_VERSION, RunFile};

/// First bytes of every file compressed with zstd.
pub(super) const ZSTD_MAGIC: [u8; 4] = *b"\x28\xb5\x2f\xfd";

/// Size limit for a run file, with room for the longest command line on Linux (2 MiB) and the longest plan (1
/// MiB).
pub const MOST_RUN_FILE_BYTES: u64 = 4 << 20;
/// Length limit for an id: far longer than any real id, yet short enough that any file system allows an
/// extension after it.
const MOST_ID_BYTES: usize = 200;
/// Capacity limit (1 EiB), far beyond any real array, so that sums of capacities do not overflow.
const MOST_CAPACITY_BYTES: u64 = 1 << 60;

/// Parses a `run.json`. Strings in the result are safe to print.
///
/// # Errors
/// Returns an error if the text is not JSON, has a newer version than this build can read, or is not a run
/// file; the error describes the problem.
pub fn parse_run_file(bytes: &[u8]) -> Result<RunFile, String> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        version: Option<u64>,
    }
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let text = if may_be_unprintable(text) { Cow::from(plain(text)) } else { Cow::from(text) };
    // A newer file may contain unknown fields, so check the version first.
    let Versioned { version } = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    if version.is_none_or(|v| v > u64::from(RUN_FILE_VERSION)) {
        let found = version.map_or("none".to_owned(), |v| v.to_string());
        return Err(format!(
            "its version is {found}; this version of Plateau reads up to version {RUN_FILE_VERSION}"
        ));
    }
    let file: RunFile = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    if !is_id(&file.id) {
        return Err(format!("{:?} is not the id of a run", file.id));
    }
    if file.target.capacity_bytes > MOST_CAPACITY_BYTES {
        return Err(format!("no target has {} B", file.target.capacity_bytes));
    }
    Ok(file)
}

/// Returns whether data that begins with these bytes is a run's `run.json` or journal, or may be an archived run,
/// whatever the file is called. An archive begins like every file compressed with zstd.
#[must_use]
pub fn begins_as_file_of_run(bytes: &[u8]) -> bool {
    bytes.starts_with(JOURNAL_MAGIC.as_bytes()) || bytes.starts_with(&ZSTD_MAGIC) || begins_as_run_file(bytes)
}

fn begins_as_run_file(bytes: &[u8]) -> bool {
    let mut words = bytes.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default();
    let version = [next(), next(), next()];
    let is_number =
        |word: &[u8]| word.strip_suffix(b",").is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
    version[0] == b"{" && version[1] == b"\"version\":" && is_number(version[2]) && next() == b"\"id\":"
}

/// Returns whether `id` is safe as the name of a directory within the library. Output files are named after the
/// id, too.
#[must_use]
pub fn is_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= MOST_ID_BYTES && !id.starts_with(['.', '-']) && id.chars().all(is_plain)
}
