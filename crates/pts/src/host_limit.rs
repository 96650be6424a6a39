//! Results that may be the host's and not the drive's.

use record::{HOST_LIMIT_SHARE, Segment};

/// More kinds of cells than this are counted instead of listed.
const LISTED: usize = 6;

/// Stands behind a number that the host may have set.
pub const MARK: &str = "*";
/// What the mark means; stands wherever there is one.
pub const LEGEND: &str = "host-limited: more than 70 % of the host ceiling or CPU time; this figure may \
                          reflect the host rather than the drive";

/// `text` of a number, marked where it is host-limited.
#[must_use]
pub fn marked(text: String, host_limited: bool) -> String {
    if host_limited { text + MARK } else { text }
}

/// The line that explains the mark, as pages and terminals print it.
#[must_use]
pub fn legend() -> String {
    format!("{MARK} {LEGEND}.")
}

/// The cells of a test that the host may have limited.
pub(crate) struct Limited {
    /// How many of how many: `5 of 280 cells`.
    pub count: String,
    /// What must be said of them.
    pub note: String,
}

/// Such cells among `cells`; none where the drive was the limit in all of them.
pub(crate) fn among<'a>(cells: impl Iterator<Item = &'a Segment>) -> Option<Limited> {
    let (mut all, mut limited) = (0u32, 0u32);
    let mut kinds: Vec<(String, f64)> = Vec::new();
    for segment in cells {
        all += 1;
        let Some(share) = segment.host_share().filter(|_| segment.is_host_limited()) else { continue };
        limited += 1;
        let name = segment.workload.to_string();
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, largest)) => *largest = largest.max(share),
            None => kinds.push((name, share)),
        }
    }
    if kinds.is_empty() {
        return None;
    }
    let named = kinds.iter().take(LISTED).map(|(name, share)| format!("{name} ({:.0} %)", share * 100.0));
    let mut list: Vec<String> = named.collect();
    if kinds.len() > LISTED {
        list.push(format!("{} more kinds", kinds.len() - LISTED));
    }
    let count = format!("{limited} of {all} cells");
    let note = format!(
        "HOST-LIMITED: {count} used more than {:.0} % of the host's ceiling or CPU time, so they may reflect \
         the host rather than the drive: {}",
        HOST_LIMIT_SHARE * 100.0,
        list.join(", ")
    );
    Some(Limited { count, note })
}
