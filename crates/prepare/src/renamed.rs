//! If a drive's device path has changed since the run was started, finds the drive by the identity that it
//! reports.

use device::{Listed, list};
use record::{TargetFacts, TargetKind};

/// Returns the new path of the drive `was` if exactly one device on this host reports its serial number. Returns
/// `None` if the old path still refers to the drive.
#[must_use]
pub fn path_now(was: &TargetFacts) -> Option<String> {
    let path = only(&list().ok()?, was)?;
    (std::fs::canonicalize(&path).ok() != std::fs::canonicalize(&was.path).ok()).then_some(path)
}

fn only(devices: &[Listed], was: &TargetFacts) -> Option<String> {
    if was.kind != TargetKind::Block || was.serial.is_none() {
        return None;
    }
    let is_it = |device: &&Listed| {
        device.identity.as_ref() == Some(&was.identity) && device.capacity_bytes == Some(was.capacity_bytes)
    };
    let mut found = devices.iter().filter(is_it);
    let first = found.next()?;
    // Two devices with the same identity are indistinguishable.
    found.next().is_none().then(|| first.path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(path: &str, identity: &str, capacity_bytes: u64) -> Listed {
        Listed {
            path: path.into(),
            kind: "NVMe".into(),
            identity: Some(identity.into()),
            model: None,
            firmware: None,
            capacity_bytes: Some(capacity_bytes),
            refusals: Vec::new(),
            unusable: None,
            in_use: false,
        }
    }

    #[test]
    fn a_drive_is_found_only_by_a_unique_identity_and_size() {
        let file = std::env::temp_dir().join("plateau-a-file-that-nobody-makes");
        let open = device::OpenOptions { size_bytes: Some(16 << 20), ..device::OpenOptions::default() };
        let facts =
            device::open(file.to_str().expect("a path"), &open).expect("a file to be").facts().clone();
        let was = TargetFacts {
            kind: TargetKind::Block,
            serial: Some("S1".into()),
            identity: "S1".into(),
            ..facts
        };
        let size = was.capacity_bytes;
        let here = device("/dev/nvme1n1", "S1", size);
        let others = [device("/dev/nvme0n1", "S2", size), device("/dev/sda", "S1", size - 4096)];
        let among = |more: &[Listed]| only(&[&others[..], more].concat(), &was);
        assert_eq!(among(&[]), None);
        assert_eq!(among(std::slice::from_ref(&here)), Some("/dev/nvme1n1".into()));
        assert_eq!(among(&[here.clone(), device("/dev/nvme2n1", "S1", size)]), None, "which of both?");
        let unknown = TargetFacts { serial: None, ..was.clone() };
        assert_eq!(only(std::slice::from_ref(&here), &unknown), None);
    }
}
