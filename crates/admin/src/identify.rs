//! The identity of an NVMe namespace, from its Identify pages.

use crate::wire::nvme::{Controller, Namespace};

pub use crate::wire::nvme::IDENTIFY_BYTES;

/// The identity that an NVMe namespace reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceIdentity {
    /// Globally unique identifier of the namespace.
    pub nguid: Option<String>,
    /// IEEE extended unique identifier of the namespace.
    pub eui64: Option<String>,
    /// Size of the namespace in blocks of the current format.
    pub size_blocks: u64,
}

/// Block layout of an NVMe namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLayout {
    /// Length of a block without metadata.
    pub block_bytes: u64,
    /// Whether blocks carry metadata or protection information.
    pub has_metadata: bool,
}

/// Decodes the serial number in Identify Controller.
#[must_use]
pub fn serial_of_controller(page: &[u8; IDENTIFY_BYTES]) -> Option<String> {
    Controller::decode(page).serial
}

/// Returns the optional commands that a controller supports (ONCS; Base 2.0c, figure 275), one bit each.
#[must_use]
pub fn optional_commands(page: &[u8; IDENTIFY_BYTES]) -> u16 {
    u16::from_le_bytes([page[520], page[521]])
}

/// Decodes Identify Namespace; the layout is `None` if the current format is not listed.
#[must_use]
pub fn namespace(page: &[u8; IDENTIFY_BYTES]) -> (NamespaceIdentity, Option<BlockLayout>) {
    let Namespace { nguid, eui64, size_blocks, format, protection, formats, .. } = Namespace::decode(page);
    let current = formats.iter().find(|known| known.index == format);
    let layout = current.map(|format| BlockLayout {
        block_bytes: format.block_bytes,
        has_metadata: format.metadata_bytes > 0 || protection > 0,
    });
    (NamespaceIdentity { nguid, eui64, size_blocks }, layout)
}
