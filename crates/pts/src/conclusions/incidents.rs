//! Problems in a test's segments: interruptions and buffered I/O.

use record::Segment;

use crate::Deviation;

/// Above this number, interruptions are counted rather than listed.
const GAPS_LISTED: usize = 3;

/// Problems in a test's segments. Timeline tests collect incidents as they occur, because they keep no segments.
#[derive(Debug, Default)]
pub(crate) struct Incidents {
    gaps: Vec<(u64, String)>,
    buffered: bool,
}

impl Incidents {
    pub fn see(&mut self, segment: &Segment) {
        if let Some(gap) = segment.gap_before {
            self.gaps.push((gap.length_ns, segment.workload.to_string()));
        }
        self.buffered |= segment.io_path.is_buffered();
    }

    /// Returns the note about gaps in a timeline test, during which the idle drive recovers.
    pub fn note(&self) -> Option<String> {
        let text = "INTERRUPTED: the timeline has a gap; the PTS requires a restart at the purge";
        (!self.gaps.is_empty()).then(|| text.into())
    }

    pub fn add_to(&self, all: &mut Vec<Deviation>) {
        if self.gaps.len() > GAPS_LISTED {
            let total_ns = self.gaps.iter().map(|gap| gap.0).fold(0, u64::saturating_add);
            all.push(Deviation::InterruptedOften { times: self.gaps.len(), total_ns });
        } else {
            // Duplicates are kept: two interruptions of the same length are two events.
            all.extend(self.gaps.iter().map(|(length_ns, before)| Deviation::Interrupted {
                length_ns: *length_ns,
                before: before.clone(),
            }));
        }
        if self.buffered {
            all.push(Deviation::Buffered);
        }
    }
}
