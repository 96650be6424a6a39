//! The I/O of the devices below a file system, from the kernel's counters.

use std::path::PathBuf;

use record::BelowLoad;

use crate::below::{attribute, whole};

const SECTOR_BYTES: u64 = 512;

/// The counters of all devices below a file system.
#[derive(Debug, Clone)]
pub struct Counters {
    /// sysfs folders of the devices.
    folders: Vec<PathBuf>,
}

impl Counters {
    pub(crate) fn of(folders: Vec<PathBuf>) -> Option<Self> {
        (!folders.is_empty()).then_some(Self { folders })
    }

    /// Returns the sum of the counters; `None` if the kernel does not count the I/O of a device.
    #[must_use]
    pub fn read(&self) -> Option<BelowLoad> {
        self.folders.iter().try_fold(BelowLoad::default(), |sum, folder| {
            // Statistics can be switched off at any time, even by a run that tunes the device.
            let is_counted = attribute(whole(folder), "queue/iostats").is_none_or(|on| on != "0");
            let one = is_counted.then(|| attribute(folder, "stat")).flatten()?;
            Some(added(sum, parsed(&one)?))
        })
    }

    /// Returns the increase since `before`; `None` if a counter is unknown or was reset.
    #[must_use]
    pub fn since(&self, before: Option<BelowLoad>) -> Option<BelowLoad> {
        difference(self.read()?, before?)
    }
}

/// Parses a block device's `stat` (Documentation/block/stat.rst). Kernels before 5.5 do not count flushes.
fn parsed(text: &str) -> Option<BelowLoad> {
    let fields: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    Some(BelowLoad {
        read_ios: *fields.first()?,
        read_bytes: bytes(*fields.get(2)?),
        write_ios: *fields.get(4)?,
        write_bytes: bytes(*fields.get(6)?),
        flushes: fields.get(15).copied().unwrap_or(0),
    })
}

fn added(a: BelowLoad, b: BelowLoad) -> BelowLoad {
    BelowLoad {
        read_ios: a.read_ios.saturating_add(b.read_ios),
        read_bytes: a.read_bytes.saturating_add(b.read_bytes),
        write_ios: a.write_ios.saturating_add(b.write_ios),
        write_bytes: a.write_bytes.saturating_add(b.write_bytes),
        flushes: a.flushes.saturating_add(b.flushes),
    }
}

fn difference(after: BelowLoad, before: BelowLoad) -> Option<BelowLoad> {
    Some(BelowLoad {
        read_ios: after.read_ios.checked_sub(before.read_ios)?,
        read_bytes: after.read_bytes.checked_sub(before.read_bytes)?,
        write_ios: after.write_ios.checked_sub(before.write_ios)?,
        write_bytes: after.write_bytes.checked_sub(before.write_bytes)?,
        flushes: after.flushes.checked_sub(before.flushes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_several_devices_are_added_unless_one_does_not_count() {
        let tree = tempfile::tempdir().expect("a directory");
        let write = |name: &str, attribute: &str, text: &str| {
            let path = tree.path().join(name).join(attribute);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a tree");
            std::fs::write(path, text).expect("an attribute");
        };
        write("a", "stat", "  10 0 80 0 20 3 160 0 0 0 0 0 0 0 0 7 0\n");
        write("b", "stat", "1 0 8 0 2 0 16 0 0 0 0\n");
        let folders = || vec![tree.path().join("a"), tree.path().join("b")];
        let counters = Counters::of(folders()).expect("two devices");
        let before = counters.read().expect("counts");
        let expected = BelowLoad {
            read_ios: 11,
            read_bytes: 88 * 512,
            write_ios: 22,
            write_bytes: 176 * 512,
            flushes: 7,
        };
        assert_eq!(before, expected);
        write("b", "stat", "3 0 24 0 2 0 16 0 0 0 0\n");
        let since = counters.since(Some(before)).expect("counts");
        assert_eq!(since, BelowLoad { read_ios: 2, read_bytes: 16 * 512, ..BelowLoad::default() });
        write("b", "stat", "0 0 0 0 0 0 0 0 0 0 0\n");
        assert_eq!(counters.since(Some(before)), None, "the device was replaced");
        write("b", "queue/iostats", "0\n");
        assert_eq!(counters.read(), None, "the kernel does not count");
        assert!(Counters::of(Vec::new()).is_none());
    }
}
