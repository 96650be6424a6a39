//! The test's results and the verdict based on them.

use record::{Health, Purged, Segment, Verified};

use super::limits::Limits;
use super::load::{CELL_MINUTES, Load};
use crate::conclusions::acceptance::{Acceptance, Reason};
use crate::conclusions::incidents::Incidents;

pub const CELLS_PER_HOUR: u32 = 60 / CELL_MINUTES;

/// All results that the test received, whether or not it completed.
pub struct BurnInAnswers {
    pub limits: Limits,
    pub load: Load,
    pub purge: Option<Purged>,
    pub parts: Vec<Part>,
    /// Health readings from the start of the test to the end of the run.
    pub health: Vec<Health>,
    pub incidents: Incidents,
}

/// One cell.
pub struct Part {
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub megabytes_per_second: f64,
    pub verified: Verified,
    pub host_limited: bool,
}

impl Part {
    pub fn of(segment: &Segment) -> Self {
        Self {
            read_bytes: segment.read.bytes,
            written_bytes: segment.write.bytes,
            megabytes_per_second: segment.megabytes_per_second(),
            verified: segment.verified.clone().unwrap_or_default(),
            host_limited: segment.is_host_limited(),
        }
    }

    /// Whether incorrect data was found or an I/O failed.
    pub fn is_bad(&self) -> bool {
        self.verified.wrong_blocks > 0 || self.verified.failed.is_some()
    }
}

impl BurnInAnswers {
    /// Returns the verdict; None while the load is not complete and there is no reason to reject the drive.
    pub fn acceptance(&self, complete: bool) -> Option<Acceptance> {
        let mut reasons = Vec::new();
        let blocks = self.parts.iter().map(|part| part.verified.wrong_blocks).sum();
        if blocks > 0 {
            let first = self.parts.iter().find_map(|part| part.verified.places.first().copied());
            reasons.push(Reason::Data { blocks, first });
        }
        reasons.extend(self.parts.iter().find_map(|part| part.verified.failed.clone()).map(Reason::Io));
        let unchecked = self.limits.judge(&self.health, &mut reasons);
        (complete || !reasons.is_empty())
            .then_some(Acceptance { reasons, unchecked: unchecked.into_iter().map(str::to_owned).collect() })
    }

    /// Returns the cells that did not end with a failed I/O, after which amounts are meaningless.
    pub fn complete_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.verified.failed.is_none())
    }

    pub fn checked_blocks(&self) -> u64 {
        self.parts.iter().map(|part| part.verified.checked_blocks).sum()
    }
}
