//! Slurm configuration files.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Drive, Inventory};
use crate::sharing::Contention;
use crate::words::name;

const HEAD: &str = "# Written by `plateau fleet inventory`; changes are overwritten.\n";

/// Returns `gres.conf`: one line for each drive, with its identity as the type.
#[must_use]
pub fn gres_conf(inventory: &Inventory) -> String {
    let line = |drive: &Drive| {
        // A simulated drive has no device node.
        let place = if drive.is_simulated() { "Count=1".to_owned() } else { format!("File={}", drive.path) };
        format!("NodeName={} Name={} Type={} {place}\n", drive.host, drive.gres_name(), drive.gres())
    };
    HEAD.to_owned() + &inventory.drives.iter().map(line).collect::<String>()
}

/// Returns the lines for `slurm.conf`: each node's GRES and features, and a license for each link and each enclosure
/// that several drives share. Slurm reads one line for each node, so its other parameters (processors, memory, address)
/// are given in `more`, by host.
#[must_use]
pub fn nodes_conf(inventory: &Inventory, more: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&str> = inventory.drives.iter().map(Drive::gres_name).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(",");
    let mut out = if names.is_empty() { HEAD.to_owned() } else { format!("{HEAD}GresTypes={names}\n") };
    let of = |drive: &Drive| drive.licenses(&inventory.drives, Contention::AvoidInEnclosures);
    let licenses: BTreeSet<String> = inventory.drives.iter().flat_map(of).collect();
    if !licenses.is_empty() {
        let each: Vec<String> = licenses.iter().map(|license| format!("{license}:1")).collect();
        out.push_str(&format!("Licenses={}\n", each.join(",")));
    }
    let mut hosts: BTreeMap<&str, Vec<&Drive>> = BTreeMap::new();
    for drive in &inventory.drives {
        hosts.entry(&drive.host).or_default().push(drive);
    }
    for (host, drives) in hosts {
        let gres = |drive: &&Drive| format!("{}:{}:1", drive.gres_name(), drive.gres());
        let gres: Vec<String> = drives.iter().map(gres).collect();
        let features: BTreeSet<String> = drives.iter().flat_map(|drive| features(drive)).collect();
        let features = features.into_iter().collect::<Vec<_>>().join(",");
        let features = if features.is_empty() { String::new() } else { format!(" Feature={features}") };
        let more = more.get(host).map(|more| format!(" {more}")).unwrap_or_default();
        out.push_str(&format!("NodeName={host} Gres={}{features}{more}\n", gres.join(",")));
    }
    out
}

/// Returns the features of the node that has the drive: its slot, its model and its firmware.
fn features(drive: &Drive) -> Vec<String> {
    let known = [("slot", &drive.slot), ("model", &drive.model), ("firmware", &drive.firmware)];
    let feature = |(kind, value): (&str, &Option<String>)| Some(format!("{kind}-{}", name(value.as_ref()?)));
    known.into_iter().filter_map(feature).collect()
}
