//! What was asked, of which device, on which host: `run.json`, written once.

use serde::{Deserialize, Serialize};
use stdx::units::{amount_base2, amount_base10};

use crate::{Ceiling, Handling, Origin, PlanFacts};

/// Version of `run.json` that this build writes.
pub const RUN_FILE_VERSION: u32 = 1;

/// Everything that was fixed before the first I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// Format version, [`RUN_FILE_VERSION`].
    pub version: u32,
    /// The run's id, also the name of its directory.
    pub id: String,
    /// Wall-clock start with zone.
    pub created: jiff::Timestamp,
    /// Version of Plateau that ran it.
    pub plateau_version: String,
    /// Git commit that it was built from, with `-dirty` if its sources differed; none if it does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_commit: Option<String>,
    /// Command line as given.
    pub command: Vec<String>,
    /// Tests by name, in order.
    pub tests: Vec<String>,
    /// Profile by name, such as `pts-e-1.0`.
    pub profile: String,
    /// Settings after defaults and options.
    pub settings: Settings,
    /// The device under test.
    pub target: TargetFacts,
    /// The machine.
    pub host: HostFacts,
    /// What one thread of it can do at most, measured right before the run; none for a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Where the operator wants the threads of the load, in fio's words; by the engine's choice when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Set for runs that Plateau did not measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// How the drive itself is treated; a resumed run goes on in the same way.
    #[serde(default, skip_serializing_if = "Handling::is_default")]
    pub handling: Handling,
    /// The plan that it was begun by; none for a command line without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanFacts>,
    /// How the operator wants I/Os to get into the kernel; by the engine's choice when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driving: Option<Driving>,
    /// Runs that go on at the same time on other targets; none when it is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// What the operator calls the run.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// What the operator calls a run. Nothing is decided on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Another name for the run, which also finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Remarks, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Labels {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How I/Os get into the kernel, as it was asked for, in fio's words. What was done says every segment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driving {
    /// `io_uring`, `io_uring_cmd`, `libaio` or `psync`; the lightest when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ioengine: Option<String>,
    /// Completions are polled for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hipri: bool,
    /// Submissions are polled for by a thread of the kernel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sqthread_poll: bool,
}

/// A run's place in a campaign over several targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// What the ids of all its runs begin with.
    pub campaign: String,
    /// The other targets, as typed.
    pub targets: Vec<String>,
    /// What the targets share and together may saturate, in words.
    pub shared: Vec<String>,
}

/// Processors for the threads of the load, as they were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// These processors: `0-3,8`.
    CpusAllowed(String),
    /// The processors of these NUMA nodes: `0`.
    NumaCpuNodes(String),
    /// These processors, because runs on other targets go on at the same time: `2-3`.
    Share(String),
}

/// Settings of a run; where they depart from the profile the run is "modified".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Thread count (TC) of the test loop.
    pub threads: u16,
    /// Outstanding I/Os per thread (QD) of the test loop.
    pub queue_depth: u16,
    /// Length of one cell in ns.
    pub cell_ns: u64,
    /// Rounds after which a test without steady state ends.
    pub max_rounds: u32,
    /// Workload-independent preconditioning in multiples of the user capacity.
    pub precondition_capacities: u32,
    /// Share of the LBA space that preconditioning may touch, in percent (PC AR).
    pub precondition_range_percent: u8,
    /// Share of the LBA space that the test may touch, in percent (Test AR).
    pub test_range_percent: u8,
    /// LBA space touched within the test range in bytes; all of it when none (AR Amount).
    pub active_range_amount_bytes: Option<u64>,
    /// Pieces the amount is split into; used only with an amount (AR Segments).
    pub active_range_segments: u32,
    /// ECW and CBW on a device with large sectors: I/Os that are no multiple of them get the smallest possible size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub composite_fits_sectors: bool,
    /// Seed of every offset, mix and data buffer.
    pub seed: u64,
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
    /// A drive that Plateau never saw: its run is imported.
    Imported,
}

/// The device under test as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFacts {
    /// Kind of target.
    pub kind: TargetKind,
    /// As given on the command line: `/dev/nvme0n1`, `sim:sas-slc-2011`; of a file from the root on.
    pub path: String,
    /// What has to be typed to erase it, and what a resumed run must find again.
    pub identity: String,
    /// What tells this attachment of the device from any later one: boot id and the kernel's disk sequence
    /// number, where known. What tells a file from one that took its place: volume, number and time of birth.
    pub attachment: Option<String>,
    /// Vendor, where known.
    pub vendor: Option<String>,
    /// Model, where known.
    pub model: Option<String>,
    /// Serial number, where known.
    pub serial: Option<String>,
    /// Firmware revision, where known.
    pub firmware: Option<String>,
    /// Interface, such as `NVMe` or `6 Gb/s SAS`, where known.
    pub interface: Option<String>,
    /// NAND type, where known.
    pub nand: Option<String>,
    /// User capacity in bytes.
    pub capacity_bytes: u64,
    /// Logical block size in bytes.
    pub logical_block_bytes: u32,
    /// Physical block size in bytes.
    pub physical_block_bytes: u32,
    /// Whether the kernel thinks that it rotates; none for files and simulated drives.
    pub rotational: Option<bool>,
    /// Set for simulated drives.
    pub simulated: Option<SimulatedFacts>,
    /// Set for arrays of drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayFacts>,
}

/// An array that is created for each test, and the drives that it is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayFacts {
    /// What makes it: `mdadm`, or the program of a RAID controller: `storcli`, `perccli`.
    pub controller: String,
    /// RAID level: 0, 1, 5, 6 or 10.
    pub level: u8,
    /// Bytes on a member before the next one follows; none for level 1.
    pub chunk_bytes: Option<u64>,
    /// Whether it has a write-intent bitmap on its members.
    pub bitmap: bool,
    /// What a RAID controller was told of caches; none for software RAID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<String>,
    /// Its members, in the order of the array.
    pub members: Vec<MemberFacts>,
}

/// One drive of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberFacts {
    /// As the description of the array has it; behind a RAID controller its address, `/c0/e252/s0`.
    pub path: String,
    /// What has to be typed to erase it, and what a resumed run must find again.
    pub identity: String,
    /// Vendor, where known.
    pub vendor: Option<String>,
    /// Model, where known.
    pub model: Option<String>,
    /// Serial number, where known.
    pub serial: Option<String>,
    /// Firmware revision, where known.
    pub firmware: Option<String>,
    /// Interface, where known.
    pub interface: Option<String>,
    /// User capacity in bytes.
    pub capacity_bytes: u64,
}

impl ArrayFacts {
    /// What it is in a few words: `RAID 5 of 3 drives, chunks of 64 KiB`.
    #[must_use]
    pub fn words(&self) -> String {
        let chunk = self.chunk_bytes.map(|bytes| format!(", chunks of {}", amount_base2(bytes)));
        let bitmap = if self.bitmap { ", with a bitmap" } else { "" };
        let policies = self.policies.as_deref().map(|policies| format!(", {policies}")).unwrap_or_default();
        let chunk = chunk.unwrap_or_default();
        format!("RAID {} of {} drives{chunk}{bitmap}{policies}", self.level, self.members.len())
    }
}

impl MemberFacts {
    /// Model, identity and size: `SN720, 1924E4, 256 GB`.
    #[must_use]
    pub fn words(&self) -> String {
        let model = self.model.as_deref().map(|model| format!("{model}, ")).unwrap_or_default();
        format!("{model}{}, {}", self.identity, amount_base10(self.capacity_bytes))
    }
}

/// What a simulated result must be labelled with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedFacts {
    /// Name of the model.
    pub model: String,
    /// Version of the model.
    pub model_version: u32,
    /// Capacity and test minutes are divided by this.
    pub scale_divisor: u32,
    /// Seed of the drive.
    pub seed: u64,
    /// Faults that were injected, as they were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// The machine, where the kernel tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors that the kernel schedules on.
    pub cpus: Option<u32>,
    /// Board vendor and name.
    pub board: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// I/O scheduler of the target.
    pub scheduler: Option<String>,
    /// PCIe link of the target: speed and width.
    pub pcie_link: Option<String>,
}

impl RunFile {
    /// How much smaller a scaled simulated drive and its minutes are; 1 for everything real.
    #[must_use]
    pub fn scale_divisor(&self) -> u32 {
        self.target.simulated.as_ref().map_or(1, |sim| sim.scale_divisor)
    }
}
