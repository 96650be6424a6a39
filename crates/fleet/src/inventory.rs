//! The drives of all hosts.

use std::collections::BTreeMap;

use record::{TargetFacts, TargetKind};
use serde::{Deserialize, Serialize};

use crate::error::{FleetError, invalid};
use crate::sharing::{Contention, Enclosure};
use crate::words::name;

const VERSION: u32 = 1;

/// A block device as printed by `plateau list --json`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Listed {
    /// Device node, or a simulated drive.
    pub path: String,
    /// Kind, such as `NVMe`.
    #[serde(default)]
    pub kind: String,
    /// Identity to type to confirm that it may be erased.
    pub identity: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Firmware revision.
    #[serde(default)]
    pub firmware: Option<String>,
    /// Capacity.
    pub capacity_bytes: Option<u64>,
    /// Links between the drive and the processor; other drives may share them.
    #[serde(default)]
    pub links: Vec<String>,
    /// The enclosure that contains the drive, if known.
    #[serde(default)]
    pub enclosure: Option<Enclosure>,
    /// The drive's slot, as named by its enclosure or its host, if known.
    #[serde(default)]
    pub slot: Option<String>,
    /// Reasons why the device cannot be tested.
    #[serde(default)]
    pub refusals: Vec<String>,
    /// Whether the device is in use, for example by a run.
    #[serde(default)]
    pub in_use: bool,
}

impl Listed {
    /// Returns why the device cannot be tested; `None` if it can.
    fn reason(&self) -> Option<&str> {
        let reason = match &self.identity {
            None => Some("its identity is unknown"),
            Some(_) if !self.path.starts_with("sim:") && !is_plain(&self.path) => {
                Some("its path contains unusual characters")
            }
            Some(_) => None,
        };
        self.refusals.first().map(String::as_str).or(reason)
    }

    fn drive(&self, host: String) -> Drive {
        Drive {
            host,
            path: self.path.clone(),
            kind: self.kind.clone(),
            identity: self.identity.clone().unwrap_or_default(),
            model: self.model.clone(),
            firmware: self.firmware.clone(),
            capacity_bytes: self.capacity_bytes,
            links: self.links.clone(),
            enclosure: self.enclosure.clone(),
            slot: self.slot.clone(),
        }
    }
}

/// A drive that can be tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// Host that contains the drive.
    pub host: String,
    /// Device node on that host, or a simulated drive.
    pub path: String,
    /// Kind, such as `NVMe`.
    pub kind: String,
    /// Identity to type to confirm that it may be erased.
    pub identity: String,
    /// Model, if known.
    pub model: Option<String>,
    /// Firmware revision, if known.
    pub firmware: Option<String>,
    /// Capacity, if known.
    pub capacity_bytes: Option<u64>,
    /// Links between the drive and the processor; other drives may share them.
    pub links: Vec<String>,
    /// The enclosure that contains the drive, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enclosure: Option<Enclosure>,
    /// The drive's slot, as named by its enclosure or its host, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
}

impl Drive {
    /// Returns the name of the drive's GRES. Slurm requires that either all or none of the devices with the same
    /// name have a device node.
    #[must_use]
    pub fn gres_name(&self) -> &'static str {
        if self.is_simulated() { "simulated" } else { "drive" }
    }

    /// Returns the type of the drive's GRES.
    #[must_use]
    pub fn gres(&self) -> String {
        name(&self.identity)
    }

    /// Returns what is known about the drive without asking its host.
    #[must_use]
    pub fn facts(&self) -> TargetFacts {
        TargetFacts {
            kind: TargetKind::Block,
            path: self.path.clone(),
            identity: self.identity.clone(),
            attachment: None,
            vendor: None,
            model: self.model.clone(),
            serial: Some(self.identity.clone()),
            firmware: self.firmware.clone(),
            interface: Some(self.kind.clone()),
            nand: None,
            capacity_bytes: self.capacity_bytes.unwrap_or_default(),
            logical_block_bytes: 512,
            physical_block_bytes: 4096,
            rotational: Some(false),
            simulated: None,
            array: None,
        }
    }

    /// Returns whether the drive is in another place than before. An unknown slot may be the same one.
    fn has_moved(&self, was: &Self) -> bool {
        let slots = was.slot.as_ref().zip(self.slot.as_ref());
        (&was.host, &was.path) != (&self.host, &self.path) || slots.is_some_and(|(was, is)| was != is)
    }

    /// Returns whether the drive is simulated.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.path.starts_with("sim:")
    }

    /// Returns the licenses for the links and enclosures that the drive shares with others in `all` and that
    /// the campaign does not use for several drives at once.
    #[must_use]
    pub fn licenses(&self, all: &[Self], contention: Contention) -> Vec<String> {
        match contention {
            Contention::Allow => Vec::new(),
            Contention::Avoid => self.of_links(all),
            Contention::AvoidInEnclosures => {
                self.of_links(all).into_iter().chain(self.of_enclosure(all)).collect()
            }
        }
    }

    /// Hosts that are connected to the same enclosure use the same license for it, because Slurm's licenses are valid
    /// in the whole cluster.
    fn of_enclosure(&self, all: &[Self]) -> Option<String> {
        let license = |drive: &Self| {
            Some(match drive.enclosure.as_ref()? {
                Enclosure::Id(id) => format!("enclosure_{}", name(id)),
                Enclosure::Local(local) => format!("{}_enclosure_{}", name(&drive.host), name(local)),
            })
        };
        let own = license(self)?;
        let shares = |other: &Self| other.identity != self.identity && license(other).as_ref() == Some(&own);
        all.iter().any(shares).then_some(own)
    }

    fn of_links(&self, all: &[Self]) -> Vec<String> {
        let shares = |link: &&String| {
            all.iter().any(|other| {
                other.host == self.host && other.identity != self.identity && other.links.contains(link)
            })
        };
        self.links.iter().filter(shares).map(|link| format!("{}_{}", name(&self.host), name(link))).collect()
    }
}

/// A device that cannot be tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unusable {
    /// Host that contains the device.
    pub host: String,
    /// Device node on that host.
    pub path: String,
    /// Identity, if it could be read.
    pub identity: Option<String>,
    /// Why the device cannot be tested.
    pub reason: String,
}

/// The drives of all hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    version: u32,
    /// Drives that can be tested, by host and path.
    pub drives: Vec<Drive>,
    /// Devices that cannot be tested, by host and path.
    pub unusable: Vec<Unusable>,
    /// Drives that cannot be tested now because they are in use. They remain among `drives`.
    #[serde(skip)]
    busy: Vec<Unusable>,
}

/// A difference between two inventories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A drive is new.
    Added(Drive),
    /// A drive has been removed.
    Removed(Drive),
    /// A drive has another path or is in another slot or host: old and new location.
    Moved(Drive, Drive),
    /// A drive has different firmware: old and new revision.
    Firmware(Drive, Drive),
    /// A drive can no longer be tested.
    NoLongerUsable(Drive, Unusable),
    /// A drive is in use, and remains in the inventory as it was.
    Busy(Unusable),
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = |drive: &Drive| format!("{}:{}", drive.host, drive.path);
        let place = |drive: &Drive| {
            let slot = drive.slot.as_ref().map(|slot| format!(" (slot {})", name(slot)));
            at(drive) + &slot.unwrap_or_default()
        };
        let firmware = |drive: &Drive| drive.firmware.clone().unwrap_or_else(|| "unknown".into());
        match self {
            Self::Added(drive) => write!(f, "new       {}  {}", drive.identity, at(drive)),
            Self::Removed(drive) => write!(f, "gone      {}  was {}", drive.identity, at(drive)),
            Self::Moved(was, is) => {
                write!(f, "moved     {}  from {} to {}", is.identity, place(was), place(is))
            }
            Self::Firmware(was, is) => {
                write!(f, "firmware  {}  was {}, is {}", is.identity, firmware(was), firmware(is))
            }
            Self::Busy(now) => write!(
                f,
                "busy      {}  {}:{}: {}",
                now.identity.as_deref().unwrap_or_default(),
                now.host,
                now.path,
                now.reason
            ),
            Self::NoLongerUsable(was, now) => {
                write!(f, "refused   {}  {}: {}", was.identity, at(was), now.reason)
            }
        }
    }
}

/// Returns whether a path can be written to a configuration file. A host reports its own paths; a line break or
/// space in one would add parameters for other hosts, and a bracket or comma in one would denote several devices.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && path.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.:+@%".contains(c))
}

/// Returns whether Slurm accepts a host name as `NodeName`. A space or line break in a name would add parameters or
/// lines to Slurm's files.
fn is_node_name(host: &str) -> bool {
    !host.is_empty()
        && host.len() <= 63
        && !host.starts_with(['-', '.'])
        && host.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn check_host(host: &str) -> Result<(), FleetError> {
    if is_node_name(host) {
        return Ok(());
    }
    let host = host.escape_debug();
    let problem = format!("'{host}' is not a valid node name: use letters, digits, '-', '_' and '.'");
    Err(invalid("the inventory", problem))
}

impl Inventory {
    /// Returns the inventory of all hosts, given the devices of each.
    ///
    /// # Errors
    /// Returns an error if two drives have the same identity, or if Slurm does not accept a host's
    /// name.
    pub fn of(hosts: &BTreeMap<String, Vec<Listed>>) -> Result<Self, FleetError> {
        Self::after(&Self::default(), hosts)
    }

    /// Same as [`of`](Self::of), but a drive of an earlier inventory that is in use remains as it was, because the drives
    /// that are being tested must not disappear from the scheduler's configuration.
    ///
    /// # Errors
    /// Returns the errors of [`of`](Self::of), and an error if the list of a host that had drives is empty.
    pub fn after(earlier: &Self, hosts: &BTreeMap<String, Vec<Listed>>) -> Result<Self, FleetError> {
        let mut inventory = Self { version: VERSION, ..Self::default() };
        let mut by_gres: BTreeMap<String, String> = BTreeMap::new();
        hosts.keys().try_for_each(|host| check_host(host))?;
        for (host, devices) in hosts {
            earlier.check_not_emptied(host, devices)?;
            for device in devices {
                let (host, path) = (host.clone(), device.path.clone());
                let drive = match device.reason() {
                    None => device.drive(host),
                    Some(reason) => {
                        let (identity, reason) = (device.identity.clone(), reason.to_owned());
                        let unusable = Unusable { host, path, identity, reason };
                        let Some(was) = earlier.in_use(device, &unusable) else {
                            inventory.unusable.push(unusable);
                            continue;
                        };
                        inventory.busy.push(unusable);
                        was
                    }
                };
                let place = format!("{}:{}", drive.host, drive.path);
                if let Some(one) = by_gres.insert(drive.gres(), place.clone()) {
                    return Err(FleetError::Namesakes { one, other: place, identity: drive.identity });
                }
                inventory.drives.push(drive);
            }
        }
        let place = |host: &String, path: &String| (host.clone(), path.clone());
        inventory.drives.sort_by_key(|drive| place(&drive.host, &drive.path));
        inventory.unusable.sort_by_key(|device| place(&device.host, &device.path));
        Ok(inventory)
    }

    /// Returns the entry of a drive that is in use, at its present path; `None` if it is not in use, or if it is new.
    fn in_use(&self, device: &Listed, now: &Unusable) -> Option<Drive> {
        let is_it = |was: &&Drive| Some(&was.identity) == device.identity.as_ref() && was.host == now.host;
        let was = self.drives.iter().find(is_it).filter(|_| device.in_use && is_plain(&device.path))?;
        Some(Drive { path: now.path.clone(), ..was.clone() })
    }

    /// Rejects an empty list of a host that had drives: the command that should have written it has probably failed.
    fn check_not_emptied(&self, host: &str, devices: &[Listed]) -> Result<(), FleetError> {
        match self.drives.iter().filter(|was| was.host == host).count() {
            count @ 1.. if devices.is_empty() => Err(invalid(
                &format!("the list of drives of {host}"),
                format!(
                    "it is empty, but the last inventory has {count} drives of this host; if they were removed, omit the host"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Parses the output of `plateau list --json` on `host`.
    ///
    /// # Errors
    /// Returns an error if the output is malformed.
    pub fn parse_list(host: &str, json: &str) -> Result<Vec<Listed>, FleetError> {
        serde_json::from_str(json).map_err(|error| invalid(&format!("the list of drives of {host}"), error))
    }

    /// Parses an inventory.
    ///
    /// # Errors
    /// Returns an error if the inventory is malformed, has a different version, or contains an invalid name.
    pub fn parse(json: &str) -> Result<Self, FleetError> {
        let inventory: Self = serde_json::from_str(json).map_err(|error| invalid("the inventory", error))?;
        if inventory.version != VERSION {
            return Err(invalid(
                "the inventory",
                format!("its version is {}, not {VERSION}", inventory.version),
            ));
        }
        let hosts = inventory.drives.iter().map(|drive| &drive.host);
        hosts
            .chain(inventory.unusable.iter().map(|device| &device.host))
            .try_for_each(|host| check_host(host))?;
        Ok(inventory)
    }

    /// Returns the inventory as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the differences from an earlier inventory.
    #[must_use]
    pub fn changes(&self, earlier: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for is in &self.drives {
            match earlier.drives.iter().find(|was| was.identity == is.identity) {
                None => changes.push(Change::Added(is.clone())),
                Some(was) => {
                    if is.has_moved(was) {
                        changes.push(Change::Moved(was.clone(), is.clone()));
                    }
                    if was.firmware != is.firmware {
                        changes.push(Change::Firmware(was.clone(), is.clone()));
                    }
                }
            }
        }
        for was in &earlier.drives {
            if self.drives.iter().any(|is| is.identity == was.identity) {
                continue;
            }
            let refused = self.unusable.iter().find(|now| now.identity.as_ref() == Some(&was.identity));
            changes.push(match refused {
                Some(now) => Change::NoLongerUsable(was.clone(), now.clone()),
                None => Change::Removed(was.clone()),
            });
        }
        changes.extend(self.busy.iter().cloned().map(Change::Busy));
        changes
    }
}
