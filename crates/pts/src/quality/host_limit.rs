//! Results that may reflect the host instead of the drive.

use record::{HOST_LIMIT_SHARE, Segment};
use stdx::units::{count_of, counted};

/// Above this number, kinds of cells are counted rather than listed.
const LISTED: usize = 6;

/// The symbol after a number that the host may have limited.
pub const MARK: &str = "*";
/// Explanation of the symbol, printed wherever the symbol occurs.
pub const LEGEND: &str = "host-limited: more than 70 % of the host ceiling or CPU time; this figure may \
                          reflect the host rather than the drive";

/// Appends the symbol to `text` if the value is host-limited.
#[must_use]
pub fn marked(text: String, host_limited: bool) -> String {
    if host_limited { text + MARK } else { text }
}

/// The line that explains the symbol on pages and terminals.
#[must_use]
pub fn legend() -> String {
    format!("{MARK} {LEGEND}.")
}

/// The host-limited cells of a test.
pub(crate) struct Limited {
    /// Number of affected cells and of all cells, such as `5 of 280 cells`.
    pub count: String,
    /// A note about these cells.
    pub note: String,
}

/// Collects host-limited `cells`; None if there are none.
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
        list.push(format!("{} more", count_of(kinds.len() - LISTED, "kind")));
    }
    let count = format!("{} of {} cells", counted(limited), counted(all));
    let note = format!(
        "HOST-LIMITED: {count} used more than {:.0} % of the host's ceiling or CPU time, so they may reflect \
         the host rather than the drive: {}",
        HOST_LIMIT_SHARE * 100.0,
        list.join(", ")
    );
    Some(Limited { count, note })
}
