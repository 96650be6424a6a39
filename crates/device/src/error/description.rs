//! Errors in the description of an array.

/// What is wrong with an array's description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// Invalid TOML, or a key that is missing, unknown or of the wrong type; the message names it.
    #[error("{0}")]
    Toml(String),
    /// The RAID level is not supported.
    #[error("unsupported RAID level {0}; use 0, 1, 5, 6 or 10")]
    Level(u8),
    /// Too few members.
    #[error("RAID {level}{} needs at least {least} members, but the description lists {count}", on(*.on_controller))]
    TooFew {
        /// RAID level.
        level: u8,
        /// Whether a RAID controller creates the array.
        on_controller: bool,
        /// Minimum number of members.
        least: usize,
        /// Number of members.
        count: usize,
    },
    /// The number of members is odd.
    #[error(
        "RAID {level} on a controller needs an even number of members, but the description lists {count}"
    )]
    Odd {
        /// RAID level.
        level: u8,
        /// Number of members.
        count: usize,
    },
    /// RAID 1 has no chunks.
    #[error("RAID 1 has no chunks; remove chunk_kib")]
    NoChunks,
    /// The chunk size is not valid.
    #[error("{key} {kib}: it must be a power of two from {least} to {most}")]
    Chunk {
        /// Name of the key.
        key: &'static str,
        /// Chunk size in the description.
        kib: u32,
        /// Least value.
        least: u32,
        /// Largest value.
        most: u32,
    },
    /// RAID 0 has no bitmap.
    #[error("RAID 0 has no bitmap; remove it")]
    NoBitmap,
    /// A member is listed twice.
    #[error("{0} is listed twice")]
    Twice(String),
    /// A drive on a controller is listed twice.
    #[error("{serial} in slot {slot} is listed twice")]
    DriveTwice {
        /// Serial number.
        serial: String,
        /// Enclosure and slot.
        slot: String,
    },
    /// Not a slot.
    #[error("slot '{0}': use enclosure:slot, such as \"252:0\"")]
    Slot(String),
    /// The serial number of a drive is missing.
    #[error("slot {0}: the serial number of its drive is missing")]
    NoSerial(String),
}

const fn on(controller: bool) -> &'static str {
    if controller { " on a controller" } else { "" }
}
