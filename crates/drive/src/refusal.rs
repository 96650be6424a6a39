//! Everything that forbids writing to a target, as data.
//!
//! Refusals are gathered, never overridden: an option that would override one would sooner or later be
//! in somebody's script.

use std::fmt;

use stdx::units::amount_base2;

use crate::signature::Signature;

/// One thing that forbids writing to a target. Shown as: what, likely cause, next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It, or a partition of it, is mounted.
    Mounted {
        /// Device or partition, by kernel name.
        device: String,
        /// Where.
        at: String,
        /// A process in the mount namespace that it is mounted in, where that is not ours.
        namespace_of: Option<u32>,
    },
    /// It, or a partition of it, is used as swap space.
    Swap {
        /// Device, partition or file.
        device: String,
    },
    /// Another block device is built on it: device mapper, RAID, LVM, bcache.
    Held {
        /// Device or partition, by kernel name.
        device: String,
        /// The devices on top of it.
        by: String,
    },
    /// The same drive is there under another name: a second path, or another drive that says it is this one.
    AnotherPath {
        /// The other one, by kernel name.
        name: String,
    },
    /// It is a SATA drive that is locked with a password, so nobody can see what is on it.
    Locked {
        /// What came of trying the password of an interrupted purge; none when it was not tried.
        tried: Option<String>,
    },
    /// It is a file of a run.
    OfRun,
    /// A loop device is backed by it.
    LoopBacking {
        /// The loop device, by kernel name.
        by: String,
    },
    /// It is built on something that something else is built on, too.
    Shared {
        /// What both are built on: a kernel name, or the path of a file.
        below: String,
        /// The other one, by kernel name.
        by: String,
    },
    /// Another process has it, or what it is built on, open.
    OpenBy {
        /// It, or what it is built on: a kernel name, or the path of a file.
        what: String,
        /// Process.
        pid: u32,
        /// Name of its program.
        process: String,
        /// What the process can do.
        access: Access,
    },
    /// It, or what it is built on, is locked.
    FileLocked {
        /// A kernel name, or the path of a file.
        what: String,
    },
    /// Something has the file open that cannot be named: the kernel, or a process that cannot be seen.
    OpenElsewhere,
    /// The kernel offers it to other hosts.
    Exported {
        /// A kernel name, or the path of a file.
        what: String,
        /// Where the export is configured, below `/sys/kernel/config`.
        by: String,
    },
    /// It has partitions.
    Partitions {
        /// Their kernel names.
        names: String,
    },
    /// It is a partition and not a drive.
    IsPartition {
        /// Kernel name of the drive.
        of: String,
    },
    /// It carries the signature of a file system, a volume manager or a partition table.
    Signature(Signature),
    /// Another program has it open for itself.
    Busy,
    /// It is write-protected.
    ReadOnly,
    /// Something that it is built on is write-protected. The kernel fails writes to it, or passes them on all the same.
    ReadOnlyBelow {
        /// A kernel name.
        what: String,
    },
    /// Writing needs a permission that this process does not have.
    NoPermission,
    /// The file system has no room for the file.
    NoSpace {
        /// Bytes that the file needs beyond what it occupies.
        needed_bytes: u64,
        /// Bytes that the file system has.
        free_bytes: u64,
    },
    /// It is an array that lacks members.
    Degraded {
        /// How many.
        missing: String,
    },
    /// It is an array that is busy with itself.
    Resyncing {
        /// With what: `resync`, `recover`, `check`.
        action: String,
    },
    /// It is a drive behind a RAID controller that is not free.
    NotFree {
        /// What it is instead, as the controller tells.
        state: String,
    },
    /// Something forbids it of a member of the array that is the target.
    Member {
        /// As the description of the array names it.
        path: String,
        /// What it is.
        refusal: Box<Refusal>,
    },
    /// Whether it is in use cannot be found out.
    Unknown {
        /// What could not be read, and why.
        what: String,
    },
}

/// What another process can do with what it has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It may write.
    Writing,
    /// It holds a lock.
    Locked,
    /// It has mapped it into its memory and may write there.
    Mapped,
    /// One of its `io_uring` instances has it as a registered file.
    Registered,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Writing => "open for writing",
            Self::Locked => "locked",
            Self::Mapped => "mapped for writing",
            Self::Registered => "registered with io_uring",
        })
    }
}

impl Refusal {
    /// Whether it may go away by itself in a moment: udev and its like open what is new.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::OpenBy { .. } | Self::FileLocked { .. } | Self::OpenElsewhere | Self::Busy)
    }

    /// Whether it protects somebody's data; otherwise the target simply cannot be written.
    #[must_use]
    pub fn protects_data(&self) -> bool {
        match self {
            Self::ReadOnly | Self::ReadOnlyBelow { .. } | Self::NoPermission | Self::NoSpace { .. } => false,
            Self::Degraded { .. } | Self::Resyncing { .. } => false,
            Self::Member { refusal, .. } => refusal.protects_data(),
            _ => true,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, at, namespace_of: None } => {
                write!(f, "{device} is mounted at {at}, so it is in use; choose another drive or unmount it")
            }
            Self::Mounted { device, at, namespace_of: Some(pid) } => write!(
                f,
                "{device} is mounted at {at} in another mount namespace, that of process {pid} (a container?); \
                 choose another drive or unmount it there (nsenter -t {pid} -m umount {at})"
            ),
            Self::Swap { device } => {
                write!(f, "{device} is active swap space; choose another drive or run swapoff")
            }
            Self::Held { device, by } => write!(
                f,
                "{device} is part of {by} (RAID, LVM, encryption or a cache); choose another drive or \
                 dismantle {by} first"
            ),
            Self::AnotherPath { name } => write!(
                f,
                "{name} reports to be the same drive, so it may be in use through that path (multipath), or \
                 two drives share one name; detach the other, or test the multipath device"
            ),
            Self::Locked { tried } => locked(f, tried.as_deref()),
            Self::OfRun => f.write_str("it belongs to a Plateau run; choose another target"),
            Self::LoopBacking { by } => {
                write!(f, "the loop device {by} is backed by it; run losetup -d /dev/{by} first")
            }
            Self::Shared { .. }
            | Self::OpenBy { .. }
            | Self::FileLocked { .. }
            | Self::OpenElsewhere
            | Self::Exported { .. } => self.of_others(f),
            Self::Partitions { names } => write!(
                f,
                "it has partitions ({names}), so it probably holds data; if it does not, remove them with \
                 wipefs -a"
            ),
            Self::IsPartition { of } => {
                write!(f, "it is a partition; a test needs the whole drive, which is /dev/{of}")
            }
            Self::Signature(signature) => signature.fmt(f),
            Self::Busy => f.write_str(
                "it is opened exclusively by another user (EBUSY): a mounted file system, RAID, LVM or \
                 another test; find it with lsblk and fuser, and stop it",
            ),
            Self::ReadOnly | Self::ReadOnlyBelow { .. } | Self::NoPermission | Self::NoSpace { .. } => {
                self.of_rights(f)
            }
            Self::Degraded { .. } | Self::Resyncing { .. } | Self::NotFree { .. } => self.of_array(f),
            Self::Member { path, refusal } => write!(f, "{path}: {refusal}"),
            Self::Unknown { what } => write!(
                f,
                "cannot determine whether it is in use: {what}; run where /sys and /proc are available"
            ),
        }
    }
}

impl Refusal {
    /// Why nothing can be written, whoever's data it is.
    fn of_rights(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => f.write_str(
                "it is read-only: the drive is write-protected, or was set read-only by blockdev --setro or \
                 its file system",
            ),
            Self::ReadOnlyBelow { what } => write!(
                f,
                "it is built on {what}, which is read-only; choose another target, or attach {what} writable (losetup \
                 without --read-only, blockdev --setrw)"
            ),
            Self::NoPermission => {
                f.write_str("no permission to write to it; run as root or change its owner")
            }
            Self::NoSpace { needed_bytes, free_bytes } => write!(
                f,
                "its file system has {} free and the file needs {} more; free some space or choose a smaller \
                 --size",
                amount_base2(*free_bytes),
                amount_base2(*needed_bytes)
            ),
            _ => Ok(()),
        }
    }

    /// What others have in hand.
    fn of_others(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared { below, by } => write!(
                f,
                "{by} is also built on {below}, so both contain the same data; choose another target or \
                 detach {by} first (losetup -d, dmsetup remove)"
            ),
            Self::OpenBy { what, pid, process, access } => {
                write!(f, "process {pid} ({process}) has {what} {access}; stop it, or choose another target")
            }
            Self::FileLocked { what } => write!(
                f,
                "{what} is locked by another program, such as a virtual machine; find it with lslocks and stop it"
            ),
            Self::OpenElsewhere => f.write_str(
                "another process, or the kernel (a mount, an export), has the file open; find it with fuser and \
                 stop it, or choose another target",
            ),
            Self::Exported { what, by } => write!(
                f,
                "{what} is exported to other hosts ({by} in /sys/kernel/config); remove the export first"
            ),
            _ => Ok(()),
        }
    }

    /// What concerns arrays.
    fn of_array(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Degraded { missing } => write!(
                f,
                "it is a degraded array: {missing} of its members failed or are missing; replace them and let it \
                 recover (see /proc/mdstat)"
            ),
            Self::Resyncing { action } => write!(
                f,
                "it is an array in maintenance ({action}), which would affect the measurement; wait until it \
                 completes (see /proc/mdstat)"
            ),
            Self::NotFree { state } => write!(
                f,
                "its controller reports it as {state}; only unused drives in state unconfigured good (UGood) \
                 are accepted: choose another, or free it with the controller's own program"
            ),
            _ => Ok(()),
        }
    }
}

/// Says that a drive is locked, and what trying the password of an interrupted purge gave.
fn locked(f: &mut fmt::Formatter<'_>, tried: Option<&str>) -> fmt::Result {
    match tried {
        None => f.write_str(
            "it is locked with an ATA password, so its content is unknown; if a Plateau purge was \
             interrupted, type its identity with --erase and the password of that purge is tried",
        ),
        Some(why) => write!(
            f,
            "it is locked with an ATA password that is not that of an interrupted purge ({why}); whoever set \
             it must remove it, for example with hdparm --security-disable"
        ),
    }
}

/// Refusals in one line.
pub(crate) fn list(refusals: &[Refusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}
