//! Workloads that verify their data, on a drive that does not store data: the drive computes which reads its
//! faults would have changed. As on a real target, all written data is read back at the end.

use engine::{Flow, LoadOutcome, Tick, ended_by};
use nandsim::{Cause, DataDefect};
use record::{FailedIo, IoEngine, Regime, Segment, Until, Verified, Workload, WrongData, WrongPlace};
use stdx::units::{KIB, SECOND_NS};

use super::Simulated;
use crate::error::DriveError;

/// Block size and queue depth for reading back.
const READ_BACK_BYTES: u32 = 128 * KIB as u32;
const READ_BACK_DEPTH: u16 = 8;

impl Simulated {
    /// Runs a validated workload with verification.
    pub(super) fn run_verified(
        &mut self,
        workload: &Workload,
        on_tick: &mut dyn FnMut(&Tick) -> Flow,
    ) -> Result<LoadOutcome, DriveError> {
        let start_ns = self.ssd.now_ns();
        self.ssd.expect_data();
        let plain = Regime { verify: false, ..workload.regime };
        let measured = self.run(&Workload { regime: plain, ..workload.clone() }, on_tick);
        let mut segment = match measured {
            Ok(LoadOutcome::Finished(segment)) => segment,
            Ok(LoadOutcome::Stopped) => return Ok(LoadOutcome::Stopped),
            Err(error) => return self.failed(workload, start_ns, error),
        };
        let mut checked_blocks = segment.read.ios;
        match self.run(&read_back(workload), on_tick) {
            Ok(LoadOutcome::Finished(read)) => checked_blocks += read.read.ios,
            Ok(LoadOutcome::Stopped) => return Ok(LoadOutcome::Stopped),
            Err(error) => return self.failed(workload, start_ns, error),
        }
        let found = self.ssd.found_data();
        let place = |found: &nandsim::WrongData| WrongPlace {
            offset_bytes: found.offset_bytes,
            length_bytes: found.length_bytes,
            wrong: match found.defect {
                DataDefect::Flipped => WrongData::Corrupt,
                DataDefect::Lost => WrongData::Lost,
            },
        };
        segment.workload = workload.clone();
        segment.verified = Some(Verified {
            checked_blocks,
            wrong_blocks: found.reads,
            places: found.places.iter().map(place).collect(),
            failed: None,
        });
        Ok(LoadOutcome::Finished(segment))
    }

    /// Treats a failed I/O as a result, unless the drive is gone.
    fn failed(
        &self,
        workload: &Workload,
        start_ns: u64,
        error: DriveError,
    ) -> Result<LoadOutcome, DriveError> {
        match error {
            DriveError::Simulated(failure) if matches!(failure.cause, Cause::Media | Cause::Timeout) => {
                let failed = FailedIo {
                    kind: failure.errors.first().map_or_else(|| "EIO".into(), |error| error.kind.clone()),
                    read: failure.read,
                    offset_bytes: failure.offset_bytes,
                    length_bytes: failure.length_bytes.into(),
                };
                let times = (start_ns, self.ssd.now_ns(), SECOND_NS / self.divisor);
                let segment: Segment = ended_by(workload, times, IoEngine::Simulated, failed, failure.errors);
                Ok(LoadOutcome::Finished(segment))
            }
            error => Err(error),
        }
    }
}

/// Returns a workload that reads the range of `workload` once.
fn read_back(workload: &Workload) -> Workload {
    let bytes = workload.range.segment_bytes / u64::from(READ_BACK_BYTES) * u64::from(READ_BACK_BYTES);
    Workload {
        access: record::Access::Sequential,
        read_percent: 100,
        block_bytes: READ_BACK_BYTES,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        queue_depth: READ_BACK_DEPTH,
        until: Until::AmountBytes(bytes),
        regime: Regime::default(),
        ..workload.clone()
    }
}
