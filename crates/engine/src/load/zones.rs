//! Zoned block devices: writes go to the write pointers of zones, and zones are reset before they are written again.
//!
//! All threads and workloads of a target share a table of its zones, in which they claim a zone for each I/O. A zone has at
//! most one write in flight, because its writes must arrive in order, and nothing below guarantees that.

mod issue;
pub(crate) mod kernel;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use record::Workload;
use stdx::access::Access;
use zones::{NotZoned, Placed, Table, ZoneJob, Zones, smallest_bytes};

use super::target::Target;
use crate::error::EngineError;
use kernel::{Kernel, ZoneCommands};

/// Reads the zones of a target that workloads with zones use; `None` if no workload has zones.
pub(super) fn zones_of(
    target: &Target<'_>,
    workloads: &[Workload],
) -> Result<Option<Arc<Zones>>, EngineError> {
    let zoned: Vec<&Workload> = workloads.iter().filter(|workload| workload.zoned().is_some()).collect();
    let (Some(file), false) = (target.fd, zoned.is_empty()) else { return Ok(None) };
    let report = kernel::report(file).map_err(|why| refused(target.name, why))?;
    for workload in &zoned {
        zones::check(&report, workload, target.is_buffered).map_err(|why| refused(target.name, why))?;
    }
    let limit = zones::limit(&report, &zoned);
    Ok(Some(Arc::new(Zones::new(Table::new(report, limit)))))
}

fn refused(target: &str, why: NotZoned) -> EngineError {
    EngineError::NotZoned { target: target.to_owned(), why }
}

/// Checks that a target has the zones that a workload needs, if it needs any. Changes nothing.
pub(super) fn check_zones(target: &Target<'_>, workload: &Workload) -> Result<(), EngineError> {
    let Some(file) = target.fd.filter(|_| workload.zoned().is_some()) else { return Ok(()) };
    let checked = kernel::report(file).and_then(|report| zones::check(&report, workload, target.is_buffered));
    checked.map_err(|why| refused(target.name, why))
}

/// Checks that all workloads that write to a target respect its zones, if any of them does.
pub(super) fn check_together(target: &str, workloads: &[Workload]) -> Result<(), EngineError> {
    let any_zoned = workloads.iter().any(|workload| workload.zoned().is_some());
    let ignores = |workload: &Workload| workload.writes() && workload.zoned().is_none();
    if any_zoned && workloads.iter().any(ignores) {
        return Err(refused(target, NotZoned::Mixed));
    }
    Ok(())
}

/// One thread's use of the zones. When it is dropped, the thread no longer waits for any of them.
pub(super) struct ZoneUse<'a> {
    zones: &'a Zones,
    job: ZoneJob,
    commands: Box<dyn ZoneCommands + 'a>,
    /// Accesses to these bytes of the zone that was left last are not issued.
    skipping: Range<u64>,
    /// Bytes that were skipped since the last I/O.
    skipped_bytes: u64,
}

impl<'a> ZoneUse<'a> {
    /// Returns the use of a thread; `None` for a workload without zones.
    pub(super) fn of(target: &Target<'a>, workload: &Workload) -> Option<Self> {
        let (zones, zoned, file) = (target.zones?, workload.zoned()?, target.fd?);
        let job = zones.table().job(workload, zoned, smallest_bytes(workload));
        Some(Self::with(zones, job, Box::new(Kernel(file))))
    }

    fn with(zones: &'a Zones, job: ZoneJob, commands: Box<dyn ZoneCommands + 'a>) -> Self {
        Self { zones, job, commands, skipping: 0..0, skipped_bytes: 0 }
    }

    fn place(&self, access: Access) -> Placed {
        self.zones.table().place(&self.job, access)
    }

    /// Ends the claim of an I/O, which succeeded or failed. Returns whether a zone with data was reset for it, or by it.
    pub(super) fn ended(&self, access: Access, is_done: bool) -> bool {
        self.zones.table().ended(&self.job, access, is_done)
    }

    /// Resets a zone that was claimed for a write.
    fn reset(&self, zone: (u64, u64)) -> io::Result<()> {
        self.commands.reset(zone.0, zone.1)
    }

    /// Finishes a claimed zone, and ends the claim.
    fn finish(&self, zone: (u64, u64)) -> io::Result<()> {
        let finished = self.commands.finish(zone.0, zone.1);
        self.zones.table().finished(zone.0, finished.is_ok());
        finished
    }

    /// Returns the number of claims so far if no thread has one.
    fn idle_after(&self) -> Option<u64> {
        self.zones.table().idle_after()
    }
}

impl Drop for ZoneUse<'_> {
    fn drop(&mut self) {
        self.zones.table().left(&self.job);
    }
}

#[cfg(test)]
mod tests;
