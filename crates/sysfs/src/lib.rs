//! What the kernel reports in `/sys` and `/proc` about block devices and file systems: devices, their stacks and links,
//! mounts, the file system of a file, and the I/O of the devices below it.
//!
//! Nothing in this crate writes, opens a device or issues an ioctl.

#![forbid(unsafe_code)]

mod attached;
mod below;
mod counters;
mod facts;
mod host;
mod mountinfo;
mod number;

pub use attached::{Attached, Enclosure, Link};
pub use counters::Counters;
pub use facts::{Found, look};
pub use host::{Roots, SysDevice};
pub use mountinfo::{Mount, parse, unescape};
pub use number::{DeviceNumber, parse_number};
