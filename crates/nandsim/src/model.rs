//! Drive models: TOML files with units in their keys.

mod check;
mod interface;
mod text;

use serde::{Deserialize, Serialize};

pub use interface::{Interface, Pcie};

use crate::fit::{Figure, Row, Score};

/// The built-in models: name and TOML text.
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

/// A class of drives, not a particular drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Short name, such as `sas-slc-2011`.
    pub name: String,
    /// A one-sentence description.
    pub description: String,
    /// The PTS that applies to the drive.
    pub class: Class,
    /// The interface.
    pub interface: Interface,
    /// Kind of NAND, as printed in reports, such as `SLC`.
    pub nand: String,
    /// Version of the parameters, which increases whenever the model's behaviour changes.
    pub version: u32,
    /// Faults to inject, in the syntax of [`FAULT_GRAMMAR`](crate::FAULT_GRAMMAR).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Known differences from real drives of this class, one line each.
    #[serde(default)]
    pub misfits: Vec<String>,
    /// The calibration of the parameters.
    #[serde(default)]
    pub calibration: Calibration,
    /// Sizes.
    pub geometry: Geometry,
    /// Timing.
    pub timing: Timing,
    /// Firmware policies.
    pub firmware: Firmware,
    /// SLC cache: written with one bit per cell and later folded into the other flash; `None` if the file has
    /// no such table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Hybrid translation layer: coarse granules with a log in front of them; `None` if the file has no such
    /// table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<Hybrid>,
    /// Thermal behaviour.
    #[serde(default)]
    pub thermal: Thermal,
}

/// The measurements that a model was fitted to, and the quality of the fit; empty for an uncalibrated model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The measurements, the measured drives, and which part of the data was used for the fit.
    #[serde(default)]
    pub source: String,
    /// Target for the median error of all cells, in percent; 0 for none.
    #[serde(default)]
    pub aim_percent: f64,
    /// Scores of the cells at several scales, the first of which was used for the fit.
    #[serde(default)]
    pub scores: Vec<Score>,
    /// The cells of the IOPS test, at the scale of the first score.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// The other measured figures, at the scale of the first score.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Further notes, one line each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The market of a drive, which determines the PTS that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// PTS-E.
    Enterprise,
    /// PTS-C.
    Client,
}

/// A drive's sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// User capacity in bytes; on a scaled drive, it is rounded down to a MiB.
    pub capacity_bytes: u64,
    /// Smallest addressable block in bytes: 512 or 4096.
    pub logical_block_bytes: u32,
    /// Bytes per entry of the mapping table, a power of two; smaller writes are read-modify-write.
    pub map_unit_bytes: u32,
    /// Bytes programmed at a time on a die (all planes): a power of two, at least one map unit.
    pub program_unit_bytes: u32,
    /// Number of flash channels.
    pub channels: u16,
    /// Number of dies on each channel.
    pub dies_per_channel: u16,
    /// Number of superblocks (erase groups across all dies) at scale 1, not counting the reserve; a scaled
    /// drive has fewer superblocks of the same size, but at least 1024.
    pub superblocks: u32,
    /// Flash beyond the user capacity and the collector's reserve, in percent of the capacity.
    pub effective_op_percent: f64,
    /// Number of program units freed by one erase on a die, which determines the number of erases per
    /// superblock.
    pub program_units_per_erase: u32,
    /// Rated erases (P/E cycles) of each block.
    #[serde(default = "rated_erases")]
    pub rated_erases: u32,
}

fn rated_erases() -> u32 {
    3000
}

/// A drive's timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Time to sense a page in us.
    pub read_us: f64,
    /// Time to program a program unit in us.
    pub program_us: f64,
    /// Half-width of the uniform spread of the program time in percent.
    pub program_spread_percent: f64,
    /// Time to erase a block in us.
    pub erase_us: f64,
    /// Throughput of each flash channel in MB/s.
    pub channel_mb_per_s: f64,
    /// Whether a die is busy until its data has been transferred (no cache register).
    pub die_held_through_transfer: bool,
    /// Throughput of the host link in MB/s.
    pub link_mb_per_s: f64,
    /// Whether the link is full-duplex.
    pub link_full_duplex: bool,
    /// Serial controller time per read command in us.
    pub read_command_us: f64,
    /// Serial controller time per write command in us.
    pub write_command_us: f64,
    /// Serial controller time per map unit in a command, in us.
    pub map_unit_us: f64,
    /// Fixed latency of a read in us, in addition to queueing.
    pub read_latency_us: f64,
    /// Fixed latency of a write in us, in addition to queueing.
    pub write_latency_us: f64,
    /// Die time in us that a read-modify-write takes in addition to a plain read.
    pub modify_us: f64,
    /// Whether a write smaller than a map unit completes before the remainder of its unit is read; if so, the
    /// read-modify-write happens in the background.
    #[serde(default)]
    pub modify_in_background: bool,
    /// Duration of a purge in ms.
    pub purge_ms: f64,
    /// Overhead in us of a read that suspends a program operation instead of waiting for it; 0 disables
    /// suspension.
    #[serde(default)]
    pub program_suspend_us: f64,
    /// Maximum number of suspensions per program operation.
    #[serde(default = "program_suspends")]
    pub program_suspends: u32,
    /// Whether a die senses the next page during a transfer, so that sequential reads wait only for the transfers.
    #[serde(default)]
    pub read_ahead: bool,
}

fn program_suspends() -> u32 {
    4
}

/// A drive's firmware policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Size of the write buffer in bytes; increased to two program units per die if it is smaller.
    pub write_buffer_bytes: u64,
    /// Whether the buffer loses its contents on a power loss; if so, it is a write cache that can be
    /// disabled. Writes to a non-volatile buffer always complete from the buffer.
    #[serde(default)]
    pub volatile_buffer: bool,
    /// Bytes of the mapping table that the drive writes to flash per write command of any size, because a random
    /// write changes a page of the table. These writes take die time but no space; 0 for no such writes.
    #[serde(default)]
    pub map_bytes_per_write: f64,
    /// Number of map units that the collector copies at a time; 1 spreads the copies evenly.
    pub collect_burst_map_units: u32,
    /// Idle time in ms before the collector starts to work ahead.
    pub idle_delay_ms: f64,
    /// Share of the spare superblocks that the collector frees in idle time, in percent; 0 for none.
    pub idle_free_percent: f64,
    /// Policy that the collector uses to choose the next superblock.
    #[serde(default)]
    pub victim_policy: VictimPolicy,
    /// Share of the superblocks without garbage that `ring` skips, in percent.
    #[serde(default)]
    pub ring_skips_percent: f64,
    /// Number of superblocks, oldest first, from which `windowed` chooses.
    #[serde(default = "victim_window")]
    pub victim_window: u32,
}

fn victim_window() -> u32 {
    256
}

/// Policy that the collector uses to choose the next superblock; only `Ring` may choose one without garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VictimPolicy {
    /// The superblock with the fewest valid map units.
    #[default]
    Greedy,
    /// The oldest superblock.
    Fifo,
    /// Among the oldest superblocks, the one with the fewest valid map units.
    Windowed,
    /// A superblock without valid data, if there is one; otherwise the oldest superblock, with or without
    /// garbage. All blocks wear evenly, but static data is copied repeatedly.
    Ring,
}

/// SLC cache: it takes the host's writes while it has room, and is folded into the other flash while few
/// program operations are outstanding, or in idle time. The cache is in addition to the other flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Size in bytes; at least two superblocks.
    pub bytes: u64,
    /// Time to program a program unit in us.
    pub program_us: f64,
    /// Time to sense a page in us.
    pub read_us: f64,
    /// Used share of the cache, in percent, above which it is folded under load.
    pub fold_from_percent: f64,
    /// Number of outstanding program operations below which the cache is folded under load; 0 to fold only in
    /// idle time.
    pub fold_below_programs: u32,
}

/// A translation layer of coarse granules, with a log of single map units in front of them. The log takes
/// writes smaller than a granule as long as there is erased flash that the granules and their spare share do
/// not need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hybrid {
    /// Bytes written as a unit: a power of two, at least two map units.
    pub granule_bytes: u32,
    /// Maximum size of the log in bytes of flash; 0 for no log.
    pub log_bytes: u64,
    /// Serial controller time in us to read, modify and write a granule.
    pub modify_us: f64,
    /// Serial controller time in us to merge a granule from the log.
    pub merge_us: f64,
}

/// How a drive heats up under load, and when it throttles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// Temperature of an idle drive in degrees Celsius.
    pub rest_c: f64,
    /// Temperature rise in degrees Celsius per GB/s of host transfers and flash programs combined.
    pub rise_c_per_gb_per_s: f64,
    /// Time constant in seconds: the time after which a change in load has had 63 percent of its effect.
    pub time_constant_s: f64,
    /// Temperature above which the drive throttles; 0 for never.
    pub throttle_c: f64,
    /// Rate of host transfers while throttled, in MB/s; throttling ends 3 degrees below `throttle_c`.
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

/// Why a model could not be loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// There is no built-in model with this name.
    #[error("no model '{name}'; available models: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The available names.
        known: String,
    },
    /// The text is not TOML, or a key is missing, unknown or of the wrong type; the message names the key.
    #[error("not a drive model: {0}")]
    Text(String),
    /// A value is outside the allowed range.
    #[error("{key} = {value} is not allowed: {allowed}")]
    Value {
        /// The key, including its table.
        key: &'static str,
        /// The rejected value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
}
