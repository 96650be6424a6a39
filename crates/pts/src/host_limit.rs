//! Results that may be the host's and not the drive's.

use record::{HOST_LIMIT_SHARE, Segment};

/// More kinds of cells than this are counted instead of listed.
const LISTED: usize = 6;

/// What must be said of these cells; none where the drive was the limit in all of them.
pub fn note<'a>(cells: impl Iterator<Item = &'a Segment>) -> Option<String> {
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
    Some(format!(
        "HOST-LIMITED: {limited} of {all} cells used more than {:.0} % of what this host can do, so they may show \
         the host and not the drive: {}",
        HOST_LIMIT_SHARE * 100.0,
        list.join(", ")
    ))
}
