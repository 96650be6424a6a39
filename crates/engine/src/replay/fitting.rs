//! Checks every I/O of a replay before it is issued.

use stdx::access::Access;

use super::terms::{Due, ReplayOptions, Source};
use crate::error::EngineError;

/// The limits that a target imposes on I/Os.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// End of the target.
    pub capacity_bytes: u64,
    /// Required alignment of offsets and lengths.
    pub sector_bytes: u32,
    /// Whether writes are permitted.
    pub writes: bool,
}

/// Passes on the I/Os of a source until one does not fit the target.
pub struct Fitting<'a, 'b> {
    source: &'a mut Source<'b>,
    bounds: Bounds,
    largest_bytes: u32,
    misfit: Option<Access>,
}

impl<'a, 'b> Fitting<'a, 'b> {
    /// Checks the I/Os of `source`.
    pub fn new(source: &'a mut Source<'b>, options: &ReplayOptions, bounds: Bounds) -> Self {
        Self { source, bounds, largest_bytes: options.largest_bytes, misfit: None }
    }

    /// Adds the next I/Os, but none after the first that does not fit.
    pub fn next(&mut self, batch: &mut Vec<Due>) {
        if self.misfit.is_some() {
            return;
        }
        (self.source)(batch);
        if let Some(place) = batch.iter().position(|due| !self.fits(due.access)) {
            self.misfit = Some(batch[place].access);
            batch.truncate(place);
        }
    }

    fn fits(&self, access: Access) -> bool {
        let (length, sector) = (u64::from(access.block_bytes), u64::from(self.bounds.sector_bytes));
        let end = access.offset_bytes.checked_add(length);
        length.is_multiple_of(sector)
            && access.offset_bytes.is_multiple_of(sector)
            && (1..=self.largest_bytes).contains(&access.block_bytes)
            && end.is_some_and(|end| end <= self.bounds.capacity_bytes)
            && (access.read || self.bounds.writes)
    }

    /// Returns whether all I/Os fit.
    ///
    /// # Errors
    /// [`EngineError::Misfit`] with the first I/O that does not fit. No later I/O was issued.
    pub fn outcome(self, target: &str) -> Result<(), EngineError> {
        let of = |access: Access| EngineError::Misfit {
            target: target.to_owned(),
            read: access.read,
            offset_bytes: access.offset_bytes,
            length_bytes: access.block_bytes,
        };
        self.misfit.map_or(Ok(()), |access| Err(of(access)))
    }
}
