//! Deviations from the profile: facts, printed as "modified: ...".

use std::fmt;

use record::{Entry, Event, Note, Purged, RunFile, Segment, Settings, TargetFacts, TargetKind};
use stdx::units::{amount_base2, block_size, span};

use crate::settings::setting;
use crate::{Outcome, Profile, Test, WriteCache};

/// A deviation of a run or a test from its profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deviation {
    /// The plan says that the run is not a PTS run.
    NotPts {
        /// Why.
        why: String,
    },
    /// A setting differs from the profile.
    Setting {
        /// Which, such as `cell time`.
        name: &'static str,
        /// Its value.
        is: String,
        /// Its value in the profile.
        standard: String,
    },
    /// The target is a regular file.
    File,
    /// The target is an array.
    Array {
        /// Number of its drives.
        drives: usize,
    },
    /// A simulated drive is scaled down.
    Scale {
        /// What capacity and cell time are divided by.
        divisor: u32,
    },
    /// Other runs share something with this one at the same time.
    Shared {
        /// What.
        what: String,
    },
    /// A fault was injected into a simulated drive.
    Fault {
        /// Which, as typed.
        fault: String,
    },
    /// The target was purged by a method that the PTS does not accept.
    Purge {
        /// Which.
        method: String,
    },
    /// Samples were read after the purge to verify it.
    SamplesRead,
    /// The write cache is not in the state required by the profile.
    WriteCache {
        /// Whether it is enabled.
        is_on: bool,
    },
    /// A step cannot be done on this target.
    Skipped {
        /// Which.
        what: String,
        /// Why.
        why: String,
    },
    /// This version of the specification lacks the test, or the block size.
    NotInProfile {
        /// Test, as the subject of a sentence.
        subject: String,
        /// The version.
        revision: &'static str,
    },
    /// Large sectors exclude sizes of a composite workload.
    Composite {
        /// Smallest size that was used.
        smallest_bytes: u32,
        /// Share of I/Os that use it instead of a smaller one.
        enlarged_percent: u8,
        /// The device's sectors.
        sector_bytes: u32,
    },
    /// A test for hard disks.
    ForHardDisks,
    /// The target of such a test is not known to be a hard disk.
    NotAHardDisk {
        /// Title of the test.
        title: String,
    },
    /// A custom test.
    Custom {
        /// Its title.
        title: String,
    },
    /// The run was interrupted within the test.
    Interrupted {
        /// For how long.
        length_ns: u64,
        /// The workload after it.
        before: String,
    },
    /// The run was interrupted more often than is listed.
    InterruptedOften {
        /// How often.
        times: usize,
        /// For how long in total.
        total_ns: u64,
    },
    /// I/Os went through the host's page cache.
    Buffered,
    /// I/Os failed.
    Errors {
        /// How many.
        count: u64,
        /// In which workload.
        workload: String,
    },
}

/// The clause of a conformance statement that reports a deviation by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedBy {
    /// Device under test.
    Target,
    /// Purge.
    Purge,
    /// Durations, amounts, range, demand.
    Settings,
    /// Write cache.
    WriteCache,
    /// Course.
    Course,
    /// I/O errors.
    Errors,
    /// None of them: it is listed among other deviations.
    Others,
}

impl Deviation {
    /// The clause that reports it.
    #[must_use]
    pub const fn reported_by(&self) -> ReportedBy {
        match self {
            Self::File | Self::Array { .. } => ReportedBy::Target,
            Self::Purge { .. } => ReportedBy::Purge,
            Self::Setting { .. } => ReportedBy::Settings,
            Self::WriteCache { .. } => ReportedBy::WriteCache,
            Self::Interrupted { .. } | Self::InterruptedOften { .. } => ReportedBy::Course,
            Self::Errors { .. } => ReportedBy::Errors,
            Self::NotPts { .. }
            | Self::Scale { .. }
            | Self::Shared { .. }
            | Self::Fault { .. }
            | Self::SamplesRead
            | Self::Skipped { .. }
            | Self::NotInProfile { .. }
            | Self::Composite { .. }
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
            Self::File => f.write_str("the target is a regular file, not a device"),
            Self::Array { drives } => {
                write!(f, "the target is an array of {drives} drives, not a device under test of the PTS")
            }
            Self::Scale { divisor } => {
                write!(f, "scale 1/{divisor}: capacity and cell time divided by {divisor}")
            }
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
                "composite without sizes below {} ({enlarged_percent} % of the I/Os use it instead): the \
                 device's sectors are {sector_bytes} B",
                block_size(u64::from(*smallest_bytes))
            ),
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
            Self::Errors { count, workload } => write!(f, "{count} I/O errors in {workload}"),
        }
    }
}

/// Deviations as texts.
#[must_use]
pub fn texts(deviations: &[Deviation]) -> Vec<String> {
    deviations.iter().map(Deviation::to_string).collect()
}

/// Deviations as one text.
#[must_use]
pub fn listed(deviations: &[Deviation]) -> String {
    texts(deviations).join("; ")
}

/// All deviations of a run from its profile, in report order.
#[must_use]
pub fn modifications(run: &RunFile, profile: &Profile, outcomes: &[Outcome]) -> Vec<Deviation> {
    let not_pts = run.plan.iter().filter_map(|plan| plan.not_pts.clone());
    let mut all: Vec<Deviation> = not_pts.map(|why| Deviation::NotPts { why }).collect();
    all.extend(deviations(&run.settings, profile));
    if run.target.kind == TargetKind::File {
        all.push(Deviation::File);
    }
    if let Some(array) = &run.target.array {
        all.push(Deviation::Array { drives: array.members.len() });
    }
    if let Some(sim) = run.target.simulated.as_ref().filter(|sim| sim.scale_divisor > 1) {
        all.push(Deviation::Scale { divisor: sim.scale_divisor });
    }
    let shared = run.beside.iter().flat_map(|beside| &beside.shared).cloned();
    all.extend(shared.map(|what| Deviation::Shared { what }));
    let faults = run.target.simulated.iter().flat_map(|sim| &sim.faults).cloned();
    all.extend(faults.map(|fault| Deviation::Fault { fault }));
    for deviation in outcomes.iter().flat_map(|outcome| &outcome.modified) {
        if !all.contains(deviation) {
            all.push(deviation.clone());
        }
    }
    all
}

/// Settings that differ from the profile.
#[must_use]
pub fn deviations(settings: &Settings, profile: &Profile) -> Vec<Deviation> {
    let standard = profile.settings(settings.seed);
    let mut all = Vec::new();
    let mut differs = |name: &'static str, is: String, standard: String| {
        if is != standard {
            all.push(Deviation::Setting { name, is, standard });
        }
    };
    differs("cell time", span(settings.cell_ns), span(standard.cell_ns));
    differs("round limit", settings.max_rounds.to_string(), standard.max_rounds.to_string());
    let times = |n: u32| format!("{n} x capacity");
    differs(
        "preconditioning",
        times(settings.precondition_capacities),
        times(standard.precondition_capacities),
    );
    if !profile.demand_is_free {
        differs("thread count", settings.threads.to_string(), standard.threads.to_string());
        differs("queue depth", settings.queue_depth.to_string(), standard.queue_depth.to_string());
    }
    let percent = |p: u8| format!("{p} %");
    differs(
        "PC AR",
        percent(settings.precondition_range_percent),
        percent(standard.precondition_range_percent),
    );
    differs("Test AR", percent(settings.test_range_percent), percent(standard.test_range_percent));
    let amount = |s: &Settings| {
        s.active_range_amount_bytes.map_or_else(
            || "100 %".to_owned(),
            |bytes| format!("{} in {} segments", amount_base2(bytes), s.active_range_segments),
        )
    };
    differs("AR amount", amount(settings), amount(&standard));
    all.extend(settings.further.iter().map(|(name, value)| Deviation::Setting {
        name: setting(name).map_or("unknown setting", |setting| setting.name),
        is: value.clone(),
        standard: "the default".into(),
    }));
    all
}

pub(crate) fn by_purge(purge: Option<&Purged>, all: &mut Vec<Deviation>) {
    if let Some(purge) = purge.filter(|purge| !purge.pts_purge) {
        all.push(Deviation::Purge { method: purge.method.clone() });
    }
    if purge.is_some_and(|purge| purge.samples_read) {
        all.push(Deviation::SamplesRead);
    }
}

/// Reports a write cache that is not in the state required by the profile.
pub(crate) fn by_write_cache(profile: &Profile, entries: &[Entry]) -> Option<Deviation> {
    let wanted = profile.write_cache == WriteCache::Enabled;
    let otherwise = |entry: &Entry| match entry.event {
        // Restoring the cache after the last test does not affect any test.
        Event::WriteCache { is_on: Some(is_on), restored: false, .. } if is_on != wanted => {
            Some(Deviation::WriteCache { is_on })
        }
        _ => None,
    };
    entries.iter().find_map(otherwise)
}

pub(crate) fn by_skips(skips: impl Iterator<Item = Note>, all: &mut Vec<Deviation>) {
    for skip in skips {
        if let Note::Skipped { what, why } = skip {
            all.push(Deviation::Skipped { what, why });
        }
    }
}

/// Note about cells with I/Os smaller than the device's sectors.
pub(crate) fn skip_note(block_bytes: u32, target: &TargetFacts) -> Note {
    Note::Skipped {
        what: format!("all {} cells", block_size(u64::from(block_bytes))),
        why: format!("the device's sectors are {} B", target.logical_block_bytes),
    }
}

/// Reports a test that this version of the specification lacks.
pub(crate) fn by_family(test: &Test, profile: &Profile, all: &mut Vec<Deviation>) {
    if profile.listed(test.family).is_none() {
        let subject = format!("the {} test", test.title);
        all.push(Deviation::NotInProfile { subject, revision: profile.revision });
    }
}

pub(crate) fn by_segments<'a>(segments: impl Iterator<Item = &'a Segment>, all: &mut Vec<Deviation>) {
    let mut incidents = Incidents::default();
    segments.for_each(|segment| incidents.see(segment));
    incidents.tell(all);
}

/// Beyond this number, interruptions are counted instead of listed.
const GAPS_LISTED: usize = 3;

/// Problems in the segments of a test. Timeline tests collect them because they do not keep their segments.
#[derive(Debug, Default)]
pub(crate) struct Incidents {
    gaps: Vec<(u64, String)>,
    buffered: bool,
    errors: Vec<Deviation>,
}

impl Incidents {
    pub fn see(&mut self, segment: &Segment) {
        if let Some(gap) = segment.gap_before {
            self.gaps.push((gap.length_ns, segment.workload.to_string()));
        }
        self.buffered |= segment.io_path.is_buffered();
        if segment.error_count() > 0 {
            let workload = segment.workload.to_string();
            let errors = Deviation::Errors { count: segment.error_count(), workload };
            if !self.errors.contains(&errors) {
                self.errors.push(errors);
            }
        }
    }

    /// Note about gaps in a timeline test: the drive recovers while it is idle.
    pub fn note(&self) -> Option<String> {
        let text = "INTERRUPTED: the timeline has a gap; the PTS requires a restart at the purge";
        (!self.gaps.is_empty()).then(|| text.into())
    }

    pub fn tell(&self, all: &mut Vec<Deviation>) {
        if self.gaps.len() > GAPS_LISTED {
            let total_ns = self.gaps.iter().map(|gap| gap.0).fold(0, u64::saturating_add);
            all.push(Deviation::InterruptedOften { times: self.gaps.len(), total_ns });
        } else {
            // No deduplication: two interruptions of the same length are two events.
            all.extend(self.gaps.iter().map(|(length_ns, before)| Deviation::Interrupted {
                length_ns: *length_ns,
                before: before.clone(),
            }));
        }
        if self.buffered {
            all.push(Deviation::Buffered);
        }
        all.extend_from_slice(&self.errors);
    }
}
