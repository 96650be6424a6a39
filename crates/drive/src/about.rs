//! Everything that is known about a target, as a list of named facts: `plateau info`.

use crate::admin::kernel::Kernel;
use crate::capability::{Capabilities, Nvme, Protocol, Scsi};
use crate::clock::Clock;
use crate::error::DriveError;
use crate::health;
use crate::target::block::Block;
use crate::wire::ata::Identify;
use crate::wire::scsi::Rotation;

/// A fact; a quantity has its unit in the name.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Name, such as `max_transfer_bytes`.
    pub name: &'static str,
    /// Value, in the unit of the name.
    pub value: Value,
}

/// Value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// Number, in the unit of the fact's name.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// List of texts.
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

/// What host and device report about a device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// Facts that the host reports, followed by those that the device reports.
    pub facts: Vec<Fact>,
    /// Current health.
    pub health: record::Health,
    /// Supported purge methods, best first.
    pub purge: Vec<crate::PurgeMethod>,
}

/// Facts collected so far.
#[derive(Default)]
pub(crate) struct Facts(pub(crate) Vec<Fact>);

impl Facts {
    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push(Fact { name, value: value.into() });
    }

    pub(crate) fn told<T: Into<Value>>(&mut self, name: &'static str, value: Option<T>) {
        value.into_iter().for_each(|value| self.add(name, value));
    }

    pub(crate) fn number(&mut self, name: &'static str, value: f64) {
        self.add(name, Value::Number(value));
    }
}

/// Queries the device of `block`.
pub(crate) fn of_block(block: &Block) -> Result<About, DriveError> {
    let (held, clock) = (block.hold_to_read()?, Clock::start());
    let can = block.capabilities(&held, clock);
    let mut facts = Facts::default();
    host(&mut facts, block);
    device(&mut facts, &can);
    let mut kernel = Kernel::new(block, &held, clock);
    let cache = crate::write_cache::get(&mut kernel, &can).ok().flatten();
    facts.told("write_cache_on", cache);
    let health = health::read(&mut kernel, &can);
    Ok(About { facts: facts.0, health, purge: crate::purge::methods(&can) })
}

fn host(facts: &mut Facts, block: &Block) {
    let queue = |name: &str| block.attribute(&format!("queue/{name}"));
    let scheduler = queue("scheduler");
    let chosen = scheduler.as_deref().and_then(|text| text.split_once('[')?.1.split_once(']'));
    facts.told("scheduler", chosen.map(|(name, _)| name));
    facts.told("polled_queues", queue("io_poll").map(|flag| flag == "1"));
    facts.told("write_cache_of_the_kernel", queue("write_cache"));
    facts.told("merges", queue("nomerges").map(|level| level == "0"));
    facts.told("io_statistics", queue("iostats").map(|flag| flag == "1"));
    let link = |kind: &str| {
        let (speed, width) = (format!("{kind}_link_speed"), format!("{kind}_link_width"));
        Some(format!("{} x{}", block.upwards(&speed)?, block.upwards(&width)?))
    };
    facts.told("pcie_link", link("current"));
    facts.told("pcie_link_at_most", link("max"));
    let node = block.upwards("numa_node").and_then(|text| text.parse::<f64>().ok());
    facts.told("numa_node", node.filter(|&node| node >= 0.0).map(Value::Number));
    let members = block.members();
    facts.told("members", (!members.is_empty()).then_some(members));
    facts.told("raid_level", block.attribute("md/level"));
    facts.told("raid_state", block.attribute("md/array_state"));
    facts.told("dm_name", block.attribute("dm/name"));
    facts.told("backing_file", block.attribute("loop/backing_file"));
}

fn device(facts: &mut Facts, can: &Capabilities) {
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
    facts.told("controller_serial", controller.serial.clone());
    facts.told("controller_model", controller.model.clone());
    facts.told("controller_firmware", controller.firmware.clone());
    facts.number("namespace", f64::from(drive.number));
    facts.number("namespaces_at_most", f64::from(controller.namespaces));
    let others = drive.others.iter().map(|other| format!("{} ('{}')", other.name, other.identity));
    facts.add("other_namespaces", others.collect::<Vec<_>>());
    facts.told("nguid", namespace.nguid.clone());
    facts.told("eui64", namespace.eui64.clone());
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
    facts.told("total_capacity_bytes", controller.total_capacity_bytes.map(|b| Value::Number(b as f64)));
    facts.told("max_transfer_bytes", controller.max_transfer_bytes.map(|b| Value::Number(b as f64)));
    let celsius = |kelvin: u16| Value::Number(f64::from(kelvin) - 273.0);
    facts.told("warning_celsius", controller.warning_kelvin.map(celsius));
    facts.told("critical_celsius", controller.critical_kelvin.map(celsius));
    let state = |(number, state): (usize, &crate::wire::nvme::PowerState)| {
        let watts = state.max_watts.map_or_else(|| "power unknown".into(), |watts| format!("{watts} W"));
        format!("{number}: {watts}{}", if state.operational { "" } else { ", idle" })
    };
    facts.add("power_states", controller.power_states.iter().enumerate().map(state).collect::<Vec<_>>());
}

fn ata(facts: &mut Facts, drive: &Identify) {
    facts.told("ata_serial", drive.serial.clone());
    facts.told("ata_model", drive.model.clone());
    facts.told("ata_firmware", drive.firmware.clone());
    facts.told("wwn", drive.wwn.clone());
    facts.number("ata_capacity_bytes", drive.capacity_blocks as f64 * f64::from(drive.logical_block_bytes));
    facts.told("link_at_most", drive.max_speed);
    facts.told("link", drive.speed);
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
    let said = words.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned());
    facts.add("security", said.collect::<Vec<_>>());
}

fn scsi(facts: &mut Facts, drive: &Scsi) {
    facts.number("device_type", f64::from(drive.inquiry.device_type));
    facts.told("scsi_vendor", drive.inquiry.vendor.clone());
    facts.told("scsi_product", drive.inquiry.product.clone());
    facts.told("scsi_revision", drive.inquiry.revision.clone());
    facts.told("unit_serial", drive.serial.clone());
    facts.told("wwn", drive.name.clone());
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
