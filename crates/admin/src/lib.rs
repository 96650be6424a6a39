//! Administrative commands for NVMe, ATA and SCSI drives: requests, decoded responses, and the information derived from
//! them.
//!
//! A device is anything that accepts commands ([`Admin`]). Another crate implements this trait for real drives;
//! tests use a script of expected commands. [`ask_nvme`] and [`ask_scsi`] query what a device supports
//! ([`Capabilities`]). The modules build on these:
//!
//! | module | what it does |
//! |---|---|
//! | [`purge`] | purge methods, the choice among them, and their verification |
//! | [`health`] | temperature, wear and other health data, in one format for all interfaces |
//! | [`write_cache`] | switching the volatile write cache on or off |
//! | [`lba_format`] | the sector size of an NVMe namespace |
//! | [`power_state`] | the maximum power of an NVMe drive |
//! | [`identify`] | the identity of an NVMe namespace |
//! | [`describe`] | everything that a device reports about itself, as a list of facts |
//! | [`storcli`] | parses the output of `storcli`, the command-line tool of RAID controllers |
//! | `wire` | decoders for the structures defined in the specifications |
//!
//! Nothing in this crate opens a device, makes a system call or checks whether a device is in use: before each
//! destructive command, [`Admin::recheck`] verifies that the device is still the one that may be erased.
#![forbid(unsafe_code)]

mod about;
mod capability;
mod command;
mod error;
mod fault;
pub mod health;
pub mod identify;
pub mod lba_format;
pub mod power_state;
pub mod purge;
pub mod storcli;
mod wire;
pub mod write_cache;

pub use about::{About, Fact, Facts, Value, describe};
pub use capability::{Capabilities, Protocol, ask_nvme, ask_scsi};
pub use command::{Admin, Data, NvmeCommand, ScsiAnswer};
pub use error::{AdminError, DriveFault, LbaFormatError, PassedOver, Step};
pub use fault::Fault;
