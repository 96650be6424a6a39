//! The settings of an array on a RAID controller.

use serde::{Deserialize, Serialize};

/// Settings for a RAID controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hardware {
    pub(crate) program: Program,
    /// Number of the controller: 0 in `/c0`.
    pub(crate) adapter: u32,
    /// Serial numbers of the members, in array order.
    pub(crate) serials: Vec<String>,
    pub(crate) write: Write,
    pub(crate) read_ahead: bool,
    pub(crate) cached: bool,
    pub(crate) drive_cache: DriveCache,
    pub(crate) purge: Purge,
}

/// The program that manages the controller; `storcli` and `perccli` have the same syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Program {
    StorCli,
    PercCli,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Write {
    #[default]
    Through,
    Back,
    /// Write-back caching even without a battery.
    AlwaysBack,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DriveCache {
    #[default]
    Default,
    On,
    Off,
}

/// How the controller purges a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Purge {
    /// Not at all.
    #[default]
    None,
    /// One overwrite pass.
    Simple,
    /// Replaces the encryption key of a self-encrypting drive.
    Crypto,
}

impl Hardware {
    /// Returns the minimal settings needed to find the drives again.
    pub(super) fn of_serials(program: Program, adapter: u32, serials: Vec<String>) -> Self {
        Self {
            program,
            adapter,
            serials,
            write: Write::default(),
            read_ahead: false,
            cached: false,
            drive_cache: DriveCache::default(),
            purge: Purge::default(),
        }
    }

    /// Describes the settings, as text that follows the RAID level and the members.
    pub(crate) fn words(&self) -> String {
        let write = match self.write {
            Write::Through => "write through",
            Write::Back => "write back",
            Write::AlwaysBack => "always write back",
        };
        let read = if self.read_ahead { "read ahead" } else { "no read ahead" };
        let io = if self.cached { "cached I/O" } else { "direct I/O" };
        let drives = match self.drive_cache {
            DriveCache::Default => "drive caches as set by the controller",
            DriveCache::On => "drive caches on",
            DriveCache::Off => "drive caches off",
        };
        format!("{write}, {read}, {io}, {drives}")
    }
}

/// Derives the volume name from the identifier. Controllers accept 15 characters.
pub(super) fn volume_name(uuid: &str) -> String {
    let digits: String = uuid.chars().filter(char::is_ascii_hexdigit).take(13).collect();
    format!("pl{digits}")
}

/// Converts `/c0/e252/s0` back to its slot: `252:0`.
pub(super) fn slot_of(address: &str) -> String {
    let parts: Vec<&str> = address.split('/').skip(2).filter_map(|part| part.get(1..)).collect();
    parts.join(":")
}
