//! The known facts about a device, as a list of names and values.

use crate::capability::{Capabilities, Nvme, Protocol, Scsi};
use crate::purge::PurgeMethod;
use crate::wire::ata::Identify;
use crate::wire::scsi::Rotation;

/// A fact. The name of a quantity includes its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Name of the fact, such as `max_transfer_bytes`.
    pub name: &'static str,
    /// Value of the fact, in the unit given in its name.
    pub value: Value,
}

/// Value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// Number, in the unit given in the fact's name.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// List of strings.
    List(Vec<String>),
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Vec<String>> for Value {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

/// Facts about a device, as reported by the host and by the device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// Facts reported by the host, followed by those reported by the device.
    pub facts: Vec<Fact>,
    /// Current health.
    pub health: record::Health,
    /// Supported purge methods, best first.
    pub purge: Vec<PurgeMethod>,
}

/// Facts collected so far.
#[derive(Default)]
pub struct Facts(pub Vec<Fact>);

impl Facts {
    /// Adds a fact.
    pub fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push(Fact { name, value: value.into() });
    }

    /// Adds a fact if it is known.
    pub fn reported<T: Into<Value>>(&mut self, name: &'static str, value: Option<T>) {
        value.into_iter().for_each(|value| self.add(name, value));
    }

    /// Adds a number.
    pub fn number(&mut self, name: &'static str, value: f64) {
        self.add(name, Value::Number(value));
    }
}

/// Adds the properties that the device reports.
pub fn describe(facts: &mut Facts, can: &Capabilities) {
    match &can.protocol {
        Protocol::Nvme(drive) => nvme(facts, drive),
        Protocol::Ata(drive) => ata(facts, drive),
        Protocol::Scsi(drive) => scsi(facts, drive),
        Protocol::Plain => {}
        Protocol::Unasked(why) => facts.add("not_asked", why.as_str()),
    }
}

fn nvme(facts: &mut Facts, drive: &Nvme) {
    let (controller, namespace) = (&drive.controller, &drive.namespace);
    let (major, minor, tertiary) = controller.version;
    facts.add("nvme_version", format!("{major}.{minor}.{tertiary}"));
    facts.add("pci_vendor", format!("{:04x}", controller.pci_vendor));
    facts.reported("controller_serial", controller.serial.clone());
    facts.reported("controller_model", controller.model.clone());
    facts.reported("controller_firmware", controller.firmware.clone());
    facts.number("namespace", f64::from(drive.number));
    facts.number("namespaces_at_most", f64::from(controller.namespaces));
    let others = drive.others.iter().map(|other| format!("{} ('{}')", other.name, other.identity));
    facts.add("other_namespaces", others.collect::<Vec<_>>());
    facts.reported("nguid", namespace.nguid.clone());
    facts.reported("eui64", namespace.eui64.clone());
    let used = |format: &crate::wire::nvme::LbaFormat| {
        if format.index == namespace.format { " (in use)" } else { "" }
    };
    let text = |f: &crate::wire::nvme::LbaFormat| {
        format!("{}: {} B + {} B metadata{}", f.index, f.block_bytes, f.metadata_bytes, used(f))
    };
    facts.add("lba_formats", namespace.formats.iter().map(text).collect::<Vec<_>>());
    let size = namespace.formats.iter().find(|f| f.index == namespace.format).map_or(0, |f| f.block_bytes);
    facts.number("namespace_capacity_bytes", namespace.capacity_blocks as f64 * size as f64);
    facts.number("namespace_used_bytes", namespace.used_blocks as f64 * size as f64);
    facts.add("discarded_reads_zero", namespace.discarded_read_zero);
    facts.reported("total_capacity_bytes", controller.total_capacity_bytes.map(|b| Value::Number(b as f64)));
    facts.reported("max_transfer_bytes", controller.max_transfer_bytes.map(|b| Value::Number(b as f64)));
    let celsius = |kelvin: u16| Value::Number(f64::from(kelvin) - 273.0);
    facts.reported("warning_celsius", controller.warning_kelvin.map(celsius));
    facts.reported("critical_celsius", controller.critical_kelvin.map(celsius));
    let state = |(number, state): (usize, &crate::wire::nvme::PowerState)| {
        let watts = state.max_watts.map_or_else(|| "power unknown".into(), |watts| format!("{watts} W"));
        format!("{number}: {watts}{}", if state.operational { "" } else { ", idle" })
    };
    facts.add("power_states", controller.power_states.iter().enumerate().map(state).collect::<Vec<_>>());
}

fn ata(facts: &mut Facts, drive: &Identify) {
    facts.reported("ata_serial", drive.serial.clone());
    facts.reported("ata_model", drive.model.clone());
    facts.reported("ata_firmware", drive.firmware.clone());
    facts.reported("wwn", drive.wwn.clone());
    facts.number("ata_capacity_bytes", drive.capacity_blocks as f64 * f64::from(drive.logical_block_bytes));
    facts.reported("link_at_most", drive.max_speed);
    facts.reported("link", drive.speed);
    facts.number("queue_depth", f64::from(drive.queue_depth));
    facts.add("solid_state", drive.solid_state);
    facts.add("trim", drive.trim);
    facts.add("discarded_reads_zero", drive.discarded_read_zero);
    facts.add("smart", drive.smart);
    let security = &drive.security;
    let words = [
        (security.supported, "supported"),
        (security.enabled, "password set"),
        (security.locked, "locked"),
        (security.frozen, "frozen"),
        (security.enhanced, "enhanced erase"),
    ];
    let states = words.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned());
    facts.add("security", states.collect::<Vec<_>>());
}

fn scsi(facts: &mut Facts, drive: &Scsi) {
    facts.number("device_type", f64::from(drive.inquiry.device_type));
    facts.reported("scsi_vendor", drive.inquiry.vendor.clone());
    facts.reported("scsi_product", drive.inquiry.product.clone());
    facts.reported("scsi_revision", drive.inquiry.revision.clone());
    facts.reported("unit_serial", drive.serial.clone());
    facts.reported("wwn", drive.name.clone());
    if let Some(capacity) = drive.capacity {
        facts.number("scsi_capacity_bytes", capacity.blocks as f64 * f64::from(capacity.block_bytes));
        facts.number("scsi_physical_block_bytes", capacity.physical_block_bytes as f64);
        facts.add("unmap", capacity.unmaps);
        facts.add("discarded_reads_zero", capacity.unmapped_read_zero);
    }
    match drive.rotation {
        Some(Rotation::SolidState) => facts.add("solid_state", true),
        Some(Rotation::PerMinute(rate)) => facts.number("rotations_per_minute", f64::from(rate)),
        None => {}
    }
}
