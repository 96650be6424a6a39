//! Zoned block devices: whether a workload can use the zones of a device, and where each of its I/Os goes.
#![forbid(unsafe_code)]

mod check;
mod early;
mod placed;
mod refusal;
mod shared;
mod table;
mod zone;

pub use check::{check, limit, smallest_bytes};
pub use placed::Placed;
pub use refusal::NotZoned;
pub use shared::Zones;
pub use table::{Table, ZoneJob};
pub use zone::{Zone, ZoneReport};
