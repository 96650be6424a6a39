//! Deviations from the profile as data, and the only place that formats them as text ("modified: ...").

use std::fmt;

use record::InjectedFault;
use stdx::units::{block_size, count_of, counted, span};

/// A deviation of a run or a test from its profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deviation {
    /// The plan says that the run is not a PTS run.
    NotPts {
        /// The reason.
        why: String,
    },
    /// A setting differs from the profile.
    Setting {
        /// Name of the setting, such as `cell time`.
        name: String,
        /// Value of the setting.
        is: String,
        /// Value of the setting in the profile.
        standard: String,
    },
    /// A test's workload differs from the profile's.
    Workload {
        /// Title of the test.
        title: &'static str,
        /// The workload.
        is: String,
        /// The workload in the profile.
        standard: String,
    },
    /// The test ended in a way that the profile does not provide for.
    Ending {
        /// Title of the test.
        title: String,
        /// How it ended.
        is: String,
        /// The required end.
        standard: String,
    },
    /// The target is a regular file.
    File {
        /// The file's file system, if it is known.
        file_system: Option<String>,
    },
    /// The target is an array.
    Array {
        /// Number of drives in the array.
        drives: usize,
    },
    /// A simulated drive is scaled down.
    Scale {
        /// Factor by which capacity and cell time are divided.
        divisor: u32,
    },
    /// A simulated drive extended cells beyond their length.
    Extended {
        /// Title of the test.
        title: String,
        /// Number of extended cells.
        extended: u32,
        /// Total number of cells.
        all: u32,
        /// The largest factor, in tenths.
        up_to_tenths: u64,
    },
    /// Concurrent runs share resources with this run.
    Shared {
        /// The shared resources.
        what: String,
    },
    /// A fault was injected into a simulated drive.
    Fault {
        /// The fault.
        fault: InjectedFault,
    },
    /// The target was purged with a method that the PTS does not accept.
    Purge {
        /// The method.
        method: String,
    },
    /// Samples were read after the purge to verify it.
    SamplesRead,
    /// The write cache is not in the state required by the profile.
    WriteCache {
        /// Whether the cache is enabled.
        is_on: bool,
    },
    /// A step was skipped because this target does not allow it.
    Skipped {
        /// The step.
        what: String,
        /// The reason.
        why: String,
    },
    /// The test or the block size is not in this version of the specification.
    NotInProfile {
        /// Name of the test as the subject of a sentence.
        subject: String,
        /// The version.
        revision: &'static str,
    },
    /// The device's large sectors rule out some block sizes of a composite workload.
    Composite {
        /// Smallest size that was used.
        smallest_bytes: u32,
        /// Percentage of I/Os that use this size instead of a smaller one.
        enlarged_percent: u8,
        /// The device's sectors.
        sector_bytes: u32,
    },
    /// The test is in no version of the specification.
    BeyondTheStandard {
        /// Title of the test.
        title: String,
    },
    /// The test is meant for hard disks.
    ForHardDisks,
    /// The test is meant for hard disks, and the target is not known to be a hard disk.
    NotAHardDisk {
        /// Title of the test.
        title: String,
    },
    /// A custom test.
    Custom {
        /// Title of the test.
        title: String,
    },
    /// The run was interrupted during the test.
    Interrupted {
        /// Duration of the interruption.
        length_ns: u64,
        /// The workload after the interruption.
        before: String,
    },
    /// There were too many interruptions to list each of them.
    InterruptedOften {
        /// Number of interruptions.
        times: usize,
        /// Total length of the interruptions.
        total_ns: u64,
    },
    /// I/Os went through the host's page cache.
    Buffered,
    /// I/Os failed.
    Errors {
        /// Number of failed I/Os.
        count: u64,
        /// The workload in which the errors occurred.
        workload: String,
    },
}

/// The clause of a conformance statement that reports a deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedBy {
    /// Device under test.
    Target,
    /// Purge.
    Purge,
    /// Durations, amounts, range and demand.
    Settings,
    /// Write cache.
    WriteCache,
    /// The course of the test.
    Course,
    /// The end of the test.
    Ending,
    /// I/O errors.
    Errors,
    /// No clause of its own: listed among the other deviations.
    Others,
}

impl Deviation {
    /// Returns the clause that reports the deviation.
    #[must_use]
    pub const fn reported_by(&self) -> ReportedBy {
        match self {
            Self::File { .. } | Self::Array { .. } => ReportedBy::Target,
            Self::Purge { .. } => ReportedBy::Purge,
            Self::Setting { .. } => ReportedBy::Settings,
            Self::WriteCache { .. } => ReportedBy::WriteCache,
            Self::Ending { .. } => ReportedBy::Ending,
            Self::Interrupted { .. } | Self::InterruptedOften { .. } => ReportedBy::Course,
            Self::Errors { .. } => ReportedBy::Errors,
            Self::NotPts { .. }
            | Self::Workload { .. }
            | Self::Scale { .. }
            | Self::Extended { .. }
            | Self::Shared { .. }
            | Self::Fault { .. }
            | Self::SamplesRead
            | Self::Skipped { .. }
            | Self::NotInProfile { .. }
            | Self::Composite { .. }
            | Self::BeyondTheStandard { .. }
            | Self::ForHardDisks
            | Self::NotAHardDisk { .. }
            | Self::Custom { .. }
            | Self::Buffered => ReportedBy::Others,
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPts { why } => write!(f, "not PTS: {why}"),
            Self::Setting { name, is, standard } => write!(f, "{name} {is} instead of {standard}"),
            Self::Workload { title, is, standard } => write!(f, "{title} with {is} instead of {standard}"),
            Self::Ending { title, is, standard } => {
                write!(f, "{title} ended with {is} (required: {standard})")
            }
            Self::File { file_system: Some(kind) } => {
                write!(f, "the target is a file on {kind}, not a device")
            }
            Self::File { file_system: None } => f.write_str("the target is a regular file, not a device"),
            Self::Array { drives } => {
                let drives = count_of(*drives as u64, "drive");
                write!(f, "the target is an array of {drives}, not a device under test of the PTS")
            }
            Self::Scale { divisor } => {
                write!(f, "scale 1/{divisor}: capacity and cell time divided by {divisor}")
            }
            Self::Extended { title, extended, all, up_to_tenths } => write!(
                f,
                "{title}: {} of {} cells extended to 20 I/Os per outstanding I/O (up to {}.{} times)",
                counted(extended),
                counted(all),
                up_to_tenths / 10,
                up_to_tenths % 10
            ),
            Self::Shared { what } => f.write_str(what),
            Self::Fault { fault } => write!(f, "injected fault {fault}"),
            Self::Purge { method } => write!(f, "purge by {method}"),
            Self::SamplesRead => f.write_str("samples read between purge and test"),
            Self::WriteCache { is_on } => {
                let word = |on: bool| if on { "WCE" } else { "WCD" };
                write!(f, "write cache {} ({} in the profile)", word(*is_on), word(!is_on))
            }
            Self::Skipped { what, why } => write!(f, "{what} skipped: {why}"),
            Self::NotInProfile { subject, revision } => write!(f, "{subject} is not part of {revision}"),
            Self::Composite { smallest_bytes, enlarged_percent, sector_bytes } => write!(
                f,
                "composite without sizes below {} ({enlarged_percent} % of the I/Os use this size instead): the \
                 device's sectors are {sector_bytes} B",
                block_size(u64::from(*smallest_bytes))
            ),
            Self::BeyondTheStandard { title } => {
                write!(f, "{title} is not a PTS test: no version of the PTS contains it")
            }
            Self::ForHardDisks => {
                f.write_str("no purge, preconditioning or steady state: a test for hard disks")
            }
            Self::NotAHardDisk { title } => {
                write!(f, "{title} is a test for hard disks, and the target is not known to be one")
            }
            Self::Custom { title } => write!(f, "{title} is not a PTS test"),
            Self::Interrupted { length_ns, before } => {
                write!(f, "interrupted for {} before {before}", span(*length_ns))
            }
            Self::InterruptedOften { times, total_ns } => {
                write!(f, "interrupted {times} times, {} in total", span(*total_ns))
            }
            Self::Buffered => f.write_str("not direct I/O: the host's page cache was involved"),
            Self::Errors { count, workload } => write!(f, "{} in {workload}", count_of(*count, "I/O error")),
        }
    }
}

/// Deviations as texts.
#[must_use]
pub fn texts(deviations: &[Deviation]) -> Vec<String> {
    deviations.iter().map(Deviation::to_string).collect()
}

/// Formats several deviations as one text.
#[must_use]
pub fn listed(deviations: &[Deviation]) -> String {
    texts(deviations).join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_one_are_singular() {
        let array = |drives| Deviation::Array { drives }.to_string();
        assert!(array(1).starts_with("the target is an array of 1 drive, not "), "{}", array(1));
        assert!(array(4).starts_with("the target is an array of 4 drives, not "), "{}", array(4));
        let errors = |count| Deviation::Errors { count, workload: "RND 4KiB W".into() }.to_string();
        assert_eq!([errors(1), errors(2)], ["1 I/O error in RND 4KiB W", "2 I/O errors in RND 4KiB W"]);
    }
}
