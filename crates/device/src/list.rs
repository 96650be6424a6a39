//! The block devices of this host and whether each may be tested.

use std::sync::Arc;

use crate::error::DriveError;
use crate::refusal::Refusal;
use crate::target::block::Block;
use crate::usage::{self, Facts, Thing};
use sysfs::{Roots, SysDevice};

/// A block device of this host.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Device node: `/dev/nvme0n1`.
    pub path: String,
    /// NVMe, SATA, SAS, SCSI, USB, virtio, MMC, md, dm, loop, zram, or the leading letters of its name.
    pub kind: String,
    /// The identity to type to erase the device; `None` if it could not be inspected.
    pub identity: Option<String>,
    /// Model, where known.
    pub model: Option<String>,
    /// Firmware revision, if known.
    pub firmware: Option<String>,
    /// Capacity.
    pub capacity_bytes: Option<u64>,
    /// Reasons not to write to the device; empty if writing is allowed.
    pub refusals: Vec<Refusal>,
    /// Why the device could not be inspected; `None` if it was.
    pub unusable: Option<Arc<DriveError>>,
    /// Whether the device is known to be in use. Old signatures alone do not count as use.
    pub in_use: bool,
}

/// Lists all block devices except partitions and devices without capacity.
///
/// # Errors
/// `ErrorKind::Unusable` if `/sys` cannot be read.
pub fn list() -> Result<Vec<Listed>, DriveError> {
    let roots = Roots::default();
    let devices =
        roots.block_devices().map_err(|source| DriveError::System { path: "/sys/block", source })?;
    let filled = devices.into_iter().filter(|d| d.attribute("size").is_some_and(|size| size != "0"));
    let usage = usage::gather(&roots, &[]).map_err(DriveError::Usage)?;
    Ok(filled.map(|device| look(&device, roots.clone(), &usage)).collect())
}

fn look(device: &SysDevice, roots: Roots, usage: &Facts) -> Listed {
    let kname = &device.kname;
    let path = format!("/dev/{kname}");
    match Block::open(&path, roots, &[]) {
        Err(error) => Listed {
            path: path.clone(),
            kind: kind(kname, None),
            identity: None,
            model: None,
            firmware: None,
            capacity_bytes: None,
            refusals: Vec::new(),
            in_use: matches!(&error, DriveError::Refused { refusals, .. } if is_used(refusals)),
            unusable: Some(Arc::new(error)),
        },
        Ok(block) => {
            // A device in use is not even read.
            let users = usage::users_and_claims(block.roots(), usage, Thing::Device(device.number));
            let refusals = if users.is_empty() { block.refusals_of_others(users) } else { users };
            let facts = &block.facts;
            Listed {
                kind: kind(kname, facts.interface.as_deref()),
                identity: Some(facts.identity.clone()),
                model: facts.model.clone(),
                firmware: facts.firmware.clone(),
                capacity_bytes: Some(facts.capacity_bytes),
                in_use: is_used(&refusals),
                refusals,
                unusable: None,
                path,
            }
        }
    }
}

fn is_used(refusals: &[Refusal]) -> bool {
    refusals.iter().any(Refusal::names_a_user)
}

/// Returns the device type for a kernel name and an interface.
pub(crate) fn kind(kname: &str, interface: Option<&str>) -> String {
    let name: String = kname.chars().take_while(char::is_ascii_alphabetic).collect();
    match (interface, name.as_str()) {
        (Some(interface), _) => interface.to_owned(),
        (None, name) if name.starts_with("sd") => "SCSI".into(),
        (None, "nullb") => "null_blk".into(),
        (None, "ram") => "brd".into(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_from_the_interface_or_the_name() {
        assert_eq!(kind("nvme0n1", Some("NVMe")), "NVMe");
        assert_eq!((kind("sda", None), kind("sda", Some("SATA"))), ("SCSI".into(), "SATA".into()));
        assert_eq!(
            (kind("dm-3", None), kind("md127", None), kind("loop7", None)),
            ("dm".into(), "md".into(), "loop".into())
        );
    }
}
