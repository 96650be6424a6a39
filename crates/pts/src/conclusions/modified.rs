//! Finds deviations of a run, its settings and its tests from the profile.

use record::{Note, Purged, RunFile, Segment, Settings, TargetFacts, TargetKind};
use stdx::units::{amount_base2, block_size, count_of, span};

use crate::conclusions::incidents::Incidents;
use crate::method::profile::CELL_NS;
use crate::{Context, Deviation, Outcome, PROFILES, Profile};

/// Returns all deviations of a run from its profile, in the order of the report.
#[must_use]
pub fn modifications(run: &RunFile, profile: &Profile, outcomes: &[Outcome]) -> Vec<Deviation> {
    let not_pts = run.plan.iter().filter_map(|plan| plan.not_pts.clone());
    let mut all: Vec<Deviation> = not_pts.map(|why| Deviation::NotPts { why }).collect();
    all.extend(run.settings.iter().flat_map(|settings| deviations(settings, profile)));
    if run.target.kind == TargetKind::File {
        let file_system = run.file_system.as_ref().map(|facts| facts.kind.clone());
        all.push(Deviation::File { file_system });
    }
    if let Some(array) = &run.target.array {
        all.push(Deviation::Array { drives: array.members.len() });
    }
    if let Some(sim) = run.target.simulated.as_ref().filter(|sim| sim.scale_divisor > 1) {
        all.push(Deviation::Scale { divisor: sim.scale_divisor });
    }
    let shared = run.concurrent.iter().flat_map(|concurrent| &concurrent.shared).cloned();
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

/// Returns the settings that differ from the profile.
#[must_use]
pub fn deviations(settings: &Settings, profile: &Profile) -> Vec<Deviation> {
    let standard = profile.settings(settings.seed);
    let mut all = Vec::new();
    let mut differs = |name: &str, is: String, standard: String| {
        all.push(Deviation::Setting { name: name.into(), is, standard });
    };
    if settings.cell_ns != standard.cell_ns {
        differs("cell time", span(settings.cell_ns), span(standard.cell_ns));
    }
    let (written, required) = (settings.precondition_capacities, standard.precondition_capacities);
    if written != required {
        let times = |n: u32| format!("{n} x capacity");
        differs("preconditioning", times(written), times(required));
    }
    if !profile.demand_is_free && settings.threads != standard.threads {
        differs("thread count", settings.threads.to_string(), standard.threads.to_string());
    }
    if !profile.demand_is_free && settings.queue_depth != standard.queue_depth {
        differs("queue depth", settings.queue_depth.to_string(), standard.queue_depth.to_string());
    }
    let (written, tested) = (settings.precondition_range_percent, settings.test_range_percent);
    // A choice that the specification leaves to the tester counts as standard. The same percentage must apply to
    // both ranges, because the tested range must have been preconditioned.
    let is_choice = written == tested && profile.further_range_percents.contains(&tested);
    let mut range_differs = |name: &str, is: u8, standard: u8| {
        if is != standard && !is_choice {
            differs(name, format!("{is} %"), format!("{standard} %"));
        }
    };
    range_differs("PC AR", written, standard.precondition_range_percent);
    range_differs("Test AR", tested, standard.test_range_percent);
    // The number of segments matters only if an amount is set.
    let amount_of = |s: &Settings| s.active_range_amount_bytes.map(|bytes| (bytes, s.active_range_segments));
    let chosen = settings.active_range_amount_bytes;
    let standard_amount = match chosen {
        Some(bytes) if profile.further_amounts_bytes.contains(&bytes) => {
            amount_of(&Settings { active_range_amount_bytes: chosen, ..standard })
        }
        _ => amount_of(&standard),
    };
    if amount_of(settings) != standard_amount {
        let text = |amount: Option<(u64, u32)>| match amount {
            Some((bytes, segments)) => format!("{} in {segments} segments", amount_base2(bytes)),
            None => "100 %".to_owned(),
        };
        differs("AR amount", text(amount_of(settings)), text(standard_amount));
    }
    all.extend(settings.further.iter().map(|(name, value)| Deviation::Setting {
        name: name.clone(),
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

/// Reports a test that ended without steady state at a lower round limit than the profile's.
pub(crate) fn by_rounds(context: &Context<'_>, outcome: &Outcome) -> Option<Deviation> {
    let (limit, standard) = (context.settings.max_rounds, context.profile.settings(0).max_rounds);
    // The round limit applies only to tests that otherwise end only at steady state.
    let is_ended = outcome.converged == Some(false) && outcome.stop.is_none() && outcome.ending.is_none();
    (is_ended && limit < standard).then(|| Deviation::Ending {
        title: outcome.title.clone(),
        is: format!("{} without steady state", count_of(limit, "round")),
        standard: standard.to_string(),
    })
}

pub(crate) fn by_skips(skips: impl Iterator<Item = Note>, all: &mut Vec<Deviation>) {
    for skip in skips {
        if let Note::Skipped { what, why } = skip {
            all.push(Deviation::Skipped { what, why });
        }
    }
}

/// Returns the note about cells with I/Os smaller than the device's sectors.
pub(crate) fn skip_note(block_bytes: u32, target: &TargetFacts) -> Note {
    Note::Skipped {
        what: format!("all {} cells", block_size(u64::from(block_bytes))),
        why: format!("the device's sectors are {} B", target.logical_block_bytes),
    }
}

/// Reports histograms whose duration differs from the profile; shorter cells also shorten histograms.
pub(crate) fn by_histogram(context: &Context<'_>, minutes: u32, all: &mut Vec<Deviation>) {
    let standard = u64::from(minutes) * CELL_NS;
    let is = context.minutes_ns(minutes);
    if is != standard {
        let name = "time of each response-time histogram".into();
        all.push(Deviation::Setting { name, is: span(is), standard: span(standard) });
    }
}

/// Reports a test that is missing from this version, or from every version, of the specification.
pub(crate) fn by_family(family: &str, title: &str, profile: &Profile, all: &mut Vec<Deviation>) {
    if PROFILES.iter().all(|profile| profile.listed(family).is_none()) {
        all.push(Deviation::BeyondTheStandard { title: title.to_owned() });
    } else if profile.listed(family).is_none() {
        let subject = format!("the {title} test");
        all.push(Deviation::NotInProfile { subject, revision: profile.revision });
    }
}

pub(crate) fn by_segments<'a>(segments: impl Iterator<Item = &'a Segment>, all: &mut Vec<Deviation>) {
    let mut incidents = Incidents::default();
    segments.for_each(|segment| incidents.see(segment));
    incidents.add_to(all);
}
