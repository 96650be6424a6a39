//! What a drive is made of, as a TOML text with units in its keys.

use serde::Deserialize;

/// The models that come with this crate: name and TOML text.
pub const MODELS: &[(&str, &str)] = &[
    ("sas-slc-2011", include_str!("../models/sas-slc-2011.toml")),
    ("sata-mlc-2011", include_str!("../models/sata-mlc-2011.toml")),
];

/// A class of drive, never one real drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Short name, such as `sas-slc-2011`.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// Which PTS it is for.
    pub class: Class,
    /// The interface as a report prints it, such as `6 Gb/s SAS`.
    pub interface: String,
    /// Kind of NAND as a report prints it, such as `SLC`.
    pub nand: String,
    /// Version of the parameters; rises when the model behaves differently.
    pub version: u32,
    /// What the parameters were fitted to and how well, one line each.
    pub calibration: Vec<String>,
    /// Where the model is known to differ from drives of its class, one line each.
    pub misfits: Vec<String>,
    /// Sizes.
    pub geometry: Geometry,
    /// Speeds.
    pub timing: Timing,
    /// Policy of the drive's own software.
    pub firmware: Firmware,
}

/// Market that a drive is made for, which decides the PTS that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// PTS-E.
    Enterprise,
    /// PTS-C.
    Client,
}

/// Sizes of a drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// User capacity in bytes; a scaled drive has it rounded down to a MiB.
    pub capacity_bytes: u64,
    /// Smallest addressable block in bytes: 512 or 4096.
    pub logical_block_bytes: u32,
    /// Bytes per entry of the mapping table, a power of two; smaller writes are read-modify-write.
    pub map_unit_bytes: u32,
    /// Bytes programmed in one go on a die (all planes), a power of two, at least a map unit.
    pub program_unit_bytes: u32,
    /// Flash channels.
    pub channels: u16,
    /// Dies on each channel.
    pub dies_per_channel: u16,
    /// Superblocks (one erase group over all dies) before the reserve, at scale 1; a scaled drive has
    /// fewer of the same size, but at least 1024.
    pub superblocks: u32,
    /// Flash beyond the user capacity and beyond the collector's reserve in percent of the capacity.
    pub effective_op_percent: f64,
    /// Program units that one erase of a die frees; sets the number of erases per superblock.
    pub program_units_per_erase: u32,
}

/// Speeds of a drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Sensing a page in us.
    pub read_us: f64,
    /// Programming a program unit in us.
    pub program_us: f64,
    /// Half width of the uniform spread of the programming time in percent.
    pub program_spread_percent: f64,
    /// Erasing a block in us.
    pub erase_us: f64,
    /// Each flash channel in MB/s.
    pub channel_mb_per_s: f64,
    /// Whether a die is held until its data has been transferred (no cache register).
    pub die_held_through_transfer: bool,
    /// The host link in MB/s.
    pub link_mb_per_s: f64,
    /// Whether the link carries both directions at once.
    pub link_full_duplex: bool,
    /// Serial work of the controller per read command in us.
    pub read_command_us: f64,
    /// Serial work of the controller per write command in us.
    pub write_command_us: f64,
    /// Serial work of the controller per map unit of a command in us.
    pub map_unit_us: f64,
    /// Fixed latency of a read beside all queues in us.
    pub read_latency_us: f64,
    /// Fixed latency of a write beside all queues in us.
    pub write_latency_us: f64,
    /// How much longer than a read a read-modify-write holds its die in us.
    pub modify_us: f64,
    /// A purge in ms.
    pub purge_ms: f64,
}

/// Policy of the drive's own software.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Write buffer in bytes; never less than two program units per die.
    pub write_buffer_bytes: u64,
    /// Map units that the collector copies in one go; 1 is evenly paced.
    pub collect_burst_map_units: u32,
    /// Idle time in ms before the collector works ahead.
    pub idle_delay_ms: f64,
    /// Share of the spare superblocks that the collector frees in idle time in percent; 0 is none.
    pub idle_free_percent: f64,
}

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No model of that name comes with the program.
    #[error("no model '{name}'; the models are {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Not TOML, or a key is missing, unknown or of the wrong type; the message names it.
    #[error("not a drive model: {0}")]
    Text(String),
    /// A value is outside what the key allows.
    #[error("{key} = {value} is not allowed: {allowed}")]
    Value {
        /// The key with its table.
        key: &'static str,
        /// The value given.
        value: String,
        /// What the key allows.
        allowed: String,
    },
}

impl Model {
    /// The model of [`MODELS`] with this name.
    ///
    /// # Errors
    /// An unknown name lists the known ones.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        let known = || MODELS.iter().map(|m| m.0).collect::<Vec<_>>().join(", ");
        let (_, text) = MODELS
            .iter()
            .find(|m| m.0 == name)
            .ok_or_else(|| ModelError::Unknown { name: name.to_owned(), known: known() })?;
        Self::from_toml(text)
    }

    /// The model that `text` describes.
    ///
    /// # Errors
    /// Names the key and what it allows.
    pub fn from_toml(text: &str) -> Result<Self, ModelError> {
        let model: Self = toml::from_str(text).map_err(|e| ModelError::Text(e.to_string()))?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), ModelError> {
        self.geometry.check()?;
        self.timing.check()?;
        let firmware = &self.firmware;
        whole("firmware.collect_burst_map_units", firmware.collect_burst_map_units.into(), 1, 1 << 20)?;
        whole("firmware.write_buffer_bytes", firmware.write_buffer_bytes, 0, 1 << 40)?;
        number("firmware.idle_delay_ms", firmware.idle_delay_ms, 0.0, 1e9)?;
        number("firmware.idle_free_percent", firmware.idle_free_percent, 0.0, 100.0)
    }
}

impl Geometry {
    fn check(&self) -> Result<(), ModelError> {
        whole("geometry.capacity_bytes", self.capacity_bytes, 64 << 20, 1 << 47)?;
        if ![512, 4096].contains(&self.logical_block_bytes) {
            return Err(wrong(
                "geometry.logical_block_bytes",
                self.logical_block_bytes,
                "512 or 4096".to_owned(),
            ));
        }
        power("geometry.map_unit_bytes", self.map_unit_bytes, self.logical_block_bytes, 1 << 16)?;
        whole("geometry.channels", self.channels.into(), 1, 256)?;
        whole("geometry.dies_per_channel", self.dies_per_channel.into(), 1, 256)?;
        whole("geometry.superblocks", self.superblocks.into(), 16, 1 << 20)?;
        number("geometry.effective_op_percent", self.effective_op_percent, 0.5, 1000.0)?;
        whole("geometry.program_units_per_erase", self.program_units_per_erase.into(), 1, 1 << 20)?;
        let dies = u64::from(self.channels) * u64::from(self.dies_per_channel);
        let most = (self.capacity_bytes / (1 << 10) / dies).min(1 << 20);
        power("geometry.program_unit_bytes", self.program_unit_bytes, self.map_unit_bytes, most as u32)?;
        let slots = self.capacity_bytes as f64 * (1.0 + self.effective_op_percent / 100.0)
            / f64::from(self.map_unit_bytes);
        if slots > 4.0e9 {
            return Err(wrong(
                "geometry.map_unit_bytes",
                self.map_unit_bytes,
                "at most 4e9 map units in the flash".to_owned(),
            ));
        }
        Ok(())
    }
}

impl Timing {
    fn check(&self) -> Result<(), ModelError> {
        number("timing.read_us", self.read_us, 0.1, 1e6)?;
        number("timing.program_us", self.program_us, 0.1, 1e6)?;
        number("timing.program_spread_percent", self.program_spread_percent, 0.0, 90.0)?;
        number("timing.erase_us", self.erase_us, 0.0, 1e6)?;
        number("timing.channel_mb_per_s", self.channel_mb_per_s, 1.0, 1e5)?;
        number("timing.link_mb_per_s", self.link_mb_per_s, 1.0, 1e6)?;
        for (key, value) in [
            ("timing.read_command_us", self.read_command_us),
            ("timing.write_command_us", self.write_command_us),
            ("timing.map_unit_us", self.map_unit_us),
            ("timing.read_latency_us", self.read_latency_us),
            ("timing.write_latency_us", self.write_latency_us),
            ("timing.modify_us", self.modify_us),
        ] {
            number(key, value, 0.0, 1e6)?;
        }
        number("timing.purge_ms", self.purge_ms, 0.0, 1e8)
    }
}

fn wrong(key: &'static str, value: impl ToString, allowed: String) -> ModelError {
    ModelError::Value { key, value: value.to_string(), allowed }
}

fn whole(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), ModelError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(key, value, format!("{least} to {most}")))
}

fn power(key: &'static str, value: u32, least: u32, most: u32) -> Result<(), ModelError> {
    if value.is_power_of_two() && (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(key, value, format!("a power of two from {least} to {most}")))
}

fn number(key: &'static str, value: f64, least: f64, most: f64) -> Result<(), ModelError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(key, value, format!("{least} to {most}")))
}
