//! Where an I/O goes.

use stdx::access::Access;

/// Where an I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// There; its zone is claimed.
    Issue(Access),
    /// There, after a reset of its zone, given by start and length; the zone is claimed.
    Reset(Access, (u64, u64)),
    /// Nowhere until this zone, which is claimed, has been finished.
    Finish((u64, u64)),
    /// Nowhere until another I/O has completed.
    Busy,
    /// Nowhere: sequential I/O goes on at this offset.
    Skip(u64),
    /// Nowhere: no zone has data to read or to trim.
    Over,
}

/// The zone of a write.
pub(crate) enum Found {
    Zone(usize),
    Finish(usize),
    Busy,
}
