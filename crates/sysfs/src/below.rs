//! The devices below a file system.

use std::fs;
use std::path::{Path, PathBuf};

use record::{BelowDevice, BelowDisk};

use crate::host::Roots;
use crate::number::DeviceNumber;

const SECTOR_BYTES: u64 = 512;
/// Maximum depth of a device stack. Devices below this depth are not described.
const DEEPEST: usize = 8;

/// Returns the text of an attribute, without the newline; `None` if it is missing or empty.
pub(crate) fn attribute(folder: &Path, name: &str) -> Option<String> {
    let text = fs::read(folder.join(name)).ok()?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the names in a folder, sorted; none if it cannot be listed.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Returns the folder of a device, without symbolic links.
pub(crate) fn folder_of(roots: &Roots, number: DeviceNumber) -> Option<PathBuf> {
    fs::canonicalize(roots.sys.join(format!("dev/block/{number}"))).ok()
}

/// Returns the folder of the whole disk, which contains the folders of its partitions.
pub(crate) fn whole(folder: &Path) -> &Path {
    let is_partition = folder.join("partition").exists();
    folder.parent().filter(|_| is_partition).unwrap_or(folder)
}

/// Describes the device in `folder`.
pub(crate) fn described(roots: &Roots, folder: &Path) -> Option<BelowDevice> {
    let mut disks = Vec::new();
    add_disks(roots, folder, DEEPEST, &mut disks);
    let sectors: u64 = attribute(folder, "size")?.parse().ok()?;
    Some(BelowDevice { name: name_of(folder)?, capacity_bytes: sectors.saturating_mul(SECTOR_BYTES), disks })
}

/// Adds the disks at the bottom of the stack.
fn add_disks(roots: &Roots, folder: &Path, depth: usize, disks: &mut Vec<BelowDisk>) {
    let whole = whole(folder);
    let lower = names(&whole.join("slaves"));
    if !lower.is_empty() && depth > 0 {
        for name in lower {
            if let Ok(folder) = fs::canonicalize(roots.sys.join("class/block").join(name)) {
                add_disks(roots, &folder, depth - 1, disks);
            }
        }
        return;
    }
    let Some(name) = name_of(whole) else { return };
    if disks.iter().any(|known| known.name == name) {
        return;
    }
    disks.push(BelowDisk {
        name,
        model: attribute(whole, "device/model"),
        serial: attribute(whole, "device/serial").or_else(|| attribute(whole, "serial")),
        backing_file: attribute(whole, "loop/backing_file"),
    });
}

fn name_of(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_of_devices_is_followed_to_its_disks() {
        let tree = tempfile::tempdir().expect("a directory");
        let sys = tree.path().canonicalize().expect("a path");
        let make = |path: &str, text: &str| {
            let path = sys.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a tree");
            fs::write(path, text).expect("an attribute");
        };
        make("devices/nvme0n1/device/model", "990 PRO \n");
        make("devices/nvme0n1/device/serial", "S1\n");
        make("devices/nvme0n1/nvme0n1p2/partition", "2\n");
        make("devices/nvme0n1/nvme0n1p2/size", "2048\n");
        make("devices/dm-0/size", "1024\n");
        for (link, to) in [
            ("devices/dm-0/slaves/nvme0n1p2", "devices/nvme0n1/nvme0n1p2"),
            ("class/block/nvme0n1p2", "devices/nvme0n1/nvme0n1p2"),
            ("dev/block/253:0", "devices/dm-0"),
        ] {
            fs::create_dir_all(sys.join(link).parent().expect("a parent")).expect("a tree");
            std::os::unix::fs::symlink(sys.join(to), sys.join(link)).expect("a link");
        }
        let roots = Roots { sys, ..Roots::default() };
        let folder = folder_of(&roots, DeviceNumber { major: 253, minor: 0 }).expect("a folder");
        let found = described(&roots, &folder).expect("a device");
        assert_eq!((found.name.as_str(), found.capacity_bytes), ("dm-0", 1024 * 512));
        let [disk] = &found.disks[..] else { panic!("one disk: {found:?}") };
        assert_eq!(
            (disk.name.as_str(), disk.model.as_deref(), disk.serial.as_deref()),
            ("nvme0n1", Some("990 PRO"), Some("S1"))
        );
    }
}
