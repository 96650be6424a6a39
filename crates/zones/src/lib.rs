//! Zoned block devices: the kernel's commands for zones, whether a workload can use them, and a table that decides where
//! each I/O goes.

mod check;
mod early;
mod kernel;
mod refusal;
mod shared;
mod table;
mod zone;

pub use check::{check, limit, smallest_bytes};
pub use kernel::{Kernel, ZoneCommands, report, reset};
pub use refusal::NotZoned;
pub use shared::Zones;
pub use table::{Placed, Table, ZoneJob};
pub use zone::{Zone, ZoneReport};
