//! What the kernel tells in `/sys` and `/proc` about block devices and their users.
//!
//! Everything is read below two roots, so that tests can build trees of hosts that are not at hand.
//! An attribute that is absent is normal; a list that cannot be read is an error, because "not in use"
//! may only be said after looking.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where sysfs and procfs are.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    pub(crate) sys: PathBuf,
    pub(crate) proc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { sys: "/sys".into(), proc: "/proc".into() }
    }
}

/// Device number of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceNumber {
    pub(crate) fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// The device that a node in `/dev` stands for; none when it is not a block device.
    pub(crate) fn of_node(path: &Path) -> Option<Self> {
        let node = fs::metadata(path).ok()?;
        node.file_type().is_block_device().then(|| Self::from_raw(node.rdev()))
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A block device as sysfs has it.
#[derive(Debug, Clone)]
pub(crate) struct SysDevice {
    /// Kernel name: `nvme0n1`.
    pub(crate) kname: String,
    pub(crate) number: DeviceNumber,
    dir: PathBuf,
}

/// A line of `/proc/self/mountinfo`, or of `/proc/swaps`.
struct User {
    number: Option<DeviceNumber>,
    source: PathBuf,
    at: String,
}

impl SysDevice {
    /// The device with this number.
    pub(crate) fn find(roots: &Roots, number: DeviceNumber) -> io::Result<Self> {
        let link = roots.sys.join(format!("dev/block/{number}"));
        let dir = fs::canonicalize(&link).map_err(|e| {
            io::Error::new(e.kind(), format!("{}: {}", link.display(), crate::error::reason(&e)))
        })?;
        let kname = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { kname, number, dir })
    }

    /// An attribute without surrounding blanks; none when absent or empty.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let text = fs::read(self.dir.join(name)).ok()?;
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The bytes of an attribute.
    pub(crate) fn attribute_bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.dir.join(name)).ok()
    }

    /// Where it hangs in the machine: `…/pci0000:00/…/ata1/…/block/sda`.
    pub(crate) fn position(&self) -> &Path {
        &self.dir
    }

    /// The NUMA node that it or what it hangs on belongs to. A machine with one node says -1.
    pub(crate) fn numa_node(&self) -> Option<u32> {
        let texts = self.dir.ancestors().map(|dir| fs::read_to_string(dir.join("numa_node")));
        texts.flatten().find_map(|text| text.trim().parse().ok())
    }

    /// Kernel name of the drive that this is a partition of.
    pub(crate) fn drive_of_partition(&self) -> Option<String> {
        self.dir.join("partition").exists().then(|| {
            self.dir
                .parent()
                .and_then(Path::file_name)
                .map_or_else(String::new, |n| n.to_string_lossy().into())
        })
    }

    /// Its partitions.
    pub(crate) fn partitions(&self) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let dir = entry?.path();
            if dir.join("partition").exists() {
                let kname = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                let number = fs::read_to_string(dir.join("dev"))?;
                let number = parse_number(number.trim()).ok_or(io::ErrorKind::InvalidData)?;
                found.push(Self { kname, number, dir });
            }
        }
        found.sort_by(|a, b| a.kname.cmp(&b.kname));
        Ok(found)
    }

    /// Where the paths to a namespace of an NVMe subsystem are: hidden disks such as `nvme0c1n1` of `nvme0n1`, below the
    /// controllers that the subsystem names. None for a device that has no such paths.
    pub(crate) fn nvme_paths(&self) -> Vec<PathBuf> {
        let Some((subsystem, namespace)) =
            self.kname.rsplit_once('n').filter(|(head, _)| head.starts_with("nvme"))
        else {
            return Vec::new();
        };
        let Some(above) = self.dir.parent().filter(|dir| name_of(dir).starts_with("nvme-subsys")) else {
            return Vec::new();
        };
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

    /// Number of the NVMe namespace; none for other devices. Before Linux 5.11 the name has to do.
    pub(crate) fn namespace_number(&self) -> Option<u32> {
        let rest = self.kname.strip_prefix("nvme")?;
        let (_, number) = rest.split_once('n')?;
        let told = self.attribute("nsid").and_then(|text| text.parse().ok());
        told.or_else(|| number.split('p').next()?.parse().ok())
    }

    /// Kernel names of the devices that are built on it.
    pub(crate) fn holders(&self) -> io::Result<Vec<String>> {
        self.names_in("holders")
    }

    /// Kernel names of the devices that it is built on.
    pub(crate) fn lower_devices(&self) -> io::Result<Vec<String>> {
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
    /// What the kernel calls this boot.
    pub(crate) fn boot_id(&self) -> Option<String> {
        let text = fs::read_to_string(self.proc.join("sys/kernel/random/boot_id")).ok()?;
        Some(text.trim().to_owned())
    }

    /// Where the device is mounted in this mount namespace.
    pub(crate) fn mounts_of(&self, device: &SysDevice) -> io::Result<Vec<String>> {
        let path = self.proc.join("self/mountinfo");
        let text = read(&path)?;
        Ok(text.lines().filter_map(parse_mount).filter(|m| m.is_of(device)).map(|m| m.at).collect())
    }

    /// The active swap areas, as paths.
    pub(crate) fn swaps(&self) -> io::Result<Vec<PathBuf>> {
        let text = match read(&self.proc.join("swaps")) {
            // A kernel without swap has no such file.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && self.proc.join("self/mountinfo").exists() =>
            {
                String::new()
            }
            other => other?,
        };
        Ok(text.lines().skip(1).filter_map(|l| l.split_whitespace().next()).map(unescape).collect())
    }

    /// Whether the device is an active swap area.
    pub(crate) fn is_swap(&self, device: &SysDevice) -> io::Result<bool> {
        Ok(self
            .swaps()?
            .into_iter()
            .any(|source| User { number: None, source, at: String::new() }.is_of(device)))
    }

    /// Every block device that has a node: no partitions, no paths hidden behind a multipath NVMe device.
    pub(crate) fn block_devices(&self) -> io::Result<Vec<SysDevice>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.sys.join("block"))? {
            let dir = fs::canonicalize(entry?.path())?;
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

    /// The other namespaces of the NVMe subsystem of `device`.
    pub(crate) fn namespaces_beside(&self, device: &SysDevice) -> io::Result<Vec<SysDevice>> {
        let Some(subsystem) = device.attribute("device/subsysnqn") else {
            return Err(io::Error::other(format!("{} does not tell its NVMe subsystem", device.kname)));
        };
        let mut others = self.block_devices()?;
        others.retain(|other| {
            other.number != device.number
                && other.attribute("device/subsysnqn").as_deref() == Some(&subsystem)
        });
        Ok(others)
    }

    /// A device that is built on others, with what it is where device mapper tells: `dm-0 (multipath)`.
    pub(crate) fn described(&self, kname: &str) -> String {
        let uuid = fs::read_to_string(self.sys.join("block").join(kname).join("dm/uuid")).unwrap_or_default();
        match uuid.split('-').next().unwrap_or_default() {
            "mpath" => format!("{kname} (multipath)"),
            "LVM" => format!("{kname} (LVM)"),
            "CRYPT" => format!("{kname} (dm-crypt)"),
            _ => kname.to_owned(),
        }
    }

    /// Kernel names of the loop devices that are backed by the file or device at `path`.
    pub(crate) fn loops_over(&self, path: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.sys.join("block")) else { return Vec::new() };
        let backed = |dir: &Path| {
            let text = fs::read_to_string(dir.join("loop/backing_file")).ok()?;
            fs::canonicalize(text.trim_end_matches('\n')).ok()
        };
        entries
            .flatten()
            .filter(|entry| backed(&entry.path()).is_some_and(|file| file == path))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

impl User {
    fn is_of(&self, device: &SysDevice) -> bool {
        // btrfs shows a device number of its own, so the source counts as well.
        self.number == Some(device.number)
            || self.source == Path::new("/dev").join(&device.kname)
            || (self.source.is_absolute() && DeviceNumber::of_node(&self.source) == Some(device.number))
    }
}

fn name_of(dir: &Path) -> String {
    dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read(path: &Path) -> io::Result<String> {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", path.display(), crate::error::reason(&e))))
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw` (proc_pid_mountinfo(5)).
fn parse_mount(line: &str) -> Option<User> {
    let (fields, rest) = line.split_once(" - ")?;
    let mut fields = fields.split(' ');
    let number = parse_number(fields.nth(2)?);
    let at = unescape(fields.nth(1)?).to_string_lossy().into_owned();
    let source = unescape(rest.split(' ').nth(1)?);
    Some(User { number, source, at })
}

fn parse_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// The kernel writes blanks and backslashes in paths as `\040` and the like.
fn unescape(text: &str) -> PathBuf {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.get(..3).and_then(|octal| u8::from_str_radix(octal, 8).ok());
        out.push(code.map_or('\\', char::from));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    out.push_str(rest);
    out.into()
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

    #[test]
    fn mountinfo_lines_are_understood() {
        let user =
            parse_mount(r"36 35 98:0 / /a\040b rw,noatime master:1 - ext3 /dev/sd\134a rw").expect("a mount");
        assert_eq!(user.number, Some(DeviceNumber { major: 98, minor: 0 }));
        assert_eq!((user.at.as_str(), user.source.to_str()), ("/a b", Some(r"/dev/sd\a")));
        assert!(parse_mount("garbage").is_none());
    }
}
