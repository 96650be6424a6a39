//! The reasons not to write to a target, as data. Refusals are collected and never overridden: an option to
//! override one would sooner or later end up in a script.

use std::fmt;

use signatures::Signature;
use stdx::units::amount_base2;

/// A reason not to write to a target. The text says what was found, the likely cause, and the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The target or one of its partitions is mounted.
    Mounted {
        /// Kernel name of the device or partition.
        device: String,
        /// Mount point.
        at: String,
        /// A process in the mount's namespace; `None` if that is Plateau's own namespace.
        namespace_of: Option<u32>,
    },
    /// The target or one of its partitions is used as swap space.
    Swap {
        /// Device, partition or file.
        device: String,
    },
    /// Another block device is built on the target: device mapper, RAID, LVM, bcache.
    Held {
        /// Kernel name of the device or partition.
        device: String,
        /// The devices that are built on it.
        by: String,
    },
    /// The same drive appears under another name: a second path, or another drive that reports the same identity.
    AnotherPath {
        /// Kernel name of the other device.
        name: String,
    },
    /// The target is a password-locked SATA drive, so its content is unknown.
    Locked {
        /// Result of trying the password of an interrupted purge; `None` if it was not tried.
        tried: Option<String>,
    },
    /// The target is part of a run's records.
    OfRun,
    /// The target backs a loop device.
    LoopBacking {
        /// Kernel name of the loop device.
        by: String,
    },
    /// Another device uses the storage that the target is built on.
    Shared {
        /// The shared storage: a kernel name, or the path of a file.
        below: String,
        /// Kernel name of the other device.
        by: String,
    },
    /// Another process has opened the target or the storage that it is built on.
    OpenBy {
        /// The target or its storage: a kernel name, or the path of a file.
        what: String,
        /// Process ID.
        pid: u32,
        /// Program name.
        process: String,
        /// The kind of access that the process has.
        access: Access,
    },
    /// The target, or the storage that it is built on, is locked.
    FileLocked {
        /// A kernel name or the path of a file.
        what: String,
    },
    /// A user that cannot be identified holds the file open: the kernel or an invisible process.
    OpenElsewhere,
    /// The kernel exports the target to other hosts.
    Exported {
        /// A kernel name or the path of a file.
        what: String,
        /// Location of the export's configuration under `/sys/kernel/config`.
        by: String,
    },
    /// The target has partitions.
    Partitions {
        /// Kernel names of the partitions.
        names: String,
    },
    /// The target is a partition, not a drive.
    IsPartition {
        /// Kernel name of the drive.
        of: String,
    },
    /// The target contains the signature of a file system, a volume manager or a partition table.
    Signature(Signature),
    /// Another program has opened the target exclusively.
    Busy,
    /// The target is write-protected.
    ReadOnly,
    /// A device below the target is write-protected. The kernel may fail writes to the target or pass the writes
    /// on regardless.
    ReadOnlyBelow {
        /// Kernel name of the write-protected device.
        what: String,
    },
    /// This process lacks the permission to write to the target.
    NoPermission,
    /// The file system has no room for the file.
    NoSpace {
        /// Space that the file needs in addition to its current allocation.
        needed_bytes: u64,
        /// Free space in the file system.
        free_bytes: u64,
    },
    /// The target is a degraded array.
    Degraded {
        /// Number of missing members.
        missing: String,
    },
    /// The target is an array with a background operation in progress.
    Resyncing {
        /// The operation: `resync`, `recover`, `check`.
        action: String,
    },
    /// The target is a drive on a RAID controller and is not free.
    NotFree {
        /// State of the drive, as reported by the controller.
        state: String,
    },
    /// A member of the target array must not be written.
    Member {
        /// The member, as named in the array description.
        path: String,
        /// Why the member is refused.
        refusal: Box<Refusal>,
    },
    /// An unknown device or file is in use, and it may be this target.
    UnknownUser {
        /// What is in use, why it cannot be identified, and what to do about it.
        what: String,
    },
    /// It cannot be determined whether the target is in use.
    Unknown {
        /// The information that could not be read, and why.
        what: String,
    },
}

/// Kind of access by another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The process may write to the file.
    Writing,
    /// The process holds a lock.
    Locked,
    /// The process has a shared mapping that it may write to.
    Mapped,
    /// The file is registered with an `io_uring` instance of the process.
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
    /// Returns whether the reason may disappear within moments, as when udev has just opened a new device or a
    /// process is exiting.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::OpenBy { .. }
                | Self::FileLocked { .. }
                | Self::OpenElsewhere
                | Self::Busy
                | Self::UnknownUser { .. }
        )
    }

    /// Returns whether the target is known to be in use; data, defects and unknown users do not count.
    #[must_use]
    pub fn names_a_user(&self) -> bool {
        match self {
            Self::Mounted { .. } | Self::Swap { .. } | Self::Held { .. } | Self::LoopBacking { .. } => true,
            Self::Shared { .. } | Self::OpenBy { .. } | Self::FileLocked { .. } | Self::OpenElsewhere => true,
            Self::Exported { .. } | Self::Busy => true,
            Self::Member { refusal, .. } => refusal.names_a_user(),
            _ => false,
        }
    }

    /// Returns whether the refusal protects existing data. If not, the target merely cannot be written to.
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
                "{device} is mounted at {at} in another mount namespace, the one of process {pid} (a container?); \
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
                "{name} claims to be the same drive, so it may be in use through that path (multipath), or \
                 two drives share one identity; detach the other one, or test the multipath device"
            ),
            Self::Locked { tried } => locked(f, tried.as_deref()),
            Self::OfRun => {
                f.write_str("it belongs to a Plateau run, or may be an archived run; choose another target")
            }
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
                "something else has it open exclusively (EBUSY), such as a mounted file system, RAID, LVM \
                 or another test; find it with lsblk and fuser, and stop it",
            ),
            Self::ReadOnly | Self::ReadOnlyBelow { .. } | Self::NoPermission | Self::NoSpace { .. } => {
                self.of_rights(f)
            }
            Self::Degraded { .. } | Self::Resyncing { .. } | Self::NotFree { .. } => self.of_array(f),
            Self::Member { path, refusal } => write!(f, "{path}: {refusal}"),
            Self::UnknownUser { what } => write!(f, "cannot determine whether it is in use: {what}"),
            Self::Unknown { what } => write!(
                f,
                "cannot determine whether it is in use: {what}; run where /sys and /proc are available"
            ),
        }
    }
}

impl Refusal {
    /// Formats refusals due to missing write access or missing space.
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
                "its file system has {} free and the file needs {} more",
                amount_base2(*free_bytes),
                amount_base2(*needed_bytes)
            ),
            _ => Ok(()),
        }
    }

    /// Formats refusals due to other users of the storage.
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

    /// Formats refusals that concern arrays.
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

/// Formats the refusal of a locked drive, with the result of trying the password of an interrupted purge.
fn locked(f: &mut fmt::Formatter<'_>, tried: Option<&str>) -> fmt::Result {
    match tried {
        None => f.write_str("it is locked with an ATA password, so its content is unknown"),
        Some(why) => write!(
            f,
            "it is locked with an ATA password that was not set by an interrupted purge ({why}); remove it \
             with the program that set it, for example with hdparm --security-disable"
        ),
    }
}

/// Joins refusals into one line.
pub(crate) fn list(refusals: &[Refusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_content_is_not_use() {
        let mounted = Refusal::Mounted { device: "sda1".into(), at: "/".into(), namespace_of: None };
        assert!(mounted.names_a_user() && Refusal::Busy.names_a_user());
        let member = |refusal| Refusal::Member { path: "/dev/sda".into(), refusal: Box::new(refusal) };
        assert!(member(mounted).names_a_user() && !member(Refusal::ReadOnly).names_a_user());
        let signature = signatures::Signature::SecondOpinion { types: Vec::new(), target: "x".into() };
        for refusal in [Refusal::Signature(signature), Refusal::Partitions { names: "sda1".into() }] {
            assert!(refusal.protects_data() && !refusal.names_a_user(), "{refusal}");
        }
    }
}
