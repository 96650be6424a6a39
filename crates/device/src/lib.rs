//! The device under test: identifies it, refuses or arms it, purges it, and queries it.
//!
//! [`open`] inspects a target and never writes. [`Drive::arm`] refuses a target that is in use, requires the
//! identity of what would be erased, opens the target exclusively, and returns an [`Armed`]: the only type
//! with methods that write. [`Drive::open_to_read`] returns a [`Reader`], which cannot write. The loads on
//! either are those of the crate `engine`. The clock for measurements belongs to the target, because a simulated
//! drive has its own.
//!
//! From the outside in:
//!
//! | module | what it does |
//! |---|---|
//! | `open`, `drive` | a target by its name, inspected |
//! | `armed`, `maintenance`, `metered`, `reader` | a target in use: loads; purge, health, write cache, LBA format; what a meter of power needs |
//! | `array` | several drives as one: created for a test, dismantled after it |
//! | `inspected`, `exclusive` | a single target: a drive, a file or a simulated drive |
//! | `target` | a real target: its identity, and how to open it safely |
//! | `usage`, `signature`, `refusal` | who uses it, what is on it, and what forbids writing to it |
//! | `sim` | a simulated drive as a target |
//! | `checks` | conditions around a drive that could skew a result |
//! | `kernel`, `ioctl` | commands to a real device, for the crate `admin` |
//!
//! Only this crate and `engine` contain `unsafe`; only this crate makes ioctls and opens
//! devices, except for the serial port of a meter (crate `power`).

mod about;
mod armed;
mod array;
mod attached;
mod check;
mod checks;
mod drive;
mod error;
mod exclusive;
mod host;
mod inspected;
mod ioctl;
mod kernel;
mod list;
mod load_options;
mod maintenance;
mod metered;
mod open;
mod open_options;
mod program;
mod reader;
mod refusal;
mod signature;
mod sim;
mod target;
#[doc(hidden)]
pub mod untrusted;
mod usage;

// Code shared by unit tests and integration tests refers to this crate as `device`.
#[cfg(test)]
extern crate self as device;

pub use admin::purge::{PurgeMethod, PurgeOptions, Purging};
pub use admin::{About, AdminError, DriveFault, Fact, Fault, LbaFormatError, PassedOver, Step, Value};
pub use armed::Armed;
pub use array::dissolve_left_over;
pub use attached::{Attached, Link, attached};
pub use check::check;
pub use checks::{HostLook, KnownSettings, Tuning};
pub use drive::Drive;
pub use error::array::{ArrayError, ControllerFailure, ControllerStep, Defect, MdadmStep};
pub use error::confirm::Unconfirmed;
pub use error::description::DescriptionError;
pub use error::simulated::SimulatedFailure;
pub use error::target::{DataProblem, ModelProblem, TargetError, WrongKind};
pub use error::tuning::{NotRestored, TuningError};
pub use error::volume::VolumeError;
pub use error::{DriveError, ErrorKind, PurgeError, WorkloadProblem};
pub use list::{Listed, list};
pub use metered::PowerBound;
pub use open::open;
pub use open_options::{OpenOptions, SimFaults};
pub use program::has_more_rights_than_its_caller;
pub use reader::Reader;
pub use refusal::{Access, Refusal};
pub use signatures::{Format, Signature};
pub use sim::model_of;
pub use target::FileState;
pub use usage::built_on_file;
