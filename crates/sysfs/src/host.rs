//! Information from `/sys` and `/proc` about block devices and their users.
//!
//! Everything is read below two roots, so that tests can mock other hosts. A missing attribute is normal. An
//! unreadable list is an error, because only a complete list can show that a device is not in use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use record::errno::reason;

use crate::number::{DeviceNumber, parse_number};

/// If some devices were missing, the sums of the counters would be too low.
#[derive(Debug, Clone)]
pub struct Roots {
    /// `/sys`
    pub sys: PathBuf,
    /// `/proc`
    pub proc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { sys: "/sys".into(), proc: "/proc".into() }
    }
}

/// A block device in sysfs.
#[derive(Debug, Clone)]
pub struct SysDevice {
    /// Kernel name: `nvme0n1`.
    pub kname: String,
    /// Device number.
    pub number: DeviceNumber,
    dir: PathBuf,
}

impl SysDevice {
    /// Returns the device with this number.
    ///
    /// # Errors
    /// Returns an error if sysfs cannot be read.
    pub fn find(roots: &Roots, number: DeviceNumber) -> io::Result<Self> {
        let link = roots.sys.join(format!("dev/block/{number}"));
        let dir = fs::canonicalize(&link)
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", link.display(), reason(&e))))?;
        let kname = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { kname, number, dir })
    }

    /// Returns an attribute without surrounding whitespace; `None` if absent or empty.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<String> {
        let text = fs::read(self.dir.join(name)).ok()?;
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns an attribute's bytes.
    #[must_use]
    pub fn attribute_bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.dir.join(name)).ok()
    }

    /// Returns the path in the device tree: `…/pci0000:00/…/ata1/…/block/sda`.
    #[must_use]
    pub fn position(&self) -> &Path {
        &self.dir
    }

    /// Returns the NUMA node of the device or its nearest ancestor; `None` if the kernel reports -1, as on a
    /// host with a single node.
    #[must_use]
    pub fn numa_node(&self) -> Option<u32> {
        let texts = self.dir.ancestors().map(|dir| fs::read_to_string(dir.join("numa_node")));
        texts.flatten().find_map(|text| text.trim().parse().ok())
    }

    /// Returns whether the device is a partition.
    #[must_use]
    pub fn is_partition(&self) -> bool {
        self.dir.join("partition").exists()
    }

    /// Returns the number of the disk that contains this partition.
    ///
    /// # Errors
    /// Returns an error if sysfs cannot be read.
    pub fn disk_number(&self) -> io::Result<DeviceNumber> {
        let disk = self.dir.parent().ok_or(io::ErrorKind::NotFound)?;
        let text = read(&disk.join("dev"))?;
        parse_number(text.trim()).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Returns the folders of the paths to a multipath NVMe namespace: hidden disks such as `nvme0c1n1` of
    /// `nvme0n1`, under the controllers that its subsystem lists. A partition has the paths of its disk. Empty for
    /// other devices.
    #[must_use]
    pub fn nvme_paths(&self) -> Vec<PathBuf> {
        let disk = if self.is_partition() { self.dir.parent() } else { Some(self.dir.as_path()) };
        let kname = disk.map(name_of).unwrap_or_default();
        let Some((subsystem, namespace)) =
            kname.rsplit_once('n').filter(|(head, _)| head.starts_with("nvme"))
        else {
            return Vec::new();
        };
        let above = disk.and_then(Path::parent).filter(|dir| name_of(dir).starts_with("nvme-subsys"));
        let Some(above) = above else { return Vec::new() };
        let entries = |dir: &Path| -> Vec<PathBuf> {
            fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        };
        let is_path = |dir: &PathBuf| {
            let name = name_of(dir);
            let middle =
                name.strip_prefix(subsystem).and_then(|rest| rest.strip_suffix(&format!("n{namespace}")));
            let number = middle.and_then(|middle| middle.strip_prefix('c'));
            number
                .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let controllers = entries(above).into_iter().filter(|link| link.is_symlink());
        let controllers = controllers.filter_map(|link| fs::canonicalize(link).ok());
        let mut paths: Vec<PathBuf> = controllers.flat_map(|dir| entries(&dir)).filter(is_path).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Returns the NVMe namespace ID; `None` for other devices. Before Linux 5.11, it is derived from the name.
    #[must_use]
    pub fn namespace_number(&self) -> Option<u32> {
        let rest = self.kname.strip_prefix("nvme")?;
        let (_, number) = rest.split_once('n')?;
        let reported = self.attribute("nsid").and_then(|text| text.parse().ok());
        reported.or_else(|| number.split('p').next()?.parse().ok())
    }

    /// Returns the kernel names of the devices that are built on this device.
    ///
    /// # Errors
    /// Returns an error if sysfs cannot be read.
    pub fn holders(&self) -> io::Result<Vec<String>> {
        self.names_in("holders")
    }

    /// Returns the kernel names of the underlying devices.
    ///
    /// # Errors
    /// Returns an error if sysfs cannot be read.
    pub fn lower_devices(&self) -> io::Result<Vec<String>> {
        self.names_in("slaves")
    }

    fn names_in(&self, folder: &str) -> io::Result<Vec<String>> {
        let names = fs::read_dir(self.dir.join(folder))?
            .map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>();
        names.map(|mut names| {
            names.sort();
            names
        })
    }
}

impl Roots {
    /// Returns the kernel's ID of this boot.
    #[must_use]
    pub fn boot_id(&self) -> Option<String> {
        let text = fs::read_to_string(self.proc.join("sys/kernel/random/boot_id")).ok()?;
        Some(text.trim().to_owned())
    }

    /// Returns the number of the device with this kernel name.
    #[must_use]
    pub fn number_of(&self, kname: &str) -> Option<DeviceNumber> {
        let places = ["block", "class/block"].map(|folder| self.sys.join(folder).join(kname).join("dev"));
        let text = places.iter().find_map(|place| fs::read_to_string(place).ok())?;
        parse_number(text.trim())
    }

    /// Returns all block devices that have a node, excluding partitions and the hidden paths of multipath NVMe
    /// devices.
    ///
    /// # Errors
    /// Returns an error if sysfs cannot be read.
    pub fn block_devices(&self) -> io::Result<Vec<SysDevice>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.sys.join("block"))? {
            let dir = match fs::canonicalize(entry?.path()) {
                // The device disappeared after the folder was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                found => found?,
            };
            let kname = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let number = fs::read_to_string(dir.join("dev")).ok().and_then(|text| parse_number(text.trim()));
            let Some(number) = number else { continue };
            let device = SysDevice { kname, number, dir };
            if device.attribute("hidden").as_deref() != Some("1") {
                found.push(device);
            }
        }
        found.sort_by(|a, b| a.kname.cmp(&b.kname));
        Ok(found)
    }

    /// Returns the other namespaces of the NVMe subsystem of `device`.
    ///
    /// # Errors
    /// Returns an error if sysfs cannot be read.
    pub fn other_namespaces(&self, device: &SysDevice) -> io::Result<Vec<SysDevice>> {
        let Some(subsystem) = device.attribute("device/subsysnqn") else {
            return Err(io::Error::other(format!("{} does not report its NVMe subsystem", device.kname)));
        };
        let mut others = self.block_devices()?;
        others.retain(|other| {
            other.number != device.number
                && other.attribute("device/subsysnqn").as_deref() == Some(&subsystem)
        });
        Ok(others)
    }

    /// Returns the name of a stacked device, with the type if device mapper reports one: `dm-0 (multipath)`.
    #[must_use]
    pub fn described(&self, kname: &str) -> String {
        let uuid = fs::read_to_string(self.sys.join("block").join(kname).join("dm/uuid")).unwrap_or_default();
        match uuid.split('-').next().unwrap_or_default() {
            "mpath" => format!("{kname} (multipath)"),
            "LVM" => format!("{kname} (LVM)"),
            "CRYPT" => format!("{kname} (dm-crypt)"),
            _ => kname.to_owned(),
        }
    }
}

fn name_of(dir: &Path) -> String {
    dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read(path: &Path) -> io::Result<String> {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", path.display(), reason(&e))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numa_node_is_that_of_the_bus() {
        let tree = tempfile::tempdir().expect("a directory");
        let dir = tree.path().join("0000:41:00.0/nvme/nvme0/nvme0n1");
        fs::create_dir_all(&dir).expect("a tree");
        let number = DeviceNumber { major: 259, minor: 0 };
        let device = SysDevice { kname: "nvme0n1".into(), number, dir };
        assert_eq!(device.numa_node(), None);
        for (text, node) in [("1\n", Some(1)), ("-1\n", None)] {
            fs::write(tree.path().join("0000:41:00.0/numa_node"), text).expect("an attribute");
            assert_eq!(device.numa_node(), node, "{text}");
        }
    }
}
