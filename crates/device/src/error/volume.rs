//! Errors concerning volumes on a RAID controller.

/// A volume on a RAID controller is in an unexpected state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VolumeError {
    /// The volume no longer exists.
    #[error("the volume {0} no longer exists")]
    Gone(String),
    /// The name of the volume is in use.
    #[error("a volume {0} already exists")]
    Exists(String),
    /// Two volumes have the same name.
    #[error("there are two volumes named {name} on {controller}")]
    Two {
        /// The name that both volumes have.
        name: String,
        /// Address of the controller.
        controller: String,
    },
    /// The volume was created but does not exist.
    #[error("the controller reported that {0} was created, but it does not exist")]
    NotCreated(String),
    /// The volume was deleted but still exists.
    #[error("the controller reported that the volume {0} was deleted, but it still exists")]
    NotDeleted(String),
    /// The volume contains a drive that is not a member.
    #[error(
        "the volume {name} contains the drive in slot {slot}, which was not one of its members, so it is left alone"
    )]
    StrangeDrive {
        /// Name of the volume.
        name: String,
        /// Slot of the drive.
        slot: String,
    },
    /// Creating the volume changed another volume.
    #[error("the volume {number} of {size} ('{name}') changed while {created} was created")]
    OtherChanged {
        /// Number of the other volume.
        number: u32,
        /// Size of the other volume, as reported.
        size: String,
        /// Name of the other volume.
        name: String,
        /// Name of the created volume.
        created: String,
        /// The controller's program.
        program: &'static str,
        /// Number of the controller.
        adapter: u32,
    },
    /// The volume consists of drives other than the planned ones.
    #[error("{name} was created from {} instead of {}", .found.join(", "), .planned.join(", "))]
    Drives {
        /// Name of the volume.
        name: String,
        /// Slots of the actual drives.
        found: Vec<String>,
        /// Slots of the planned drives.
        planned: Vec<String>,
    },
    /// The volume has the wrong RAID level.
    #[error("{name} was created as {found} instead of RAID{planned}")]
    Level {
        /// Name of the volume.
        name: String,
        /// RAID level as reported.
        found: String,
        /// The planned level.
        planned: u8,
    },
    /// The volume has the wrong cache policy.
    #[error("{name} has the cache policy {found} instead of {planned}")]
    Cache {
        /// Name of the volume.
        name: String,
        /// Cache policy as reported.
        found: String,
        /// The planned policies.
        planned: String,
    },
    /// The volume has no world-wide name.
    #[error(
        "the controller does not report the world-wide name of the volume {0}, so its block device cannot be \
         identified reliably"
    )]
    NoWorldWideName(String),
    /// Several block devices have the volume's world-wide name.
    #[error("{} all claim to be the volume {name} ({wwid}), so it has several paths", .devices.join(" and "))]
    SeveralPaths {
        /// Name of the volume.
        name: String,
        /// Its world-wide name.
        wwid: String,
        /// Kernel names of the block devices.
        devices: Vec<String>,
    },
    /// The volume has no block device.
    #[error("the volume {name} (naa.{naa}) did not appear as a block device within 30 s")]
    NotAppeared {
        /// Name of the volume.
        name: String,
        /// Its world-wide name.
        naa: String,
    },
    /// The controller's program names another block device for the volume.
    #[error(
        "{node} has the name of the volume {name}, but the controller's program reports it as {reported}"
    )]
    ReportedElsewhere {
        /// The block device that has the world-wide name of the volume.
        node: String,
        /// Name of the volume.
        name: String,
        /// The block device that the program names.
        reported: String,
    },
    /// A block device does not belong to the volume.
    #[error(
        "{node} is {} instead of the volume {name} ({naa}); nothing was written to it",
        .wwid.as_deref().unwrap_or("without a world-wide name")
    )]
    OtherDevice {
        /// The block device.
        node: String,
        /// World-wide name of the block device, if reported.
        wwid: Option<String>,
        /// Name of the volume.
        name: String,
        /// World-wide name of the volume; empty if not reported.
        naa: String,
    },
    /// The status of a background operation is not reported.
    #[error("{path} show {operation}: the controller does not report whether it is in progress")]
    OperationUnreported {
        /// Address of the volume.
        path: String,
        /// The operation, under the name that the program uses.
        operation: &'static str,
    },
}
