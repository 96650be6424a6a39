//! What a drive is made of, as a TOML text with units in its keys.

mod check;

use serde::{Deserialize, Serialize};

use crate::fit::{Figure, Score};

/// The models that come with this crate: name and TOML text.
pub const MODELS: &[(&str, &str)] = &[
    ("sas-slc-2011", include_str!("../models/sas-slc-2011.toml")),
    ("sas-slc-fast-2011", include_str!("../models/sas-slc-fast-2011.toml")),
    ("sata-mlc-2011", include_str!("../models/sata-mlc-2011.toml")),
    ("sata-mlc-hybrid-2011", include_str!("../models/sata-mlc-hybrid-2011.toml")),
    ("sata-eslc-2012", include_str!("../models/sata-eslc-2012.toml")),
    ("nvme-tlc-2018", include_str!("../models/nvme-tlc-2018.toml")),
    ("nvme-tlc-enterprise-2024", include_str!("../models/nvme-tlc-enterprise-2024.toml")),
    ("nvme-qlc-2024", include_str!("../models/nvme-qlc-2024.toml")),
];

/// A class of drive, never one real drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Faults to be laid over the drive, as [`FAULT_GRAMMAR`](crate::FAULT_GRAMMAR) has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Where the model is known to differ from drives of its class, one line each.
    #[serde(default)]
    pub misfits: Vec<String>,
    /// What the parameters were fitted to and how well.
    #[serde(default)]
    pub calibration: Calibration,
    /// Sizes.
    pub geometry: Geometry,
    /// Speeds.
    pub timing: Timing,
    /// Policy of the drive's own software.
    pub firmware: Firmware,
    /// Flash that is written one bit per cell and folded into the rest later; none without the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Coarse granules behind a log, the second kind of translation layer; none without the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<Hybrid>,
    /// Warmth.
    #[serde(default)]
    pub thermal: Thermal,
}

/// What a model was fitted to and how well; all empty for a model that was fitted to nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What was measured, on what, and what of it was fitted.
    #[serde(default)]
    pub source: String,
    /// Median error of all cells that the class shall not pass in percent; 0 is no aim.
    #[serde(default)]
    pub aim_percent: f64,
    /// The cells at some scales; the first one was fitted.
    #[serde(default)]
    pub scores: Vec<Score>,
    /// The other measured figures at the scale of the first score.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// What else is to be said, one line each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Market that a drive is made for, which decides the PTS that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// PTS-E.
    Enterprise,
    /// PTS-C.
    Client,
}

/// Sizes of a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Erases of each block that the drive is rated for.
    #[serde(default = "rated_erases")]
    pub rated_erases: u32,
}

fn rated_erases() -> u32 {
    3000
}

/// Speeds of a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Whether a write below the map unit ends before the rest of its unit was read, which then happens behind
    /// it.
    #[serde(default)]
    pub modify_behind: bool,
    /// A purge in ms.
    pub purge_ms: f64,
    /// What a read costs that suspends a program instead of waiting for it in us; 0 is no suspension.
    #[serde(default)]
    pub program_suspend_us: f64,
    /// How often one program is suspended at most.
    #[serde(default = "program_suspends")]
    pub program_suspends: u32,
    /// Whether a die senses the next page while it transfers one, so that reads in order only wait for
    /// the transfers.
    #[serde(default)]
    pub read_ahead: bool,
}

fn program_suspends() -> u32 {
    4
}

/// Policy of the drive's own software.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Write buffer in bytes; never less than two program units per die.
    pub write_buffer_bytes: u64,
    /// Whether a loss of power would lose what is in the buffer: then it is a write cache that can be switched
    /// off. A buffer that outlives it always answers.
    #[serde(default)]
    pub volatile_buffer: bool,
    /// Bytes of its mapping table that the drive writes to its flash for each write command, however long
    /// that is: a random write changes a page of the table. They take the time of dies, but no space. 0 is none.
    #[serde(default)]
    pub map_bytes_per_write: f64,
    /// Map units that the collector copies in one go; 1 is evenly paced.
    pub collect_burst_map_units: u32,
    /// Idle time in ms before the collector works ahead.
    pub idle_delay_ms: f64,
    /// Share of the spare superblocks that the collector frees in idle time in percent; 0 is none.
    pub idle_free_percent: f64,
    /// Which superblock the collector empties next.
    #[serde(default)]
    pub victim_policy: VictimPolicy,
    /// Share of the superblocks without garbage that a `ring` passes over in percent.
    #[serde(default)]
    pub ring_skips_percent: f64,
    /// Oldest superblocks that `windowed` chooses from.
    #[serde(default = "victim_window")]
    pub victim_window: u32,
}

fn victim_window() -> u32 {
    256
}

/// Which superblock the collector empties next; only a ring takes one without garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VictimPolicy {
    /// The one with the fewest valid map units.
    #[default]
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// The one with the fewest valid map units of the oldest.
    Windowed,
    /// The one that was filled first, garbage or not: every block takes its turn, so that all wear alike and
    /// data that never changes is copied again and again.
    Ring,
}

/// Flash that is written one bit per cell: the host's writes go there while there is room, and are folded
/// into the rest when few programs wait, or in idle time. It is on top of the other flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Size in bytes; at least two superblocks.
    pub bytes: u64,
    /// Programming a program unit in us.
    pub program_us: f64,
    /// Sensing a page in us.
    pub read_us: f64,
    /// Share of the cache in use in percent from which on it is folded under load.
    pub fold_from_percent: f64,
    /// Programs waiting or running, below which it is folded under load; 0 folds in idle time only.
    pub fold_below_programs: u32,
}

/// A translation layer of coarse granules behind a log of single map units. The log takes writes that are
/// smaller than a granule while erased flash is left beside the granules and their spare share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hybrid {
    /// What is written as one, in bytes: a power of two, at least two map units.
    pub granule_bytes: u32,
    /// Most bytes of flash that the log takes; 0 is no log.
    pub log_bytes: u64,
    /// Serial work of the controller in us for a granule that is read, modified and written.
    pub modify_us: f64,
    /// Serial work of the controller in us for a granule that is merged out of the log.
    pub merge_us: f64,
}

/// How a drive warms up with its work, and what it does then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// Temperature of the drive without work in degrees Celsius.
    pub rest_c: f64,
    /// Rise for each GB/s moved over the link and programmed into flash together in degrees.
    pub rise_c_per_gb_per_s: f64,
    /// Seconds in which a new load has taken 63 percent of its effect.
    pub time_constant_s: f64,
    /// Temperature from which on the drive holds itself to the rate below; 0 is never.
    pub throttle_c: f64,
    /// Rate of the host's transfers while it is too warm in MB/s; the throttle ends 3 degrees lower.
    pub throttle_mb_per_s: f64,
}

impl Default for Thermal {
    fn default() -> Self {
        Self {
            rest_c: 32.0,
            rise_c_per_gb_per_s: 12.0,
            time_constant_s: 300.0,
            throttle_c: 0.0,
            throttle_mb_per_s: 100.0,
        }
    }
}

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No model of that name comes with the program.
    #[error("no model '{name}'; available models: {known}")]
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

/// What is wrong, in a line, and where: a missing key is nowhere, but its table is.
fn place_and_problem(text: &str, error: &toml::de::Error) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return error.message().to_owned();
    };
    let line = before.matches('\n').count();
    let is_table = |line: &&str| line.starts_with('[');
    let table = text.lines().take(line + 1).filter(is_table).last();
    let table = table.map_or_else(String::new, |name| format!(", in {}", name.trim_end()));
    let key = text.lines().nth(line).and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
    let key = key.map_or_else(String::new, |key| format!("{key}: "));
    format!("line {}{table}: {key}{}", line + 1, error.message())
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
        let model: Self = toml::from_str(text).map_err(|e| ModelError::Text(place_and_problem(text, &e)))?;
        model.check()?;
        Ok(model)
    }

    /// The model as a TOML text that [`from_toml`](Self::from_toml) takes.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a model has only what TOML can say")
    }
}
