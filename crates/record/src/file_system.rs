//! The file system of a target file, and the I/O of the devices below it during a workload.

use serde::{Deserialize, Serialize};

/// A mounted file system that stores the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSystemFacts {
    /// Type, as named by the kernel, such as `ext4`, `xfs`, `btrfs` or `tmpfs`.
    pub kind: String,
    /// Size of its blocks.
    pub block_bytes: u32,
    /// Mount options, followed by file system options, as in `/proc/self/mountinfo`.
    pub mount_options: String,
    /// The underlying block devices; empty if there are none or Plateau cannot determine them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<BelowDevice>,
}

/// A block device below a file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BelowDevice {
    /// Kernel name: `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// Size.
    pub capacity_bytes: u64,
    /// The underlying disks, or the device itself.
    pub disks: Vec<BelowDisk>,
}

/// A disk below a file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BelowDisk {
    /// Kernel name: `nvme0n1`.
    pub name: String,
    /// Model, if the kernel reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Serial number, if the kernel reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Backing file of a loop device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
}

/// State of a target file after a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnFile {
    /// Space that the file occupies after the workload.
    pub allocated_bytes: u64,
    /// Number of the file's extents after the workload; `None` if the file system does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents: Option<u64>,
    /// I/O of all devices below the file system during the workload; `None` if the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<BelowLoad>,
}

/// I/O of the devices below a file system, including I/O by other users of these devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BelowLoad {
    /// Completed reads.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Completed flushes of the volatile write cache.
    pub flushes: u64,
}

impl FileSystemFacts {
    /// Describes the file system briefly: `ext4 on nvme0n1p2 (Samsung SSD 990 PRO)`.
    #[must_use]
    pub fn words(&self) -> String {
        let devices: Vec<String> = self.devices.iter().map(BelowDevice::words).collect();
        if devices.is_empty() {
            self.kind.clone()
        } else {
            format!("{} on {}", self.kind, devices.join(" and "))
        }
    }
}

impl BelowDevice {
    fn words(&self) -> String {
        let described: Vec<String> = self.disks.iter().filter_map(|disk| self.described(disk)).collect();
        if described.is_empty() {
            self.name.clone()
        } else {
            format!("{} ({})", self.name, described.join(", "))
        }
    }

    /// Describes a disk. Omits the disk's name if it is the same as the device's name.
    fn described(&self, disk: &BelowDisk) -> Option<String> {
        let identity = disk.model.clone().or_else(|| disk.backing_file.clone());
        match (identity, disk.name == self.name) {
            (Some(identity), true) => Some(identity),
            (Some(identity), false) => Some(format!("{}: {identity}", disk.name)),
            (None, true) => None,
            (None, false) => Some(disk.name.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(name: &str, model: Option<&str>) -> BelowDisk {
        BelowDisk { name: name.into(), model: model.map(str::to_owned), serial: None, backing_file: None }
    }

    #[test]
    fn a_file_system_is_described_with_what_it_is_on() {
        let device = |name: &str, disks| BelowDevice { name: name.into(), capacity_bytes: 1 << 30, disks };
        let on = |devices| FileSystemFacts {
            kind: "xfs".into(),
            block_bytes: 4096,
            mount_options: "rw".into(),
            devices,
        };
        assert_eq!(on(vec![]).words(), "xfs");
        assert_eq!(on(vec![device("vda", vec![disk("vda", None)])]).words(), "xfs on vda");
        let partition = device("nvme0n1p2", vec![disk("nvme0n1", Some("990 PRO"))]);
        assert_eq!(on(vec![partition]).words(), "xfs on nvme0n1p2 (nvme0n1: 990 PRO)");
        let mapped = device("dm-0", vec![disk("sda", None), disk("sdb", Some("PM883"))]);
        assert_eq!(on(vec![mapped]).words(), "xfs on dm-0 (sda, sdb: PM883)");
        let image = BelowDisk { backing_file: Some("/images/a".into()), ..disk("loop1", None) };
        assert_eq!(on(vec![device("loop1", vec![image])]).words(), "xfs on loop1 (/images/a)");
    }
}
