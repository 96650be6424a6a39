//! The run file, `run.json`: what was requested, for which device, and on which host. Written once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stdx::units::{amount_base2, amount_base10, count_of};

use crate::{
    Ceiling, DirthChoice, FileSystemFacts, Handling, InjectedFault, Origin, PlanFacts, PowerFacts,
    SaturationChoice, Stated,
};

/// Version of `run.json` written by this build.
pub const RUN_FILE_VERSION: u32 = 1;

/// Everything determined before the first I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// Format version, [`RUN_FILE_VERSION`].
    pub version: u32,
    /// Id of the run and name of its directory.
    pub id: String,
    /// Wall-clock start time in UTC.
    pub created: jiff::Timestamp,
    /// Version of Plateau that started the run.
    pub plateau_version: String,
    /// Git commit of that version, with `-dirty` if the sources were modified; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_commit: Option<String>,
    /// Command line as typed.
    pub command: Vec<String>,
    /// Names of the requested tests, in order.
    pub tests: Vec<String>,
    /// Name of the profile, such as `pts-e-1.0`.
    pub profile: String,
    /// Settings after defaults and options have been applied; `None` for an imported run whose file does not
    /// contain them.
    pub settings: Option<Settings>,
    /// The device under test.
    pub target: TargetFacts,
    /// The host.
    pub host: HostFacts,
    /// Throughput ceiling of one host thread, measured right before the run; `None` for a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Thread placement requested by the operator, in fio's syntax; `None` to let the engine choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Origin of a run that Plateau did not measure; `None` for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Requested treatment of the drive, also used when the run is resumed.
    #[serde(default, skip_serializing_if = "Handling::is_default")]
    pub handling: Handling,
    /// The run's plan; `None` if it was started without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanFacts>,
    /// I/O path requested by the operator; `None` to let the engine choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driving: Option<Driving>,
    /// Concurrent runs on other targets; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent: Option<Concurrent>,
    /// Meter that measures power; `None` if power is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerFacts>,
    /// The file system that contains a target file; `None` for other targets, or if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<FileSystemFacts>,
    /// Name, tags and notes given by the operator.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What the operator says about the tester and the test platform.
    #[serde(default, skip_serializing_if = "Stated::is_empty")]
    pub stated: Stated,
}

/// A run's name, tags and notes, none of which affects its results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Alternative name that can also be used to find the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tags to search for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Remarks, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Labels {
    /// Returns whether the run has no name, tags or notes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The requested I/O path, in fio's terms. The path actually used is in each segment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driving {
    /// `io_uring`, `io_uring_cmd`, `libaio` or `psync`; `None` for the cheapest engine available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ioengine: Option<String>,
    /// Poll for completions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hipri: bool,
    /// Let a kernel thread poll for submissions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sqthread_poll: bool,
}

/// A run's relation to the other runs of a campaign with several targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Concurrent {
    /// Common prefix of the ids of all runs in the campaign.
    pub campaign: String,
    /// The other targets, as typed on the command line.
    pub targets: Vec<String>,
    /// Shared resources that concurrent targets may saturate, as text.
    pub shared: Vec<String>,
}

/// The processors requested for the load threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// These processors: `0-3,8`.
    CpusAllowed(String),
    /// The processors of NUMA nodes, such as `0`.
    NumaCpuNodes(String),
    /// Individual processors, such as `2-3`, assigned because of concurrent runs on other targets.
    Share(String),
}

/// Settings of a run. A run whose settings differ from the profile is "modified".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Thread count (TC) of the test loop.
    pub threads: u16,
    /// Outstanding I/Os per thread (QD) of the test loop.
    pub queue_depth: u16,
    /// Whether the tester chose the thread count or the queue depth, even if the values match the profile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub demand_is_chosen: bool,
    /// Length of a cell in ns.
    pub cell_ns: u64,
    /// Number of rounds after which a test ends if it has not reached steady state.
    pub max_rounds: u32,
    /// Workload-independent preconditioning in multiples of the user capacity.
    pub precondition_capacities: u32,
    /// Percentage of the LBA space that preconditioning may touch (PC AR).
    pub precondition_range_percent: u8,
    /// Percentage of the LBA space that the test may touch (Test AR).
    pub test_range_percent: u8,
    /// Number of bytes in the test range that I/Os may touch (AR Amount); `None` for the whole range.
    pub active_range_amount_bytes: Option<u64>,
    /// Number of segments into which the amount is split (AR Segments); used only if there is an amount.
    pub active_range_segments: u32,
    /// Whether ECW and CBW round I/O sizes up to multiples of the sector size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub composite_fits_sectors: bool,
    /// Workload of DIRTH chosen by the tester.
    #[serde(default, skip_serializing_if = "DirthChoice::is_none")]
    pub dirth: DirthChoice,
    /// Length and workload that the tester chose for WSAT.
    #[serde(default, skip_serializing_if = "SaturationChoice::is_none")]
    pub wsat: SaturationChoice,
    /// Seed for every offset, mix and data buffer.
    pub seed: u64,
    /// Settings that have no field of their own, by name. The value is parsed by the test that uses the
    /// setting.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further: BTreeMap<String, String>,
}

/// Kind of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A block device.
    Block,
    /// A regular file.
    File,
    /// A simulated drive.
    Simulated,
    /// The drive of an imported run; Plateau had no access to it.
    Imported,
}

/// Properties of the device under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFacts {
    /// Kind of target.
    pub kind: TargetKind,
    /// The target as typed on the command line, such as `/dev/nvme0n1` or `sim:sas-slc-2011`; for a file, its
    /// absolute path. Empty (null in the file) if an imported file does not contain it.
    #[serde(with = "crate::unknown_wire::text")]
    pub path: String,
    /// The identity to type as confirmation that the data may be erased. It must be the same when the run is
    /// resumed. Empty (null in the file) for an imported run.
    #[serde(with = "crate::unknown_wire::text")]
    pub identity: String,
    /// For a device: the boot id and the kernel's disk sequence number, if known, which distinguish this
    /// attachment from later ones. For a file: the device, inode number and birth time, which distinguish it from
    /// a file that replaced it.
    pub attachment: Option<String>,
    /// Vendor, if known.
    pub vendor: Option<String>,
    /// Model, if known.
    pub model: Option<String>,
    /// Serial number, if known.
    pub serial: Option<String>,
    /// Firmware revision, if known.
    pub firmware: Option<String>,
    /// Interface, such as `NVMe` or `6 Gb/s SAS`, if known.
    pub interface: Option<String>,
    /// NAND type, if known.
    pub nand: Option<String>,
    /// User capacity in bytes; 0 (null in the file) if an imported file does not contain it. This also applies to
    /// the sector sizes.
    #[serde(with = "crate::unknown_wire::number")]
    pub capacity_bytes: u64,
    /// Logical block size in bytes.
    #[serde(with = "crate::unknown_wire::number")]
    pub logical_block_bytes: u32,
    /// Physical block size in bytes.
    #[serde(with = "crate::unknown_wire::number")]
    pub physical_block_bytes: u32,
    /// Whether the kernel reports the device as rotational; `None` for files and simulated drives.
    pub rotational: Option<bool>,
    /// Properties of a simulated drive; `None` for other targets.
    pub simulated: Option<SimulatedFacts>,
    /// Properties of an array of drives; `None` for other targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayFacts>,
}

impl TargetFacts {
    /// Returns a string that identifies the drive: the serial number, or the identity of a target without one. For a
    /// simulated drive, the seed takes the place of the serial number.
    #[must_use]
    pub fn drive(&self) -> String {
        if let Some(simulated) = &self.simulated {
            return format!("sim:{} seed {}", simulated.model, simulated.seed);
        }
        let serial = self.serial.as_ref().filter(|serial| !serial.trim().is_empty());
        // Results from other tools do not contain an identity.
        let identity = Some(&self.identity).filter(|identity| !identity.is_empty());
        serial.or(identity).or(self.model.as_ref()).unwrap_or(&self.path).clone()
    }
}

/// An array that is created for each test, with its member drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayFacts {
    /// The program that creates the array: `mdadm`, or the tool of a RAID controller (`storcli`, `perccli`).
    pub controller: String,
    /// RAID level: 0, 1, 5, 6 or 10.
    pub level: u8,
    /// Chunk size in bytes; `None` for level 1.
    pub chunk_bytes: Option<u64>,
    /// Whether the array has a write-intent bitmap on its members.
    pub bitmap: bool,
    /// Cache settings passed to a RAID controller; `None` for software RAID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<String>,
    /// The member drives, in array order.
    pub members: Vec<MemberFacts>,
}

/// A member drive of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberFacts {
    /// Path from the array description or, for a RAID controller, the drive's address, such as `/c0/e252/s0`.
    pub path: String,
    /// The identity to type as confirmation that the data may be erased. It must be the same when the run is
    /// resumed.
    pub identity: String,
    /// Vendor, if known.
    pub vendor: Option<String>,
    /// Model, if known.
    pub model: Option<String>,
    /// Serial number, if known.
    pub serial: Option<String>,
    /// Firmware revision, if known.
    pub firmware: Option<String>,
    /// Interface, if known.
    pub interface: Option<String>,
    /// User capacity in bytes.
    pub capacity_bytes: u64,
}

impl ArrayFacts {
    /// Describes the array briefly: `RAID 5 of 3 drives, chunks of 64 KiB`.
    #[must_use]
    pub fn words(&self) -> String {
        let chunk = self.chunk_bytes.map(|bytes| format!(", chunks of {}", amount_base2(bytes)));
        let bitmap = if self.bitmap { ", with a bitmap" } else { "" };
        let policies = self.policies.as_deref().map(|policies| format!(", {policies}")).unwrap_or_default();
        let chunk = chunk.unwrap_or_default();
        let drives = count_of(self.members.len(), "drive");
        format!("RAID {} of {drives}{chunk}{bitmap}{policies}", self.level)
    }
}

impl MemberFacts {
    /// Formats the model, identity and size: `SN720, 1924E4, 256 GB`.
    #[must_use]
    pub fn words(&self) -> String {
        let model = self.model.as_deref().map(|model| format!("{model}, ")).unwrap_or_default();
        format!("{model}{}, {}", self.identity, amount_base10(self.capacity_bytes))
    }
}

/// The label that simulated results must carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedFacts {
    /// Name of the model.
    pub model: String,
    /// Version of the model.
    pub model_version: u32,
    /// Divisor of the capacity and of all durations.
    pub scale_divisor: u32,
    /// Seed for the simulation.
    pub seed: u64,
    /// Injected faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<InjectedFault>,
}

/// Facts about the host; values that the kernel does not report are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    /// Processor model.
    pub cpu: Option<String>,
    /// Number of processors that the kernel's scheduler can use.
    pub cpus: Option<u32>,
    /// Microcode revision of the processor.
    pub microcode: Option<String>,
    /// Board vendor and name.
    pub board: Option<String>,
    /// Version of the BIOS.
    pub bios_version: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Command line of the kernel.
    pub kernel_command_line: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// The target's I/O scheduler.
    pub scheduler: Option<String>,
    /// PCIe link of the target: speed and width.
    pub pcie_link: Option<String>,
}

impl RunFile {
    /// Returns the factor by which the capacity and durations of a scaled simulated drive are divided; 1 for
    /// real targets.
    #[must_use]
    pub fn scale_divisor(&self) -> u32 {
        self.target.simulated.as_ref().map_or(1, |sim| sim.scale_divisor)
    }
}
