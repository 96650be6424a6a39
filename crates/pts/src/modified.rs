//! Deviations from the profile, collected as text and printed as "modified: ...".

use record::{Entry, Event, Note, Purged, RunFile, Segment, Settings, TargetFacts, TargetKind};
use stdx::units::{amount_base2, block_size, span};

use crate::{Outcome, Profile, Test, WriteCache};

/// All deviations of a run from its profile, in report order.
#[must_use]
pub fn modifications(run: &RunFile, profile: &Profile, outcomes: &[Outcome]) -> Vec<String> {
    let not_pts = run.plan.iter().filter_map(|plan| plan.not_pts.as_ref());
    let mut all: Vec<String> = not_pts.map(|why| format!("not PTS: {why}")).collect();
    all.extend(deviations(&run.settings, profile));
    if run.target.kind == TargetKind::File {
        all.push("the target is a regular file, not a device".into());
    }
    if let Some(array) = &run.target.array {
        let count = array.members.len();
        all.push(format!("the target is an array of {count} drives, not a device under test of the PTS"));
    }
    if let Some(sim) = run.target.simulated.as_ref().filter(|sim| sim.scale_divisor > 1) {
        let divisor = sim.scale_divisor;
        all.push(format!("scale 1/{divisor}: capacity and cell time divided by {divisor}"));
    }
    all.extend(run.beside.iter().flat_map(|beside| &beside.shared).cloned());
    let faults = run.target.simulated.iter().flat_map(|sim| &sim.faults);
    all.extend(faults.map(|fault| format!("injected fault {fault}")));
    for text in outcomes.iter().flat_map(|outcome| &outcome.modified) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

/// Settings that differ from the profile.
#[must_use]
pub fn deviations(settings: &Settings, profile: &Profile) -> Vec<String> {
    let standard = profile.settings(settings.seed);
    let mut all = Vec::new();
    let mut differs = |name: &str, got: String, wanted: String| {
        if got != wanted {
            all.push(format!("{name} {got} instead of {wanted}"));
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
    all
}

pub(crate) fn by_purge(purge: Option<&Purged>, all: &mut Vec<String>) {
    if let Some(purge) = purge.filter(|purge| !purge.pts_purge) {
        all.push(format!("purge by {}", purge.method));
    }
    if purge.is_some_and(|purge| purge.evidence.iter().any(|line| line.starts_with("verified"))) {
        all.push("samples read between purge and test".into());
    }
}

/// Reports a write cache that is not in the state required by the profile.
pub(crate) fn by_write_cache(profile: &Profile, entries: &[Entry]) -> Option<String> {
    let wanted = profile.write_cache == WriteCache::Enabled;
    let word = |on: bool| if on { "WCE" } else { "WCD" };
    let otherwise = |entry: &Entry| match entry.event {
        // Restoring the cache after the last test does not affect any test.
        Event::WriteCache { is_on: Some(is_on), restored: false, .. } if is_on != wanted => {
            Some(format!("write cache {} ({} in the profile)", word(is_on), word(wanted)))
        }
        _ => None,
    };
    entries.iter().find_map(otherwise)
}

pub(crate) fn by_skips(skips: impl Iterator<Item = Note>, all: &mut Vec<String>) {
    for skip in skips {
        if let Note::Skipped { what, why } = skip {
            all.push(format!("{what} skipped: {why}"));
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
pub(crate) fn by_family(test: &Test, profile: &Profile, all: &mut Vec<String>) {
    if profile.listed(test.family).is_none() {
        all.push(format!("the {} test is not part of {}", test.title, profile.revision));
    }
}

pub(crate) fn by_segments<'a>(segments: impl Iterator<Item = &'a Segment>, all: &mut Vec<String>) {
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
    errors: Vec<String>,
}

impl Incidents {
    pub fn see(&mut self, segment: &Segment) {
        if let Some(gap) = segment.gap_before {
            self.gaps.push((gap.length_ns, segment.workload.to_string()));
        }
        self.buffered |= segment.engine.contains("buffered");
        if segment.error_count() > 0 {
            let text = format!("{} I/O errors in {}", segment.error_count(), segment.workload);
            if !self.errors.contains(&text) {
                self.errors.push(text);
            }
        }
    }

    /// Note about gaps in a timeline test: the drive recovers while it is idle.
    pub fn note(&self) -> Option<String> {
        let text = "INTERRUPTED: the timeline has a gap; the PTS requires a restart at the purge";
        (!self.gaps.is_empty()).then(|| text.into())
    }

    pub fn tell(&self, all: &mut Vec<String>) {
        if self.gaps.len() > GAPS_LISTED {
            let total = self.gaps.iter().map(|gap| gap.0).sum();
            all.push(format!("interrupted {} times, {} in total", self.gaps.len(), span(total)));
        } else {
            let text =
                |(length_ns, before): &_| format!("interrupted for {} before {before}", span(*length_ns));
            // No deduplication: two interruptions with the same text are two events.
            all.extend(self.gaps.iter().map(text));
        }
        if self.buffered {
            all.push("not direct I/O: the host's page cache was involved".into());
        }
        all.extend_from_slice(&self.errors);
    }
}
